"""Gateways in this process, for tests that come in through one."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

from salvo.rules import RuleBook
from salvo_gateways.accounts import OpenAccounts
from salvo_gateways.host import Door, Host
from salvo_gateways.table_watch import TableWatch


@contextlib.contextmanager
def open_door(
    url: str, folder: Path, door: Callable[[RuleBook], Door], *, name: str = "xbs", table: str = ""
) -> Iterator[tuple[str, int]]:
    """Run a gateway to a table of an open broker; yield where it listens."""
    house = TableWatch(url, table, OpenAccounts(folder / "gateway.key", name), pin=False)
    with contextlib.closing(house):
        host = Host(house, door(house.open()))
        host.open("127.0.0.1", 0)
        with contextlib.closing(host):
            yield host.address
