"""A broker on its own thread, started and stopped from anywhere."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import ssl
import threading
import time
from collections.abc import Collection, Mapping
from typing import Any, Final

from salvo_game.journal_interface import Journal
from salvo_server.brokers.embedded import open_files
from salvo_server.brokers.embedded.addresses import BrokerError, joined, listening, reachable, split_address
from salvo_server.brokers.embedded.attached import AttachedLink
from salvo_server.brokers.embedded.broker import OWN_LISTENER, HardenedBroker
from salvo_server.brokers.embedded.limits import SERVER_CLIENT_ID, Access, BrokerLimits
from salvo_server.brokers.embedded.tls import DAY_SECONDS, ServerTls

log = logging.getLogger(__name__)

#: amqtt tells every step at level INFO and repeats in words what an error already says.
_AMQTT_LOG_LEVEL = logging.ERROR
#: How long clients have to receive what was published before the end: the pause without progress, and the total.
STILL_SECONDS: Final = 1.0
LAST_MESSAGES_SECONDS: Final = 5.0
_LOOK_SECONDS: Final = 0.02


class EmbeddedBroker:
    """amqtt in this process.

    Use it as a context manager, or call :meth:`start` and :meth:`stop`.
    """

    def __init__(
        self,
        listen: str = "127.0.0.1:0",
        websocket: str | None = None,
        *,
        limits: BrokerLimits | None = None,
        access: Access | None = None,
        tls: ServerTls | None = None,
        hosts: Collection[str] = (),
        server_first: bool = False,
    ) -> None:
        """Choose the addresses; nothing is bound before :meth:`start`.

        Args:
            listen: where to serve MQTT over TCP, ``HOST:PORT``.
            websocket: where to serve MQTT over WebSocket, on any path; nowhere when None.
            access: the rights of clients; None lets all clients do everything.
            tls: makes both listeners speak TLS.
            hosts: names of this machine, and of other machines whose pages may connect over WebSocket.
            server_first: whether connections wait, unread, until :meth:`open`, while the server of this process is
                attached.
        """
        self._listen = split_address(listen)
        self._websocket = None if websocket is None else split_address(websocket)
        self._limits = limits or BrokerLimits()
        self._access = access or Access()
        self._tls = tls
        self._hosts = hosts
        self._server_first = server_first
        self._context: ssl.SSLContext | None = None
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._serving: HardenedBroker | None = None
        self._attached: AttachedLink | None = None
        self._bound: dict[str, tuple[str, int]] = {}
        self._sockets: dict[str, socket.socket] = {}
        self._failure: BaseException | None = None

    @property
    def host(self) -> str:
        """The host that MQTT over TCP is spoken on."""
        return self._bound["default"][0]

    @property
    def port(self) -> int:
        """The port that MQTT over TCP is spoken on."""
        return self._bound["default"][1]

    @property
    def url(self) -> str:
        """Where clients connect over TCP."""
        scheme = "mqtt" if self._tls is None else "mqtts"
        return f"{scheme}://{reachable(self.host)}:{self.port}"

    @property
    def own_url(self) -> str:
        """Where programs of this machine connect, which need no TLS."""
        return f"mqtt://127.0.0.1:{self._bound[OWN_LISTENER][1]}" if OWN_LISTENER in self._bound else self.url

    @property
    def websocket_url(self) -> str | None:
        """Where clients connect over WebSocket."""
        if "websocket" not in self._bound:
            return None
        host, port = self._bound["websocket"]
        scheme = "ws" if self._tls is None else "wss"
        return f"{scheme}://{reachable(host)}:{port}/mqtt"

    @property
    def connections(self) -> int:
        """How many clients are connected, the server among them; from any thread."""
        attached = self._attached is not None and self._attached.connected
        return attached + (0 if self._serving is None else len(self._serving.peers))

    @property
    def faults(self) -> Mapping[str, int]:
        """How often clients did what they may not do, by kind; a copy, from any thread."""
        return {} if self._serving is None else dict(self._serving.seldom.counts)

    def start(self) -> EmbeddedBroker:
        """Return once the listeners are bound.

        Raises:
            BrokerError: ``address_in_use`` or whatever else keeps it from listening.
            TlsError: ``bad_tls``.
        """
        self._context = None if self._tls is None else self._tls.context()
        logging.getLogger("amqtt").setLevel(_AMQTT_LOG_LEVEL)
        logging.getLogger("websockets").setLevel(logging.CRITICAL)
        logging.getLogger("transitions").setLevel(logging.ERROR)
        open_files.allow(self._limits.connections)
        self._sockets = {"default": listening(*self._listen)}
        if self._websocket is not None:
            try:
                self._sockets["websocket"] = listening(*self._websocket)
            except BrokerError:
                self._sockets["default"].close()
                raise
        if self._tls is not None:
            self._sockets[OWN_LISTENER] = listening("127.0.0.1", 0)
        hosts = {
            "default": self._listen[0],
            "websocket": (self._websocket or self._listen)[0],
            OWN_LISTENER: "127.0.0.1",
        }
        self._bound = {name: (hosts[name], sock.getsockname()[1]) for name, sock in self._sockets.items()}
        ready = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(ready,), name="broker", daemon=True)
        self._thread.start()
        ready.wait()
        if self._failure is not None:
            self._thread.join()
            raise BrokerError("broker_failed", f"the embedded broker cannot start: {self._failure}")
        return self

    def stop(self) -> None:
        """Disconnect all clients and stop; harmless when it is not running."""
        if self._thread is None or self._loop is None or self._stop is None:
            return
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(10)
        self._thread = None

    def attach(
        self, user: str = SERVER_CLIENT_ID, journal: Journal | None = None, will: tuple[str, bytes] | None = None
    ) -> AttachedLink:
        """Return the link of this process's own server, which needs no password; the broker runs.

        Args:
            journal: says whether the server has its place still.
            will: topic and payload of what is published, and retained, when the server stands still.
        """
        assert self._serving is not None
        assert self._loop is not None
        client_id = self._access.session_id(user, user)
        self._attached = AttachedLink(self._serving, self._loop, client_id, user, journal)
        if will is not None:
            self._attached.watch(*will)
        return self._attached

    def open(self) -> None:
        """Let clients in, after the server; from any thread, and harmless when it is done again."""
        if self._loop is not None and self._serving is not None:
            asyncio.run_coroutine_threadsafe(self._serving.open(), self._loop).result()

    def __enter__(self) -> EmbeddedBroker:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _run(self, ready: threading.Event) -> None:
        try:
            asyncio.run(self._serve(ready))
        except BaseException as error:  # told to the thread that waits in start()
            self._failure = error
        finally:
            ready.set()

    async def _serve(self, ready: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        broker = self._serving = HardenedBroker(
            self._config(),
            self._sockets,
            self._limits,
            self._access,
            self._context,
            self._hosts,
            server_first=self._server_first,
        )
        open_files.report_in(self._loop, broker.make_room)
        await broker.start()
        self._doubt_certificate()
        self._access.watch(self._review_sessions)
        ready.set()
        await self._stop.wait()
        await self._deliver(broker)
        await broker.shutdown()

    def _doubt_certificate(self) -> None:
        """Report, at the start and every day, what is wrong with the certificate's dates: only clients see it."""
        if self._tls is None or self._context is None:
            return
        if doubt := self._tls.doubt(self._context, time.time()):
            log.warning("%s", doubt)
        asyncio.get_running_loop().call_later(DAY_SECONDS, self._doubt_certificate)

    async def _deliver(self, broker: HardenedBroker) -> None:
        """Let the last messages arrive, such as a winner's name; who takes nothing in does not hold up the end."""
        now = asyncio.get_running_loop().time
        end, least = now() + LAST_MESSAGES_SECONDS, broker.clients.owed
        still_since = now()
        while least and now() < min(end, still_since + STILL_SECONDS):
            await asyncio.sleep(_LOOK_SECONDS)
            if broker.clients.owed < least:
                least, still_since = broker.clients.owed, now()

    def _review_sessions(self) -> None:
        loop, broker = self._loop, self._serving
        if loop is not None and broker is not None:
            with contextlib.suppress(RuntimeError):  # it has just been stopped
                loop.call_soon_threadsafe(broker.review_sessions)

    def _config(self) -> dict[str, Any]:
        listeners: dict[str, dict[str, Any]] = {"default": {"type": "tcp", "bind": joined(*self._bound["default"])}}
        if "websocket" in self._bound:
            listeners["websocket"] = {"type": "ws", "bind": joined(*self._bound["websocket"])}
        if OWN_LISTENER in self._bound:
            listeners[OWN_LISTENER] = {"type": "tcp", "bind": joined(*self._bound[OWN_LISTENER])}
        return {"listeners": listeners, "plugins": {}}
