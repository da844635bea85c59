"""Sessions and routing for amqtt's broker, written anew where stock amqtt 0.12.1 falls short.

amqtt listens, speaks TCP and WebSocket, and decodes the rarer packets. What is between two connections is here, in
one place and synchronous, because each of its faults came from tasks that overtake each other or from checks that
one of several paths forgot:

- every publication, retained or not, live or a will, goes through :meth:`HardenedBroker.publish` and its one check;
- a client is authenticated before it can touch another one's session;
- QoS 1 stays in flight until it is acknowledged, over any number of connections, in order;
- a client that stops reading is bounded in messages and bytes, then disconnected;
- keep-alive is enforced, an MQTT 5 greeting refused at once, ``$share`` refused instead of silently never served.

Packet layouts are those of MQTT 3.1.1, chapters 2 and 3.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from amqtt.adapters import BufferReader
from amqtt.broker import Broker
from amqtt.errors import AMQTTError, MQTTError, NoDataError
from amqtt.mqtt.connect import ConnectPacket
from amqtt.mqtt.suback import SubackPacket
from amqtt.mqtt.subscribe import SubscribePacket
from amqtt.mqtt.unsubscribe import UnsubscribePacket
from paho.mqtt.client import topic_matches_sub
from paho.mqtt.matcher import MQTTMatcher
from websockets.exceptions import ConnectionClosed

from salvo_server.broker.limits import Access, BrokerLimits

log = logging.getLogger(__name__)

CONNECT, PUBLISH, PUBACK, PUBREC, PUBREL, PUBCOMP = 1, 3, 4, 5, 6, 7
SUBSCRIBE, SUBACK, UNSUBSCRIBE, UNSUBACK, PINGREQ, DISCONNECT = 8, 9, 10, 11, 12, 14
ACCEPTED, BAD_PROTOCOL, BAD_ID, NOT_AUTHORISED = 0, 1, 2, 5
REFUSED_SUBSCRIPTION = 0x80
#: CONNACK in the shape of MQTT 5: unsupported protocol version, no properties. A v5 client hangs on any other shape.
CONNACK_FOR_V5 = b"\x20\x03\x00\x84\x00"
READ_BYTES = 65_536


class ProtocolFault(Exception):
    """The client broke the protocol; its connection ends."""


class Retained:
    """The last retained payload of each topic."""

    def __init__(self) -> None:
        self.payloads: dict[str, tuple[bytes, int]] = {}

    def keep(self, topic: str, payload: bytes, qos: int) -> None:
        """Keep a payload; an empty one clears the topic."""
        if payload:
            self.payloads[topic] = (payload, qos)
        else:
            self.payloads.pop(topic, None)

    def matching(self, topic_filter: str) -> list[tuple[str, bytes, int]]:
        """Return (topic, payload, qos) of every topic that a filter matches."""
        return [(t, payload, qos) for t, (payload, qos) in self.payloads.items() if topic_matches_sub(topic_filter, t)]


def _encode(first: int, body: bytes) -> bytes:
    """A whole packet: first byte, remaining length, body."""
    length, digits = len(body), bytearray((first,))
    while True:
        length, digit = divmod(length, 128)
        digits.append(digit | (128 if length else 0))
        if not length:
            return bytes(digits) + body


def _publish_packet(topic: bytes, payload: bytes, qos: int, retain: bool, mid: int) -> bytes:
    head = len(topic).to_bytes(2, "big") + topic
    if qos:
        head += mid.to_bytes(2, "big")
    return _encode(PUBLISH << 4 | qos << 1 | retain, head + payload)


class Session:
    """What the broker keeps of a client, connected or not.

    Attributes:
        subscriptions: granted QoS by topic filter.
        in_flight: PUBLISH packets sent and not acknowledged, by packet id, oldest first.
        waiting: (topic, payload, qos, retain) that wait for room in flight or for the client to come back.
    """

    def __init__(self, client_id: str, clean: bool, limits: BrokerLimits) -> None:
        self.client_id = client_id
        self.clean = clean
        self.username: str | None = None
        self.subscriptions: dict[str, int] = {}
        self.in_flight: OrderedDict[int, bytes] = OrderedDict()
        self.waiting: deque[tuple[bytes, bytes, int, bool]] = deque()
        self.unreleased: set[int] = set()
        self.peer: Peer | None = None
        self._limits = limits
        self._last_mid = 0

    def deliver(self, topic: bytes, payload: bytes, qos: int, retain: bool) -> None:
        """Send now or as soon as possible; QoS 0 and clean sessions lose what comes while they are away."""
        if self.peer is None and (self.clean or not qos):
            return
        if len(self.waiting) >= self._limits.queued_messages:
            self._overflow()
            return
        self.waiting.append((topic, payload, qos, retain))
        self.pump()

    def _overflow(self) -> None:
        if self.peer is not None:
            self.peer.drop(f"does not read: {len(self.waiting)} messages wait")
        else:
            log.warning("%s is away and %d messages wait; a new one is lost", self.client_id, len(self.waiting))

    def pump(self) -> None:
        """Send what waits, as far as there is room in flight."""
        peer, waiting, in_flight = self.peer, self.waiting, self.in_flight
        while peer is not None and waiting and len(in_flight) < self._limits.in_flight:
            topic, payload, qos, retain = waiting.popleft()
            mid = self._next_mid() if qos else 0
            packet = _publish_packet(topic, payload, qos, retain, mid)
            if qos:
                in_flight[mid] = packet
            peer.send(packet)

    def _next_mid(self) -> int:
        self._last_mid = self._last_mid % 65_535 + 1
        while self._last_mid in self.in_flight:
            self._last_mid = self._last_mid % 65_535 + 1
        return self._last_mid

    def acknowledged(self, mid: int) -> None:
        """The client has taken a message."""
        if self.in_flight.pop(mid, None) is not None:
            self.pump()

    def resume(self) -> None:
        """Send again what was in flight when the connection ended, marked as a duplicate, then what waits."""
        assert self.peer is not None
        for packet in self.in_flight.values():
            self.peer.send(bytes((packet[0] | 8,)) + packet[1:])
        self.pump()


class Peer:
    """One connection, from its greeting to its end."""

    def __init__(
        self, broker: HardenedBroker, chunks: AsyncIterator[bytes], write: Callable[[bytes], Awaitable[None]], name: str
    ) -> None:
        self._broker = broker
        self._chunks = chunks
        self._write = write
        self._name = name
        self._buffer = bytearray()
        self._outgoing: list[bytes] = []
        self._outgoing_bytes = 0
        self._something_to_send = asyncio.Event()
        self._closing = False
        self._session: Session | None = None
        self._will: tuple[str, bytes, int, bool] | None = None
        self._keep_alive_seconds = 0.0
        self._last_heard = 0.0
        self._main: asyncio.Task[None] | None = None

    async def serve(self) -> None:
        """Talk to the client until either side ends it."""
        self._main = asyncio.current_task()
        writer = asyncio.create_task(self._write_loop())
        watchdog: asyncio.Task[None] | None = None
        try:
            first, body = await asyncio.wait_for(self._next_packet(), self._broker.limits.connect_seconds)
            await self._greet(first, body)
            if self._session is not None:
                watchdog = asyncio.create_task(self._watch_keep_alive())
                while not self._closing:
                    await self._handle(*await self._next_packet())
        except (ProtocolFault, MQTTError, AMQTTError, UnicodeDecodeError) as fault:
            log.info("%s: %s; disconnected", self._name, fault)
        except (NoDataError, ConnectionError, ConnectionClosed, EOFError, TimeoutError):
            pass
        except asyncio.CancelledError:
            if not self._closing:
                raise
        finally:
            self._closing = True
            self._something_to_send.set()
            if watchdog is not None:
                watchdog.cancel()
            await asyncio.wait([writer], timeout=0.5)
            writer.cancel()
            self._leave()

    def drop(self, reason: str) -> None:
        """End the connection from the broker's side."""
        if not self._closing:
            log.warning("%s %s; disconnected", self._name, reason)
            self._closing = True
            self._outgoing.clear()
            if self._main is not None:
                self._main.cancel()

    def send(self, packet: bytes) -> None:
        """Queue a packet; everything queued in one turn of the loop is written together."""
        if self._closing:
            return
        self._outgoing.append(packet)
        self._outgoing_bytes += len(packet)
        if self._outgoing_bytes > self._broker.limits.queued_bytes:
            self.drop(f"does not read: {self._outgoing_bytes} bytes wait")
        self._something_to_send.set()

    async def _write_loop(self) -> None:
        try:
            while not self._closing or self._outgoing:
                await self._something_to_send.wait()
                self._something_to_send.clear()
                data = b"".join(self._outgoing)
                self._outgoing.clear()
                if data:
                    await self._write(data)
                    self._outgoing_bytes -= len(data)
        except (ConnectionError, ConnectionClosed, RuntimeError):
            self._closing = True

    # --- reading ------------------------------------------------------------------------------------------------

    async def _next_packet(self) -> tuple[int, bytes]:
        """Return the first byte and the body of the next packet."""
        while True:
            found = self._cut_packet()
            if found is not None:
                return found
            self._buffer += await anext(self._chunks, b"") or _end_of_stream()
            self._last_heard = asyncio.get_running_loop().time()

    def _cut_packet(self) -> tuple[int, bytes] | None:
        buffer = self._buffer
        if self._session is None and buffer and buffer[0] >> 4 != CONNECT:
            raise ProtocolFault("the first packet is no CONNECT")
        length = shift = 0
        for place in range(1, 5):
            if place >= len(buffer):
                return None
            length |= (buffer[place] & 127) << shift
            shift += 7
            if buffer[place] < 128:
                break
        else:
            raise ProtocolFault("malformed remaining length")
        if length > self._broker.limits.packet_bytes:
            raise ProtocolFault(f"a packet of {length} bytes; at most {self._broker.limits.packet_bytes} are read")
        end = place + 1 + length
        if len(buffer) < end:
            return None
        packet = buffer[0], bytes(buffer[place + 1 : end])
        del buffer[:end]
        return packet

    async def _watch_keep_alive(self) -> None:
        """Disconnect a client that is silent for one and a half times its keep-alive (MQTT 3.1.1, 3.1.2.10)."""
        patience = self._keep_alive_seconds * 1.5
        while patience:
            silent = asyncio.get_running_loop().time() - self._last_heard
            if silent >= patience:
                self.drop(f"was silent for {silent:.0f} s, keep-alive {self._keep_alive_seconds:.0f} s")
                return
            await asyncio.sleep(patience - silent)

    # --- the greeting -------------------------------------------------------------------------------------------

    async def _greet(self, first: int, body: bytes) -> None:
        level = body[6] if body[:6] == b"\x00\x04MQTT" and len(body) > 6 else 0
        if level != 4:
            self.send(CONNACK_FOR_V5 if level == 5 else bytes((0x20, 2, 0, BAD_PROTOCOL)))
            raise ProtocolFault(f"speaks MQTT protocol level {level}; this broker speaks 3.1.1 (level 4) only")
        connect = await ConnectPacket.from_stream(BufferReader(_encode(first, body)))
        client_id, clean = connect.client_id or "", connect.clean_session_flag
        if connect.payload is None or (connect.payload.client_id_is_random and not clean):
            self.send(bytes((0x20, 2, 0, BAD_ID)))
            raise ProtocolFault("a persistent session needs a client id")
        self._name = client_id
        if not self._broker.access.admits(client_id, connect.username, connect.password):
            self.send(bytes((0x20, 2, 0, NOT_AUTHORISED)))
            raise ProtocolFault("is not admitted")
        self._keep_alive_seconds = connect.keep_alive
        if connect.will_flag:
            will = bytes(connect.will_message or b"")
            self._will = (connect.will_topic or "", will, connect.will_qos or 0, bool(connect.will_retain_flag))
        self._session, present = self._broker.take_session(client_id, clean)
        self._session.username = connect.username
        self._session.peer = self
        self.send(bytes((0x20, 2, present, ACCEPTED)))
        self._session.resume()

    def _leave(self) -> None:
        """Let go of the session, and have the will published unless the client said goodbye."""
        session, self._session = self._session, None
        if session is None:
            return
        if session.peer is self:
            session.peer = None
            if session.clean:
                self._broker.forget_session(session)
        if self._will is not None:
            self._broker.publish(session, *self._will)

    # --- packets ------------------------------------------------------------------------------------------------

    async def _handle(self, first: int, body: bytes) -> None:
        assert self._session is not None
        match first >> 4:
            case 3:
                self._published(first, body)
            case 4 | 5 | 7:  # PUBREC and PUBCOMP only answer QoS 2, which is never granted
                self._session.acknowledged(int.from_bytes(body[:2], "big"))
            case 6:
                self._session.unreleased.discard(int.from_bytes(body[:2], "big"))
                self.send(bytes((PUBCOMP << 4, 2)) + body[:2])
            case 8:
                packet = await SubscribePacket.from_stream(BufferReader(_encode(first, body)))
                self._subscribe(packet)
            case 10:
                unsubscribe = await UnsubscribePacket.from_stream(BufferReader(_encode(first, body)))
                for topic_filter in unsubscribe.payload.topics if unsubscribe.payload else ():
                    self._broker.unsubscribe(self._session, topic_filter)
                self.send(bytes((UNSUBACK << 4, 2)) + body[:2])
            case 12:
                self.send(b"\xd0\x00")
            case 14:
                self._will = None
                self._closing = True
            case kind:
                raise ProtocolFault(f"sent a packet of type {kind}")

    def _published(self, first: int, body: bytes) -> None:
        assert self._session is not None
        qos, retain = first >> 1 & 3, bool(first & 1)
        end = 2 + int.from_bytes(body[:2], "big")
        topic = body[2:end].decode()
        if qos == 3 or not topic or "+" in topic or "#" in topic or "\0" in topic:
            raise ProtocolFault(f"published to {topic[:80]!r} at QoS {qos}")
        if qos:
            mid = body[end : end + 2]
            end += 2
        if qos == 2:
            number = int.from_bytes(mid, "big")
            self.send(bytes((PUBREC << 4, 2)) + mid)
            if number in self._session.unreleased:
                return
            self._session.unreleased.add(number)
        self._broker.publish(self._session, topic, body[end:], min(qos, 1), retain)
        if qos == 1:
            self.send(bytes((PUBACK << 4, 2)) + mid)

    def _subscribe(self, packet: SubscribePacket) -> None:
        assert self._session is not None
        assert packet.payload is not None
        assert packet.variable_header is not None
        granted = [self._broker.subscribe(self._session, *topic) for topic in packet.payload.topics]
        self.send(bytes(SubackPacket.build(packet.variable_header.packet_id, granted).to_bytes()))
        for (topic_filter, _), qos in zip(packet.payload.topics, granted, strict=True):
            if qos != REFUSED_SUBSCRIPTION:
                self._broker.send_retained(self._session, topic_filter, qos)


