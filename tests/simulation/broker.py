"""A broker for MQTT 3.1.1 at QoS 1, in the words of the standard and with the freedoms that it gives.

Sessions are clean or persistent; each has packet ids of its own, a window of messages under way, and a queue. What was
not acknowledged comes again on the next connection, in order. Retained messages come with every subscription, in any
order. A lost connection publishes the last will. A crash keeps everything (a clean end), what the last autosave had, or
nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable
from functools import lru_cache, partial
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

from simulation.world import Process, World

if TYPE_CHECKING:
    from simulation.edge import Link

#: How many packets lie between two autosaves.
PACKETS_AN_AUTOSAVE = 150
#: What a team says to the server alone, by the last level of its topic.
_COMMANDS = {"request_participation": "request", "place": "command", "fire": "command", "skip": "command"}


class Message(NamedTuple):
    """What a session is to get."""

    topic: str
    payload: bytes
    retain: bool


@lru_cache(maxsize=65536)
def matches(topic_filter: str, topic: str) -> bool:
    """Whether a filter covers a topic."""
    wanted, levels = topic_filter.split("/"), topic.split("/")
    for number, level in enumerate(wanted):
        if level == "#":
            return True
        if number == len(levels) or level not in ("+", levels[number]):
            return False
    return len(wanted) == len(levels)


class _Session:
    __slots__ = ("clean", "client_id", "filters", "link", "next_mid", "queue", "under_way")

    def __init__(self, client_id: str, clean: bool) -> None:
        self.client_id = client_id
        self.clean = clean
        self.link: Link | None = None
        self.filters: dict[str, None] = {}
        self.next_mid = 0
        self.under_way: dict[int, Message] = {}
        self.queue: deque[Message] = deque()

    def copy(self) -> _Session:
        other = _Session(self.client_id, self.clean)
        other.filters = dict(self.filters)
        other.next_mid = self.next_mid
        other.under_way = dict(self.under_way)
        other.queue = deque(self.queue)
        return other


class BrokerProcess(Process, ABC):
    """A broker as the links know it.

    Attributes:
        received: called with client id, topic, payload and the retain flag of every message that it takes in.
        lossy: whether a crash has lost something that it had acknowledged.
        losing: how many of the next messages that pass a point it loses, by point.
        random: for what is up to it.
    """

    def __init__(self, world: World) -> None:
        super().__init__(world, "broker")
        self.received: Callable[[str, str, bytes, bool], None] = lambda client, topic, payload, retain: None
        self.lossy = False
        self.losing: Counter[str] = Counter()
        self.random = world.random("broker")
        self._links: dict[Link, Any] = {}
        self._ungreeted: dict[Link, None] = {}

    @property
    @abstractmethod
    def retained(self) -> dict[str, bytes]:
        """Payload by topic."""

    @property
    @abstractmethod
    def quiet(self) -> bool:
        """Whether nothing is on its way to anybody."""

    @abstractmethod
    def crash(self, keep: str) -> None:
        """End at once; some brokers keep something."""

    @abstractmethod
    def handle(self, link: Link, packet: tuple[Any, ...]) -> None:
        """Carry out a packet of a client."""

    @abstractmethod
    def lost(self, link: Link) -> None:
        """Notice that a connection is gone."""

    def opened(self, link: Link) -> None:
        """A client has made a connection, and not said yet who it is."""
        self._ungreeted[link] = None

    def _cut_links(self) -> None:
        """The process is gone: what its system had sent arrives, or does not."""
        for link in list(self._links):
            if self.random.random() < 0.5:
                link.flush_down()
            link.cut(self.random.choice((0.0, 0.0, 0.2)), None)
        for link in self._ungreeted:
            link.cut(0.0, None)
        self._links.clear()
        self._ungreeted.clear()

    def loses(self, client_id: str, topic: str) -> bool:
        """Whether a command is lost, as a broker drops what no longer fits into its queue to the server."""
        kind = _COMMANDS.get(topic.rpartition("/")[2])
        if kind is None or client_id == "server":
            return False
        point = f"{client_id}.{kind}.taken"
        self.world.hit(point)
        lost = self.losing[point] > 0
        self.losing[point] -= lost
        return lost


class SimBroker(BrokerProcess):
    """The broker."""

    def __init__(self, world: World, *, window: int, overlaps: bool, shuffles: bool, will_at_takeover: bool) -> None:
        """Prepare; a start is needed.

        Args:
            window: messages under way to one client at once.
            overlaps: whether a message comes once for each of a client's filters that cover it.
            shuffles: whether retained messages come in any order over all filters of a subscription.
        """
        super().__init__(world)
        self._retained: dict[str, bytes] = {}
        self._sessions: dict[str, _Session] = {}
        self._window = window
        self._overlaps = overlaps
        self._shuffles = shuffles
        self._will_at_takeover = will_at_takeover
        self._routes: dict[str, list[tuple[_Session, int]]] = {}
        self._autosave: tuple[dict[str, bytes], dict[str, _Session]] = ({}, {})
        self._packets = 0

    @property
    def retained(self) -> dict[str, bytes]:
        return self._retained

    # --- life -----------------------------------------------------------------------------------------------------

    def crash(self, keep: str) -> None:
        """End at once: ``all`` is kept, what the ``old`` autosave had, or ``none``."""
        self._cut_links()
        self._routes.clear()
        if keep == "all":
            self._save()
        elif keep == "none":
            self._autosave = ({}, {})
        if keep != "all":
            self.lossy = True
        retained, sessions = self._autosave
        self._retained = dict(retained)
        self._sessions = {name: session.copy() for name, session in sessions.items()}
        self.kill()

    def _save(self) -> None:
        stay = {name: session.copy() for name, session in self._sessions.items() if not session.clean}
        self._autosave = (dict(self._retained), stay)

    @property
    def quiet(self) -> bool:
        """Whether nothing is on its way to anybody."""
        return not any(session.under_way or session.queue for session in self._sessions.values())

    # --- packets --------------------------------------------------------------------------------------------------

    def handle(self, link: Link, packet: tuple[Any, ...]) -> None:
        """Deal with a packet of a client."""
        self._packets += 1
        if self._packets % PACKETS_AN_AUTOSAVE == 0:
            self._save()
        kind = packet[0]
        if kind == "publish":
            self._publish(link, *packet[1:])
        elif kind == "puback":
            self._acknowledged(link, packet[1])
        elif kind == "connect":
            self._connect(link, *packet[1:])
        elif kind == "subscribe":
            self._subscribe(link, packet[1])
        elif kind == "unsubscribe":
            session = self._links[link][0]
            for topic_filter in packet[1]:
                session.filters.pop(topic_filter, None)
            self._routes.clear()
        elif kind == "disconnect":
            self._leave(link, with_will=False)

    def _connect(self, link: Link, client_id: str, clean: bool, will: tuple[str, bytes] | None) -> None:
        self._ungreeted.pop(link, None)
        session = self._sessions.get(client_id)
        if session is not None and session.link is not None:
            old = session.link
            old.cut(0.0, None)
            self._leave(old, with_will=self._will_at_takeover)
            session = self._sessions.get(client_id)
        present = session is not None and not clean
        if session is None or clean:
            session = self._sessions[client_id] = _Session(client_id, clean)
            self._routes.clear()
        session.link = link
        self._links[link] = (session, will)
        link.send_down(("connack", present))
        for mid, message in session.under_way.items():
            link.send_down(("publish", mid, *message))
        self._pump(session)

    def _subscribe(self, link: Link, filters: list[str]) -> None:
        session = self._links[link][0]
        if not session.filters.keys() >= set(filters):  # the server repeats its own every few seconds
            session.filters.update(dict.fromkeys(filters))
            self._routes.clear()
        stay = []
        for topic_filter in filters:
            found = list(filter(partial(matches, topic_filter), self._retained))
            self.random.shuffle(found)
            stay += found
        if self._shuffles:
            self.random.shuffle(stay)
        for topic in stay:
            self._give(session, Message(topic, self._retained[topic], True))

    def _publish(self, link: Link, mid: int, topic: str, payload: bytes, retain: bool) -> None:
        world = self.world
        world.hit("broker.publish.before")
        client_id = self._links[link][0].client_id
        self.received(client_id, topic, payload, retain)
        if not self.loses(client_id, topic):
            self.route(topic, payload, retain)
        world.hit("broker.publish.routed")
        link.send_down(("puback", mid))
        world.hit("broker.publish.after")

    def route(self, topic: str, payload: bytes, retain: bool) -> None:
        """Keep and pass on a message."""
        if retain:
            if payload:
                self._retained[topic] = payload
            else:
                self._retained.pop(topic, None)
        routes = self._routes.get(topic)
        if routes is None:
            routes = self._routes[topic] = self._find_routes(topic)
        message = Message(topic, payload, False)
        for session, times in routes:
            for _ in range(times):
                self._give(session, message)

    def _find_routes(self, topic: str) -> list[tuple[_Session, int]]:
        found = []
        for session in self._sessions.values():
            times = sum(map(matches, session.filters, repeat(topic)))
            if times:
                found.append((session, times if self._overlaps else 1))
        return found

    def _give(self, session: _Session, message: Message) -> None:
        if session.link is None or session.queue or len(session.under_way) >= self._window:
            session.queue.append(message)
        else:
            self._send(session, session.link, message)

    def _send(self, session: _Session, link: Link, message: Message) -> None:
        session.next_mid = mid = session.next_mid % 65_535 + 1
        session.under_way[mid] = message
        link.send_down(("publish", mid, *message))

    def _acknowledged(self, link: Link, mid: int) -> None:
        self.world.hit("broker.puback")
        session = self._links[link][0]
        session.under_way.pop(mid, None)
        self._pump(session)

    def _pump(self, session: _Session) -> None:
        while session.link is not None and session.queue and len(session.under_way) < self._window:
            self._send(session, session.link, session.queue.popleft())

    # --- the end of connections -----------------------------------------------------------------------------------

    def lost(self, link: Link) -> None:
        """Notice that a connection is gone."""
        self._ungreeted.pop(link, None)
        if link in self._links:
            self._leave(link, with_will=True)

    def _leave(self, link: Link, *, with_will: bool) -> None:
        session, will = self._links.pop(link)
        session.link = None
        if session.clean:
            self._sessions.pop(session.client_id, None)
            self._routes.clear()
        if with_will and will is not None:
            topic, payload = will
            self.route(topic, payload, True)
