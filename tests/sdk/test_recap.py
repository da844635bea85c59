"""The recap of a long game: small enough for every client, and right about the present whatever is left out."""

from __future__ import annotations

import dataclasses
import json
from functools import cache
from typing import Any

import pytest

from salvo import messages as m
from salvo.codec.recap_reader import read_recap
from salvo.codec.recap_writer import MAX_RECAP_BYTES, write_recap
from salvo.errors import WireError
from salvo.messages import Limits, State
from salvo.rules import SALVO, Announce, Grid, RuleBook, ShipClass, generator, random_fleet
from salvo.wire.seal import MAX_RECAP_BLOB_BYTES, Sealer, key_to_team, make_blob
from salvo_game.referee import Referee

NOW = 1_760_000_000_000
SEALER = Sealer("secret", bytes(16))
#: What clients read of an announcement, and the longest payload of a recap.
CLIENTS_READ = 64 * 1024


def begun(players: int, book: RuleBook = SALVO) -> Referee:
    """A game with names as long as they may be."""
    referee = Referee(7, book=book, limits=Limits(players=players))
    names = [f"team-{number:02}".ljust(32, "x") for number in range(players)]
    for name in names:
        referee.receive(m.Participate(name, name.encode()), NOW)
    for name in names:
        for placement in random_fleet(book, generator(name)).placements:
            referee.receive(m.PlaceShip(name, placement.ship, placement), NOW)
    return referee


def play(referee: Referee, turns: int = 10**9, *, seed: int = 1) -> Referee:
    """Let everybody fire at random, never at a cell of a standing rival twice, as long as there are turns."""
    random, grid = generator(seed), referee.book.grid
    left = {name: {other: list(range(grid.size)) for other in referee.players} for name in referee.players}
    for name, boards in left.items():
        del boards[name]
        for cells in boards.values():
            random.shuffle(cells)
    until = len(referee.results) + turns
    while referee.state is State.TURN and len(referee.results) < until:
        game = referee.game
        assert game is not None
        shooter = referee.current
        assert shooter is not None
        rivals = [p.name for p in referee.match.players.values() if p is not shooter and game.afloat[p.seat]]
        target = random.choice(rivals)
        cells = left[shooter.name][target] or list(range(grid.size))
        referee.receive(m.Fire(shooter.name, target, *grid.xy(cells.pop())), NOW)
    return referee


@cache
def finished(players: int) -> Referee:
    return play(begun(players))


def blob_of(recap: m.Recap, grid: Grid = SALVO.grid) -> str:
    return make_blob(write_recap(recap, grid), key_to_team(SEALER.key), SEALER.salt)


def recap_of(referee: Referee, name: str) -> m.Recap:
    recap = referee.recap(name)
    assert recap is not None
    return recap


def without_spelling(result: m.SalvoResolved) -> m.SalvoResolved:
    return result._replace(sunk=tuple(m.SunkShip(s.player, s.ship, s.ship) for s in result.sunk))


def as_read(recap: m.Recap) -> m.Recap:
    """The spelling of ships is their owners' business and does not travel."""
    return dataclasses.replace(recap, results=tuple(map(without_spelling, recap.results)))


# --- whole ----------------------------------------------------------------------------------------------------------


def test_everybody_gets_a_whole_recap_of_a_game_of_eight_up_to_its_end() -> None:
    """It had 107 KB with eight, which no client reads that keeps to 64 KiB."""
    referee = finished(8)
    for name in referee.players:
        recap = recap_of(referee, name)
        blob = blob_of(recap)
        assert len(blob) < CLIENTS_READ
        assert read_recap(name, write_recap(recap, SALVO.grid)) == as_read(recap)


# --- shortened ------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_the_recap_of_a_very_long_game_stays_below_its_bound() -> None:
    """With 64 it had 1.2 MB, more than any broker here carries."""
    referee = finished(64)
    for name in list(referee.players)[::16]:
        text = write_recap(recap_of(referee, name), SALVO.grid)
        assert len(text) <= MAX_RECAP_BYTES
        assert len(blob_of(recap_of(referee, name))) <= (MAX_RECAP_BLOB_BYTES + 2) // 3 * 4 == CLIENTS_READ


@pytest.mark.parametrize("name", [0, 20, 63])
def test_a_shortened_recap_and_what_it_summed_up_are_the_whole_one(name: int) -> None:
    referee = finished(64)
    whole = as_read(recap_of(referee, list(referee.players)[name]))
    shown = read_recap(whole.to, write_recap(recap_of(referee, whole.to), SALVO.grid))
    earlier = shown.earlier
    assert earlier is not None
    assert earlier.turns > 100
    assert shown.progress == whole.progress
    assert shown.results == whole.results[earlier.turns :]
    left_out = whole.results[: earlier.turns]
    assert earlier.sunk == tuple(ship for result in left_out for ship in result.sunk)
    assert earlier.defeated == tuple(player for result in left_out for player in result.defeated)
    for player, tally in earlier.tallies.items():
        mine = [result for result in left_out if result.player == player]
        assert tally == (len(mine), sum(r.shots for r in mine), sum(r.hits for r in mine))
    assert shown.shots == whole.shots[earlier.shots :]
    assert shown.shots == tuple(shot for shot in whole.shots if shot.turn > earlier.turns)
    for player, cells in earlier.aimed.items():
        shots = whole.shots[: earlier.shots]
        assert cells == tuple(sorted({SALVO.grid.cell(s.x, s.y) for s in shots if s.target == player}))
    assert shown.landed == whole.landed[earlier.hits :]
    assert earlier.struck == tuple(sorted({SALVO.grid.cell(x, y) for x, y in whole.landed[: earlier.hits]}))


