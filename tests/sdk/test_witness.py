"""A team as a witness: games of a real referee, logged by the real log, and told with one thing changed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from kit.signed_games import FLEETS, IDENTITY, MESSAGES, Moment, play
from salvo import messages as m
from salvo.codec.log import OF_BYTES, Entry, LogEnd, LogStep, Opening, Reveal, entry_digest, sign_entry, write_entry
from salvo.codec.log_reader import read_entry, take_apart
from salvo.errors import ImpostorError, UnfairGame, WireError
from salvo.join.events import GameVerified, LogDoubted
from salvo.join.fairness.witness import Witness
from salvo.rules import SALVO, Orientation, Placement, generator, random_fleet
from salvo.view import Shot
from salvo_server.storage.identity import Identity

#: A secret with which I begin.
MINE = "33"


class Team:
    """A witness that hears a game and has sent what counts in it as my commands."""

    def __init__(self, key: bytes | None = IDENTITY.signing_key) -> None:
        self.witness = Witness("me")
        self.witness.key = key
        self.found: list[GameVerified] = []

    def send(self, command: m.Input | None, game: int = 1) -> None:
        match command:
            case m.PlaceShip("me"):
                self.witness.placed(game, FLEETS["me"].placements, MESSAGES["me"])
            case m.Fire("me", target, x, y, m.ShotContext() as context):
                self.witness.fired(context, Shot(target, x, y))
            case m.Skip("me", m.TurnContext() as context):
                self.witness.skipped(context)

    def hear(self, moments: Iterable[Moment], now: float = 0.0, game: int = 1) -> Team:
        for moment in moments:
            self.send(moment.command, game)
            for announcement in moment.announced:
                self.witness.receive(announcement, now)
            for payload in moment.log:
                self.found += self.witness.logged(payload, now)
        return self


def resigned(moments: Iterable[Moment], change: Callable[[Entry], Entry]) -> list[Moment]:
    """The same game with entries changed by the server itself: numbers, links and signatures are right again."""
    texts: list[bytes] = []

    def again(payload: bytes) -> bytes:
        entry = read_entry(take_apart(payload)[0])
        if entry.number < len(texts):
            return sign_entry(texts[entry.number], IDENTITY.sign)  # the lobby, said once more
        of = entry_digest(texts[0])[:OF_BYTES].hex() if texts else ""
        prev = entry_digest(texts[-1]).hex() if texts else ""
        texts.append(write_entry(replace(change(entry), of=of, prev=prev)))
        return sign_entry(texts[-1], IDENTITY.sign)

    return [replace(moment, log=tuple(map(again, moment.log))) for moment in moments]


def changed(kind: type, **fields: Any) -> Callable[[Entry], Entry]:
    """Change the first body of a kind; a field's value is made from the body."""
    done = False

    def change(entry: Entry) -> Entry:
        nonlocal done
        if done or not isinstance(entry.body, kind):
            return entry
        values = {name: make(entry.body) for name, make in fields.items()}
        if all(getattr(entry.body, name) == value for name, value in values.items()):
            return entry
        done = True
        return replace(entry, body=dataclasses.replace(entry.body, **values))

    return change


# --- honest games -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", [1, 3, 8, 12, 13, 20])
def test_a_late_witness_judges_only_games_it_has_whole(start: int) -> None:
    """When a game begins its log so far is said once more; later there is nothing to hold what is revealed against."""
    moments = play()
    begun = next(number for number, moment in enumerate(moments) if m.StateChanged(m.State.TURN) in moment.announced)
    team = Team().hear(moments[start:])
    assert [each.whole for each in team.found] == [start <= begun]
    assert team.witness.doubts(1000.0) == []


def test_a_witness_that_receives_everything_twice_verifies_the_same_game() -> None:
    """After an outage announcements may come twice, and MQTT brings a message again."""
    twice = [replace(each, announced=each.announced * 2, log=each.log * 2) for each in play()]
    moments = play()
    team = Team().hear(twice[:20]).hear(moments[12:20]).hear(twice[20:])
    assert team.found == [GameVerified(1, True)]
    assert team.witness.doubts(1000.0) == []


