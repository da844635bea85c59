"""The broker itself: amqtt's listeners, with the packets, sessions, rights and routing of this package.

amqtt starts and stops it. All work between two connections is synchronous, because each fault of stock amqtt 0.12.1
came from tasks that overtake each other or from checks that one of several paths forgot:

- every publication, retained or not, live or a will, goes through :meth:`HardenedBroker.publish` and its one check;
- a client is authenticated before it can touch another one's session;
- QoS 1 stays in flight until it is acknowledged, over any number of connections, in order;
- MQTT 5 is translated, keep-alive is enforced, ``$share`` refused instead of silently never served;
- whatever clients do, what they make the broker hold is at most :attr:`BrokerLimits.most_bytes`.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections.abc import Collection
from typing import Any

from amqtt.broker import Broker
from amqtt.contexts import ListenerType

from salvo_server.brokers.embedded.addresses import BACKLOG
from salvo_server.brokers.embedded.limits import READ_BYTES, WEBSOCKET_READ_BYTES, Access, BrokerLimits
from salvo_server.brokers.embedded.pace import Pace, retained_price
from salvo_server.brokers.embedded.packets import AS_PUBLISHED, NO_LOCAL, Message, Reason
from salvo_server.brokers.embedded.peers import Edge, Peer
from salvo_server.brokers.embedded.plain_http import is_of_another_site
from salvo_server.brokers.embedded.retained import Retained, RetainedMessage, has_wildcards
from salvo_server.brokers.embedded.routing import Routes
from salvo_server.brokers.embedded.sessions import MqttSession, Receiver, Sessions
from salvo_server.brokers.embedded.tcp_and_websocket import Listener, TcpEdge, TransportEdge, WebSocketEdge
from salvo_server.brokers.embedded.tls import TlsListener
from salvo_server.brokers.embedded.wills import Wills

log = logging.getLogger(__name__)

#: The listener of programs beside the server, on the loopback interface only and never through TLS.
OWN_LISTENER = "own"


#: Connections of a listener that one turn of the loop takes; the others wait in the system. A TLS handshake costs a
#: millisecond, and asyncio takes as many as may wait: a flood of them would delay each message by a tenth of a second.
MAX_ACCEPTED = 4


class HardenedBroker(Broker):
    """amqtt's broker with the sessions and the routing of this package.

    Attributes:
        peers: the connections.
        newcomers: those of them that have not sent a CONNECT yet, the oldest first.
        unflushed: those that have something to write.
        tcp_edges: those over TCP, and those whose peer has been let go of while something is on its way to it.
        web_edges: the same over WebSocket.
    """

    def __init__(
        self,
        config: dict[str, Any],
        sockets: dict[str, socket.socket],
        limits: BrokerLimits,
        access: Access,
        tls: ssl.SSLContext | None = None,
        hosts: Collection[str] = (),
        *,
        server_first: bool = False,
    ) -> None:
        """Prepare a broker.

        Args:
            sockets: one that listens, for each listener of the configuration.
            tls: for all of them.
            hosts: names of this machine, and of other machines whose pages may connect.
            server_first: whether connections wait in the system until :meth:`open`.
        """
        super().__init__(config)
        self.limits = limits
        self.access = access
        self._hosts = hosts
        self.retained = Retained(limits)
        self.routes = Routes(limits, access)
        self.clients = Sessions(limits, self.retained, self._forget)
        self.wills = Wills()
        self.seldom = self.clients.seldom
        self.peers: set[Peer] = set()
        self.newcomers: dict[Peer, None] = {}
        self.unflushed: list[Peer] = []
        self.tcp_edges: dict[TransportEdge, None] = {}
        self.web_edges: dict[TransportEdge, None] = {}
        read = memoryview(bytearray(READ_BYTES))
        self._over_tcp = Listener(self.tcp_edges, limits.connections, self.welcome, read)
        web_read = read[:WEBSOCKET_READ_BYTES]
        self._over_websocket = Listener(self.web_edges, limits.websockets, self._welcome_websocket, web_read)
        self._sockets = sockets
        self._server_first = server_first
        self._closed: list[tuple[Any, socket.socket]] = []
        self._tls = (
            None if tls is None else TlsListener(tls, limits.connections, limits.connect_seconds, self.seldom.warn)
        )
        self._paces: dict[tuple[str, int], Pace] = {}

    def review_sessions(self) -> None:
        """Disconnect those who were admitted and would not be now."""
        self.clients.review(self.access.grant)
        self.flush()
        in_use = {peer.pace for peer in self.peers}
        self._paces = {payer: pace for payer, pace in self._paces.items() if pace in in_use}

    def pace_of(self, username: str | None) -> Pace | None:
        """Return the pace that a user shares with all users of the same payer; None on a broker without paces.

        It outlives the connections: reconnecting does not refill it.
        """
        rate = self.access.messages_a_second
        if rate is None:
            return None
        payer = self.access.payer(username)
        if payer not in self._paces:
            self._paces[payer] = Pace(rate, payer[1], asyncio.get_running_loop().time())
        return self._paces[payer]

    # --- connections --------------------------------------------------------------------------------------------

    async def _create_server_instance(
        self, listener_name: str, listener_type: ListenerType, address: str | None, port: int, ssl_context: Any
    ) -> Any:
        """Serve on a socket that listens already, without amqtt's streams; it has no public way to bring one."""
        sock = self._sockets[listener_name]
        if listener_name == OWN_LISTENER:
            greet = self._greet_own
        else:
            greet = self._greet_tcp if listener_type is ListenerType.TCP else self._greet_websocket
        loop = asyncio.get_running_loop()
        server = await loop.create_server(greet, sock=sock, backlog=MAX_ACCEPTED, start_serving=False)
        if self._server_first:
            self._closed.append((server, sock))
        else:
            await self._accept(server, sock)
        return server

    async def _accept(self, server: Any, sock: socket.socket) -> None:
        await server.start_serving()
        sock.listen(BACKLOG)  # asyncio has set it to what it takes at once

    async def open(self) -> None:
        """Accept connections, those that have waited first."""
        closed, self._closed = self._closed, []
        for server, sock in closed:
            await self._accept(server, sock)

    def _greet_own(self) -> asyncio.BaseProtocol:
        return TcpEdge(self._over_tcp)

    def _greet_tcp(self) -> asyncio.BaseProtocol:
        return self._secured(TcpEdge(self._over_tcp), READ_BYTES)

    def _greet_websocket(self) -> asyncio.BaseProtocol:
        edge = WebSocketEdge(self._over_websocket, self._is_foreign, self.limits.frame_bytes)
        return self._secured(edge, WEBSOCKET_READ_BYTES)

    def _secured(self, edge: TransportEdge, read_bytes: int) -> asyncio.BaseProtocol:
        return edge if self._tls is None else self._tls.around(edge, read_bytes)

    def _is_foreign(self, head: bytes) -> bool:
        """Whether a page of another site wants to connect, which nobody on this machine has asked for."""
        foreign = is_of_another_site(head, self._hosts)
        if foreign:
            self.seldom.warn("origin", "a web page of another site wanted to connect; `hosts` names those that may")
        return foreign

    def welcome(self, edge: Edge, name: str) -> Peer | None:
        """Return the peer for a new connection; None when there are too many.

        A connection without a CONNECT makes room: otherwise a client without an account could keep all others out.
        """
        if len(self.peers) >= self.limits.connections:
            self.make_room()
        if len(self.peers) >= self.limits.connections:
            self.seldom.warn("connections", f"{name} is turned away: {len(self.peers)} clients are connected")
            return None
        peer = Peer(self, edge, name)
        self.peers.add(peer)
        self.newcomers[peer] = None
        return peer

    def _welcome_websocket(self, edge: Edge, name: str) -> Peer | None:
        if len(self.web_edges) >= self.limits.websockets:
            self._make_room_for_websocket()
        if len(self.web_edges) >= self.limits.websockets:
            self.seldom.warn("connections", f"{name} is turned away: {len(self.web_edges)} WebSockets are open")
            return None
        return self.welcome(edge, name)

    def _make_room_for_websocket(self) -> None:
        for eldest in self.web_edges:
            if eldest.peer is None or not eldest.peer.has_greeted:
                if eldest.peer is not None:
                    eldest.peer.turn_away("greeting", "sent no CONNECT, and others are waiting")
                eldest.abort()
                break

    def make_room(self) -> None:
        """End the oldest connection without a CONNECT."""
        for eldest in self.newcomers:
            eldest.drop("greeting", "sent no CONNECT, and others are waiting")
            break

    def flush(self) -> None:
        """Write out what was queued on every connection since the last time."""
        while self.unflushed:
            unflushed, self.unflushed = self.unflushed, []
            for peer in unflushed:
                peer.flush()

    async def shutdown(self) -> None:
        """Disconnect everybody, then stop listening."""
        for listener in self._sockets.values():
            asyncio.get_running_loop().remove_reader(listener)
        # What asyncio has accepted gets a transport in the next round, which fails, never to be closed, if its server
        # is closed by then (CPython 3.11), and its protocol in the one after that.
        for _ in range(2):
            await asyncio.sleep(0)
        for server in self._servers.values():
            if server.instance is not None:
                server.instance.close()
        for peer in list(self.peers):
            peer.cut_off()
        while self._abort_all():
            await asyncio.sleep(0)
        await super().shutdown()

    def _abort_all(self) -> bool:
        """Abort the connections, those without a peer too; return whether there was one."""
        connections = [*self.tcp_edges, *self.web_edges, *(() if self._tls is None else self._tls.connections)]
        for connection in connections:
            connection.abort()
        return bool(connections)

    # --- messages -----------------------------------------------------------------------------------------------

    def attach(self, server: Receiver, client_id: str, username: str | None) -> MqttSession:
        """Return the session of this process's own server, which needs neither packets nor a password."""
        session, _ = self.clients.take(client_id, clean=False)
        session.is_server = True
        session.window = self.limits.in_flight
        session.belong(server, username, self.access.grant(username))
        session.resume()
        return session

    def _forget(self, session: MqttSession) -> None:
        """Take back all subscriptions of a session that ends, and publish its will."""
        self.wills.end(session)
        for topic_filter in list(session.subscriptions):
            self.routes.unsubscribe(session, topic_filter)

    def subscribe(self, session: MqttSession, topic_filter: str, options: int) -> int:
        """Add a subscription; return the granted QoS, at most 1, or the reason of a refusal."""
        if not self.access.allows(session.client_id, session.username, "subscribe", topic_filter):
            return Reason.NOT_AUTHORISED
        return self.routes.subscribe(session, topic_filter, options)

    def look_up(self, session: MqttSession) -> int:
        """Send what is retained below the next of a session's new subscriptions; return the price of that."""
        topic_filter = next(iter(session.lookups))
        options = session.lookups.pop(topic_filter)
        may = self.access.allows
        found = self.retained.matching(topic_filter)
        topics = [topic for topic in found if may(session.client_id, session.username, "receive", topic)]
        session.deliver_retained(topics, options)
        return retained_price(has_wildcards(topic_filter), len(self.retained.messages), len(topics))

    def publish(self, sender: MqttSession, message: Message, qos: int, retain: bool) -> Reason:
        """Retain and route one message of a client, be it live or a will; the only way in.

        Raises:
            ProtocolFault: no client may publish to such a topic.
        """
        topic = self.routes.topic(message.topic)
        if topic.startswith("$") or not self.access.allows(sender.client_id, sender.username, "publish", topic):
            self.seldom.warn("forbidden", f"{sender.client_id} may not publish to {topic[:120]!r}")
            return Reason.NOT_AUTHORISED
        if retain and not self.access.may_leave_messages(sender.client_id, sender.username, topic):
            text = f"{sender.client_id} published to {topic[:120]!r} as a retained message, which only the server may"
            self.seldom.warn("retained_of_others", f"{text}; dropped")
            return Reason.NOT_AUTHORISED
        if retain and not self.retained.store(topic, RetainedMessage(message, qos, sender.client_id), sender.is_server):
            self.seldom.warn("retained", f"no room to retain {topic[:120]} of {sender.client_id}")
        # Not before its rights are known: to look up a topic of many levels costs as much as a hundred messages.
        for session, options in self.routes.receivers(message.topic):
            if session is not sender or not options & NO_LOCAL:
                session.deliver(sender, message, min(qos, options & 3), retain and bool(options & AS_PUBLISHED))
        return Reason.SUCCESS
