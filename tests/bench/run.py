"""The benchmarks: ``make bench``. A table as result; every figure stands beside another one of the same run.

Ratios are what counts: the machine's own speed is in both of their halves. Nothing here passes or fails.
"""

from __future__ import annotations

import argparse
import atexit
import contextlib
import functools
import json
import os
import resource
import secrets
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from integration.mosquitto import Mosquitto
from salvo import arena, topics, wire
from salvo.bots.random_bot import RandomBot
from salvo.messages import Limits
from salvo.mqtt import Connection, Inbound
from salvo.rules import SALVO, Fleet, Game, generator, random_fleet, sample
from salvo.seal import Sealer, make_blob
from salvo_server.broker import EmbeddedBroker
from salvo_server.gate import Gate
from salvo_server.journal.database import DatabaseJournal
from salvo_server.service import Service

Row = tuple[str, str, str]
ROWS: list[Row] = []


def row(what: str, figure: str, beside: str = "") -> None:
    """Take down a figure, and show it as it comes."""
    ROWS.append((what, figure, beside))
    print(f"{what:62} {figure:>22}   {beside}", flush=True)


def rate(act: Callable[[int], object], seconds: float) -> float:
    """How often ``act`` runs in a second of processor time; the best of three."""
    best = 0.0
    for _ in range(3):
        count, start = 0, time.process_time()
        while time.process_time() - start < seconds / 3:
            act(count)
            count += 1
        best = max(best, count / (time.process_time() - start))
    return best


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
        row("OpenSpiel battleship", "not installed", "pip install 'battleship-salvo[bench]'")
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


