"""Programs on their standard streams in a contest: the same game as without a broker, and what costs them a turn."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import sysconfig
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from kit.brokers import Broker, StartServer
from kit.players import SECONDS, Announced, join, over
from kit.processes import started
from kit.same_games import SEED, AnnouncedAndSent, in_arena, one_fleet
from salvo import messages as m
from salvo.bots.sources import make
from salvo_lab.bots.hunter import Hunter
from salvo_lab.bots.random_bot import RandomBot

ROOT = Path(__file__).parents[3]
SALVO_COMMAND = str(Path(sysconfig.get_path("scripts")) / "salvo")
PYTHON = shlex.quote(sys.executable)
HUNTER = f"{PYTHON} -m salvo_lab.programs hunter"


def start(url: str, command: str, games: int = 1) -> AbstractContextManager[subprocess.Popen[str]]:
    arguments = ["join", url, f"exec:{command}", "--team", "ann", "--games", str(games), "--seed", SEED]
    environment = os.environ | {"SALVO_SECRET": "ashes", "SALVO_KNOWN_SERVERS": "none"}
    return started([SALVO_COMMAND, *arguments], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.mark.long
def test_a_program_plays_the_arena_s_game_in_a_contest(broker: Broker, start_server: StartServer) -> None:
    received = AnnouncedAndSent()
    with start_server(received, players=2, seed=SEED), start(broker.url, HUNTER) as program:
        received.until(one_fleet)  # so that the play order is the arena's
        join(broker.url, "bob", RandomBot(), seed=SEED)
        received.until(over)
        out, err = program.communicate(timeout=SECONDS)
    assert program.returncode == 0, err
    assert out.startswith("game 1: ")
    assert received.of(m.CommandRefused) == []
    assert received.game() == in_arena(make(f"exec:{HUNTER}")) == in_arena(Hunter())


def test_one_process_plays_all_games_of_a_contest(broker: Broker, start_server: StartServer, tmp_path: Path) -> None:
    received, asked = Announced(), tmp_path / "told"
    command = f"{PYTHON} -I -S {ROOT}/tests/kit/staying_program.py {asked}"
    with start_server(received, players=2, over_seconds=1), start(broker.url, command, games=2) as program:
        join(broker.url, "bob", games=2)
        _, err = program.communicate(timeout=SECONDS)
    assert (program.returncode, err.count("lost")) == (0, 0), err
    games = [line for line in asked.read_text().splitlines() if '"type": "game"' in line]
    assert [json.loads(line.split(" ", 1)[1])["game"] for line in games] == [1, 2]
    assert len({line.split()[0] for line in games}) == 1
