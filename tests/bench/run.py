"""The benchmarks: ``make bench``. A table as result; every figure stands beside another one of the same run.

Ratios are what counts: the machine's own speed is in both of their halves. A goal is missed where all rounds are beyond
it; nothing else here passes or fails.

    children.py   what is measured: servers and an echo, each in a process of its own
    teams.py      who talks to them and holds the watch
    reports.py    a server against an echo
    profiles.py   the same for the profiles and the signed log
    floods.py     what one team's floods take from another table
    web.py        what thousands of browsers cost
    cache.py      what tens of thousands of pages behind a cache cost
    rush.py       hundreds of teams that come at once
    shares.py     where the server's time goes
    load.py       ``make load``, by itself: many tables and spectators (``crowd.py``, on connections of ``light.py``)
    sizes.py      what it should cost
    figures.py    the table itself
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Callable, Collection
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.cache import bench_cache
from bench.figures import ROWS
from bench.floods import bench_floods
from bench.profiles import bench_mosquitto_profiles
from bench.reports import Goals, bench_broker
from bench.rush import bench_rush
from bench.shares import bench_shares
from bench.web import bench_web
from kit.mosquitto import Mosquitto


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the time, for a look")
    parser.add_argument("--only", nargs="+", choices=sorted(PARTS), default=PARTS, help="some parts instead of all")
    given = parser.parse_args()
    report(given.quick, given.only)


def report(quick: bool, only: Collection[str]) -> None:
    """Everything, then the table once more."""
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}\n")
    for name, part in PARTS.items():
        if name in only:
            part(0.1 if quick else 1.0)
    print("\n| what | figure | |\n|---|---|---|")
    for line in ROWS:
        print(f"| {' | '.join(line)} |")


def _mosquitto(share: float) -> None:
    with Mosquitto() as broker:
        bench_broker("mosquitto", broker.url, int(2000 * share), Goals(p50=1.25, p99=1.5, rate=0.85))


def _embedded(share: float) -> None:
    bench_broker("embedded", "", int(2000 * share), Goals(p50=0.8, p99=1.5, rate=0.85))


#: By name; each is given the share of its whole time that it may take.
PARTS: dict[str, Callable[[float], None]] = {
    "mosquitto": _mosquitto,
    "embedded": _embedded,
    "profiles": bench_mosquitto_profiles,
    "floods": bench_floods,
    "web": bench_web,
    "cache": bench_cache,
    "rush": bench_rush,
    "shares": bench_shares,
}


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