@contextlib.contextmanager
def process(*arguments: str) -> Iterator[None]:
    """Run a part of this file in a process of its own, ready when it says so."""
    child = subprocess.Popen([sys.executable, __file__, *arguments], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline().strip() == "ready"
    try:
        yield
    finally:
        child.terminate()
        child.wait(10)
        child.stdout.close()


def run_echo(url: str) -> None:
    """A bare echo responder on the same client library: no decoding, no state, one answer a message."""
    connection = Connection(url, "echo", clean_session=True)

    def connected(_: bool) -> None:
        connection.subscribe(["/echo/fire"])

    connection.on_connect = connected
    connection.connect(10)
    connection.flush(5)
    print("ready", flush=True)
    while True:
        for message in connection.poll(1.0):
            connection.publish("/echo/hits", message.payload)
            connection.acknowledge(message)


def run_server(url: str, tables: int, journal: str) -> None:
    """The real service; every table plays for ever, because every shot misses a fleet that is out of its way.

    Args:
        journal: what its commits survive, ``process`` or ``power``; empty for none.
    """
    connection = Connection(url, "server")
    names = ["", *(f"t{number}" for number in range(1, tables))]
    limits = Limits(players=2, turn_ms=600_000)
    kept = _new_journal(journal == "power") if journal else None
    service = Service(connection, names, seed=1, limits=limits, journal=kept)
    said = False
    while True:
        service.step(1.0)
        if not said and connection.connected:
            connection.flush(5)
            print("ready", flush=True)
            said = True


def _new_journal(power_safe: bool) -> DatabaseJournal:
    folder = tempfile.mkdtemp(prefix="bench-", dir=Path.home())  # a disk, where /tmp may be memory
    atexit.register(shutil.rmtree, folder)
    return DatabaseJournal(f"{folder}/a.journal", power_safe=power_safe)


class Duel:
    """Both teams of one table, driven by the benchmark; sealed shots are made beforehand."""

    def __init__(self, connection: Connection, table: str, sealers: dict[str, Sealer]) -> None:
        self.connection = connection
        self.table = table
        self.sealers = sealers
        self.current = ""

    def filters(self) -> list[str]:
        return [topics.BY_NAME[name].of(self.table) for name in ("hits", "current", "state")]

    def join(self) -> None:
        for name, sealer in self.sealers.items():
            self._publish("request_participation", wire.write_participation(name, f"secret {name}"))
            for place in random_fleet(SALVO, generator(self.table, name)).placements:
                topic = topics.BY_NAME["place"].of(self.table, player=name, ship=place.ship)
                self.connection.publish(topic, wire.write_placement(place, sealer))

    def _publish(self, name: str, payload: bytes) -> None:
        self.connection.publish(topics.BY_NAME[name].of(self.table), payload)

    def salvo(self) -> list[bytes]:
        """Five shots at one cell of the current player's rival that is water: the game goes on for ever."""
        rival = next(name for name in self.sealers if name != self.current)
        owner = random_fleet(SALVO, generator(self.table, rival)).board
        x, y = SALVO.grid.xy(owner.index(0))
        return [wire.write_shot(x, y, None, self.sealers[self.current]) for _ in range(5)]

    def fire_topic(self) -> str:
        rival = next(name for name in self.sealers if name != self.current)
        return topics.BY_NAME["fire"].of(self.table, player=rival)


def _connect(url: str, name: str, filters: list[str]) -> Connection:
    connection = Connection(url, name, clean_session=True)
    connection.on_connect = lambda _: connection.subscribe(filters)
    connection.connect(10)
    connection.flush(5)
    return connection


def _until(connection: Connection, duels: dict[str, Duel], wanted: Callable[[], bool]) -> None:
    end = time.monotonic() + 120
    while not wanted():
        assert time.monotonic() < end, "the server fell silent"
        for message in connection.poll(1.0):
            connection.acknowledge(message)
            address = topics.parse(message.topic)
            if address.topic.name == "current" and message.payload:
                duels[address.table].current = message.payload.decode()


def echo_round_trips(url: str, count: int) -> list[float]:
    connection = _connect(url, "asker", ["/echo/hits"])
    payload = Sealer("x", bytes(16)).sign({"x": 1, "y": 1})
    taken = []
    for _ in range(count):
        _settle(connection)
        start = time.perf_counter()
        connection.publish("/echo/fire", payload)
        while not (arrived := connection.poll(5.0)):
            pass
        taken.append(time.perf_counter() - start)
        for message in arrived:
            connection.acknowledge(message)
    connection.close()
    return taken


def echo_throughput(url: str, count: int) -> float:
    """Messages a second with 20 in flight."""
    connection = _connect(url, "asker", ["/echo/hits"])
    payload = Sealer("x", bytes(16)).sign({"x": 1, "y": 1})
    start, sent, got = time.perf_counter(), 0, 0
    while got < count:
        while sent < min(count, got + 20):
            connection.publish("/echo/fire", payload)
            sent += 1
        for message in connection.poll(5.0):
            connection.acknowledge(message)
            got += 1
    connection.close()
    return count / (time.perf_counter() - start)


def _seated(url: str, tables: int, name: str) -> tuple[Connection, dict[str, Duel]]:
    """Teams at every table, their games begun. One salt a team for all tables, so that joining takes no hour."""
    sealers = {team: Sealer(f"secret {team}", bytes((number,)) * 16) for number, team in enumerate(("a", "b"))}
    duels: dict[str, Duel] = {}
    connection = Connection(url, name, clean_session=True)
    for table in ["", *(f"t{number}" for number in range(1, tables))]:
        duels[table] = Duel(connection, table, sealers)
    prefixes = ["", "/+"] if tables > 1 else [""]
    filters = [f"{prefix}/game/{leaf}" for prefix in prefixes for leaf in ("hits", "current")]
    connection.on_connect = lambda _: connection.subscribe(filters)
    connection.connect(10)
    connection.flush(5)
    for duel in duels.values():  # one after the other: what waits for a key is limited
        duel.join()
        _until(connection, duels, lambda duel=duel: bool(duel.current))  # type: ignore[misc]
    return connection, duels


def salvo_round_trips(url: str, count: int) -> list[float]:
    """From the last shot of a salvo to ``/game/hits``, the other four being dealt with, as an echo has no others."""
    connection, duels = _seated(url, 1, "teams")
    duel = duels[""]
    taken = []
    for _ in range(count):
        *first, last = duel.salvo()
        topic = duel.fire_topic()
        for shot in first:
            connection.publish(topic, shot)
        _settle(connection)
        heard: set[str] = set()
        start = time.perf_counter()
        connection.publish(topic, last)
        while not {"hits", "current"} <= heard:
            for message in connection.poll(5.0):
                name = topics.parse(message.topic).topic.name
                if name == "hits":
                    taken.append(time.perf_counter() - start)
                if name == "current":
                    duel.current = message.payload.decode()
                heard.add(name)
                connection.acknowledge(message)
    connection.close()
    return taken


def _settle(connection: Connection) -> None:
    """Wait until nothing has come for two milliseconds."""
    connection.flush(5)
    end = time.perf_counter() + 0.002
    while (left := end - time.perf_counter()) > 0:
        for message in connection.poll(left):
            connection.acknowledge(message)
            end = time.perf_counter() + 0.002


def server_throughput(url: str, salvos: int, tables: int, at_once: int = 4) -> tuple[float, Connection]:
    """Shots a second through the server, salvo after salvo at every table, ``at_once`` tables at once."""
    connection, duels = _seated(url, tables, "teams")
    names = list(duels)
    prepared = {table: {name: _volley(duels[table], name) for name in ("a", "b")} for table in names}
    done, started, active = 0, 0, min(at_once, tables)
    start = time.perf_counter()

    def shoot(table: str) -> None:
        topic, shots = prepared[table][duels[table].current]
        for shot in [shots.pop() if shots else b"" for _ in range(5)] if len(shots) >= 5 else duels[table].salvo():
            connection.publish(topic, shot)

    for table in names[:active]:
        shoot(table)
        started += 1
    while done < salvos:
        for message in connection.poll(5.0):
            connection.acknowledge(message)
            address = topics.parse(message.topic)
            if address.topic.name == "current":
                duels[address.table].current = message.payload.decode()
                done += 1
                if started < salvos:
                    following = names[started % len(names)] if tables > at_once else address.table
                    shoot(following)
                    started += 1
    return 5 * salvos / (time.perf_counter() - start), connection


def _volley(duel: Duel, name: str) -> tuple[str, list[bytes]]:
    duel_current, duel.current = duel.current, name
    topic, shots = duel.fire_topic(), duel.salvo()
    duel.current = duel_current
    return topic, shots


def percentiles(taken: list[float]) -> tuple[float, float]:
    """p50 and p99 in milliseconds."""
    quantiles = statistics.quantiles(taken, n=100)
    return quantiles[49] * 1000, quantiles[98] * 1000


def bench_broker(name: str, url: str, count: int) -> None:
    with process("--echo", url):
        echo_p50, echo_p99 = percentiles(echo_round_trips(url, count))
        echo_rate = echo_throughput(url, 5 * count)
    with process("--server", url):
        ours_p50, ours_p99 = percentiles(salvo_round_trips(url, count))
    row(f"{name}: echo, p50 and p99", f"{echo_p50:.2f} / {echo_p99:.2f} ms")
    row(f"{name}: last shot to hits, p50 and p99", f"{ours_p50:.2f} / {ours_p99:.2f} ms")
    row(f"{name}: turnaround / echo, p50", f"{ours_p50 / echo_p50:.2f} x", "goal: at most 1.25 x")
    row(f"{name}: turnaround / echo, p99", f"{ours_p99 / echo_p99:.2f} x", "goal: at most 2 x")
    with process("--server", url, "--tables", "4"):
        ours_rate, connection = server_throughput(url, count, 4)
        connection.close()
    row(f"{name}: echo, 20 in flight", f"{echo_rate:,.0f} messages/s")
    row(f"{name}: shots through the server, 4 tables at once", f"{ours_rate:,.0f} shots/s")
    row(f"{name}: shots / echo", f"{ours_rate / echo_rate:.2f} x", "goal: at least 0.7 x")


def bench_journal(url: str, count: int) -> None:
    """What it costs that nothing is ever lost: one server after the other on the same broker."""
    turnaround, shots = {}, {}
    for journal in ("", "process", "power"):
        what = f"journal that survives {journal}" if journal else "no journal"
        with process("--server", url, "--journal", journal):
            turnaround[journal], p99 = percentiles(salvo_round_trips(url, count))
        row(f"{what}: last shot to hits, p50 and p99", f"{turnaround[journal]:.2f} / {p99:.2f} ms")
        with process("--server", url, "--tables", "100", "--journal", journal):
            shots[journal], connection = server_throughput(url, 2 * count, 100, at_once=100)
            connection.close()
        row(f"{what}: shots through the server, 100 tables at once", f"{shots[journal]:,.0f} shots/s")
    for journal in ("process", "power"):
        row(f"journal that survives {journal} / none: p50", f"{turnaround[journal] / turnaround['']:.2f} x")
        row(
            f"journal that survives {journal} / none: shots",
            f"{shots[journal] / shots['']:.2f} x",
            "goal: at least 0.8 x",
        )


def run_recovery(tables: int) -> None:
    """Print how long a server takes to take up so many tables in mid-game, with 100 shots each."""
    edge, gate = Wire(), Gate()
    names = [f"t{number}" for number in range(tables)]
    limits = Limits(players=2, turn_ms=600_000)
    journal = _new_journal(False)
    service = Service(edge, names, seed=1, limits=limits, gate=gate, journal=journal)
    sealers = _seat_in_process(edge, service, gate, names)
    for _ in range(20):
        for name in names:
            _fire_in_process(edge, service, name, sealers)
        service.step()
    start = time.perf_counter()
    Service(edge, names, seed=1, limits=limits, gate=Gate(), journal=journal, resume="always")
    print(json.dumps({"s": time.perf_counter() - start, "steps": service._last_step}))
    gate.close()


def bench_recovery() -> None:
    for count in (10, 100, 1000):
        done = subprocess.run(
            [sys.executable, __file__, "--recovery", str(count)], capture_output=True, text=True, check=True
        )
        found = json.loads(done.stdout)
        each = found["s"] / found["steps"] * 1e6
        row(
            f"recovery of {count} tables in mid-game",
            f"{found['s']:.2f} s",
            f"{each:.0f} us a step of {found['steps']:,}",
        )


# --- many tables, in process --------------------------------------------------------------------------------------


class Wire:
    """An edge without a broker: what the service costs, and nothing else."""

    on_connect: Callable[[bool], None] | None = None
    connected = True
    published = delivered = 0

    def __init__(self) -> None:
        self.inbox: list[Inbound] = []

    def give(self, topic: str, payload: bytes) -> None:
        self.inbox.append(Inbound(topic, payload, False, 1, 1))

    def poll(self, timeout_seconds: float) -> list[Inbound]:
        arrived, self.inbox = self.inbox, []
        return arrived

    def publish(self, topic: str, payload: bytes, *, retain: bool = False) -> None: ...
    def subscribe(self, filters: object) -> None: ...
    def unsubscribe(self, filters: object) -> None: ...
    def acknowledge(self, message: object) -> None: ...
    def wake(self) -> None: ...
    def flush(self, timeout_seconds: float) -> bool:
        return True


def _seat_in_process(edge: Wire, service: Service, gate: Gate, names: list[str]) -> dict[str, Sealer]:
    """Two teams with their fleets at every table; return what they sign with."""
    assert edge.on_connect is not None
    edge.on_connect(False)
    sealers = {team: Sealer(f"secret {team}", bytes((number,)) * 16) for number, team in enumerate(("a", "b"))}
    for name in names:
        for team, sealer in sealers.items():
            edge.give(
                topics.BY_NAME["request_participation"].of(name), wire.write_participation(team, f"secret {team}")
            )
            service.step()
            # As if proven: 2,000 derivations take minutes.
            gate._learn(name, gate._members[name][team], sealer.salt, sealer.key)
            for place in random_fleet(SALVO, generator(name, team)).placements:
                topic = topics.BY_NAME["place"].of(name, player=team, ship=place.ship)
                edge.give(topic, wire.write_placement(place, sealer))
        service.step()
    assert all(table.referee.current is not None for table in service.tables.values())
    return sealers


def _fire_in_process(edge: Wire, service: Service, name: str, sealers: dict[str, Sealer]) -> None:
    """Give the service a salvo of five shots into the water."""
    current = service.tables[name].referee.current
    assert current is not None
    rival = "b" if current.name == "a" else "a"
    x, y = SALVO.grid.xy(random_fleet(SALVO, generator(name, rival)).board.index(0))
    topic = topics.BY_NAME["fire"].of(name, player=rival)
    for _ in range(5):
        edge.give(topic, wire.write_shot(x, y, None, sealers[current.name]))


def run_tables(count: int) -> None:
    """Print microseconds a shot and resident memory with so many tables in play."""
    edge = Wire()
    limits = Limits(players=2, turn_ms=600_000)
    names = [f"t{number}" for number in range(count)]
    gate = Gate()
    service = Service(edge, names, seed=1, limits=limits, gate=gate)
    sealers = _seat_in_process(edge, service, gate, names)
    spent, shots = 0.0, 0
    for turn in range(max(4, 4000 // count)):
        for name in names if count > 20 else names * 20:
            _fire_in_process(edge, service, name, sealers)
            start = time.process_time()
            service.step()
            spent += time.process_time() - start
            shots += 5
        if spent > 3 and turn > 2:
            break
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"us": spent / shots * 1e6, "mb": memory}))
    gate.close()


