"""The variables behind ``SALVO_``: which of them are the server's, and what becomes of all others."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from salvo_server.settings import VARIABLES_OF_OTHERS, RecordedSettings, ServerSettings, SettingsError, load_settings

ROOT = Path(__file__).parents[2]
#: Every file of ours that may read a variable, or have one read.
SOURCES = [
    *(ROOT / "client_sdk").rglob("*.py"),
    *(ROOT / "server").rglob("*.py"),
    *ROOT.glob("docker-compose*.yml"),
    *(ROOT / "deploy").iterdir(),
]
NOTHING_SET = RecordedSettings().model_dump()
USED = {name.lower() for file in SOURCES for name in re.findall(r"\bSALVO_([A-Z_]+[A-Z])\b", file.read_text("utf-8"))}


@pytest.fixture(autouse=True)
def _no_variables_of_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith("SALVO_"):
            monkeypatch.delenv(name)


def test_every_variable_that_salvo_uses_is_a_setting_or_known_as_another_programs() -> None:
    prefixes = {"port", "port_", "bot", "bot_"}
    assert USED - prefixes - ServerSettings.model_fields.keys() <= VARIABLES_OF_OTHERS


def test_every_variable_known_as_another_programs_is_used_somewhere() -> None:
    assert VARIABLES_OF_OTHERS <= USED


@pytest.mark.parametrize("name", ["bot_players", *sorted(VARIABLES_OF_OTHERS - ServerSettings.model_fields.keys())])
def test_a_variable_of_another_program_of_ours_is_left_alone(
    name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(f"SALVO_{name.upper()}", "x")
    assert load_settings({}).model_dump() == NOTHING_SET
    assert not caplog.messages


@pytest.mark.parametrize(("name", "value"), [("SALVO_SEED", "mine"), ("SALVO_GAMES", "3"), ("SALVO_GAMES", "all")])
def test_a_bots_seed_and_games_are_not_the_servers(
    name: str, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(name, value)
    assert load_settings({}).model_dump() == ServerSettings().model_dump() == NOTHING_SET
    assert [f"ignored: {name} is a bot's"] == [message.partition(";")[0] for message in caplog.messages]
    file = tmp_path / "salvo.toml"
    file.write_text('seed = "the server\'s"\ngames = 2\n')
    settings = load_settings({"games": 5}, file)
    assert (settings.seed, settings.games) == ("the server's", 5)


@pytest.mark.parametrize(
    "names",
    [
        ("SERVICE_HOST", "SERVICE_PORT", "SERVICE_PORT_MQTT", "SERVICE_PORT_WEB_1"),
        ("PORT", "PORT_1883_TCP", "PORT_1883_TCP_ADDR", "PORT_1883_TCP_PORT", "PORT_1883_TCP_PROTO", "PORT_53_UDP"),
        ("BROKER_SERVICE_HOST", "BROKER_PORT", "BROKER_PORT_1883_TCP_ADDR", "ROSTER_WEB_SERVICE_PORT_HTTP"),
        ("NAME", "ENV_PATH", "WEB_ENV_HOME"),
        ("VERSION", "HOME", "SECRETARY_OF_STATE"),
    ],
)
def test_an_unknown_variable_is_ignored_with_one_line(
    names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in names:
        monkeypatch.setenv(f"SALVO_{name}", "tcp://10.0.0.1:1883")
    assert load_settings({}).model_dump() == NOTHING_SET
    [line] = caplog.messages
    assert all(f"SALVO_{name}" in line for name in names)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("TURN_SECOND", "TURN_SECONDS"),
        ("TURNSECONDS", "TURN_SECONDS"),
        ("MAX_PLAYERS", "PLAYERS"),
        ("TRANSCRIPT", "TRANSCRIPTS"),
        ("TLS_CERTS", "TLS_CERT"),
        ("PACE", "PACE_SECONDS"),
        ("GATEWAY", "GATEWAYS"),
    ],
)
def test_nearly_the_name_of_a_setting_is_refused_with_the_one_that_was_meant(
    name: str, meant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"SALVO_{name}", "5")
    with pytest.raises(SettingsError) as refused:
        load_settings({})
    assert str(refused.value) == (
        f"unknown_setting: environment variable SALVO_{name} is not a setting; did you mean SALVO_{meant}?"
    )
