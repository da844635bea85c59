"""The referee's table, executed: every input in every state, from games that inputs alone have brought there."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import salvo_game
from kit.board_states import board_state
from salvo import messages as m
from salvo.messages import Limits, State
from salvo.rules import (
    SALVO,
    Announce,
    Grid,
    Orientation,
    Placement,
    Repeats,
    RuleBook,
    ShipClass,
    Spacing,
    Starter,
    Targets,
)
from salvo_game.game_states import Over, Pause, Turn
from salvo_game.lobby import MAX_PLACEMENTS, Lobby
from salvo_game.referee import Referee, Ruling
from salvo_game.transitions import STATES, TABLE, Decision, RefereeEvent, RefereeState, event_of

NOW = 1_000_000
LATER = NOW + 100  # when the input comes that a case is about
FLEET = (ShipClass("long", 2), ShipClass("dot", 1))
SMALL = replace(SALVO, name="small", grid=Grid(4, 4), fleet=FLEET, starter=Starter.FIRST)
SKIPPING = replace(SMALL, skipping=True)
NARROW = replace(SMALL, targets=Targets.OTHERS, announce=Announce.CELLS, repeats=Repeats.REFUSED)

# --- how a game gets into a state: a is the first to fire, and wins -------------------------------------------------


def place(name: str, ship: str, x: int, y: int = 1) -> m.PlaceShip:
    return m.PlaceShip(name, ship, Placement(ship, x, y, Orientation.HORIZONTAL))


def listed(*names: str, book: RuleBook = SMALL, **limits: Any) -> Referee:
    """Return a lobby with teams that have their long ship at A1 and A2."""
    referee = Referee(7, book=book, limits=Limits(**limits))
    for name in names:
        referee.receive(m.Participate(name, name.encode()), NOW)
        referee.receive(place(name, "long", 1), NOW)
    return referee


def lobby(book: RuleBook = SMALL, complete: str = "a", **limits: Any) -> Referee:
    """Return the lobby of a and b, where the complete ones have their dot at A4 as well."""
    referee = listed("a", "b", book=book, **limits)
    for name in complete:
        referee.receive(place(name, "dot", 4), NOW)
    return referee


def turn(book: RuleBook = SMALL, **limits: Any) -> Referee:
    """Return a game in a's first turn."""
    return lobby(book, "ab", players=2, **limits)


def last_shot(book: RuleBook = SMALL, **limits: Any) -> Referee:
    """Return a game in which a has one shot left in its first turn."""
    referee = turn(book, **limits)
    referee.receive(m.Fire("a", "b", 4, 4), NOW)
    return referee


def pause(book: RuleBook = SMALL, **limits: Any) -> Referee:
    """Return a game in the pause after a's first turn."""
    referee = last_shot(book, pace_ms=800, **limits)
    referee.receive(m.Fire("a", "b", 4, 3), NOW)
    return referee


def last_ship(**limits: Any) -> Referee:
    """Return a game in a's second turn, where b has nothing left but its dot at A4."""
    referee = turn(**limits)
    for name, target, x in (("a", "b", 1), ("a", "b", 2), ("b", "a", 3)):
        referee.receive(m.Fire(name, target, x, 1), NOW)
    return referee


def over(**limits: Any) -> Referee:
    """Return a game that a has won with one shot left."""
    referee = last_ship(**limits)
    referee.receive(m.Fire("a", "b", 4, 1), NOW)
    return referee


STARTS = {Lobby: lobby, Turn: turn, Pause: pause, Over: over}


# --- the cases ------------------------------------------------------------------------------------------------------


class Case(NamedTuple):
    """What is said of an input, and the state after it.

    Attributes:
        said: kinds of announcements, with the code of a refusal.
        given: how the game gets there, if not as in ``STARTS``.
    """

    stage: type[RefereeState]
    event: RefereeEvent
    command: m.Input
    announced: str
    then: type[RefereeState]
    given: Callable[[], Referee] | None = None
    at: int = LATER


