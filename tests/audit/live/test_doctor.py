"""The doctor finds nothing wrong with a contest that is set up well, and names what is not."""

from __future__ import annotations

import logging
import os
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import trustme

from kit.brokers import Broker, StartServer
from kit.guarded import Guarded, guarded, wait_for_users
from kit.ports import Port
from kit.programs import BROKERS
from salvo.net.mqtt import BrokerUrl
from salvo.wire.seal import fingerprint
from salvo_audit.doctor import CheckFinding, CheckVerdict, ExaminedContest, examine
from salvo_server.commands.tls import make_certificates
from salvo_server.contest import Contest
from salvo_server.operations.local_servers import announced
from salvo_server.settings import ServerSettings
from salvo_server.storage.identity import Identity
from salvo_server.storage.roster import Roster


def of(findings: list[CheckFinding], verdict: CheckVerdict) -> set[str]:
    return {finding.check for finding in findings if finding.verdict is verdict}


def at(contest: Guarded, **given: object) -> ExaminedContest:
    """A contest, with the account that the doctor finds on the server's machine."""
    target = ExaminedContest(BrokerUrl.parse(contest.url), BrokerUrl.parse(contest.websocket_url), **given)  # type: ignore[arg-type]
    target.account = contest.roster.watcher
    wait_for_users(contest.url, target.account.user, target.account.secret, ca=target.ca)
    return target


@pytest.mark.parametrize("kind", BROKERS)
def test_a_contest_passes_its_key_is_named_and_its_log_has_no_warning_of_that(
    kind: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    identity = Identity.fresh()
    with guarded(kind, tmp_path, profile="strict", identity=identity) as contest:
        target = at(contest)
        caplog.clear()
        findings = list(examine(target))
    assert of(findings, CheckVerdict.FAIL) == set(), findings
    assert of(findings, CheckVerdict.PASS) >= {"network", "anonymous", "server"}
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING] == []
    assert [finding.check for finding in findings].count("anonymous") == 2  # at the address for WebSockets, too
    [server] = [finding.text for finding in findings if finding.check == "server"]
    assert fingerprint(identity.signing_key) in server


def test_an_open_broker_fails_unless_it_is_meant_to_be_open(broker: Broker, start_server: StartServer) -> None:
    with start_server(profile="open"):
        findings = list(examine(ExaminedContest(BrokerUrl.parse(broker.url))))
        meant = list(examine(ExaminedContest(BrokerUrl.parse(broker.url), profile="open")))
    assert of(findings, CheckVerdict.FAIL) == {"anonymous"}
    assert all(finding.cure for finding in findings if finding.verdict is CheckVerdict.FAIL)
    assert of(meant, CheckVerdict.FAIL) == set()
    assert of(meant, CheckVerdict.PASS) >= {"anonymous", "server"}


def test_a_roster_that_the_server_does_not_use_is_a_failure(tmp_path: Path) -> None:
    with guarded("embedded", tmp_path) as contest:
        target = ExaminedContest(BrokerUrl.parse(contest.url), account=Roster(tmp_path / "other.json").watcher)
        findings = list(examine(target))
    assert of(findings, CheckVerdict.FAIL) == {"server"}
    assert "--roster" in next(finding.cure for finding in findings if finding.check == "server")


def test_a_port_where_nobody_listens_is_one_failure() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        findings = list(examine(ExaminedContest(BrokerUrl.parse(f"127.0.0.1:{closed.getsockname()[1]}"))))
    assert of(findings, CheckVerdict.FAIL) == {"network"}


@pytest.fixture
def no_answer_awaited(monkeypatch: pytest.MonkeyPatch) -> None:
    """What never answers MQTT need not be waited for."""
    monkeypatch.setattr("salvo_audit.doctor.broker_checks.ANSWER_SECONDS", 0.5)


