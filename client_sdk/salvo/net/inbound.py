"""A message as a connection hands it over; who reads it needs no connection."""

from __future__ import annotations

from typing import NamedTuple


class Inbound(NamedTuple):
    """A message that arrived.

    Attributes:
        mid: for its acknowledgement, as ``qos``.
        connection: on which connection it came, counted from 1: on the next one the broker counts its messages anew.
    """

    topic: str
    payload: bytes
    retain: bool
    mid: int
    qos: int
    connection: int = 0
