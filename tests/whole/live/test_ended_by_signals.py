"""SIGTERM and SIGHUP end a command as Ctrl-C does: whatever it has started ends with it."""

from __future__ import annotations

import os
import select
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.processes import started, without_settings

#: It has the pipe open for as long as it lives, takes no hint, and never answers.
DEAF = """
import os, signal, sys
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
pipe = open(sys.argv[1], "w")
print(os.getpid(), file=pipe, flush=True)
while True:
    signal.pause()
"""
CUP = 'name = "cup"\n[time]\ndecision_seconds = 3600\nbank_seconds = 3600\n[bots]\nrandom = "random"\ndeaf = "{}"\n'


@pytest.fixture
def _not_ignored() -> Iterator[None]:
    """Where the tests run under nohup, a command would ignore SIGHUP as they do."""
    former = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, former)


@pytest.mark.long
@pytest.mark.usefixtures("_not_ignored")
@pytest.mark.parametrize(
    ("command", "number", "whole_group"),
    [
        pytest.param(("play", "DEAF", "random"), signal.SIGTERM, False, id="play, alone"),
        pytest.param(("tournament", "run", "cup.toml"), signal.SIGHUP, True, id="a tournament, with its process group"),
    ],
)
def test_a_signal_that_ends_a_command_ends_its_processes_and_their_programs(
    command: tuple[str, ...], number: signal.Signals, *, whole_group: bool, tmp_path: Path
) -> None:
    (tmp_path / "deaf.py").write_text(DEAF)
    os.mkfifo(tmp_path / "pipe")
    source = f"exec:{shlex.quote(sys.executable)} deaf.py pipe"
    (tmp_path / "cup.toml").write_text(CUP.format(source))
    words = [source if word == "DEAF" else word for word in command]
    environment = without_settings()
    with started(
        [sys.executable, "-m", "salvo", *words],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as running:
        with (tmp_path / "pipe").open("rb", buffering=0) as pipe:
            output = pipe.read(1)
            if whole_group:
                os.killpg(running.pid, number)
            else:
                running.send_signal(number)
            ended = False
            while not ended and select.select([pipe], [], [], 60)[0]:
                more = pipe.read(1000)
                output, ended = output + more, not more
            for left in output.split() if not ended else ():
                os.kill(int(left), signal.SIGKILL)
            assert ended  # no program has it open any more
        _, err = running.communicate(timeout=60)
    assert running.returncode == (0 if command[0] == "dev" else 143), err
    assert "Traceback" not in err


#: A command that is ended at a moment that no signal of a test would meet.
_EARLY = """
import os, signal
from salvo import cli
from salvo.bots.programs import linux

{part} = linux.{part}

def ended(*given):
    {part}(*given)
    os.kill({command}, signal.SIGTERM)
    {then}

linux.{part} = ended
cli.main()
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("part", "command", "then"),
    [
        pytest.param("adopt_orphans", "os.getpid()", "pass", id="before it makes a copy, when signals wait"),
        pytest.param("limit", "os.getppid()", "while True: pass", id="in the copy, before that plays"),
    ],
)
def test_a_signal_ends_a_command_whose_bots_have_not_begun_and_blames_none(part: str, command: str, then: str) -> None:
    program = _EARLY.format(part=part, command=command, then=then)
    ended = subprocess.run(
        [sys.executable, "-c", program, "play", "random", "random"],
        env=without_settings(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (ended.returncode, ended.stdout, ended.stderr.strip()) == (143, "", "")
