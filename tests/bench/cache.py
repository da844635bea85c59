"""What 20,000 pages behind nginx with ``deploy/cache.conf`` cost, and how old is what they show.

A page asks for the head, loads the chunks that are new, and rests for a second, as ``live.js`` does. Where that is more
than the machine carries, a round takes longer, and the figures show how long: pages and nginx share its cores.
"""

from __future__ import annotations

import heapq
import json
import re
import resource
import select
import signal
import socket
import tempfile
import time
import zlib
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import psutil

from bench.children import process, table_names
from bench.clearing_page import quantile
from bench.figures import row
from bench.teams import Door, Teams
from kit.mosquitto import Mosquitto
from kit.nginx import Nginx, nginx_before
from kit.ports import Port
from kit.web_front import web_front

PAGES: Final = 20_000
TABLES: Final = 4
#: Processes of pages, and of nginx: each has a limit of open files.
_PROCESSES: Final = 2
#: Between two salvos of a table, as bots with a pace.
_PACE_SECONDS: Final = 0.8
#: In ``live.js``: from the end of a round to the next one, how far behind what is newest a page may be, and how many
#: chunks it loads at once.
_POLL_SECONDS: Final = 1.0
_LATE_SECONDS: Final = 2.0
_MOST: Final = 3
#: Within which all pages come.
_COMING_SECONDS: Final = 20.0
#: Between two looks at what has come and who is due.
_TICK_SECONDS: Final = 0.01
#: Files of a process beside its connections.
_MORE_FILES: Final = 200
_NUMBER: Final = re.compile(rb"\d+")
_LENGTH: Final = re.compile(rb"\r\ncontent-length: (\d+)", re.IGNORECASE)


# --- the pages, in processes of their own -------------------------------------------------------------------------


def run_pages(port: int, count: int, tables: int) -> None:
    """Follow so many tables, each page one of them, until the process is ended.

    Ready when all pages have come. For a SIGUSR1 it prints what has been counted since the last one: requests, bytes,
    and ``ages``, how many seconds were shown how late, by hundredths of a second.
    """
    pages = _Pages(port, count, tables)
    signal.signal(signal.SIGUSR1, lambda *_: pages.report())
    pages.run()


class _Page:
    """A page: where it is in its round, and what it has shown."""

    __slots__ = ("asked_head", "ends", "newest", "received", "sock", "table", "wanted")

    def __init__(self, table: str, sock: socket.socket) -> None:
        self.table, self.sock = table, sock
        self.asked_head = True  # and not a chunk
        self.wanted: list[int] = []
        self.newest = 0
        self.ends = 0.0
        self.received = b""


class _Pages:
    """Many pages in one thread."""

    def __init__(self, port: int, count: int, tables: int) -> None:
        self._port, self._count = port, count
        self._tables = table_names(tables)
        self._poll = select.epoll()
        self._pages: dict[int, _Page] = {}  # by file
        self._due: list[tuple[float, int]] = []  # when which page begins a round
        self._heads: dict[bytes, list[int]] = {}  # thousands get the same one
        self._counts: Counter[str] = Counter()
        self._ages: Counter[int] = Counter()

    def run(self) -> None:
        """Come one after the other, and follow."""
        begin = time.monotonic()
        while True:
            here = int(self._count * (time.monotonic() - begin) / _COMING_SECONDS) + 1
            if len(self._pages) < min(self._count, here):
                self._come()
                if len(self._pages) == self._count:
                    print("ready", flush=True)
            now = time.monotonic()
            while self._due and self._due[0][0] <= now:
                self._ask(self._pages[heapq.heappop(self._due)[1]])
            for file, _ in self._poll.poll(0 if len(self._pages) < min(self._count, here) else _TICK_SECONDS):
                self._take(self._pages[file])

    def report(self) -> None:
        """Print the counts since the last report, and reset them."""
        counts, self._counts = self._counts, Counter()
        ages, self._ages = self._ages, Counter()
        print(json.dumps({**counts, "ages": ages}), flush=True)

    def _come(self) -> None:
        number = len(self._pages)
        source = f"127.0.0.{2 + number % 50}", 0
        sock = socket.create_connection(("127.0.0.1", self._port), timeout=60, source_address=source)
        sock.setblocking(False)
        self._pages[sock.fileno()] = page = _Page(self._tables[number % len(self._tables)], sock)
        self._poll.register(sock, select.EPOLLIN)
        self._ask(page)

    def _ask(self, page: _Page) -> None:
        """Ask for the next chunk that is wanted, else for the head."""
        page.asked_head = not page.wanted
        file = b"%d" % page.wanted[0] if page.wanted else b"head"
        page.sock.send(
            b"GET /live/%b.json?table=%b HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAccept-Encoding: gzip\r\n\r\n"
            % (file, page.table.encode(), self._port)
        )

    def _take(self, page: _Page) -> None:
        page.received += page.sock.recv(1 << 16)
        head, _, body = page.received.partition(b"\r\n\r\n")
        if not _is_whole(head, body):
            return
        kind = "heads" if page.asked_head else "chunks"
        self._counts[kind] += 1
        self._counts[f"bytes of {kind}"] += len(page.received)
        page.received = b""
        if page.asked_head:
            names = self._names(head, body)
            page.wanted = [name for name in names if name > page.newest][-_MOST:] if page.newest else names[-1:]
        else:
            self._show(page, page.wanted.pop(0), there=head.startswith(b"HTTP/1.1 200"))
        if page.wanted:
            self._ask(page)
        else:
            heapq.heappush(self._due, (time.monotonic() + _POLL_SECONDS, page.sock.fileno()))

    def _names(self, head: bytes, body: bytes) -> list[int]:
        if body not in self._heads:
            if len(self._heads) > 10 * len(self._tables):
                self._heads.clear()
            self._heads[body] = [int(name) for name in _NUMBER.findall(_content(head, body))]
        return self._heads[body]

    def _show(self, page: _Page, name: int, *, there: bool) -> None:
        """Show a second as ``live.js`` does; all that it has is equally old then."""
        if not there:
            self._counts["chunks that were gone"] += 1
            return
        now = time.time()
        self._counts["chunks before their time"] += now < name + 1
        begins = page.ends if 0 < page.ends - now < _LATE_SECONDS else now
        if page.newest:  # of the first one, only the end is shown
            self._ages[round(100 * (begins - name))] += 1
        page.newest, page.ends = name, begins + 1