def test_a_witness_checks_the_log_once_the_servers_key_is_known() -> None:
    team = Team(key=None).hear(play()[:5])
    team.witness.key = IDENTITY.signing_key
    assert team.hear(play()[5:]).found == [GameVerified(1, True)]


def test_a_second_program_with_the_same_secret_is_no_fault_of_the_server() -> None:
    team = Team()
    team.witness.fired(m.ShotContext(1, 1, 1, "you"), Shot("you", 9, 9))
    assert team.hear(play(contexts=False)).found == [GameVerified(1, True)]


# --- what was missed ----------------------------------------------------------------------------------------------


def log_of(moments: Iterable[Moment]) -> list[bytes]:
    """Every payload once, in order."""
    return list(dict.fromkeys(payload for moment in moments for payload in moment.log))


def answered(team: Team, moments: Iterable[Moment], now: float) -> int | None:
    """Ask at a time, and hear the answer; return what was asked for."""
    first = team.witness.missed(now)
    for payload in log_of(moments)[first:] if first is not None else []:
        team.found += team.witness.logged(payload, 0.0)
    return first


@pytest.mark.parametrize("start", [13, 20, 40])
def test_a_witness_that_returns_in_mid_game_asks_for_all_and_judges(start: int) -> None:
    moments = play()
    team = Team().hear(moments[start : start + 10])
    assert team.witness.missed(0.0) is None  # when a game begins, the lobby is said again unasked
    assert answered(team, moments[: start + 10], 1.5) == 0
    assert team.witness.missed(100.0) is None
    team.hear(moments[start + 10 :])
    assert team.found == [GameVerified(1, True)]


def unheard(moments: Iterable[Moment]) -> list[Moment]:
    """The same while the connection is lost."""
    return [replace(moment, announced=(), log=()) for moment in moments]


def test_the_last_entry_missed_in_an_outage_is_asked_for_though_none_follows() -> None:
    moments = play()
    team = Team().hear(moments[:-1])
    team.witness.connected_anew()
    assert team.witness.follows(1)
    team.witness.missed(0.0)
    assert answered(team, moments, 1.0) == len(log_of(moments[:-1])) - 1
    assert team.found == [GameVerified(1, True)]
    assert not team.witness.follows(1)


def test_shots_of_an_earlier_run_in_the_same_turn_are_no_fault_of_the_server() -> None:
    moments = play()
    first = next(
        n for n, each in enumerate(moments) if isinstance(each.command, m.Fire) and each.command.player == "me"
    )
    fire = moments[first].command
    assert isinstance(fire, m.Fire)
    assert fire.context is not None
    for turn, fair in ((fire.context.turn, True), (fire.context.turn - 1, False)):
        team = Team()
        team.witness.took_up(1, turn)
        team.send(replace(fire, x=fire.x % 10 + 1))
        received = [replace(each, command=None) if isinstance(each.command, m.Fire) else each for each in moments]
        if fair:
            assert team.hear(received).found == [GameVerified(1, True)]
        else:
            with pytest.raises(UnfairGame, match="that was never fired"):
                team.hear(received)


def test_a_game_with_missing_entries_is_verified_once_they_arrive() -> None:
    moments = play()
    team = Team().hear(moments[:20]).hear(unheard(moments[20:26])).hear(moments[26:])
    assert team.found == [GameVerified(1, False)]
    team.witness.missed(0.0)
    answered(team, moments, 1.0)
    assert team.found == [GameVerified(1, False), GameVerified(1, True)]


def test_an_unanswered_witness_asks_less_often_and_for_the_whole_log() -> None:
    team = Team().hear(play()[:20]).hear(play()[26:40])
    asked = [(now, first) for now in range(60) if (first := team.witness.missed(float(now))) is not None]
    assert [now for now, _ in asked] == [1, 3, 7, 15, 23, 31, 39, 47, 55]
    assert asked[0][1] != 0
    assert {first for _, first in asked[1:]} == {0}


