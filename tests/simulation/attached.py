"""A contest on the embedded broker: server and broker are one process, which is killed as one.

Sessions, routes, retained messages, rights and the server's link are the real ones. Simulated are the clients' sockets,
whose packets come as tuples, and the thread of the broker: it carries out what the server hands over a moment later,
but always before the server's next round, which waits for that.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from salvo.net.inbound import Inbound
from salvo.wire.roles_and_rights import Role
from salvo_server.brokers.embedded.attached import AttachedLink
from salvo_server.brokers.embedded.broker import HardenedBroker
from salvo_server.brokers.embedded.limits import Access, BrokerLimits, LimitAction
from salvo_server.brokers.embedded.open_access import OpenAccess
from salvo_server.brokers.embedded.packets import Message, Reason, with_length
from salvo_server.brokers.embedded.roster_access import RosterAccess
from salvo_server.brokers.embedded.sessions import MqttSession, Receiver
from salvo_server.storage.register import Account
from simulation.actors import Server
from simulation.broker import BrokerProcess
from simulation.edge import Link
from simulation.world import World

_AT_LEAST_ONCE = 1
_SERVER = Account("server", "server", Role.SERVER, "")
#: An address that nobody binds: the simulated clients need none.
_CONFIG: dict[str, Any] = {"listeners": {"default": {"type": "tcp", "bind": "127.0.0.1:0"}}, "plugins": {}}


class _ForObserver(Access):
    """Lets the observer receive everything, so that it can compare."""

    def allows(self, client_id: str, username: str | None, action: LimitAction, topic: str) -> bool:
        return client_id == "observer" or super().allows(client_id, username, action, topic)


class _Open(_ForObserver, OpenAccess):
    """An open contest's rights."""


class _OfRoster(_ForObserver, RosterAccess):
    """A roster's rights."""


class _Core(HardenedBroker):
    """The broker without listeners, with the points before and after a publication is routed."""

    sim: EmbeddedSimBroker

    def attach(self, server: Receiver, client_id: str, username: str | None) -> MqttSession:
        self.sim.server = super().attach(server, client_id, username)
        return self.sim.server

    def publish(self, sender: MqttSession, message: Message, qos: int, retain: bool) -> Reason:
        sim, topic = self.sim, message.topic[2:].decode()
        sim.world.hit("broker.publish.before")
        sim.received(sender.client_id, topic, message.payload, retain)
        lost = sim.loses(sender.client_id, topic)
        reason = Reason.SUCCESS if lost else super().publish(sender, message, qos, retain)
        sim.world.hit("broker.publish.routed")
        return reason


async def _core(access: Access) -> _Core:
    return _Core(_CONFIG, {}, BrokerLimits(), access)


class _Client:
    """What a client's session has for its connection."""

    least_qos = 0
    writable = True

    def __init__(self, broker: EmbeddedSimBroker, link: Link, session: MqttSession) -> None:
        self._broker = broker
        self._link = link
        self.session = session
        self._held_for: set[MqttSession] = set()
        self._unread: deque[tuple[Any, ...]] = deque()

    def send_message(self, message: Message, retain: bool, mid: int, *, again: bool = False) -> None:
        self._link.send_down(("publish", mid, message.topic[2:].decode(), message.payload, retain))

    def drop(self, kind: str, text: str) -> None:
        self._link.cut(0.0, 0.0)
        self.session.left()

    @property
    def is_held(self) -> bool:
        """Whether the client's packets, its acknowledgements among them, wait to be read."""
        return bool(self._held_for)

    def hold(self, session: MqttSession) -> None:
        self._held_for.add(session)

    def release(self, session: MqttSession) -> None:
        self._held_for.discard(session)
        if self._unread:
            self._broker.world.after(0.0, lambda: self._broker.read_on(self))

    def read(self, packet: tuple[Any, ...]) -> None:
        """Carry out a packet, or leave it unread as long as the client is held."""
        self._unread.append(packet)
        self.read_on()

    def read_on(self) -> None:
        """Carry out what is unread, while the client is not held."""
        while self._unread and not self.is_held and self._broker.knows(self._link, self):
            kind, *given = self._unread.popleft()
            self._broker.carry_out(self._link, self.session, kind, given)

    def call_later(self, seconds: float, call: Callable[[], None]) -> None:
        self._broker.world.after(seconds, call)


