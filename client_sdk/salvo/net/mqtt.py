"""One connection to a broker, for the server and for the SDK alike.

An edge around paho: MQTT 3.1.1, QoS 1 both ways, a persistent session, TCP_NODELAY (without it a QoS 1 round trip
takes 44 ms), endless reconnection with growing, random pauses (SALVO-MQTT). It runs no thread: the connection's owner
calls :meth:`Connection.poll`, receives what has arrived and acknowledges each message when it is done. Only
:meth:`Connection.wake` may be called from other threads.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import selectors
import socket
import ssl
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Any, Final, Literal, NamedTuple
from urllib.parse import SplitResult, unquote

import paho.mqtt.client as paho
from paho.mqtt.client import convert_disconnect_error_code_to_reason_code
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from salvo.errors import ConnectionLost
from salvo.net import tls
from salvo.net.addresses import split_url
from salvo.net.buffered_socket import BufferedSocket
from salvo.net.inbound import Inbound
from salvo.net.takeover import DECIDE_SECONDS, Takeovers

log = logging.getLogger(__name__)

_PORTS: Final = {"mqtt": 1883, "mqtts": 8883, "ws": 80, "wss": 443}
_WEB: Final = ("ws", "wss")
#: What the line of a request can have behind its method.
_PATH: Final = re.compile(r"[!-~]*")
#: Of a user or password (MQTT 3.1.1, 1.5.3).
_MAX_STRING_BYTES: Final = 65_535
#: How long one attempt to reach the broker may take, TCP and MQTT handshake together.
CONNECT_SECONDS: Final = 5.0
#: Longest pause after the first failed attempt; it doubles with each.
FIRST_PAUSE_SECONDS: Final = 0.2
#: Longest pause between two attempts: a broker that comes back is found within this time.
MAX_PAUSE_SECONDS: Final = 5.0
#: Messages on their way to the broker at once; a whole reset of an eight-player table fits.
MAX_IN_FLIGHT: Final = 1000
#: Packets read in one go before the owner gets its turn, so that a flood cannot starve the timers.
MAX_PACKETS_A_POLL: Final = 200
#: paho looks after its keep-alive in ``loop_misc``, which wants to be called about once a second.
_HOUSEKEEPING_SECONDS: Final = 1.0
#: How long a client that was accepted before tries again when it is refused: a broker that starts may not have all of
#: its accounts yet.
REFUSED_SECONDS: Final = 60.0
#: Refusals that no retry cures, unless the client was accepted before (MQTT 3.1.1, 3.2.2.3): protocol, client id,
#: password, rights.
_FINAL_REFUSALS: Final = frozenset({0x84, 0x85, 0x86, 0x87})
#: Those of them that are about user and password.
_UNKNOWN_USER: Final = frozenset({0x86, 0x87})
_MID_BYTES: Final = 2
#: What paho reports of an acknowledgement without a reason; in MQTT 3.1.1 none has one.
_TAKEN: Final = (ReasonCode(PacketTypes.PUBACK), Properties(PacketTypes.PUBACK))  # type: ignore[no-untyped-call]
#: paho's name for a connection closed by the other side.
_ENDED: Final = convert_disconnect_error_code_to_reason_code(MQTTErrorCode.MQTT_ERR_CONN_LOST)


class BrokerUrl(NamedTuple):
    """Where a broker is: ``mqtt://host:1883``, ``mqtts://``, ``ws://host:9001/mqtt`` or ``wss://``."""

    scheme: str
    host: str
    port: int
    path: str
    username: str | None
    password: str | None

    @classmethod
    def parse(cls, url: str) -> BrokerUrl:
        """Read a URL; ``host:port`` alone means ``mqtt://``.

        Raises:
            ConnectionLost: ``bad_url``.
        """
        text = url.strip()
        try:
            parts = split_url(text if "://" in text else f"mqtt://{text}")
            if parts.scheme not in _PORTS or not parts.hostname:
                raise ValueError("it is not mqtt://HOST:PORT, mqtts://, ws:// or wss://")
            path = _path(parts)
            username, password = map(_credential, (parts.username, parts.password))
            if password and not username:
                raise ValueError("it has a password and no user")
        except ValueError as error:
            raise ConnectionLost("bad_url", f"{without_password(text)[:200]!r}: {error}") from None
        return cls(parts.scheme, parts.hostname, parts.port or _PORTS[parts.scheme], path, username, password)

    def __str__(self) -> str:
        path = self.path if self.scheme in _WEB else ""
        return f"{self.scheme}://{self._host}:{self.port}{path}"

    def __repr__(self) -> str:
        return f"<BrokerUrl {self}>"  # without user and password

    @property
    def address(self) -> str:
        """Where the broker is, ``host:port``, whatever the scheme."""
        return f"{self._host}:{self.port}"

    @property
    def _host(self) -> str:
        return f"[{self.host}]" if ":" in self.host else self.host


