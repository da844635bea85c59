"""Bots that take what the machine has, or end what they find: the games go on, and nothing outlives them."""

from __future__ import annotations

import json
import os
import select
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kit.programs import needs
from salvo.bots.programs import linux

#: Each process of a bot has the pipe open for as long as it lives.
HEAD = """
import multiprocessing, os, signal, subprocess, sys, time
import salvo

if os.path.exists(os.path.join(os.path.dirname(os.path.abspath(__file__)), "alive")):
    ALIVE = open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "alive"), "w")
    os.set_inheritable(ALIVE.fileno(), True)


class Fine(salvo.Bot):
    turns = 0

    def choose_salvo(self, view):
        self.turns += 1
        if self.turns == 2:
            self.misbehave(view)
        return view.untouched.sample(view.shots)


def square(number):
    return number * number

"""
BOTS = {
    "has a pool of new processes": """
class Bot(Fine):
    def misbehave(self, view):
        self.pool = multiprocessing.get_context("spawn").Pool(2)
        assert self.pool.map(square, [2, 3]) == [4, 9]
""",
    "forks and forgets": """
class Bot(Fine):
    def misbehave(self, view):
        for _ in range(3):
            if not os.fork():
                return
""",
    "leaves a copy that stays and a program in a session of its own": """
class Bot(Fine):
    def misbehave(self, view):
        if not os.fork():
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            while True:
                time.sleep(60)
        if not os.fork():
            subprocess.Popen(["sleep", "600"], close_fds=False, start_new_session=True)
            os._exit(0)
""",
}
ENDS = {
    "kills its parent and leaves a copy": (
        "os.fork() or time.sleep(600); os.kill(os.getppid(), signal.SIGKILL); time.sleep(60)",
        "killed by SIGKILL",
    ),
    "forks without end": (
        "\n            for _ in range(300):\n                os.fork() or time.sleep(600)\n            time.sleep(60)",
        "it had more than",
    ),
    "has threads without end": (
        "\n            import threading; threading.stack_size(32768)"
        "\n            for _ in range(3000):\n                threading.Thread(target=time.sleep, args=(600,)).start()"
        "\n            time.sleep(60)",
        "it had more than",
    ),
}
CUP = """
name = "cup"
games = 2
seed = 1
[time]
decision_seconds = 120
bank_seconds = 600
[bots]
mine = "mine.py"
random = "random"
"""


@contextmanager
def _watched(folder: Path) -> Iterator[Path]:
    """Let a bot's processes be seen; at the end there are none."""
    os.mkfifo(folder / "alive")
    ours = os.open(folder / "alive", os.O_RDONLY | os.O_NONBLOCK)
    try:
        yield folder
        assert select.select([ours], [], [], 60)[0], "a process of the bot has the pipe open"
        assert os.read(ours, 1) == b""
    finally:
        os.close(ours)