def same(event: RefereeEvent, *commands: m.Input, announced: str, where: str = "lobby turn pause over") -> list[Case]:
    """Return the cases of inputs that come to the same in several states."""
    chosen = [stage for stage in STATES if stage.__name__.lower() in where.split()]
    return [Case(stage, event, command, announced, stage) for stage in chosen for command in commands]


DOT, STRAY = place("b", "dot", 4), m.Fire("a", "b", 4, 4)
MISS, SKIP, TIME = m.Fire("a", "b", 3, 4), m.Skip("a"), m.TimePassed()
AGAIN = m.Fire("a", "b", 4, 4, m.ShotContext(1, 1, 1, "b"))  # the first shot of a game that has got so far
NEXT = "SalvoResolved TurnBegan"
END = "SalvoResolved PlayerStats PlayerStats GameWon StateChanged"
NOT_LOBBY = "turn pause over"
UNREADABLE = [m.Unreadable("a", "", "not_json", "?"), m.Unreadable("a", "", "not_json", "?", True)]
UNLISTED: list[m.Input] = [
    m.Leave("z"),
    m.StruckOff("z"),
    place("z", "dot", 4),
    m.Fire("z", "a", 1, 1),
    m.Skip("z"),
    m.Unreadable("z", "", "not_json", "?", True),
    m.Leave("A"),
    m.StruckOff("A"),
]
OUT_OF_TIME = "CommandRefused:turn_timeout "
REMOVED = "CommandRefused:removed"
ABORTED = "PlayerStats PlayerStats GameWon StateChanged"
Do = m.HostAction
On = RefereeEvent


def host(do: m.HostAction, **arguments: Any) -> m.HostCommand:
    """Return a command of the host."""
    return m.HostCommand("desk", do, **arguments)


def paused(stage: type[RefereeState]) -> Callable[[], Referee]:
    """Return what makes a table in a state that a host has paused."""

    def make() -> Referee:
        referee = STARTS[stage]()
        referee.receive(host(Do.PAUSE), NOW)
        assert type(referee.stage) is stage
        assert referee.deadline() is None
        return referee

    return make


def refused(code: str) -> str:
    return f"CommandRefused:{code}"


