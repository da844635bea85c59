"""The standings of a contest: what counts, in which order, and what a server publishes of it (SALVO-STAND)."""

from __future__ import annotations

import contextlib
import threading
from dataclasses import replace

import pytest

from kit.results import HOUR, NOON, result
from salvo.codec.announcement_reader import read_announcement
from salvo.codec.announcement_writer import write_announcement
from salvo.codec.announcements import MAX_ANNOUNCEMENT_BYTES, STANDINGS, Publication
from salvo.wire import topics
from salvo_game.journal_interface import (
    Batch,
    GameConcluded,
    Journal,
    JournalUnavailable,
    Result,
    ResultAnnulled,
)
from salvo_game.standings.chronicle import MOST_ROWS, MOST_UNCOUNTED, Chronicle
from salvo_server.spectators.live_standings import CountedJournal, LiveStandings

TOPIC = "/game/standings"


def test_the_largest_standings_fit_into_a_message_and_count_all_teams() -> None:
    names = [f"{number:04}".rjust(32, "x") for number in range(400)]
    order = [names[first : first + 4] for first in range(0, 400, 4)]
    results = [
        result(10_000 + number, *(order[number % 100]), table="t" * 32, at=NOON + number) for number in range(1000)
    ]
    results = [each._replace(players=tuple(replace(p, shots=9_999_999) for p in each.players)) for each in results]
    chronicle = Chronicle(results)
    for each in results[-2 * MOST_UNCOUNTED :]:
        chronicle.annul(ResultAnnulled(each.table, each.number, "h" * 32, NOON + HOUR))
    [publication] = write_announcement(chronicle.shown())
    assert len(publication.payload) <= MAX_ANNOUNCEMENT_BYTES
    assert publication == Publication(TOPIC, publication.payload, True)
    shown = read_announcement(topics.parse(TOPIC), publication.payload)
    assert shown == chronicle.shown()
    table = chronicle.shown().overall
    assert (len(table.rows), table.teams, len(table.uncounted)) == (MOST_ROWS, 400, MOST_UNCOUNTED)
    assert table.uncounted[-1].game == results[-1].number  # the latest


class Filling(Journal):
    """A journal that takes nothing while it is full."""

    full = False

    def commit(self, batch: Batch) -> None:
        if self.full:
            raise JournalUnavailable("journal_full", "no room")

    def results(self) -> list[Result]:
        return [result(1, "ann", "bob")]


def test_a_result_counts_once_it_is_durable() -> None:
    woken, filling = threading.Event(), Filling()
    batch = [GameConcluded(2, result(2, "bob", "ann"))]
    with contextlib.closing(LiveStandings(filling, "", woken.set)) as live:
        journal = CountedJournal(filling, live)
        filling.full = True
        with pytest.raises(JournalUnavailable):
            journal.commit(batch)
        filling.full = False
        journal.commit(batch)
        assert woken.wait(60)
        [publication] = live.take_ready()
        assert STANDINGS.read(publication.payload).overall.games == 2
        journal.commit([])
        assert live.take_ready() == []
