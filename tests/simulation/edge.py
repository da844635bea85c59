"""Connections: what :class:`salvo.net.mqtt.Connection` does on paho and a socket, on simulated links.

A link loses nothing and keeps the order while it stands, as TCP does; when it is cut, all that was on its way is lost,
and each side notices in its own time. A client sends again what was not acknowledged, as paho does: after the
connection was accepted and its owner has subscribed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from salvo.net.inbound import Inbound
from salvo_server.service import ServerLink
from simulation.broker import BrokerProcess
from simulation.world import World

#: Pauses between attempts grow like this up to the longest one, drawn evenly from zero on.
FIRST_PAUSE_SECONDS = 0.2
MAX_PAUSE_SECONDS = 5.0


class Link:
    """One TCP connection."""

    __slots__ = ("_broker", "_client", "_down", "_ending", "_random", "_up", "_world", "alive")

    def __init__(self, world: World, broker: BrokerProcess, client: SimConnection) -> None:
        self.alive = True
        self._ending = False
        self._world = world
        self._broker = broker
        self._client = client
        self._random = client.random
        self._up: list[tuple[Any, ...]] = []
        self._down: list[tuple[Any, ...]] = []
        broker.opened(self)

    def _latency(self) -> float:
        """Seconds; mostly a local network's, at times a hiccup."""
        drawn = self._random()
        seconds = 0.0003 + 0.003 * drawn if drawn < 0.97 else 0.2 * (drawn - 0.96) / 0.04
        return seconds * (100.0 if self._world.now < self._client.slow_until else 1.0)

    def send_up(self, packet: tuple[Any, ...]) -> None:
        """Send to the broker; what is sent until it arrives travels along."""
        if self.alive:
            if not self._up:
                self._world.after(self._latency(), self._arrive_up)
            self._up.append(packet)

    def send_down(self, packet: tuple[Any, ...]) -> None:
        """Send to the client."""
        if self.alive and not self._ending:
            if not self._down:
                self._world.after(self._latency(), self._arrive_down)
            self._down.append(packet)

    def _arrive_up(self) -> None:
        packets, self._up = self._up, []
        self._broker._guarded(self._hand_up, packets)

    def _hand_up(self, packets: list[tuple[Any, ...]]) -> None:
        point = self._client.up_point
        for packet in packets:
            self._world.hit(point)
            if not self.alive:
                return
            self._broker.handle(self, packet)
        if self._ending:
            self.cut(None, 0.0)

    def flush_down(self) -> None:
        """The broker is gone, and its operating system has sent what it had written before."""
        self._arrive_down()

    def _arrive_down(self) -> None:
        packets, self._down = self._down, []
        point = self._client.down_point
        for packet in packets:
            self._world.hit(point)
            if not self.alive:
                return
            self._client.arrived(packet)

    def cut(self, client_notices: float | None, broker_notices: float | None) -> None:
        """Lose what is on its way; each side notices after so many seconds, None for never by itself."""
        if not self.alive:
            return
        self.alive = False
        self._up, self._down = [], []
        if client_notices is not None:
            self._world.after(client_notices, self._client.noticed, self)
        if broker_notices is not None:
            self._world.after(broker_notices, self._broker.lost, self)

    def finish(self) -> None:
        """The client is gone, and its operating system sends what it had written before."""
        self._down = []
        self._ending = True
        if not self._up:
            self.cut(None, 0.001)

    @property
    def quiet(self) -> bool:
        """Whether nothing is on its way."""
        return not self._up and not self._down


class SimLink(ServerLink, Protocol):
    """What the simulation needs of a connection of any process.

    Attributes:
        slow_until: until when it takes long.
        asked: how often it asked for the log.
        checked: if set, called before every publication with its topic, and before every acknowledgement with None.
    """

    slow_until: float
    asked: int
    checked: Callable[[str | None], None] | None

    @property
    def quiet(self) -> bool: ...
    def cut(self, client_notices: float, broker_notices: float) -> None: ...
    def drop(self) -> None: ...
    def close(self) -> None: ...


