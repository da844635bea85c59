"""The web front shows the standings that the server publishes, and no result before the table of its game does."""

from __future__ import annotations

import pytest

from salvo_watch.web.tables import BOARDS_SECONDS, PLAY_OUT_SECONDS
from watch.standings_front import DELAY, Front

SHOWN_AFTER = DELAY + PLAY_OUT_SECONDS + BOARDS_SECONDS


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
