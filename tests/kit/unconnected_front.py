"""A web front without a connection, on a clock that the test moves."""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from paho.mqtt.client import topic_matches_sub

from salvo import messages as m
from salvo.codec.announcement_writer import write_announcement
from salvo.net.inbound import Inbound
from salvo_watch.web.relay import Page, Relay, WatchedBroker


class Loop:
    """An event loop whose clock the test moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self._due: list[tuple[float, int, Callable[..., None], Any]] = []

    def time(self) -> float:
        return self.now

    def call_at(self, at: float, what: Callable[..., None], *given: Any) -> None:
        self._due.append((at, len(self._due), what, given))

    def call_later(self, seconds: float, what: Callable[..., None], *given: Any) -> None:
        self.call_at(self.now + seconds, what, *given)

    def call_soon_threadsafe(self, what: Callable[..., None], *given: Any) -> None:
        self.call_at(self.now, what, *given)

    def run_in_executor(self, _: None, what: Callable[..., Any], *given: Any) -> asyncio.Future[Any]:
        """Work something out at once; what waits for it is called with the next events."""
        done: Any = concurrent.futures.Future()
        done.set_result(what(*given))
        done.add_done_callback = lambda callback: self.call_at(self.now, callback, done)
        return done  # type: ignore[no-any-return]

    def run_to(self, now: float) -> None:
        while due := [each for each in self._due if each[0] <= now]:
            first = min(due, key=lambda each: each[:2])
            self._due.remove(first)
            self.now = max(self.now, first[0])
            first[2](*first[3])
        self.now = now


class Front:
    """A relay without its connection."""

    def __init__(self, *, boards: bool = False) -> None:
        self.loop = Loop()
        self.filters: list[str] = []
        connection: Any = type("Unconnected", (), {"subscribe": lambda _, filters: self.filters.extend(filters)})()
        self.source = WatchedBroker("", connection, connection)
        self.relay = Relay([self.source], boards=boards)
        self.relay._loop = self.loop  # type: ignore[assignment]

    def connect(self, retained: Mapping[str, bytes]) -> Iterator[dict[str, Any]]:
        """Let a broker accept the connection; yield a picture after each message that it retains, filter by filter."""
        self.source.connection.on_connect(False)  # type: ignore[misc]
        self.relay.reach(self.source, True)
        for each in self.filters:
            for topic, payload in retained.items():
                if topic_matches_sub(each, topic):
                    self.receive(topic, payload, retained=True)
                    yield self.picture()

    def receive(self, topic: str, payload: bytes, *, retained: bool = False) -> None:
        message = self.source.read(Inbound(topic, payload, retained, 0, 0))
        if message is not None:
            self.relay.receive(self.source, [message])
        self.loop.run_to(self.loop.now)

    def standings(self, *teams: str, retained: bool = False) -> None:
        [publication] = write_announcement(shown(*teams))
        self.receive(publication.topic, publication.payload, retained=retained)

    def picture(self, table: str = "", *, live: bool = False) -> dict[str, Any]:
        return self.relay.picture(Page(table, live))

    def ratings(self, table: str = "") -> list[tuple[str, float]]:
        return [(row["name"], row["points"]) for row in self.picture(table)["standings"]]


def shown(*teams: str) -> m.StandingsShown:
    rows = tuple(
        m.Standing(place, team, 1500 - place, 3, 1, 0, 2, 0, 80, 19, 25_000, 9_000, 41_000)
        for place, team in enumerate(teams, start=1)
    )
    return m.StandingsShown(m.StandingsTable(1, 2, 3, len(rows), rows), m.StandingsTable(1, 2, 3, 0, ()))
