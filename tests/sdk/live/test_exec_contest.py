"""Programs on their standard streams in a contest: the same game as without a broker, and what costs them a turn."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import sysconfig
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from kit.brokers import Broker, StartServer
from kit.players import SECONDS, Heard, join, over
from kit.processes import started
from kit.programs import needs
from kit.same_games import SEED, HeardAll, in_arena, one_fleet
from salvo import messages as m
from salvo.sources import make
from salvo_lab.bots.hunter import Hunter
from salvo_lab.bots.random_bot import RandomBot
from salvo_lab.templates import FOLDER

ROOT = Path(__file__).parents[3]
SALVO_COMMAND = str(Path(sysconfig.get_path("scripts")) / "salvo")
PYTHON = shlex.quote(sys.executable)
PROGRAMS = {
    "hunter": f"{PYTHON} -m salvo_lab.programs hunter",
    "python": f"{PYTHON} -I -S {FOLDER}/program.py",
    "perl": f"perl {FOLDER}/program.pl",
    "javascript": f"node {FOLDER}/program.js",
}
OTHERS = [("perl", "perl"), ("javascript", "node")]


def start(url: str, command: str, games: int = 1) -> AbstractContextManager[subprocess.Popen[str]]:
    arguments = ["join", url, f"exec:{command}", "--team", "ann", "--games", str(games), "--seed", SEED]
    environment = os.environ | {"SALVO_SECRET": "ashes", "SALVO_KNOWN_SERVERS": "none"}
    return started([SALVO_COMMAND, *arguments], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.mark.long
@pytest.mark.parametrize(
    "kind", ["hunter", "python", *(pytest.param(name, marks=needs(program)) for name, program in OTHERS)]
)
def test_a_program_plays_the_arena_s_game_in_a_contest(kind: str, broker: Broker, start_server: StartServer) -> None:
    heard = HeardAll()
    with start_server(heard, players=2, seed=SEED), start(broker.url, PROGRAMS[kind]) as program:
        heard.until(one_fleet)  # so that the play order is the arena's
        join(broker.url, "bob", RandomBot(), seed=SEED)
        heard.until(over)
        out, err = program.communicate(timeout=SECONDS)
    assert program.returncode == 0, err
    assert out.startswith("game 1: ")
    assert heard.of(m.CommandRefused) == []
    expected = in_arena(make(f"exec:{PROGRAMS[kind]}"))
    assert heard.game() == expected
    if kind == "hunter":
        assert expected == in_arena(Hunter())


def test_one_process_plays_all_games_of_a_contest(broker: Broker, start_server: StartServer, tmp_path: Path) -> None:
    heard, told = Heard(), tmp_path / "told"
    command = f"{PYTHON} -I -S {ROOT}/tests/kit/staying_program.py {told}"
    with start_server(heard, players=2, over_seconds=1), start(broker.url, command, games=2) as program:
        join(broker.url, "bob", games=2)
        _, err = program.communicate(timeout=SECONDS)
    assert (program.returncode, err.count("lost")) == (0, 0), err
    games = [line for line in told.read_text().splitlines() if '"type": "game"' in line]
    assert [json.loads(line.split(" ", 1)[1])["game"] for line in games] == [1, 2]
    assert len({line.split()[0] for line in games}) == 1


@pytest.mark.long
@pytest.mark.parametrize(
    ("misdeed", "cause"),
    [("dies", "bot_crashed: it was killed by SIGKILL"), ("flood", "bot_flood: "), ("late", "turn_timeout: no answer")],
)
def test_what_goes_wrong_costs_a_turn_and_the_table_goes_on(
    misdeed: str, cause: str, broker: Broker, start_server: StartServer
) -> None:
    heard = Heard()
    rude = f"{PYTHON} -I -S {ROOT}/tests/kit/rude_program.py {misdeed} 2"
    late = misdeed == "late"
    turn_seconds = 5 if late else 600  # nobody waits for the end of a turn that a program cannot play
    with start_server(heard, players=2, seed=SEED, turn_seconds=turn_seconds), start(broker.url, rude) as program:
        heard.until(one_fleet)
        join(broker.url, "bob", RandomBot(), seed=SEED)
        heard.until(over)
        _, err = program.communicate(timeout=SECONDS)
    assert program.returncode == 0, err
    [line] = [line for line in err.splitlines() if "the turn is lost" in line]
    assert re.search(rf"ann, game 1, turn \d+: {cause}", line)
    assert "; again: " in line
    assert late or heard.of(m.CommandRefused) == []
    lost = [result for result in heard.of(m.SalvoResolved) if result.player == "ann" and not result.shots]
    assert len(lost) == 1
