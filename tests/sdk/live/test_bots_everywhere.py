"""A bot is a bot wherever it plays: called as the guide has it, and what it raises reads alike.

Each place is a function that has a bot's file played and returns all that is said to the bot's author.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kit.brokers import Broker, StartServer
from kit.command_line import run
from kit.failing_bots import LINE, OURS, failing_bot
from kit.players import Announced, join
from kit.processes import without_settings
from salvo.bots.adapter import closing
from salvo.bots.sources import make
from salvo.errors import BotError
from salvo_lab import arena
from salvo_lab.bots.random_bot import RandomBot
from salvo_lab.simulation import simulate

#: What is made in one turn belongs to a loop, and is used in the next turn.
ASYNC = """\
import asyncio

import salvo


class Mine(salvo.Bot):
    async def prepare(self, name, seed, game):
        super().prepare(name, seed, game)
        self.asked = asyncio.Queue()
        self.adviser = asyncio.create_task(self.advise())

    async def advise(self):
        while True:
            view, answer = await self.asked.get()
            answer.set_result(view.untouched.sample(view.shots))

    async def choose_salvo(self, view):
        answer = asyncio.get_running_loop().create_future()
        await self.asked.put((view, answer))
        return await answer
"""
METHODS = ("__init__", "prepare", "place_fleet", "choose_salvo", "on_result", "on_game_over", "close")

Place = Callable[[Path, str], str]


def _command(*words: str) -> str:
    done = run(*words)
    assert done.returncode in (0, 1), done
    return done.stdout + done.stderr


def play(file: Path, method: str) -> str:
    output = _command("play", str(file), "random", "--seed", "1", "--traceback")
    in_the_game = method not in ("__init__", "close")
    assert ("; nothing more is played" in output) == in_the_game
    assert re.search(r"again: +salvo play .* --seed 1", output) or method == "__init__"
    assert ("; nothing is lost" in output) == ("winner: " in output) == (method == "close")
    return output


def play_many(file: Path, method: str) -> str:
    output = _command("play", str(file), "random", "--seed", "1", "--games", "2", "--jobs", "1", "--traceback")
    assert "failed: mine 2 times, first " in output
    assert f"salvo play {file} random --seed 1 --traceback" in output
    return output


def solo(file: Path, method: str) -> str:
    output = _command("solo", str(file), "--boards", "2", "--jobs", "1", "--traceback")
    assert ("; nothing is lost" in output) == ("legend: " in output) == (method == "close")
    assert f"salvo solo {file} --boards 2 --seed 0" in output
    return output


def tournament(file: Path, method: str) -> str:
    cup = file.with_name("cup.toml")
    cup.write_text('name = "cup"\ngames = 2\nseed = 1\n\n[bots]\nmine = "mine.py"\nother = "random"\n')
    done = run("tournament", "run", str(cup), "--jobs", "1")
    games = cup.with_suffix(".games.jsonl")
    lines = [json.loads(line) for line in games.read_text().splitlines()] if games.exists() else []
    rows = [line for line in lines if "result" in line]
    assert method == "__init__" or len(rows) == 2
    for row in rows:
        mine = row["teams"].index("mine")
        assert not row["strikes"][1 - mine]
        assert row["forfeited"][mine] == (method in ("choose_salvo", "on_result"))
    return done.stderr + "".join(str(row["strikes"]) for row in rows)


def program(file: Path, method: str) -> str:
    output = _command("play", f"exec:{sys.executable} -m salvo_lab.programs {file}", "random", "--seed", "1")
    return re.sub(r"again: [^\n]*|exec:[^\n]*", "", output)


def script(file: Path, method: str) -> str:
    environment = without_settings()
    done = subprocess.run(
        [sys.executable, file], capture_output=True, text=True, env=environment | {"SALVO_SEED": "1"}, check=False
    )
    assert "the same game again: SALVO_SEED=1 and the same command" in done.stdout + done.stderr
    assert done.returncode == (method != "close"), done.stderr
    return done.stderr


def notebook(file: Path, method: str) -> str:
    """Where a loop is running already."""

    async def cell() -> str:
        output: list[str] = []
        try:
            with closing(make(str(file)), "mine", output.append) as mine:
                arena.play({"mine": mine, "random": RandomBot()}, seed=1)
        except BotError as error:
            output.append(f"{error}\n{error.trace}")
        return "".join(output)

    return asyncio.run(cell())


def here(file: Path, method: str) -> str:
    """In the process of the caller, as for a debugger."""
    try:
        [failure, *_] = simulate({"mine": str(file), "other": "random"}, games=1, seed=1, jobs=0).failures
    except BotError as error:
        return f"{error}\n{error.trace}"
    return f"{failure.text}\n{failure.trace}"


IN_PROCESS: list[Place] = [play, play_many, solo, notebook, here]
OF_ITS_OWN: list[Place] = [tournament, program, script]


def _reads_alike(place: Place, folder: Path, method: str, kind: str = "") -> None:
    output = place(failing_bot(folder, method, kind), method)
    assert LINE in output
    assert not OURS.search(output), output
    if method in ("prepare", "place_fleet", "on_game_over", "close"):
        assert method in output.partition(LINE)[2].partition("\n")[0] or f"{method}: {LINE}" in output


@pytest.mark.parametrize(
    ("place", "method"),
    [
        (place, method)
        for place in IN_PROCESS
        for method in (METHODS if place in (play, here) else ("__init__", "choose_salvo", "close"))
    ],
)
def test_what_a_bot_raises_reads_alike(tmp_path: Path, place: Place, method: str) -> None:
    _reads_alike(place, tmp_path, method)


@pytest.mark.long
@pytest.mark.parametrize(
    ("place", "method"),
    [(place, "choose_salvo") for place in OF_ITS_OWN] + [(tournament, "__init__"), (script, "close")],
)
def test_what_a_bot_raises_reads_alike_in_a_process_of_its_own(tmp_path: Path, place: Place, method: str) -> None:
    _reads_alike(place, tmp_path, method)


@pytest.mark.parametrize("place", [play, here, notebook])
@pytest.mark.parametrize("method", METHODS[1:])
def test_any_method_may_be_async(tmp_path: Path, place: Place, method: str) -> None:
    _reads_alike(place, tmp_path, method, "async ")


@pytest.mark.parametrize("place", [play, play_many, here, notebook])
def test_an_async_bot_has_one_loop(tmp_path: Path, place: Place) -> None:
    file = tmp_path / "mine.py"
    file.write_text(ASYNC)
    if place is play:
        assert _command("play", str(file), "random", "--seed", "1").startswith("winner: ")
    elif place is play_many:
        assert "failed" not in _command("play", str(file), "random", "--seed", "1", "--games", "3", "--jobs", "1")
    elif place is here:
        assert simulate({"mine": str(file), "other": "random"}, games=3, seed=1, jobs=0).failures == []
    else:
        assert notebook(file, "") == ""


@pytest.mark.long
@pytest.mark.parametrize("method", ["place_fleet", "choose_salvo"])
def test_a_bot_that_fails_in_a_contest_plays_on_and_its_author_reads_why(
    tmp_path: Path, start_server: StartServer, broker: Broker, method: str
) -> None:
    with start_server(Announced(), players=2, turn_seconds=1):
        join(broker.url, "rival", games=1)
        done = run(
            "join", broker.url, str(failing_bot(tmp_path, method)), "--team", "mine", "--games", "1", "--seed", "1"
        )
    assert done.returncode == 0, done.stderr
    assert "game 1: " in done.stdout
    assert LINE in done.stderr
    assert not OURS.search(done.stderr), done.stderr
    lost = {"choose_salvo": "the turn is lost", "place_fleet": "a drawn fleet is placed instead", "close": "nothing is"}
    assert lost.get(method, "the game continues") in done.stderr
    assert re.search(r"\(mine, [^)]*(seed 1, game 1|close)\)", done.stderr)
