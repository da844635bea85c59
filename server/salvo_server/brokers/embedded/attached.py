"""The server's link to the broker of its own process: the same sessions and the same routing, without a socket.

The broker has a thread and the server has one. What arrives goes through a queue, bounded by the session's window: as
for any client, it stays in flight until it is acknowledged. What the server publishes goes to the broker once a round,
and the next round's waits until the broker has taken that. So neither side can fill the memory for the other.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from queue import Empty, SimpleQueue
from typing import Final

from salvo.errors import ConnectionLost
from salvo.net.inbound import Inbound
from salvo.net.mqtt import MAX_PACKETS_A_POLL
from salvo_game.journal_interface import Journal
from salvo_server.brokers.embedded.broker import HardenedBroker
from salvo_server.brokers.embedded.packets import Message, ProtocolFault, with_length
from salvo_server.brokers.embedded.sessions import MqttSession

#: What the broker carries out for the server before its clients have their turn.
MAX_ORDERS_A_TURN: Final = 256
#: How often a server that waits for its broker makes sure that there is one.
_LOOK_SECONDS: Final = 1.0
#: How often the broker looks whether its server goes on, and how often in a row it has not when it counts as offline.
#: Looks and no clock: they stand still with the machine. The server comes by once a second at least.
WATCH_SECONDS: Final = 1.0
MOST_SILENT_LOOKS: Final = 15
_AT_LEAST_ONCE: Final = 1

Order = Callable[[], object]


class AttachedLink:
    """The server's side: a :class:`~salvo_server.service.ServerLink` of one thread; :meth:`wake` is for any.

    Attributes:
        on_connect: called inside :meth:`poll` whenever the server is attached again.
        connected: whether it is attached; False from the moment that the broker ends its session.
        published: how many messages were published so far.
        delivered: how many of them, counted from the first, the broker has routed.
    """

    def __init__(
        self,
        broker: HardenedBroker,
        loop: asyncio.AbstractEventLoop,
        client_id: str,
        username: str | None = None,
        journal: Journal | None = None,
    ) -> None:
        """Prepare a link; nothing arrives before the first :meth:`poll` or :meth:`subscribe_first`.

        Args:
            loop: the broker's.
            journal: says whether this server has its place still.
        """
        self.on_connect: Callable[[bool], None] | None = None
        self.connected = False
        self.published = self.delivered = 0
        self._journal = journal or Journal()
        self._loop = loop
        self._inbox: SimpleQueue[Inbound | None] = SimpleQueue()  # None makes poll() return
        self._orders: deque[Order] = deque()
        self._taken = threading.Event()
        self._taken.set()
        self._connections = 0
        self._polls = 0
        self._is_watched = self._is_given_up = False
        self._seat = _Seat(broker, client_id, username, self._arrived, self._lost)

    def watch(self, topic: str, payload: bytes) -> None:
        """Let the broker publish a last will when this server stands still, as another broker does; from any thread.

        When the server goes on, it is as if it had connected again.
        """
        self._is_watched = True
        will = partial(self._seat.publish, Message(with_length(topic), payload), True)
        self._loop.call_soon_threadsafe(self._look, will, 0, 0)

    @property
    def unconfirmed(self) -> int:
        """How many published messages the broker has not routed yet; from any thread."""
        return self.published - self.delivered

    # --- the server's thread ------------------------------------------------------------------------------------

    def subscribe_first(self, patience_seconds: float) -> None:
        """Attach; return when the broker has the subscriptions. What arrives waits for :meth:`poll`.

        Raises:
            ConnectionLost: ``unreachable``.
        """
        self._attach()
        if not self.flush(patience_seconds):
            raise ConnectionLost("unreachable", f"the embedded broker does not answer within {patience_seconds:g} s")

    def poll(self, timeout_seconds: float) -> Sequence[Inbound]:
        """Return what has arrived, waiting at most this long for the first message.

        Returns early, perhaps with nothing, after :meth:`wake` and once the broker has routed what was published.

        Raises:
            ConnectionLost: ``unreachable``: the broker has ended.
            JournalError: ``taken_over``.
        """
        self._journal.confirm(fresh=False)
        self._polls += 1
        if not self.connected:
            self._attach()
        elif self._is_given_up:
            self._is_given_up = False
            if self.on_connect is not None:
                self.on_connect(False)
        self._hand_over()
        arrived: list[Inbound] = []
        try:
            found = self._inbox.get(timeout_seconds > 0, timeout_seconds)
            while found is None or len(arrived) < MAX_PACKETS_A_POLL - 1:
                if found is not None:
                    arrived.append(found)
                found = self._inbox.get_nowait()
            arrived.append(found)
        except Empty:
            pass
        return arrived

    def publish(self, topic: str, payload: bytes, *, retain: bool = False) -> None:
        """Publish a message at the next :meth:`poll` or :meth:`flush`."""
        self.published += 1
        self._orders.append(partial(self._seat.publish, Message(with_length(topic), payload), retain))

    def subscribe(self, filters: Iterable[str]) -> None:
        """Subscribe to topics, QoS 1."""
        self._orders += [partial(self._seat.subscribe, topic_filter) for topic_filter in filters]

    def unsubscribe(self, filters: Iterable[str]) -> None:
        """Unsubscribe from topics."""
        self._orders += [partial(self._seat.unsubscribe, topic_filter) for topic_filter in filters]

    def acknowledge(self, message: Inbound) -> None:
        """Report that a message is done and need not come again; one from before a new attachment comes again."""
        if message.connection == self._connections:
            self._orders.append(partial(self._seat.acknowledge, message.mid))

    def wake(self) -> None:
        """Make a waiting :meth:`poll` return; may be called from any thread or signal handler."""
        self._inbox.put(None)

    def flush(self, timeout_seconds: float) -> bool:
        """Hand over what waits; return whether the broker has routed it within this time."""
        self._hand_over()
        return self._taken.wait(timeout_seconds)

    def close(self) -> None:
        """Hand over what waits and end the session, without a last will; may be called twice."""
        self._is_watched = False
        if self._loop.is_running():
            self._orders.append(self._seat.leave)
            self.flush(2.0)

    def _attach(self) -> None:
        self._connections += 1
        self._orders.append(self._seat.take)
        self.connected = True
        if self.on_connect is not None:
            self.on_connect(False)

    def _hand_over(self) -> None:
        """Give this round's orders to the broker, once it has taken those of the one before."""
        while not self._taken.wait(_LOOK_SECONDS):
            self._make_sure()
        if self._orders:
            self._make_sure()
            self._taken.clear()
            orders, self._orders = self._orders, deque()
            self._loop.call_soon_threadsafe(self._carry_out, orders, self.published)

    def _make_sure(self) -> None:
        if not self._loop.is_running():
            raise ConnectionLost("unreachable", "the embedded broker has ended; start the server again")

    # --- the broker's thread ------------------------------------------------------------------------------------

    def _carry_out(self, orders: deque[Order], published: int) -> None:
        """Carry out a round's orders, a turn at a time."""
        try:
            for _ in range(min(len(orders), MAX_ORDERS_A_TURN)):
                orders.popleft()()
        finally:
            self._seat.broker.flush()
            if orders:
                self._loop.call_soon(self._carry_out, orders, published)
            else:
                self._taken_all(published)

    def _taken_all(self, published: int) -> None:
        was_delivered, self.delivered = self.delivered, published
        self._taken.set()
        if published > was_delivered:
            self.wake()

    def _look(self, will: Order, polls: int, silent_looks: int) -> None:
        """Look again and again whether the server's thread goes on."""
        if not self._is_watched:
            return
        silent_looks = silent_looks + 1 if self._polls == polls > 0 else 0
        if silent_looks == MOST_SILENT_LOOKS:
            self._seat.broker.seldom.warn("silence", "the server does not respond; it counts as offline until it does")
            self._is_given_up = True
            will()
            self._seat.broker.flush()
        self._loop.call_later(WATCH_SECONDS, self._look, will, self._polls, silent_looks)

    def _arrived(self, message: Inbound) -> None:
        self._inbox.put(message)

    def _lost(self) -> None:
        self.connected = False
        self.wake()


