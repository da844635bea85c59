"""The contest that the doctor examines."""

from __future__ import annotations

import contextlib
import socket
import ssl
from dataclasses import dataclass, field

from salvo.net.mqtt import BrokerUrl
from salvo.net.tls import client_context
from salvo_server.brokers.embedded.addresses import is_loopback
from salvo_server.settings import ServerSettings
from salvo_server.storage.register import Account

#: A broker that takes longer for one answer no longer answers.
ANSWER_SECONDS = 5.0


@dataclass(slots=True)
class ExaminedContest:
    """A contest, as the doctor sees it.

    Attributes:
        url: the broker's address, with user and password if the operator gave one.
        websocket: where it offers MQTT over WebSocket, if that is known.
        settings: the server's, if it runs on this machine; else None.
        account: one of the server's own that may only read; None without its roster.
        profile: the one expected of the contest, if given; with ``open`` an open broker is not a failure.
        ca: a PEM file with the CAs to trust; the system's by default.
        serves: whether the settings are those of a running server, which then holds the ports.
        answering: the addresses that accept connections; known once they were tried.
        is_open: whether the broker admits anonymous clients; None while that is unknown.
    """

    url: BrokerUrl
    websocket: BrokerUrl | None = None
    settings: ServerSettings | None = None
    account: Account | None = None
    profile: str | None = None
    ca: str | None = None
    serves: bool = False
    answering: set[BrokerUrl] = field(default_factory=set)
    is_open: bool | None = None

    @property
    def urls(self) -> tuple[BrokerUrl, ...]:
        return (self.url,) if self.websocket is None else (self.url, self.websocket)

    def use_certified_name(self) -> None:
        """Replace the URL's host by a name of this machine in the broker's certificate, if the host is not in it.

        A server that is found by its settings is at 127.0.0.1, which few certificates include.
        """
        names = _certified_names(self.url, self.ca) if self.url.scheme == "mqtts" else []
        if not is_loopback(self.url.host) or self.url.host in names:
            return
        for name in sorted(names, key=lambda name: not is_loopback(name)):
            if is_here(name):
                self.url = self.url._replace(host=name)
                self.websocket = self.websocket and self.websocket._replace(host=name)
                return


def _certified_names(url: BrokerUrl, ca: str | None) -> list[str]:
    """Return the host names and addresses of a broker's certificate; none where it is not trusted or not reached."""
    trust = client_context(ca)
    trust.check_hostname = False
    try:
        certificate = certificate_of(url, trust)
    except OSError:
        return []
    names: list[tuple[str, str]] = certificate.get("subjectAltName", [])  # type: ignore[assignment]
    return [name for kind, name in names if kind in ("DNS", "IP Address")]


def certificate_of(url: BrokerUrl, trust: ssl.SSLContext) -> dict[str, object]:
    """Return a broker's certificate, as :meth:`ssl.SSLSocket.getpeercert` reports it.

    Raises:
        OSError: it is not reached; an ``ssl.SSLCertVerificationError`` where it is not trusted.
    """
    with (
        socket.create_connection((url.host, url.port), ANSWER_SECONDS) as plain,
        trust.wrap_socket(plain, server_hostname=url.host) as wrapped,
    ):
        return dict(wrapped.getpeercert() or {})


def is_here(host: str) -> bool:
    """Whether a host name or address is this machine's."""
    if is_loopback(host):
        return True
    try:
        found = socket.getaddrinfo(host, 0, type=socket.SOCK_DGRAM)
    except (OSError, UnicodeError):
        return False
    for family, kind, protocol, _, address in found:
        with contextlib.suppress(OSError), socket.socket(family, kind, protocol) as sock:
            sock.bind(address)  # only an address of this machine can be bound
            return True
    return False
