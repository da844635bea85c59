"""What a server costs beside a bare echo on the same broker."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from bench.children import process
from bench.figures import Spread, percentiles, row
from bench.teams import Door, Teams, echo_round_trips, echo_throughput

#: Echo and server have turns of a second or two, one after the other: what else the machine does falls on both.
ROUNDS = 8
#: Tables of the server.
TABLES = 4


class Goals(NamedTuple):
    """How the server is to compare with the echo: p50 and p99 at most, shots a second at least."""

    p50: float
    p99: float
    rate: float


class Round(NamedTuple):
    """What a round of echo or server found: p50 and p99 of a message's way, ms, and messages or shots a second."""

    p50: float
    p99: float
    rate: float


def bench_broker(name: str, url: str, count: int, goals: Goals) -> None:
    """Echo and server on one broker; without a URL it is the server's own, and the echo comes to it over TCP."""
    with process("server", *filter(None, [url]), "--tables", TABLES) as server:
        url = server.address
        with process("echo", url), Teams(Door(url), TABLES) as teams:
            rounds = [_measure(url, teams, count // ROUNDS) for _ in range(ROUNDS + 1)][1:]  # the first is a warm-up
    for kind, found in zip(("echo", "server"), zip(*rounds, strict=True), strict=True):
        for what, unit, digits, figures in _columns(found):
            row(f"{name}, {kind}: {what}", Spread.of(figures).written(unit, digits))
    ratios = [[ours / echoed for echoed, ours in zip(*pair, strict=True)] for pair in rounds]
    p50, p99, rate = (Spread.of(figures) for figures in zip(*ratios, strict=True))
    row(f"{name}: turnaround / echo, p50", p50.written("x"), p50.at_most(goals.p50))
    row(f"{name}: turnaround / echo, p99", p99.written("x"), p99.at_most(goals.p99))
    row(f"{name}: shots / echo", rate.written("x"), rate.at_least(goals.rate))


def _measure(url: str, teams: Teams, count: int) -> tuple[Round, Round]:
    """A turn of the echo and one of the server."""
    echo = Round(*percentiles(echo_round_trips(url, count)), echo_throughput(url, 5 * count))
    return echo, Round(*percentiles(teams.round_trips(count)), teams.throughput(count))


def _columns(rounds: Sequence[Round]) -> Iterator[tuple[str, str, int, list[float]]]:
    yield "way of a message, p50", "ms", 2, [each.p50 for each in rounds]
    yield "way of a message, p99", "ms", 2, [each.p99 for each in rounds]
    yield "messages a second, 20 in flight", "/s", 0, [each.rate for each in rounds]