def _certificate(folder: Path, host: str, days: int) -> tuple[Path, Path, Path]:
    """Make a certificate that ends in so many days and an hour, its key and its authority."""
    authority, ends = trustme.CA(), datetime.now(UTC) + timedelta(days=days, hours=1)
    made = authority.issue_cert(host, "127.0.0.1", not_before=ends - timedelta(days=200), not_after=ends)
    cert, key, ca = (folder / name for name in ("server.pem", "server.key", "ca.pem"))
    made.cert_chain_pems[0].write_to_path(cert)
    made.private_key_pem.write_to_path(key)
    authority.cert_pem.write_to_path(ca)
    return cert, key, ca


@pytest.fixture
def tls_port(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[tuple[int, Path]]:
    """Where somebody shakes hands and says no more, with the certificate of the parameter."""
    cert, key, ca = _certificate(tmp_path, *request.param)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            while True:
                try:
                    connection = listening.accept()[0]
                except OSError:
                    return
                try:
                    context.wrap_socket(connection, server_side=True).close()
                except OSError:
                    connection.close()

        threading.Thread(target=serve, daemon=True).start()
        yield listening.getsockname()[1], ca
        listening.shutdown(socket.SHUT_RDWR)


@pytest.mark.usefixtures("no_answer_awaited")
@pytest.mark.parametrize(
    ("tls_port", "trusted", "verdict", "text", "cure"),
    [
        (("localhost", 90), True, CheckVerdict.PASS, "ends in 90 days", ""),
        (("localhost", 10), True, CheckVerdict.WARN, "ends in 10 days", "renew it"),
        (("localhost", 1), True, CheckVerdict.FAIL, "ends in 1 days", "renew it"),
        (("localhost", -1), True, CheckVerdict.FAIL, "certificate has expired", "renew the certificate"),
        (("localhost", 90), False, CheckVerdict.FAIL, "unable to get local issuer", "an authority that clients know"),
        (("elsewhere.example", 90), True, CheckVerdict.FAIL, "Hostname mismatch", "a certificate for this very host"),
    ],
    indirect=["tls_port"],
)
def test_the_doctor_examines_a_certificate(
    tls_port: tuple[int, Path], trusted: bool, verdict: CheckVerdict, text: str, cure: str
) -> None:
    port, authority = tls_port
    ca = str(authority) if trusted else None
    findings = list(examine(ExaminedContest(BrokerUrl.parse(f"mqtts://localhost:{port}"), ca=ca)))
    [found] = [finding for finding in findings if finding.check == "tls"]
    assert (found.verdict, text in found.text) == (verdict, True), found
    assert found.cure.startswith(cure)


# --- the command --------------------------------------------------------------------------------------------------


def _run(*arguments: str, **given: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("SALVO_")} | given
    command = [sys.executable, "-m", "salvo", "doctor", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment, check=False)


@pytest.mark.long
def test_a_server_with_websockets_under_tls_is_found_healthy_by_the_name_of_its_certificate(
    tmp_path: Path, port: Port
) -> None:
    """Its own port for WebSockets was somebody else's, SALVO_CA was not read, and the certificate not for 127.0.0.1."""
    ca, cert, key = make_certificates(tmp_path / "tls", ["localhost"])
    roster, identity = tmp_path / "roster.json", tmp_path / "identity.key"
    settings = ServerSettings(
        listen="127.0.0.1:0",
        websocket=port.address,
        profile="strict",
        tls_cert=cert,
        tls_key=key,
        roster=roster,
        identity=identity,
        journal=str(tmp_path / "games.journal"),
    )
    contest = Contest(settings)
    running = threading.Thread(target=contest.run)
    running.start()
    try:
        with announced(settings, contest.url, contest.websocket_url):
            done = _run("--roster", str(roster), SALVO_CA=str(ca))
            unknown = _run("--roster", str(roster))
    finally:
        contest.stop.set()
        running.join(60)
    assert (done.returncode, "FAIL" in done.stdout) == (0, False), done.stdout
    assert "the certificate is for localhost" in done.stdout
    assert f"{settings.websocket} is in use by the broker that is examined" in done.stdout
    assert "wss://localhost:" in done.stdout
    assert "SALVO_CA or --ca FILE" in unknown.stdout
