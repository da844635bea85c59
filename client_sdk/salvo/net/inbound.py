"""A message as a connection delivers it, for modules that need no connection."""

from __future__ import annotations

from typing import NamedTuple


class Inbound(NamedTuple):
    """A message that arrived.

    Attributes:
        mid: for its acknowledgement, as ``qos``.
        connection: number of the connection that it came on, from 1; the broker numbers its messages per connection.
    """

    topic: str
    payload: bytes
    retain: bool
    mid: int
    qos: int
    connection: int = 0
