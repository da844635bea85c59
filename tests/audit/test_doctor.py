"""What the doctor finds on the machine itself, and how it reports it."""

from __future__ import annotations

import re
import shutil
import socket
from collections import Counter
from email.message import Message
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner

from kit.ports import Port
from salvo.errors import SalvoError
from salvo.net.mqtt import BrokerUrl
from salvo_audit.commands.doctor import doctor
from salvo_audit.doctor import CheckFinding, CheckVerdict, ExaminedContest, broker_checks, machine_checks
from salvo_server.contest import check_start
from salvo_server.operations.local_servers import announced
from salvo_server.settings import ServerSettings, SettingsError
from salvo_server.storage.roster import Roster


def here(tmp_path: Path, **given: Any) -> ExaminedContest:
    settings: dict[str, Any] = {
        "roster": tmp_path / "roster.json",
        "identity": tmp_path / "identity.key",
        "journal": str(tmp_path / "games.journal"),
    }
    return ExaminedContest(BrokerUrl.parse("127.0.0.1:1883"), settings=ServerSettings(**settings | given))


def one(findings: Any) -> CheckFinding:
    [finding] = findings
    assert isinstance(finding, CheckFinding)
    return finding


# --- files --------------------------------------------------------------------------------------------------------


def test_files_that_only_their_owner_reads_are_well(tmp_path: Path) -> None:
    Roster(tmp_path / "roster.json").add("red")
    found = one(machine_checks.check_files(here(tmp_path)))
    assert (found.verdict, "roster.json, roster.json.key" in found.text) == (CheckVerdict.PASS, True)


@pytest.mark.parametrize(
    "name", ["roster.json", "roster.json.key", "identity.key", "games.journal", "games.journal.key"]
)
def test_a_file_with_secrets_that_others_read_is_named_with_its_cure(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"x")
    (tmp_path / name).chmod(0o640)
    found = one(machine_checks.check_files(here(tmp_path)))
    assert found.verdict is CheckVerdict.FAIL
    assert found.cure == f"chmod 600 {tmp_path / name}"


