"""A server with its tables and a gateway to each, in this process."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from salvo.messages import GameWon
from salvo.rules import RuleBook
from salvo_gateways.accounts import OpenAccounts
from salvo_gateways.host import Door, Host
from salvo_gateways.table_watch import TableWatch
from salvo_server.contest import Contest
from salvo_server.settings import ServerSettings


class Winners:
    """A server's listener: who won at each table, game by game."""

    def __init__(self) -> None:
        self.by_table: dict[str, list[str]] = {}

    def __call__(self, table: str, now: int, command: Any, announcements: Any) -> None:
        for announcement in announcements:
            if isinstance(announcement, GameWon):
                self.by_table.setdefault(table, []).append(announcement.winners[0])


@contextlib.contextmanager
def served(listener: Any = None, **given: Any) -> Iterator[Contest]:
    """Run a server."""
    values: dict[str, Any] = {
        "listen": "127.0.0.1:0",
        "profile": "open",
        "players": 2,
        "over_seconds": 1,
        "journal": "none",
    } | given
    contest = Contest(ServerSettings(**values), listener)
    with contest.in_background():
        yield contest


@contextlib.contextmanager
def gateway(url: str, name: str, folder: Path, make: Callable[[RuleBook], Door], table: str = "") -> Iterator[Host]:
    """Run a gateway to one table."""
    house = TableWatch(url, table, OpenAccounts(folder / "gateway.key", name), pin=False)
    with contextlib.closing(house):
        host = Host(house, make(house.open()))
        host.open("127.0.0.1", 0)
        with contextlib.closing(host):
            yield host


@contextlib.contextmanager
def gateways(
    contest: Contest, name: str, folder: Path, make: Callable[[RuleBook, str], Door], tables: Sequence[str]
) -> Iterator[list[Host]]:
    """Run a gateway to each table.

    Args:
        make: gets the table's name, too.
    """
    with contextlib.ExitStack() as stack:
        yield [
            stack.enter_context(
                gateway(contest.url, name, folder, lambda book, table=table: make(book, table), table)  # type: ignore[misc]
            )
            for table in tables
        ]


def side_by_side(
    play: Callable[[str, tuple[str, int]], None], tables: Sequence[str], hosts: Sequence[Host], seconds: float
) -> None:
    """Play at all tables at once, each on a thread; return when all have ended, or have had their time."""
    threads = [
        threading.Thread(target=play, args=(table, host.address), daemon=True)
        for table, host in zip(tables, hosts, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds)


def until(holds: Callable[[], bool], seconds: float = 60.0) -> None:
    """Return when something has come about."""
    waiting = threading.Event()
    for _ in range(int(seconds * 50)):
        if holds():
            return
        waiting.wait(0.02)
    raise AssertionError(f"it has not come about in {seconds} s")
