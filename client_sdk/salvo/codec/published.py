"""Read a server's topics, for all programs but its players: screens, pages, hosts."""

from __future__ import annotations

from salvo import messages as m
from salvo.codec.announcement_reader import read_announcement
from salvo.errors import WireError
from salvo.wire import topics
from salvo.wire.topics import Address


def read_published(topic: str, payload: bytes) -> tuple[Address, m.Announcement | None] | None:
    """Return where a message belongs, and what it announces; None for noise on an open broker.

    What has no announcement: see :func:`~salvo.codec.announcement_reader.read_announcement`.

    Raises:
        ProtocolError: ``other_protocol``.
    """
    try:
        address = topics.parse(topic)
        return address, read_announcement(address, payload)
    except WireError:
        return None
