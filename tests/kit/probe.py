"""MQTT 3.1.1 packet by packet, for what no well-behaved client would ever do.

A probe does one thing at a time and waits for its answer, so that the outcome is known when a call returns: a broker
answers the packets of a connection in order, so all that it had for a listener before a ping has arrived with the
ping's answer. It never reconnects by itself.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
import time
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from kit.raw import packet, text
from salvo.errors import SalvoError
from salvo.net.mqtt import BrokerUrl
from salvo.net.tls import client_context

_CHUNK_BYTES: Final = 65_536
_CONNACK, _PUBLISH, _PUBACK, _SUBACK, _PINGRESP = 2, 3, 4, 9, 13
#: What a broker says to a connection that it does not want (MQTT 3.1.1, 3.2.2.3).
REFUSALS: Final = {
    1: "MQTT 3.1.1 is not spoken",
    2: "the client id is refused",
    3: "the broker is not available",
    4: "bad user or password",
    5: "not authorised",
}


class ProbeError(SalvoError):
    """The broker cannot be reached, or gives no answer where it must."""


class Greeting(NamedTuple):
    """How a connection was answered; ``code`` is None when the broker just hung up."""

    code: int | None

    @property
    def accepted(self) -> bool:
        """Whether the broker lets the client in."""
        return self.code == 0

    def __str__(self) -> str:
        if self.code is None:
            return "hung up"
        return "accepted" if self.accepted else REFUSALS.get(self.code, f"code {self.code}")


class Delivery(NamedTuple):
    """A message that came."""

    topic: str
    payload: bytes
    retain: bool


class Login(NamedTuple):
    """A user and its password."""

    user: str
    secret: str


class Probe:
    """One connection.

    Attributes:
        received: messages so far, in order.
        alive: whether the broker has not hung up.
    """

    def __init__(self, url: BrokerUrl, ca: str | None = None, *, answer_seconds: float = 60.0) -> None:
        """Open the connection; MQTT is not spoken before :meth:`greet`.

        Args:
            ca: whose certificates are believed for ``mqtts://``, a PEM file.
            answer_seconds: how long the broker may take for one answer.

        Raises:
            ProbeError: ``unreachable``, or ``bad_certificate``.
        """
        self.received: list[Delivery] = []
        self.answer_seconds = answer_seconds
        self.alive = True
        self._left = b""
        self._acknowledged: set[int] = set()
        self._subscribed: dict[int, bytes] = {}
        self._greeting: Greeting | None = None
        self._pings = 0
        self._number = 0
        try:
            sock: socket.socket = socket.create_connection((url.host, url.port), answer_seconds)
        except OSError as error:
            raise ProbeError("unreachable", f"{url}: {error.strerror or error}") from None
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket = sock
        if url.scheme == "mqtts":
            self._encrypt(url, client_context(ca))

    def _encrypt(self, url: BrokerUrl, trust: ssl.SSLContext) -> None:
        try:
            wrapped = trust.wrap_socket(self.socket, server_hostname=url.host)
        except ssl.SSLCertVerificationError as error:
            self.socket.close()
            raise ProbeError("bad_certificate", f"{url}: {error.verify_message}") from None
        except OSError as error:
            self.socket.close()
            raise ProbeError("unreachable", f"{url}: TLS: {error.strerror or error}") from None
        self.socket = wrapped

    # --- what a client says ---------------------------------------------------------------------------------------

    def greet(
        self,
        client_id: str,
        login: Login | None = None,
        *,
        will: tuple[str, bytes] | None = None,
    ) -> Greeting:
        """Send the CONNECT; return the answer.

        Args:
            will: topic and payload of a retained last will.
        """
        flags = 2
        tail = text(client_id)
        if will is not None:
            flags |= 4 | 8 | 32
            tail += text(will[0]) + struct.pack("!H", len(will[1])) + will[1]
        if login is not None:
            flags |= 128 | 64
            tail += text(login.user) + text(login.secret)
        self._send(0x10, b"\0\4MQTT" + bytes((4, flags)) + struct.pack("!H", 60) + tail)
        self._until(lambda: self._greeting is not None, "the greeting")
        return self._greeting or Greeting(None)

    def publish(self, topic: str, payload: bytes, *, retain: bool = False) -> bool:
        """Publish with QoS 1; return whether the broker acknowledged it, else it hung up."""
        number = self._next_number()
        self._send(0x32 | retain, text(topic) + struct.pack("!H", number) + payload)
        self._until(lambda: number in self._acknowledged, f"a publication of {len(payload)} bytes")
        return number in self._acknowledged

    def subscribe(self, *filters: str) -> bytes:
        """Subscribe with QoS 1; return a code a filter, 128 for a refusal, nothing when the broker hung up."""
        number = self._next_number()
        self._send(0x82, struct.pack("!H", number) + b"".join(text(each) + b"\1" for each in filters))
        self._until(lambda: number in self._subscribed, f"a subscription of {len(filters)} filters")
        return self._subscribed.get(number, b"")

    def ping(self) -> bool:
        """Return once all that the broker had for this client has come; False when it has hung up."""
        answered = self._pings + 1
        self.say(b"\xc0\0")
        self._until(lambda: self._pings >= answered, "a ping")
        return self._pings >= answered

    def say(self, raw: bytes) -> None:
        """Send any bytes."""
        with contextlib.suppress(OSError):
            self.socket.sendall(raw)

    def wait_for(self, wanted: Callable[[Delivery], bool], seconds: float) -> Delivery | None:
        """Return the first such message among those heard and those that arrive in time."""
        end = time.monotonic() + seconds
        looked_at = 0
        while True:
            for message in self.received[looked_at:]:
                if wanted(message):
                    return message
            looked_at = len(self.received)
            left = end - time.monotonic()
            if left <= 0 or not self.alive:
                return None
            self._receive(left)

    def wait_for_end(self) -> bool:
        """Return whether the broker hangs up in time."""
        self.wait_for(lambda _: False, self.answer_seconds)
        return not self.alive

    def close(self) -> None:
        """Say goodbye, so that no will is published, and hang up; may be called twice."""
        if self.alive:
            self.say(b"\xe0\0")
        self.cut()

    def cut(self) -> None:
        """Hang up without a word."""
        self.alive = False
        self.socket.close()

    def __enter__(self) -> Probe:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- packets --------------------------------------------------------------------------------------------------

    def _next_number(self) -> int:
        self._number += 1
        return self._number

    def _send(self, first: int, body: bytes) -> None:
        try:
            self.socket.sendall(packet(first, body))
        except OSError:  # hung up, or takes no more; what it said before that still counts
            self._drain()

    def _drain(self) -> None:
        with contextlib.suppress(ProbeError):
            while self.alive:
                self._receive(self.answer_seconds)
                if not self._left:
                    break
        self.alive = False

    def _until(self, answered: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + self.answer_seconds
        while self.alive and not answered():
            left = end - time.monotonic()
            if left <= 0:
                raise ProbeError("no_answer", f"the broker does not answer {what} within {self.answer_seconds:g} s")
            self._receive(left)

    def _receive(self, seconds: float) -> None:
        """Receive what comes next, or nothing."""
        self.socket.settimeout(max(seconds, 0.001))
        try:
            chunk = self.socket.recv(_CHUNK_BYTES)
        except TimeoutError:
            return
        except OSError:
            chunk = b""
        if not chunk:
            self.alive = False
            return
        self._left += chunk
        for first, body in self._packets():
            self._take_in(first, body)

    def _packets(self) -> Iterator[tuple[int, bytes]]:
        while True:
            size = shift = 0
            at = 1
            while True:
                if at >= len(self._left):
                    return
                byte = self._left[at]
                size |= (byte & 127) << shift
                shift += 7
                at += 1
                if byte < 128:
                    break
            if len(self._left) < at + size:
                return
            first, body = self._left[0], self._left[at : at + size]
            self._left = self._left[at + size :]
            yield first, body

    def _take_in(self, first: int, body: bytes) -> None:
        match first >> 4:
            case kind if kind == _CONNACK:
                self._greeting = Greeting(body[1])
            case kind if kind == _PUBLISH:
                length = struct.unpack("!H", body[:2])[0]
                topic, rest = body[2 : 2 + length].decode(errors="replace"), body[2 + length :]
                if first & 6:
                    self.say(b"\x40\2" + rest[:2])
                    rest = rest[2:]
                self.received.append(Delivery(topic, rest, bool(first & 1)))
            case kind if kind == _PUBACK:
                self._acknowledged.add(struct.unpack("!H", body[:2])[0])
            case kind if kind == _SUBACK:
                self._subscribed[struct.unpack("!H", body[:2])[0]] = body[2:]
            case kind if kind == _PINGRESP:
                self._pings += 1
            case _:
                pass
