"""Who calls while a server starts is let in with the right password, and what it says is not lost.

The story: the broker listened before the server had read its roster and subscribed. A bot that came back at that moment
was not authorised, and ended; a request in the first packet was acknowledged, and nobody received it.
"""

from __future__ import annotations

import json
import select
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from kit.attached import attached
from kit.certificates import make_certificate
from kit.mosquitto import ContestMosquitto
from kit.players import Announced
from kit.ports import Port
from kit.programs import BROKERS
from kit.raw import PATIENCE_SECONDS, Raw, connect_packet, publish_packet
from salvo import messages as m
from salvo.net.mqtt import BrokerUrl
from salvo_server.brokers.embedded import EmbeddedBroker
from salvo_server.brokers.embedded.limits import SERVER_CLIENT_ID
from salvo_server.brokers.embedded.tls import ServerTls
from salvo_server.contest import Contest
from salvo_server.core.play import Play
from salvo_server.service import Service
from salvo_server.settings import ServerSettings
from salvo_server.storage.roster import Roster
from salvo_server.storage.roster_watcher import RosterWatcher

_ACCEPTED, _ACKNOWLEDGED = b"\x20\2\0\0", b"\x40\2\0\1"
#: What a start calls at each of its moments.
MOMENTS: dict[str, tuple[type, str]] = {
    "before the roster is read": (RosterWatcher, "look"),
    "before the tables are there": (Play, "set_tables"),
    "before the server is subscribed": (Service, "connected"),
}


class Caller:
    """A team that asks for a seat with its first packets, again as long as it is refused.

    Attributes:
        called: set when its packets are on their way.
        answered: set when the broker has answered once.
    """

    def __init__(self, port: int, name: str, secret: str) -> None:
        self._port = port
        self._account = {"user": name, "password": secret}
        request = json.dumps({"name": name, "secret": secret}, separators=(",", ":"))
        self._request = publish_packet("/game/request_participation", request.encode())
        self.refusals = 0
        self.called, self.answered = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._call, daemon=True)
        self._thread.start()

    def _call(self) -> None:
        while not self._ask():
            self.refusals += 1
            self.answered.wait(0.02)

    def _ask(self) -> bool:
        with Raw(self._port, **self._account) as connection:
            connection.send(self._request)
            self.called.set()
            got = b""
            while _ACKNOWLEDGED not in got and (chunk := connection.read()):
                got += chunk
        self.answered.set()
        return _ACKNOWLEDGED in got

    def done(self) -> None:
        """Return when its request is acknowledged."""
        self._thread.join(PATIENCE_SECONDS)
        assert not self._thread.is_alive()


@contextmanager
def calling(moment: str, call: Callable[[], Caller], *, answered: bool) -> Iterator[list[Caller]]:
    """Let a team call at a moment of the next start, which goes on when it has, or has its first answer."""
    home, name = MOMENTS[moment]
    step = getattr(home, name)
    callers: list[Caller] = []

    def taken(*args: Any, **given: Any) -> Any:
        if not callers:
            callers.append(call())
            assert (callers[0].answered if answered else callers[0].called).wait(PATIENCE_SECONDS)
        return step(*args, **given)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(home, name, taken)
        yield callers


@pytest.mark.parametrize("kind", BROKERS)
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_team_that_calls_while_a_server_starts_is_let_in_and_listed(
    kind: str, moment: str, tmp_path: Path, port: Port
) -> None:
    roster = Roster(tmp_path / "roster.json")
    names = ("first", "again")
    secrets = {name: roster.add(name) for name in names}
    received = Announced()
    with ExitStack() as stack:
        where: dict[str, Any] = {"listen": port.address}
        number = port.number
        if kind == "mosquitto":
            mosquitto = stack.enter_context(ContestMosquitto(roster.server, roster.keeper))
            where, number = {"broker": mosquitto.server_url}, mosquitto.port
        where |= {"roster": roster.path, "identity": tmp_path / "identity", "journal": str(tmp_path / "journal")}
        settings = ServerSettings(profile="contest", **where)
        for name in names:
            with calling(moment, lambda: Caller(number, name, secrets[name]), answered=kind == "mosquitto") as callers:  # noqa: B023
                running = Contest(settings, received)
            with running.in_background():
                [caller] = callers
                caller.done()
                received.until(
                    lambda known: any(isinstance(a, m.PlayersListed) and name in a.names for a in known)  # noqa: B023
                )
            if kind == "embedded" or name == "again":  # a new mosquitto has no team before its first server
                assert caller.refusals == 0


@pytest.mark.parametrize("with_tls", [False, True])
def test_the_broker_reads_nothing_of_others_before_it_is_open(with_tls: bool, tmp_path: Path) -> None:
    tls = None
    if with_tls:
        certificate = make_certificate(tmp_path)
        tls = ServerTls(certificate.cert, certificate.key)
    opening = [_hello()] * 2 if with_tls else [b"GET / HTTP/1.1\r\n\r\n", connect_packet("a")]
    with EmbeddedBroker(websocket="127.0.0.1:0", tls=tls, server_first=True) as broker, ExitStack() as stack:
        others = []
        for url, first in zip((broker.websocket_url, broker.url), opening, strict=True):
            assert url is not None
            other = stack.enter_context(
                socket.create_connection(("127.0.0.1", BrokerUrl.parse(url).port), PATIENCE_SECONDS)
            )
            other.sendall(first)
            others.append(other)
        server = attached(broker, SERVER_CLIENT_ID, "#")
        for _ in range(5):  # turns of the loop, in which others would have their answers
            server.publish("/x", b"")
            assert server.flush(PATIENCE_SECONDS)
        assert select.select(others, [], [], 0)[0] == []
        broker.open()
        for other in others:
            assert other.recv(1)
        server.close()


def _hello() -> bytes:
    """Return what begins a TLS connection."""
    outgoing = ssl.MemoryBIO()
    handshake = ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="localhost")
    with suppress(ssl.SSLWantReadError):
        handshake.do_handshake()
    return outgoing.read()