def test_a_cheat_behind_a_gap_is_found_when_the_gap_is_filled() -> None:
    moments = list(play())
    forked = resigned(moments, changed(LogStep, at=lambda b: b.at + 1))
    team = Team().hear(moments[:20]).hear(forked[26:30])
    team.witness.missed(0.0)
    with pytest.raises(UnfairGame, match=r"unfair: log_(broken|forked)"):
        answered(team, moments[:30], 1.0)


def test_a_replayed_log_of_an_old_game_causes_no_request_for_entries() -> None:
    team = Team().hear(play(2, "22")[:20], game=2)
    for payload in log_of(play(1, "33"))[5:9]:
        team.witness.logged(payload, 0.0)
    assert [team.witness.missed(float(now)) for now in range(9)] == [None] * 9


def test_only_a_repeat_of_the_last_log_entry_proves_that_nothing_is_missing() -> None:
    log = log_of(play()[:20])
    team = Team().hear(play()[:20])
    team.witness.connected_anew()
    team.witness.missed(0.0)
    team.witness.logged(log[-2], 0.0)
    assert team.witness.missed(1.0) == len(log) - 1
    team.witness.logged(log[-1], 1.0)
    assert [team.witness.missed(float(now)) for now in range(2, 60)] == [None] * 58


def test_an_opening_of_another_game_of_this_number_does_not_displace_the_one_in_play() -> None:
    """Anyone can say again what the server signed when it was tried out."""
    moments = play()
    team = Team().hear(moments[:20])
    for payload in play(1, "33")[0].log:
        team.witness.logged(payload, 0.0)
    team.witness.connected_anew()
    team.witness.missed(0.0)
    assert answered(team, moments[:20], 1.0) == len(log_of(moments[:20])) - 1
    assert team.hear(moments[20:]).found == [GameVerified(1, True)]


def test_replayed_logs_of_old_games_do_not_displace_the_game_in_play() -> None:
    """They displaced it: the log of the game in play was then without an opening, and was not judged."""
    moments = play(9, "99", clock=9_000_000)
    team = Team().hear(moments[:20], game=9)
    for number in range(1, 9):
        for payload in log_of(play(number, f"{number}0")[:5]):
            team.witness.logged(payload, 0.0)
    assert len(team.witness._games) == 4
    assert team.hear(moments[20:], game=9).found == [GameVerified(9, True)]


@pytest.mark.parametrize("received", [1, 5, 20])
def test_a_server_without_a_journal_may_begin_again_with_the_same_seed(received: int) -> None:
    """Both games have the same opening; the second is told apart by its second entry."""
    first = play(draw=m.Draw.SEED)
    again = play(draw=m.Draw.SEED, clock=2_000_000)
    assert first[0].log == again[0].log
    team = Team().hear(first[:received])
    assert team.hear(again).found == [GameVerified(1, True)]
    assert not team.witness.follows(1)


# --- somebody else ------------------------------------------------------------------------------------------------


def test_a_log_entry_not_signed_by_the_server_is_an_impostors() -> None:
    moments = play()
    other = Identity.fresh()
    [text] = [take_apart(payload)[0] for payload in moments[1].log]
    for number in (0, 1):
        team = Team().hear(moments[:number])
        with pytest.raises(ImpostorError, match=r"impostor: an entry of the log is not signed by the server"):
            team.witness.logged(sign_entry(text, other.sign), 0.0)
    [payload] = moments[1].log
    with pytest.raises(ImpostorError):
        Team().hear(moments[:1]).witness.logged(payload.replace(b'"n":1', b'"n":2'), 0.0)


@pytest.mark.parametrize("noise", [b"", b"hello", b'{"entry":{},"sign":"AAAA"}', b"\xff" * 300])
def test_an_invalid_log_entry_is_refused_and_does_not_disturb_the_witness(noise: bytes) -> None:
    team = Team().hear(play()[:20])
    with pytest.raises(WireError, match=r"^wrong_shape: "):
        team.witness.logged(noise, 0.0)
    assert team.hear(play()[20:]).found == [GameVerified(1, True)]


