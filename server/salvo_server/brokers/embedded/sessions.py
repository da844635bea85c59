"""What the broker stores for clients: subscriptions, and messages on their way; without a socket or a clock.

A session's messages wait in lanes, one for each client that published them, and the lanes are served in turn: the order
of what one client published stays (MQTT 3.1.1, 4.6), and a client that publishes much waits only behind itself.
Retained messages are looked up when it is their turn, so that only their topics wait.

A publisher whose share of a backlog is used up is held: nothing more is read from its connection until its lane is half
worked off. So a flood goes at the pace of its victim. The server is never held, since the players could not be told
why; and a reader that does not work off its backlog is disconnected, so that it cannot hold others for long.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from typing import Protocol

from salvo.system.log_throttle import Throttle
from salvo_server.brokers.embedded.limits import MESSAGE_BYTES, BrokerLimits
from salvo_server.brokers.embedded.packets import NO_LOCAL, Message
from salvo_server.brokers.embedded.retained import Retained

log = logging.getLogger(__name__)

#: A client that is itself held may leave its backlog for this many times as long as another.
_LOOKS_WHILE_HELD = 4


class Receiver(Protocol):
    """The connection of a session.

    Attributes:
        least_qos: 1 if it acknowledges all that it is sent, whatever its publisher asked for.
    """

    least_qos: int

    @property
    def writable(self) -> bool: ...
    @property
    def is_held(self) -> bool: ...

    def send_message(self, message: Message, retain: bool, mid: int, *, again: bool = False) -> None: ...
    def drop(self, kind: str, text: str) -> None: ...
    def hold(self, session: MqttSession) -> None: ...
    def release(self, session: MqttSession) -> None: ...
    def call_later(self, seconds: float, call: Callable[[], None]) -> None: ...


class Lane:
    """Messages of one publisher that wait, with their QoS and whether they come with the retain flag."""

    __slots__ = ("bytes", "messages")

    def __init__(self) -> None:
        self.bytes = 0
        self.messages: deque[tuple[Message, int, bool]] = deque()


class MqttSession:
    """What the broker keeps of a client, connected or not.

    Attributes:
        is_server: whether this is the contest's server.
        window: messages at QoS 1 that may be on their way to it at once.
        grant: what it was admitted on.
        ended: whether it is no longer the broker's.
        subscriptions: options by topic filter, the granted QoS among them.
        in_flight: messages sent and not acknowledged, and whether as retained ones, by packet id, oldest first.
        lanes: what waits for room in flight or for the client to come back, by the publisher's client id, the next
            one's first.
        held: the connections that are held for this session, by the client id of their lane.
        lookups: new subscriptions whose retained messages have not been looked up yet, with their options.
        retained_wanted: topics of which the retained message is yet to be sent, with the options of the subscription.
        unreleased: packet ids of QoS 2 messages that were taken and whose PUBREL has not come.
        bytes: what all that costs.
    """

    def __init__(self, client_id: str, clean: bool, sessions: Sessions) -> None:
        self.client_id = client_id
        self.clean = clean
        self.username: str | None = None
        self.is_server = False
        self.window = sessions.limits.in_flight
        self.grant: object = None
        self.ended = False
        self.subscriptions: dict[str, int] = {}
        self.in_flight: dict[int, tuple[Message, bool]] = {}
        self.lanes: dict[str, Lane] = {}
        self.held: dict[str, Receiver] = {}
        self.lookups: dict[str, int] = {}
        self.retained_wanted: dict[str, int] = {}
        self.unreleased: set[bytes] = set()
        self.bytes = 0
        self.peer: Receiver | None = None
        self._sessions = sessions
        self._limits = sessions.limits
        self._in_flight_bytes = 0
        self._again: deque[int] = deque()
        self._last_mid = 0
        self._worked_off_bytes = 0
        self._watched = False

    def belong(self, peer: Receiver, username: str | None, grant: object) -> None:
        """Go to a connection that has been admitted."""
        self.peer, self.username, self.grant = peer, username, grant

    # --- to the client ------------------------------------------------------------------------------------------

    def deliver(self, sender: MqttSession, message: Message, qos: int, retain: bool) -> None:
        """Send now or as soon as possible; QoS 0 and clean sessions lose what comes while they are away."""
        limits = self._limits
        if self.peer is None:
            if self.ended or self.clean or not qos:
                return
        elif not self._anything_waits() and self._has_room(self.peer):
            self._send(self.peer, message, qos, retain)
            return
        lane = self.lanes.get(sender.client_id)
        if lane is None:
            lane = self.lanes[sender.client_id] = Lane()
        lane.messages.append((message, qos, retain))
        lane.bytes += message.cost
        self._grow(message.cost)
        if self.peer is not None and sender.peer is not None and lane.bytes * len(self.lanes) > limits.backlog_bytes:
            self._hold(sender, self.peer)

    def deliver_retained(self, topics: list[str], options: int) -> None:
        """Send what is retained below topics, before anything else that waits."""
        for topic in topics:
            if self.ended:
                return
            known = topic in self.retained_wanted
            self.retained_wanted[topic] = options
            if not known:
                self._grow(MESSAGE_BYTES)
        self.pump()

    def pump(self) -> None:
        """Send what waits, as far as there is room: what a new connection must receive again comes first."""
        peer = self.peer
        while (
            peer is not None and self._again and len(self.in_flight) - len(self._again) < self.window and peer.writable
        ):
            again = self._again.popleft()
            sent = self.in_flight.get(again)
            if sent is not None:
                peer.send_message(*sent, again, again=True)
        while peer is not None and self.retained_wanted and self._has_room(peer):
            self._send_retained(peer)
        while peer is not None and self.lanes and self._has_room(peer):
            sender = next(iter(self.lanes))
            lane = self.lanes.pop(sender)
            message, qos, retain = lane.messages.popleft()
            cost = message.cost
            lane.bytes -= cost
            self._grow(-cost)
            if lane.messages:
                self.lanes[sender] = lane
            self._worked_off_bytes += cost
            if sender in self.held and lane.bytes * len(self.lanes) * 2 <= self._limits.backlog_bytes:
                self.held.pop(sender).release(self)
            self._send(peer, message, qos, retain)

    def _send_retained(self, peer: Receiver) -> None:
        topic = next(iter(self.retained_wanted))
        options = self.retained_wanted.pop(topic)
        self._grow(-MESSAGE_BYTES)
        retained = self._sessions.retained.messages.get(topic)
        if retained is not None and not (options & NO_LOCAL and retained.client_id == self.client_id):
            self._send(peer, retained.message, min(retained.qos, options & 3), True)

    def _has_room(self, peer: Receiver) -> bool:
        limits = self._limits
        in_window = len(self.in_flight) < self.window and self._in_flight_bytes < limits.in_flight_bytes
        return in_window and not self._again and peer.writable

    def _send(self, peer: Receiver, message: Message, qos: int, retain: bool) -> None:
        dated = message.dated()
        if dated is None:
            return
        mid = 0
        if qos or peer.least_qos:
            mid = self._last_mid = self._free_mid()
            self.in_flight[mid] = dated, retain
            self._in_flight_bytes += dated.size
            self._grow(dated.cost)
        peer.send_message(dated, retain, mid)

    def _free_mid(self) -> int:
        mid = self._last_mid % 65_535 + 1
        while mid in self.in_flight:
            mid = mid % 65_535 + 1
        return mid

    # --- back-pressure ------------------------------------------------------------------------------------------

    def _hold(self, sender: MqttSession, peer: Receiver) -> None:
        if sender.is_server or sender is self or sender.peer is None:
            return
        self.held[sender.client_id] = sender.peer
        sender.peer.hold(self)
        if not self._watched and not self.is_server:
            self._watched = True
            self._watch(peer)

    def _watch(self, peer: Receiver, looks: int = 1) -> None:
        """See after a while whether a backlog has been worked off; keep-alive looks after the server.

        A client that is held itself could not acknowledge anything, which may be another's fault and soon over; but two
        that are held for each other would wait forever.
        """
        before = self._worked_off_bytes

        def look() -> None:
            if self.peer is not peer:
                return
            self._watched = bool(self.held)
            if not self._watched:
                return
            done = self._worked_off_bytes - before
            if done >= self._limits.backlog_bytes // 2:
                self._watch(peer)
            elif peer.is_held and looks < _LOOKS_WHILE_HELD:
                self._watch(peer, looks + 1)
            else:
                text = f"has read {done} bytes in {self._limits.stuck_seconds:g} s while {len(self.held)} waited for it"
                peer.drop("stuck", text)

        peer.call_later(self._limits.stuck_seconds, look)

    def left(self) -> None:
        """The connection has ended: no publisher is held for it any longer."""
        self.peer = None
        self._watched = False
        held, self.held = self.held, {}
        for publisher in held.values():
            publisher.release(self)

    # --- from the client ----------------------------------------------------------------------------------------

    def acknowledged(self, mid: int) -> bool:
        """The client has taken a message; return whether there was one."""
        sent = self.in_flight.pop(mid, None)
        if sent is None:
            return False
        message, _ = sent
        self._in_flight_bytes -= message.size
        self._grow(-message.cost)
        if self._anything_waits():
            self.pump()
        return True

    def resume(self) -> None:
        """Send again what was in flight when the connection ended, marked as a duplicate, then what waits."""
        self._again = deque(self.in_flight)
        self.pump()

    def _anything_waits(self) -> bool:
        return bool(self.lanes or self.retained_wanted or self._again)

    # --- the cost -----------------------------------------------------------------------------------------------

    def _grow(self, cost: int) -> None:
        self.bytes += cost
        self._sessions.bytes += cost
        if cost > 0 and (
            self.bytes > self._limits.queued_bytes or self._sessions.bytes > self._limits.all_queued_bytes
        ):
            self._sessions.relieve(self)

    def clear(self) -> None:
        """Let go of everything that waits."""
        self.ended = True
        self._grow(-self.bytes)
        self._in_flight_bytes = 0
        self.lanes.clear()
        self.in_flight.clear()
        self.lookups.clear()
        self.retained_wanted.clear()
        self._again.clear()


class Sessions:
    """The sessions of all clients, bounded one by one and all together.

    Attributes:
        bytes: what all of them have waiting and in flight.
        seldom: what clients can bring about at will.
    """

    def __init__(self, limits: BrokerLimits, retained: Retained, forgotten: Callable[[MqttSession], None]) -> None:
        """Begin without any.

        Args:
            forgotten: told of a session that ends.
        """
        self.limits = limits
        self.retained = retained
        self.bytes = 0
        self.seldom = Throttle(log)
        self._forgotten = forgotten
        self._known: dict[str, MqttSession] = {}
        self._absent: dict[MqttSession, None] = {}

    @property
    def owed(self) -> int:
        """Bytes that those who are connected have not acknowledged yet."""
        return sum(session.bytes for session in self._known.values() if session.peer is not None)

    def take(self, client_id: str, clean: bool) -> tuple[MqttSession, bool]:
        """Return the session for an admitted client, and whether it was there before."""
        known = self._known.get(client_id)
        if known is not None and known.peer is not None:
            known.peer.drop("takeover", "was taken over by a new connection of the same user")
        if known is not None and (clean or known.clean):
            self.forget(known)
            known = None
        session = known or MqttSession(client_id, clean, self)
        self._known[client_id] = session
        self._absent.pop(session, None)
        return session, known is not None

    def leave(self, session: MqttSession) -> None:
        """The client's connection has ended: a clean session goes, a persistent one stays if there is room."""
        if session.peer is not None or session.ended:
            return
        if session.clean:
            self.forget(session)
            return
        self._absent[session] = None
        if len(self._absent) > self.limits.absent_sessions:
            eldest = next((absent for absent in self._absent if not absent.is_server), session)
            self._end(eldest, "absent", f"is one of {len(self._absent)} absent clients, and away for the longest time")

    def forget(self, session: MqttSession) -> None:
        """Drop a session with its subscriptions."""
        session.clear()
        self._absent.pop(session, None)
        self._forgotten(session)
        if self._known.get(session.client_id) is session:
            del self._known[session.client_id]

    def review(self, admitted_on: Callable[[str | None], object]) -> None:
        """End the sessions whose users are no longer admitted with what they connected with."""
        for session in list(self._known.values()):
            if admitted_on(session.username) != session.grant:
                self._end(session, "expelled", "is not on the roster any longer, or has another secret")

    def relieve(self, grown: MqttSession) -> None:
        """Too much waits: end the session that has outgrown its bound, or the largest of all.

        Its client learns it from ``session_present = 0`` when it comes back. Losing single messages would leave it
        in the belief that it has got everything.
        """
        if grown.bytes > self.limits.queued_bytes:
            self._end(grown, "overflow", f"has {grown.bytes} bytes of messages waiting")
            return
        others = [session for session in self._known.values() if not session.is_server]
        largest = max(others, key=lambda session: session.bytes, default=grown)
        text = f"has {largest.bytes} of {self.bytes} bytes that wait for all clients, the most of them"
        self._end(largest, "all_overflow", text)

    def _end(self, session: MqttSession, kind: str, text: str) -> None:
        if session.peer is not None:
            session.peer.drop(kind, text)
        else:
            self.seldom.warn(kind, f"{session.client_id} {text}; its session ends")
        self.forget(session)