class _Seat:
    """The broker's side: what the server's session has in place of a connection."""

    least_qos = _AT_LEAST_ONCE  # all that is handed over is counted, until the server acknowledges it
    writable = True
    is_held = False

    def __init__(
        self,
        broker: HardenedBroker,
        client_id: str,
        username: str | None,
        arrived: Callable[[Inbound], None],
        lost: Callable[[], None],
    ) -> None:
        self.broker = broker
        self._user = client_id, username
        self._arrived = arrived
        self._lost = lost
        self._connections = 0
        self._session: MqttSession | None = None

    # --- what the server orders ---------------------------------------------------------------------------------

    def take(self) -> None:
        """Take the server's session; what was in flight comes again."""
        self._connections += 1
        self._session = self.broker.attach(self, *self._user)

    def leave(self) -> None:
        """End it for good."""
        if self._session is not None:
            self._session.left()
            self.broker.clients.forget(self._session)

    def publish(self, message: Message, retain: bool) -> None:
        """Route a message."""
        assert self._session is not None
        try:
            self.broker.publish(self._session, message, _AT_LEAST_ONCE, retain)
        except ProtocolFault as fault:
            self.broker.seldom.warn("malformed", f"the server {fault}; dropped")

    def subscribe(self, topic_filter: str) -> None:
        """Subscribe, and hand over what is retained there."""
        session = self._session
        if session is not None and session.peer is self:
            self.broker.subscribe(session, topic_filter, _AT_LEAST_ONCE)
            session.lookups[topic_filter] = _AT_LEAST_ONCE
            self.broker.look_up(session)

    def unsubscribe(self, topic_filter: str) -> None:
        """Take a subscription back."""
        if self._session is not None:
            self.broker.routes.unsubscribe(self._session, topic_filter)

    def acknowledge(self, mid: int) -> None:
        """Let go of a message."""
        if self._session is not None:
            self._session.acknowledged(mid)

    # --- what the broker does with a session's connection ---------------------------------------------------------

    def send_message(self, message: Message, retain: bool, mid: int, *, again: bool = False) -> None:
        """Hand a message over."""
        topic, sender, access = message.topic[2:].decode(), message.sender, self.broker.access
        whose = access.team_of(sender, topic), access.publisher_of(sender)
        self._arrived(Inbound(topic, message.payload, retain, mid, _AT_LEAST_ONCE, self._connections, *whose))

    def drop(self, kind: str, text: str) -> None:
        """End the session's hold on the server, which takes it again at once."""
        self.broker.seldom.warn(kind, f"the server {text}")
        if self._session is not None:
            self._session.left()
        self._lost()

    def hold(self, session: MqttSession) -> None:
        """Nothing: the server is never held."""

    def release(self, session: MqttSession) -> None:
        """Nothing: the server is never held."""

    def call_later(self, seconds: float, call: Callable[[], None]) -> None:
        asyncio.get_running_loop().call_later(seconds, call)
