"""A web front that shows standings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from salvo import messages as m
from salvo.codec.announcement_writer import write_announcement
from salvo.net.inbound import Inbound
from salvo_watch.web.relay import Relay, Source

DELAY = 20.0


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

    def run_to(self, now: float) -> None:
        while due := [each for each in self._due if each[0] <= now]:
            first = min(due, key=lambda each: each[:2])
            self._due.remove(first)
            self.now = max(self.now, first[0])
            first[2](*first[3])
        self.now = now


class Front:
    """A relay without its connection."""

    def __init__(self, *, delay: float = DELAY, boards: bool = True) -> None:
        self.loop = Loop()
        connection: Any = type("Unconnected", (), {})()
        self.source = Source("", connection, connection)
        self.relay = Relay([self.source], boards=boards, delay_seconds=delay)
        self.relay._loop = self.loop  # type: ignore[assignment]

    def hear(self, topic: str, payload: bytes, *, retained: bool = False) -> None:
        message = self.source.read(Inbound(topic, payload, retained, 0, 0))
        if message is not None:
            self.relay.receive(self.source, [message])
        self.loop.run_to(self.loop.now)

    def standings(self, *teams: str, retained: bool = False) -> None:
        [publication] = write_announcement(shown(*teams))
        self.hear(publication.topic, publication.payload, retained=retained)

    def ratings(self, table: str = "") -> list[tuple[str, float]]:
        return [(row["name"], row["points"]) for row in self.relay.picture(table)["standings"]]


def shown(*teams: str) -> m.StandingsShown:
    rows = tuple(
        m.Standing(place, team, 1500 - place, 3, 1, 0, 2, 0, 80, 19, 25_000, 9_000, 41_000)
        for place, team in enumerate(teams, start=1)
    )
    return m.StandingsShown(m.StandingsTable(1, 2, 3, len(rows), rows), m.StandingsTable(1, 2, 3, 0, ()))
