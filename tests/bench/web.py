"""The browsers of ``make load``, all in a process of their own."""

from __future__ import annotations

import asyncio
import re
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from bench.children import table_names

_TURN: Final = re.compile(rb'"last":\{"game":\d+,"turn":(\d+)')


def run_browsers(port: int, count: int, tables: int) -> None:
    """Follow so many tables, each browser one of them; at the end of input, say when each turn was heard how often.

    Prints a line a browser and turn that it heard: table, turn and time.monotonic().
    """
    asyncio.run(_browse(port, count, tables))


async def _browse(port: int, count: int, tables: int) -> None:
    names = table_names(tables)
    heard: dict[tuple[str, int], list[float]] = defaultdict(list)
    ready = asyncio.Semaphore(0)
    tasks = [
        asyncio.create_task(_follow(port, f"127.0.0.{2 + n % 50}", names[n % tables], heard, ready))
        for n in range(count)
    ]
    for _ in tasks:
        await ready.acquire()
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    for (table, turn), times in heard.items():
        print(f"{table or '-'} {turn} {' '.join(f'{at:.6f}' for at in times)}")
    sys.stdout.flush()
    for task in tasks:
        task.cancel()


async def _follow(
    port: int, address: str, table: str, heard: dict[tuple[str, int], list[float]], ready: asyncio.Semaphore
) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20, local_addr=(address, 0))
    writer.write(f"GET /events?table={table} HTTP/1.1\r\nHost: hall\r\n\r\n".encode())
    last, first = 0, True
    while line := await reader.readline():
        if not line.startswith(b"data: "):
            continue
        found = _TURN.search(line)
        turn = int(found[1]) if found else 0
        if turn > last and not first:
            heard[table, turn].append(time.monotonic())
        last = max(last, turn)
        if first:
            first = False
            ready.release()


def read_heard(lines: str) -> Iterator[tuple[tuple[str, int], list[float]]]:
    """Yield table and turn, and when browsers heard its result, of each line that :func:`run_browsers` prints."""
    for line in lines.splitlines():
        table, turn, *times = line.split()
        yield ("" if table == "-" else table, int(turn)), [float(at) for at in times]
