"""`salvo gateway jsonline` as a process."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from pathlib import Path

from gateways.gateway_stage import written
from gateways.jsonline_client import Client
from kit.ports import Port
from kit.processes import started


def test_a_program_and_a_bot_play_the_gateways_bot_and_their_games_are_written(tmp_path: Path, port: Port) -> None:
    gateway = [sys.executable, "-m", "salvo", "gateway", "jsonline", "--listen", port.address]
    options = ["--rules", "streak", "--opponent", "random", "--transcripts", str(tmp_path)]
    with started([*gateway, *options], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == f"programs that speak JSON lines play on {port.address}\n"
        with contextlib.closing(Client(("127.0.0.1", port.number), 1)) as client:
            client.play()
        assert written(tmp_path / "jsonline-1.jsonl.gz").winners == ("guest" if client.won else "house",)
        bot = ["join", f"jsonline://{port.address}", "hunter", "--team", "ann", "--games", "1", "--seed", "ann"]
        subprocess.run([sys.executable, "-m", "salvo", *bot], stdout=subprocess.DEVNULL, timeout=120, check=True)
        assert written(tmp_path / "jsonline-2.jsonl.gz").winners
