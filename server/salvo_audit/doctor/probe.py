"""MQTT 3.1.1 packet by packet, for what no well-behaved client would ever do.

A probe does one thing at a time and waits for its answer, so that the outcome is known when a call returns: a broker
answers the packets of a connection in order, so all that it had for a listener before a ping has arrived with the
ping's answer. It never reconnects by itself.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import ssl
import struct
import time
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from salvo.errors import SalvoError
from salvo.net.mqtt import BrokerUrl
from salvo.net.tls import client_context

#: A broker that takes longer for one answer no longer answers.
ANSWER_SECONDS: Final = 5.0
_CHUNK_BYTES: Final = 65_536
#: Messages of a flood that are sent at once.
_FLOOD_CHUNK: Final = 500
_CONNACK, _PUBLISH, _PUBACK, _SUBACK, _PINGRESP = 2, 3, 4, 9, 13
_PUBACK_BYTES: Final = 4
#: Neither subscription identifiers nor shared subscriptions (MQTT 5, 3.2.2.3): mosquitto has both.
_OURS: Final = b"\x29\0\x2a\0"
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
    """How a connection was answered; ``code`` is None when the broker just hung up.

    Attributes:
        ours: whether the broker describes itself in MQTT 5 as the server's own one does.
    """

    code: int | None
    session_present: bool = False
    ours: bool = False

    @property
    def accepted(self) -> bool:
        """Whether the broker lets the client in."""
        return self.code == 0

    def __str__(self) -> str:
        if self.code is None:
            return "hung up"
        return "accepted" if self.accepted else REFUSALS.get(self.code, f"code {self.code}")


class Heard(NamedTuple):
    """A message that came."""

    topic: str
    payload: bytes
    retain: bool


class Login(NamedTuple):
    """A user and its password."""

    user: str
    secret: str


def certified_names(url: BrokerUrl, ca: str | None) -> list[str]:
    """Return the host names and addresses of a broker's certificate; none where it is not believed or not reached."""
    trust = client_context(ca)
    trust.check_hostname = False
    try:
        with (
            socket.create_connection((url.host, url.port), ANSWER_SECONDS) as plain,
            trust.wrap_socket(plain, server_hostname=url.host) as wrapped,
        ):
            certificate: dict[str, Any] = wrapped.getpeercert() or {}
    except OSError:
        return []
    return [name for kind, name in certificate.get("subjectAltName", ()) if kind in ("DNS", "IP Address")]