CASES = [
    *same(On.NEW, m.Participate("z", b"z"), announced=refused("wrong_state"), where=NOT_LOBBY),
    Case(Lobby, On.NEW, m.Participate("z", b"z"), "PlayersListed", Lobby, lambda: lobby(most_players=3)),
    Case(Lobby, On.NEW, m.Participate("z", b""), refused("table_full"), Lobby, lambda: lobby(most_players=2)),
    Case(Lobby, On.NEW, m.Participate("z", b""), refused("not_invited"), Lobby, lambda: lobby(teams=("a", "b"))),
    Case(Lobby, On.NEW, m.Participate("b", b"b"), refused("removed"), Lobby, lambda: removed_b()),
    *same(On.BACK, m.Participate("a", b"a"), m.Participate("b", b"b"), announced="Recap"),
    *same(On.TAKEN, m.Participate("a", b"z"), m.Participate("A", b"a"), announced=refused("name_taken")),
    #
    *same(On.LEAVE, m.Leave("a"), m.Leave("b", 1), announced=refused("wrong_state"), where=NOT_LOBBY),
    *same(On.LEAVE, m.Leave("a"), m.Leave("b", 1), announced="PlayerLeft PlayersListed", where="lobby"),
    *same(On.LEAVE, m.Leave("a", 2), m.Leave("a", 0), announced=refused("stale_context"), where="lobby"),
    *same(On.STRUCK_OFF, m.StruckOff("a"), m.StruckOff("b"), announced="PlayerLeft PlayersListed", where="lobby"),
    *same(On.STRUCK_OFF, m.StruckOff("a"), m.StruckOff("b"), announced="", where=NOT_LOBBY),
    Case(Turn, On.STRUCK_OFF, m.StruckOff("a"), "", Turn, lambda: turn(bank_ms=9_000)),
    #
    *same(On.PLACE, DOT, place("a", "dot", 4), announced="PlacementRefused:wrong_state", where=NOT_LOBBY),
    Case(Lobby, On.PLACE, DOT, "PlacementJudged", Lobby),
    Case(Lobby, On.PLACE, DOT, "PlacementJudged", Lobby, lambda: lobby(players=3)),
    Case(Lobby, On.PLACE, DOT, "PlacementJudged StateChanged TurnBegan", Turn, lambda: lobby(players=2)),
    Case(Lobby, On.PLACE, place("a", "dot", 4), "PlacementRefused:fleet_final", Lobby),
    Case(Lobby, On.PLACE, place("b", "long", 1), "PlacementRefused:rate_limited", Lobby, lambda: placed_often()),
    Case(Lobby, On.PLACE, place("b", "dot", 5), "PlacementJudged PlacementRefused:off_grid", Lobby),
    Case(Lobby, On.PLACE, place("b", "dot", 2), "PlacementJudged PlacementRefused:overlap", Lobby),
    Case(
        Lobby,
        On.PLACE,
        place("b", "dot", 3),
        "PlacementJudged PlacementRefused:too_close",
        Lobby,
        lambda: lobby(replace(SMALL, spacing=Spacing.APART)),
    ),
    #
    *same(On.FIRE, MISS, m.Fire("b", "a", 1, 1), announced=refused("wrong_state"), where="lobby"),
    Case(Turn, On.FIRE, MISS, "ShotLanded", Turn),
    Case(Turn, On.FIRE, MISS, f"ShotLanded {NEXT}", Turn, last_shot),
    Case(Turn, On.FIRE, MISS, "ShotLanded SalvoResolved", Pause, lambda: last_shot(pace_ms=800)),
    Case(Turn, On.FIRE, m.Fire("a", "b", 4, 1), f"ShotLanded {END}", Over, last_ship),
    Case(Turn, On.FIRE, m.Fire("b", "a", 1, 1), refused("not_your_turn"), Turn),
    Case(Turn, On.FIRE, m.Fire("b", "a", 1, 1), refused("too_many_shots"), Turn, last_ship),
    Case(Turn, On.FIRE, m.Fire("a", "z", 1, 1), refused("unknown_target"), Turn),
    Case(Turn, On.FIRE, m.Fire("a", "b", 5, 1), refused("off_grid"), Turn),
    Case(Turn, On.FIRE, m.Fire("a", "a", 1, 1), refused("own_board"), Turn, lambda: turn(NARROW)),
    Case(Turn, On.FIRE, m.Fire("a", "a", 1, 1), "ShotLanded", Turn),
    Case(Turn, On.FIRE, STRAY, refused("shot_before"), Turn, lambda: last_shot(NARROW)),
    Case(Turn, On.FIRE, replace(MISS, context=m.ShotContext(1, 1, 2, "b")), refused("stale_context"), Turn),
    Case(Turn, On.FIRE, replace(MISS, context=m.ShotContext(1, 1, 1, "b")), "ShotLanded", Turn),
    Case(Pause, On.FIRE, m.Fire("a", "b", 1, 1), refused("too_many_shots"), Pause),
    Case(Pause, On.FIRE, m.Fire("b", "a", 1, 1), refused("not_your_turn"), Pause),
    Case(Over, On.FIRE, m.Fire("a", "b", 1, 1), "", Over),
    Case(Over, On.FIRE, m.Fire("b", "a", 1, 1), refused("wrong_state"), Over),
    #
    *same(On.SKIP, SKIP, m.Skip("b"), announced=refused("wrong_state"), where="lobby over"),
    *same(On.SKIP, SKIP, m.Skip("b"), announced=refused("not_your_turn"), where="pause"),
    Case(Turn, On.SKIP, SKIP, NEXT, Turn, lambda: turn(SKIPPING)),
    Case(Turn, On.SKIP, SKIP, NEXT, Turn),
    Case(Turn, On.SKIP, m.Skip("b"), refused("not_your_turn"), Turn),
    Case(Turn, On.SKIP, SKIP, "SalvoResolved", Pause, lambda: turn(SKIPPING, pace_ms=1)),
    Case(Turn, On.SKIP, SKIP, END, Over, lambda: turn(SKIPPING, empty_turns=1)),
    Case(Turn, On.SKIP, m.Skip("b"), refused("not_your_turn"), Turn, lambda: turn(SKIPPING)),
    Case(Turn, On.SKIP, m.Skip("a", m.TurnContext(1, 1)), NEXT, Turn, lambda: turn(SKIPPING)),
    Case(Turn, On.SKIP, m.Skip("a", m.TurnContext(1, 2)), refused("stale_context"), Turn, lambda: turn(SKIPPING)),
    Case(Turn, On.SKIP, m.Skip("a", m.TurnContext(2, 1)), refused("stale_context"), Turn, lambda: turn(SKIPPING)),
    Case(Pause, On.SKIP, SKIP, refused("not_your_turn"), Pause, lambda: pause(SKIPPING)),
    Case(Pause, On.SKIP, m.Skip("b"), refused("not_your_turn"), Pause, lambda: pause(SKIPPING)),
    #
    *same(On.REPEATED, AGAIN, announced=refused("wrong_state"), where="lobby"),
    Case(Turn, On.REPEATED, AGAIN, "", Turn, last_shot),
    Case(Turn, On.REPEATED, m.Skip("a", m.TurnContext(1, 1)), "", Turn, lambda: after_a_skip()),
    Case(Pause, On.REPEATED, AGAIN, "", Pause),
    Case(Over, On.REPEATED, m.Fire("a", "b", 4, 1, m.ShotContext(1, 3, 1, "b")), "", Over),
    #
    *same(On.UNREADABLE, *UNREADABLE, announced=refused("not_json")),
    *same(On.UNREADABLE, m.Unreadable("a", "dot", "too_deep", "?"), announced="PlacementRefused:too_deep"),
    *same(On.UNLISTED, *UNLISTED, announced=""),
    *(Case(Turn, On.UNLISTED, command, "", Turn, lambda: turn(bank_ms=9_000)) for command in UNLISTED),
    #
    Case(Lobby, On.DEADLINE, TIME, "CommandRefused:placement_timeout PlayerLeft PlayersListed", Lobby, at=NOW + 60_000),
    Case(Lobby, On.DEADLINE, TIME, "StateChanged TurnBegan", Turn, lambda: lobby(complete="ab"), NOW + 60_000),
    Case(Turn, On.DEADLINE, TIME, OUT_OF_TIME + NEXT, Turn, at=NOW + 30_000),
    Case(Turn, On.DEADLINE, TIME, OUT_OF_TIME + "SalvoResolved", Pause, lambda: turn(pace_ms=1), NOW + 30_000),
    Case(Turn, On.DEADLINE, TIME, OUT_OF_TIME + END, Over, lambda: turn(empty_turns=1), NOW + 30_000),
    Case(Turn, On.DEADLINE, TIME, "CommandRefused:bank_empty " + NEXT, Turn, lambda: with_bank(), NOW + 9_000),
    Case(Pause, On.DEADLINE, TIME, "TurnBegan", Turn, at=NOW + 800),
    Case(Over, On.DEADLINE, TIME, "TableReset TableOpened StateChanged", Lobby, at=NOW + 300_000),
    #
    *same(On.RESUMED, m.Resumed(), announced="", where="lobby pause over"),
    *same(On.RESUMED, m.Resumed(), announced="TurnResumed", where="turn"),
    *same(On.DELIVERED, m.TurnDelivered(1), announced="", where="lobby over"),
    *same(On.DELIVERED, m.TurnDelivered(1), m.TurnDelivered(2), announced="", where="pause"),
    Case(Turn, On.DELIVERED, m.TurnDelivered(1), "", Turn, lambda: turn(bank_ms=9_000)),
    #
    *(
        each
        for event, do in (
            (On.HOST_START, Do.START),
            (On.HOST_SKIP, Do.SKIP),
            (On.HOST_PAUSE, Do.PAUSE),
            (On.HOST_RESUME, Do.RESUME),
            (On.HOST_EXTEND, Do.EXTEND),
            (On.HOST_ABORT, Do.ABORT),
            (On.HOST_REMOVE, Do.REMOVE),
            (On.HOST_NEXT, Do.NEXT),
            (On.HOST_SPEAK, Do.ANNOUNCE),
            (On.HOST_SPEAK, Do.SET),
            (On.HOST_ANNUL, Do.ANNUL),
        )
        for each in same(event, host(do, context=2), announced=refused("stale_context"))
    ),
    *same(On.HOST_START, host(Do.START), announced=refused("wrong_state"), where=NOT_LOBBY),
    Case(Lobby, On.HOST_START, host(Do.START), refused("too_few_fleets"), Lobby),
    Case(Lobby, On.HOST_START, host(Do.START), "HostActed StateChanged TurnBegan", Turn, lambda: lobby(complete="ab")),
    *same(On.HOST_SKIP, host(Do.SKIP), announced=refused("wrong_state"), where="lobby over"),
    Case(Turn, On.HOST_SKIP, host(Do.SKIP), f"HostActed {OUT_OF_TIME}{NEXT}", Turn),
    Case(Pause, On.HOST_SKIP, host(Do.SKIP), "HostActed", Pause),
    Case(Pause, On.DEADLINE, TIME, f"TurnBegan {OUT_OF_TIME}SalvoResolved", Pause, lambda: skipped(), NOW + 800),
    Case(Pause, On.DEADLINE, TIME, f"TurnBegan {OUT_OF_TIME}{END}", Over, lambda: skipped(empty_turns=1), NOW + 800),
    Case(
        Pause,
        On.HOST_RESUME,
        host(Do.RESUME),
        f"HostActed TurnBegan {OUT_OF_TIME}{END}",
        Over,
        lambda: finished_in_pause(Do.SKIP, empty_turns=1),
    ),
    Case(Turn, On.HOST_SKIP, host(Do.SKIP), f"HostActed {OUT_OF_TIME}SalvoResolved", Pause, lambda: turn(pace_ms=1)),
    Case(Turn, On.HOST_SKIP, host(Do.SKIP), f"HostActed {OUT_OF_TIME}{END}", Over, lambda: turn(empty_turns=1)),
    *same(On.HOST_PAUSE, host(Do.PAUSE), announced="HostActed"),
    *(Case(stage, On.HOST_PAUSE, host(Do.PAUSE), refused("clock_stopped"), stage, paused(stage)) for stage in STATES),
    *same(On.HOST_RESUME, host(Do.RESUME), announced=refused("not_paused")),
    Case(Lobby, On.HOST_RESUME, host(Do.RESUME), "HostActed", Lobby, paused(Lobby)),
    Case(Lobby, On.HOST_RESUME, host(Do.RESUME), "HostActed StateChanged TurnBegan", Turn, lambda: complete_in_pause()),
    Case(Turn, On.HOST_RESUME, host(Do.RESUME), "HostActed TurnResumed", Turn, paused(Turn)),
    Case(Pause, On.HOST_RESUME, host(Do.RESUME), "HostActed", Pause, paused(Pause)),
    Case(Pause, On.HOST_RESUME, host(Do.RESUME), "HostActed TurnBegan", Turn, lambda: finished_in_pause()),
    Case(Over, On.HOST_RESUME, host(Do.RESUME), "HostActed", Over, paused(Over)),
    *same(On.HOST_EXTEND, host(Do.EXTEND, seconds=60), announced="HostActed", where="lobby pause over"),
    *same(On.HOST_EXTEND, host(Do.EXTEND, seconds=60), announced="HostActed TurnResumed", where="turn"),
    *(
        Case(stage, On.HOST_EXTEND, host(Do.EXTEND, seconds=1), refused("clock_stopped"), stage, paused(stage))
        for stage in STATES
    ),
    *same(On.HOST_ABORT, host(Do.ABORT), announced=refused("wrong_state"), where="lobby over"),
    *(
        Case(stage, On.HOST_ABORT, host(Do.ABORT), f"HostActed {ABORTED}", Over, given)
        for stage in (Turn, Pause)
        for given in (None, paused(stage))
    ),
    *same(On.HOST_REMOVE, host(Do.REMOVE, team="b"), announced=refused("wrong_state"), where="over"),
    *same(On.HOST_REMOVE, host(Do.REMOVE, team="z"), announced=refused("unknown_target"), where="lobby turn pause"),
    Case(Lobby, On.HOST_REMOVE, host(Do.REMOVE, team="b"), f"HostActed {REMOVED} PlayerLeft PlayersListed", Lobby),
    Case(Turn, On.HOST_REMOVE, host(Do.REMOVE, team="b"), f"HostActed {REMOVED}", Turn),
    Case(Turn, On.HOST_REMOVE, host(Do.REMOVE, team="a"), f"HostActed {REMOVED} {END}", Over),
    Case(Turn, On.HOST_REMOVE, host(Do.REMOVE, team="a"), f"HostActed {REMOVED} {NEXT}", Turn, lambda: turn_of_three()),
    Case(
        Turn,
        On.HOST_REMOVE,
        host(Do.REMOVE, team="a"),
        f"HostActed {REMOVED} SalvoResolved",
        Pause,
        lambda: turn_of_three(pace_ms=1),
    ),
    Case(Pause, On.HOST_REMOVE, host(Do.REMOVE, team="b"), f"HostActed {REMOVED}", Pause),
    *same(On.HOST_NEXT, host(Do.NEXT), announced=refused("wrong_state"), where="turn pause"),
    *(
        Case(stage, On.HOST_NEXT, host(Do.NEXT), "HostActed TableReset TableOpened StateChanged", Lobby, given)
        for stage in (Lobby, Over)
        for given in (None, paused(stage))
    ),
    *same(
        On.HOST_SPEAK,
        host(Do.ANNOUNCE, text="Lunch"),
        host(Do.SET, settings=m.NextGame(turn_seconds=5)),
        announced="HostActed",
    ),
    *same(On.HOST_ANNUL, host(Do.ANNUL, game=0), announced="HostActed", where="lobby turn pause"),
    *same(On.HOST_ANNUL, host(Do.ANNUL, game=1), announced=refused("stale_context"), where="lobby turn pause"),
    *same(On.HOST_ANNUL, host(Do.ANNUL, game=0), announced=refused("wrong_state"), where="over"),
]


