"""The doctor finds the holes that are there, none that is not, and leaves nothing behind."""

from __future__ import annotations

import datetime
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kit.brokers import Broker, StartServer
from kit.front import Front
from kit.guarded import Guarded, guarded, wait_for_users
from kit.mosquitto import ContestMosquitto, Mosquitto
from kit.ports import Port
from kit.processes import started
from kit.programs import BROKERS, needs
from salvo.cli import main
from salvo.client import play
from salvo.codec.command_writer import write_participation
from salvo.messages import State
from salvo.net.mqtt import BrokerUrl
from salvo.permissions import Role
from salvo.player import Answer, Bot
from salvo.seal import fingerprint
from salvo.view import View
from salvo_audit.doctor import Finding, Login, Target, Verdict, examine, temporary_teams
from salvo_audit.doctor import target as target_module
from salvo_audit.doctor.probe import Heard, Probe
from salvo_server.brokers.embedded.tls import ServerTls
from salvo_server.commands.tls import make_certificates
from salvo_server.contest import Contest
from salvo_server.running import announced
from salvo_server.settings import ServerSettings
from salvo_server.storage.identity import Identity
from salvo_server.storage.roster import Roster

KINDS = BROKERS
README = Path(__file__).parents[3] / "server" / "README.md"
#: What an open broker of either kind lets everybody do.
HOLES = {
    "anonymous",
    "wrong password",
    "private topics",
    "requests",
    "forged messages",
    "retained messages",
    "last will",
    "client id, team",
    "client id, server",
}
#: What the profile open means by its name; the other holes it has on somebody else's broker only.
WITHOUT_LOGIN = {"anonymous", "wrong password", "private topics", "client id, team"}
ATTACKS = HOLES | {
    "$SYS",
    "$CONTROL",
    "oversized packet",
    "subscriptions",
    "invented names",
    "flood",
    "silent sockets",
    "afterwards",
}
#: What is mosquitto's own weakness, which the front is for, or hangs on how busy this machine is.
UNSEEN = {"flood", "silent sockets"}
SALVO = str(Path(sysconfig.get_path("scripts")) / "salvo")