class Probe:
    """One connection.

    Attributes:
        heard: messages so far, in order.
        alive: whether the broker has not hung up.
        refused: publications that a broker of MQTT 5 acknowledged without taking them.
        certificate: what the broker showed, as :meth:`ssl.SSLSocket.getpeercert` tells it; None without TLS.
    """

    def __init__(self, url: BrokerUrl, ca: str | None = None, *, no_delay: bool = True) -> None:
        """Open the connection; MQTT is not spoken before :meth:`greet`.

        Args:
            ca: whose certificates are believed for ``mqtts://``, a PEM file.

        Raises:
            ProbeError: ``unreachable``, or ``bad_certificate``.
        """
        self.heard: list[Heard] = []
        self.alive = True
        self.certificate: dict[str, object] | None = None
        self.refused = 0
        self._no_properties = b""
        self._left = b""
        self._acknowledged: set[int] = set()
        self._subscribed: dict[int, bytes] = {}
        self._greeting: Greeting | None = None
        self._pings = 0
        self._number = 0
        try:
            sock: socket.socket = socket.create_connection((url.host, url.port), ANSWER_SECONDS)
        except OSError as error:
            raise ProbeError("unreachable", f"{url}: {error.strerror or error}") from None
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, int(no_delay))
        self._socket = sock
        if url.scheme == "mqtts":
            self._encrypt(url, client_context(ca))

    def _encrypt(self, url: BrokerUrl, trust: ssl.SSLContext) -> None:
        try:
            wrapped = trust.wrap_socket(self._socket, server_hostname=url.host)
        except ssl.SSLCertVerificationError as error:
            self._socket.close()
            raise ProbeError("bad_certificate", f"{url}: {error.verify_message}") from None
        except OSError as error:
            self._socket.close()
            raise ProbeError("unreachable", f"{url}: TLS: {error.strerror or error}") from None
        self._socket = wrapped
        self.certificate = dict(wrapped.getpeercert() or {})

    # --- what a client says ---------------------------------------------------------------------------------------

    def greet(
        self,
        client_id: str,
        login: Login | None = None,
        *,
        clean: bool = True,
        will: tuple[str, bytes] | None = None,
        level: int = 4,
    ) -> Greeting:
        """Send the CONNECT; return the answer.

        Args:
            level: 4 for MQTT 3.1.1; 5 for MQTT 5, in which only publications are understood here.
            will: topic and payload of a retained last will.
        """
        flags = 2 * clean
        self._no_properties = b"\0" if level == 5 else b""
        tail = self._no_properties + _text(client_id)
        if will is not None:
            flags |= 4 | 8 | 32
            tail += _text(will[0]) + _bytes(will[1])
        if login is not None:
            flags |= 128 | 64
            tail += _text(login.user) + _text(login.secret)
        self._send(0x10, b"\0\4MQTT" + bytes((level, flags)) + struct.pack("!H", 60) + tail)
        self._until(lambda: self._greeting is not None, "the greeting")
        return self._greeting or Greeting(None)

    def publish(self, topic: str, payload: bytes, *, retain: bool = False) -> bool:
        """Publish with QoS 1; return whether the broker acknowledged it, else it hung up.

        In MQTT 5 a broker that has no use for it acknowledges it, too, and says in :attr:`refused` that it did not.
        """
        number = self._next_number()
        self._send(0x32 | retain, self._publication(topic, payload, number))
        self._until(lambda: number in self._acknowledged, f"a publication of {len(payload)} bytes")
        return number in self._acknowledged

    def flood(self, topic: str, seconds: float, meanwhile: Callable[[], None]) -> int:
        """Publish one byte again and again as fast as the broker reads it; return how often it was acknowledged.

        Args:
            meanwhile: called some hundred times a second.
        """
        one = self._publication(topic, b"x", 1)
        chunk = (bytes((0x32, len(one))) + one) * _FLOOD_CHUNK
        answered, left, end = 0, chunk, time.monotonic() + seconds
        self._socket.setblocking(False)
        with selectors.DefaultSelector() as selector, contextlib.suppress(ConnectionError):
            selector.register(self._socket, selectors.EVENT_READ | selectors.EVENT_WRITE)
            while time.monotonic() < end:
                meanwhile()
                selector.select(0.01)
                with contextlib.suppress(BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
                    left = left[self._socket.send(left) :] or chunk
                with contextlib.suppress(BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
                    if not (received := len(self._socket.recv(_CHUNK_BYTES))):
                        break
                    answered += received
        self.cut()
        return answered // _PUBACK_BYTES

    def subscribe(self, *filters: str) -> bytes:
        """Subscribe with QoS 1; return a code a filter, 128 for a refusal, nothing when the broker hung up."""
        number = self._next_number()
        self._send(0x82, struct.pack("!H", number) + b"".join(_text(each) + b"\1" for each in filters))
        self._until(lambda: number in self._subscribed, f"a subscription of {len(filters)} filters")
        return self._subscribed.get(number, b"")

    def ping(self) -> bool:
        """Return once all that the broker had for this client has come; False when it has hung up."""
        before = self._pings
        self._send(0xC0, b"")
        self._until(lambda: self._pings > before, "a ping")
        return self._pings > before

    def say(self, raw: bytes) -> None:
        """Send any bytes."""
        with contextlib.suppress(OSError):
            self._socket.sendall(raw)

    def wait_for(self, wanted: Callable[[Heard], bool], seconds: float) -> Heard | None:
        """Return the first such message among those heard and those that arrive in time."""
        end = time.monotonic() + seconds
        looked_at = 0
        while True:
            for message in self.heard[looked_at:]:
                if wanted(message):
                    return message
            looked_at = len(self.heard)
            left = end - time.monotonic()
            if left <= 0 or not self.alive:
                return None
            self._receive(left)

    def wait_for_end(self, seconds: float = ANSWER_SECONDS) -> bool:
        """Return whether the broker hangs up in time."""
        self.wait_for(lambda _: False, seconds)
        return not self.alive

    def close(self) -> None:
        """Say goodbye, so that no will is published, and hang up; may be called twice."""
        if self.alive:
            self.say(b"\xe0\0")
        self.cut()

    def cut(self) -> None:
        """Hang up without a word."""
        self.alive = False
        self._socket.close()

    def __enter__(self) -> Probe:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _publication(self, topic: str, payload: bytes, number: int) -> bytes:
        return _text(topic) + struct.pack("!H", number) + self._no_properties + payload

    # --- packets --------------------------------------------------------------------------------------------------

    def _next_number(self) -> int:
        self._number += 1
        return self._number

    def _send(self, first: int, body: bytes) -> None:
        length, size = b"", len(body)
        while True:
            size, low = size >> 7, size & 127
            length += bytes((low | 128 * (size > 0),))
            if not size:
                break
        try:
            self._socket.sendall(bytes((first,)) + length + body)
        except OSError:  # hung up, or takes no more; what it said before that still counts
            self._drain()

    def _drain(self) -> None:
        with contextlib.suppress(ProbeError):
            while self.alive:
                self._receive(ANSWER_SECONDS)
                if not self._left:
                    break
        self.alive = False

    def _until(self, answered: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + ANSWER_SECONDS
        while self.alive and not answered():
            left = end - time.monotonic()
            if left <= 0:
                raise ProbeError("no_answer", f"the broker does not answer {what} within {ANSWER_SECONDS:g} s")
            self._receive(left)

    def _receive(self, seconds: float) -> None:
        """Receive what comes next, or nothing."""
        self._socket.settimeout(max(seconds, 0.001))
        try:
            chunk = self._socket.recv(_CHUNK_BYTES)
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
                self._greeting = Greeting(body[1], bool(body[0] & 1), _OURS in body)
            case kind if kind == _PUBLISH:
                length = struct.unpack("!H", body[:2])[0]
                topic, rest = body[2 : 2 + length].decode(errors="replace"), body[2 + length :]
                if first & 6:
                    self.say(b"\x40\2" + rest[:2])
                    rest = rest[2:]
                self.heard.append(Heard(topic, rest, bool(first & 1)))
            case kind if kind == _PUBACK:
                number = struct.unpack("!H", body[:2])[0]
                self._acknowledged.add(number)
                self.refused += body[2:3] >= b"\x80"
            case kind if kind == _SUBACK:
                self._subscribed[struct.unpack("!H", body[:2])[0]] = body[2:]
            case kind if kind == _PINGRESP:
                self._pings += 1
            case _:
                pass


def _bytes(value: bytes) -> bytes:
    return struct.pack("!H", len(value)) + value


def _text(value: str) -> bytes:
    return _bytes(value.encode())
