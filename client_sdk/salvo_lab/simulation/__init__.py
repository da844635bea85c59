"""Many games of bots against bots, on all cores: :func:`simulate`, and :func:`stream` game by game.

The same seed gives the same games, however many processes play them. A bot that raises, breaks the rules, ends its
process or never answers will mostly lose its game, but nothing else: the game goes on without it, as a contest does,
and :attr:`Simulation.failures` says where to look.

Every game has new bots: ``__init__`` is called for each. Slow preparations belong in the module or behind
``functools.cache``. A program (``exec:COMMAND``) has a process for every game, or for many if it says that it
stays (SALVO-EXEC-10).
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum, inf
from statistics import fmean
from typing import TYPE_CHECKING, overload

from salvo.bots.player import Bot
from salvo.bots.programs.linux import cores
from salvo.bots.replay_command import again, seat_names
from salvo.errors import BotError
from salvo.messages import PlayerStats
from salvo.rules import RuleBook
from salvo.rules.files import load_book
from salvo_lab.arena import Decisions, Failure, Placed
from salvo_lab.intervals import rate_and_error
from salvo_lab.simulation.seats import Seats, seating
from salvo_lab.simulation.worker import GameResults, R, Row, Run, Spec
from salvo_lab.time_limits import TURN_SECONDS

if TYPE_CHECKING:
    from salvo_lab.cluster import Cluster
    from salvo_lab.simulation.pool import Pool

__all__ = ["Decisions", "Failure", "Played", "Seats", "Simulation", "seating", "simulate", "stream"]

#: A bot's source for :func:`salvo.bots.sources.load`, or its class.
Source = str | type[Bot]
Bots = Sequence[Source] | Mapping[str, Source]


@dataclass(frozen=True, slots=True)
class Played(Placed):
    """How a game ended.

    Attributes:
        winner: empty after a tie.
        turns: salvos of all players together.
        stats: by player, in play order.
        failures: bots' failures in this game.
    """

    winner: str
    seed: int | str
    game: int
    turns: int
    stats: dict[str, PlayerStats]
    failures: tuple[Failure, ...] = ()


@dataclass(slots=True)
class Simulation(Sequence[Played]):
    """The results of a simulation; as a sequence, its games, each created on access.

    Attributes:
        bots: sources by name at the table, as :func:`salvo.bots.replay_command.again` writes them.
        first: number of the first game.
        wins: by name; a tie counts for no one.
        ties: games without a single winner.
        places: by name, how often first, second and so on; those that tie share the better place.
        failures: in the order of the games.
        decisions: by name, how long they thought, in one game of 16, or in all if bots are slow. Unlike everything
            else, this differs from run to run.
        seconds: duration of the simulation.
    """

    bots: dict[str, str]
    seed: int | str
    rules: str
    seats: Seats
    first: int
    wins: dict[str, int]
    places: dict[str, list[int]]
    ties: int = 0
    failures: list[Failure] = field(default_factory=list)
    decisions: dict[str, Decisions] = field(default_factory=dict, compare=False)
    seconds: float = field(default=0.0, compare=False)
    _rows: list[Row] = field(default_factory=list, repr=False)
    _book: RuleBook | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> Played: ...
    @overload
    def __getitem__(self, index: slice) -> list[Played]: ...
    def __getitem__(self, index: int | slice) -> Played | list[Played]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        row = self._rows[index]
        game = self.first + (index if index >= 0 else index + len(self))
        return self._played(game, row, tuple(failure for failure in self.failures if failure.game == game))

    def again(self, game: int) -> str:
        """Return the command that plays one of these games again, and shows bots' errors."""
        return again(list(self.bots.values()), self.seed, game, rules=self.rules, seats=self.seats)

    def rate(self, name: str) -> float:
        """Return a bot's share of wins, 0..1; a tie of n players is 1/n of a win for each.

        Raises:
            ValueError: no game was played.
        """
        if not self._rows:
            raise ValueError("no game was played")
        return fsum(self._shares(name)) / len(self)

    def error(self, name: str) -> float:
        """Return half the width of the 95 % interval of :meth:`rate`; games with the same fleets count as one."""
        shares = self._shares(name)
        together = len(self.bots) if self.seats is Seats.PAIRED else 1
        return rate_and_error([fmean(shares[first : first + together]) for first in range(0, len(shares), together)])[1]

    def _shares(self, name: str) -> list[float]:
        """Return what each game is worth to a bot, 0..1."""
        place = 1 + 5 * list(self.bots).index(name)
        return [1 / row[1::5].count(1) if row[place] == 1 else 0.0 for row in self._rows]

    def record(self) -> dict[str, object]:
        """Return the sums for JSON."""
        return {
            "games": len(self),
            "first": self.first,
            "seed": self.seed,
            "rules": self.rules,
            "seats": self.seats,
            "wins": self.wins,
            "ties": self.ties,
            "places": self.places,
            "failures": [
                {"player": f.player, "game": f.game, "turn": f.turn, "code": f.code, "text": f.text}
                | {"again": self.again(f.game)}
                for f in self.failures
            ],
            "decisions": {
                name: {"measured": d.count, "mean_ms": round(d.mean * 1e3, 4), "worst_ms": round(d.worst * 1e3, 4)}
                for name, d in self.decisions.items()
            },
            "seconds": round(self.seconds, 3),
        }

    def _played(self, game: int, row: Row, failures: tuple[Failure, ...]) -> Played:
        names = list(self.bots)
        assert self._book is not None
        order = seating(self.seats, names, self.seed, game, self._book, exchanged=False).order
        stats = {}
        for name in order:
            place, shots, hits, sunk, turns = row[1 + 5 * names.index(name) :][:5]
            stats[name] = PlayerStats(name, shots, hits, sunk, turns, place)
        winners = [name for name, one in stats.items() if one.place == 1]
        winner = winners[0] if len(winners) == 1 else ""
        return Played(winner, self.seed, game, row[0], stats, failures)

    def _add(self, batch: GameResults[Row]) -> None:
        names = list(self.bots)
        for row in batch.rows:
            places = row[1::5]
            if places.count(1) == 1:
                self.wins[names[places.index(1)]] += 1
            else:
                self.ties += 1
            for name, place in zip(names, places, strict=True):
                self.places[name][place - 1] += 1
        self._rows += batch.rows
        self.failures += batch.failures
        for name, decisions in batch.times.items():
            self.decisions[name].add(decisions)