def placed_often() -> Referee:
    """Return a lobby in which b has moved its long ship as often as it may."""
    referee = lobby()
    for _ in range(MAX_PLACEMENTS - 1):
        referee.receive(place("b", "long", 1), NOW)
    return referee


def after_a_skip() -> Referee:
    """Return a game in b's first turn, after a has skipped its own."""
    referee = turn(SKIPPING)
    referee.receive(m.Skip("a", m.TurnContext(1, 1)), NOW)
    return referee


def removed_b() -> Referee:
    """Return a lobby that b was removed from."""
    referee = lobby()
    referee.receive(host(Do.REMOVE, team="b"), NOW)
    return referee


def complete_in_pause() -> Referee:
    """Return a paused lobby whose game begins once it is resumed."""
    referee = lobby(players=2)
    referee.receive(host(Do.PAUSE), NOW)
    referee.receive(DOT, NOW)
    return referee


def finished_in_pause(*done: Do, **limits: Any) -> Referee:
    """Return a paused game whose player has finished its turn, after which the host has done something."""
    referee = last_shot(**limits)
    referee.receive(host(Do.PAUSE), NOW)
    referee.receive(m.Fire("a", "b", 4, 3), NOW)
    for do in done:
        referee.receive(host(do), NOW)
    return referee


