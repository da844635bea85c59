"""The web front shows the standings that the server publishes, and no result before the table of its game does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from salvo import messages as m
from salvo import topics
from salvo.codec.announcement_writer import write_announcement
from salvo.net.inbound import Inbound
from salvo_watch.web.relay import Relay, Source
from salvo_watch.web.tables import BOARDS_SECONDS, MAX_STANDINGS, PLAY_OUT_SECONDS

DELAY = 20.0
SHOWN_AFTER = DELAY + PLAY_OUT_SECONDS + BOARDS_SECONDS


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
        said = self.source.read(Inbound(topic, payload, retained, 0, 0))
        if said is not None:
            self.relay.take(self.source, [said])
        self.loop.run_to(self.loop.now)

    def standings(self, *teams: str, retained: bool = False) -> None:
        [publication] = write_announcement(shown(*teams))
        self.hear(publication.topic, publication.payload, retained=retained)

    def told(self, table: str = "") -> list[tuple[str, float]]:
        return [(row["name"], row["points"]) for row in self.relay.picture(table)["standings"]]


def shown(*teams: str) -> m.StandingsShown:
    rows = tuple(
        m.Standing(place, team, 1500 - place, 3, 1, 0, 2, 0, 80, 19, 25_000, 9_000, 41_000)
        for place, team in enumerate(teams, start=1)
    )
    return m.StandingsShown(m.StandingsTable(1, 2, 3, len(rows), rows), m.StandingsTable(1, 2, 3, 0, ()))


@pytest.fixture
def front() -> Front:
    return Front()


def test_a_new_front_shows_the_standings_of_the_evening_at_every_table(front: Front) -> None:
    front.hear("/blue/game/state", b"lobby", retained=True)
    front.standings("ann", "bob", retained=True)
    assert front.told() == front.told("blue") == [("ann", 1.499), ("bob", 1.498)]


def test_standings_are_shown_once_their_result_is_on_every_page(front: Front) -> None:
    front.standings("ann", retained=True)
    front.standings("bob", "ann")
    front.loop.run_to(SHOWN_AFTER - 0.1)
    assert front.told() == [("ann", 1.499)]
    front.loop.run_to(SHOWN_AFTER)
    assert front.told() == [("bob", 1.499), ("ann", 1.498)]


def test_results_that_follow_one_another_do_not_keep_standings_back(front: Front) -> None:
    for number in range(10):
        front.loop.run_to(5.0 * number)
        front.standings(f"team{number}")
    assert front.told() == [("team2", 1.499)]  # what was heard at 10 of the 45 seconds, 31 of them late


def test_older_standings_that_were_held_do_not_replace_those_of_a_new_connection(front: Front) -> None:
    front.standings("old")
    front.relay.forget(front.source)
    front.standings("new", retained=True)
    front.loop.run_to(2 * SHOWN_AFTER)
    assert front.told() == [("new", 1.499)]


@pytest.mark.parametrize(("delay", "boards"), [(0.0, True), (DELAY, False)])
def test_where_nothing_is_shown_late_standings_are_not(delay: float, boards: bool) -> None:
    front = Front(delay=delay, boards=boards)
    front.standings("ann")
    assert front.told() == [("ann", 1.499)]


def test_standings_that_the_server_clears_are_gone(front: Front) -> None:
    front.standings("ann", retained=True)
    front.hear(topics.STANDINGS.of(), b"")
    assert front.told() == []


def test_a_picture_has_the_best_teams_only(front: Front) -> None:
    front.standings(*(f"team{number}" for number in range(90)), retained=True)
    assert len(front.told()) == MAX_STANDINGS
