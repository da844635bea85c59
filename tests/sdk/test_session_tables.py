"""Every state of a session's machines with every event: what happens is what the tables say, and nothing else."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple

import pytest

from kit.scripted_server import ScriptedServer
from kit.sessions import FLEET, SEALER
from salvo import messages as m
from salvo.codec.log import Entry, LogStep, sign_entry, write_entry
from salvo.errors import IllegalCommand
from salvo.join.session import Session, following, joining, playing
from salvo.join.session import placing as fleets
from salvo.join.session.machine_states import (
    JoiningEvent,
    JoiningState,
    PlacingEvent,
    PlacingState,
    PlayingEvent,
    PlayingState,
    ReturningEvent,
    ReturningState,
    ServerEvent,
    ServerState,
    TableEvent,
    TablePhase,
)
from salvo.join.session.state import SessionAction
from salvo.join.session.tables import FOLLOWING, JOINING, PLACING, PLAYING, RETURNING, SERVER
from salvo.messages import State
from salvo.rules import SALVO, generator
from salvo.state_machine import Machine, Transition
from salvo.view import Shot
from salvo_server.storage.identity import Identity

IDENTITY = Identity(bytes(32))
KEYS = m.ServerKeys(IDENTITY.signing_key, IDENTITY.sealing_key)
RULES = m.RulesAnnounced(SALVO, "", 60, 30, 300, 3)
ALL_PLACED = [m.PlacementJudged("me", ship.name, True) for ship in SALVO.fleet]
STATS = [m.PlayerStats("me", 5, 1, 0, 1, 1), m.PlayerStats("you", 0, 0, 0, 0, 2)]
NOTHING_PLACED = m.Recap("me", 1, 0, (), (), (), (), ("me", "you"))
IN_GAME = dataclasses.replace(NOTHING_PLACED, turn=1, fleet=FLEET.placements)


def status(online: bool = True, **given: Any) -> m.ServerStatus:
    return m.ServerStatus(**{"online": online, "version": "0", "game": 1, "profile": "open", **given})


def result(turn: int = 1, **given: Any) -> m.SalvoResolved:
    return m.SalvoResolved(1, turn, "me", 5, 1, (), ())._replace(**given)


class Team:
    """A session and the server that speaks to it."""

    def __init__(self) -> None:
        self.session = Session("me", "secret", generator(2), sealer=SEALER)
        self.server = ScriptedServer(self.session)
        self.say = self.server.say

    def place(self) -> None:
        self.session.place(FLEET, self.server.now)

    def tick(self, seconds: float) -> None:
        """Let time pass, half a second at a time."""
        for _ in range(int(2 * seconds)):
            self.server.now += 0.5
            self.session.handle_timer(self.server.now)

    def machine(self, name: str) -> Machine[Any, Any, Any]:
        return self.session._state.machines[TABLES[name][1]]


Step = Callable[[Team], object]

# --- how to get into each state, by what a server says and a player does ----------------------------------------------


def new(team: Team) -> None:
    pass


def meeting(team: Team) -> None:
    team.session.connected(team.server.now)


def asking(team: Team) -> None:
    team.say(status(), RULES, m.StateChanged(State.LOBBY), retained=True)
    team.session.connected(team.server.now)


def disputed(team: Team) -> None:
    asking(team)
    team.say(m.CommandRefused("me", "not_in_roster", "no"))


def choosing(team: Team) -> None:
    asking(team)
    team.say(m.PlayersListed(("me", "you")))


def placing(team: Team) -> None:
    choosing(team)
    team.place()


def leaving(team: Team) -> None:
    placing(team)
    team.session.leave()


def placed(team: Team) -> None:
    placing(team)
    team.say(*ALL_PLACED)


def waiting(team: Team) -> None:
    placed(team)
    team.say(m.StateChanged(State.TURN))
    team.server.begin_turn(1, "you", 5)


def deciding(team: Team) -> None:
    placed(team)
    team.say(m.StateChanged(State.TURN))
    team.server.begin_turn(1, "me", 5)


def fired(team: Team) -> None:
    deciding(team)
    team.session.fire([Shot("you", 1, 1)])


def skipped(team: Team) -> None:
    fired(team)
    team.session.skip()


def over(team: Team) -> None:
    fired(team)
    team.say(result(defeated=("you",)), m.GameWon("me"), m.StateChanged(State.OVER))


def ended(team: Team) -> None:
    over(team)
    team.say(*STATS)


def returning(team: Team) -> None:
    deciding(team)
    team.session.connected(team.server.now)


def doubting(team: Team) -> None:
    deciding(team)
    unconfirmed_news(team)


def table_doubted(team: Team) -> None:
    returning(team)
    team.say(m.StateChanged(State.LOBBY), retained=True)


def away(team: Team) -> None:
    asking(team)
    team.say(status(False))


def unconfirmed_news(team: Team) -> None:
    """Say a result that the signed log does not confirm."""
    team.say(status(keys=KEYS), retained=True)
    entry = sign_entry(write_entry(Entry(5, "00" * 32, LogStep(1, (), ()), of="00" * 8)), IDENTITY.sign)
    team.session.receive("/game/log", entry, False, team.server.now)
    team.say(result(hits=4))
    team.tick(11)


TABLES: dict[str, tuple[tuple[Transition[Any, Any, Any], ...], type[Enum]]] = {
    "joining": (JOINING, JoiningEvent),
    "placing": (PLACING, PlacingEvent),
    "playing": (PLAYING, PlayingEvent),
    "returning": (RETURNING, ReturningEvent),
    "following": (FOLLOWING, TableEvent),
    "server": (SERVER, ServerEvent),
}
WAYS: dict[str, dict[Any, Step]] = {
    "joining": {
        JoiningState.IDLE: placing,
        JoiningState.MEETING: meeting,
        JoiningState.ASKING: asking,
        JoiningState.DISPUTED: disputed,
        JoiningState.LEAVING: leaving,
    },
    "placing": {
        PlacingState.NO_FLEET: asking,
        PlacingState.CHOOSING: choosing,
        PlacingState.PLACING: placing,
        PlacingState.PLACED: placed,
    },
    "playing": {
        PlayingState.NO_GAME: placed,
        PlayingState.WAITING: waiting,
        PlayingState.DECIDING: deciding,
        PlayingState.FIRED: fired,
        PlayingState.SKIPPED: skipped,
        PlayingState.ENDED: ended,
    },
    "returning": {
        ReturningState.CURRENT: deciding,
        ReturningState.RETURNING: returning,
        ReturningState.DOUBTING: doubting,
    },
    "following": {
        TablePhase.UNHEARD: new,
        TablePhase.LOBBY: asking,
        TablePhase.TURN: deciding,
        TablePhase.OVER: over,
        TablePhase.DOUBTED: table_doubted,
    },
    "server": {ServerState.HERE: placing, ServerState.AWAY: away},
}
#: What an action sends, by the end of its topic; one that is not here changes only what the session knows and reports.
SENDS: dict[SessionAction | None, set[str]] = {
    joining.send_request: {"request_participation"},
    joining.send_leave: {"leave"},
    fleets.send: {"place"},
    playing.send_shots: {"fire"},
    playing.send_shots_and_skip: {"fire", "skip"},
    playing.send_skip: {"skip"},
    joining.want: {"request_participation"},
    following.open_lobby: {"request_participation"},
    following.resume: {"request_participation"},
}


def test_every_state_has_a_way_into_it_and_every_event_a_transition() -> None:
    for name, (transitions, events) in TABLES.items():
        states: type[Enum] = type(transitions[0].sources[0])
        assert set(WAYS[name]) == set(states), name
        assert {transition.event for transition in transitions} == set(events), name
        pairs = [(source, transition.event) for transition in transitions for source in transition.sources]
        assert len(pairs) == len(set(pairs)), f"{name}: two transitions for one state and event"


# --- what brings each event about ------------------------------------------------------------------------------------


class Stimulus(NamedTuple):
    """What makes a session hand an event to one of its machines."""

    event: Enum
    begin: Step
    do: Step
    then: Enum  # the state of the event's machine after all that came of it
    why: str = ""


def say(*announcements: m.Announcement, retained: bool = False) -> Step:
    return lambda team: team.say(*announcements, retained=retained)


def tick(seconds: float) -> Step:
    return lambda team: team.tick(seconds)


def recap(recap: m.Recap) -> Step:
    return lambda team: team.server.say_recap(recap, SEALER)


def refuse(code: str) -> Step:
    return say(m.CommandRefused("me", code, "no"))


def connect(team: Team) -> None:
    team.session.connected(team.server.now)


def stop_playing(team: Team) -> None:
    team.session.wants_to_play = False
    connect(team)


def leave(team: Team) -> None:
    team.session.leave()


def forget_rules(team: Team) -> None:
    team.session._state.table.rules = None


def both(*steps: Step) -> Step:
    return lambda team: [step(team) for step in steps]


J, P, G, R, T, S = JoiningEvent, PlacingEvent, PlayingEvent, ReturningEvent, TableEvent, ServerEvent
STIMULI = [
    Stimulus(J.WANTED, new, connect, JoiningState.MEETING),
    Stimulus(J.WANTED, choosing, say(m.PlayersListed(("you",))), JoiningState.ASKING, "struck off"),
    Stimulus(J.WANTED, over, say(m.StateChanged(State.LOBBY)), JoiningState.ASKING, "the next lobby"),
    Stimulus(J.SERVER_MET, meeting, say(status(), retained=True), JoiningState.ASKING),
    Stimulus(J.SERVER_SILENT, meeting, tick(2.5), JoiningState.ASKING),
    Stimulus(J.NO_ANSWER, asking, tick(9), JoiningState.ASKING),
    Stimulus(J.NO_ANSWER, returning, tick(3.5), JoiningState.ASKING, "a recap"),
    Stimulus(J.NO_ANSWER, leaving, tick(7), JoiningState.LEAVING, "a leave"),
    Stimulus(J.ANSWERED, asking, say(m.PlayersListed(("me",))), JoiningState.IDLE),
    Stimulus(J.ANSWERED, returning, recap(IN_GAME), JoiningState.IDLE, "by the recap"),
    Stimulus(J.GAME_ON, asking, refuse("wrong_state"), JoiningState.IDLE),
    Stimulus(J.NAME_REFUSED, asking, refuse("not_in_roster"), JoiningState.DISPUTED),
    Stimulus(J.NAME_REFUSED, asking, refuse("sealed_required"), JoiningState.DISPUTED, "unsealed"),
    Stimulus(J.STILL_REFUSED, disputed, tick(3.5), JoiningState.ASKING),
    Stimulus(J.UNWANTED, asking, stop_playing, JoiningState.IDLE),
    Stimulus(J.UNWANTED, deciding, leave, JoiningState.IDLE, "in a game"),
    Stimulus(J.LEFT, choosing, leave, JoiningState.LEAVING),
    Stimulus(J.LEFT_UNLISTED, asking, leave, JoiningState.IDLE),
    Stimulus(
        J.LEFT_UNLISTED,
        both(meeting, say(m.StateChanged(State.LOBBY), retained=True)),
        leave,
        JoiningState.IDLE,
        "before it has asked",
    ),
    Stimulus(J.STRUCK_OFF, leaving, say(m.PlayersListed(("you",))), JoiningState.IDLE),
    Stimulus(J.UNUSABLE, both(asking, forget_rules), recap(IN_GAME), JoiningState.ASKING),
    Stimulus(P.NEEDED, asking, say(m.PlayersListed(("me",))), PlacingState.CHOOSING),
    Stimulus(
        P.NEEDED,
        both(asking, say(m.PlayersListed(("me",)), retained=True)),
        recap(NOTHING_PLACED),
        PlacingState.CHOOSING,
        "by a recap",
    ),
    Stimulus(P.CHOSEN, choosing, Team.place, PlacingState.PLACING),
    Stimulus(P.APPROVED, placing, say(*ALL_PLACED), PlacingState.PLACED),
    Stimulus(P.NO_ANSWER, placing, tick(3.5), PlacingState.PLACING),
    Stimulus(P.DOUBTED, both(placed, say(status(False))), say(status()), PlacingState.PLACING),
    Stimulus(P.DOUBTED, placed, recap(NOTHING_PLACED), PlacingState.PLACING, "by a recap"),
    Stimulus(P.RECALLED, returning, recap(IN_GAME), PlacingState.PLACED),
    Stimulus(P.DROPPED, placing, leave, PlacingState.NO_FLEET),
    Stimulus(P.DROPPED, placing, say(m.PlayersListed(("you",))), PlacingState.NO_FLEET, "struck off"),
    Stimulus(P.DROPPED, placing, say(status(game=2)), PlacingState.NO_FLEET, "another game"),
    Stimulus(P.DROPPED, over, say(m.StateChanged(State.LOBBY)), PlacingState.NO_FLEET, "the next lobby"),
    Stimulus(G.TAKEN_UP, placed, lambda team: team.server.begin_turn(1, "you", 5), PlayingState.WAITING),
    Stimulus(G.TAKEN_UP, asking, recap(IN_GAME), PlayingState.WAITING, "by a recap"),
    Stimulus(G.OWN_TURN, placed, lambda team: team.server.begin_turn(1, "me", 5), PlayingState.DECIDING),
    Stimulus(G.OTHERS_TURN, fired, lambda team: team.server.begin_turn(2, "you", 5), PlayingState.WAITING),
    Stimulus(G.FIRED, deciding, lambda team: team.session.fire([Shot("you", 1, 1)]), PlayingState.FIRED),
    Stimulus(G.SKIPPED, deciding, lambda team: team.session.skip(), PlayingState.SKIPPED),
    Stimulus(G.NO_RESULT, fired, tick(4), PlayingState.FIRED),
    Stimulus(G.RESOLVED, fired, say(result()), PlayingState.WAITING),
    Stimulus(
        G.RESOLVED,
        both(fired, connect),
        recap(dataclasses.replace(IN_GAME, turn=2, results=(result(),))),
        PlayingState.WAITING,
        "by a recap",
    ),
    Stimulus(G.TIME_UP, fired, refuse("turn_timeout"), PlayingState.WAITING),
    Stimulus(G.TIME_UP, fired, refuse("bank_empty"), PlayingState.WAITING, "of the bank"),
    Stimulus(G.RECALLED, both(skipped, connect), recap(IN_GAME), PlayingState.SKIPPED),
    Stimulus(G.ENDED, over, say(*STATS), PlayingState.ENDED),
    Stimulus(G.FORGOTTEN, ended, say(m.StateChanged(State.LOBBY)), PlayingState.NO_GAME),
    Stimulus(R.CONNECTED, deciding, connect, ReturningState.RETURNING),
    Stimulus(R.CONNECTED, placing, connect, ReturningState.RETURNING, "with a fleet"),
    Stimulus(
        R.CONNECTED,
        both(deciding, say(status(False))),
        say(status(keys=KEYS)),
        ReturningState.RETURNING,
        "to the server",
    ),
    Stimulus(R.CONNECTED_NEW, new, connect, ReturningState.CURRENT),
    Stimulus(R.UNUSABLE, both(asking, forget_rules), recap(IN_GAME), ReturningState.RETURNING),
    Stimulus(R.TAKEN_UP, returning, recap(IN_GAME), ReturningState.CURRENT),
    Stimulus(R.NOTHING_MISSED, both(placing, connect), say(m.PlayersListed(("me",))), ReturningState.CURRENT),
    Stimulus(R.NOTHING_MISSED, asking, refuse("wrong_state"), ReturningState.CURRENT, "by `wrong_state`"),
    Stimulus(R.DOUBTED, deciding, unconfirmed_news, ReturningState.DOUBTING),
    Stimulus(R.FORGOTTEN, ended, say(m.StateChanged(State.LOBBY)), ReturningState.CURRENT),
    Stimulus(T.LOBBY, new, say(m.StateChanged(State.LOBBY), retained=True), TablePhase.LOBBY),
    Stimulus(T.LOBBY, ended, say(m.StateChanged(State.LOBBY)), TablePhase.LOBBY, "the next one"),
    Stimulus(T.OLD_LOBBY, returning, say(m.StateChanged(State.LOBBY), retained=True), TablePhase.DOUBTED),
    Stimulus(T.TURN, placed, say(m.StateChanged(State.TURN)), TablePhase.TURN),
    Stimulus(T.OVER, fired, say(m.StateChanged(State.OVER)), TablePhase.OVER),
    Stimulus(T.CONFIRMED, table_doubted, say(m.PlayersListed(("me",))), TablePhase.LOBBY),
    Stimulus(T.CONFIRMED, table_doubted, say(status(game=2)), TablePhase.LOBBY, "by another game"),
    Stimulus(
        T.CONFIRMED, table_doubted, recap(dataclasses.replace(NOTHING_PLACED, game=2)), TablePhase.LOBBY, "by a recap"
    ),
    Stimulus(T.DENIED, table_doubted, recap(IN_GAME), TablePhase.TURN),
    Stimulus(S.ONLINE, away, say(status(), retained=True), ServerState.HERE),
    Stimulus(S.ONLINE_NEWS, away, say(status()), ServerState.HERE),
    Stimulus(S.OFFLINE, asking, say(status(False)), ServerState.AWAY),
    Stimulus(S.OFFLINE, asking, say(status(paused=True)), ServerState.AWAY, "paused"),
]


def name_of(stimulus: Stimulus) -> str:
    machine = next(name for name, (_, events) in TABLES.items() if events is type(stimulus.event))
    return f"{machine}: {stimulus.event.name} {stimulus.why}".strip()


@pytest.mark.parametrize("stimulus", STIMULI, ids=name_of)
def test_each_session_event_arises_as_named_and_sends_what_its_actions_specify(
    stimulus: Stimulus, monkeypatch: pytest.MonkeyPatch
) -> None:
    handed: list[tuple[Enum, SessionAction | None]] = []
    handle = Machine.handle

    def record(self: Machine[Any, Any, Any], event: Enum) -> Any:
        handed.append((event, handle(self, event)))
        return handed[-1][1]

    monkeypatch.setattr(Machine, "handle", record)
    team = Team()
    stimulus.begin(team)
    handed.clear()
    team.session.take_outbox()
    stimulus.do(team)
    assert stimulus.event in [event for event, _ in handed]
    sent = {publication.topic.rpartition("/")[2] for publication in team.session.take_outbox()}
    by_actions = {each for _, action in handed for each in SENDS.get(action, ())}
    assert by_actions <= sent <= by_actions | {"fire", "skip", "resend"}
    refused = joining.report_refusal in [action for _, action in handed]
    assert refused == (stimulus.event is J.STILL_REFUSED)  # in every other state its event comes, too, and is nothing
    name = next(name for name, (_, events) in TABLES.items() if events is type(stimulus.event))
    assert team.machine(name).state is stimulus.then


#: What becomes of a machine in each of its states, in the order of WAYS, when a stimulus comes there: late, twice, or
#: where nobody expects it.
LATE = {
    "joining: WANTED": "asking meeting asking asking leaving",
    "joining: WANTED struck off": "asking meeting asking disputed idle",
    "joining: WANTED the next lobby": "idle meeting asking disputed leaving",
    "joining: SERVER_MET": "idle asking asking disputed leaving",
    "joining: SERVER_SILENT": "idle asking asking disputed leaving",
    "joining: NO_ANSWER": "idle asking asking asking leaving",
    "joining: NO_ANSWER a recap": "idle asking asking asking leaving",
    "joining: NO_ANSWER a leave": "idle asking asking asking leaving",
    "joining: ANSWERED": "idle meeting idle idle leaving",
    "joining: ANSWERED by the recap": "idle meeting idle idle leaving",
    "joining: GAME_ON": "idle meeting idle idle leaving",
    "joining: NAME_REFUSED": "idle meeting disputed disputed leaving",
    "joining: NAME_REFUSED unsealed": "idle meeting disputed disputed leaving",
    "joining: STILL_REFUSED": "idle asking asking asking leaving",
    "joining: UNWANTED": "idle idle idle idle leaving",
    "joining: UNWANTED in a game": "leaving idle idle idle leaving",
    "joining: LEFT": "leaving idle idle idle leaving",
    "joining: LEFT_UNLISTED": "leaving idle idle idle leaving",
    "joining: LEFT_UNLISTED before it has asked": "leaving idle idle idle leaving",
    "joining: STRUCK_OFF": "asking meeting asking disputed idle",
    "joining: UNUSABLE": "idle meeting idle idle leaving",
    "placing: NEEDED": "choosing choosing placing placed",
    "placing: NEEDED by a recap": "choosing choosing placing placing",
    "placing: CHOSEN": "placing placing placing placing",
    "placing: APPROVED": "no_fleet choosing placed placed",
    "placing: NO_ANSWER": "no_fleet choosing placing placed",
    "placing: DOUBTED": "no_fleet choosing placing placed",
    "placing: DOUBTED by a recap": "choosing choosing placing placing",
    "placing: RECALLED": "placed placed placed placed",
    "placing: DROPPED": "no_fleet no_fleet no_fleet no_fleet",
    "placing: DROPPED struck off": "no_fleet no_fleet no_fleet no_fleet",
    "placing: DROPPED another game": "no_fleet no_fleet no_fleet no_fleet",
    "placing: DROPPED the next lobby": "no_fleet choosing placing placed",
    "playing: TAKEN_UP": "waiting waiting deciding fired skipped ended",
    "playing: TAKEN_UP by a recap": "waiting waiting deciding fired skipped ended",
    "playing: OWN_TURN": "deciding waiting deciding fired skipped ended",
    "playing: OTHERS_TURN": "waiting waiting waiting waiting waiting ended",
    "playing: FIRED": "wrong_state waiting fired fired skipped ended",
    "playing: SKIPPED": "wrong_state waiting skipped skipped skipped ended",
    "playing: NO_RESULT": "no_game waiting deciding fired skipped ended",
    "playing: RESOLVED": "no_game waiting waiting waiting waiting ended",
    "playing: RESOLVED by a recap": "waiting waiting waiting waiting waiting ended",
    "playing: TIME_UP": "no_game waiting waiting waiting waiting ended",
    "playing: TIME_UP of the bank": "no_game waiting waiting waiting waiting ended",
    "playing: RECALLED": "waiting waiting deciding fired skipped ended",
    "playing: ENDED": "no_game waiting deciding fired skipped ended",
    "playing: FORGOTTEN": "no_game no_game no_game no_game no_game no_game",
    "returning: CONNECTED": "returning returning doubting",
    "returning: CONNECTED with a fleet": "returning returning doubting",
    "returning: CONNECTED to the server": "returning returning doubting",
    "returning: CONNECTED_NEW": "returning returning doubting",
    "returning: UNUSABLE": "current current current",
    "returning: TAKEN_UP": "current current current",
    "returning: NOTHING_MISSED": "current returning doubting",
    "returning: NOTHING_MISSED by `wrong_state`": "current returning doubting",
    "returning: DOUBTED": "doubting returning doubting",
    "returning: FORGOTTEN": "current current current",
    "following: LOBBY": "lobby lobby doubted doubted doubted",
    "following: LOBBY the next one": "lobby lobby lobby lobby lobby",
    "following: OLD_LOBBY": "lobby lobby doubted doubted doubted",
    "following: TURN": "turn turn turn turn turn",
    "following: OVER": "over over over over over",
    "following: CONFIRMED": "unheard lobby turn over lobby",
    "following: CONFIRMED by another game": "unheard lobby turn over lobby",
    "following: CONFIRMED by a recap": "unheard lobby turn over lobby",
    "following: DENIED": "unheard lobby turn over turn",
    "server: ONLINE": "here here",
    "server: ONLINE_NEWS": "here here",
    "server: OFFLINE": "away away",
    "server: OFFLINE paused": "away away",
}


@pytest.mark.parametrize("stimulus", STIMULI, ids=name_of)
def test_late_and_repeated_messages_leave_each_session_state_as_specified(stimulus: Stimulus) -> None:
    name = name_of(stimulus).partition(":")[0]
    found = []
    for way in WAYS[name].values():
        team = Team()
        way(team)
        try:
            stimulus.do(team)
        except IllegalCommand as error:
            found.append(error.code)
        else:
            found.append(team.machine(name).state.name.lower())
    assert " ".join(found) == LATE[name_of(stimulus)]


@pytest.mark.parametrize(("names", "retained"), [(("me", "you"), True), (("you",), False), (("you",), True)])
def test_only_a_fresh_player_list_with_the_team_ends_its_return(names: tuple[str, ...], retained: bool) -> None:
    team = Team()
    placing(team)
    connect(team)
    team.say(m.PlayersListed(names), retained=retained)
    assert team.machine("returning").state is ReturningState.RETURNING


def test_fleet_and_view_are_there_exactly_in_the_states_that_have_them() -> None:
    for state, way in [pair for ways in WAYS.values() for pair in ways.items()]:
        team = Team()
        way(team)
        placing, playing = team.machine("placing").state, team.machine("playing").state
        assert (team.session.fleet is None) == (placing in (PlacingState.NO_FLEET, PlacingState.CHOOSING)), state
        assert (team.session.view is None) == (playing is PlayingState.NO_GAME), state


def test_every_event_has_a_stimulus() -> None:
    caused = defaultdict(set)
    for stimulus in STIMULI:
        caused[type(stimulus.event)].add(stimulus.event)
    assert {events: set(events) for _, events in TABLES.values()} == caused