def test_announcements_that_the_log_never_confirms_are_reported_once() -> None:
    team = Team().hear(play()[:20])
    for hits in (4, 5, 5):
        team.witness.receive(m.SalvoResolved(1, 1, "you", 5, hits, (), ()), 100.0)
    assert team.witness.doubts(109.0) == []
    [doubt] = team.witness.doubts(111.0)
    assert isinstance(doubt, LogDoubted)
    assert "does not confirm within 10 s" in doubt.text
    assert "and 1 more" in doubt.text
    assert team.witness.doubts(999.0) == []


def test_a_log_of_a_later_form_is_refused_as_unknown_version() -> None:
    [payload] = play()[0].log
    text, _ = take_apart(payload)
    later = text.replace(b'"log":1', b'"log":99', 1)
    with pytest.raises(WireError, match=r"^unknown_version: "):
        Team().witness.logged(sign_entry(later, IDENTITY.sign), 0.0)


def salvo(hits: int) -> m.SalvoResolved:
    """News that no log here confirms."""
    return m.SalvoResolved(1, 1, "you", 5, hits, (), ())


def test_doubts_about_the_log_are_reported_at_most_once_in_ten_seconds() -> None:
    team = Team().hear(play()[:20])
    for hits, received in ((3, 100.0), (4, 105.0), (5, 110.0)):
        team.witness.receive(salvo(hits), received)
    doubts_at = {now: len(team.witness.doubts(now)) for now in (111.0, 116.0, 121.0)}
    assert doubts_at == {111.0: 1, 116.0: 0, 121.0: 1}


def test_news_that_come_after_the_log_are_confirmed_already() -> None:
    team = Team()
    for moment in play()[:20]:
        team.hear([replace(moment, announced=())])
        team.hear([replace(moment, log=(), command=None)])
    assert team.witness.doubts(1000.0) == []


def test_news_that_are_never_confirmed_are_doubted_though_the_log_goes_on() -> None:
    team = Team().hear(play()[:20])
    team.witness.receive(salvo(4), 0.0)
    assert len(team.hear(play()[20:25]).witness.doubts(1000.0)) == 1


def test_news_are_not_doubted_once_entries_are_missing_that_may_confirm_them() -> None:
    moments = play()
    number = next(n for n, each in enumerate(moments) if n > 20 and each.announced and each.log)
    team = Team().hear(moments[:number]).hear([replace(moments[number], log=())]).hear(moments[number + 1 : number + 6])
    assert team.witness.missed(0.0) is None
    assert team.witness.missed(1.0) is not None, "there is a gap"
    assert team.witness.doubts(1000.0) == []


def test_news_of_a_game_that_is_gone_are_not_doubted() -> None:
    """A server that starts again without a journal opens another lobby, without a word about the old game."""
    team = Team().hear(play()[:20])
    team.witness.receive(salvo(4), 0.0)
    assert team.hear(play(2, "22")[:1], game=2).witness.doubts(1000.0) == []


def test_a_witness_that_missed_the_second_opening_of_a_lobby_waits_for_nothing_of_the_first() -> None:
    """An empty lobby was opened again while the team was away, which received its opening with the whole log."""
    team = Team().hear(play(secret="22")[:1]).hear(play()[2:])
    assert team.found == [GameVerified(1, True)]
    assert not team.witness.follows(1)


def test_news_of_the_next_lobby_are_expected_in_its_log() -> None:
    team = Team().hear(play()).hear(play(2, "22")[:1], game=2)
    team.witness.receive(m.PlayersListed(("mallory",)), 0.0)
    assert len(team.witness.doubts(1000.0)) == 1


def test_announcements_cut_off_by_a_lost_connection_are_not_doubted() -> None:
    team = Team().hear(play()[:20])
    team.witness.receive(m.SalvoResolved(1, 1, "you", 5, 4, (), ()), 100.0)
    team.witness.connected_anew()
    assert team.witness.doubts(999.0) == []


