"""The command: many seeds, on all cores; what fails is shrunk and can be shown again.

make simulate SEEDS=10000            many contests
make simulate SEED=17                one of them, line by line
make simulate SEED=17 FAULTS='...'   the same one with other faults
make simulate RULES=xbs              by another ruleset, on a small board
make simulate BROKER=embedded        with the broker in the server's process
"""

from __future__ import annotations

import argparse
import functools
import gc
import logging
import multiprocessing
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence

from salvo.rules import BOOKS
from simulation import crypto, faults, game, sharing
from simulation.faults import SERVER_POINTS, Fault
from simulation.game import Report

#: Seeds a worker gets at a time.
CHUNK = 10
_MAX_SHOWN = 5


def prepare() -> None:
    """Make a process ready: quiet, with every key derived once."""
    logging.disable(logging.CRITICAL)
    crypto.economise()
    sharing.share()
    gc.disable()  # done between two seeds instead
    gc.collect()
    gc.freeze()  # what was imported stays, and need not be looked through after every seed


def shrink(seed: int, found: Sequence[Fault], fails: Callable[[list[Fault]], bool]) -> list[Fault]:
    """Return a list of faults that still fails and of which none can be left out: drop halves, then single ones."""
    left_over = list(found)
    size = max(1, len(left_over) // 2)
    while size:
        for place in range(0, len(left_over), size):
            fewer = left_over[:place] + left_over[place + size :]
            if len(fewer) < len(left_over) and fails(fewer):
                left_over = fewer
                break
        else:
            size //= 2
    return left_over


def command(
    seed: int, given: Sequence[Fault] | None = None, rules: str | None = None, *, embedded: bool = False
) -> str:
    """Return the command that plays a seed again."""
    extra = "" if given is None else f" FAULTS='{faults.write(list(given))}'"
    extra += "" if rules is None else f" RULES={rules}"
    extra += " BROKER=embedded" if embedded else ""
    return f"make simulate SEED={seed}{extra}"


def _work(rules: str | None, embedded: bool, seeds: Sequence[int]) -> list[Report]:
    reports = []
    for seed in seeds:
        reports.append(game.run(seed, rules=rules, embedded=embedded))
        gc.collect()
    return reports


class _Total:
    """Adds up."""

    def __init__(self, seeds: int, rules: str | None, embedded: bool) -> None:
        self.seeds = seeds
        self.rules = rules
        self.embedded = embedded
        self.done = 0
        self.wrong: list[Report] = []
        self.points: Counter[str] = Counter()
        self.crashes: Counter[str] = Counter()
        self.actions: Counter[str] = Counter()
        self.statistics: Counter[str] = Counter()
        self.simulated = 0.0
        self.began = time.monotonic()

    def add(self, report: Report) -> None:
        self.done += 1
        self.simulated += report.seconds
        for counts in report.counts.values():
            self.points.update(counts)
        for fault in report.happened:
            self.actions[f"{fault.action} {fault.given[0]}" if fault.action != "stop" else "stop server"] += 1
            if fault.action == "crash" and fault.given[0] == "server":
                self.crashes[fault.point] += 1
        self.statistics.update(report.statistics)
        if report.wrong:
            self.wrong.append(report)
            self.line(end="\n")
            if len(self.wrong) <= _MAX_SHOWN:
                self._tell(report)

    def _tell(self, report: Report) -> None:
        seed, rules, embedded = report.seed, self.rules, self.embedded

        def again(fewer: list[Fault]) -> str:
            return game.run(seed, fewer, rules=rules, embedded=embedded).wrong

        found = game.draw(seed, rules).faults
        small = shrink(seed, found, lambda fewer: bool(again(fewer)))
        print(f"seed {report.seed}: {report.wrong}")
        print(f"    again:  {command(seed, rules=rules, embedded=embedded)}")
        print(f"    shrunk from {len(found)} faults to {len(small)}: {again(small)}")
        print(f"            {command(seed, small, rules, embedded=embedded)}", flush=True)

    def line(self, end: str = "\r") -> None:
        seconds = time.monotonic() - self.began
        rate = self.done / seconds if seconds else 0.0
        text = f"{self.done}/{self.seeds} seeds, {rate:.1f} a second, {len(self.wrong)} failed"
        print(f"{text:60}", end=end, file=sys.stderr, flush=True)

    def summary(self) -> None:
        self.line(end="\n")
        wall = time.monotonic() - self.began
        print(
            f"{self.statistics['games']} games, {self.statistics['shots']} shots, "
            f"{self.simulated / 3600:.1f} hours of simulated time "
            f"in {wall:.0f} s, {_processor_seconds():.0f} s of processor"
        )
        print("what went wrong: " + ", ".join(f"{what} {count}" for what, count in sorted(self.actions.items())))
        print("what followed: " + ", ".join(f"{what} {n}" for what, n in sorted(self.statistics.items())))
        print(f"{'fault point':28}{'passed':>12}{'server killed there':>22}")
        for point in SERVER_POINTS:
            print(f"{point:28}{self.points[point]:>12}{self.crashes[point]:>22}")
        untried = [point for point in SERVER_POINTS if not self.crashes[point]]
        print(f"not tried: {', '.join(untried)}" if untried else "all fault points tried")
        print(f"{len(self.wrong)} of {self.done} seeds failed" if self.wrong else "no invariant broken")


def _processor_seconds() -> float:
    used = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def run_many(first: int, seeds: int, jobs: int, rules: str | None, embedded: bool) -> int:
    """Play many seeds; return the exit code."""
    game.run(first, rules=rules, embedded=embedded)  # derives most keys before the processes part
    total = _Total(seeds, rules, embedded)
    chunks = [range(start, min(start + CHUNK, first + seeds)) for start in range(first, first + seeds, CHUNK)]
    with multiprocessing.Pool(jobs, prepare) as pool:
        for reports in pool.imap_unordered(functools.partial(_work, rules, embedded), chunks):
            for report in reports:
                total.add(report)
            total.line()
        pool.close()
        pool.join()
    total.summary()
    return 1 if total.wrong else 0


def run_one(seed: int, given: list[Fault] | None, trace: bool, rules: str | None, embedded: bool) -> int:
    """Play one seed; return the exit code."""
    report = game.run(seed, given, print if trace else None, rules, embedded=embedded)
    drawn = game.draw(seed, rules).faults if given is None else given
    print(f"faults: {faults.write(drawn) or 'none'}")
    print(f"happened: {faults.write(report.happened) or 'none'}")
    print(f"{report.seconds:.1f} s simulated, {report.events} events, digest {report.digest}")
    print(f"BROKEN: {report.wrong}" if report.wrong else "no invariant broken")
    return 1 if report.wrong else 0


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=100, help="how many")
    parser.add_argument("--first", type=int, default=1, help="the first one")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--seed", type=int, help="just this one")
    parser.add_argument("--faults", help="instead of the seed's own, as they are printed; empty for none")
    parser.add_argument("--rules", choices=list(BOOKS), help="a ruleset instead of the seed's own")
    parser.add_argument("--broker", choices=["own", "embedded"], default="own", help="whose process it is")
    parser.add_argument("--trace", action="store_true", help="print every event")
    given = parser.parse_args()
    prepare()
    embedded = given.broker == "embedded"
    if given.seed is not None:
        drawn = None if given.faults is None else faults.parse(given.faults)
        return run_one(given.seed, drawn, given.trace, given.rules, embedded)
    return run_many(given.first, given.seeds, given.jobs, given.rules, embedded)


if __name__ == "__main__":
    sys.exit(main())