def _path(parts: SplitResult) -> str:
    """Return where a broker has MQTT over WebSocket, as the request for it has it.

    Raises:
        ValueError: no request can have it, or nothing reads it.
    """
    if parts.query or parts.fragment or (parts.scheme not in _WEB and parts.path.strip("/")):
        raise ValueError("nothing follows HOST:PORT, but a path with ws:// and wss://")
    if _PATH.fullmatch(parts.path) is None:
        raise ValueError("its path has other characters than a request can have")
    return parts.path or "/mqtt"


def _credential(text: str | None) -> str | None:
    """Return a user or password as CONNECT has it; None for an empty one.

    Raises:
        ValueError: CONNECT cannot have it.
    """
    word = unquote(text or "")
    if "\0" in word or len(word.encode()) > _MAX_STRING_BYTES:
        raise ValueError("MQTT cannot send its user or password")
    return word or None


def without_password(url: str) -> str:
    """Return a URL as it may be printed: without user and password."""
    return re.sub(r"^([a-z]*://)?.*@", r"\1", url)


class Connection:
    """A connection that is kept up for as long as :meth:`poll` is called.

    Attributes:
        on_connect: called inside :meth:`poll` whenever the broker has accepted the connection, with whether it still
            had the session; the place to subscribe and to publish again what is retained.
        published: how many messages were published so far, whether they have left or not.
    """

    def __init__(
        self,
        url: str | BrokerUrl,
        client_id: str,
        *,
        username: str | None = None,
        password: str | None = None,
        clean_session: bool = False,
        will: tuple[str, bytes] | None = None,
        on_connect: Callable[[bool], None] | None = None,
        ca: str | None = None,
        gives_way: bool = True,
        newcomer_gives_way: bool = False,
        connect_seconds: float = CONNECT_SECONDS,
    ) -> None:
        """Prepare a connection; nothing is sent before the first :meth:`connect` or :meth:`poll`.

        Args:
            will: topic and payload of the retained last will.
            username: overrides the one in the URL, as ``password`` does.
            ca: for TLS, a PEM file with the only authorities to trust; by default the one in ``SALVO_CA``, else the
                system's.
            gives_way: whether to end with ``account_in_use`` when another client keeps connecting as the same user. If
                not, that is logged, and reconnection goes on with longer pauses.
            newcomer_gives_way: which of two clients ends: by default the older one, so that a program can be restarted
                while a forgotten one still runs; else the newcomer, at once, so that the older one is not disturbed.
            connect_seconds: how long an attempt to connect may take.

        Raises:
            ConnectionLost: ``bad_url`` or ``bad_ca``.
        """
        self.url = url if isinstance(url, BrokerUrl) else BrokerUrl.parse(url)
        self.on_connect = on_connect
        self.connected = False
        self.published = 0
        self._connect_seconds = connect_seconds
        self._ca = ca or os.environ.get("SALVO_CA") or None
        self._hung_up = False  # before the broker greeted
        self._gives_way = gives_way
        self._newcomer_gives_way = newcomer_gives_way
        self._name = client_id
        self._rivals = Takeovers(newcomer_gives_way=newcomer_gives_way)
        self._unconfirmed: dict[int, int] = {}  # running number by message id, the oldest first
        self._connections = 0
        self._inbox: deque[Inbound] = deque()
        self._refusal: ConnectionLost | None = None
        self._was_accepted = False  # as this user
        self._refused_since: float | None = None
        self._random = Random()  # not the module's: a bot may have seeded that
        self._attempt = 0
        self._warned = False  # that it is not connected
        self._next_attempt = 0.0
        self._handshake_end = 0.0
        self._next_housekeeping = 0.0
        self._ending = False  # what happens to the connection no longer matters
        self._closed = False
        self._client = self._make_client(client_id, clean_session)
        self._selector = selectors.DefaultSelector()
        self._watched = selectors.EVENT_READ  # for what the selector looks at paho's socket
        self._wake_reader, self._wake_writer = socket.socketpair()
        self._wake_reader.setblocking(False)
        self._wake_writer.setblocking(False)
        self._selector.register(self._wake_reader, selectors.EVENT_READ)
        self._password = password if password is not None else self.url.password
        self._user = username or self.url.username
        if self._user is not None:
            self._client.username_pw_set(self._user, self._password)
        if will is not None:
            self._client.will_set(will[0], will[1], qos=1, retain=True)

    def _make_client(self, client_id: str, clean_session: bool) -> _Client:
        web = self.url.scheme in _WEB
        client = _Client(
            CallbackAPIVersion.VERSION2,
            client_id=client_id,
            clean_session=clean_session,
            protocol=paho.MQTTv311,
            transport="websockets" if web else "tcp",
            manual_ack=True,
        )
        client.connect_timeout = self._connect_seconds
        client.max_inflight_messages_set(MAX_IN_FLIGHT)
        client.max_queued_messages_set(0)
        if web:
            client.ws_set_options(self.url.path)
        if self.url.scheme in ("mqtts", "wss"):
            client.tls_set_context(tls.client_context(self._ca))
        client.on_connect = self._accepted
        client.on_disconnect = self._lost
        client.on_message = self._arrived
        client.on_publish = self._confirmed
        client.on_socket_open = self._socket_opened
        client.on_socket_close = self._socket_closes
        client.connect_async(self.url.host, self.url.port)
        return client

    # --- paho's callbacks, all inside poll() --------------------------------------------------------------------

    def _socket_opened(self, client: paho.Client, userdata: Any, sock: Any) -> None:
        self._watched = selectors.EVENT_READ
        self._selector.register(sock, self._watched)

    def _socket_closes(self, client: paho.Client, userdata: Any, sock: Any) -> None:
        self._selector.unregister(sock)

    def _accepted(
        self, client: paho.Client, userdata: Any, flags: paho.ConnectFlags, reason: ReasonCode, props: Properties | None
    ) -> None:
        if reason.is_failure:
            self._refused(reason.value, f"{self.url} refused the connection: {str(reason).lower()}")
            return
        log.log(logging.WARNING if self._warned else logging.DEBUG, "connected to %s", self.url)
        self._warned = False
        self.connected = self._was_accepted = True
        self._refused_since = None
        self._connections += 1
        if self._rivals.count < self._rivals.most:
            self._attempt = 0
        if self._client.plain is not None:
            self._rivals.accepted(self._client.plain, time.monotonic())
        if self.on_connect is not None:
            self.on_connect(flags.session_present)

    def _refused(self, reason: int, text: str) -> None:
        """Give up, unless a retry may cure it."""
        if reason not in _FINAL_REFUSALS:
            log.warning("%s", text)
            return
        now = time.monotonic()
        if self._was_accepted and now < (self._refused_since or now) + REFUSED_SECONDS:
            if self._refused_since is None:
                self._refused_since = now
                log.warning("%s; it was accepted before: trying again for %g s", text, REFUSED_SECONDS)
        elif reason in _UNKNOWN_USER:
            self._refusal = ConnectionLost("not_authorised", f"{text}; {self._advice()}")
        else:
            self._refusal = ConnectionLost("connection_refused", text)

    def _advice(self) -> str:
        if self._user is None:
            return (
                "it wants a user and a password: set SALVO_TEAM and SALVO_SECRET to the name and secret that the "
                "operator gave you"
            )
        return (
            f"it has no user {self._user!r} with this password: a team's user is its name and the password its secret, "
            "as the operator gave them"
        )

    def _lost(self, client: paho.Client, userdata: Any, flags: Any, reason: ReasonCode, props: Any) -> None:
        was_connected, self.connected = self.connected, False
        self._hung_up = not self._connections and self._refusal is None and not self._ending
        if self._ending:
            return
        if was_connected and reason == _ENDED:
            now = time.monotonic()
            self._rivals.lost(now)
            if self._rivals.undecided:
                self._next_attempt = max(self._next_attempt, now + DECIDE_SECONDS)
            # Its outcome is reported at the end, and a newcomer's attempt is over in a moment.
            quiet = self._rivals.undecided or self._newcomer_gives_way
            level = logging.DEBUG if quiet else logging.WARNING
            log.log(level, "lost the connection to %s: closed there", self.url)
            self._warned = self._warned or not quiet
        else:
            self._rivals.forget()
            if was_connected:
                log.warning("lost the connection to %s: %s", self.url, str(reason).lower())
                self._warned = True

    def _look_for_rivals(self) -> None:
        """Find out whether another client uses this user."""
        if not self._rivals.undecided or self._rivals.decide() < self._rivals.most:
            return
        text = (
            f"{self.url} ended this connection as soon as it was made ({self._rivals.count}x), as it does when another "
            f"program connects as {self._user or self._name!r}: a user has one connection, the newest; end one of the "
            "two; to watch while a bot plays, use salvo watch"
        )
        if self._gives_way:
            raise self._give_up(ConnectionLost("account_in_use", text))
        if self._rivals.count == self._rivals.most:
            log.error("account_in_use: %s", text)

    def _arrived(self, client: paho.Client, userdata: Any, message: paho.MQTTMessage) -> None:
        try:
            topic = message.topic
        except UnicodeDecodeError:
            topic = ""  # refused downstream as an unknown topic
        payload = bytes(message.payload)
        self._inbox.append(Inbound(topic, payload, message.retain, message.mid, message.qos, self._connections))

    def _confirmed(self, client: paho.Client, userdata: Any, mid: int, reason: ReasonCode, props: Properties) -> None:
        self._unconfirmed.pop(mid, None)

    # --- the owner's side -----------------------------------------------------------------------------------------

    def connect(self, patience_seconds: float | None = None) -> None:
        """Return once the broker has accepted the connection; retries for ever by default.

        Raises:
            ConnectionLost: ``unreachable`` when the patience is over; what :meth:`poll` raises.
        """
        end = None if patience_seconds is None else time.monotonic() + patience_seconds
        while not self.connected:
            left = None if end is None else end - time.monotonic()
            if left is not None and left <= 0:
                raise ConnectionLost("unreachable", f"no broker answers at {self.url} within {patience_seconds:g} s")
            self._step(_HOUSEKEEPING_SECONDS if left is None else min(left, _HOUSEKEEPING_SECONDS))

    def change_user(self, user: str) -> None:
        """Continue as another user with the same password; whatever ended this connection is forgotten."""
        self._user = user
        self._client.username_pw_set(user, self._password)
        self._client._sock_close()
        self.connected = self._was_accepted = False
        self._refusal = self._refused_since = None
        self._rivals.forget()
        self._attempt = 0
        self._next_attempt = 0.0

    def poll(self, timeout_seconds: float) -> Sequence[Inbound]:
        """Keep the connection up and return what has arrived, waiting at most this long for the first message.

        Returns early, perhaps with nothing, after :meth:`wake`.

        Raises:
            ConnectionLost: what no retry cures: ``account_in_use``, ``tls_unknown_ca``, ``tls_wrong_host``,
                ``tls_expired``, ``tls_wanted``, ``tls_not_spoken``, and ``connection_refused`` or ``not_authorised``;
                where this user was accepted before, only after :data:`REFUSED_SECONDS` of that.
        """
        self._step(0.0 if self._inbox else timeout_seconds)
        arrived = list(self._inbox)
        self._inbox.clear()
        return arrived

    def publish(self, topic: str, payload: bytes, *, retain: bool = False) -> None:
        """Send a message, QoS 1; while the connection is down or its socket full, it waits for :meth:`poll`."""
        self.published += 1
        sent = self._client.publish(topic, payload, qos=1, retain=retain)
        self._unconfirmed[sent.mid] = self.published

    @property
    def unconfirmed(self) -> int:
        """How many published messages the broker has not acknowledged; from any thread."""
        return len(self._unconfirmed)

    @property
    def delivered(self) -> int:
        """How many messages, counted from the first, the broker has acknowledged without a gap."""
        return next(iter(self._unconfirmed.values()), self.published + 1) - 1

    def subscribe(self, filters: Iterable[str]) -> None:
        """Subscribe to topics, QoS 1; call it from ``on_connect``, so that a new session subscribes again."""
        wanted = [(topic, 1) for topic in filters]
        if wanted:
            self._client.subscribe(wanted)

    def unsubscribe(self, filters: Iterable[str]) -> None:
        """Unsubscribe from topics."""
        unwanted = list(filters)
        if unwanted:
            self._client.unsubscribe(unwanted)

    def acknowledge(self, message: Inbound) -> None:
        """Tell the broker that a message is done and need not come again.

        One from an earlier connection is ignored: it comes again, or its number now belongs to another message.
        """
        if message.qos and message.connection == self._connections:
            self._client.ack(message.mid, message.qos)

    def wake(self) -> None:
        """Make a waiting :meth:`poll` return; may be called from any thread or signal handler."""
        with contextlib.suppress(OSError):  # full: poll() wakes anyway; closed: nothing waits
            self._wake_writer.send(b"!")

    def flush(self, timeout_seconds: float) -> bool:
        """Send what is queued and wait for the broker to acknowledge it; return whether it has."""
        end = time.monotonic() + timeout_seconds
        while self.connected and self._unsent():
            left = end - time.monotonic()
            if left <= 0:
                return False
            self._step(min(left, 0.1))
        return not self._unsent()

    def _unsent(self) -> bool:
        return self._client.want_write() or bool(self._unconfirmed)

    def close(self, timeout_seconds: float = 2.0) -> None:
        """Send what is queued, disconnect (without the last will) and close the sockets; may be called twice."""
        if self._closed:
            return
        self._ending = True
        self.flush(timeout_seconds)
        self._closed = True
        self._client.disconnect()
        self._write()
        self._client._sock_close()
        self._rivals.close()
        self._selector.close()
        self._wake_reader.close()
        self._wake_writer.close()

    # --- the loop -------------------------------------------------------------------------------------------------

    def _step(self, timeout_seconds: float) -> None:
        if self._refusal is not None:
            raise self._refusal
        if self._client.socket() is None:
            timeout_seconds = self._reconnect(timeout_seconds)
        self._write()
        self._watch()
        read = self._pending()  # data left in a buffer wakes no selector
        for key, _ in self._selector.select(0.0 if read else min(timeout_seconds, _HOUSEKEEPING_SECONDS)):
            if key.fileobj is self._wake_reader:
                self._wake_reader.recv(4096)
            else:
                read = True
        if read:
            self._read()
        self._write()
        now = time.monotonic()
        if now >= self._next_housekeeping:
            self._next_housekeeping = now + _HOUSEKEEPING_SECONDS
            self._rivals.tend(now)
            self._client.loop_misc()
            if not self.connected and self._client.socket() is not None and now > self._handshake_end:
                log.warning("%s does not answer the greeting; trying again", self.url)
                self._rivals.forget()
                self._client._sock_close()

    def _reconnect(self, timeout_seconds: float) -> float:
        """Try to reach the broker if it is time; return how long to wait for data."""
        self.connected = False
        now = time.monotonic()
        if now < self._next_attempt:
            return min(timeout_seconds, self._next_attempt - now)
        self._look_for_rivals()
        self._next_attempt = now + self._pause()
        if self._hung_up:  # on our first packet: perhaps it speaks TLS and we do not, or the reverse
            self._hung_up = False
            found = tls.mismatch(self.url.scheme, self.url.host, self.url.port)
            if found is not None:
                raise self._give_up(found)
        try:
            self._client.reconnect()
        except ssl.SSLCertVerificationError as error:
            raise self._give_up(tls.distrust(str(self.url), self.url.host, error, self._ca)) from None
        except (OSError, ValueError, paho.WebsocketConnectionError) as error:
            self._rivals.forget()
            if not isinstance(error, (ConnectionRefusedError, socket.gaierror)):
                self._hung_up = not self._connections
            level = logging.WARNING if self._attempt == 1 else logging.DEBUG
            self._warned = True
            why = getattr(error, "strerror", None) or error
            log.log(level, "cannot reach %s (%s): check the address, or start the server; retrying", self.url, why)
            return min(timeout_seconds, max(0.0, self._next_attempt - time.monotonic()))
        self._handshake_end = now + self._connect_seconds
        return timeout_seconds

    def _give_up(self, reason: ConnectionLost) -> ConnectionLost:
        self._refusal = reason
        return reason

    def _pause(self) -> float:
        """A random pause that grows with every failed attempt, so that clients do not all come back at once."""
        longest = FIRST_PAUSE_SECONDS * 2 ** min(self._attempt, 10)
        self._attempt += 1
        return self._random.uniform(0.0, min(longest, MAX_PAUSE_SECONDS))

    def _watch(self) -> None:
        """Watch whether paho's socket accepts more data, while there is some to send."""
        sock = self._client.socket()
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if self._client.want_write() else 0)
        if sock is not None and events != self._watched:
            self._selector.modify(sock, events)
            self._watched = events

    def _read(self) -> None:
        """Read what has arrived, packet by packet."""
        for _ in range(MAX_PACKETS_A_POLL):
            before = len(self._inbox)
            if self._client.loop_read() is not MQTTErrorCode.MQTT_ERR_SUCCESS:
                return
            if len(self._inbox) == before and not self._pending():
                return

    def _pending(self) -> bool:
        """Whether data was read from the system and not processed yet."""
        sock = self._client.socket()
        return bool(sock is not None and hasattr(sock, "pending") and sock.pending())

    def _write(self) -> None:
        if self._client.want_write():
            self._client.loop_write()


