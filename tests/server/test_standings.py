"""The standings of a contest: what counts, in which order, and what a server publishes of it (SALVO-STAND)."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from kit.results import HOUR, NOON, annulled, result
from salvo import messages as m
from salvo import topics
from salvo.codec.announcement_reader import read_announcement
from salvo.codec.announcement_writer import write_announcement
from salvo.codec.announcements import MAX_ANNOUNCEMENT_BYTES, STANDINGS, Publication
from salvo_server.core.journal_interface import (
    Batch,
    GameConcluded,
    Journal,
    JournalUnavailable,
    Result,
    ResultAnnulled,
)
from salvo_server.core.table import Follower
from salvo_server.standings.chronicle import MOST_ROWS, MOST_UNCOUNTED, Chronicle
from salvo_server.standings.live import CountedJournal, LiveStandings

TOPIC = "/game/standings"


def points(table: m.StandingsTable) -> dict[str, int]:
    return {row.team: row.points for row in table.rows}


# --- what is published ----------------------------------------------------------------------------------------------


def test_the_largest_standings_fit_into_a_message_and_say_how_many_teams_there_are() -> None:
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


class RetainedMessage(Journal):
    """A journal in memory; it takes nothing while it is full."""

    def __init__(self, results: Sequence[Result] = ()) -> None:
        self.full = False
        self._results = list(results)

    def commit(self, batch: Batch) -> None:
        if self.full:
            raise JournalUnavailable("journal_full", "no room")

    def results(self) -> list[Result]:
        return self._results


class Server:
    """What a contest does with standings, without the rest of it."""

    def __init__(self, results: Sequence[Result] = ()) -> None:
        self._woken = threading.Event()
        self.kept = RetainedMessage(results)
        self.live = LiveStandings(self.kept, "", self._woken.set)
        self.journal = CountedJournal(self.kept, self.live)

    def heard(self, follower: Follower | None = None) -> m.StandingsShown:
        """Wait until the loop is woken, and return what it publishes."""
        due: list[Publication] = []
        while not due:
            assert self._woken.wait(60)
            self._woken.clear()
            due = (follower or self.live).take_due(NOON)
        [publication] = due
        assert self.live.retained == {TOPIC: publication.payload}
        return STANDINGS.read(publication.payload)


@pytest.fixture
def start() -> Iterator[type[Server]]:
    started: list[Server] = []

    class Started(Server):
        def __init__(self, results: Sequence[Result] = ()) -> None:
            super().__init__(results)
            started.append(self)

    yield Started
    for server in started:
        server.live.close()


def test_a_server_publishes_the_standings_after_each_result_and_annulment(start: type[Server]) -> None:
    server = start()
    server.journal.commit(Batch(ended_games=[GameConcluded(1, result(1, "ann", "bob"))]))
    assert points(server.heard().evening) == {"ann": 1000, "bob": 0}
    server.journal.commit(Batch(annulled=[annulled(1)]))
    assert server.heard().overall.uncounted == (m.Uncounted("", 1, NOON + 1, "desk"),)
    server.journal.commit(Batch())
    assert server.live.take_due(NOON) == []


def test_a_result_that_is_not_durable_does_not_count(start: type[Server]) -> None:
    server = start([result(1, "ann", "bob")])
    batch = Batch(ended_games=[GameConcluded(2, result(2, "bob", "ann"))])
    server.kept.full = True
    with pytest.raises(JournalUnavailable):
        server.journal.commit(batch)
    server.kept.full = False
    server.journal.commit(batch)
    assert server.heard().overall.games == 2  # once
