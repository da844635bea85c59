"""Who talks to the servers and brokers that are measured, and holds the watch: both teams of every table, or an asker.

All of it runs in the process of the reports; what is measured has its own (``children.py``).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, Protocol, Self, TypeVar

from bench.children import table_names
from salvo.codec.command_writer import write_participation, write_placement, write_shot
from salvo.net.inbound import Inbound
from salvo.net.mqtt import Connection
from salvo.rules import SALVO, generator, random_fleet
from salvo.wire import topics
from salvo.wire.seal import Sealer

NAMES = ("a", "b")
#: For a server to answer, longer than any key takes to derive.
_PATIENCE_SECONDS = 120.0


# --- an echo's asker ----------------------------------------------------------------------------------------------


def echo_round_trips(url: str, count: int, rest: float = 0.0) -> list[float]:
    """Seconds of each round trip to an echo.

    Args:
        rest: seconds before each.
    """
    connection = _asker(url)
    payload = Sealer("x", bytes(16)).sign({"x": 1, "y": 1})
    taken = []
    for _ in range(count):
        time.sleep(rest)
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
    connection = _asker(url)
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


def _asker(url: str) -> Connection:
    connection = Connection(url, "asker", clean_session=True)
    _greet(connection, ["/echo/hits"])
    return connection


def _greet(connection: Connection, filters: list[str]) -> None:
    connection.on_connect = lambda _: connection.subscribe(filters)
    connection.connect(10)
    connection.flush(5)


def _settle(connection: Connection) -> None:
    """Wait until nothing has come for two milliseconds."""
    connection.flush(5)
    end = time.perf_counter() + 0.002
    while (left := end - time.perf_counter()) > 0:
        for message in connection.poll(left):
            connection.acknowledge(message)
            end = time.perf_counter() + 0.002


# --- two teams ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Door:
    """Where the teams connect.

    Attributes:
        secrets: by team, also the password at the broker; then each has a connection of its own. Without, both speak
            and hear over one.
        received: the topics that a team asks for at every table.
        ca: whom to trust for TLS.
    """

    url: str
    secrets: Mapping[str, str] | None = None
    received: tuple[topics.Topic, ...] = (topics.HITS, topics.CURRENT)
    ca: str | None = None

    def secret(self, team: str) -> str:
        return f"secret {team}" if self.secrets is None else self.secrets[team]

    def open(self) -> dict[str, Connection]:
        """Return a connection for every team; perhaps the same."""
        if self.secrets is None:
            return dict.fromkeys(NAMES, Connection(self.url, "teams", clean_session=True))
        return {
            team: Connection(self.url, team, username=team, password=secret, clean_session=True, ca=self.ca)
            for team, secret in self.secrets.items()
        }


class Publishes(Protocol):
    """What sends a team's commands."""

    def publish(self, topic: str, payload: bytes) -> None: ...


C = TypeVar("C", bound=Publishes)


class Duel(Generic[C]):
    """The teams of one table, driven by the benchmark; each shoots at the first of the others."""

    def __init__(self, connections: Mapping[str, C], table: str, sealers: Mapping[str, Sealer]) -> None:
        self.connections = connections
        self.table = table
        self.sealers = sealers
        self.current = ""
        fleets = {name: random_fleet(SALVO, generator(table, name)) for name in sealers}
        self._fleets = fleets
        self._water = {name: SALVO.grid.xy(fleet.board.index(0)) for name, fleet in fleets.items()}

    def join(self, door: Door) -> None:
        for name in self.sealers:
            self.ask(name, door)
            self.place(name)

    def ask(self, name: str, door: Door) -> None:
        """Let a team ask to take part."""
        request = write_participation(name, door.secret(name))
        self.connections[name].publish(topics.REQUEST_PARTICIPATION.of(self.table), request)

    def place(self, name: str) -> None:
        """Let a team place its fleet."""
        for place in self._fleets[name].placements:
            topic = topics.PLACE.of(self.table, player=name, ship=place.ship)
            self.connections[name].publish(topic, write_placement(place, self.sealers[name]))

    def salvo(self, name: str) -> list[bytes]:
        """Five shots at one cell of a player's rival that is water: the game goes on for ever."""
        x, y = self._water[self._rival(name)]
        return [write_shot(x, y, None, self.sealers[name]) for _ in range(5)]

    def fire(self, shots: list[bytes]) -> None:
        """Let the current player fire."""
        topic = topics.FIRE.of(self.table, player=self._rival(self.current))
        for shot in shots:
            self.connections[self.current].publish(topic, shot)

    def _rival(self, name: str) -> str:
        return next(other for other in self.sealers if other != name)