@pytest.fixture(autouse=True)
def brief_floods(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("salvo_audit.doctor.break_in._FLOOD_SECONDS", 0.4)
    monkeypatch.setattr("salvo_audit.doctor.break_in._FLOOD_WAIT_SECONDS", 1.0)
    monkeypatch.setattr("salvo_audit.doctor.break_in._SILENT", 60)


def of(findings: list[Finding], verdict: Verdict) -> set[str]:
    return {finding.check for finding in findings if finding.verdict is verdict}


def everything_at(url: str, login: Login | None) -> list[Heard]:
    """What a newcomer gets."""
    with Probe(BrokerUrl.parse(url)) as probe:
        assert probe.greet("newcomer" if login is None else login.user, login).accepted
        probe.subscribe("#")
        assert probe.ping()
        return probe.heard


def kept_at(url: str) -> set[tuple[str, bytes]]:
    """What the broker keeps, once all is there that a server says when it begins: its status comes first."""
    kept: set[tuple[str, bytes]] = set()
    said = {"/game/server", "/game/rules", "/game/state", "/players/count", "/players/list"}
    while not said <= {topic for topic, _ in kept}:
        kept = {(heard.topic, heard.payload) for heard in everything_at(url, None) if heard.retain}
    return kept


# --- an open broker -----------------------------------------------------------------------------------------------


def test_an_open_broker_shows_what_that_means(broker: Broker, start_server: StartServer) -> None:
    with start_server(profile="open"):
        before = kept_at(broker.url)
        findings = list(examine(Target(BrokerUrl.parse(broker.url))))
        of_mosquitto = {"$SYS"} if isinstance(broker, Mosquitto) else set()
        assert of(findings, Verdict.FAIL) == HOLES | {"invented names"} | of_mosquitto
        assert of(findings, Verdict.PASS) >= ATTACKS - HOLES - {"invented names"} - of_mosquitto - UNSEEN
        assert all(finding.cure for finding in findings if finding.verdict is Verdict.FAIL)
        assert kept_at(broker.url) == before


def test_where_it_is_meant_to_be_open_that_is_no_failure(broker: Broker, start_server: StartServer) -> None:
    with start_server(profile="open"):
        findings = list(examine(Target(BrokerUrl.parse(broker.url), profile="open")))
    assert of(findings, Verdict.FAIL) == set()
    assert of(findings, Verdict.SKIP) >= WITHOUT_LOGIN
    assert of(findings, Verdict.WARN) >= HOLES - WITHOUT_LOGIN
    assert all("as the profile open has it" in f.text for f in findings if f.check in WITHOUT_LOGIN)
    assert all("salvo mosquitto" in f.cure for f in findings if f.check in HOLES - WITHOUT_LOGIN)


# --- a guarded one ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_contest_withstands_every_attempt_and_is_left_as_it_was(kind: str, tmp_path: Path) -> None:
    with guarded(kind, tmp_path, tables=("", "blue")) as contest:
        hall = Login("hall", contest.roster.add("hall", Role.WATCHER))
        target = Target(BrokerUrl.parse(contest.url), tables=("", "blue"))
        target.websocket = BrokerUrl.parse(contest.websocket_url)
        with temporary_teams(contest.roster) as (target.victim, target.attacker):
            names, (user, secret) = target.teams, target.victim
            findings = list(examine(target))
        assert of(findings, Verdict.FAIL) == set()
        assert of(findings, Verdict.PASS) >= ATTACKS - UNSEEN | {"accounts", "server", "round trip", "websocket"}
        assert [member.name for member in contest.roster.members()] == ["hall"]
        assert not any(name in heard.topic for name in names for heard in everything_at(contest.url, hall))
        wait_for_users(contest.url, user, secret, admitted=False)


def test_a_strict_server_is_examined_as_well_and_its_key_is_told(tmp_path: Path) -> None:
    identity = Identity.fresh()
    with guarded("embedded", tmp_path, profile="strict", identity=identity) as contest:
        target = Target(BrokerUrl.parse(contest.url))
        with temporary_teams(contest.roster) as (target.victim, target.attacker):
            findings = {finding.check: finding for finding in examine(target)}
    assert {check for check, found in findings.items() if found.verdict is Verdict.FAIL} == set()
    assert findings["private topics"].verdict is Verdict.PASS
    assert fingerprint(identity.signing_key) in findings["server"].text


def test_without_accounts_it_tries_what_a_stranger_can(tmp_path: Path) -> None:
    with guarded("embedded", tmp_path) as contest:
        websocket = BrokerUrl.parse(contest.websocket_url)
        findings = list(examine(Target(BrokerUrl.parse(contest.url), websocket=websocket)))
    assert of(findings, Verdict.FAIL) == set()
    assert {"websocket", "anonymous", "wrong password"} <= of(findings, Verdict.PASS)
    [left_out] = [finding.text for finding in findings if finding.check == "break-in"]
    assert left_out == "15 attempts are not made: what a team could do takes an account"
    assert any("--as NAME:SECRETFILE" in finding.cure for finding in findings)


def examined(contest: Guarded, front: Front | None = None) -> list[Finding]:
    target = Target(BrokerUrl.parse(contest.url if front is None else front.url))
    if front is not None:
        target.ca = str(front.certificate.cert)
    with temporary_teams(contest.roster) as (target.victim, target.attacker):
        return list(examine(target))


class _ShortQueue(ContestMosquitto):
    """Drops for the server what a flood brings; the same as 40,000 messages, in less time."""

    def _write_config(self) -> Path:
        config = super()._write_config()
        text, count = re.subn(r"max_queued_messages \d+", "max_queued_messages 100", config.read_text())
        assert count
        config.write_text(text)
        return config


@pytest.mark.slow
@needs("mosquitto")
def test_mosquitto_without_the_front_is_found_to_lose_messages_and_to_be_filled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("salvo_audit.doctor.break_in._SILENT", 600)
    with guarded("mosquitto", tmp_path, mosquitto=_ShortQueue) as contest:
        findings = examined(contest)
    assert of(findings, Verdict.FAIL) == set()
    assert {"flood", "silent sockets"} <= of(findings, Verdict.WARN)


@pytest.mark.slow
@needs("mosquitto")
@needs("haproxy")
def test_behind_the_front_every_attempt_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("salvo_audit.doctor.break_in._SILENT", 600)
    with guarded("mosquitto", tmp_path) as contest:
        ports = [BrokerUrl.parse(url).port for url in (contest.url, contest.websocket_url)]
        with Front(tmp_path, *ports) as front:
            findings = examined(contest, front)
    assert (of(findings, Verdict.FAIL) | of(findings, Verdict.WARN)) - {"tls"} == set()  # the test's ends soon
    assert of(findings, Verdict.PASS) >= ATTACKS


def test_every_defence_that_is_listed_is_tried_and_every_attempt_is_listed() -> None:
    table = README.read_text().partition("<!-- defences -->")[2].partition("<!-- /defences -->")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")][1:]
    assert all(len(row) == 4 for row in rows), rows
    seen = {word for *_, checks in rows for word in re.findall(r"`([^`]+)`", checks)}
    assert seen == ATTACKS - {"afterwards"} | {"tls"}


def test_accounts_that_the_server_does_not_know_are_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("salvo_audit.doctor.reach._ADMISSION_SECONDS", 0.5)
    with guarded("embedded", tmp_path) as contest:
        other = Roster(tmp_path / "other.json")
        target = Target(BrokerUrl.parse(contest.url))
        with temporary_teams(other) as (target.victim, target.attacker):
            findings = list(examine(target))
    assert of(findings, Verdict.FAIL) == {"accounts"}
    assert other.members() == ()


def test_accounts_of_a_doctor_that_was_killed_are_struck_off_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    roster = Roster(tmp_path / "roster.json")
    roster.add("doctor-11111111")
    roster.add("red")
    with temporary_teams(roster):
        assert {"doctor-11111111", "red"} < {member.name for member in roster.members()}
    monkeypatch.setattr(target_module, "_MAX_EXAMINATION", datetime.timedelta(seconds=-1))
    with temporary_teams(roster):
        assert "doctor-11111111" not in {member.name for member in roster.members()}
    assert [member.name for member in roster.members()] == ["red"]


# --- the way to the broker ----------------------------------------------------------------------------------------


def test_a_port_where_nobody_listens_is_one_failure_and_the_rest_is_skipped() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        findings = list(examine(Target(BrokerUrl.parse(f"127.0.0.1:{closed.getsockname()[1]}"))))
    assert of(findings, Verdict.FAIL) == {"network"}
    assert "break-in" in of(findings, Verdict.SKIP)


def test_who_is_no_broker_is_told_apart() -> None:
    def hang_up(listening: socket.socket) -> None:
        while True:
            try:
                listening.accept()[0].close()
            except OSError:
                return

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=hang_up, args=(listening,), daemon=True)
        thread.start()
        findings = list(examine(Target(BrokerUrl.parse(f"127.0.0.1:{listening.getsockname()[1]}"))))
        listening.shutdown(socket.SHUT_RDWR)
    assert "mqtt" in of(findings, Verdict.FAIL)