def skipped(**limits: Any) -> Referee:
    """Return a game in a pause in which the host has ended the next turn."""
    referee = pause(**limits)
    referee.receive(host(Do.SKIP), NOW)
    return referee


def turn_of_three(**limits: Any) -> Referee:
    """Return a game of three in a's first turn."""
    referee = listed("a", "b", "c", players=3, **limits)
    for name in "abc":
        referee.receive(place(name, "dot", 4), NOW)
    return referee


def with_bank() -> Referee:
    """Return a game in a's first turn, with a bank that counts already."""
    referee = turn(bank_ms=9_000)
    referee.receive(m.TurnDelivered(1), NOW)
    return referee


def run(case: Case) -> tuple[Referee, list[m.Announcement], bool]:
    """Return the table after a case, what was said, and whether anything had changed."""
    referee = (case.given or STARTS[case.stage])()
    assert type(referee.stage) is case.stage
    before = board_state(referee)
    announced = referee.receive(case.command, case.at)
    return referee, announced, board_state(referee) != before


def written(announced: list[m.Announcement]) -> str:
    codes = [f":{each.code}" if isinstance(each, (m.CommandRefused, m.PlacementRefused)) else "" for each in announced]
    return " ".join(type(each).__name__ + code for each, code in zip(announced, codes, strict=True))