def _is_whole(head: bytes, body: bytes) -> bool:
    length = _LENGTH.search(head)
    return body.endswith(b"0\r\n\r\n") if length is None else len(body) >= int(length[1])


def _content(head: bytes, body: bytes) -> bytes:
    """Return what a whole answer has: nginx packs as it sends, and so in parts of a length each."""
    if _LENGTH.search(head) is not None:
        return body
    packed, rest = b"", body
    while rest:
        length, _, rest = rest.partition(b"\r\n")
        packed, rest = packed + rest[: int(length, 16)], rest[int(length, 16) + 2 :]
    return zlib.decompress(packed, 16 + zlib.MAX_WBITS)


# --- the rows -----------------------------------------------------------------------------------------------------


def bench_cache(share: float) -> None:
    """A tenth of the pages, which a small machine carries at their pace; then all."""
    _allow_files(PAGES // _PROCESSES + _MORE_FILES)
    rounds = max(5, int(40 * share))
    with ExitStack() as stack:
        broker = stack.enter_context(Mosquitto())
        stack.enter_context(process("server", broker.url, "--tables", TABLES))
        teams = stack.enter_context(Teams(Door(broker.url), TABLES))
        port = stack.enter_context(Port())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        web = stack.enter_context(web_front(broker.url, "--public", f"http://{port.address}"))
        nginx = stack.enter_context(
            nginx_before(f"127.0.0.1:{web.port}", port.address, folder, _PROCESSES, 3 * PAGES // (2 * _PROCESSES))
        )
        for pages in (int(PAGES * share) // 10, int(PAGES * share)):
            _bench(pages, rounds, teams, nginx, port.number, web.pid)


def _bench(pages: int, rounds: int, teams: Teams, nginx: Nginx, port: int, web: int) -> None:
    with ExitStack() as stack:
        crowd = [stack.enter_context(process("pages", port, pages // _PROCESSES, TABLES)) for _ in range(_PROCESSES)]
        teams.paced(10, _PACE_SECONDS)  # until all show it
        for each in crowd:
            each.ask()
        begin, spent = time.time(), (_cpu(*_workers(nginx)), _cpu(web))
        teams.paced(rounds, _PACE_SECONDS)
        answers = [each.ask() for each in crowd]
        seconds = time.time() - begin
        spent = _cpu(*_workers(nginx)) - spent[0], _cpu(web) - spent[1]
    asked = sum(begin <= at < begin + seconds for at, path in nginx.asked() if path.startswith("/live/"))
    ages, counts = _sums(answers)
    requests = counts["heads"] + counts["chunks"]
    row(f"{pages} pages: requests a second", f"{requests / seconds:,.0f}")
    row(f"{pages} pages: seconds from one head to the next", f"{pages * seconds / counts['heads']:.2f}")
    row(
        f"{pages} pages: age of what they show, p50 and p99",
        f"{quantile(ages, 0.5) / 100:.1f} / {quantile(ages, 0.99) / 100:.1f} s",
    )
    row(f"{pages} pages: chunks that were there before their time", f"{counts['chunks before their time']}", "goal: 0")
    row(f"{pages} pages: chunks that were gone", f"{counts['chunks that were gone'] / counts['chunks']:.2%}")
    row(
        f"{pages} pages: requests to salvo web, a table and second",
        f"{asked / TABLES / seconds:.2f}",
        "goal: at most 3",
    )
    row(f"{pages} pages: answers from the cache", f"{1 - asked / requests:.3%}")
    row(f"{pages} pages: nginx, a request", f"{1e6 * spent[0] / requests:.0f} us")
    row(f"{pages} pages: nginx and salvo web, of one core", f"{spent[0] / seconds:.0%} / {spent[1] / seconds:.0%}")
    sizes = " / ".join(f"{counts[f'bytes of {kind}'] / counts[kind]:.0f}" for kind in ("heads", "chunks"))
    row(f"{pages} pages: bytes of a head and of a chunk, with headers", sizes)


def _sums(answers: list[dict[str, Any]]) -> tuple[Counter[str], Counter[str]]:
    """Return how many seconds were shown at which age, in hundredths of a second, and the other counts."""
    ages, counts = Counter[str](), Counter[str]()
    for answer in answers:
        ages.update(answer.pop("ages"))
        counts.update(answer)
    return ages, counts


def _workers(nginx: Nginx) -> list[int]:
    return [child.pid for child in psutil.Process(nginx.pid).children()]


def _cpu(*pids: int) -> float:
    times = [psutil.Process(pid).cpu_times() for pid in pids]
    return float(sum(each.user + each.system for each in times))


def _allow_files(count: int) -> None:
    """Let this process and its children open so many files, or end."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most < count:
        raise SystemExit(f"{PAGES} pages take {count} files a process, and {most} are allowed: ulimit -n {count}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
