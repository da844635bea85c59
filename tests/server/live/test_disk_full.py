"""A whole contest on a disk that runs full in mid-game: it says so, waits, loses nothing and goes on."""

from __future__ import annotations

import contextlib
import json
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kit.observer import Observer
from kit.players import Announced, Slower, join, over, salvos
from kit.programs import needs
from salvo import messages as m
from salvo_server.contest import Contest
from salvo_server.settings import ServerSettings


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for a whole game, to be filled."""
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", folder], check=True)
    yield folder
    subprocess.run(["umount", folder], check=True)


@needs("root")
def test_a_full_disk_stops_the_clock_and_not_the_contest(small_disk: Path) -> None:
    received = Announced()
    journal = str(small_disk / "a.journal")
    contest = Contest(
        ServerSettings(listen="127.0.0.1:0", seed="7", players=2, turn_seconds=6, journal=journal), received
    )
    with contest.in_background():
        observer = Observer(contest.url)
        for name in ("ann", "bob"):
            join(contest.url, name, Slower())
        received.until(salvos(4))
        ballast = small_disk / "ballast"
        _fill(ballast)
        observer.until(lambda seen: any(_status(x) == "paused" for x in seen))
        held = len(received.of(m.SalvoResolved))
        threading.Event().wait(6.5)  # longer than a turn may take
        assert len(received.of(m.SalvoResolved)) <= held + 1
        ballast.unlink()
        received.until(over)
        observer.close()
    resolved = received.of(m.SalvoResolved)
    assert [salvo.turn for salvo in resolved] == list(range(1, len(resolved) + 1))
    assert [refused.code for refused in received.of(m.CommandRefused)] == []  # no turn ran out of time
    assert all(salvo.shots for salvo in resolved)


def _fill(ballast: Path) -> None:
    """Write until nothing fits any more, while the journal takes its share."""
    with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))


def _status(message: Any) -> str:
    if message.topic != "/game/server" or not message.payload:
        return ""
    return str(json.loads(message.payload).get("status", ""))