@pytest.mark.parametrize(
    "name", ["roster.json", "roster.json.key", "games.journal", "games.journal.key", "games.journal-wal"]
)
def test_a_server_starts_with_no_file_that_others_may_change(
    name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Who may only read a secret is named; one that an engine has mounted, for all to read, is as it should be."""
    settings = here(tmp_path, listen="127.0.0.1:0").settings
    assert settings is not None
    file = tmp_path / name
    file.write_bytes(b"x")
    for mode, says in (
        (0o600, ""),
        (0o640, ""),
        (0o444, ""),
        (0o644, f"others can read its secrets; chmod 600 {file}"),
    ):
        file.chmod(mode)
        caplog.clear()
        check_start(settings)
        assert (bool(caplog.text), says in caplog.text) == (bool(says), True)
    for mode in (0o666, 0o620, 0o602):
        file.chmod(mode)
        with pytest.raises(
            SettingsError, match=rf"^file_rights: .* {mode:04o}: others could change it; chmod 600 {file}"
        ):
            check_start(settings)
        assert one(machine_checks.check_files(here(tmp_path))).verdict is CheckVerdict.FAIL


def test_a_lost_roster_is_a_failure_and_the_doctor_begins_none(tmp_path: Path, nowhere: str) -> None:
    """It wrote a new one for its two accounts, and the server that ran threw out everybody else."""
    roster = Roster(tmp_path / "roster.json")
    roster.add("red")
    roster.path.unlink()
    found = one(machine_checks.check_files(here(tmp_path, profile="contest")))
    assert (found.verdict, "--new" in found.cure) == (CheckVerdict.FAIL, True)
    done = CliRunner(env={"SALVO_PROFILE": "contest"}).invoke(doctor, [nowhere, "--roster", str(roster.path)])
    assert found.line in done.stdout
    assert not roster.path.exists()


# --- disk and ports -----------------------------------------------------------------------------------------------


class _Usage(NamedTuple):
    total: int
    used: int
    free: int


@pytest.mark.parametrize(("free", "verdict"), [(199 * 2**20, CheckVerdict.FAIL), (201 * 2**20, CheckVerdict.PASS)])
def test_a_disk_that_is_nearly_full_is_a_failure(
    free: int, verdict: CheckVerdict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: _Usage(2**40, 2**40 - free, free))
    assert one(machine_checks.check_disk(here(tmp_path))).verdict is verdict


def test_a_port_that_another_program_has_is_a_failure_and_the_brokers_own_is_not(tmp_path: Path, port: Port) -> None:
    with socket.create_server(("127.0.0.1", port.number)):
        target = here(tmp_path, listen=port.address)
        target.url = BrokerUrl.parse(port.address)
        found = one(machine_checks.check_ports(target))
        assert (found.verdict, f":{port.number}'" in found.cure) == (CheckVerdict.FAIL, True)
        target.answering.add(target.url)
        assert one(machine_checks.check_ports(target)).verdict is CheckVerdict.PASS
    target.answering.clear()
    assert one(machine_checks.check_ports(target)).text == f"{port.address} is free"


# --- TLS ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "settings", "verdict", "cure"),
    [
        ("127.0.0.1:7000", {"listen": "127.0.0.1:7000"}, CheckVerdict.SKIP, "salvo serve --tls-cert"),
        ("127.0.0.1:7000", {"listen": "0.0.0.0:7000"}, CheckVerdict.WARN, "salvo serve --tls-cert"),
        ("127.0.0.1:7000", {"listen": "[::]:7000"}, CheckVerdict.WARN, "salvo serve --tls-cert"),
        ("192.0.2.7:7000", {"listen": "192.0.2.7:7000"}, CheckVerdict.WARN, "salvo serve --tls-cert"),
        ("192.0.2.7:7000", {"broker": "mqtt://192.0.2.7:7000"}, CheckVerdict.WARN, "mosquitto.conf"),
        ("contest.example:7000", None, CheckVerdict.WARN, "mosquitto.conf"),
    ],
)
def test_passwords_in_the_open_are_a_warning_where_somebody_else_can_listen(
    url: str, settings: dict[str, Any] | None, verdict: CheckVerdict, cure: str, tmp_path: Path
) -> None:
    target = ExaminedContest(BrokerUrl.parse(url))
    if settings is not None:
        target = here(tmp_path, **settings)
        target.url = BrokerUrl.parse(url)
    found = broker_checks.judge_plain(target, target.url)
    assert (found.verdict, cure in found.cure) == (verdict, True), found
    if settings is not None:
        assert ("--tls-cert and" in found.cure) is ("listen" in settings)  # the other broker's cure is none
    target.profile = "strict"
    assert broker_checks.judge_plain(target, target.url).verdict is CheckVerdict.FAIL


@pytest.mark.parametrize(
    ("url", "broker", "verdicts"),
    [
        ("mqtt://192.0.2.7", "mqtt://192.0.2.7:1884", [CheckVerdict.WARN]),
        ("ws://192.0.2.7:9001", "mqtt://192.0.2.7:1884", [CheckVerdict.WARN]),
        ("mqtt://127.0.0.1", "mqtt://127.0.0.1:1884", [CheckVerdict.SKIP]),
        ("mqtts://192.0.2.7", "mqtt://192.0.2.7:1884", []),
        ("mqtt://192.0.2.7", None, []),
    ],
)
def test_a_mosquitto_without_the_front_is_a_warning_where_others_reach_it(
    url: str, broker: str | None, verdicts: list[CheckVerdict], tmp_path: Path
) -> None:
    found = list(broker_checks.judge_past_the_front(here(tmp_path, broker=broker), BrokerUrl.parse(url)))
    assert [each.verdict for each in found] == verdicts
    assert all("deploy/front.cfg" in each.cure for each in found)


# --- software -----------------------------------------------------------------------------------------------------


def _software(
    monkeypatch: pytest.MonkeyPatch, python: str, needed: list[str], installed: dict[str, str]
) -> CheckFinding:
    def version(name: str) -> str:
        if name not in installed:
            raise metadata.PackageNotFoundError(name)
        return installed[name]

    monkeypatch.setattr(metadata, "requires", lambda _: needed)
    about = Message()
    about["Requires-Python"] = python
    for extra in ("server", "terminal", "dev"):
        about["Provides-Extra"] = extra
    monkeypatch.setattr(metadata, "metadata", lambda _: about)
    monkeypatch.setattr(metadata, "version", version)
    return one(machine_checks.check_python(ExaminedContest(BrokerUrl.parse("x"))))


@pytest.mark.parametrize(
    ("needed", "fits", "unfit"),
    [
        (">=2.1", ("2.1", "2.1.0", "2.1.0.post1", "2.10", "3", "3.0rc1"), ("2.0.9", "2.1rc1", "1!x", "unknown")),
        ("==0.12.1", ("0.12.1", "0.12.1+local"), ("0.12.2", "0.13", "0.12.1rc1")),
        (">=2.0.0", ("2.0",), ("2.0.0rc1", "2.0.0.dev3")),
        ("~=2.2", ("2.2", "2.9.1"), ("3.0", "2.1")),
        (">=2,!=2.4,<3", ("2.3",), ("2.4", "3")),
    ],
)
def test_versions_are_compared_as_pip_compares_them(
    needed: str, fits: tuple[str, ...], unfit: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The story: == was read as >=, a release candidate passed for the release, and ~= was not read at all."""
    for version in (*fits, *unfit):
        found = _software(monkeypatch, ">=3.11", [f"amqtt{needed}; extra == 'server'"], {"amqtt": version})
        assert (found.verdict is CheckVerdict.PASS) is (version in fits), version


# --- the command --------------------------------------------------------------------------------------------------


@pytest.fixture
def nowhere(port: Port) -> str:
    """Where nobody listens."""
    return port.address


def test_doctor_prints_and_counts_its_findings_and_a_failure_has_a_fix(tmp_path: Path, nowhere: str) -> None:
    plain = CliRunner().invoke(doctor, [nowhere, "--roster", str(tmp_path / "roster.json")])
    assert plain.exit_code == 1
    *lines, last = plain.stdout.splitlines()
    verdicts = Counter(line[:4] for line in lines)
    assert verdicts["FAIL"] == 1
    assert last == f"{len(lines)} checks: {verdicts['PASS']} PASS, 1 FAIL, {verdicts['SKIP']} SKIP"
    [network] = [line for line in lines if line.split()[1] == "network"]
    assert re.search(r"cannot be reached: .*; fix: start the server", network)


def test_the_server_that_runs_is_the_one_to_examine(tmp_path: Path, nowhere: str) -> None:
    roster, address = tmp_path / "roster.json", nowhere
    arguments = ["--roster", str(roster)]
    settings = ServerSettings(listen="127.0.0.1:0", roster=roster, journal=str(tmp_path / "j" / "games.journal"))
    (tmp_path / "j").mkdir()
    (tmp_path / "j" / "games.journal.key").touch(0o644)
    (tmp_path / "j" / "games.journal.key").chmod(0o644)
    with announced(settings, f"mqtt://{address}", None):
        for url in ([], [address], [f"localhost:{address.partition(':')[2]}"]):
            done = CliRunner().invoke(doctor, [*url, *arguments])
            assert f":{address.partition(':')[2]} cannot be reached" in done.stdout
            assert f"chmod 600 {tmp_path / 'j' / 'games.journal.key'}" in done.stdout
        with announced(settings, "mqtt://127.0.0.1:2", None):
            done = CliRunner().invoke(doctor, arguments)
            assert isinstance(done.exception, SalvoError)
            assert f"several servers run here, at mqtt://127.0.0.1:2, mqtt://{address}" in done.exception.text
    done = CliRunner(env={"SALVO_LISTEN": address}).invoke(doctor, arguments)
    assert f"mqtt://{address} cannot be reached" in done.stdout