def simulate(
    bots: Bots,
    *,
    games: int = 1000,
    seed: int | str = 0,
    rules: RuleBook | str = "salvo",
    jobs: int | None = None,
    seats: Seats | str = Seats.FIXED,
    first: int = 1,
    turn_seconds: float = TURN_SECONDS,
    progress: Callable[[int, int], object] | None = None,
    waiting: Callable[[], object] | None = None,
    cluster: Cluster | None = None,
) -> Simulation:
    """Play games and return the results.

    Args:
        bots: two or more, in play order: files, ``file.py:Name``, names of built-in bots, or classes. A mapping gives
            each its name at the table; otherwise the names come from the sources.
        games: how many.
        seed: of everything random; a bot can guess a small one, and with it its rivals' fleets.
        rules: a ruleset, its name, or a TOML file.
        jobs: processes to play in, at most one a game; all cores by default. 0 plays in this process: for debuggers,
            but then a bot that ends the process or never answers is not caught.
        seats: ``fixed``, ``rotated``, or ``paired`` (:class:`~salvo_lab.simulation.seats.Seats`).
        first: number of the first game, 1 or more.
        turn_seconds: how long a bot may think about one salvo before its process is ended.
        progress: called with the number of games played and of all.
        waiting: as in :func:`stream`.
        cluster: hosts that play instead of this one; ``jobs`` is theirs then.

    Raises:
        BotError: ``too_few_players``; ``bad_bot``: a bot cannot be loaded; ``bad_simulation``: a number out of range.
        SalvoError: ``bad_rules``.
    """
    simulation, batches = _begin(bots, games, seed, rules, jobs, seats, first, turn_seconds, False, waiting, cluster)
    start = time.monotonic()
    for batch in batches:
        simulation._add(batch)
        if progress is not None:
            progress(len(simulation), games)
    simulation.seconds = time.monotonic() - start
    return simulation


