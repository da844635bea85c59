"""The referee's view: all boards as they stood after each salvo, then or some seconds later (SALVO-VIEW-4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from kit.golden_games import ALICE, BOB
from kit.referee_room import TOPIC, TURN_MS, Room
from salvo import messages as m
from salvo.codec.announcements import Publication
from salvo.rules import SALVO, Fleet, generator, random_fleet
from salvo_server.core.referee import Referee
from salvo_server.core.table import Table
from salvo_server.storage.transcript import no_status


def play(delay_ms: int | None = 0) -> Room:
    room = Room(delay_ms, {"alice": ALICE, "bob": BOB}, over_ms=300_000)
    assert room.table.referee.current is not None
    assert room.table.referee.current.name == "alice"
    room.fire("bob", (9, 1), (10, 1), (1, 3), (2, 3), (3, 3))
    return room


def test_a_salvo_shows_its_targets_what_it_met_and_who_is_next() -> None:
    _, after = play().seen()
    assert (after.turn, after.player, after.shots) == (1, "bob", 4)
    assert after.last == m.RefereeSalvo(
        "alice",
        (
            m.AimedShot("bob", 9, 1, True),
            m.AimedShot("bob", 10, 1, True),
            *(m.AimedShot("bob", x, 3, False) for x in (1, 2, 3)),
        ),
    )
    assert after.boards[1].rows[:3] == ("........EE", "..........", "***.......")
    assert (after.boards[0].shots, after.boards[0].hits) == (5, 2)


def test_a_delayed_view_shows_how_things_stood_and_not_how_they_stand() -> None:
    at_once, late = play(0), play(20_000)
    assert late.announced == []
    began = late.now
    late.do(m.TimePassed(), began + 15_000)
    assert (late.announced, late.views.deadline()) == ([], began + 20_000)
    late.fire("alice", (1, 1), (1, 1), (1, 1), (1, 1))
    late.look(began + 20_000)
    assert [p for _, p in late.announced] == [p for _, p in at_once.announced]
    assert "A" not in "".join(late.seen()[-1].boards[0].rows)
    late.look(began + 35_000)
    assert late.seen()[-1].boards[0].rows[0] == "Aaaaa....."
    assert late.views.deadline() is None


def test_the_referees_view_shows_the_end_and_is_cleared_before_the_next_lobby() -> None:
    room = Room(0, {"alice": ALICE, "bob": BOB}, over_ms=60_000, empty_turns=1)
    room.do(m.TimePassed(), room.now + TURN_MS)
    over = room.seen()[-1]
    assert (over.winner, over.player, over.shots) == ("bob", "", 0)
    assert [each.out for each in over.boards] == [True, False]
    room.do(m.Participate("carol", b""), room.now + 60_000)
    assert room.announced[-1][1] == Publication(TOPIC, b"", True)
    assert room.views.retained == {}


def test_delayed_boards_are_shown_at_the_end_and_none_of_another_table() -> None:
    room = Room(3_600_000, {"alice": ALICE, "bob": BOB}, over_ms=60_000, empty_turns=2)
    room.do(m.TimePassed(), room.now + TURN_MS)
    room.do(m.TimePassed(), room.now + TURN_MS)
    assert room.announced == []
    elsewhere = Table(Referee("3", "t2", SALVO, m.Limits(players=2)), no_status)
    for name, fleet in (("alice", ALICE), ("bob", BOB)):
        room.views.follow(elsewhere, elsewhere.carry_out(m.Participate(name, b""), room.now))
        for place in fleet.placements:
            room.views.follow(elsewhere, elsewhere.carry_out(m.PlaceShip(name, place.ship, place), room.now))
    room.do(m.TimePassed(), room.now + TURN_MS)
    assert [view.turn for view in room.seen()] == [0, 1, 2, 3]
    assert room.seen()[-1].winner == "bob"
    room.do(m.TimePassed(), room.now + 60_000)
    assert room.views.retained == {}
    assert room.announced[-1][1] == Publication(TOPIC, b"", True)
    room.look(room.now + 3_600_000)
    assert room.announced[-1][1].topic == "/t2/game/referee"


def _fleets(count: int) -> Iterator[tuple[str, Fleet]]:
    for seat in range(count):
        yield f"{seat:x}".ljust(32, "x"), random_fleet(SALVO, generator(seat))


@pytest.mark.parametrize(("players", "most_bytes"), [(8, 8 * 1024), (64, 15 * 1024)])
def test_the_longest_names_and_full_boards_stay_small(players: int, most_bytes: int) -> None:
    room = Room(0, dict(_fleets(players)), most_players=64)
    for _ in range(2):
        current = room.table.referee.current
        assert current is not None
        target = next(name for name in room.table.referee.players if name != current.name)
        room.fire(target, *((x, 10) for x in range(6, 11)))
    assert max(len(p.payload) for _, p in room.announced) < most_bytes


def test_a_board_shows_every_cell_of_a_fleet_and_nothing_else() -> None:
    for seed in range(50):
        fleet = random_fleet(SALVO, generator(seed))
        room = Room(0, {"alice": fleet, "bob": BOB})
        letters = "".join(room.seen()[0].boards[0].rows)
        assert [letters.index("abcde"[n]) for n in range(5)] == [min(_cells(fleet, n)) for n in range(5)]
        assert [letters.count(letter) for letter in "abcde."] == [5, 4, 3, 3, 2, 83]


def _cells(fleet: Fleet, ship: int) -> Sequence[int]:
    return [cell for cell, owner in enumerate(fleet.board) if owner == ship + 1]
