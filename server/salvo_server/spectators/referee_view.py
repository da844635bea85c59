"""The referee's view: a snapshot of all boards after every salvo (SALVO-VIEW-4).

It follows the tables' steps from outside. Nothing that it publishes is part of a step, so it is in no check and in no
journal; a restarted server executes its games again and thereby follows them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from salvo import messages as m
from salvo.codec.announcement_writer import write_announcement
from salvo.codec.announcements import Publication
from salvo.codec.header import Header
from salvo.wire import topics
from salvo_display.boards.marks import Mark
from salvo_display.replay import REFEREE, Frame, RefereeOnlooker, news_for, ship_letter
from salvo_game.table import Follower, Table
from salvo_game.table_step import Step

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


class BoardSnapshots:
    """Makes the snapshots of one game, from its steps."""

    def __init__(self, header: Header) -> None:
        self._header = header
        self._charts = Charts(header)

    def follow(self, step: Step) -> Iterator[m.RefereeView]:
        """Yield what the referee sees after a step: a snapshot for the beginning, and one for each salvo."""
        self._charts.receive(step.at, news_for(REFEREE, step, self._header.rules.book))
        for frame in self._charts.take_frames():
            yield snapshot(self._header.game, self._charts, frame)


class RefereeViews(Follower):
    """The referee's view of all tables of a server."""

    def __init__(self, wanted: Callable[[], bool] = lambda: True) -> None:
        """Follow the games that open while somebody may read the view.

        Args:
            wanted: whether there is a referee; asked whenever a table opens a game.
        """
        super().__init__()
        self._wanted = wanted
        self._games: dict[str, BoardSnapshots | None] = {}  # by table; None for a game that is not followed

    def follow(self, table: Table, step: Step) -> list[Publication]:
        """Return the boards after a step of the table, or what clears the game that it ends."""
        announcements = list(step.announcements)
        reset = next((n for n, each in enumerate(announcements) if isinstance(each, m.TableReset)), None)
        if reset is None:
            return self._publish(table, step)
        self._games.pop(table.name, None)
        topic = topics.REFEREE.of(table.name)
        cleared = [] if self.retained.pop(topic, None) is None else [Publication(topic, b"", True)]
        return cleared + self._publish(table, step._replace(announcements=announcements[reset + 1 :]))

    def _publish(self, table: Table, step: Step) -> list[Publication]:
        if table.name not in self._games:
            self._games[table.name] = BoardSnapshots(table.header) if self._wanted() else None
        snapshots = self._games[table.name]
        published = []
        for view in () if snapshots is None else snapshots.follow(step):
            [publication] = write_announcement(view, table.name)
            if len(publication.payload) > MAX_SNAPSHOT_BYTES:
                text = "table %r: the referee's view has %d bytes, more than every broker takes (%d); it is left out"
                log.warning(text, table.name, len(publication.payload), MAX_SNAPSHOT_BYTES)
                continue
            self.retained[publication.topic] = publication.payload
            published.append(publication)
        return published
