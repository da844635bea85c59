"""What 2,000 browsers at ``salvo web`` cost: a result's way to each of them, memory, and the server's turnaround."""

from __future__ import annotations

import asyncio
import re
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from bench.children import peak_mb, process, table_names
from bench.figures import percentiles, row
from bench.teams import Door, Teams
from kit.mosquitto import Mosquitto
from kit.web_front import web_front

BROWSERS: Final = 2000
TABLES: Final = 20
#: Between two salvos of a table, as in a hall that is to follow them.
_PACE_SECONDS: Final = 1.0
_TURN: Final = re.compile(rb'"last":\{"game":\d+,"turn":(\d+)')
_PAIRS: Final = 3


# --- the browsers, in a process of their own ----------------------------------------------------------------------


def run_browsers(port: int, count: int, tables: int) -> None:
    """Follow so many tables, each browser one of them; at the end of input, say when each turn was heard how often.

    Prints a line a browser and turn that it heard: table, turn and time.monotonic().
    """
    asyncio.run(_browse(port, count, tables))


async def _browse(port: int, count: int, tables: int) -> None:
    names = table_names(tables)
    received: dict[tuple[str, int], list[float]] = defaultdict(list)
    ready = asyncio.Semaphore(0)
    tasks = [
        asyncio.create_task(_follow(port, f"127.0.0.{2 + n % 50}", names[n % tables], received, ready))
        for n in range(count)
    ]
    for _ in tasks:
        await ready.acquire()
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    for (table, turn), times in received.items():
        print(f"{table or '-'} {turn} {' '.join(f'{at:.6f}' for at in times)}")
    sys.stdout.flush()
    for task in tasks:
        task.cancel()


async def _follow(
    port: int, address: str, table: str, received: dict[tuple[str, int], list[float]], ready: asyncio.Semaphore
) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20, local_addr=(address, 0))
    writer.write(f"GET /events?table={table}&live HTTP/1.1\r\nHost: hall\r\n\r\n".encode())
    last, first = 0, True
    while line := await reader.readline():
        if not line.startswith(b"data: "):
            continue
        found = _TURN.search(line)
        turn = int(found[1]) if found else 0
        if turn > last and not first:
            received[table, turn].append(time.monotonic())
        last = max(last, turn)
        if first:
            first = False
            ready.release()


# --- the rows -----------------------------------------------------------------------------------------------------


def bench_web(share: float) -> None:
    """Twenty tables, a salvo a second each; then one table's turnaround, in pairs with the browsers and without."""
    browsers, rounds = max(20, int(BROWSERS * share)), max(3, int(20 * share))
    with (
        Mosquitto() as broker,
        process("server", broker.url, "--tables", TABLES) as _,
        Teams(Door(broker.url), TABLES) as teams,
    ):
        with web_front(broker.url) as web:
            with process("browsers", web.port, browsers, TABLES) as crowd:
                resolved = teams.paced(rounds, _PACE_SECONDS)
                received = crowd.end()
            memory = peak_mb(web.pid)
        late = [at - resolved[key] for key, times in read_received(received) if key in resolved for at in times]
        expected = browsers * len(resolved) // TABLES
        p50, p99 = percentiles(late)
        row(f"{browsers} browsers, {TABLES} tables: result to browser, p50 and p99", f"{p50:.0f} / {p99:.0f} ms")
        row(f"{browsers} browsers: results that were heard", f"{len(late) / expected:.1%}", "goal: 100 %")
        row(f"{browsers} browsers: memory of salvo web", f"{memory} MB")
        ratios = []
        for _ in range(_PAIRS):
            alone = statistics.median(teams.round_trips(int(200 * share) or 10))
            with web_front(broker.url) as web, process("browsers", web.port, browsers, TABLES):
                ratios.append(statistics.median(teams.round_trips(int(200 * share) or 10)) / alone)
        spread = f"{min(ratios):.2f} to {max(ratios):.2f} x"
        row(f"turnaround with {browsers} browsers / without", f"{statistics.median(ratios):.2f} x", spread)


def read_received(lines: str) -> Iterator[tuple[tuple[str, int], list[float]]]:
    """Yield table and turn, and when browsers heard its result, of each line that :func:`run_browsers` prints."""
    for line in lines.splitlines():
        table, turn, *times = line.split()
        yield ("" if table == "-" else table, int(turn)), [float(at) for at in times]