class EmbeddedSimBroker(BrokerProcess):
    """The real broker between simulated links.

    Attributes:
        core: what the process has of it; another one after each crash.
        thread: of the broker.
        server: its session, once it is attached.
        wake_server: called with seconds when something may have come for the server.
    """

    def __init__(self, world: World, accounts: Sequence[Account]) -> None:
        """Prepare; without accounts anybody may play."""
        super().__init__(world)
        self._accounts = accounts
        self.wake_server: Callable[[float], None] = lambda seconds: None
        self._empty()

    def _empty(self) -> None:
        access = _OfRoster([_SERVER, *self._accounts]) if self._accounts else _Open(_SERVER, [""])
        self.core = asyncio.run(_core(access))
        self.core.sim = self
        self.thread = BrokerThread(self)
        self.server: MqttSession | None = None

    @property
    def retained(self) -> dict[str, bytes]:
        """Payload by topic."""
        return {topic: each.message.payload for topic, each in self.core.retained.messages.items()}

    @property
    def quiet(self) -> bool:
        """Whether nothing is on its way to anybody."""
        return not any(_waits(client.session) for client in self._links.values())

    def crash(self, keep: str) -> None:
        """End at once, and lose everything."""
        self._cut_links()
        self.lossy = True
        self._empty()
        self.kill()

    def end(self) -> None:
        """End in good order: what is on its way to the clients arrives."""
        for link in self._links:
            link.flush_down()
        self.crash("none")

    def run(self, thread: BrokerThread) -> None:
        """Give a thread its turn, if its process lives."""
        if self.thread is thread:
            self._guarded(thread.run)

    def notify_server(self) -> None:
        """Wake the server if something is on its way to it."""
        if self.server is not None and self.server.in_flight:
            self.wake_server(0.001 * self.random.random())

    # --- packets --------------------------------------------------------------------------------------------------

    def handle(self, link: Link, packet: tuple[Any, ...]) -> None:
        """Carry out a packet of a client."""
        kind, *given = packet
        if kind == "connect":
            self._greet(link, *given)
        else:
            self._links[link].read(packet)
        self.notify_server()

    def read_on(self, client: _Client) -> None:
        """Read on what a client has sent while it was held, if this process lives."""
        self._guarded(client.read_on)
        self.notify_server()

    def knows(self, link: Link, client: _Client) -> bool:
        """Whether this is a client's connection still."""
        return self._links.get(link) is client

    def _greet(self, link: Link, client_id: str, clean: bool, will: tuple[str, bytes] | None) -> None:
        assert will is None, "only a server on a broker of its own has one"
        self._ungreeted.pop(link, None)
        session, present = self.core.clients.take(client_id, clean)
        client = self._links[link] = _Client(self, link, session)
        user = client_id if self._accounts else None
        session.belong(client, user, self.core.access.grant(user))
        link.send_down(("connack", present))
        session.resume()

    def carry_out(self, link: Link, session: MqttSession, kind: str, given: Sequence[Any]) -> None:
        if kind == "publish":
            mid, topic, payload, retain = given
            message = Message(with_length(topic), payload, sender=session.client_id)
            self.core.publish(session, message, _AT_LEAST_ONCE, retain)
            link.send_down(("puback", mid))
            self.world.hit("broker.publish.after")
        elif kind == "puback":
            self.world.hit("broker.puback")
            session.acknowledged(given[0])
        elif kind == "subscribe":
            for topic_filter in given[0]:
                self.core.subscribe(session, topic_filter, _AT_LEAST_ONCE)
                session.lookups[topic_filter] = _AT_LEAST_ONCE
            while session.lookups:
                self.core.look_up(session)
        elif kind == "unsubscribe":
            for topic_filter in given[0]:
                self.core.routes.unsubscribe(session, topic_filter)
        elif kind == "disconnect":
            self.lost(link)

    def lost(self, link: Link) -> None:
        """Notice that a connection is gone."""
        self._ungreeted.pop(link, None)
        client = self._links.pop(link, None)
        if client is not None:
            if client.session.peer is client:
                client.session.left()
            self.core.clients.leave(client.session)


def _waits(session: MqttSession) -> bool:
    return bool(session.in_flight or session.lanes or session.retained_wanted)


