"""Sessions and routing for amqtt's broker, written anew where stock amqtt 0.12.1 falls short.

amqtt starts and stops, and decodes the rarer packets. What is between two connections is here and in
:mod:`~salvo_server.broker.peers`, :mod:`~salvo_server.broker.sessions` and :mod:`~salvo_server.broker.packets`,
synchronous, because each of amqtt's faults came from tasks that overtake each other or from checks that one of several
paths forgot:

- every publication, retained or not, live or a will, goes through :meth:`HardenedBroker.publish` and its one check;
- a client is authenticated before it can touch another one's session;
- QoS 1 stays in flight until it is acknowledged, over any number of connections, in order;
- a client that stops reading is bounded in messages and bytes, then disconnected;
- keep-alive is enforced, an MQTT 5 greeting refused at once, ``$share`` refused instead of silently never served.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from typing import Any, NamedTuple

import websockets
from amqtt.broker import Broker
from amqtt.contexts import ListenerType
from paho.mqtt.matcher import MQTTMatcher

from salvo_server.broker.limits import Access, BrokerLimits
from salvo_server.broker.packets import REFUSED_SUBSCRIPTION, ProtocolFault, with_length
from salvo_server.broker.peers import READ_BYTES, Edge, Peer, TcpEdge, WebSocketEdge
from salvo_server.broker.sessions import Retained, Session

log = logging.getLogger(__name__)

#: Topics whose receivers are remembered between two changes of subscriptions; a dozen tables use so many.
_REMEMBERED_ROUTES = 256


class Route(NamedTuple):
    """Where a topic goes."""

    topic: str
    receivers: list[tuple[Session, int]]


class HardenedBroker(Broker):
    """amqtt's broker with the sessions and the routing of this package.

    Attributes:
        peers: the connections.
        unflushed: those that have something to write.
        read_buffer: where every TCP connection reads into.
    """

    def __init__(
        self, config: dict[str, Any], sockets: dict[str, socket.socket], limits: BrokerLimits, access: Access
    ) -> None:
        """Prepare a broker.

        Args:
            sockets: one that listens, for each listener of the configuration.
        """
        super().__init__(config)
        self.limits = limits
        self.access = access
        self.retained = Retained()
        self.peers: set[Peer] = set()
        self.unflushed: list[Peer] = []
        self.read_buffer = memoryview(bytearray(READ_BYTES))
        self._sockets = sockets
        self._known: dict[str, Session] = {}
        self._matcher = MQTTMatcher()
        self._by_filter: dict[str, dict[Session, int]] = {}
        self._routes: dict[bytes, Route] = {}

    # --- connections --------------------------------------------------------------------------------------------

    async def _create_server_instance(
        self, listener_name: str, listener_type: ListenerType, address: str | None, port: int, ssl_context: Any
    ) -> Any:
        """Serve on a socket that listens already, without amqtt's streams."""
        sock = self._sockets[listener_name]
        if listener_type is ListenerType.TCP:
            return await asyncio.get_running_loop().create_server(lambda: TcpEdge(self), sock=sock)
        return await websockets.serve(
            lambda websocket: WebSocketEdge(websocket).serve(self),
            sock=sock,
            subprotocols=[websockets.Subprotocol("mqtt")],
        )

    def welcome(self, edge: Edge, name: str) -> Peer | None:
        """Return the peer for a new connection; None when there are too many."""
        if len(self.peers) >= self.limits.connections:
            log.warning("%s is turned away: %d clients are connected", name, len(self.peers))
            return None
        peer = Peer(self, edge, name)
        self.peers.add(peer)
        return peer

    def flush(self) -> None:
        """Write out what was queued on every connection since the last time."""
        unflushed, self.unflushed = self.unflushed, []
        for peer in unflushed:
            peer.flush()

    async def shutdown(self) -> None:
        """Disconnect everybody, then stop listening."""
        for server in self._servers.values():
            if server.instance is not None:
                server.instance.close()
        for peer in list(self.peers):
            peer.cut_off()
        await super().shutdown()

    # --- sessions -----------------------------------------------------------------------------------------------

    def take_session(self, client_id: str, clean: bool) -> tuple[Session, bool]:
        """Return the session for an admitted client, and whether it was there before."""
        known = self._known.get(client_id)
        if known is not None and known.peer is not None:
            known.peer.drop("was taken over by a new connection of the same client id")
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
            self._by_filter[topic_filter] = self._matcher[topic_filter] = {}
        self._by_filter[topic_filter][session] = granted
        self._routes.clear()
        return granted

    def unsubscribe(self, session: Session, topic_filter: str) -> None:
        """Take a subscription back."""
        if session.subscriptions.pop(topic_filter, None) is None:
            return
        subscribers = self._by_filter[topic_filter]
        del subscribers[session]
        if not subscribers:
            del self._by_filter[topic_filter]
            del self._matcher[topic_filter]
        self._routes.clear()

    def send_retained(self, session: Session, topic_filter: str, qos: int) -> None:
        """Send what is retained below a new subscription."""
        for topic, payload, kept_qos in self.retained.matching(topic_filter):
            if self.access.allows(session.client_id, session.username, "receive", topic):
                session.deliver(with_length(topic), payload, min(qos, kept_qos), True)

    def publish(self, sender: Session, name: bytes, payload: bytes, qos: int, retain: bool) -> None:
        """Retain and route one message of a client, be it live or a will; the only way in.

        Args:
            name: the topic with its length in front, as on the wire.

        Raises:
            ProtocolFault: nobody may publish to such a topic.
        """
        route = self._routes.get(name) or self._find_route(name)
        topic, allows = route.topic, self.access.allows
        if topic.startswith("$") or not allows(sender.client_id, sender.username, "publish", topic):
            log.info("%s may not publish to %s", sender.client_id, topic[:120])
            return
        if retain:
            self.retained.keep(topic, payload, qos)
        for session, granted in route.receivers:
            if allows(session.client_id, session.username, "receive", topic):
                session.deliver(name, payload, min(qos, granted), False)

    def _find_route(self, name: bytes) -> Route:
        topic = name[2:].decode()
        if not topic or "+" in topic or "#" in topic or "\0" in topic:
            raise ProtocolFault(f"published to {topic[:80]!r}")
        receivers: dict[Session, int] = {}
        for subscribers in self._matcher.iter_match(topic):
            for session, granted in subscribers.items():
                receivers[session] = max(granted, receivers.get(session, 0))
        if len(self._routes) >= _REMEMBERED_ROUTES:
            self._routes.clear()
        route = self._routes[name] = Route(topic, list(receivers.items()))
        return route