#: What a host does that leaves the game as it is.
TIMES_AND_WORDS = (On.HOST_EXTEND, On.HOST_PAUSE, On.HOST_RESUME, On.HOST_ANNUL, On.HOST_SPEAK)


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{case.stage.__name__}-{case.event.name}-{case.announced or 0}"
)
def test_the_referee_answers_each_input_in_each_state_as_listed(case: Case) -> None:
    referee, announced, changed = run(case)
    assert written(announced) == case.announced
    assert type(referee.stage) is case.then
    row = TABLE[case.stage][case.event]
    if any(isinstance(each, m.HostActed) for each in announced):
        assert changed or case.event in TIMES_AND_WORDS or (case.stage, case.event) == (Pause, On.HOST_SKIP)
    elif ("Refused" in case.announced and case.event is not On.DEADLINE) or row.decision is not Decision.ACCEPTED:
        assert not changed
    else:
        assert changed


def test_the_referee_handles_every_input_in_every_state_as_its_table_specifies() -> None:
    for stage, event in product(STATES, RefereeEvent):
        cases = [case for case in CASES if (case.stage, case.event) == (stage, event)]
        assert cases, (stage, event)
        row = TABLE[stage][event]
        answers, codes, targets = set(), set(), set()
        for case in cases:
            referee, announced, changed = run(case)
            shown = {each.code for each in announced if isinstance(each, (m.CommandRefused, m.PlacementRefused))}
            acted = any(isinstance(each, m.HostActed) for each in announced)
            if acted or not isinstance(case.command, m.HostCommand):
                targets.add(type(referee.stage))
            if event is On.UNREADABLE:
                answers.add(Decision.OWN_CODE)
                assert shown == {case.command.code}, case  # type: ignore[union-attr]
                continue
            if acted:
                answers.add(Decision.ACCEPTED)
                continue
            codes |= shown
            if any(isinstance(each, m.Recap) for each in announced):
                answers.add(Decision.RECAP)
            elif event is On.DEADLINE or not shown:
                answers.add(Decision.ACCEPTED if changed else Decision.IGNORED)
        assert (answers or {Decision.REFUSED}) == {row.decision}, (stage, event)
        assert codes == set(row.codes), (stage, event)
        assert (targets or {stage}) == ({target.state for target in row.targets} or {stage}), (stage, event)


