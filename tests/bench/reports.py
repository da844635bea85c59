"""What the engine, the brokers, the journal and many tables cost. The profiles and the log are in ``profiles.py``."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from bench.children import answer, peak_mb, process
from bench.figures import Spread, percentiles, rate, row
from bench.teams import Door, Teams, echo_round_trips, echo_throughput
from salvo.rules import SALVO, Fleet, generator, random_fleet, sample
from salvo.rules.game import Game
from salvo_lab import arena
from salvo_lab.bots.random_bot import RandomBot

# --- the engine ---------------------------------------------------------------------------------------------------


Prepared = list[tuple[list[Fleet], list[list[tuple[int, int]]]]]


def engine_games(seconds: float) -> dict[int, float]:
    """Engine-only games a second by number of players: prepared fleets and shots, nothing but the engine runs."""
    found = {}
    for players in (2, 4, 8):
        prepared = _prepare(players)
        found[players] = rate(functools.partial(_play_engine, prepared), seconds)
    return found


def _prepare(players: int) -> Prepared:
    random = generator("bench", players)
    prepared: Prepared = []
    for _ in range(100):
        aims = []
        for seat in range(players):
            cells = [(rival, cell) for rival in range(players) if rival != seat for cell in range(100)]
            aims.append(sample(random, cells, len(cells)))
        prepared.append(([random_fleet(SALVO, random) for _ in range(players)], aims))
    return prepared


def _play_engine(prepared: Prepared, number: int) -> None:
    fleets, shots = prepared[number % 100]
    game = Game(SALVO, fleets, number % len(fleets))
    places = [0] * len(fleets)
    fire_salvo = game.fire_salvo
    while not game.over:
        seat = game.current
        first = places[seat]
        places[seat] = last = first + game.shots_left
        fire_salvo(shots[seat][first:last])


def bench_engine(seconds: float) -> None:
    engine = engine_games(seconds)
    for players, games in engine.items():
        row(f"engine only, {players} players", f"{games:,.0f} games/s")
    arena_rates = {}
    for players in (2, 4, 8):
        bots = {f"bot{seat}": RandomBot() for seat in range(players)}
        arena_rates[players] = rate(lambda number, bots=bots: arena.play(bots, seed=1, game=number), seconds)  # type: ignore[misc]
        row(f"whole games with random bots, {players} players", f"{arena_rates[players]:,.0f} games/s")
    try:
        import pyspiel
    except ModuleNotFoundError:
        row("OpenSpiel battleship", "not installed", "pip install -e '.[bench]'")
        return
    options = "board_width=10,board_height=10,ship_sizes=[5;4;3;3;2],ship_values=[1;1;1;1;1],num_shots=100"
    battleship = pyspiel.load_game(f"battleship({options},allow_repeated_shots=False)")
    random = generator("openspiel")

    def playout(_: int) -> None:
        state = battleship.new_initial_state()
        while not state.is_terminal():
            legal = state.legal_actions()
            state.apply_action(legal[int(random.random() * len(legal))])

    theirs = rate(playout, seconds)
    row("OpenSpiel battleship, random playout, 2 players", f"{theirs:,.1f} games/s")
    row("whole games / OpenSpiel", f"{arena_rates[2] / theirs:,.0f} x", "goal: at least 10 x")


# --- a server against an echo -------------------------------------------------------------------------------------


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
        url = server.told
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


# --- the journal --------------------------------------------------------------------------------------------------


def bench_journal(url: str, count: int) -> None:
    """What it costs that nothing is ever lost: one server after the other on the same broker."""
    turnaround, shots = {}, {}
    for journal in ("", "process", "power"):
        what = f"journal that survives {journal}" if journal else "no journal"
        with process("server", url, "--journal", journal), Teams(Door(url)) as teams:
            turnaround[journal], p99 = percentiles(teams.round_trips(count))
        row(f"{what}: last shot to hits, p50 and p99", f"{turnaround[journal]:.2f} / {p99:.2f} ms")
        with process("server", url, "--tables", 100, "--journal", journal), Teams(Door(url), 100) as teams:
            shots[journal] = teams.throughput(2 * count, at_once=100)
        row(f"{what}: shots through the server, 100 tables at once", f"{shots[journal]:,.0f} shots/s")
    for journal in ("process", "power"):
        row(f"journal that survives {journal} / none: p50", f"{turnaround[journal] / turnaround['']:.2f} x")
        row(
            f"journal that survives {journal} / none: shots",
            f"{shots[journal] / shots['']:.2f} x",
            "goal: at least 0.8 x",
        )


def bench_recovery() -> None:
    for count in (10, 100, 1000):
        found = answer("recovery", count)
        each = found["s"] / found["steps"] * 1e6
        row(
            f"recovery of {count} tables in mid-game",
            f"{found['s']:.2f} s",
            f"{each:.0f} us a step of {found['steps']:,}",
        )


# --- many tables --------------------------------------------------------------------------------------------------


def bench_tables() -> None:
    cost = {}
    for count in (1, 10, 100, 1000):
        found = answer("tables", count)
        cost[count] = found["us"]
        row(f"service without a broker, {count} tables", f"{found['us']:.0f} us/shot", f"{found['mb']:.0f} MB resident")
    row("cost a shot, 1000 tables / one", f"{cost[1000] / cost[1]:.2f} x", "goal: at most 1.2 x")


# --- a flood ------------------------------------------------------------------------------------------------------


def bench_flood(url: str, count: int) -> None:
    with process("server", url) as server, process("flood", url):
        with Teams(Door(url)) as teams:
            rounds = [percentiles(teams.round_trips(count // ROUNDS)) for _ in range(ROUNDS + 1)][1:]
        peak = peak_mb(server.pid)
    p50, p99 = (Spread.of(figures) for figures in zip(*rounds, strict=True))
    row("flood of 1,000 forged shots/s: last shot to hits, p50", p50.written("ms"))
    row("flood of 1,000 forged shots/s: last shot to hits, p99", p99.written("ms"), p99.at_most(10, "ms"))
    row("flood of 1,000 forged shots/s: peak memory of the server", f"{peak} MB", "goal: below 200 MB")