class SimConnection:
    """A connection of one process: a :class:`SimLink`."""

    def __init__(
        self,
        world: World,
        broker: BrokerProcess,
        name: str,
        wake: Callable[[float], None],
        *,
        clean: bool,
        will: tuple[str, bytes] | None = None,
    ) -> None:
        self.on_connect: Callable[[bool], None] | None = None
        self.connected = False
        self.published = 0
        self.asked = 0
        self.slow_until = 0.0
        self.checked: Callable[[str | None], None] | None = None
        self.random = world.random("link", name, world.now).random
        self.up_point, self.down_point = f"link.{name}.up", f"link.{name}.down"
        self._points = {
            what: (f"{name}.{what}.before", f"{name}.{what}.after") for what in ("receive", "publish", "acknowledge")
        }
        self._world = world
        self._broker = broker
        self._name = name
        self._wake = wake
        self._greeting = ("connect", name, clean, will)
        self._link: Link | None = None
        self._incoming: list[tuple[Any, ...]] = []
        self._unconfirmed: dict[int, tuple[int, Link | None, tuple[Any, ...]]] = {}
        self._connections = 0
        self._attempt = 0
        self._next_attempt = 0.0

    # --- the link's side ------------------------------------------------------------------------------------------

    def arrived(self, packet: tuple[Any, ...]) -> None:
        """Take a packet; the owner is woken."""
        self._incoming.append(packet)
        self._wake(0.001 * self.random())

    def noticed(self, link: Link) -> None:
        """The operating system tells that the link is gone."""
        if link is self._link:
            self._incoming.append(("lost", link))
            self._wake(0.0)

    # --- the owner's side -----------------------------------------------------------------------------------------

    def poll(self, timeout_seconds: float) -> Sequence[Inbound]:
        """Return what arrived; time passes between two steps and never within one."""
        before, after = self._points["receive"]
        self._world.hit(before)
        if self._link is None:
            self._reach()
        incoming, self._incoming = self._incoming, []
        inbox = []
        for packet in incoming:
            kind = packet[0]
            if kind == "publish":
                _, mid, topic, payload, retain = packet
                inbox.append(Inbound(topic, payload, retain, mid, 1, self._connections))
            elif kind == "puback":
                self._unconfirmed.pop(packet[1], None)
            elif kind == "connack":
                self._accepted(packet[1])
            elif packet[1] is self._link:
                self._link = None
                self.connected = False
                self._reach()
        self._world.hit(after)
        return inbox

    def _reach(self) -> None:
        if self._world.now < self._next_attempt:
            return self._wake(self._next_attempt - self._world.now)
        self._attempt += 1
        pause = self.random() * min(MAX_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2**self._attempt)
        self._next_attempt = self._world.now + pause
        if not self._broker.alive:
            return self._wake(pause)
        self._link = Link(self._world, self._broker, self)
        self._link.send_up(self._greeting)

    def _accepted(self, present: bool) -> None:
        self.connected = True
        self._connections += 1
        self._attempt = 0
        if self.on_connect is not None:
            self.on_connect(present)
        for mid, (number, link, packet) in self._unconfirmed.items():
            if link is not self._link:
                self._unconfirmed[mid] = (number, self._link, packet)
                self._up(packet)

    def _up(self, packet: tuple[Any, ...]) -> None:
        if self._link is not None:
            self._link.send_up(packet)

    def publish(self, topic: str, payload: bytes, *, retain: bool = False) -> None:
        """Send a message, or keep it for the next connection."""
        before, after = self._points["publish"]
        if self.checked is not None:
            self.checked(topic)
        self._world.hit(before)
        self.published += 1
        self.asked += topic.endswith("/resend")
        packet = ("publish", self.published, topic, payload, retain)
        self._unconfirmed[self.published] = (self.published, self._link, packet)
        self._up(packet)
        self._world.hit(after)

    @property
    def delivered(self) -> int:
        """How many of the messages published so far, counted from the first, the broker has all acknowledged."""
        return next(iter(self._unconfirmed), self.published + 1) - 1

    def subscribe(self, filters: Iterable[str]) -> None:
        """Ask for topics."""
        self._up(("subscribe", list(filters)))

    def unsubscribe(self, filters: Iterable[str]) -> None:
        """Ask for topics no longer."""
        self._up(("unsubscribe", list(filters)))

    def acknowledge(self, message: Inbound) -> None:
        """Tell the broker that a message is dealt with."""
        before, after = self._points["acknowledge"]
        if self.checked is not None:
            self.checked(None)
        self._world.hit(before)
        if message.connection == self._connections:
            self._up(("puback", message.mid))
        self._world.hit(after)

    def wake(self) -> None:
        """Make the owner run."""
        self._wake(0.0)

    def flush(self, timeout_seconds: float) -> bool:
        """Nothing can be waited for within a step."""
        return not self._unconfirmed

    # --- its end --------------------------------------------------------------------------------------------------

    def cut(self, client_notices: float, broker_notices: float) -> None:
        """Break the link, if there is one."""
        if self._link is not None:
            self._link.cut(client_notices, broker_notices)

    def drop(self) -> None:
        """The process is gone: what it had written leaves yet, or, when the whole computer failed, does not."""
        if self._link is not None and self.random() < 0.7:
            self._link.finish()
        elif self._link is not None:
            self._link.cut(None, 0.001)

    def close(self, timeout_seconds: float = 0.0) -> None:
        """Say goodbye, so that no last will follows."""
        self._up(("disconnect",))

    @property
    def quiet(self) -> bool:
        """Whether it stands, nothing is on its way and nothing waits to be sent."""
        still = not self._unconfirmed and not self._incoming
        return still and self.connected and self._link is not None and self._link.alive and self._link.quiet
