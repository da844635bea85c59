"""What it costs that nobody sees or does what they may not, and that anyone can check that it was fair.

A profile is measured against another in one run: each round starts all of them anew, one after the other and the next
round the other way round, and a ratio is the median of the rounds' ratios. So a machine that gets slower meanwhile, or
a process that was laid out unluckily, is in both halves or in few of the rounds.
"""

from __future__ import annotations

import contextlib
import statistics
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from bench.children import process, table_names
from bench.figures import row
from bench.teams import NAMES, Door, Teams
from kit.mosquitto import ContestMosquitto, Mosquitto
from salvo.wire import topics
from salvo_server.brokers.mosquitto.dynamic_security import DynamicSecurity
from salvo_server.storage.roster import Roster

TABLES: Final = 4
#: What the teams hear of a game with its signed log.
RECEIVED: Final = (topics.HITS, topics.CURRENT, topics.LOG)
_ROUNDS: Final = 5
#: Salvos before the watch is started: the interpreter knows its way by then.
_FIRST_SALVOS: Final = 10


class Way(NamedTuple):
    """A way to run a contest.

    Attributes:
        signed: whether the server has an identity, and says everything in `/game/log` as well.
        guarded: profile contest: roster, and a broker with users and rights; else profile open on an open broker.
    """

    name: str
    signed: bool
    guarded: bool = False


UNSIGNED: Final = Way("open without log", signed=False)
OPEN: Final = Way("open", signed=True)
CONTEST: Final = Way("contest", signed=True, guarded=True)


class Ratio(NamedTuple):
    """Two ways that differ in one thing, or in two."""

    way: Way
    against: Way
    price_of: str


_RATIOS: Final = (
    Ratio(OPEN, UNSIGNED, "the signed log"),
    Ratio(CONTEST, OPEN, "access control"),
    Ratio(CONTEST, UNSIGNED, "both"),
)


class Effort(NamedTuple):
    """How many salvos a round takes: one by one for the turnaround, and several tables at once for the shots."""

    turns: int
    at_once: int


class Pace(NamedTuple):
    """What one round found.

    Attributes:
        turnaround: median from the last shot to hits, ms.
        shots: a second, at all tables at once.
    """

    turnaround: float
    shots: float


_EFFORT: Final = Effort(300, 1200)


@contextlib.contextmanager
def _stage(way: Way, folder: Path) -> Iterator[Door]:
    """Both teams; they send their names and secrets to an open broker as well, which looks at neither."""
    roster = Roster(folder / "roster.json")
    secrets = {name: roster.add(name) for name in NAMES}
    names = table_names(TABLES)
    arguments: list[object] = ["--tables", TABLES, *(["--signed"] if way.signed else [])]
    arguments += ["--roster", roster.path] if way.guarded else []
    with contextlib.ExitStack() as stack:
        broker: Mosquitto
        if way.guarded:
            broker = stack.enter_context(ContestMosquitto(roster.server, roster.keeper, tuple(names)))
            security = stack.enter_context(DynamicSecurity(broker.url, roster.keeper))
            security.sync(roster.accounts(), names)
            security.wait(15)
        else:
            broker = stack.enter_context(Mosquitto())
        stack.enter_context(process("server", broker.url, *arguments))
        yield Door(broker.url, secrets, RECEIVED)


def bench_mosquitto_profiles(share: float) -> None:
    """Contest, with the plugin's users and rights, against open, both with and without the signed log."""
    ways = list(dict.fromkeys(way for ratio in _RATIOS for way in (ratio.against, ratio.way)))
    found: dict[Way, list[Pace]] = {way: [] for way in ways}
    part = Effort(int(_EFFORT.turns * share), int(_EFFORT.at_once * share))
    for number in range(max(3, int(_ROUNDS * share))):
        for way in ways if number % 2 else reversed(ways):
            found[way].append(_pace(way, part))
    for way, paces in found.items():
        row(f"mosquitto, {way.name}: last shot to hits, p50", f"{_median(pace.turnaround for pace in paces):.2f} ms")
        row(f"mosquitto, {way.name}: shots, {TABLES} tables at once", f"{_median(p.shots for p in paces):,.0f} shots/s")
    for way, against, price_of in _RATIOS:
        pairs = list(zip(found[way], found[against], strict=True))
        what = f"mosquitto, {way.name} / {against.name}"
        _ratio_row(f"{what}: p50", [one.turnaround / other.turnaround for one, other in pairs], price_of)
        _ratio_row(f"{what}: shots", [one.shots / other.shots for one, other in pairs], price_of)


def _pace(way: Way, effort: Effort) -> Pace:
    with (
        tempfile.TemporaryDirectory(prefix="bench-") as folder,
        _stage(way, Path(folder)) as door,
        Teams(door, TABLES) as teams,
    ):
        teams.round_trips(_FIRST_SALVOS)
        turnaround = _median(teams.round_trips(effort.turns)) * 1000
        return Pace(turnaround, teams.throughput(effort.at_once))


def _ratio_row(what: str, ratios: Sequence[float], price_of: str) -> None:
    spread = f"{len(ratios)} rounds, {min(ratios):.2f} to {max(ratios):.2f}"
    row(what, f"{statistics.median(ratios):.2f} x", f"price of {price_of}; {spread}")


def _median(figures: Iterable[float]) -> float:
    return statistics.median(figures)
