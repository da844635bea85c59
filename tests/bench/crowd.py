"""The teams and spectators of ``make load``, hundreds in a process, each with a connection of its own."""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from bench.children import table_names
from bench.light import LightClient
from bench.teams import Door, Duel
from salvo.join.session.session import Session
from salvo.wire import topics
from salvo.wire.seal import Sealer
from salvo.wire.topics import Reader

#: Within which all teams come, as at the start of an evening.
_COMING_SECONDS: Final = 10.0


@dataclass
class Traffic:
    """What was heard, by whole seconds of ``time.monotonic()``."""

    messages: Counter[int] = field(default_factory=Counter)
    octets: Counter[int] = field(default_factory=Counter)

    def take(self, topic: str, payload: bytes) -> None:
        """Count a message: topic and payload, as far as MQTT goes."""
        second = int(time.monotonic())
        self.messages[second] += 1
        self.octets[second] += len(topic) + len(payload)


@dataclass
class Diary:
    """What all teams have to tell; times are ``time.monotonic()``, spans seconds.

    Attributes:
        came: when the first team came.
        sent: when the last fleet was sent.
        begun: by table, when its game began.
        results: table, turn and when its result was heard.
        waits: a salvo's result, and how long after its last shot.
        turns: the beginning of a turn, and how long after that of the one before.
        pauses: the beginning of a turn, and how long after the result of the one before.
        refusals: answers that begin with an error's code.
    """

    came: float = 0.0
    sent: float = 0.0
    begun: dict[str, float] = field(default_factory=dict)
    results: list[tuple[str, int, float]] = field(default_factory=list)
    waits: list[tuple[float, float]] = field(default_factory=list)
    turns: list[tuple[float, float]] = field(default_factory=list)
    pauses: list[tuple[float, float]] = field(default_factory=list)
    refusals: Counter[str] = field(default_factory=Counter)
    traffic: Traffic = field(default_factory=Traffic)


class _Seats:
    """The teams of one table, which fire whenever it is their turn, into the water: the game goes on without end."""

    def __init__(self, table: str, sealers: dict[str, Sealer], diary: Diary) -> None:
        self.table, self.sealers, self._diary = table, sealers, diary
        self._clients: dict[str, LightClient] = {}
        self._duel = Duel(self._clients, table, sealers)
        self._turn, self._turn_at, self._fired_at, self._result_at = 0, 0.0, 0.0, 0.0
        self._placed: set[str] = set()
        self._topics: dict[str, Callable[[Any, float], None]] = {
            topics.LIST.of(table): self._place,
            topics.TURN.of(table): self._begin,
            topics.RESULT.of(table): self._end,
        }

    async def connect(self, url: str) -> None:
        """Connect all of them, each with what the SDK subscribes to; the first one tells what all hear."""
        for name in self.sealers:
            wanted = Session(name, "-", random.Random(), table=self.table).filters()
            client = await LightClient.open(url, f"{self.table or 't0'}-{name}", wanted, self._ear(name))
            self._clients[name] = client

    def come(self, door: Door) -> None:
        """Ask for seats."""
        for name in self.sealers:
            self._duel.ask(name, door)

    def _ear(self, name: str) -> Callable[[str, bytes], None]:
        first = name == next(iter(self.sealers))
        take = self._diary.traffic.take

        def hear(topic: str, payload: bytes) -> None:
            take(topic, payload)
            if first and payload and topic in self._topics:
                self._topics[topic](json.loads(payload), time.monotonic())
            elif topic.endswith("/error"):
                self._diary.refusals[payload.decode().partition(":")[0]] += 1

        return hear

    def _place(self, names: list[str], now: float) -> None:
        """Place the fleets of those that are listed, as the SDK does.

        While more messages wait for their keys than mosquitto has under way, a placement may overtake the request.
        """
        for name in [each for each in names if each not in self._placed]:
            self._placed.add(name)
            self._duel.place(name)
            self._diary.sent = now

    def _begin(self, turn: dict[str, Any], now: float) -> None:
        diary = self._diary
        if not self._turn:
            diary.begun[self.table] = now
        elif self._result_at:
            diary.turns.append((now, now - self._turn_at))
            diary.pauses.append((now, now - self._result_at))
        self._turn, self._turn_at = turn["turn"], now
        self._duel.current = turn["player"]
        self._duel.fire(self._duel.salvo(turn["player"]))
        self._fired_at = time.monotonic()

    def _end(self, turn: dict[str, Any], now: float) -> None:
        self._result_at = now
        self._diary.results.append((self.table, self._turn, now))
        self._diary.waits.append((now, now - self._fired_at))


def run_players(url: str, tables: int, teams: int) -> None:
    """Play at so many tables; at the end of input, print the :class:`Diary` as JSON.

    Before that, a line of progress each: ``ready``, ``keys 17``, ``begun 17`` until all games are on.
    """
    asyncio.run(_play(url, tables, teams))


async def _play(url: str, tables: int, teams: int) -> None:
    print("ready", flush=True)
    names = [chr(ord("a") + number) for number in range(teams)]
    door = Door(url)
    diary = Diary()
    seats = []
    for number, table in enumerate(table_names(tables)):
        # A salt of its own for each team: the server has to derive as many keys as in a contest.
        sealers = {name: Sealer(door.secret(name), f"{number} {name}".encode().ljust(16)) for name in names}
        assert all(sealer.key for sealer in sealers.values())
        seats.append(_Seats(table, sealers, diary))
        print(f"keys {(number + 1) * teams}", flush=True)
    for each in seats:
        await each.connect(url)
    diary.came = time.monotonic()
    for number, each in enumerate(seats):
        await asyncio.sleep(diary.came + _COMING_SECONDS * number / tables - time.monotonic())
        each.come(door)
    ended = asyncio.create_task(asyncio.to_thread(sys.stdin.read))
    while len(diary.begun) < tables and not ended.done():
        await asyncio.wait([ended], timeout=0.5)
        print(f"begun {len(diary.begun)}", flush=True)
    await ended
    print(json.dumps(diary, default=vars), flush=True)


def run_watchers(url: str, count: int, tables: int) -> None:
    """Follow so many tables, each watcher one, with what ``salvo watch`` subscribes to; at the end of input, print the
    :class:`Traffic` as JSON.
    """
    asyncio.run(_watch(url, count, tables))


async def _watch(url: str, count: int, tables: int) -> None:
    traffic = Traffic()
    public = [topic for topic in topics.TOPICS if topic.reader is Reader.EVERYBODY and topic.retained]
    for number, table in zip(range(count), table_names(tables) * (count // tables + 1), strict=False):
        wanted = [topic.filter(table) for topic in (*public, topics.CHAT)]
        await LightClient.open(url, f"watcher-{number}", wanted, traffic.take)
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    print(json.dumps(traffic, default=vars), flush=True)