def _salvo(folder: Path, *words: str, passed_on: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("SALVO_") or key in passed_on}
    return subprocess.run(
        [sys.executable, "-m", "salvo", *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def _tournament(folder: Path, games: int) -> tuple[dict[str, Any], str]:
    (folder / "cup.toml").write_text(CUP.replace("games = 2", f"games = {games}"))
    played = _salvo(folder, "tournament", "run", "cup.toml", "--jobs", "1", "--json")
    assert played.returncode == 0, played.stderr
    return json.loads(played.stdout), played.stderr


@pytest.mark.parametrize("bot", BOTS)
def test_a_bot_with_processes_plays_like_one_without(bot: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(HEAD + BOTS[bot])
    with _watched(tmp_path):
        table, err = _tournament(tmp_path, games=2)  # the second one beside what the first has left
    assert [(game["strikes"], game["forfeited"]) for game in table["games"]] == [({}, [])] * 2
    assert err == ""
    recorded = (tmp_path / "cup.games.jsonl").read_text().splitlines()
    assert sum('"seconds":' in line for line in recorded) == 2


@pytest.mark.parametrize("end", ENDS)
def test_a_bot_that_ends_its_process_is_named_and_costs_no_other_bot_a_game(end: str, tmp_path: Path) -> None:
    does, shown = ENDS[end]
    (tmp_path / "mine.py").write_text(
        HEAD + f"class Bot(Fine):\n    def misbehave(self, view):\n        if True:\n            {does}\n"
    )
    with _watched(tmp_path):
        table, err = _tournament(tmp_path, games=1)
    assert err == ""
    assert [(game["bots"][game["places"].index(1)], game["forfeited"]) for game in table["games"]] == [
        ("random", ["mine"])
    ]
    [strike] = table["games"][0]["strikes"]["mine"]
    assert shown in strike


TAKES = {
    "memory": (f"self.much = bytearray({linux.most_memory() + (1 << 20)})", "MemoryError"),
    "the disk": (f"open('much', 'wb').truncate({linux.MOST_IN_A_FILE + 1})", "File too large"),
}


def _takes(what: str, folder: Path) -> str:
    """Write a bot that takes too much; return what is said of it."""
    does, shown = TAKES[what]
    (folder / "mine.py").write_text(HEAD + f"class Bot(Fine):\n    def misbehave(self, view):\n        {does}\n")
    return shown


def test_a_bot_that_takes_too_much_memory_loses_its_turn_in_a_tournament(tmp_path: Path) -> None:
    shown = _takes("memory", tmp_path)
    table, err = _tournament(tmp_path, games=1)
    assert err == ""
    assert [set(game["strikes"]) for game in table["games"]] == [{"mine"}]
    assert all(shown in strike for game in table["games"] for strike in game["strikes"]["mine"])


def test_a_bot_that_takes_too_much_of_the_disk_ends_a_single_game(tmp_path: Path) -> None:
    shown = _takes("the disk", tmp_path)
    one = _salvo(tmp_path, "play", "mine.py", "random", "--seed", "1")
    assert (one.returncode, shown in one.stderr) == (1, True)


@pytest.mark.parametrize(
    "words",
    [
        ("play", "mine.py", "random", "--seed", "1"),
        ("play", "exec:PYTHON -m salvo_lab.programs mine.py", "random", "--seed", "1"),
        ("tournament", "run", "cup.toml"),
    ],
    ids=" ".join,
)
def test_a_bots_environment_has_no_secrets_and_its_own_variables(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    does = """
        shown = os.environ.copy() | dict(line.split("=", 1) for line in subprocess.getoutput("env").splitlines())
        assert not [name for name in shown if "SECRET" in name or "TOKEN" in name], shown
        assert shown["SALVO_BOT_DEPTH"] == "3" and shown["PATH"] and shown["LC_ALL"] == "C.UTF-8"
        assert shown["SALVO_SLOW_SECONDS"] == "0"
        open("seen", "w").close()
"""
    (tmp_path / "mine.py").write_text(HEAD + f"class Bot(Fine):\n    def misbehave(self, view):{does}")
    (tmp_path / "cup.toml").write_text(CUP)
    passed_on = {
        "SALVO_SECRET": "x",
        "MY_TOKEN": "x",
        "AWS_SECRET_KEY": "x",
        "SALVO_BOT_DEPTH": "3",
        "LC_ALL": "C.UTF-8",
    }
    passed_on["SALVO_SLOW_SECONDS"] = "0"
    for name, value in passed_on.items():
        monkeypatch.setenv(name, value)
    done = _salvo(
        tmp_path, *[word.replace("PYTHON", shlex.quote(sys.executable)) for word in words], passed_on=[*passed_on]
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "seen").exists()
    assert not [line for line in (done.stdout + done.stderr).splitlines() if line.startswith(("strike", "failed"))]


ONE = [
    (),
    ("--games", "3", "--record", "game-{game}.jsonl"),
]


@pytest.mark.parametrize("options", ONE, ids=" ".join)
def test_a_bot_that_ends_the_commands_own_process_is_named(options: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(HEAD + "class Bot(Fine):\n    def misbehave(self, view):\n        os._exit(0)\n")
    done = _salvo(tmp_path, "play", "random", "mine.py", "--seed", "1", "--game", "2", *options)
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    shown, again = [line for line in done.stderr.splitlines() if not line.startswith("still waiting for ")]
    assert shown.startswith("error: bot_crashed: ended the process: exit code 0 (mine, turn 3; seed 1, game 2)")
    assert again.startswith("again: salvo play random mine.py --seed 1")


@needs("perl")
def test_a_program_that_stops_the_command_ends_its_game(tmp_path: Path) -> None:
    rude = "exec:perl -e 'kill STOP => getppid; sleep 600'"
    done = _salvo(tmp_path, "play", rude, "random", "--seed", "1")
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    assert "bot_crashed: ended the process: it was stopped by a bot" in done.stderr


#: Whatever it can reach is a strike.
STRANGER = """
class Bot(Fine):
    def misbehave(self, view):
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
        assert len(pids) < 5, pids
        assert "SALVO_BOT_DEPTH" not in os.environ
        for path in ("FOLDER/cup.games.jsonl", "FOLDER/cup.toml", "/etc/passwd", "/proc/1/root/etc/passwd"):
            assert not os.path.exists(path), path
        for path in (__file__, os.path.join(os.path.dirname(__file__), "new"), "/usr/new"):
            try:
                open(path, "a")
            except OSError:
                continue
            raise AssertionError(path)
        try:
            socket.create_connection(("127.0.0.1", PORT), 5)
        except OSError:
            return
        raise AssertionError("it has a network")
"""


@needs("bwrap")
def test_a_stranger_in_a_sandbox_reaches_nothing_and_plays(tmp_path: Path) -> None:
    (tmp_path / "its").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as door:
        bot = STRANGER.replace("FOLDER", str(tmp_path)).replace("PORT", str(door.getsockname()[1]))
        (tmp_path / "its" / "mine.py").write_text("import socket\n" + HEAD + bot)
        (tmp_path / "cup.toml").write_text(
            CUP.replace('"mine.py"', '"its/mine.py"').replace("[time]", "sandbox = true\n[time]")
        )
        played = _salvo(tmp_path, "tournament", "run", "cup.toml", "--jobs", "1", "--json")
    assert (played.returncode, played.stderr) == (0, "")
    games = json.loads(played.stdout)["games"]
    assert [(game["strikes"], game["forfeited"]) for game in games] == [({}, [])] * 2
