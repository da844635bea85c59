"""The referee's view: a snapshot of all boards after every salvo, at once or some seconds later (SALVO-VIEW-4).

At the end of a game, the snapshots that still wait are published at once.

It follows the tables' steps from outside. Nothing that it publishes is part of a step, so it is in no check and in no
journal; a restarted server executes its games again and thereby follows them. A snapshot is made when the salvo ends
and then only waits: one that is published later shows the boards of that moment.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Sequence
from typing import Final, NamedTuple

from salvo import messages as m
from salvo import topics
from salvo.codec.announcement_writer import write_announcement
from salvo.codec.announcements import Publication
from salvo.table_step import Step
from salvo_display.boards.marks import Mark
from salvo_display.replay import REFEREE, Frame, RefereeOnlooker, news_for, ship_letter
from salvo_server.core.table import Follower, Table

log = logging.getLogger(__name__)

#: The embedded broker reads packets of 16,384 bytes, topic included; 64 players with the longest names have 14,000.
MAX_SNAPSHOT_BYTES: Final = 15 * 1024


class Charts(RefereeOnlooker):
    """Knows every fleet and every shot, ship by ship."""

    def rows(self, player: str) -> tuple[str, ...]:
        """Return a board, one letter a cell (SALVO-VIEW-5)."""
        fleet, struck, width = self._fleets[player], self._struck[player], self.book.grid.width
        letters = "".join(_letter(ship, cell in struck) for cell, ship in enumerate(fleet))
        return tuple(letters[first : first + width] for first in range(0, len(letters), width))

    def take_frames(self) -> Sequence[Frame]:
        """Return the frames since the last time; they are not kept."""
        frames, self.frames = self.frames, []
        return frames


def _letter(ship: int, struck: bool) -> str:
    if not ship:
        return "*" if struck else "."
    letter = ship_letter(ship - 1)
    return letter.upper() if struck else letter


def snapshot(game: int, charts: Charts, frame: Frame) -> m.RefereeView:
    """Return what the referee sees after a salvo."""
    boards = tuple(
        m.RefereeBoard(name, charts.rows(name), sea.shots, sea.hits, sea.out) for name, sea in frame.seas.items()
    )
    last = None
    if frame.result is not None:
        aimed = tuple(m.AimedShot(shot.player, shot.x, shot.y, mark is Mark.HIT) for shot, mark in frame.fired)
        last = m.RefereeSalvo(frame.result.player, aimed)
    when = (game, frame.turn, frame.at, frame.current, frame.shots)
    return m.RefereeView(*when, boards, last, frame.winner, frame.tied)


class _Waiting(NamedTuple):
    due: int
    table: str
    publication: Publication


class RefereeViews(Follower):
    """The referee's view of all tables of a server.

    Attributes:
        retained: payload by topic, of what the broker should retain now.
    """

    def __init__(self, delay_ms: int) -> None:
        """Delay everything by that many milliseconds."""
        super().__init__()
        self._delay = delay_ms
        self._charts: dict[str, Charts] = {}
        self._games: dict[str, int] = {}
        self._waiting: deque[_Waiting] = deque()  # of all tables; a server's steps arrive in the order of their times

    def follow(self, table: Table, step: Step) -> list[Publication]:
        """Take in a step of the table; return what clears the game that it ends."""
        announcements = list(step.announcements)
        forgotten = next((n for n, each in enumerate(announcements) if isinstance(each, m.TableReset)), None)
        if forgotten is None:
            self._chart(table, step)
            return []
        cleared = self._forget(table.name)
        self._chart(table, step._replace(announcements=announcements[forgotten + 1 :]))
        return cleared

    def _chart(self, table: Table, step: Step) -> None:
        if table.name not in self._charts:
            self._charts[table.name] = Charts(table.header)
            self._games[table.name] = table.header.game
        charts = self._charts[table.name]
        charts.receive(step.at, news_for(REFEREE, step, table.header.rules.book))
        for frame in charts.take_frames():
            self._wait(table.name, snapshot(self._games[table.name], charts, frame), over=bool(frame.places))

    def _wait(self, table: str, view: m.RefereeView, *, over: bool) -> None:
        [publication] = write_announcement(view, table)
        if len(publication.payload) > MAX_SNAPSHOT_BYTES:
            text = "table %r: the referee's view has %d bytes, more than the %d that every broker takes; it is left out"
            log.warning(text, table, len(publication.payload), MAX_SNAPSHOT_BYTES)
            return
        self._waiting.append(_Waiting(view.at + self._delay, table, publication))
        if over:  # nothing of the game is secret any more
            ended = (
                each._replace(due=min(each.due, view.at)) if each.table == table else each for each in self._waiting
            )
            self._waiting = deque(sorted(ended, key=lambda waiting: waiting.due))

    def _forget(self, table: str) -> list[Publication]:
        self._charts.pop(table, None)
        self._waiting = deque(waiting for waiting in self._waiting if waiting.table != table)
        topic = topics.REFEREE.of(table)
        return [] if self.retained.pop(topic, None) is None else [Publication(topic, b"", True)]

    def deadline(self) -> int | None:
        """When the next snapshot is to be said, epoch ms; None when none waits."""
        return self._waiting[0].due if self._waiting else None

    def take_due(self, now: int) -> list[Publication]:
        """Return what is to be said by now, in order, and note it as retained."""
        due: list[Publication] = []
        while self._waiting and self._waiting[0].due <= now:
            due.append(self._waiting.popleft().publication)
        self.retained.update((publication.topic, publication.payload) for publication in due)
        return due

    def catch_up(self, now: int) -> list[Publication]:
        """Return the newest snapshot of each table that is due, after steps that were followed with a long delay.

        Tables are executed again one by one, so what waits is in no order of time until now.
        """
        self._waiting = deque(sorted(self._waiting, key=lambda waiting: waiting.due))
        return list({publication.topic: publication for publication in self.take_due(now)}.values())
