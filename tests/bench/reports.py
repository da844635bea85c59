"""What the engine, the brokers, the journal and many tables cost. The profiles and the log are in ``profiles.py``."""

from __future__ import annotations

import functools

from bench.children import answer, peak_mb, process
from bench.figures import percentiles, rate, row
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


def bench_broker(name: str, url: str, count: int) -> None:
    with process("echo", url):
        echo_p50, echo_p99 = percentiles(echo_round_trips(url, count))
        echo_rate = echo_throughput(url, 5 * count)
    with process("server", url), Teams(Door(url)) as teams:
        ours_p50, ours_p99 = percentiles(teams.round_trips(count))
    row(f"{name}: echo, p50 and p99", f"{echo_p50:.2f} / {echo_p99:.2f} ms")
    row(f"{name}: last shot to hits, p50 and p99", f"{ours_p50:.2f} / {ours_p99:.2f} ms")
    row(f"{name}: turnaround / echo, p50", f"{ours_p50 / echo_p50:.2f} x", "goal: at most 1.25 x")
    row(f"{name}: turnaround / echo, p99", f"{ours_p99 / echo_p99:.2f} x", "goal: at most 2 x")
    with process("server", url, "--tables", 4), Teams(Door(url), 4) as teams:
        ours_rate = teams.throughput(count)
    row(f"{name}: echo, 20 in flight", f"{echo_rate:,.0f} messages/s")
    row(f"{name}: shots through the server, 4 tables at once", f"{ours_rate:,.0f} shots/s")
    row(f"{name}: shots / echo", f"{ours_rate / echo_rate:.2f} x", "goal: at least 0.7 x")


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
            p50, p99 = percentiles(teams.round_trips(count))
        peak = peak_mb(server.pid)
    row(
        "flood of 1,000 forged shots/s: last shot to hits, p50 and p99",
        f"{p50:.2f} / {p99:.2f} ms",
        "goal: p99 < 10 ms",
    )
    row("flood of 1,000 forged shots/s: peak memory of the server", f"{peak} MB", "goal: below 200 MB")
