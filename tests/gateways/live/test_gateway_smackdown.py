"""`salvo gateway smackdown` as a process, with programs that it starts."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner

from gateways.smackdown_client import Program
from kit.ports import Port
from kit.processes import started
from salvo_gateways.commands.gateway_smackdown import command

CLIENT = f"{sys.executable} {Path(__file__).parents[1] / 'smackdown_client.py'}"
BOT = f"{sys.executable} -m salvo join smackdown: hunter"
GATEWAY = [sys.executable, "-m", "salvo", "gateway", "smackdown"]


@pytest.mark.quick
def test_a_program_and_a_bot_play_as_many_games_as_were_asked_for(tmp_path: Path) -> None:
    programs = ["--exec", CLIENT, "--name", "alice", "--exec", BOT, "--name", "bob"]
    options = ["--games", "2", "--transcripts", str(tmp_path)]
    done = subprocess.run([*GATEWAY, *programs, *options], capture_output=True, text=True, timeout=120, check=True)
    results = [line for line in done.stdout.splitlines() if "game" in line]
    assert [line.partition(":")[0] for line in results] == ["alice", "bob"]
    assert "forfeits" not in done.stderr
    assert "alice against bob: " in done.stderr
    assert len(list(tmp_path.iterdir())) == 2


def test_a_tcp_client_plays_a_bot(port: Port) -> None:
    with started([*GATEWAY, "--listen", port.address, "--opponent", "hunter"], stdout=subprocess.PIPE) as gateway:
        assert gateway.stdout is not None
        assert gateway.stdout.readline() == f"Code Smackdown on {port.address}\n"
        with (
            socket.create_connection(("127.0.0.1", port.number), timeout=60) as connection,
            connection.makefile("rb") as lines,
        ):
            assert Program(lines.readline, connection.sendall, Random(1)).play() in ("won", "lost", "tie")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ("", "give --exec, or --listen"),
        ("--exec true", "1 times --exec, but 0 times --name"),
        ("--exec true --name a", "one program alone"),
        ("--exec true --name a --exec true --name b --listen 127.0.0.1:0", "2 programs at most"),
        ("--listen 127.0.0.1:0 --games 1", "counts the games of --exec"),
        ("--exec ' --name a --opponent hunter", "No closing quotation"),
        ("--exec true --name a --exec true --name A", "stands twice"),
    ],
)
def test_unplayable_smackdown_arguments_are_refused_with_the_reason(arguments: str, why: str) -> None:
    ended = CliRunner().invoke(command, arguments.split())
    assert ended.exit_code == 2
    assert why in ended.output
