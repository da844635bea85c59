"""TLS: whom a client believes, the operator's mistakes, and connections that never finish."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import trustme

from kit.certificates import make_certificate
from salvo.errors import ConnectionLost
from salvo.join import client
from salvo.net.mqtt import BrokerUrl, Connection
from salvo_lab.bots.random_bot import RandomBot
from salvo_server.brokers.embedded import EmbeddedBroker
from salvo_server.brokers.embedded.limits import BrokerLimits
from salvo_server.brokers.embedded.tls import ServerTls, TlsError
from salvo_server.contest import Contest
from salvo_server.settings import ServerSettings

StartBroker = Callable[..., contextlib.AbstractContextManager[EmbeddedBroker]]


class Authority:
    """Makes certificates below one root."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ca = trustme.CA()
        self.file = str(folder / "ca.pem")
        self._ca.cert_pem.write_to_path(self.file)

    def issue(self, *hosts: str) -> tuple[Path, Path]:
        made = self._ca.issue_cert(*hosts)
        certificate, key = self._folder / "server.pem", self._folder / "server.key"
        certificate.write_bytes(b"".join(pem.bytes() for pem in made.cert_chain_pems))
        made.private_key_pem.write_to_path(key)
        return certificate, key


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
def start_broker(authority: Authority) -> StartBroker:
    """Start a broker with a certificate for these hosts."""

    @contextlib.contextmanager
    def start(*hosts: str) -> Iterator[EmbeddedBroker]:
        certificate, key = authority.issue(*hosts)
        with EmbeddedBroker(websocket="127.0.0.1:0", tls=ServerTls(certificate, key)) as running:
            yield running

    return start


def refusal(url: str, ca: str | None = None) -> ConnectionLost:
    """Why no connection comes about; after tries in vain until time is up it would be ``unreachable``."""
    connection = Connection(url, "c", clean_session=True, ca=ca)
    try:
        with pytest.raises(ConnectionLost) as raised:
            connection.connect(120)
    finally:
        connection.close()
    return raised.value


def test_a_game_is_played_over_tls(start_broker: StartBroker, authority: Authority) -> None:
    with start_broker("127.0.0.1") as broker:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SALVO_CA", authority.file)  # the server's connection and one bot's
            contest = Contest(ServerSettings(broker=broker.url, players=2, over_seconds=600))
            web = broker.websocket_url
            assert web is not None
            with contest.in_background():
                rival = threading.Thread(target=client.play, args=(RandomBot(), web, "b", "secret b"), daemon=True)
                rival.start()
                [report] = client.play(RandomBot(), broker.url, "a", "secret a", ca=authority.file)
                rival.join(60)
        assert report.winner in ("a", "b")


def test_an_unknown_authority_is_not_believed(start_broker: StartBroker, authority: Authority, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    with start_broker("127.0.0.1") as broker:
        for ca in (None, Authority(tmp_path / "other").file):
            error = refusal(broker.url, ca)
            assert error.code == "tls_unknown_ca"
            assert "SALVO_CA or --ca" in error.text
        assert broker.websocket_url is not None
        assert refusal(broker.websocket_url).code == "tls_unknown_ca"


def test_a_certificate_for_another_name_is_not_believed(start_broker: StartBroker, authority: Authority) -> None:
    with start_broker("broker.example") as broker:
        error = refusal(broker.url, authority.file)
        assert error.code == "tls_wrong_host"
        assert "another name than 127.0.0.1" in error.text
        by_name = refusal(broker.url.replace("127.0.0.1", "localhost"), authority.file)
        assert (by_name.code, "another name than localhost" in by_name.text) == ("tls_wrong_host", True)


def test_a_plain_client_at_a_tls_port_is_refused_with_the_tls_url(start_broker: StartBroker) -> None:
    with start_broker("127.0.0.1") as broker:
        for url in (broker.url, broker.websocket_url):
            assert url is not None
            plain = url.replace("mqtts:", "mqtt:").replace("wss:", "ws:")
            error = refusal(plain)
            assert error.code == "tls_wanted", error
            assert str(BrokerUrl.parse(url)).removesuffix("/mqtt") in error.text


def test_a_tls_client_at_a_plain_port_is_refused_with_the_plain_url() -> None:
    with EmbeddedBroker(websocket="127.0.0.1:0") as broker:
        for url in (broker.url, broker.websocket_url):
            assert url is not None
            error = refusal(url.replace("mqtt:", "mqtts:").replace("ws:", "wss:"))
            assert error.code == "tls_not_spoken", error
            assert str(BrokerUrl.parse(url)).removesuffix("/mqtt") in error.text


def test_half_open_handshakes_end_and_leave_room_for_others(authority: Authority) -> None:
    """Eight connections say nothing, and a ninth is turned away; a second later there is room again."""
    hasty = BrokerLimits(connect_seconds=1.0, connections=8)
    with (
        EmbeddedBroker(limits=hasty, tls=ServerTls(*authority.issue("127.0.0.1"))) as broker,
        contextlib.ExitStack() as stack,
    ):
        address = "127.0.0.1", broker.port
        silent = [stack.enter_context(socket.create_connection(address, 60)) for _ in range(8)]
        with contextlib.suppress(ConnectionError), socket.create_connection(address, 60) as ninth:
            assert ninth.recv(1) == b""
        for one in silent:
            with contextlib.suppress(ConnectionError):
                assert one.recv(1) == b""  # within the minute that the socket waits
        connection = Connection(broker.url, "", clean_session=True, ca=authority.file)
        connection.connect(60)
        connection.close()


def test_a_certificate_that_cannot_be_used_is_named_with_what_is_wrong(tmp_path: Path) -> None:
    good, other = make_certificate(tmp_path), make_certificate(tmp_path, "other")
    junk, locked = tmp_path / "junk.pem", tmp_path / "locked.key"
    junk.write_text("no certificate")
    command = ["openssl", "pkey", "-in", str(good.key), "-aes256", "-passout", "pass:x", "-out", str(locked)]
    subprocess.run(command, check=True, capture_output=True)
    for cert, key, named in (
        (tmp_path / "missing.pem", good.key, r"missing\.pem: No such file"),
        (good.cert, tmp_path / "missing.key", r"missing\.key: No such file"),
        (good.cert, other.key, r"other\.key is not the one of certificate"),
        (junk, good.key, r"junk\.pem .* must be PEM"),
        (good.cert, locked, r"locked\.key has a passphrase"),
    ):
        broker = EmbeddedBroker(tls=ServerTls(cert, key))
        with pytest.raises(TlsError, match=f"bad_tls: .*{named}"):
            broker.start()