@pytest.mark.long
@pytest.mark.parametrize("announce", [Announce.EACH_SHOT, Announce.CELLS])
def test_the_longest_possible_recap_stays_within_the_bound(announce: Announce) -> None:
    """The largest grid, the largest fleet and 64 teams with long names, at the end of a game without end."""
    fleet = tuple(ShipClass(f"{'ship' * 7}{letter:03}", 1) for letter in range(26))
    book = dataclasses.replace(SALVO, name="large", grid=Grid(26, 26), fleet=fleet, announce=announce)
    names = tuple(f"team-{number:02}".ljust(32, "x") for number in range(64))
    placements = random_fleet(book, generator(1)).placements
    sunk = [m.SunkShip(name, ship.name, ship.name) for name in names[1:] for ship in fleet]
    results = tuple(
        m.SalvoResolved(
            999_999_999,
            turn,
            names[turn % 64],
            26,
            26,
            tuple(sunk[turn - 1 : turn]),
            names[turn // 26 : turn // 26 + 1] if turn % 26 == 0 and turn // 26 < 64 else (),
            (True,) * 26,
            ((names[63], 26, 26),) * 26 if announce is Announce.CELLS else None,
        )
        for turn in range(1, 10_000)
    )
    shots = tuple(
        m.OwnShot(turn, names[1 + number % 63], 26, 1 + number % 26)
        for turn in range(1, 10_000, 64)
        for number in range(26)
    )
    landed = ((26, 26), (1, 1)) * 5_000
    recap = m.Recap(names[0], 999_999_999, 10_000, placements, shots, landed, results, names)
    text = write_recap(recap, book.grid)
    assert len(text) <= MAX_RECAP_BYTES
    shown = read_recap(names[0], text)
    assert shown.earlier is not None
    assert shown.results == results[shown.earlier.turns :]
    assert len(shown.results) > 0


def test_a_shortened_recap_of_the_smallest_results_is_just_below_its_bound() -> None:
    turns = 20_000
    results = tuple(m.SalvoResolved(1, turn, "ab"[turn % 2], 1, 1, (), (), (True,)) for turn in range(1, turns))
    recap = m.Recap("a", 1, turns, (), (), (), results, ("a", "b"))
    assert MAX_RECAP_BYTES - 20 < len(write_recap(recap, SALVO.grid)) <= MAX_RECAP_BYTES


# --- read strictly --------------------------------------------------------------------------------------------------


NOTHING: dict[str, Any] = {"tallies": [0] * 6, "sunk": [], "defeated": []}


def changed(**fields: Any) -> bytes:
    body = json.loads(write_recap(recap_of(play(begun(2), 9), "team-00".ljust(32, "x")), SALVO.grid))
    return json.dumps(body | fields).encode()


@pytest.mark.parametrize(
    "fields",
    [
        {"results": [0, 5]},
        {"results": [2, 5, 1]},
        {"shots": [1, 1, 3]},
        {"shots": [1, 2, 3, 4]},
        {"hits": [1]},
        {"sunk": [1, 0, 5]},
        {"sunk": [99, 0, 0]},
        {"defeated": [99, 0]},
        {"outcomes": "1"},
        {"outcomes": "2"},
        {"aims": [1, 3, 4]},
        {"aims": [1, 3]},
        {"before": {**NOTHING, "sunk": [1], "shots": 0, "aimed": ["", ""], "hits": 0, "struck": ""}},
        {"before": {**NOTHING, "sunk": [1, 5], "shots": 0, "aimed": ["", ""], "hits": 0, "struck": ""}},
        {"before": {**NOTHING, "defeated": [2], "shots": 0, "aimed": ["", ""], "hits": 0, "struck": ""}},
        {"before": {**NOTHING, "shots": 0, "aimed": ["", ""], "met": [""], "hits": 0, "struck": ""}},
        {
            "before": {
                "tallies": [1, 2, 3],
                "sunk": [],
                "defeated": [],
                "shots": 0,
                "aimed": ["", ""],
                "hits": 0,
                "struck": "",
            }
        },
        {"before": {**NOTHING, "shots": 0, "aimed": [""], "hits": 0, "struck": ""}},
        {"before": {**NOTHING, "shots": 0, "aimed": ["", "xyz"], "hits": 0, "struck": ""}},
        {"before": {**NOTHING, "shots": 0, "aimed": ["", "f" * 170], "hits": 0, "struck": ""}},
    ],
)
def test_a_recap_with_inconsistent_lists_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(WireError, match="wrong_shape"):
        read_recap("me", changed(**fields))