def _certificate(folder: Path, host: str, days: int) -> tuple[Path, Path]:
    cert, key = folder / f"{host}-{days}.pem", folder / f"{host}-{days}.key"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-subj", f"/CN={host}", "-addext", f"subjectAltName=DNS:{host},IP:127.0.0.1", "-days", str(days)]
    subprocess.run([*command, "-keyout", str(key), "-out", str(cert)], check=True, capture_output=True)
    return cert, key


@pytest.fixture
def tls_port(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[tuple[int, Path]]:
    """Where somebody shakes hands and says no more, with the certificate of the parameter."""
    cert, key = _certificate(tmp_path, *request.param)
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
        yield listening.getsockname()[1], cert
        listening.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize(
    ("tls_port", "believed", "verdict", "text"),
    [
        (("localhost", 90), True, Verdict.PASS, "ends in 90 days"),
        (("localhost", 1), True, Verdict.FAIL, "ends in 1 days"),
        (("localhost", 90), False, Verdict.FAIL, "self-signed certificate"),
        (("elsewhere.example", 90), True, Verdict.FAIL, "Hostname mismatch"),
    ],
    indirect=["tls_port"],
)
def test_a_certificate_is_looked_at(tls_port: tuple[int, Path], believed: bool, verdict: Verdict, text: str) -> None:
    port, cert = tls_port
    ca = str(cert) if believed else None
    findings = list(examine(Target(BrokerUrl.parse(f"mqtts://localhost:{port}"), ca=ca)))
    [found] = [finding for finding in findings if finding.check == "tls"]
    assert (found.verdict, text in found.text.replace("self signed", "self-signed")) == (verdict, True), found


def test_a_contest_under_tls_is_examined_through_it(tmp_path: Path) -> None:
    cert, key = _certificate(tmp_path, "localhost", 90)
    with guarded("embedded", tmp_path, tls=ServerTls(cert, key)) as contest:
        assert contest.url.startswith("mqtts://")
        target = Target(BrokerUrl.parse(contest.url), ca=str(cert))
        target.websocket = BrokerUrl.parse(contest.websocket_url)
        with temporary_teams(contest.roster) as (target.victim, target.attacker):
            findings = list(examine(target))
    assert of(findings, Verdict.FAIL) == set()
    assert of(findings, Verdict.PASS) >= ATTACKS - UNSEEN | {"tls", "websocket", "server", "round trip"}


class _Waits(Bot):
    """Lets its first turn go on until a test ends."""

    ended = threading.Event()

    def choose_salvo(self, view: View) -> Answer:
        self.ended.wait(60)
        return view.untouched.sample(view.shots)


@pytest.mark.parametrize(
    ("fast_ms", "verdict", "text"),
    [
        (0, Verdict.PASS, "fits the current turn, to 30 s"),
        (-60_000, Verdict.FAIL, "behind the server's"),
        (90_000, Verdict.FAIL, "ahead of the server's"),
    ],
)
def test_the_clock_is_compared_with_a_turn_that_is_on(
    fast_ms: int, verdict: Verdict, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("salvo_audit.doctor.reach._clock_ms", lambda: time.time() * 1000 + fast_ms)
    monkeypatch.setattr("salvo_audit.doctor.reach._TURN_SECONDS", 0.1)
    _Waits.ended.clear()
    with guarded("embedded", tmp_path) as contest:
        secrets = {name: contest.roster.add(name) for name in ("red", "blue")}
        wait_for_users(contest.url, "blue.1", secrets["blue"])
        for name, secret in secrets.items():
            given: dict[str, Any] = {"username": name, "password": secret, "stop": _Waits.ended}
            threading.Thread(target=play, args=(_Waits(), contest.url, name, secret), kwargs=given, daemon=True).start()
        end = time.monotonic() + 60
        while contest.service.tables[""].referee.state is not State.TURN:
            assert time.monotonic() < end
            time.sleep(0.02)
        target = Target(BrokerUrl.parse(contest.url))
        with temporary_teams(contest.roster) as (target.victim, target.attacker):
            findings = {finding.check: finding for finding in examine(target)}
        _Waits.ended.set()
    assert (findings["clock"].verdict, text in findings["clock"].text) == (verdict, True), findings["clock"]
    assert {check for check, found in findings.items() if found.verdict is Verdict.FAIL} <= {"clock"}


def test_who_plays_is_not_thrown_out_and_nothing_false_is_said_of_the_broker(tmp_path: Path) -> None:
    """With a team's own account the doctor threw out its bot, which came back and threw out the doctor: FAIL."""
    with guarded("embedded", tmp_path) as contest:
        secrets = {name: contest.roster.add(name) for name in ("red", "blue")}
        wait_for_users(contest.url, "blue.1", secrets["blue"])
        with Probe(BrokerUrl.parse(contest.url)) as bot:
            assert bot.greet("red", Login("red", secrets["red"])).accepted
            bot.publish("/game/request_participation", write_participation("red", secrets["red"]))
            end = time.monotonic() + 60
            while not contest.service.tables[""].referee.players:
                assert time.monotonic() < end
                time.sleep(0.02)
            target = Target(BrokerUrl.parse(contest.url), named=True)
            target.victim, target.attacker = (Login(name, secrets[name]) for name in ("blue", "red"))
            findings = {finding.check: finding for finding in examine(target)}
            assert bot.ping()
    assert of(list(findings.values()), Verdict.FAIL) == set()
    assert findings["accounts"].verdict is Verdict.SKIP
    assert findings["accounts"].text.startswith("red plays at the moment")
    assert findings["wrong password"].verdict is Verdict.PASS


def test_a_server_of_another_profile_than_is_wanted_is_a_failure(tmp_path: Path) -> None:
    with guarded("embedded", tmp_path) as contest:
        target = Target(BrokerUrl.parse(contest.url), profile="strict")
        with temporary_teams(contest.roster) as (target.victim, target.attacker):
            findings = {finding.check: finding for finding in examine(target)}
    assert "strict is wanted" in findings["server"].text
    assert of(list(findings.values()), Verdict.FAIL) == {"server", "tls"}


# --- the command --------------------------------------------------------------------------------------------------


def _run(*arguments: str, **given: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("SALVO_")} | given
    command = [sys.executable, "-m", "salvo", "doctor", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment, check=False)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_the_command_passes_a_guarded_contest_with_accounts_of_the_roster_or_named(kind: str, tmp_path: Path) -> None:
    with guarded(kind, tmp_path) as contest:
        roster = str(contest.roster.path)
        done = _run(contest.url, "--roster", roster, "--json")
        records = [json.loads(line) for line in done.stdout.splitlines()]
        assert (done.returncode, done.stderr) == (0, "")
        assert {each["check"] for each in records if each["verdict"] == "PASS"} >= ATTACKS - UNSEEN
        assert contest.roster.members() == ()
        named = []
        for name in ("red", "blue"):
            file = tmp_path / name
            file.write_text(contest.roster.add(name) + "\n")
            named += ["--as", f"{name}:{file}"]
        done = _run(contest.url, *named)
        assert done.returncode == 0
        assert "PASS  private topics" in done.stdout
        assert all(file.read_text().strip() not in done.stdout for file in (tmp_path / "red", tmp_path / "blue"))
        assert [member.name for member in contest.roster.members()] == ["red", "blue"]


@pytest.mark.long
def test_the_command_fails_on_an_open_broker(broker: Broker, start_server: StartServer) -> None:
    with start_server(profile="open"):
        done = _run(broker.url, "--profile", "contest")
        assert done.returncode == 1
        assert "FAIL  anonymous" in done.stdout
        assert "fix: " in done.stdout


def test_a_doctor_that_finds_no_server_says_so_first(tmp_path: Path, port: Port) -> None:
    config = tmp_path / "hall.toml"
    config.write_text(f'listen = "{port.address}"\n')
    done = _run("--config", str(config), XDG_STATE_HOME=str(tmp_path), XDG_CONFIG_HOME=str(tmp_path))
    assert done.stderr == f"no server of this user runs here; looking at mqtt://{port.address}\n"
    assert done.returncode == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_doctor_that_is_interrupted_takes_its_accounts_with_it(number: signal.Signals, tmp_path: Path) -> None:
    """It waits for accounts that this server will never know of, and is interrupted meanwhile."""
    with guarded("embedded", tmp_path) as contest:
        other = Roster(tmp_path / "other.json")
        other.add("red")
        command = [sys.executable, "-m", "salvo", "doctor", contest.url, "--roster", str(other.path)]
        with started(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
            end = time.monotonic() + 60
            while len(other.members()) < 3:
                assert time.monotonic() < end
                assert running.poll() is None
                time.sleep(0.02)
            running.send_signal(number)
            told = running.communicate(timeout=60)
        assert running.returncode == 130, told
        assert [member.name for member in other.members()] == ["red"]


def test_a_signal_that_comes_inside_a_finalizer_still_ends_the_examination(
    tmp_path: Path, port: Port, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python prints and drops what a finalizer raises; the roster's lock has one."""

    class Finalized:
        def __del__(self) -> None:
            os.kill(os.getpid(), signal.SIGTERM)

    def add(self: Roster, name: str, role: Role) -> str:
        secret = added(self, name, role)
        Finalized()
        return secret

    added = Roster.add
    roster = Roster(tmp_path / "roster.json")
    roster.add("red")
    monkeypatch.setattr(Roster, "add", add)
    with pytest.raises(SystemExit) as end:
        main(["doctor", f"mqtt://{port.address}", "--roster", str(roster.path)])
    assert end.value.code == 130
    assert [member.name for member in roster.members()] == ["red"]


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
    assert (done.returncode, "FAIL" in done.stdout.replace("none is FAIL", "")) == (0, False), done.stdout
    assert "the certificate is for localhost" in done.stdout
    assert f"{settings.websocket} is in use by the broker that is examined" in done.stdout
    assert "wss://localhost:" in done.stdout
    assert "SALVO_CA or --ca FILE" in unknown.stdout


def test_one_account_is_one_too_few(tmp_path: Path) -> None:
    done = _run("mqtt://127.0.0.1:1", "--as", "red:nowhere")
    assert done.returncode == 2
    assert "twice" in done.stderr