class Teams:
    """Two teams at every table, their games begun. One salt a team for all tables, so that joining takes no hour."""

    def __init__(self, door: Door, tables: int = 1) -> None:
        sealers = {team: Sealer(door.secret(team), bytes((number,)) * 16) for number, team in enumerate(NAMES)}
        connections = door.open()
        self._connections = list(dict.fromkeys(connections.values()))
        self._duels: dict[str, Duel[Connection]] = {
            table: Duel(connections, table, sealers) for table in table_names(tables)
        }
        prefixes = ["", "/+"] if tables > 1 else [""]
        filters = [f"{prefix}{topic.of()}" for prefix in prefixes for topic in door.received]
        for connection in self._connections:
            _greet(connection, filters)
        for duel in self._duels.values():  # one after the other: what waits for a key is limited
            duel.join(door)
            for connection in self._connections:
                self._wait_for(connection, duel, {"current"})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for connection in self._connections:
            connection.close()

    def _wait_for(self, connection: Connection, duel: Duel[Connection], wanted: set[str]) -> dict[str, float]:
        """Return when a connection has heard these topics of a table, each for the first time."""
        received: dict[str, float] = {}
        end = time.monotonic() + _PATIENCE_SECONDS
        while not wanted <= received.keys():
            assert time.monotonic() < end, "the server fell silent"
            for message in connection.poll(1.0):
                table, name = self._take_in(message)
                if table == duel.table and name:
                    received.setdefault(name, time.perf_counter())
                connection.acknowledge(message)
        return received

    def _take_in(self, message: Inbound) -> tuple[str, str]:
        """Return table and topic of a message; no topic for what an earlier server has left at the broker."""
        address = topics.parse(message.topic)
        if message.retain or not message.payload:
            return address.table, ""
        if address.topic is topics.CURRENT:
            self._duels[address.table].current = message.payload.decode()
        return address.table, address.topic.name

    def round_trips(self, count: int, rest: float = 0.0) -> list[float]:
        """From the last shot of a salvo to ``/game/hits``, the other four being dealt with, as an echo has no others.

        Seconds, as the team that shoots hears it; the other one's news is taken in afterwards.

        Args:
            rest: seconds before each salvo.
        """
        duel = self._duels[""]
        taken = []
        for _ in range(count):
            time.sleep(rest)
            shooter = duel.connections[duel.current]
            *first, last = duel.salvo(duel.current)
            duel.fire(first)
            for connection in self._connections:
                _settle(connection)
            start = time.perf_counter()
            duel.fire([last])
            taken.append(self._wait_for(shooter, duel, {"hits", "current"})["hits"] - start)
            for connection in self._connections:
                if connection is not shooter:
                    self._wait_for(connection, duel, {"hits", "current"})
        return taken

    def paced(self, rounds: int, pause: float) -> dict[tuple[str, int], float]:
        """Fire a salvo at every table, again and again; return when each table's turn was resolved, time.monotonic().

        Args:
            pause: seconds between two salvos of a table.
        """
        resolved: dict[tuple[str, int], float] = {}
        for turn in range(1, rounds + 1):
            for table, duel in self._duels.items():
                end = time.monotonic() + pause / len(self._duels)
                duel.fire(duel.salvo(duel.current))
                for connection in self._connections:
                    self._wait_for(connection, duel, {"hits", "current"})
                resolved[table, turn] = time.monotonic()
                time.sleep(max(0.0, end - time.monotonic()))
        return resolved

    def throughput(self, salvos: int, at_once: int = 4) -> float:
        """Shots a second through the server, salvo after salvo at every table, ``at_once`` tables at once."""
        names = list(self._duels)
        prepared = {table: {name: duel.salvo(name) for name in NAMES} for table, duel in self._duels.items()}
        leading, *others = self._connections
        done, started = 0, min(at_once, len(names))
        start = time.perf_counter()

        def shoot(table: str) -> None:
            duel = self._duels[table]
            duel.fire(prepared[table].pop(duel.current, []) or duel.salvo(duel.current))

        for table in names[:started]:
            shoot(table)
        while done < salvos:
            for message in leading.poll(0.5):
                leading.acknowledge(message)
                table, name = self._take_in(message)
                if name == "current":
                    done += 1
                    if started < salvos:
                        shoot(names[started % len(names)] if len(names) > at_once else table)
                        started += 1
            for other in others:
                for message in other.poll(0.0):
                    other.acknowledge(message)
        return 5 * salvos / (time.perf_counter() - start)