class BrokerThread:
    """The broker's thread, in place of its event loop: carries out what the server has handed over.

    Attributes:
        at_once: whether the server waits for it, so that it has its turn now.
        slow_until: until when it takes long to come to it.
    """

    def __init__(self, broker: EmbeddedSimBroker) -> None:
        self.at_once = False
        self.slow_until = 0.0
        self._broker = broker
        self._calls: deque[tuple[Callable[..., object], tuple[Any, ...]]] = deque()

    @property
    def idle(self) -> bool:
        """Whether nothing waits for it."""
        return not self._calls

    def is_running(self) -> bool:
        """Whether the process lives; also while it starts, before clients come in."""
        return self._broker.thread is self

    def call_soon_threadsafe(self, call: Callable[..., object], *given: Any) -> None:
        """Call this soon."""
        self._calls.append((call, given))
        if self.at_once:
            self.run()
        else:
            world = self._broker.world
            slow = 100.0 if world.now < self.slow_until else 1.0
            world.after(0.0005 * slow * self._broker.random.random(), self._broker.run, self)

    call_soon = call_soon_threadsafe

    def run(self) -> None:
        """Carry out what waits."""
        while self._calls and self.is_running():
            call, given = self._calls.popleft()
            call(*given)
        self._broker.notify_server()


class SimAttachedLink(AttachedLink):
    """The server's link, with the points of each of its steps.

    Attributes:
        checked: if set, called before every publication with its topic, and before every acknowledgement with None.
    """

    def __init__(self, world: World, broker: EmbeddedSimBroker, wake: Callable[[float], None]) -> None:
        self.thread = broker.thread
        super().__init__(broker.core, self.thread, "server", _SERVER.user)  # type: ignore[arg-type]
        self.checked: Callable[[str | None], None] | None = None
        self.asked = 0
        self._world = world
        self._broker = broker
        self._wake = wake
        self._unsent = False

    @property
    def slow_until(self) -> float:
        """Until when the broker takes long."""
        return self.thread.slow_until

    @slow_until.setter
    def slow_until(self, when: float) -> None:
        self.thread.slow_until = when

    def poll(self, timeout_seconds: float) -> Sequence[Inbound]:
        """Return what arrived; time passes between two steps and never within one."""
        self._world.hit("server.receive.before")
        self.thread.run()  # the server would wait for it
        self._unsent = False
        arrived = super().poll(0.0)
        for _ in arrived:
            self._world.hit("link.server.down")
        self._world.hit("server.receive.after")
        return arrived

    def publish(self, topic: str, payload: bytes, *, retain: bool = False) -> None:
        """Publish a message with the next round."""
        if self.checked is not None:
            self.checked(topic)
        self._world.hit("server.publish.before")
        super().publish(topic, payload, retain=retain)
        self._world.hit("link.server.up")
        self._world.hit("server.publish.after")
        self._go_on()

    def acknowledge(self, message: Inbound) -> None:
        """Acknowledge a message with the next round."""
        if self.checked is not None:
            self.checked(None)
        self._world.hit("server.acknowledge.before")
        super().acknowledge(message)
        self._world.hit("server.acknowledge.after")
        self._go_on()

    def subscribe(self, filters: Iterable[str]) -> None:
        """Subscribe with the next round."""
        super().subscribe(filters)
        self._go_on()

    def unsubscribe(self, filters: Iterable[str]) -> None:
        """Unsubscribe with the next round."""
        super().unsubscribe(filters)
        self._go_on()

    def _go_on(self) -> None:
        self._unsent = True
        self._wake(0.0)

    def wake(self) -> None:
        """Make the owner run."""
        super().wake()
        self._wake(0.0)

    def flush(self, timeout_seconds: float) -> bool:
        """Hand over what waits, and let the broker have its turn."""
        self.thread.at_once = True
        self.thread.run()
        flushed = super().flush(timeout_seconds)
        self.thread.at_once = False
        return flushed

    def cut(self, client_notices: float, broker_notices: float) -> None:
        """Let the broker end the server's session, which the server takes again."""
        server = self._broker.server
        if server is not None and server.peer is not None:
            server.peer.drop("stuck", "loses its session")

    def drop(self) -> None:
        """Nothing: the broker goes with the process."""

    @property
    def quiet(self) -> bool:
        """Whether nothing is on its way and nothing waits to be sent."""
        server = self._broker.server
        return self.connected and not self._unsent and self.thread.idle and server is not None and not _waits(server)


class EmbeddedServer(Server):
    """The real service with the broker in its process."""

    broker: EmbeddedSimBroker
    edge: SimAttachedLink

    def connect(self, *, clean: bool, will: tuple[str, bytes] | None = None) -> SimAttachedLink:
        return SimAttachedLink(self.world, self.broker, self.waker())

    def begin(self) -> None:
        super().begin()
        self.broker.wake_server = self.waker()
        self.edge.subscribe_first(1.0)
        self.broker.start()  # only now clients come in

    def end(self) -> None:
        """End in good order, with the broker."""
        self.edge.close()
        self.broker.end()
        super().end()

    def kill(self) -> None:
        """End with the broker."""
        self.broker.crash("none")
        super().kill()
