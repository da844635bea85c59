"""Tables of several servers, each with a broker of its own: a cell.

A place is a table's name, with ``@HOST:PORT`` of its cell's broker where there are several: ``t1@10.0.0.2:1883``. With
one server, it is the table's name alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from salvo.net.mqtt import BrokerUrl

#: Tables that a page follows; on an open broker any client may make some up.
MAX_TABLES: Final = 1000


def cells_of(urls: Sequence[str]) -> dict[str, BrokerUrl]:
    """Return where each cell's broker is, by the cell's name: ``HOST:PORT``, or an empty one for the only cell.

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


def place_name(place: str) -> str:
    """Return a place as people read it."""
    table, _, cell = place.partition("@")
    return f"{table or 'default table'} at {cell}" if cell else table or "default table"
