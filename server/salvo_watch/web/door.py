"""What uvicorn leaves open: how many connections an address has, and for how long they say nothing."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

#: Of one address: a hall of phones behind one router, each with a stream and a page that loads.
MAX_OF_ADDRESS: Final = 1024
#: For a request's head to arrive, from the connection's beginning or the answer before it.
HEAD_SECONDS: Final = 15.0

_connections: Counter[str] = Counter()  # by address


class Door(H11Protocol):
    """A connection that counts towards those of its address, and is closed when it has asked nothing for too long.

    A proxy's connections are its visitors', so those that are trusted to name them (uvicorn's forwarded_allow_ips) may
    be any number.

    Attributes:
        most: connections of an address.
        patience_seconds: for a head.
    """

    most = MAX_OF_ADDRESS
    patience_seconds = HEAD_SECONDS
    _address = ""
    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        address = "" if self.client is None else self.client[0]
        if address not in getattr(self.app, "trusted_hosts", ()):
            self._address = address
            _connections[address] += 1
            if _connections[address] > self.most:
                transport.abort()
                return
        self._wait_or_not()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._stop_waiting()
        if self._address:
            _connections[self._address] -= 1
            if not _connections[self._address]:
                del _connections[self._address]

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._wait_or_not()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._wait_or_not()

    def _wait_or_not(self) -> None:
        """Give the client its time as long as its next head is not whole."""
        if self.conn.their_state is not h11.IDLE or self.transport.is_closing():
            self._stop_waiting()
        elif self._waiting is None:
            self._waiting = self.loop.call_later(self.patience_seconds, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
