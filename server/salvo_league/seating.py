"""Seat a match at a table, and announce it at each broker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from salvo.messages import SeatGiven
from salvo.table_places import cell_of, table_of


def seat_at(place: str | None, cell: str, brokers: Mapping[str, str]) -> SeatGiven | None:
    """Return what the broker of a cell says of a team's seat; None for nothing.

    Args:
        place: where the seat is; None for nowhere.
        brokers: where teams find the broker of each cell; empty for a league at one server, and at its end.
    """
    cells = list(brokers)
    after = cells.index(cell) + 1 if cells else 0
    further = tuple(brokers[other] for other in [*cells[after:], *cells[:after]])
    if place is None:
        return SeatGiven(brokers=further) if further else None
    there = "" if cell_of(place) == cell else brokers[cell_of(place)]
    return SeatGiven(table_of(place), there, further)


def best_place(free: Sequence[str], busy: Sequence[str], homes: Sequence[str]) -> str:
    """Return which of some free tables a match gets: one of the cell with the fewest games.

    Of equal cells it is the one where most of the teams are; then the first.

    Args:
        busy: the tables at which matches are played.
        homes: where its teams were last, a cell for each.
    """
    games = [cell_of(place) for place in busy]
    return min(free, key=lambda place: (games.count(cell_of(place)), -homes.count(cell_of(place))))
