"""The web front shows the standings that the server publishes, and no result before the table of its game does."""

from __future__ import annotations

import pytest

from salvo import messages as m
from salvo.codec.announcements import LEAGUE
from salvo_watch.web.tables import BOARDS_SECONDS, PLAY_OUT_SECONDS
from watch.standings_front import DELAY, Front

SHOWN_AFTER = DELAY + PLAY_OUT_SECONDS + BOARDS_SECONDS


@pytest.fixture
def front() -> Front:
    return Front()


def test_a_new_front_shows_the_standings_of_the_evening_at_every_table(front: Front) -> None:
    front.hear("/blue/game/state", b"lobby", retained=True)
    front.standings("ann", "bob", retained=True)
    assert front.ratings() == front.ratings("blue") == [("ann", 1.499), ("bob", 1.498)]


def test_standings_are_shown_once_their_result_is_on_every_page(front: Front) -> None:
    front.standings("ann", retained=True)
    front.standings("bob", "ann")
    front.loop.run_to(SHOWN_AFTER - 0.1)
    assert front.ratings() == [("ann", 1.499)]
    front.loop.run_to(SHOWN_AFTER)
    assert front.ratings() == [("bob", 1.499), ("ann", 1.498)]


def test_a_series_of_results_does_not_hold_standings_back(front: Front) -> None:
    for number in range(10):
        front.loop.run_to(5.0 * number)
        front.standings(f"team{number}")
    assert front.ratings() == [("team2", 1.499)]  # what was heard at 10 of the 45 seconds, 31 of them late


def test_older_standings_that_were_held_do_not_replace_those_of_a_new_connection(front: Front) -> None:
    front.standings("old")
    front.relay.forget(front.source)
    front.standings("new", retained=True)
    front.loop.run_to(2 * SHOWN_AFTER)
    assert front.ratings() == [("new", 1.499)]


def test_a_league_is_shown_at_every_table_when_the_results_in_it_are_on_every_page(front: Front) -> None:
    front.hear("/t1/game/state", b"turn", retained=True)
    league = m.LeagueShown(
        "cup",
        2,
        3,
        matches=(m.LeagueMatch(("ann", "bob"), "t1"), m.LeagueMatch(("cy",))),
        rows=(m.LeagueStanding(1, "ann", 1500, 2, 1),),
        left=600,
    )
    front.hear("/game/league", LEAGUE.write(league))
    assert front.relay.picture("t1")["league"] is None
    front.loop.run_to(SHOWN_AFTER)
    shown = front.relay.picture("t1")["league"]
    assert (shown["round"], shown["rounds"], shown["left"]) == (2, 3, "about 10 minutes left")
    assert [[team["name"] for team in match["teams"]] for match in shown["matches"]] == [["ann", "bob"], ["cy"]]
    assert [(row["place"], row["name"], row["points"]) for row in shown["rows"]] == [(1, "ann", 1.5)]
    assert shown["rows"][0]["emblem"] == shown["matches"][0]["teams"][0]["emblem"]
    front.hear("/game/league", b"")
    assert front.relay.picture("t1")["league"] is None
