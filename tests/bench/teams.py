"""Who talks to the servers and brokers that are measured, and holds the watch: both teams of every table, or an asker.

All of it runs in the process that measures; what is measured has its own (``children.py``).
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping
from typing import Generic, Protocol, Self, TypeVar

from salvo import topics
from salvo.codec.command_writer import write_participation, write_placement, write_shot
from salvo.net.mqtt import Connection
from salvo.rules import SALVO, generator, random_fleet
from salvo.seal import Sealer

NAMES = ("a", "b")
#: For a server to answer, longer than any key takes to derive.
_PATIENCE_SECONDS = 120.0


# --- an echo's asker ----------------------------------------------------------------------------------------------


def percentiles(taken: list[float]) -> tuple[float, float]:
    """p50 and p99 in milliseconds."""
    quantiles = statistics.quantiles(taken, n=100)
    return quantiles[49] * 1000, quantiles[98] * 1000


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


def secret(team: str) -> str:
    """Return what a team asks for its seat with."""
    return f"secret {team}"


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

    def join(self) -> None:
        for name in self.sealers:
            self.ask(name)
            self.place(name)

    def ask(self, name: str) -> None:
        """Let a team ask to take part."""
        request = write_participation(name, secret(name))
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
    """Two teams at a table, over one connection, their game begun."""

    def __init__(self, url: str) -> None:
        sealers = {team: Sealer(secret(team), bytes((number,)) * 16) for number, team in enumerate(NAMES)}
        self._connection = Connection(url, "teams", clean_session=True)
        self._duel = Duel(dict.fromkeys(NAMES, self._connection), "", sealers)
        _greet(self._connection, [topics.HITS.of(), topics.CURRENT.of()])
        self._duel.join()
        self._wait_for({"current"})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def _wait_for(self, wanted: set[str]) -> None:
        """Return when these topics were heard, but for what an earlier server has left at the broker."""
        heard: set[str] = set()
        end = time.monotonic() + _PATIENCE_SECONDS
        while not wanted <= heard:
            assert time.monotonic() < end, "the server fell silent"
            for message in self._connection.poll(1.0):
                topic = topics.parse(message.topic).topic
                if not message.retain and message.payload:
                    heard.add(topic.name)
                    if topic is topics.CURRENT:
                        self._duel.current = message.payload.decode()
                self._connection.acknowledge(message)

    def salvos(self, count: int) -> None:
        """Fire salvos one after the other, each when the one before was resolved."""
        for _ in range(count):
            self._duel.fire(self._duel.salvo(self._duel.current))
            self._wait_for({"hits", "current"})
