"""Announcements told to the tables of the web front."""

from __future__ import annotations

from salvo.net.inbound import Inbound
from salvo_watch.web.tables import Arrived, Table, read


def tell(table: Table, topic: str, payload: bytes, *, retained: bool, now: float = 0.0) -> None:
    """Let a table hear a message."""
    said = read(Inbound(topic, payload, retained, 0, 0))
    if said is not None and isinstance(said[1], Arrived):
        table.receive(said[1], now)