def bench_tables() -> None:
    cost = {}
    for count in (1, 10, 100, 1000):
        done = subprocess.run(
            [sys.executable, __file__, "--in-process", str(count)], capture_output=True, text=True, check=True
        )
        found = json.loads(done.stdout)
        cost[count] = found["us"]
        row(f"service without a broker, {count} tables", f"{found['us']:.0f} us/shot", f"{found['mb']:.0f} MB resident")
    row("cost a shot, 1000 tables / one", f"{cost[1000] / cost[1]:.2f} x", "goal: at most 1.2 x")


# --- a flood ------------------------------------------------------------------------------------------------------


def run_flood(url: str, rate_a_second: int) -> None:
    """Forged shots under salts that nobody has seen."""
    connection = Connection(url, "flood", clean_session=True)
    connection.connect(10)
    print("ready", flush=True)
    begin, sent = time.monotonic(), 0
    while True:
        due = int((time.monotonic() - begin) * rate_a_second)
        while sent < due:
            blob = make_blob(b"{}", bytes(32), secrets.token_bytes(16))
            connection.publish("/players/a/fire", b'{"data":{"x":1,"y":1},"signature":"%s"}' % blob.encode())
            sent += 1
        connection.poll(0.005)


def bench_flood(url: str, count: int) -> None:
    server = subprocess.Popen([sys.executable, __file__, "--server", url], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    server.stdout.readline()
    flood = subprocess.Popen([sys.executable, __file__, "--flood", url], stdout=subprocess.PIPE, text=True)
    assert flood.stdout is not None
    flood.stdout.readline()
    try:
        p50, p99 = percentiles(salvo_round_trips(url, count))
        peak = next(
            int(line.split()[1]) // 1024
            for line in Path(f"/proc/{server.pid}/status").read_text().splitlines()
            if line.startswith("VmHWM")
        )
        row(
            "flood of 1,000 forged shots/s: last shot to hits, p50 and p99",
            f"{p50:.2f} / {p99:.2f} ms",
            "goal: p99 < 10 ms",
        )
        row("flood of 1,000 forged shots/s: peak memory of the server", f"{peak} MB", "goal: below 200 MB")
    finally:
        for child in (flood, server):
            child.terminate()
            child.wait(10)
            assert child.stdout is not None
            child.stdout.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the time, for a look")
    for part in ("--echo", "--server", "--flood"):
        parser.add_argument(part, metavar="URL", help=argparse.SUPPRESS)
    parser.add_argument("--tables", type=int, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--journal", default="", help=argparse.SUPPRESS)
    parser.add_argument("--recovery", type=int, metavar="TABLES", help=argparse.SUPPRESS)
    parser.add_argument("--only", choices=sorted(PARTS), help="one part instead of all")
    parser.add_argument("--in-process", type=int, metavar="TABLES", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.echo:
        run_echo(given.echo)
    elif given.server:
        run_server(given.server, given.tables, given.journal)
    elif given.recovery:
        run_recovery(given.recovery)
    elif given.flood:
        run_flood(given.flood, 1000)
    elif given.in_process:
        run_tables(given.in_process)
    else:
        report(given.quick, given.only)


def report(quick: bool, only: str | None) -> None:
    """Everything, then the table once more."""
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}\n")
    for name, part in PARTS.items():
        if only in (None, name):
            part(0.1 if quick else 1.0)
    print("\n| what | figure | |\n|---|---|---|")
    for line in ROWS:
        print(f"| {' | '.join(line)} |")


def _mosquitto(share: float) -> None:
    with Mosquitto() as broker:
        bench_broker("mosquitto", broker.url, int(2000 * share))
        bench_flood(broker.url, int(1000 * share))


def _embedded(share: float) -> None:
    with EmbeddedBroker() as broker:
        bench_broker("embedded", broker.url, int(500 * share))


def _journal(share: float) -> None:
    with Mosquitto() as broker:
        bench_journal(broker.url, int(2000 * share))
    bench_recovery()


#: By name; each is given the share of its whole time that it may take.
PARTS: dict[str, Callable[[float], None]] = {
    "engine": lambda share: bench_engine(6.0 * share),
    "tables": lambda share: bench_tables(),
    "mosquitto": _mosquitto,
    "journal": _journal,
    "embedded": _embedded,
}


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
