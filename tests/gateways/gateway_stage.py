"""Gateways in this process, reached over sockets, and the contest of those that lead to a table."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

from kit.waiting import until
from salvo.rules import RuleBook
from salvo_game.recordings import RecordedCourse, Recording, open_recordings
from salvo_gateways.accounts import Accounts
from salvo_gateways.listener import GatewayDoor, Listener
from salvo_gateways.table_watch import TableWatch


@contextlib.contextmanager
def hosting(door: GatewayDoor) -> Iterator[Listener]:
    """Listen at ``host.address``."""
    host = Listener(door)
    host.open("127.0.0.1", 0)
    with contextlib.closing(host):
        yield host


@contextlib.contextmanager
def open_door(
    url: str, accounts: Accounts, door: Callable[[TableWatch, RuleBook], GatewayDoor]
) -> Iterator[tuple[str, int]]:
    """Run a gateway to a table; yield where it listens."""
    watch = TableWatch(url, "", accounts, pin=False)
    with contextlib.closing(watch), hosting(door(watch, watch.open())) as host:
        yield host.address


def written(path: Path) -> RecordedCourse:
    """Return how a game went, by its transcript, which a gateway may still be about to write."""
    until(path.exists)
    recording = open_recordings(str(path))
    assert isinstance(recording, Recording)
    assert list(recording.check())
    return recording.course()[1]
