"""An option that does nothing beside others is an error: which one, why, and what to do instead."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from salvo.cli import cli, main
from salvo.cli.checked import refuse_unused
from salvo.errors import SalvoError
from salvo.system.plugins import GATEWAYS, found
from salvo_lab.commands.on_hosts import connected
from salvo_server.settings import load_settings

#: A command line, and the option in it that does nothing.
USELESS = {
    "serve --broker mqtt://h --listen 127.0.0.1:1": "--listen",
    "serve --broker mqtt://h --websocket 127.0.0.1:1": "--websocket",
    "serve --broker mqtt://h --tls-ca ca.pem": "--tls-ca",
    "serve --tls-ca ca.pem": "--tls-ca",
    "serve --profile open --roster r.json": "--roster",
    "serve --journal none --journal-key k": "--journal-key",
    "serve --journal none --journal-safe power": "--journal-safe",
    "serve --listen 127.0.0.1:0 --resume always": "--resume",
    "serve --listen 127.0.0.1:0 --gateway 'xbs --broker mqtt://h'": "--broker",
    "serve --listen 127.0.0.1:0 --gateway 'xbs --roster r.json'": "--roster",
    "serve --listen 127.0.0.1:0 --gateway 'xbs --ca ca.pem --broker mqtts://h'": "--broker",
    "serve --listen 127.0.0.1:0 --rules spaced --gateway 'classic --bus 234.7.6.5:1 --listen 127.0.0.1:1'": "--listen",
    "gateway classic --bus 234.7.6.5:1 --listen 127.0.0.1:1": "--listen",
    "gateway classic --browser": "--browser",
    "control --browser mqtt://h --table t1": "--table",
    "gateway classic --call 127.0.0.1:1": "--call",
    "gateway classic --role client --bus 234.7.6.5:1 --call 127.0.0.1:1": "--call",
    "gateway classic --role client --call 127.0.0.1:1 --listen 127.0.0.1:2": "--listen",
    "gateway xbs --ca ca.pem --broker h:1883": "--ca",
    "league show --logs game.proof.jsonl --journal a.journal": "--journal",
    "league show --logs game.proof.jsonl --config c.toml": "--config",
    "league show cup.toml --all": "--all",
    "league show cup.toml --config c.toml": "--config",
    "backup b.tar.gz --no-database": "--no-database",
    "new mybot.pl --program": "--program",
    "play hunter random --jobs 2": "--jobs",
    "play hunter random --games 4 --jobs 2 --bank 9": "--jobs",
    "play hunter random --games 4 --jobs 2 --record g-{game}": "--jobs",
    "play hunter exec:x --games 4 --jobs 2": "--jobs",
    "play hunter random --scheduler tcp://h:1": "--scheduler",
    "play hunter random --games 4 --scheduler tcp://h:1 --jobs 2": "--jobs",
    "play hunter random --games 4 --tls folder": "--tls",
    "compare hunter random --scheduler tcp://h:1 --jobs 2": "--jobs",
    "compare hunter random --tls folder": "--tls",
    "compare hunter --ladder --games 10": "--games",
    "compare hunter --ladder --rules xbs": "--rules",
    "solo hunter --scheduler tcp://h:1 --jobs 2": "--jobs",
    "solo hunter --tls folder": "--tls",
    "play hunter random --watch --json": "--watch",
    "play human random --watch": "--watch",
    "play hunter random --browser": "--browser",
    "play hunter random --watch --games 4": "--watch",
    "play hunter@0.5 human --sandbox": "--sandbox",
    "play hunter sandbox:mine.py --sandbox": "--sandbox",
    "compare hunter random --sandbox": "--sandbox",
    "compare hunter --ladder --sandbox": "--sandbox",
    "join mqtt://h hunter --ca ca.pem": "--ca",
    "join mqtt://h human --strict": "--strict",
    "join mqtt://h hunter --browser": "--browser",
    "control pause mqtt://h --ca ca.pem": "--ca",
    "join jsonline://h:1 hunter --table t": "--table",
    "join xbs://h:1 hunter --proof p": "--proof",
    "join smackdown: hunter --strict": "--strict",
    "join xbs://h:1 hunter --ca ca.pem": "--ca",
    "watch mqtt://h --ca ca.pem": "--ca",
    "replay f --games --view referee": "--view",
    "replay f --games --turn 1": "--turn",
    "replay f --export g --json": "--json",
    "web mqtt://h --ca ca.pem": "--ca",
    "league run cup.toml mqtt://h --ca ca.pem": "--ca",
    "teams add red --json --url mqtt://h": "--url",
    "teams add red --web http://h": "--web",
    "teams rotate red --web http://h": "--web",
    "doctor mqtt://192.0.2.1 --ca ca.pem": "--ca",
    "health mqtt://u@h --roster r.json": "--roster",
}


def printed(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    return capsys.readouterr().err


def split(line: str) -> list[str]:
    quoted = line.split("'")
    return [*quoted[0].split(), *quoted[1:2]]


@pytest.mark.parametrize(("line", "option"), USELESS.items(), ids=USELESS)
def test_an_option_that_does_nothing_is_refused(
    line: str, option: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    of_gateways = any(name in line for name in ("xbs", "jsonline", "smackdown", "classic"))
    if split(line)[0] not in cli.list_commands(click.Context(cli)) or (of_gateways and not found(GATEWAYS)):
        return  # of an annex that was deleted
    output = printed(split(line), capsys)
    assert output.startswith("error: unused_option: ")
    assert f"{option} does nothing " in output
    assert not list(tmp_path.iterdir())


def test_a_setting_that_does_nothing_is_refused_wherever_it_was_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "salvo.toml"
    file.write_text('broker = "mqtt://h"\nwebsocket = "127.0.0.1:1"\n')
    with pytest.raises(SalvoError, match=r"salvo\.toml, line 2: websocket does nothing with --broker"):
        load_settings({}, file)
    monkeypatch.setenv("SALVO_WEBSOCKET", "127.0.0.1:1")
    with pytest.raises(SalvoError, match=r"^unused_option: environment variable SALVO_WEBSOCKET does nothing"):
        load_settings({"broker": "mqtt://h"})


def test_defaults_and_variables_for_all_commands_are_no_options_that_were_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert load_settings({"broker": "mqtt://h"}).listen == "127.0.0.1:1883"
    for name, value in {"SALVO_CA": "ca.pem", "SALVO_BROKER": "mqtt://h", "SALVO_ROSTER": "r.json"}.items():
        monkeypatch.setenv(name, value)
    context = cli.make_context("salvo", ["health"])
    health = cli.get_command(context, "health")
    assert health is not None
    with health.make_context("health", ["mqtt://u@127.0.0.1:1"], parent=context):
        refuse_unused("roster", "with a URL")
    with (
        health.make_context("health", ["--roster", "r.json"], parent=context),
        pytest.raises(SalvoError, match=r"^unused_option: --roster does nothing with a URL$"),
    ):
        refuse_unused("roster", "with a URL")


def test_a_program_that_is_no_command_of_salvo_has_given_no_option() -> None:
    """The story: the bench of clearing boards, which has options of its own, ended in a RuntimeError of click."""
    with connected(None, Path("tls")) as cluster:
        assert cluster is None