def test_a_flood_of_false_news_is_bounded() -> None:
    team = Team().hear(play()[:20])
    for turn in range(10_000):
        team.witness.receive(m.SalvoResolved(1, turn, "you", 5, 77, (), ()), 100.0 + turn / 1000)
    [doubt] = [each for now in range(110, 140) for each in team.witness.doubts(now)]
    assert "and 255 more" in doubt.text


def test_news_between_the_end_and_the_next_opening_are_in_no_log() -> None:
    team = Team().hear(play())
    team.witness.receive(m.StateChanged(m.State.LOBBY), 0.0)
    team.witness.receive(m.PlayersListed(()), 0.0)
    assert team.witness.doubts(1000.0) == []


# --- a server that cheats -----------------------------------------------------------------------------------------


def test_a_fleet_that_was_sent_to_a_lobby_that_a_host_replaced_is_no_fault() -> None:
    """The story: over a slow line the team heard of the new lobby, and placed again, when the game was over."""
    moments = [
        replace(each, command=None if isinstance(each.command, m.PlaceShip) else each.command) for each in play(game=2)
    ]
    fleet = random_fleet(SALVO, generator("other")).placements
    team = Team()
    team.witness.placed(1, FLEETS["me"].placements, MESSAGES["me"])
    team.witness.struck_off(1)
    team.witness.placed(2, fleet, [b"the one too late"])
    assert team.hear(moments).found == [GameVerified(2, True)]
    team = Team()
    assert team.hear(play()).found == [GameVerified(1, True)]  # and everyone knows that fleet by now
    team.witness.placed(2, fleet, [b"the one too late"])
    with pytest.raises(UnfairGame, match=r"counted for me, which sent Placement"):
        team.hear(moments)


def test_a_message_of_the_servers_own_for_our_placement_is_found() -> None:
    """Else it could try message after message until its friend begins."""
    team = Team()
    moments = [
        replace(each, command=None if isinstance(each.command, m.PlaceShip) else each.command) for each in play()
    ]
    team.witness.placed(1, FLEETS["me"].placements, [*MESSAGES["me"][:4], b"the one we sent.", b"the one before.."])
    with pytest.raises(UnfairGame, match=r"of me came with the message [0-9a-f]{32}, which it never sent"):
        team.hear(moments)


@pytest.mark.parametrize("told", [False, True])
def test_a_fleet_of_a_team_that_was_struck_off_is_missing_without_fault(told: bool) -> None:
    """The story: under load a fleet came too late, and at the end of the game without it the server was accused; so it
    was by a team that had the list without itself too late.
    """
    team = Team()
    team.witness = Witness("late")
    team.witness.key = IDENTITY.signing_key
    team.witness.placed(1, FLEETS["me"].placements, MESSAGES["me"])
    if told:
        team.witness.struck_off(1)
    assert team.hear([replace(each, command=None) for each in play()]).found == [GameVerified(1, True)]


def test_a_ship_of_a_team_that_plays_is_missing_in_a_log() -> None:
    team = Team()
    team.witness.placed(1, [Placement("raft", 1, 1, Orientation.HORIZONTAL)], [bytes(16)])
    with pytest.raises(UnfairGame, match="no raft counted for me"):
        team.hear(play())


def test_shots_that_came_too_late_are_missing_without_fault() -> None:
    team = Team()
    team.witness.fired(m.ShotContext(1, 999, 1, "you"), Shot("you", 9, 9))
    assert team.hear(play()).found == [GameVerified(1, True)]


def test_a_skip_that_was_sent_is_no_fault() -> None:
    assert Team().hear(play(secret=MINE, skipped=3)).found == [GameVerified(1, True)]


def test_a_skip_that_was_never_sent_is_found() -> None:
    moments = play(secret=MINE, skipped=3)
    forgotten = [replace(each, command=None) if isinstance(each.command, m.Skip) else each for each in moments]
    with pytest.raises(UnfairGame, match="turn 3: a skip of me counted that was never sent"):
        Team().hear(forgotten)


