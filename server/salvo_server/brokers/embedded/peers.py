"""One connection from its greeting to its end.

A peer is synchronous: its edge feeds it bytes, it handles every packet in them, and what follows for any connection
is written out together when the bytes are used up. So a message crosses the broker within one turn of the loop, and
a burst costs one system call for each receiver.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from typing import Protocol

from salvo.errors import printable
from salvo.system.log_throttle import Throttle
from salvo_server.brokers.embedded import packets as p
from salvo_server.brokers.embedded.dialects import DIALECTS, Mqtt311
from salvo_server.brokers.embedded.limits import PROBE, WRITE_BYTES, Access, BrokerLimits
from salvo_server.brokers.embedded.pace import CONNECT_PRICE, FILTERS_PRICE, MAX_TURN_PRICE, Pace
from salvo_server.brokers.embedded.packets import Greeting, Message, ProtocolFault, Reason, Unwelcome
from salvo_server.brokers.embedded.routing import Routes
from salvo_server.brokers.embedded.sessions import MqttSession, Sessions
from salvo_server.brokers.embedded.wills import Wills

#: What a client is told that the broker disconnects; others are not told why.
_FAREWELLS = {
    "takeover": Reason.TAKEN_OVER,
    "silence": Reason.KEEP_ALIVE_TIMEOUT,
    "stuck": Reason.QUOTA_EXCEEDED,
    "overflow": Reason.QUOTA_EXCEEDED,
    "all_overflow": Reason.QUOTA_EXCEEDED,
    "expelled": Reason.ADMINISTRATIVE_ACTION,
}
#: Reads that a greeting may take: MQTT.js sends one of MQTT 5 in 20 WebSocket frames, and in five more for each user
#: property. Later ones are paid for.
MAX_PIECES = 256
#: Characters of a client's name in the log.
MAX_NAME = 120
#: For whoever wrote a client that has no account, and for the operator who looks for it in the log.
_ACCOUNTS = "this contest has accounts: connect with a team's name as user and its secret as password"
_WITHOUT_ACCOUNTS = "salvo teams add makes an account; salvo serve --profile open admits any client without one"


class Edge(Protocol):
    """What a peer needs of its connection."""

    def write(self, packets: bytes) -> None: ...
    def pause_reading(self) -> None: ...
    def resume_reading(self) -> None: ...
    def close(self, reason: str = "") -> None: ...
    def abort(self) -> None: ...


class Hub(Protocol):
    """What a connection needs of its broker, :class:`~salvo_server.brokers.embedded.broker.HardenedBroker`."""

    limits: BrokerLimits
    access: Access
    routes: Routes
    clients: Sessions
    wills: Wills
    seldom: Throttle
    peers: set[Peer]
    newcomers: dict[Peer, None]
    unflushed: list[Peer]

    def pace_of(self, username: str | None) -> Pace | None: ...
    def subscribe(self, session: MqttSession, topic_filter: str, options: int) -> int: ...
    def look_up(self, session: MqttSession) -> int: ...
    def publish(self, sender: MqttSession, message: Message, qos: int, retain: bool) -> Reason: ...
    def flush(self) -> None: ...


class Peer:
    """One connection, from its greeting to its end.

    Attributes:
        name: where it is from, or whom its connection is made for, in the log.
        pace: the allowance that it shares with its payer's other connections; None if it has no limit.
    """

    least_qos = 0

    def __init__(self, broker: Hub, edge: Edge, name: str) -> None:
        self._broker = broker
        self._edge = edge
        self.name = name
        self._loop = asyncio.get_running_loop()
        self._unread = b""
        self._pieces = 0
        self._most_packet_bytes = broker.limits.packet_bytes
        self._paused = False
        self._held_for: set[MqttSession] = set()
        self.pace: Pace | None = None
        self._rest: asyncio.TimerHandle | None = None
        self._outgoing: list[bytes] = []
        self._outgoing_bytes = 0
        self._edge_is_full = False
        self._closing = False
        self._session: MqttSession | None = None
        self._dialect = Mqtt311()
        self._will: tuple[Message, int, bool] | None = None
        self._keep_alive_seconds = 0.0
        self._received_at = 0.0
        self._timer = self._loop.call_later(broker.limits.connect_seconds, self.drop, "greeting", "did not greet")

    @property
    def has_greeted(self) -> bool:
        """Whether the client has been admitted."""
        return self._session is not None

    # --- the end ------------------------------------------------------------------------------------------------

    def drop(self, kind: str, text: str) -> None:
        """End the connection from the broker's side, with a word if the client's protocol has one for it."""
        if self._closing:
            return
        self._broker.seldom.warn(kind, f"{self.name} {text}; disconnected")
        farewell = self._dialect.farewell(_FAREWELLS[kind]) if kind in _FAREWELLS else b""
        self._end()
        if farewell:
            self._edge.write(farewell)
        self._edge.close(text)

    def cut_off(self) -> None:
        """End the connection at once."""
        self._end()
        self._edge.abort()

    def turn_away(self, kind: str, text: str) -> None:
        """End the connection, which its edge hangs up on by itself."""
        if not self._closing:
            self._broker.seldom.warn(kind, f"{self.name} {text}; {self._verdict}")
        self._end()

    @property
    def _verdict(self) -> str:
        return "disconnected" if self.has_greeted else "refused"

    def _hang_up(self, reason: str = "") -> None:
        """End the connection once the last answer is out."""
        self._broker.flush()
        self._end()
        self._edge.close(reason)

    def lost(self) -> None:
        """The edge has lost the connection."""
        self._end()

    def _end(self) -> None:
        """Accept no more input; the session is released in a moment, not during a publication."""
        if self._closing:
            return
        self._closing = True
        self._timer.cancel()
        if self._rest is not None:  # up to twenty seconds, for which the loop would keep all of the connection
            self._rest.cancel()
        self._outgoing.clear()
        self._unread = b""
        self._broker.peers.discard(self)
        self._broker.newcomers.pop(self, None)
        if self._session is not None:
            if self._session.peer is self:
                self._session.left()
            self._loop.call_soon(self._leave, self._session)

    def _leave(self, session: MqttSession) -> None:
        """Let go of the session, and have the will published unless the client said goodbye."""
        if self._will is not None:
            self._broker.wills.leave(session, self._dialect.will_delay, self._publish_will)
        self._broker.clients.leave(session)
        self._broker.flush()

    def _publish_will(self, session: MqttSession) -> None:
        assert self._will is not None
        message, qos, retain = self._will
        self._broker.publish(session, self._dialect.will_properties.of(message), qos, retain)
        self._broker.flush()

    # --- writing ------------------------------------------------------------------------------------------------

    @property
    def writable(self) -> bool:
        """Whether the client takes what it is sent."""
        return self._outgoing_bytes < WRITE_BYTES and not self._edge_is_full

    def send(self, packet: bytes) -> None:
        """Queue a packet for :meth:`Hub.flush`."""
        if self._closing or not packet:
            return
        if not self._outgoing:
            self._broker.unflushed.append(self)
        self._outgoing.append(packet)
        self._outgoing_bytes += len(packet)

    def send_message(self, message: Message, retain: bool, mid: int, *, again: bool = False) -> None:
        """Queue a PUBLISH; one that is larger than the client takes is lost to it (MQTT 5, 3.1.2.11.4)."""
        plain = p.publish_packet(message, retain, mid, again=again)
        packet = self._dialect.message(plain, message.about)
        if packet is not None:
            self.send(packet)
        elif mid and self._session is not None:
            self._loop.call_soon(self._lose, self._session, mid)

    def _lose(self, session: MqttSession, mid: int) -> None:
        session.acknowledged(mid)
        self._broker.flush()

    def flush(self) -> None:
        """Write everything that was queued, together."""
        outgoing = self._outgoing
        if not outgoing:
            return
        was_writable = self.writable
        packets = outgoing[0] if len(outgoing) == 1 else b"".join(outgoing)
        outgoing.clear()
        self._outgoing_bytes = 0
        self._edge.write(packets)
        if not was_writable and self.writable:
            self._go_on()

    def edge_full(self, full: bool) -> None:
        """The client's system takes nothing more, or takes something again."""
        self._edge_is_full = full
        if not full and not self._closing:
            self._go_on()
            self._broker.flush()

    def _go_on(self) -> None:
        """There is room again: send what waits, then answer what has been read."""
        if self._session is not None:
            self._session.pump()
        self._read_on_soon()

    # --- being held ---------------------------------------------------------------------------------------------

    @property
    def is_held(self) -> bool:
        """Whether the client's packets, its acknowledgements among them, wait to be read."""
        return bool(self._held_for) or self._rest is not None

    def hold(self, session: MqttSession) -> None:
        """Read no more until a session's backlog has been worked off."""
        self._held_for.add(session)

    def release(self, session: MqttSession) -> None:
        """The backlog has been worked off, or its session has gone."""
        self._held_for.discard(session)
        self._read_on_soon()

    def call_later(self, seconds: float, call: Callable[[], None]) -> None:
        self._loop.call_later(seconds, call)

    def _may_read(self) -> bool:
        return not self._closing and not self.is_held and self.writable

    def _read_on_soon(self) -> None:
        if self._paused and self._may_read():
            self._loop.call_soon(self._read_on)

    # --- reading ------------------------------------------------------------------------------------------------

    def feed(self, data: bytes) -> None:
        """Handle complete packets, as long as the client takes its answers and is not held.

        One call handles one turn's worth; the rest is handled after the other connections have had their turn.
        """
        if self._closing:
            return
        self._received_at = self._loop.time()
        self._unread += data
        self._handle_unread(is_new=True)

    def _handle_unread(self, *, is_new: bool) -> None:
        try:
            turn_is_over = self._take_turn(is_new)
        except ProtocolFault as fault:
            unwelcome = fault if isinstance(fault, Unwelcome) else None
            if unwelcome is None or not unwelcome.expected:
                kind = "malformed" if unwelcome is None else "unwelcome"
                self._broker.seldom.warn(kind, f"{self.name} {fault}; {self._verdict}")
            advice = "" if unwelcome is None else unwelcome.advice
            dialect, reason = self._dialect, fault.reason
            self.send(dialect.farewell(reason) if self.has_greeted else dialect.refusal(reason, advice))
            self._hang_up(str(fault))
            return
        finally:
            self._broker.flush()
        if not self._closing:
            self._pause(turn_is_over or not self._may_read())
            self._read_on_soon()

    def _take_turn(self, is_new: bool) -> bool:
        """Handle packets until the turn is used up; return whether it was.

        Args:
            is_new: whether something has just come.

        Raises:
            ProtocolFault: the client broke the protocol, or is refused.
        """
        stream, at, turn = self._unread, 0, MAX_TURN_PRICE
        try:
            while turn > 0 and self._may_read():
                if self._session is not None and self._session.lookups:
                    price = self._broker.look_up(self._session)
                elif (found := self._next(stream, at)) is not None:
                    first, (start, at) = stream[at], found
                    price = self._handle(first, stream[start:at])
                else:
                    if is_new and turn == MAX_TURN_PRICE:
                        self._charge_piece()
                    return False
                turn -= self._pay(price)
        finally:
            self._unread = b"" if self._closing else stream[at:]
        return turn <= 0

    def _charge_piece(self) -> None:
        """Charge something that completes no packet; else a packet could come byte by byte for one price."""
        if self._session is None:
            self._pieces += 1
            if self._pieces > MAX_PIECES:
                raise ProtocolFault(f"sent its greeting in more than {MAX_PIECES} pieces")
        self._pay(1)

    def _next(self, stream: bytes, at: int) -> tuple[int, int] | None:
        """Return where the body of the next packet begins and ends; None while it is not all there."""
        if at == len(stream):
            return None
        if self._session is None and stream[at] >> 4 != p.CONNECT:
            raise ProtocolFault("the first packet is not a CONNECT")
        return p.cut(stream, at, self._most_packet_bytes)

    def _pause(self, paused: bool) -> None:
        if paused != self._paused:
            self._paused = paused
            if paused:
                self._edge.pause_reading()
            else:
                self._edge.resume_reading()

    def _read_on(self) -> None:
        if self._paused and self._may_read():
            self._received_at = self._loop.time()
            self._handle_unread(is_new=False)

    def _watch_keep_alive(self) -> None:
        """Disconnect a client that is silent for one and a half times its keep-alive (MQTT 3.1.1, 3.1.2.10)."""
        patience = self._keep_alive_seconds * 1.5
        if self.is_held:
            self._received_at = self._loop.time()
        silent = self._loop.time() - self._received_at
        if silent >= patience:
            self.drop("silence", f"was silent for {silent:.0f} s, keep-alive {self._keep_alive_seconds:.0f} s")
        else:
            self._timer = self._loop.call_later(patience - silent, self._watch_keep_alive)

    # --- the greeting -------------------------------------------------------------------------------------------

    def _greet(self, first: int, body: bytes) -> None:
        level = body[6] if body[:6] == b"\x00\x04MQTT" and len(body) > 6 else 0
        if level not in DIALECTS:
            self.send(p.connack(p.BAD_PROTOCOL))
            raise ProtocolFault(f"speaks MQTT protocol level {level}; this broker speaks 3.1.1 and 5 (levels 4 and 5)")
        self._dialect = DIALECTS[level]()
        greeting = p.read_connect(self._dialect.read(first, body))
        self._check_client_id(greeting)
        assigned = "" if greeting.client_id else f"anonymous-{secrets.token_hex(8)}"
        client_id, username = greeting.client_id or assigned, greeting.username
        if greeting.will is not None:
            self._broker.routes.topic(greeting.will[0].topic)  # one to which a client may publish
        # Read before anything is compared with it: if it changes meanwhile, the review of sessions ends this one.
        grant = self._broker.access.grant(username)
        self._check_rights(client_id, greeting)
        client_id = self._broker.access.session_id(client_id, username)
        self.name = printable(client_id, MAX_NAME)
        self._will = greeting.will
        self._timer.cancel()
        self._keep_alive_seconds = greeting.keep_alive
        if self._keep_alive_seconds:
            self._watch_keep_alive()
        self._take_session(client_id, greeting.clean, username, grant, assigned and client_id)

    def _check_client_id(self, greeting: Greeting) -> None:
        """Check what a session is kept under.

        Raises:
            ProtocolFault: ``BAD_CLIENT_ID``.
        """
        if not greeting.client_id and not greeting.clean and self._dialect.session_stays is None:
            raise ProtocolFault("wants a session to be stored, without a client id", Reason.BAD_CLIENT_ID)
        most = self._broker.limits.client_id_bytes
        if len(greeting.client_id.encode()) > most:
            raise ProtocolFault(f"has a client id of more than {most} bytes", Reason.BAD_CLIENT_ID)

    def _check_rights(self, client_id: str, greeting: Greeting) -> None:
        """Check that the client is admitted, before any session is touched.

        Raises:
            Unwelcome: it may not.
        """
        access, username = self._broker.access, greeting.username
        self.name = printable(client_id if username is None else f"{username} ({client_id})", MAX_NAME)
        if not access.admits(client_id, username, greeting.password):
            unknown = "brings a user name and password that this broker does not know"
            text = f"{'brings no user name' if username is None else unknown} ({_WITHOUT_ACCOUNTS})"
            expected = username is None and client_id.startswith(PROBE)
            raise Unwelcome(text, Reason.BAD_CREDENTIALS, _ACCOUNTS, expected=expected)
        if greeting.will is not None and not access.may_have_will(client_id, username):
            text = "brings a last will, and only the contest's server may leave a message behind"
            raise Unwelcome(text, Reason.NOT_AUTHORISED)

    def _take_session(self, client_id: str, clean: bool, username: str | None, grant: object, assigned: str) -> None:
        self._broker.newcomers.pop(self, None)
        self._session, present = self._broker.clients.take(client_id, clean)
        self._broker.wills.drop(self._session)
        if self._dialect.session_stays is not None:
            self._session.clean = not self._dialect.session_stays
        self._session.window = min(self._broker.limits.in_flight, self._dialect.in_flight)
        self._session.is_server = self._broker.access.is_server(client_id, username)
        self._session.belong(self, username, grant)
        if self._session.is_server:
            self._most_packet_bytes = self._broker.limits.server_packet_bytes
        else:
            self.pace = self._broker.pace_of(username)
        self.send(self._dialect.connack(present, assigned, self._broker.limits))
        self._session.resume()

    # --- packets ------------------------------------------------------------------------------------------------

    def _handle(self, first: int, body: bytes) -> int:
        """Carry out a packet; return its price."""
        session = self._session
        if session is None:
            self._greet(first, body)
            return CONNECT_PRICE
        body = self._dialect.read(first, body)
        match first >> 4:
            case p.PUBLISH:
                self._published(session, first, body)
            case p.PUBACK:
                return 0 if session.acknowledged(int.from_bytes(body[:2], "big")) else 1
            case p.PUBREL:
                reason = Reason.SUCCESS if body[:2] in session.unreleased else Reason.NO_PACKET_ID
                session.unreleased.discard(body[:2])
                self.send(self._dialect.answer(p.PUBCOMP, body[:2], reason))
            case p.SUBSCRIBE:
                return self._subscribe(session, body)
            case p.UNSUBSCRIBE:
                return self._unsubscribe(session, body)
            case p.PINGREQ:
                self.send(p.PINGRESP)
            case p.DISCONNECT:
                if not self._dialect.keeps_will:
                    self._will = None
                session.clean = session.clean or self._dialect.session_stays is False
                self._hang_up()
            case p.CONNECT:
                raise ProtocolFault("sent a second CONNECT")
        return 1

    def _published(self, session: MqttSession, first: int, body: bytes) -> None:
        qos, retain = first >> 1 & 3, bool(first & 1)
        end = 2 + int.from_bytes(body[:2], "big")
        start = end + 2 if qos else end
        mid = body[end:start]
        if start > len(body) or mid == b"\0\0":
            raise ProtocolFault(f"sent a malformed PUBLISH at QoS {qos}", Reason.MALFORMED)
        reason = Reason.SUCCESS
        if qos < 2 or self._is_first(session, mid):
            message = self._dialect.properties.of(Message(body[:end], body[start:], sender=session.client_id))
            reason = self._broker.publish(session, message, min(qos, 1), retain)
        if reason:
            session.unreleased.discard(mid)  # a refused PUBREC ends the exchange in MQTT 5
        if qos:
            self.send(self._dialect.answer(p.PUBACK if qos == 1 else p.PUBREC, mid, reason))

    def _pay(self, price: int) -> int:
        """Charge a price to the client's pace, and stop reading it for a while when that is used up.

        Returns:
            How much of the turn is spent; 0 for the server, whose turns have no limit.
        """
        if self._session is not None and self._session.is_server:
            return 0
        seconds = 0.0 if self.pace is None else self.pace.wait_seconds(price, self._loop.time())
        if seconds and not self._closing:
            self.slow_down(seconds, "pace", "sends more than it may")
        return max(price, 1)

    def slow_down(self, seconds: float, kind: str, text: str) -> None:
        """Read nothing for a while."""
        self._broker.seldom.warn(kind, f"{self.name} {text}; it is read more slowly")
        if self._rest is None and not self._closing:
            self._rest = self._loop.call_later(seconds, self._rested)
            self._pause(True)

    def _rested(self) -> None:
        self._rest = None
        self._read_on_soon()

    def _is_first(self, session: MqttSession, mid: bytes) -> bool:
        """Whether a QoS 2 message has not been taken before: its packet id is its own until PUBREL (4.3.3)."""
        if mid in session.unreleased:
            return False
        if len(session.unreleased) >= self._broker.limits.in_flight:
            text = f"published {len(session.unreleased)} messages at QoS 2 without releasing one"
            raise ProtocolFault(text, Reason.RECEIVE_MAXIMUM_EXCEEDED)
        session.unreleased.add(mid)
        return True

    def _subscribe(self, session: MqttSession, body: bytes) -> int:
        wanted = [(topic_filter, self._dialect.read_options(each)) for topic_filter, each in p.topic_filters(body, 1)]
        known = set(session.subscriptions)
        granted = [self._broker.subscribe(session, topic_filter, options) for topic_filter, (options, _) in wanted]
        self.send(self._dialect.suback(body[:2], granted))
        for (topic_filter, (_, when)), qos in zip(wanted, granted, strict=True):
            if qos < Reason.UNSPECIFIED and (when == 0 or (when == 1 and topic_filter not in known)):
                session.lookups[topic_filter] = session.subscriptions[topic_filter]
        return FILTERS_PRICE + len(wanted)

    def _unsubscribe(self, session: MqttSession, body: bytes) -> int:
        unwanted = [topic_filter for topic_filter, _ in p.topic_filters(body, 0)]
        reasons = [self._broker.routes.unsubscribe(session, topic_filter) for topic_filter in unwanted]
        self.send(self._dialect.unsuback(body[:2], reasons))
        return FILTERS_PRICE + len(unwanted)
