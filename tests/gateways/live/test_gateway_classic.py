"""`salvo gateway classic` as a process: on the bus, called, and calling."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from gateways.classic_client import Bus, Program, Tcp
from gateways.gateway_stage import written
from kit.processes import started

GATEWAY = [sys.executable, "-m", "salvo", "gateway", "classic"]


@pytest.mark.long
def test_a_gateway_calls_a_program_that_it_finds_on_the_bus_and_plays(tmp_path: Path) -> None:
    with contextlib.closing(Bus("234.7.6.5")) as bus:
        options = ["--bus", f"{bus.group[0]}:{bus.group[1]}@127.0.0.1", "--role", "client"]
        options += ["--transcripts", str(tmp_path)]
        with started([*GATEWAY, *options], stdout=subprocess.PIPE):
            bus.meet()
            for noise in ("", "P/", "A/nobody:1", "P/127.0.0.1:99999", "D/127.0.0.1:1", "A/\0:1", "A/127.0.0.1:²"):
                bus.say(noise)
            program = Program(bus, 1, leads=True)
            program.connect()
            program.play(2)
            for game, won in enumerate(program.won, start=1):
                course = written(tmp_path / f"classic-{game}.jsonl.gz")
                assert course.winners == ("guest" if won else "house",)


@pytest.mark.quick
def test_a_gateway_that_is_client_calls_a_server_and_again_when_that_has_hung_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        with started([*GATEWAY, "--role", "client", "--call", address], stdout=subprocess.PIPE):
            for seed, games in ((1, 1), (2, 2)):
                with contextlib.closing(Tcp(server.accept()[0])) as line:
                    program = Program(line, seed, leads=True)
                    program.connect()
                    program.play(games)
                    line.send("E")
                    assert program.begun == [True, False][:games]