@pytest.mark.parametrize("contexts", [True, False])
def test_a_skip_in_a_turn_that_another_program_played_is_no_fault(contexts: bool) -> None:
    moments = play(secret=MINE, contexts=contexts, skipped=3)
    assert Team().hear([replace(each, command=None) for each in moments]).found == [GameVerified(1, True)]


def test_a_fleet_of_an_earlier_run_of_this_program_is_no_fault() -> None:
    team = Team()
    moments = [
        replace(each, command=None if isinstance(each.command, m.PlaceShip) else each.command) for each in play()
    ]
    team.witness.placed(1, random_fleet(SALVO, generator("other")).placements, MESSAGES["me"])
    team.witness.refused(1)
    assert team.hear(moments).found == [GameVerified(1, True)]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (changed(Opening, seed=lambda b: bytes(32)), "seed and secret do not open the commitment"),
        (changed(Reveal, seed=lambda b: b.seed and "22" * 32), "seed and secret do not open the commitment"),
        (changed(Reveal, secret=lambda b: b.secret and bytes(32)), "seed and secret do not open the commitment"),
        (changed(Reveal, secret=lambda b: None), "the first entry that reveals anything has seed, secret"),
        (
            changed(Reveal, texts=lambda b: (b.texts[1], b.texts[0], *b.texts[2:])),
            "text 0, .* does not open the commitment",
        ),
        (changed(Reveal, texts=lambda b: b.texts[:-1]), "revealed texts, and its end counts"),
        (changed(LogStep, hidden=lambda b: b.hidden[:-1]), "commitments and"),
        (changed(LogStep, hidden=lambda b: (*b.hidden, bytes(32)) if b.hidden else b.hidden), "commitments and"),
        (changed(LogEnd, steps=lambda b: b.steps + 1), "its end counts"),
        (changed(LogEnd, hidden=lambda b: b.hidden - 1), "its end counts"),
    ],
)
def test_a_signed_log_that_cannot_be_true_is_detected_at_the_end(change: Callable[[Entry], Entry], text: str) -> None:
    with pytest.raises(UnfairGame, match=text):
        Team().hear(resigned(play(), change))


def test_a_signed_result_without_its_shots_is_the_servers_doing() -> None:
    log = log_of(play())
    number = next(number for number, payload in enumerate(log) if b'"result"' in payload)
    team = Team().hear([Moment(None, (), tuple(log[:number]))])
    text, _ = take_apart(log[number])
    with pytest.raises(UnfairGame, match=r"log_wrong: .*said\.0\.result\.shots: field required"):
        team.witness.logged(sign_entry(text.replace(b'"shots":5,', b"", 1), IDENTITY.sign), 0.0)


def test_re_signing_a_log_without_a_change_leaves_it_identical() -> None:
    assert resigned(play(), lambda entry: entry) == list(play())


def test_a_log_whose_announced_shots_differ_from_the_revealed_ones_is_unfair() -> None:
    """The log says five shots of mine, four are revealed: one was dropped or made up."""

    def more(body: Any) -> tuple[m.Announcement, ...]:
        return tuple(
            each._replace(shots=each.shots + 1) if isinstance(each, m.SalvoResolved) and each.player == "me" else each
            for each in body.announcements
        )

    moments = resigned(play(), changed(LogStep, announcements=more))
    with pytest.raises(UnfairGame, match=r"turn \d+: it announced \d shots, and revealed \d"):
        Team().hear(moments)


def test_two_stories_of_one_game_are_found_at_once() -> None:
    moments = list(play())
    forked = resigned(moments, changed(LogStep, at=lambda b: b.at + 1))
    team = Team().hear(moments[:20])
    with pytest.raises(UnfairGame, match=r"unfair: log_forked"):
        team.witness.logged(forked[1].log[0], 0.0)
    with pytest.raises(UnfairGame, match=r"unfair: log_broken"):
        team.hear(forked[20:])


# --- the log's clock ----------------------------------------------------------------------------------------------