def test_every_refusal_in_the_games_source_is_in_the_table() -> None:
    source = "".join(file.read_text() for file in Path(salvo_game.__file__).parent.glob("*.py"))
    refusals = set(re.findall(r'IllegalCommand\(\s*"(\w+)"', source))
    assert "name_taken" in refusals
    assert refusals <= {code for rows in TABLE.values() for row in rows.values() for code in row.codes}


# --- before a deadline, and after it --------------------------------------------------------------------------------


def due(referee: Referee) -> int:
    deadline = referee.deadline()
    assert deadline is not None
    return deadline


@pytest.mark.parametrize("stage", STATES)
def test_a_deadline_takes_effect_at_its_millisecond_and_not_before(stage: type[RefereeState]) -> None:
    referee = STARTS[stage]()
    end = due(referee)
    before = board_state(referee)
    assert referee.receive(m.TimePassed(), end - 1) == referee.handle_timer(end - 1) == []
    assert board_state(referee) == before
    assert referee.handle_timer(end) != []


@pytest.mark.parametrize("stage", STATES)
def test_an_outage_that_outlasts_the_deadline_ends_no_state(stage: type[RefereeState]) -> None:
    referee = STARTS[stage]()
    end = due(referee)
    referee.receive(m.Resumed(), end + 5_000)
    assert type(referee.stage) is stage
    restarted = {Lobby: 60_000, Turn: 30_000, Pause: 800, Over: -5_000}[stage]  # a result's time runs on
    assert due(referee) == end + 5_000 + restarted