def stream(
    bots: Bots,
    *,
    games: int | None = None,
    seed: int | str = 0,
    rules: RuleBook | str = "salvo",
    jobs: int | None = None,
    seats: Seats | str = Seats.FIXED,
    first: int = 1,
    turn_seconds: float = TURN_SECONDS,
    strict: bool = False,
    waiting: Callable[[], object] | None = None,
    cluster: Cluster | None = None,
) -> Generator[Played, None, None]:
    """Play games and yield them in order, as they come; closing the generator ends the processes.

    Args:
        games: how many; None plays until the generator is closed.
        strict: whether a mistake of a program (``exec:COMMAND``) is a failure of its game, like a Python bot's;
            otherwise it costs the turn. The other arguments are those of :func:`simulate`.
        waiting: called about ten times a second while waiting for games, including the first, unless ``jobs`` is 0; an
            exception from it ends the processes at once.

    Raises:
        SalvoError: as in :func:`simulate`; at once, not when the first game is due.
    """
    endless = 1 << 40 if games is None else games
    simulation, batches = _begin(bots, endless, seed, rules, jobs, seats, first, turn_seconds, strict, waiting, cluster)
    return _stream(simulation, batches)


def _stream(simulation: Simulation, batches: Iterator[GameResults[Row]]) -> Generator[Played, None, None]:
    for batch in batches:
        for game, row in enumerate(batch.rows, batch.first):
            yield simulation._played(game, row, tuple(f for f in batch.failures if f.game == game))


def _begin(
    bots: Bots,
    games: int,
    seed: int | str,
    rules: RuleBook | str,
    jobs: int | None,
    seats: Seats | str,
    first: int,
    turn_seconds: float,
    strict: bool = False,
    waiting: Callable[[], object] | None = None,
    cluster: Cluster | None = None,
) -> tuple[Simulation, Iterator[GameResults[Row]]]:
    given: Sequence[Source] = list(bots.values()) if isinstance(bots, Mapping) else list(bots)
    written = [bot if isinstance(bot, str) else _written(bot) for bot in given]
    names = list(bots) if isinstance(bots, Mapping) else seat_names(written)
    if len(given) < 2:
        raise BotError("too_few_players", f"{len(given)} bots; a game has two or more")
    if seats not in list(Seats):
        raise BotError("bad_simulation", f"seats {seats!r}; one of {', '.join(Seats)}")
    jobs = cores() if jobs is None else jobs
    _check("games", games, 0)
    _check("jobs", jobs, 0)
    _check("first", first, 1)
    if not turn_seconds > 0:
        raise BotError("bad_simulation", f"turn_seconds {turn_seconds!r}; more than 0")
    book = load_book(rules) if isinstance(rules, str) else rules
    spec = Spec(dict(zip(names, given, strict=True)), seed, book, Seats(seats), strict)
    simulation = Simulation(
        dict(zip(names, written, strict=True)),
        seed,
        rules if isinstance(rules, str) else book.name,
        spec.seats,
        first,
        wins=dict.fromkeys(names, 0),
        places={name: [0] * len(names) for name in names},
        decisions={name: Decisions() for name in names},
        _book=book,
    )
    numbers = range(first, first + games)
    batches = played(spec, written, numbers, jobs=jobs, turn_seconds=turn_seconds, waiting=waiting, cluster=cluster)
    return simulation, batches


def played(
    run: Run[R],
    written: Sequence[str],
    games: range,
    *,
    jobs: int,
    turn_seconds: float = inf,
    waiting: Callable[[], object] | None = None,
    cluster: Cluster | None = None,
) -> Iterator[GameResults[R]]:
    """Play the games of these numbers; the arguments are those of :func:`simulate`.

    Args:
        written: the sources of the run's bots; a class has that of its file.
    """
    if cluster is not None:
        from salvo_lab.simulation.on_hosts import Games

        shipped = Games.shipped(run, written, turn_seconds)
        return (batch for block in cluster.play(shipped.begin, games, waiting) for batch in block)
    from salvo_lab.simulation.pool import Pool, play_here  # a single game needs no other process

    if jobs == 0:
        return play_here(run, games.start, len(games))
    return _pooled(Pool(run, min(jobs, len(games)), turn_seconds), games, waiting)


def _pooled(pool: Pool[R], games: range, waiting: Callable[[], object] | None) -> Iterator[GameResults[R]]:
    with pool:
        yield from pool.play(games.start, len(games), waiting)


def _check(what: str, number: int, least: int) -> None:
    if type(number) is not int or number < least:
        raise BotError("bad_simulation", f"{what} {number!r}; a whole number, {least} or more")


def _written(kind: type[Bot]) -> str:
    """Return a class as it is written on a command line, if it is in a file."""
    try:
        file = inspect.getsourcefile(kind)
    except (TypeError, OSError):
        file = None
    return f"{file}:{kind.__name__}" if file and file.endswith(".py") else kind.__name__
