"""Tables of the web front that receive announcements."""

from __future__ import annotations

from salvo.net.inbound import Inbound
from salvo_watch.web.tables import Arrived, ShownTable, read


def tell(table: ShownTable, topic: str, payload: bytes, *, retained: bool, now: float = 0.0) -> None:
    """Let a table hear a message."""
    message = read(Inbound(topic, payload, retained, 0, 0))
    if message is not None and isinstance(message[1], Arrived):
        table.receive(message[1], now)
