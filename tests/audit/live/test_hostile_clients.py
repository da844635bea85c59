"""Hostile clients in ``salvo check``: it ends, says what they did, and nothing of them is left."""

from __future__ import annotations

import asyncio
import os
import select
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from audit.client_mutants import USUAL
from kit.patches import Patch, without
from salvo.bots.programs import linux
from salvo.errors import printable
from salvo_audit.check import own_broker, program
from salvo_audit.check.report import CheckRun, lines
from salvo_audit.check.run import check
from salvo_audit.check.run import select as cases
from salvo_audit.check.stage import Subject, WaitLimits

#: Speaks MQTT 3.1.1 byte by byte. Each of its processes has the pipe open that a test names.
HEAD = """
import os, signal, socket, subprocess, sys, time
host, port, team, secret, alive = sys.argv[1:]
os.set_inheritable(os.open(alive, os.O_WRONLY), True)

def text(value): return len(value).to_bytes(2, "big") + value

def packet(first, body):
    left, size = len(body), b""
    while left or not size:
        left, low = divmod(left, 128)
        size += bytes([low | (128 if left else 0)])
    return bytes([first]) + size + body

def connect(user):
    link = socket.create_connection((host, int(port)))
    link.sendall(packet(0x10, text(b"MQTT") + b"\\x04\\xc2\\x00\\x00" + text(user) * 2 + text(secret.encode())))
    link.sendall(packet(0x82, b"\\x00\\x01" + text(b"#") + b"\\x01"))
    return link

EVIL = "\\x1b]0;owned\\x07\\x1b[2J\\u202eevil"
"""
#: What a client does, and what the judge says of it.
MISDEEDS = {
    "writes what controls a terminal": ("print(EVIL); sys.exit(3)", "exit code 3: \ufffd]0;owned\ufffd"),
    "is called what controls a terminal": ("connect(EVIL.encode()); time.sleep(600)", "the user '\\x1b]0;owned"),
    "writes without end, and no line": ("while True: os.write(1, b'x' * 65536)", "it is not connected"),
    "leaves a process in a session of its own that has its output open": (
        "subprocess.Popen(['sleep', '600'], start_new_session=True, close_fds=False)",
        "exit code 0",
    ),
    "kills its parent": ("os.kill(os.getppid(), signal.SIGKILL); time.sleep(600)", "killed by SIGKILL"),
    "stops its parent": ("os.kill(os.getppid(), signal.SIGSTOP); time.sleep(600)", "it is not connected"),
    "forks without end": ("for _ in range(2000): os.fork() or time.sleep(600)", "it had more than"),
    "fills a file": ("open(os.environ['SALVO_KNOWN_SERVERS'], 'wb').truncate(1 << 40)", "File too large"),
    "publishes without end": ("while True: link.sendall(b'\\x30\\x04\\x00\\x02/a' * 9999)", "nothing more is read"),
    "pings without end": ("while True: link.sendall(b'\\xc0\\x00' * 9999)", "nothing more is read"),
    "asks for every topic": (
        # It reads the answers: the end of one that has not discards what the judge has yet to read.
        "for n in range(2000): link.sendall(packet(0x82, b'\\0\\1' + text(b'/%d' % n) + b'\\1'))\n"
        "while link.recv(9999): pass",
        "more than 1000 filters",
    ),
}
#: Those for which the judge waits as long as for a client that is slow to connect.
WAITED_FOR = ("is called what controls a terminal", "writes without end, and no line", "stops its parent")
#: Long enough for a right client to connect, also on a busy machine; a hostile one is waited for as long.
LIMITS = WaitLimits(connecting=20.0, asking=1.0, placing=1.0, firing=1.0)


def _judged(script: str, folder: Path) -> str:
    """Return what the judge says of a client, as its command prints it; nothing of the client is left."""
    alive = folder / "alive"
    os.mkfifo(alive)
    ours = os.open(alive, os.O_RDONLY | os.O_NONBLOCK)
    script = f"link = connect(team.encode())\n{script}" if "link" in script else script
    (folder / "client.py").write_text(HEAD + script)
    command = (sys.executable, str(folder / "client.py"), "{host}", "{port}", "{team}", "{secret}", str(alive))
    try:
        outcomes = asyncio.run(check(Subject(command, limits=LIMITS), cases([]), only=[USUAL]))
        assert select.select([ours], [], [], 60)[0], "a process of the client has the pipe open"
        assert os.read(ours, 1) == b""
    finally:
        os.close(ours)
    return "\n".join(line for line, _ in lines(CheckRun("client", "1.0", [], outcomes, 1.0, "2026-01-02")))


@pytest.mark.long
@pytest.mark.skipif(not linux.IS_HERE, reason="elsewhere nobody keeps a program")
@pytest.mark.parametrize(
    "misdeed", [pytest.param(each, marks=pytest.mark.slow if each in WAITED_FOR else ()) for each in MISDEEDS]
)
def test_a_hostile_client_is_judged_and_nothing_of_it_is_left(misdeed: str, tmp_path: Path) -> None:
    script, said = MISDEEDS[misdeed]
    judged = _judged(script, tmp_path)
    assert said in " ".join(judged.split())
    assert printable(judged, len(judged), lines=True) == judged


#: What stands in the way of some; the others would leave processes behind, or end this one.
DEFENCES: dict[str, Callable[[Patch], None]] = {
    "writes what controls a terminal": without(program, "printable", lambda text: text),
    "publishes without end": without(own_broker, "MOST_BYTES", 1 << 50),
    "asks for every topic": without(own_broker, "_MOST_FILTERS", 1 << 50),
}


@pytest.mark.long
@pytest.mark.parametrize(
    "misdeed",
    [pytest.param(each, marks=pytest.mark.slow if each == "publishes without end" else ()) for each in DEFENCES],
)
def test_a_hostile_client_succeeds_without_what_stands_in_its_way(
    misdeed: str, tmp_path: Path, monkeypatch: Patch
) -> None:
    script, said = MISDEEDS[misdeed]
    DEFENCES[misdeed](monkeypatch)
    assert said not in " ".join(_judged(script, tmp_path).split())
