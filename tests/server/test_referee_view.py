"""The referee's view: all boards after each salvo (SALVO-VIEW-4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from kit.golden_games import ALICE, BOB
from kit.referee_room import TOPIC, TURN_MS, Room
from salvo import messages as m
from salvo.codec.announcements import Publication
from salvo.rules import SALVO, Fleet, generator, random_fleet
from salvo.wire.roles_and_rights import Role
from salvo_server.spectators.referee_view import RefereeViews
from salvo_server.storage.register import Account, Register


def play() -> Room:
    room = Room({"alice": ALICE, "bob": BOB}, over_ms=300_000)
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


def test_the_referees_view_shows_the_end_and_is_cleared_before_the_next_lobby() -> None:
    room = Room({"alice": ALICE, "bob": BOB}, over_ms=60_000, empty_turns=1)
    room.do(m.TimePassed(), room.now + TURN_MS)
    over = room.seen()[-1]
    assert (over.winner, over.player, over.shots) == ("bob", "", 0)
    assert [each.out for each in over.boards] == [True, False]
    room.do(m.Participate("carol", b""), room.now + 60_000)
    assert room.announced[-1][1] == Publication(TOPIC, b"", True)
    assert room.views.retained == {}


def test_boards_are_published_of_the_games_that_open_while_there_is_a_referee() -> None:
    room, referees = Room({"alice": ALICE, "bob": BOB}, over_ms=60_000, empty_turns=1), Register()
    room.views = RefereeViews(referees.has_referee)

    def play() -> list[m.RefereeView]:
        room.announced.clear()
        for name, fleet in (("alice", ALICE), ("bob", BOB)):
            room.do(m.Participate(name, b""))
            for place in fleet.placements:
                room.do(m.PlaceShip(name, place.ship, place))
        referees.replace([Account("ref", "ref", Role.REFEREE, "secret")])
        room.do(m.TimePassed(), room.now + TURN_MS)
        return room.seen()

    room.do(m.TimePassed(), room.now + TURN_MS)
    room.do(m.TimePassed(), room.now + 60_000)
    assert play() == []
    room.do(m.TimePassed(), room.now + 60_000)
    assert [view.turn for view in play()] == [0, 1]


def _fleets(count: int) -> Iterator[tuple[str, Fleet]]:
    for seat in range(count):
        yield f"{seat:x}".ljust(32, "x"), random_fleet(SALVO, generator(seat))


@pytest.mark.parametrize(("players", "most_bytes"), [(8, 8 * 1024), (64, 15 * 1024)])
def test_the_longest_names_and_full_boards_stay_small(players: int, most_bytes: int) -> None:
    room = Room(dict(_fleets(players)), most_players=64)
    for _ in range(2):
        current = room.table.referee.current
        assert current is not None
        target = next(name for name in room.table.referee.players if name != current.name)
        room.fire(target, *((x, 10) for x in range(6, 11)))
    assert max(len(p.payload) for _, p in room.announced) < most_bytes


def test_a_board_shows_every_cell_of_a_fleet_and_nothing_else() -> None:
    for seed in range(50):
        fleet = random_fleet(SALVO, generator(seed))
        room = Room({"alice": fleet, "bob": BOB})
        letters = "".join(room.seen()[0].boards[0].rows)
        assert [letters.index("abcde"[n]) for n in range(5)] == [min(_cells(fleet, n)) for n in range(5)]
        assert [letters.count(letter) for letter in "abcde."] == [5, 4, 3, 3, 2, 83]


def _cells(fleet: Fleet, ship: int) -> Sequence[int]:
    return [cell for cell, owner in enumerate(fleet.board) if owner == ship + 1]
