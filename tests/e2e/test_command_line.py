"""The command line as programs and people use it: real processes, signals, mistakes."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

SALVO = str(Path(sysconfig.get_path("scripts")) / "salvo")


def _environment(**extra: str) -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if not key.startswith("SALVO_")} | extra


def _run(*arguments: str, **extra: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [SALVO, *arguments], capture_output=True, text=True, timeout=40, env=_environment(**extra), check=False
    )


def _serve(*arguments: str) -> tuple[subprocess.Popen[str], dict[str, object]]:
    server = subprocess.Popen(
        [SALVO, "serve", "--listen", "127.0.0.1:0", "--json", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=_environment(),
    )
    assert server.stdout is not None
    return server, json.loads(server.stdout.readline())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_server_ends_cleanly_on_signals(number: signal.Signals) -> None:
    server, ready = _serve("--profile", "literal", "--players", "2")
    assert str(ready["url"]).startswith("mqtt://127.0.0.1:")
    assert server.stdout is not None
    while '"lobby"' not in server.stdout.readline():
        pass
    health = _run("health", "--broker", str(ready["url"]))
    assert health.stdout.startswith("online")
    server.send_signal(number)
    out, err = server.communicate(timeout=10)
    assert (server.returncode, err) == (0, "")
    assert json.loads(out.splitlines()[-1]) == {"event": "ended"}


def test_health_tells_why_not() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        done = _run("health", "--broker", f"mqtt://127.0.0.1:{closed.getsockname()[1]}", "--timeout", "0.5")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("error: unreachable: ")


def test_play_in_json_is_the_same_game_for_the_same_seed() -> None:
    one, two = (_run("play", "hunter", "random", "--seed", "7", "--json") for _ in range(2))
    assert one.stdout == two.stdout
    assert set(json.loads(one.stdout)) == {"winner", "places", "turns", "seed", "game", "stats"}


def test_the_demo_in_json_names_the_same_game() -> None:
    done = _run("demo", "--players", "2", "--seed", "7", "--json")
    result = json.loads(done.stdout)
    assert result["again"] == "salvo play hunter random --seed 7"
    again = json.loads(_run("play", "hunter", "random", "--seed", "7", "--json").stdout)
    assert (result["winner"], result["places"], result["turns"]) == (again["winner"], again["places"], again["turns"])


@pytest.mark.parametrize(
    ("arguments", "code", "error"),
    [
        (("play", "nobody", "hunter"), 1, "error: bad_bot: no bot 'nobody'"),
        (("play", "hunter"), 1, "error: too_few_players: 1 bot"),
        (("play", "missing.py", "hunter"), 1, "error: bad_bot: no file missing.py"),
        (("play", "rude", "hunter", "--seed", "1"), 1, "error: bad_salvo: rude, seed 1, game 1: turn"),
        (("serve", "--profile", "contest"), 2, "error: bad_setting: --profile: 'contest': input should be 'literal'"),
        (("serve", "--turn-seconds", "0"), 2, "error: bad_setting: --turn-seconds: 0: input should be greater than"),
        (("serve", "--table", "game"), 1, "error: bad_name: table name 'game'"),
        (("serve", "--listen", "nowhere"), 2, "error: bad_address: 'nowhere' is not HOST:PORT"),
        (("serve", "--broker", "http://x"), 2, "error: bad_url: 'http://x' is not mqtt://"),
        (("nonsense",), 2, "Error: No such command 'nonsense'"),
    ],
)
def test_a_mistake_is_one_clear_line(arguments: tuple[str, ...], code: int, error: str) -> None:
    done = _run(*arguments)
    assert done.returncode == code
    assert error in done.stderr
    assert "Traceback" not in done.stderr


def test_a_mistake_in_a_file_names_line_and_nearest_setting(tmp_path: Path) -> None:
    config = tmp_path / "salvo.toml"
    config.write_text('# a contest\nprofile = "literal"\nplacement_second = 60\n')
    done = _run("serve", "--config", str(config))
    assert (done.returncode, done.stderr.strip()) == (
        2,
        f"error: unknown_setting: {config}, line 3: 'placement_second' is no setting; did you mean placement_seconds?",
    )


def test_a_mistake_in_the_environment_names_the_variable() -> None:
    done = _run("serve", SALVO_TURN_SECOND="5")
    assert "environment variable SALVO_TURN_SECOND is no setting; did you mean SALVO_TURN_SECONDS?" in done.stderr
    done = _run("serve", SALVO_TURN_SECONDS="soon")
    assert "environment variable SALVO_TURN_SECONDS: 'soon'" in done.stderr


def test_a_taken_port_is_one_clear_line() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = _run("serve", "--listen", f"127.0.0.1:{taken.getsockname()[1]}")
    assert done.returncode == 1
    assert done.stderr.startswith("error: address_in_use: cannot listen on 127.0.0.1:")


def test_a_name_that_somebody_else_has_is_one_clear_line() -> None:
    server, ready = _serve("--players", "3")
    try:
        first = subprocess.Popen(
            [SALVO, "join", str(ready["url"]), "random", "--team", "a", "--secret", "one"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=_environment(),
        )
        assert server.stdout is not None
        while '"names": ["a"]' not in server.stdout.readline():
            pass
        second = _run("join", str(ready["url"]), "random", "--team", "A", "--secret", "two", "--games", "1")
        first.send_signal(signal.SIGINT)
        assert first.wait(10) == 130
    finally:
        server.terminate()
        server.communicate(timeout=10)
    assert second.returncode == 1
    assert "error: name_taken: 'A' is taken" in second.stderr


def test_a_missing_extra_names_the_command_that_installs_it() -> None:
    code = (
        "import sys; sys.modules['{module}'] = None\nfrom salvo_server.cli import main\nmain(['{command}', '--help'])"
    )
    for module, command, extra in (("rich.columns", "watch", "terminal"), ("pydantic_settings", "serve", "server")):
        done = subprocess.run(
            [sys.executable, "-c", code.format(module=module, command=command)],
            capture_output=True,
            text=True,
            env=_environment(),
            check=False,
        )
        assert done.returncode == 1
        assert f"pip install 'battleship-salvo[{extra}]'" in done.stderr
