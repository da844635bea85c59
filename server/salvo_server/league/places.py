"""Tables of several servers, each beside a broker of its own: a cell.

A place is a table's name, with ``@HOST:PORT`` of its cell's broker where a league has several: ``t1@10.0.0.2:1883``.
With one server, it is the table's name alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from salvo.messages import SeatGiven
from salvo.net.mqtt import BrokerUrl


def cells_of(urls: Sequence[str]) -> dict[str, BrokerUrl]:
    """Return where each cell's broker is, by the cell's name: ``HOST:PORT``; empty if there is one.

    Raises:
        ConnectionLost: ``bad_url``.
    """
    brokers = [BrokerUrl.parse(url) for url in urls]
    return {"": brokers[0]} if len(brokers) == 1 else {broker.address: broker for broker in brokers}


def place_of(table: str, cell: str) -> str:
    """Return the place of a cell's table."""
    return f"{table}@{cell}" if cell else table


def table_of(place: str) -> str:
    """Return the name of a table without its cell."""
    return place.partition("@")[0]


def cell_of(place: str) -> str:
    """Return the cell of a table."""
    return place.partition("@")[2]


def told(place: str) -> str:
    """Return a place as people read it."""
    table, _, cell = place.partition("@")
    return f"{table or 'default table'} at {cell}" if cell else table or "default table"


def seat_at(place: str | None, cell: str, brokers: Mapping[str, str]) -> SeatGiven | None:
    """Return what the broker of a cell says of a team's seat; None for nothing.

    Args:
        place: where the seat is; None for nowhere.
        brokers: where teams find the broker of each cell; empty for a league at one server, and at its end.
    """
    cells = list(brokers)
    after = cells.index(cell) + 1 if cells else 0
    further = tuple(brokers[each] for each in [*cells[after:], *cells[:after]])
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
