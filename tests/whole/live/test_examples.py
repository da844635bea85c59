"""The examples in a contest: four programs at one table."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

from kit.brokers import Broker, StartServer
from kit.processes import started

FOLDER = Path(__file__).parents[3] / "examples"
BOTS = sorted(path for path in FOLDER.glob("*.py") if path.stem != "client")


def test_all_examples_play_one_game_as_programs(broker: Broker, start_server: StartServer) -> None:
    environment = os.environ | {"SALVO_URL": broker.url, "SALVO_GAMES": "1", "SALVO_SEED": "7"}
    with start_server(players=len(BOTS)), contextlib.ExitStack() as stack:
        programs = [
            stack.enter_context(started([sys.executable, str(path)], env=environment, stdout=subprocess.PIPE))
            for path in BOTS
        ]
        output = [program.communicate(timeout=60)[0] for program in programs]
    assert [program.returncode for program in programs] == [0] * len(BOTS)
    assert len({line.partition(",")[0] for line in output}) == 1  # all name the same winner
    assert sorted(line.split()[-1] for line in output) == [str(place) for place in range(1, len(BOTS) + 1)]
