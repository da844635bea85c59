"""Who published the latest messages, for a server that receives them without their publisher, as MQTT has it."""

from __future__ import annotations

import hashlib

#: Messages whose publishers are remembered, 200 bytes each: more than wait for the server at any time.
MOST = 16_384


class Publishers:
    """Noted in the broker's thread and asked in the server's: single operations of a dict are atomic."""

    def __init__(self) -> None:
        self._names: dict[bytes, str] = {}

    def note(self, name: str, topic: str, payload: bytes) -> None:
        """Remember who published a message first, as long as it is among the latest."""
        self._names.setdefault(_mark(topic, payload), name)
        if len(self._names) > MOST:
            del self._names[next(iter(self._names))]

    def replace(self, name: str, topic: str, payload: bytes) -> None:
        """Remember who published a message last: a client may come again, as another one, with the same bytes."""
        self._names.pop(_mark(topic, payload), None)
        self.note(name, topic, payload)

    def of(self, topic: str, payload: bytes) -> str | None:
        """Return who published a message; None if that is not known any more."""
        return self._names.get(_mark(topic, payload))


def _mark(topic: str, payload: bytes) -> bytes:
    return hashlib.blake2b(topic.encode() + b"\0" + payload, digest_size=16).digest()
