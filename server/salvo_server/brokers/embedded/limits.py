"""The limits of the embedded broker, and the rights on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from salvo_server.storage.roster import SERVER_USER

LimitAction = Literal["publish", "subscribe", "receive"]

#: The contest server's client id.
SERVER_CLIENT_ID = SERVER_USER
#: How the client id begins of who brings no name to see whether it is turned away.
PROBE = "salvo-doctor-"
#: What a queued or retained message costs besides its bytes, measured and rounded up: two bytes objects, a tuple and
#: its place in a queue are 300; at worst it has its own queue, then 1,100.
MESSAGE_BYTES = 1200
#: What a subscription costs besides its filter: at worst a node of the matcher for each level.
SUBSCRIPTION_BYTES = 8192
#: What a connection costs besides its input and output: asyncio's objects and ours.
CONNECTION_BYTES = 16_384
#: What TLS costs a connection besides: OpenSSL's objects, a record that is half read and one that is half written.
TLS_BYTES = 131_072
#: What a WebSocket costs besides: the header of its request, and what its library keeps.
WEBSOCKET_BYTES = 65_536
#: Read at a time, so that a flood on one connection leaves the others their turn: some 150 messages.
READ_BYTES = 16_384
#: The same of a WebSocket, whose library reads and answers all frames in it at once: 85 at worst.
WEBSOCKET_READ_BYTES = 512
#: Written and not yet taken by the client's system; above it nothing more is sent until it has taken most of it.
WRITE_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class BrokerLimits:
    """What clients may cost, one by one and all together; :attr:`most_bytes` adds it up.

    Attributes:
        packet_bytes: largest packet that is read at all; a command has at most 4,096 bytes without its topic.
        server_packet_bytes: the same of the contest's server: an entry of the log may have 262,144, a recap has at most
            65,536 (SALVO-LOG-1, SALVO-JOIN-12).
        client_id_bytes: longest client id; the SDK's has some 80 at most.
        topic_bytes: longest topic or filter; the protocol's longest topic has some 150.
        topic_levels: most levels of a topic or filter; the protocol's deepest topic has 7.
        connections: clients at once; a contest of 64 teams with explorers stays below.
        websockets: how many of them on a WebSocket, or about to be; browsers and explorers, while bots use TCP.
        frame_bytes: largest WebSocket message; a client may put several packets into one.
        absent_sessions: persistent sessions without a connection; only a server and third-party clients have one.
        subscriptions: filters of one client; the server has 14, a bot 13, and two tables have 66 topics.
        all_subscriptions: filters of all clients; enough for 300 bots.
        in_flight: QoS 1 messages a client may leave without acknowledgement before the next one waits.
        in_flight_bytes: the same in bytes; as much as is useful on any network a contest is played on.
        queued_bytes: what one session may hold in flight and waiting, :data:`MESSAGE_BYTES` a message included: some
            12,000 messages, and an eight-player game publishes about 2,000. One packet of every connection fits on top
            of the backlog, so that a queue that only clients fill never overflows.
        all_queued_bytes: what all sessions together may hold; six of the largest.
        backlog_bytes: what may wait for one session before those who publish it are held, each at its share; some
            400 messages, a tenth of a second's work for the server.
        stuck_seconds: how long others may be held for a client that does not work off its backlog.
        retained_topics: topics with a retained message; a thousand tables have 20,000.
        retained_bytes: what they may hold, :data:`MESSAGE_BYTES` a message included.
        connect_seconds: time for the first packet.
    """

    packet_bytes: int = 16_384
    server_packet_bytes: int = 262_144
    client_id_bytes: int = 128
    topic_bytes: int = 512
    topic_levels: int = 16
    connections: int = 512
    websockets: int = 128
    frame_bytes: int = 65_536
    absent_sessions: int = 64
    subscriptions: int = 100
    all_subscriptions: int = 4096
    in_flight: int = 256
    in_flight_bytes: int = 256 * 1024
    queued_bytes: int = 16 * 1024 * 1024
    all_queued_bytes: int = 96 * 1024 * 1024
    backlog_bytes: int = 512 * 1024
    stuck_seconds: float = 5.0
    retained_topics: int = 20_000
    retained_bytes: int = 32 * 1024 * 1024
    connect_seconds: float = 10.0

    @property
    def most_bytes(self) -> int:
        """The most that clients can make the broker hold, whatever they do.

        Every connection: what is half read, its greeting, last will and names, and what is written; every
        subscription; all queues; all retained messages. With TLS every connection costs :data:`TLS_BYTES` more.
        """
        connection = CONNECTION_BYTES + READ_BYTES + 3 * self.packet_bytes + 2 * (WRITE_BYTES + self.packet_bytes)
        sessions = self.connections + self.absent_sessions
        return (
            self.connections * connection
            + 5 * self.server_packet_bytes
            + self.websockets * (WEBSOCKET_BYTES + 3 * self.frame_bytes)
            + sessions * (MESSAGE_BYTES + self.packet_bytes)
            + self.all_subscriptions * (SUBSCRIPTION_BYTES + self.topic_bytes)
            + 3 * self.server_packet_bytes
            + self.all_queued_bytes
            + self.retained_bytes
        )


class Access:
    """The rights of clients; this one lets all clients do everything.

    Attributes:
        revision: another object whenever the rights have changed; decisions may be cached while it is the same one.
        messages_a_second: what all users of one payer may spend together (:mod:`~salvo_server.brokers.embedded.pace`),
            with bursts of twice as much; they are read no faster. None: no limit. The server never has one.
    """

    revision: object = None
    messages_a_second: int | None = None

    def admits(self, client_id: str, username: str | None, password: str | None) -> bool:
        """Whether these credentials may connect under this client id."""
        return True

    def watch(self, changed: Callable[[], None]) -> None:  # these rights never change
        """Call this, from any thread, whenever an admitted client loses its admission."""

    def grant(self, username: str | None) -> object:
        """What a user is admitted on, compared by value: a session ends when its user is admitted on something else."""
        return None

    def payer(self, username: str | None) -> tuple[str, int]:
        """Return the name under which a user's packets are charged, and how many users share it."""
        return username or "", 1

    def session_id(self, client_id: str, username: str | None) -> str:
        """The client id under which an admitted client goes, its own or one that is bound to its user."""
        return client_id

    def may_leave_messages(self, client_id: str, username: str | None, topic: str = "") -> bool:
        """Whether a client may leave a retained message behind on a topic where it may publish."""
        return True

    def may_have_will(self, client_id: str, username: str | None) -> bool:
        """Whether a client with a last will is let in; what the will says obeys the rights like all else."""
        return self.may_leave_messages(client_id, username)

    def allows(self, client_id: str, username: str | None, action: LimitAction, topic: str) -> bool:
        """Whether a client may publish or receive a topic, or subscribe to a topic filter."""
        return True

    def team_of(self, client_id: str, topic: str) -> str | None:
        """Return the team that an admitted client publishes to a topic for; None where the account does not tell."""
        return None

    def publisher_of(self, client_id: str) -> str | None:
        """Return the client that published a message, where its account stands for no team."""
        return None

    def is_server(self, client_id: str, username: str | None) -> bool:
        """Whether this client is the contest's server, which must not pay for what others do."""
        return client_id == SERVER_CLIENT_ID