class _Client(paho.Client):
    """paho's client on a buffered socket; over WebSocket on paho's own, which frames each packet.

    paho has no public way to bring a socket or to close one at once: hence its private methods and its context here,
    ``_sock_close`` above, and the bound on its version.

    Attributes:
        plain: the socket of the latest attempt, below paho's WebSocket and our buffer.
    """

    plain: socket.socket | None = None

    def _create_socket(self) -> Any:
        try:
            sock = super()._create_socket()
        except BaseException:
            if self.plain is not None:
                self.plain.close()  # which paho leaves open when a handshake fails
            raise
        return BufferedSocket(sock) if isinstance(sock, socket.socket) else sock

    def _create_socket_connection(self) -> socket.socket:
        self.plain = super()._create_socket_connection()
        self.plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self.plain

    def _handle_on_message(self, message: paho.MQTTMessage) -> None:
        # paho matches each topic against filters, of which we register none, and each match leaves a cycle behind for
        # the garbage collector.
        assert self.on_message is not None
        self.on_message(self, None, message)

    def _handle_pubackcomp(self, cmd: Literal["PUBACK", "PUBCOMP"]) -> MQTTErrorCode:
        # paho builds a reason and properties for every acknowledgement, which takes most of the time that it needs.
        packet = self._in_packet["packet"]
        mid = int.from_bytes(packet, "big")
        with self._out_message_mutex:
            if len(packet) == _MID_BYTES and mid in self._out_messages:
                return self._do_on_publish(mid, *_TAKEN)
        return super()._handle_pubackcomp(cmd)

    def _ssl_wrap_socket(self, tcp_sock: socket.socket) -> ssl.SSLSocket:
        # paho's own has no name for the socket before the handshake, so nobody could close it after a failed one.
        assert self._ssl_context is not None
        sock = self._ssl_context.wrap_socket(tcp_sock, server_hostname=self.host, do_handshake_on_connect=False)
        self.plain = sock
        sock.settimeout(self.connect_timeout)
        sock.do_handshake()
        return sock
