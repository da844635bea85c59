"""TLS on the embedded broker: both listeners, the operator's mistakes, and connections that never finish."""

from __future__ import annotations

import contextlib
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.accounts import contest
from kit.certificates import Certificate, make_certificate
from salvo.net.mqtt import Connection
from salvo_server.brokers.embedded import EmbeddedBroker
from salvo_server.brokers.embedded.limits import BrokerLimits
from salvo_server.brokers.embedded.roster_access import RosterAccess
from salvo_server.brokers.embedded.tls import ServerTls, TlsError


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return make_certificate(tmp_path_factory.mktemp("tls"))


@contextlib.contextmanager
def started(certificate: Certificate, connect_seconds: float) -> Iterator[EmbeddedBroker]:
    access = RosterAccess(contest("red"))
    limits = BrokerLimits(connect_seconds=connect_seconds, connections=8)
    tls = ServerTls(certificate.cert, certificate.key)
    with EmbeddedBroker(websocket="127.0.0.1:0", access=access, limits=limits, tls=tls) as running:
        yield running


@pytest.fixture
def broker(certificate: Certificate) -> Iterator[EmbeddedBroker]:
    """With patience for whoever is slow."""
    with started(certificate, 3600.0) as running:
        yield running


@pytest.fixture
def hasty(certificate: Certificate) -> Iterator[EmbeddedBroker]:
    """Hangs up on whoever says nothing for a second."""
    with started(certificate, 1.0) as running:
        yield running


def test_half_open_handshakes_end_and_leave_room_for_others(hasty: EmbeddedBroker, certificate: Certificate) -> None:
    """Eight connections say nothing, and a ninth is turned away; a second later there is room again."""
    with contextlib.ExitStack() as stack:
        silent = [stack.enter_context(socket.create_connection(("127.0.0.1", hasty.port), 60)) for _ in range(8)]
        with contextlib.suppress(ConnectionError), socket.create_connection(("127.0.0.1", hasty.port), 60) as ninth:
            assert ninth.recv(1) == b""
        for one in silent:
            with contextlib.suppress(ConnectionError):
                assert one.recv(1) == b""  # within the minute that the socket waits
    ca = str(certificate.cert)
    connection = Connection(hasty.url, "", username="red", password="secret-of-red", clean_session=True, ca=ca)
    connection.connect(60)
    connection.close()


def test_files_that_cannot_be_used_are_named(certificate: Certificate, tmp_path: Path) -> None:
    other = make_certificate(tmp_path, "other")
    junk, locked = tmp_path / "junk.pem", tmp_path / "locked.key"
    junk.write_text("no certificate")
    command = ["openssl", "pkey", "-in", str(certificate.key), "-aes256", "-passout", "pass:x", "-out", str(locked)]
    subprocess.run(command, check=True, capture_output=True)
    for cert, key, named in (
        (tmp_path / "missing.pem", certificate.key, r"missing\.pem: No such file"),
        (certificate.cert, tmp_path / "missing.key", r"missing\.key: No such file"),
        (certificate.cert, other.key, r"other\.key is not the one of certificate"),
        (junk, certificate.key, r"junk\.pem .* must be PEM"),
        (certificate.cert, locked, r"locked\.key has a passphrase"),
    ):
        broker = EmbeddedBroker(tls=ServerTls(cert, key))
        with pytest.raises(TlsError, match=f"bad_tls: .*{named}"):
            broker.start()
