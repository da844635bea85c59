"""An open ladder of 24 bots for an hour of simulated time: how long they wait, and who ends up first."""

from __future__ import annotations

from itertools import combinations
from statistics import fmean

import pytest

from league.league_model import World, graded
from salvo_league.league_file import League, LeagueFormat
from salvo_league.league_record import LeagueResult

NAMES = [f"bot{number:02}" for number in range(24)]
#: How strong each is, from one that only fires at random to one that always hunts.
SHARES = {name: number / 23 for number, name in enumerate(NAMES)}


def ladder(size: int, tables: int) -> World:
    """Play an hour of games of the laboratory, 1.3 seconds a turn."""
    given = League(
        name="open",
        format=LeagueFormat.LADDER,
        hours=1,
        table_size=size,
        tables=tuple(f"t{number}" for number in range(tables)),
        wait_seconds=10,
        result_seconds=5,
        seed="3",
    )
    world = World(given, NAMES, seed=3, play=graded(SHARES, 1.3)).run(6000)
    world.check()
    assert world.director.over
    return world


def tau(ordered: list[str]) -> float:
    """Return Kendall's tau of an order, best first, with the known strengths: 1 if it is theirs, 0 if it is drawn."""
    pairs = [SHARES[better] > SHARES[worse] for better, worse in combinations(ordered, 2)]
    return (2 * sum(pairs) - len(pairs)) / len(pairs)


@pytest.mark.slow
def test_an_hour_of_pairs_sorts_bots_by_their_strength_and_keeps_nobody_waiting() -> None:
    world = ladder(2, 6)
    assert max(world.waits) < 3 * fmean(world.waits)
    rated = sorted(world.director.book.rows(), key=lambda row: -row.rating.mu)
    assert tau([row.name for row in rated]) > 0.6


@pytest.mark.slow
def test_at_larger_tables_nobody_waits_much_longer_than_the_others() -> None:
    world = ladder(4, 3)
    assert len(world.of(LeagueResult)) > 20
    assert max(world.waits) < 3 * fmean(world.waits)
