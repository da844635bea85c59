"""The judge's broker: it serves the one client under test, shows every packet, and may lie, repeat, lose and close.

A contest's broker has many clients and never does any of that. This one has the packets and the dialects (3.1.1 and 5)
of the embedded one, and beyond these only what a single session needs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Protocol

from salvo_server.brokers.embedded import packets as p
from salvo_server.brokers.embedded.dialects import Mqtt5, Mqtt311
from salvo_server.brokers.embedded.limits import BrokerLimits
from salvo_server.brokers.embedded.packets import ProtocolFault, Reason

_MAX_PACKET: Final = 1 << 20
_LIMITS: Final = BrokerLimits()
#: What one client may send: its packets and connections, each with this much for itself; a game has some hundred. Of
#: more, nothing is read.
MOST_BYTES: Final = 20_000_000
_PACKET_BYTES: Final = 1000
_MOST_FILTERS: Final = 1000


class ReceivedPublication(NamedTuple):
    """What the client has published.

    Attributes:
        at: when, in seconds of the event loop's clock.
    """

    at: float
    topic: str
    payload: bytes
    qos: int
    retain: bool


class Guest(NamedTuple):
    """A connection that was accepted."""

    at: float
    level: int
    greeting: p.Greeting


class DoorListener(Protocol):
    """Who learns what the client does."""

    def connected(self, guest: Guest, others: Sequence[str]) -> None:
        """A connection was accepted; ``others`` are the client ids of those that were open at that time."""

    def subscribed(self, filters: Sequence[tuple[str, int]]) -> None:
        """The client has subscribed to these filters with these QoS."""

    def published(self, publication: ReceivedPublication) -> None:
        """The client has published."""

    def noticed(self) -> None:
        """Something else has happened: an acknowledgement, a ping, the end of a connection."""

    def broke(self, fault: str) -> None:
        """The client has broken the rules of MQTT, and its connection was closed."""

    def flooded(self) -> None:
        """The client has sent so much that nothing more is read."""


@dataclass
class _Session:
    filters: dict[str, int] = field(default_factory=dict)
    #: PUBLISH packets of 3.1.1 at QoS 1 that the client has not acknowledged, with when they were sent.
    pending: dict[int, tuple[bytes, float]] = field(default_factory=dict)
    last_id: int = 0


class JudgeDoor:
    """Where the client connects.

    Attributes:
        port: where it listens.
        retained: what a new subscription receives, by topic, in this order.
        refusal: what a CONNECT is refused with; None if it is accepted.
        refuses_filters: whether every subscription is refused.
        connections: the open ones that were accepted, the oldest first.
        attempts: when connections were begun.
    """

    def __init__(self, listener: DoorListener) -> None:
        self.port = 0
        self.retained: dict[str, bytes] = {}
        self.refusal: Reason | None = None
        self.refuses_filters = False
        self.connections: list[_Connection] = []
        self.attempts: list[float] = []
        self.listener = listener
        self._received = 0
        self._server: asyncio.Server | None = None
        self._sessions: dict[str, _Session] = {}
        self._host = "127.0.0.1"

    async def open(self, host: str = "127.0.0.1", port: int = 0) -> None:
        """Listen."""
        self._host = host
        self._server = await asyncio.get_running_loop().create_server(lambda: _Connection(self), host, port)
        self.port = self._server.sockets[0].getsockname()[1]

    def shut(self) -> None:
        """End all connections, and listen no more until :meth:`open_again`."""
        if self._server is not None:
            self._server.close()
            self._server = None
        self.cut()

    async def open_again(self) -> None:
        """Listen where it was."""
        if self._server is None:
            await self.open(self._host, self.port)

    def cut(self) -> None:
        """End all connections as if the network had failed."""
        for connection in list(self.connections):
            connection.abort()

    def forget_sessions(self) -> None:
        """Be a broker that was killed: no session is left."""
        self._sessions.clear()

    # --- messages ---------------------------------------------------------------------------------------------------

    def publish(self, topic: str, payload: bytes, *, retain: bool = False, copies: int = 1) -> None:
        """Publish to the client if it has subscribed, also while it is away with a session that stays.

        Args:
            copies: how often it is sent, from the second time on as a duplicate.
        """
        if retain:
            self.retained.pop(topic, None)
            if payload:
                self.retained[topic] = payload
        for name, session in self._sessions.items():
            granted = [qos for each, qos in session.filters.items() if matches(each, topic)]
            if granted:
                self._deliver(name, session, topic, payload, max(granted), False, copies)

    def _deliver(
        self, name: str, session: _Session, topic: str, payload: bytes, qos: int, retain: bool, copies: int = 1
    ) -> None:
        there = [each for each in self.connections if each.session is session]
        message = p.Message(p.with_length(topic), payload)
        if not qos:
            packet = p.publish_packet(message, retain, 0)
        else:
            session.last_id = session.last_id % 65_535 + 1
            packet = p.publish_packet(message, retain, session.last_id)
            session.pending[session.last_id] = (packet, asyncio.get_running_loop().time())
        for connection in there:
            for number in range(copies):
                connection.send_message(bytes((packet[0] | (0x08 if number and qos else 0),)) + packet[1:])

    @property
    def owed(self) -> int:
        """How many messages the connected client has not acknowledged."""
        return sum(len(connection.session.pending) for connection in self.connections if connection.session is not None)

    @property
    def has_subscriptions(self) -> bool:
        """Whether the client is connected, and has subscribed in this or in a session that has stayed."""
        return any(connection.session is not None and connection.session.filters for connection in self.connections)

    # --- called by connections --------------------------------------------------------------------------------------

    def may_read(self, size: int = 0) -> bool:
        """Count a packet of so many bytes, or a connection; return whether it is read."""
        before, self._received = self._received, self._received + _PACKET_BYTES + size
        if before < MOST_BYTES <= self._received:
            self.listener.flooded()
        return self._received < MOST_BYTES

    def admit(self, connection: _Connection, greeting: p.Greeting, stays: bool) -> tuple[_Session, bool]:
        """Return the session of a new connection, and whether it was there before; an older connection of it ends."""
        others = [each for each in self.connections if each is not connection]
        guest = Guest(connection.time(), connection.level, greeting)
        self.listener.connected(guest, [other.client_id for other in others])
        for other in others:
            if other.client_id == greeting.client_id:
                other.abort()
        session = self._sessions.get(greeting.client_id) if stays else None
        present = session is not None
        session = session or _Session()
        self._sessions[greeting.client_id] = session
        self.connections.append(connection)
        return session, present

    def subscribe(self, connection: _Connection, wanted: list[tuple[str, int, int]]) -> list[int]:
        """Return the granted QoS of each filter."""
        self.listener.subscribed([(each[0], each[1]) for each in wanted])
        if self.refuses_filters or connection.session is None:
            return [Reason.UNSPECIFIED] * len(wanted)
        for name, qos, _ in wanted:
            connection.session.filters[name] = min(qos, 1)
        if len(connection.session.filters) > _MOST_FILTERS:
            raise ProtocolFault(f"has more than {_MOST_FILTERS} filters")
        return [min(qos, 1) for _, qos, _ in wanted]

    def send_retained(self, connection: _Connection, wanted: list[tuple[str, int, int]]) -> None:
        """Send what new subscriptions receive first."""
        session = connection.session
        if session is None or self.refuses_filters:
            return
        for topic, payload in list(self.retained.items()):
            granted = [min(qos, 1) for name, qos, when in wanted if when != 2 and matches(name, topic)]
            if granted:
                self._deliver(connection.client_id, session, topic, payload, max(granted), True)

    def closed(self, connection: _Connection) -> None:
        """Forget a connection, and its session if it was to end with it."""
        if connection in self.connections:
            self.connections.remove(connection)
            if connection.ends_session:
                self._sessions.pop(connection.client_id, None)
        self.listener.noticed()


class _Connection(asyncio.Protocol):
    """One connection of the client."""

    def __init__(self, door: JudgeDoor) -> None:
        self.session: _Session | None = None
        self.client_id = ""
        self.level = 0
        self.ends_session = True
        self._door = door
        self._dialect: Mqtt311 = Mqtt311()
        self._transport: Any = None
        self._read = b""
        self.time: Callable[[], float] = asyncio.get_running_loop().time

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        if self._door.may_read():
            self._door.attempts.append(self.time())
        else:
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._door.closed(self)

    def abort(self) -> None:
        self._transport.abort()

    def end(self, reason: Reason) -> None:
        """Close it as a broker does that has a reason for it."""
        self._transport.write(self._dialect.farewell(reason))
        self._transport.close()

    def send_message(self, packet: bytes) -> None:
        """Send a PUBLISH of 3.1.1."""
        message = self._dialect.message(packet, b"")
        if message is not None:
            self._transport.write(message)

    def data_received(self, data: bytes) -> None:
        self._read += data
        try:
            while self._read and (found := p.cut(self._read, 0, _MAX_PACKET)) is not None:
                start, end = found
                first, body = self._read[0], self._read[start:end]
                self._read = self._read[end:]
                if not self._door.may_read(end):
                    self._transport.pause_reading()
                    self._read = b""
                    return
                self._take(first, body)
        except ProtocolFault as fault:
            self._door.listener.broke(str(fault))
            self._transport.abort()

    def _take(self, first: int, body: bytes) -> None:
        kind = first >> 4
        if kind == p.CONNECT:
            self._greet(first, body)
            return
        if self.session is None:
            raise ProtocolFault("sent another packet before its CONNECT was accepted")
        body = self._dialect.read(first, body)
        match kind:
            case p.PUBLISH:
                self._take_message(first, body)
            case p.PUBACK:
                self.session.pending.pop(int.from_bytes(body[:2], "big"), None)
                self._door.listener.noticed()
            case p.PUBREL:
                self._transport.write(self._dialect.answer(p.PUBCOMP, body[:2]))
            case p.SUBSCRIBE:
                wanted = [self._wanted(*each) for each in p.topic_filters(body, 1)]
                granted = self._door.subscribe(self, wanted)
                self._transport.write(self._dialect.suback(body[:2], granted))
                self._door.send_retained(self, wanted)
            case p.UNSUBSCRIBE:
                names = [name for name, _ in p.topic_filters(body, 0)]
                for name in names:
                    self.session.filters.pop(name, None)
                self._transport.write(self._dialect.unsuback(body[:2], [Reason.SUCCESS] * len(names)))
            case p.PINGREQ:
                self._transport.write(p.PINGRESP)
                self._door.listener.noticed()
            case p.DISCONNECT:
                self._transport.close()

    def _wanted(self, name: str, options: int) -> tuple[str, int, int]:
        """Return a subscription's filter, its QoS, and when it wants retained messages."""
        options, when = self._dialect.read_options(options)
        return name, options & 3, when

    def _greet(self, first: int, body: bytes) -> None:
        self.level = body[6] if body[:6] == b"\x00\x04MQTT" and len(body) > 6 else 0
        if self.level not in (4, 5):
            raise ProtocolFault(f"speaks MQTT protocol level {self.level}; 3.1.1 and 5 are levels 4 and 5")
        if self.level == 5:
            self._dialect = Mqtt5()
        greeting = p.read_connect(self._dialect.read(first, body))
        if self._door.refusal is not None:
            self._transport.write(self._dialect.refusal(self._door.refusal))
            self._transport.close()
            return
        stays = not greeting.clean
        self.ends_session = greeting.clean if self._dialect.session_stays is None else not self._dialect.session_stays
        self.client_id = greeting.client_id or f"guest {len(self._door.attempts)}"
        greeting = greeting._replace(client_id=self.client_id)
        self.session, present = self._door.admit(self, greeting, stays)
        self._transport.write(self._dialect.connack(present, self.client_id if self.level == 5 else "", _LIMITS))
        for packet, _ in list(self.session.pending.values()):
            self.send_message(bytes((packet[0] | 0x08,)) + packet[1:])

    def _take_message(self, first: int, body: bytes) -> None:
        qos, retain = first >> 1 & 3, bool(first & 1)
        topic, at = p.sized(body, 0, len(body))
        if qos:
            kind = p.PUBACK if qos == 1 else p.PUBREC
            self._transport.write(self._dialect.answer(kind, body[at : at + 2]))
            at += 2
        self._door.listener.published(ReceivedPublication(self.time(), p.text_of(topic), body[at:], qos, retain))


def matches(topic_filter: str, topic: str) -> bool:
    """Whether a subscription has a topic."""
    wanted, levels = topic_filter.split("/"), topic.split("/")
    for number, each in enumerate(wanted):
        if each == "#":
            return True
        if number >= len(levels) or each not in ("+", levels[number]):
            return False
    return len(wanted) == len(levels)