def hear_log(team: Team, log: Iterable[bytes], delays: Iterable[float] = ()) -> Team:
    """Hear entries so many seconds after the time that stands in each, on a clock that began at 0.

    The team places its fleet once it has heard the opening.
    """
    after = iter(delays)
    for payload in log:
        body = read_entry(take_apart(payload)[0]).body
        now = (body.at - 1_000_000) / 1000 if isinstance(body, LogStep) else 0.0
        team.found += team.witness.logged(payload, now + next(after, 0.0))
        if isinstance(body, Opening):
            team.send(m.PlaceShip("me", "", FLEETS["me"].placements[0]), body.game)
    return team


def hastened(seconds: float, since: int) -> list[bytes]:
    """A log whose clock jumps ahead at an entry, signed by the server."""

    def change(entry: Entry) -> Entry:
        if not isinstance(entry.body, LogStep) or entry.number < since:
            return entry
        return replace(entry, body=replace(entry.body, at=entry.body.at + round(1000 * seconds)))

    return log_of(resigned(play(), change))


def doubts_of(team: Team) -> list[str]:
    return [doubt.text for doubt in team.witness.doubts(0.0)]


def test_late_and_repeated_log_entries_cast_no_doubt_on_the_servers_clock() -> None:
    log = log_of(play())
    assert doubts_of(hear_log(Team(), log, [0.0] * 4 + [60.0, 4.9, 0.0] * len(log))) == []
    assert doubts_of(hear_log(hear_log(Team(), log), log, [100.0] * len(log))) == []


@pytest.mark.parametrize(("seconds", "found"), [(4.9, False), (5.1, True), (3600.0, True)])
def test_a_server_whose_log_runs_ahead_of_the_teams_clock_is_doubted_once(seconds: float, found: bool) -> None:
    team, log = Team(), hastened(seconds, 20)
    hear_log(team, log, [0.0] * 20 + [-seconds] * len(log))
    doubts = doubts_of(team)
    assert [f"{seconds:.1f} s ahead" in doubt for doubt in doubts] == [True] * found
    assert doubts_of(team) == []


def test_a_new_connection_and_a_new_game_begin_with_a_new_comparison() -> None:
    log = log_of(play())
    team = hear_log(Team(), log[:20], [100.0] * 20)
    team.witness.connected_anew()
    assert doubts_of(hear_log(team, log[20:])) == []
    team = hear_log(Team(), log, [100.0] * len(log))
    assert doubts_of(hear_log(team, log_of(play(2, "22")))) == []
    assert doubts_of(hear_log(hear_log(Team(), log[:20], [100.0] * 20), log[20:])) != []  # what was late, not early


@cache
def slow_game() -> tuple[Moment, ...]:
    """A game with two seconds between entries."""

    def change(entry: Entry) -> Entry:
        if not isinstance(entry.body, LogStep):
            return entry
        return replace(entry, body=replace(entry.body, at=1_000_000 + 2_000 * entry.number))

    return tuple(resigned(play(), change))


@pytest.mark.parametrize("restarted", [False, True])
@pytest.mark.parametrize(("left", "back"), [(1, 12), (5, 20), (14, 33), (20, 40)])
def test_a_team_that_comes_back_does_not_hold_old_entries_against_the_server(
    left: int, back: int, restarted: bool
) -> None:
    """The entries of its absence come all at once, and then each when it is made."""
    moments = slow_game()
    team = hear_slowly(Team(), moments[:left])
    if restarted:
        team = Team()
    else:
        for moment in moments[left:back]:
            team.send(moment.command)  # lost on the way
    team.witness.connected_anew()
    for payload in log_of(moments[:back]):
        team.witness.logged(payload, 2.0 * back)
    hear_slowly(team, moments[back:])
    assert doubts_of(team) == []
    assert team.found == [GameVerified(1, True)]


def hear_slowly(team: Team, moments: Iterable[Moment]) -> Team:
    """Hear each moment when its entry is made."""
    for moment in moments:
        steps = [read_entry(take_apart(payload)[0]).body for payload in moment.log]
        times = [(body.at - 1_000_000) / 1000 for body in steps if isinstance(body, LogStep)]
        team.hear([moment], max(times, default=0.0))
    return team