def _end_of_stream() -> bytes:
    raise EOFError


class HardenedBroker(Broker):
    """amqtt's broker with the sessions and the routing of this module."""

    def __init__(self, config: dict[str, Any], limits: BrokerLimits, access: Access) -> None:
        super().__init__(config)
        self.limits = limits
        self.access = access
        self.retained = Retained()
        self._known: dict[str, Session] = {}
        self._routes = MQTTMatcher()
        self._by_filter: dict[str, dict[Session, int]] = {}
        self._peers: set[asyncio.Task[None]] = set()

    # --- connections --------------------------------------------------------------------------------------------

    async def stream_connected(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, listener_name: str
    ) -> None:
        """Serve a TCP client; asyncio has set TCP_NODELAY on its socket."""

        async def chunks() -> AsyncIterator[bytes]:
            while data := await reader.read(READ_BYTES):
                yield data

        async def write(data: bytes) -> None:
            writer.write(data)
            await writer.drain()

        try:
            await self._serve(chunks(), write, str(writer.get_extra_info("peername")))
        finally:
            writer.close()

    async def ws_connected(self, websocket: Any, listener_name: str) -> None:
        """Serve a WebSocket client."""

        async def chunks() -> AsyncIterator[bytes]:
            async for message in websocket:
                yield message.encode() if isinstance(message, str) else message

        await self._serve(chunks(), websocket.send, str(websocket.remote_address))
        await websocket.close()

    async def _serve(self, chunks: AsyncIterator[bytes], write: Callable[[bytes], Awaitable[None]], name: str) -> None:
        if len(self._peers) >= self.limits.connections:
            log.warning("%s is turned away: %d clients are connected", name, len(self._peers))
            return
        task = asyncio.ensure_future(Peer(self, chunks, write, name).serve())
        self._peers.add(task)
        try:
            await asyncio.wait([task])
        finally:
            task.cancel()
            self._peers.discard(task)

    async def shutdown(self) -> None:
        """Disconnect everybody, then stop listening."""
        for server in self._servers.values():
            if server.instance is not None:
                server.instance.close()
        peers = list(self._peers)
        for task in peers:
            task.cancel()
        if peers:
            await asyncio.wait(peers, timeout=2)
        await super().shutdown()

    # --- sessions -----------------------------------------------------------------------------------------------

    def take_session(self, client_id: str, clean: bool) -> tuple[Session, bool]:
        """Return the session for an admitted client, and whether it was there before."""
        known = self._known.get(client_id)
        if known is not None and known.peer is not None:
            known.peer.drop("was taken over by a new connection of the same client id")
            known.peer = None
        if known is not None and (clean or known.clean):
            self.forget_session(known)
            known = None
        session = known or Session(client_id, clean, self.limits)
        self._known[client_id] = session
        return session, known is not None

    def forget_session(self, session: Session) -> None:
        """Drop a session with its subscriptions."""
        for topic_filter in list(session.subscriptions):
            self.unsubscribe(session, topic_filter)
        if self._known.get(session.client_id) is session:
            del self._known[session.client_id]

    # --- routing ------------------------------------------------------------------------------------------------

    def subscribe(self, session: Session, topic_filter: str, qos: int) -> int:
        """Add a subscription; return the granted QoS or the refusal."""
        levels = topic_filter.split("/")
        misplaced = any(("#" in level or "+" in level) and len(level) > 1 for level in levels) or "#" in levels[:-1]
        if not topic_filter or misplaced or levels[0] == "$share":
            return REFUSED_SUBSCRIPTION
        if not self.access.allows(session.client_id, session.username, "subscribe", topic_filter):
            return REFUSED_SUBSCRIPTION
        granted = min(qos, 1)
        session.subscriptions[topic_filter] = granted
        if topic_filter not in self._by_filter:
            self._by_filter[topic_filter] = self._routes[topic_filter] = {}
        self._by_filter[topic_filter][session] = granted
        return granted

    def unsubscribe(self, session: Session, topic_filter: str) -> None:
        """Take a subscription back."""
        if session.subscriptions.pop(topic_filter, None) is None:
            return
        subscribers = self._by_filter[topic_filter]
        del subscribers[session]
        if not subscribers:
            del self._by_filter[topic_filter]
            del self._routes[topic_filter]

    def send_retained(self, session: Session, topic_filter: str, qos: int) -> None:
        """Send what is retained below a new subscription."""
        for topic, payload, kept_qos in self.retained.matching(topic_filter):
            if self.access.allows(session.client_id, session.username, "receive", topic):
                session.deliver(topic.encode(), payload, min(qos, kept_qos), True)

    def publish(self, sender: Session, topic: str, payload: bytes, qos: int, retain: bool) -> None:
        """Retain and route one message of a client, be it live or a will; the only way in."""
        if topic.startswith("$") or not self.access.allows(sender.client_id, sender.username, "publish", topic):
            log.info("%s may not publish to %s", sender.client_id, topic[:120])
            return
        if retain:
            self.retained.keep(topic, payload, qos)
        receivers: dict[Session, int] = {}
        for subscribers in self._routes.iter_match(topic):
            for session, granted in subscribers.items():
                receivers[session] = max(granted, receivers.get(session, 0))
        encoded = topic.encode()
        for session, granted in receivers.items():
            if self.access.allows(session.client_id, session.username, "receive", topic):
                session.deliver(encoded, payload, min(qos, granted), False)
