"""A referee's room: all boards of a table."""

from __future__ import annotations

from typing import Any

from salvo import messages as m
from salvo.codec.announcement_reader import read_announcement
from salvo.codec.announcements import Publication
from salvo.rules import SALVO, Fleet
from salvo.wire import topics
from salvo_game.referee import Referee
from salvo_game.table import Table
from salvo_game.table_step import Step
from salvo_game.transcript import no_status
from salvo_server.spectators.referee_view import RefereeViews

TOPIC = "/game/referee"


TURN_MS = 30_000


class Room:
    """A table with the referee's view of it; keeps what was said there, with the times."""

    def __init__(self, fleets: dict[str, Fleet], **limits: Any) -> None:
        chosen = m.Limits(players=len(fleets), turn_ms=TURN_MS, **limits)
        self.table = Table(Referee("2", "", SALVO, chosen), no_status)
        self.views = RefereeViews()
        self.now = 1_000_000
        self.steps: list[tuple[m.Input, int]] = []
        self.announced: list[tuple[int, Publication]] = []
        for name in fleets:
            self.do(m.Participate(name, b""))
        for name, fleet in fleets.items():
            for place in fleet.placements:
                self.do(m.PlaceShip(name, place.ship, place))

    def do(self, command: m.Input, at: int | None = None) -> Step:
        self.now = self.now if at is None else at
        step = self.table.carry_out(command, self.now)
        self.steps.append((command, self.now))
        self.announced += [(self.now, each) for each in self.views.follow(self.table, step)]
        return step

    def fire(self, target: str, *cells: tuple[int, int]) -> None:
        for x, y in cells:
            current = self.table.referee.current
            assert current is not None
            self.do(m.Fire(current.name, target, x, y))

    def seen(self) -> list[m.RefereeView]:
        read = [read_announcement(topics.parse(p.topic), p.payload) for _, p in self.announced if p.payload]
        assert all(isinstance(view, m.RefereeView) for view in read)
        return read  # type: ignore[return-value]
