"""The protocol of two sides, carried by a pair of MQTT topics instead of a TCP connection: one payload a message.

    /classic/<channel>/to-server   what the client says
    /classic/<channel>/to-client   what the server says

These topics are not those of a contest, whose users may not use them: they are for open brokers, or for one whose
operator gives the rights to a user of this purpose. A channel has one program on the other side. The broker keeps what
it says while the gateway is away. A message is acknowledged when the program has said two more, or a second has passed:
who says two more has had an answer to the first, so the gateway has dealt with it, and one that is killed loses none.
"""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
import time
from collections import deque
from typing import Final

from salvo.net.inbound import Inbound
from salvo.net.mqtt import BrokerUrl, Connection
from salvo.topics import check_name
from salvo_server.brokers import CLASSIC_SIDES, CLASSIC_TOPIC
from salvo_server.gateways.classic.guest import CLIENT_SECONDS, Role
from salvo_server.gateways.classic.words import MAX_BYTES
from salvo_server.gateways.host import Host

log = logging.getLogger(__name__)

_POLL_SECONDS: Final = 0.5
#: How long, and behind how many others, a message waits for its acknowledgement.
_ACKNOWLEDGE_SECONDS: Final = 1.0
_ACKNOWLEDGE_BEHIND: Final = 2


class Carrier:
    """One channel: hands on what arrives to a guest as lines, and what the guest says to the other topic.

    A guest that has ended is followed by a fresh one: at once where the gateway is the client and calls, else when the
    program says something.
    """

    def __init__(self, url: str, channel: str, role: Role, host: Host, *, ca: str | None = None) -> None:
        """Prepare; :meth:`run` connects.

        Args:
            url: of the broker, with a user where it wants one.
            role: the gateway's.

        Raises:
            WireError: ``bad_name`` for the channel.
            ConnectionLost: ``bad_url``.
        """
        sides = [CLASSIC_TOPIC.format(channel=check_name(channel, "channel"), side=side) for side in CLASSIC_SIDES]
        self.heard_on, self.said_on = sides if role is Role.SERVER else sides[::-1]
        self._name = f"channel {channel}"
        self._calls = role is Role.CLIENT
        self._host = host
        self._connection = Connection(BrokerUrl.parse(url), f"salvo-classic-{role}-{channel}", ca=ca)
        self._connection.on_connect = lambda _: self._connection.subscribe([self.heard_on])
        self._said: deque[bytes] = deque()
        self._unacknowledged: deque[tuple[Inbound, float]] = deque()
        self._line: socket.socket | None = None
        self._hung_up = threading.Event()
        self._next_at = 0.0

    def run(self, stop: threading.Event) -> None:
        """Carry until ``stop`` is set, which is noticed within half a second.

        Raises:
            ConnectionLost: the broker refuses the gateway.
        """
        with contextlib.closing(self._connection):
            self._admit()  # for a game that was on when the gateway ended
            while not stop.is_set():
                for message in self._connection.poll(_POLL_SECONDS):
                    self._unacknowledged.append((message, time.monotonic() + _ACKNOWLEDGE_SECONDS))
                    if not message.retain:
                        self._hand_on(message.payload)
                self._acknowledge()
                self._say()
                if self._hung_up.is_set() and self._calls and time.monotonic() >= self._next_at:
                    self._admit()
            self._hang_up()

    def _hand_on(self, payload: bytes) -> None:
        """Pass one message on to the guest; what cannot be one line is cut so that it is invalid in the protocol."""
        if self._hung_up.is_set():
            self._admit()
        assert self._line is not None
        with contextlib.suppress(OSError):
            self._line.sendall(payload[: MAX_BYTES + 1].replace(b"\n", b"?") + b"\n")

    def _acknowledge(self) -> None:
        waiting = self._unacknowledged
        while waiting and (len(waiting) > _ACKNOWLEDGE_BEHIND or waiting[0][1] <= time.monotonic()):
            self._connection.acknowledge(waiting.popleft()[0])

    def _say(self) -> None:
        """Publish, not before the subscription has left: the answer to what was said before it would be lost."""
        while self._said and self._connection.connected:
            self._connection.publish(self.said_on, self._said.popleft())

    def _admit(self) -> None:
        self._hang_up()
        self._say()
        self._hung_up.clear()
        self._line, guests = socket.socketpair()
        threading.Thread(target=self._listen, args=(self._line,), name=self._name, daemon=True).start()
        self._host.admit(guests, self._name)

    def _hang_up(self) -> None:
        if self._line is not None:
            with contextlib.suppress(OSError):
                self._line.shutdown(socket.SHUT_RDWR)
            self._line.close()
            self._line = None

    def _listen(self, line: socket.socket) -> None:
        """On its own thread, for one guest: take what it says."""
        with contextlib.suppress(OSError, ValueError), line.makefile("rb") as lines:
            for said in lines:
                self._said.append(said.rstrip(b"\n"))
                self._connection.wake()
        if self._line is line:
            self._next_at = time.monotonic() + CLIENT_SECONDS
            self._hung_up.set()
            self._connection.wake()