@pytest.mark.parametrize("stage", STATES)
def test_a_table_that_a_host_resumes_has_the_whole_time_of_its_state(stage: type[RefereeState]) -> None:
    referee = paused(stage)()
    referee.receive(host(Do.RESUME), NOW + 900_000)
    assert due(referee) == NOW + 900_000 + {Lobby: 60_000, Turn: 30_000, Pause: 800, Over: 300_000}[stage]


@pytest.mark.parametrize(("stage", "then"), [(Lobby, Lobby), (Turn, Turn), (Pause, Turn), (Over, Lobby)])
def test_an_input_after_a_deadline_comes_into_the_state_after_it(
    stage: type[RefereeState], then: type[RefereeState]
) -> None:
    referee = STARTS[stage]()
    *late, last = referee.receive(m.Unreadable("a", "", "not_json", "?"), due(referee))
    assert type(referee.stage) is then
    assert late or stage is Over  # where the new lobby knows no a
    assert last == (m.StateChanged(State.LOBBY) if stage is Over else m.CommandRefused("a", "not_json", "?"))


def is_repetition(referee: Referee, command: m.Fire | m.Skip) -> bool:
    return event_of(command, referee.stage) is On.REPEATED


def test_a_void_last_shot_counts_as_a_repeat_once_received() -> None:
    referee = over()
    winning = m.ShotContext(1, 3, 2, "b")
    shot = m.Fire("a", "b", 2, 2, winning)
    assert not is_repetition(referee, shot)
    referee.receive(shot, LATER)
    assert is_repetition(referee, shot)
    others: list[m.Fire | m.Skip] = [m.Fire("a", "b", 2, 2), m.Fire("b", "b", 2, 2, winning), m.Skip("a")]
    others += [replace(shot, context=replace(winning, game=2)), replace(shot, context=replace(winning, turn=2))]
    assert not any(is_repetition(referee, other) for other in others)


def test_a_repetition_is_no_part_of_the_record_and_a_refusal_is() -> None:
    referee = last_shot()
    assert referee.decide(AGAIN, LATER) == Ruling([], recorded=False)
    assert referee.decide(replace(AGAIN, x=1), LATER).recorded
