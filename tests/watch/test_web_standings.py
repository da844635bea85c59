"""The web front shows the standings that the server publishes, and no result before the tape of its game does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kit.signed_games import play
from kit.unconnected_front import Front
from salvo import messages as m
from salvo.badges import Badges
from salvo.codec.announcements import EVENING
from salvo_watch.web.league import LeagueCourse, evening_picture
from salvo_watch.web.stage import LATEST_SECONDS
from salvo_watch.web.tapes import tape_of_log

GAME = [payload for moment in play() for payload in moment.log]
TAPE = tape_of_log(GAME)
assert TAPE is not None
LENGTH = TAPE.ms / 1000


@pytest.fixture
def front() -> Front:
    return Front()


def end_a_game(front: Front, table: str = "") -> None:
    for payload in GAME:
        front.receive(f"{table}/game/log", payload)


def test_a_new_front_shows_the_standings_of_the_evening_at_every_table(front: Front) -> None:
    front.receive("/blue/game/state", b"lobby", retained=True)
    front.standings("ann", "bob", retained=True)
    assert front.ratings() == front.ratings("blue") == [("ann", 1.499), ("bob", 1.498)]


def test_a_new_front_shows_no_table_before_it_knows_what_is_on(front: Front) -> None:
    """For a moment a hall that was started again in mid-league waited for the first teams."""
    cup = EVENING.write(m.EveningShown("desk", "cup", 2, phase=m.Phase.ROUND))
    pictures = list(front.connect({"/game/state": b"lobby", "/players/list": b'["ann"]', "/game/league": cup}))
    assert [shown["evening"]["phase"] for shown in pictures if shown["state"]] == ["round", "round"]


def test_standings_are_shown_once_the_tape_of_their_game_has_shown_its_end(front: Front) -> None:
    front.standings("ann", retained=True)
    end_a_game(front)
    front.standings("bob", "ann")
    front.loop.run_to(LENGTH - 0.2)
    assert front.picture()["tape"] is not None
    assert front.ratings() == [("ann", 1.499)]
    assert front.relay.withholds("", 1)
    front.loop.run_to(LENGTH + 0.2)
    assert front.picture()["winners"]
    assert front.ratings() == [("bob", 1.499), ("ann", 1.498)]
    assert not front.relay.withholds("", 1)


def test_results_do_not_wait_for_tapes_longer_than_the_bound(front: Front) -> None:
    for _ in range(3):
        end_a_game(front)  # one tape runs, the next waits
    front.standings("bob")
    front.loop.run_to(LATEST_SECONDS)
    assert front.ratings() == [("bob", 1.499)]


def test_standings_that_wait_do_not_replace_those_of_a_new_connection(front: Front) -> None:
    end_a_game(front)
    front.standings("old")
    front.relay.forget(front.source)
    front.standings("new", retained=True)
    front.loop.run_to(LATEST_SECONDS)
    assert front.ratings() == [("new", 1.499)]


def test_a_league_is_shown_at_every_table_once_the_wall_has_run_its_best_tape(front: Front) -> None:
    front.receive("/t1/game/state", b"turn", retained=True)
    league = m.EveningShown(
        "desk",
        "cup",
        2,
        3,
        matches=(m.LeagueMatch(("ann", "bob"), "t1"), m.LeagueMatch(("cy",))),
        rows=(m.LeagueStanding(1, "ann", 1500, 2, 1),),
        left=600,
    )
    front.receive("/game/league", EVENING.write(league))
    end_a_game(front, "/t1")
    front.receive("/game/league", EVENING.write(replace(league, rows=(m.LeagueStanding(1, "bob", 2500, 2, 2),))))
    assert front.picture()["tape"]["table"] == ""  # the record is one of the default table
    assert [row["name"] for row in front.picture("t1")["league"]["rows"]] == ["ann"]
    front.loop.run_to(LATEST_SECONDS)
    shown = front.picture("t1")["league"]
    assert (shown["round"], shown["rounds"], shown["left"]) == (2, 3, "about 12 minutes")
    assert [[team["name"] for team in match["teams"]] for match in shown["matches"]] == [["ann", "bob"], ["cy"]]
    assert [(row["place"], row["name"], row["points"]) for row in shown["rows"]] == [(1, "bob", 2.5)]
    assert shown["rows"][0]["emblem"] == shown["matches"][0]["teams"][1]["emblem"]
    front.receive("/game/league", b"")
    assert front.picture("t1")["league"] is None


def test_a_break_is_shown_at_once_and_a_podium_when_the_last_tape_has_been_shown(front: Front) -> None:
    front.receive("/game/state", b"turn", retained=True)
    cup = m.EveningShown("desk", "cup", 2, 2, rows=(m.LeagueStanding(1, "ann", 1500, 2, 1),), phase=m.Phase.ROUND)
    front.receive("/game/league", EVENING.write(cup))
    end_a_game(front)
    final = replace(cup, over=True, phase=m.Phase.FINAL, rows=(m.LeagueStanding(1, "bob", 2500, 2, 2),))
    front.receive("/game/league", EVENING.write(final))
    shown = front.picture()
    assert (shown["evening"]["phase"], shown["league"]["over"]) == ("round", False)
    front.receive("/game/league", EVENING.write(replace(final, phase=m.Phase.BREAK, resumes=m.Phase.FINAL)))
    shown = front.picture()
    assert (shown["evening"]["phase"], shown["evening"]["resumes"], shown["league"]["over"]) == (
        "break",
        "round",
        False,
    )
    front.receive("/game/league", EVENING.write(final))
    front.loop.run_to(LATEST_SECONDS)
    shown = front.picture()
    assert (shown["evening"]["phase"], shown["league"]["rows"][0]["name"]) == ("final", "bob")


def test_the_next_rounds_games_are_shown_at_once_and_results_with_their_tapes(front: Front) -> None:
    front.receive("/t1/game/state", b"turn", retained=True)
    first = m.LeagueMatch(("ann", "bob"), "t1")
    rows = (m.LeagueStanding(1, "ann", 0, 0, 0), m.LeagueStanding(1, "bob", 0, 0, 0))
    cup = m.EveningShown("desk", "cup", 1, 2, matches=(first,), rows=rows, phase=m.Phase.ROUND)
    front.receive("/game/league", EVENING.write(cup))
    end_a_game(front, "/t1")
    played = replace(first, table=None, places=(2, 1))
    won = (m.LeagueStanding(1, "bob", 1000, 1, 1), m.LeagueStanding(2, "ann", 0, 1, 0))
    between = replace(cup, matches=(played,), rows=won, phase=m.Phase.BETWEEN)
    front.receive("/game/league", EVENING.write(between))
    waiting = front.picture("t1")
    assert (waiting["evening"]["phase"], waiting["league"]["round"]) == ("round", 1)
    assert [(match["table"], match["places"]) for match in waiting["league"]["matches"]] == [("t1", [])]
    second = replace(between, round=2, matches=(m.LeagueMatch(("bob", "ann"), "t2"),), phase=m.Phase.ROUND)
    front.receive("/game/league", EVENING.write(second))
    shown = front.picture("t1")
    assert (shown["evening"]["phase"], shown["league"]["round"]) == ("round", 2)
    assert [(match["table"], match["places"]) for match in shown["league"]["matches"]] == [("t2", [])]
    assert [row["points"] for row in shown["league"]["rows"]] == [0, 0]
    front.loop.run_to(LATEST_SECONDS)
    assert [row["name"] for row in front.picture("t1")["league"]["rows"]] == ["bob", "ann"]


def test_a_leagues_table_says_by_how_many_places_teams_have_moved_where_that_is_known(front: Front) -> None:
    def moved(round_: int, *teams: str, played: bool = True) -> list[int | None]:
        rows = tuple(m.LeagueStanding(place, team, 0, 1, 0) for place, team in enumerate(teams, start=1))
        matches = (m.LeagueMatch(("ann", "bob"), places=(1, 2) if played else ()),)
        cup = m.EveningShown("desk", "cup", round_, 4, rows=rows, matches=matches, phase=m.Phase.ROUND)
        front.receive("/game/league", EVENING.write(cup))
        return [row["moved"] for row in front.picture()["league"]["rows"]]

    assert moved(1, "ann", "bob", "cy") == [None, None, None]
    assert moved(2, "bob", "ann", "cy", "dan") == [1, -1, 0, None]
    assert moved(3, "bob", "ann", "cy", "dan", played=False) == [1, -1, 0, None]  # nothing of this round counts yet
    assert moved(3, "dan", "bob", "ann", "cy") == [3, -1, -1, -1]


def test_a_break_is_shown_since_it_began_whatever_the_league_reports_meanwhile(front: Front) -> None:
    cup = m.EveningShown("desk", "cup", 1, phase=m.Phase.BREAK, resumes=m.Phase.ROUND, at=1000)
    for at in (1000, 2000):
        front.receive("/game/league", EVENING.write(replace(cup, at=at, left=at)))
    assert front.picture()["evening"]["since"] == 1000
    front.receive("/game/league", EVENING.write(replace(cup, at=3000, phase=m.Phase.ROUND, resumes=None)))
    assert front.picture()["evening"]["since"] == 3000


def test_a_leagues_table_is_the_only_one_while_it_is_the_latest_thing(front: Front) -> None:
    front.standings("stray")
    assert front.picture()["standings"]
    front.receive("/game/league", EVENING.write(m.EveningShown("desk", "cup", 1, phase=m.Phase.ROUND)))
    assert front.picture()["standings"] == []
    front.receive("/game/league", EVENING.write(m.EveningShown(phase=m.Phase.FREE)))
    assert front.picture()["league"] is None
    assert front.picture()["standings"]


def _cup(round_: int, rows: str, *matches: m.LeagueMatch, phase: m.Phase = m.Phase.ROUND) -> m.EveningShown:
    """Return a league whose teams are at these places, with a point less each."""
    teams = rows.split()
    points = range(1000 * len(teams), 0, -1000)
    listed = tuple(m.LeagueStanding(1 + at, team, points[at], round_, 0) for at, team in enumerate(teams))
    return m.EveningShown("desk", "cup", round_, 2, False, len(teams), 60, matches, listed, phase=phase)


def test_a_move_is_counted_from_the_end_of_the_round_before_whose_last_result_came_with_the_next_one() -> None:
    course, on = LeagueCourse(), m.LeagueMatch(("ann", "bob"), "t1")
    course.receive(_cup(1, "ann bob", on))
    course.receive(_cup(2, "bob ann", on))
    played = _cup(2, "bob ann", m.LeagueMatch(("ann", "bob"), None, (2, 1)))
    course.receive(played)
    assert course.moves(played) == {"ann": 0, "bob": 0}


def test_a_league_that_waits_for_tapes_says_so_and_a_match_whose_result_is_held_back_is_not_the_next_one() -> None:
    course, badges = LeagueCourse(), Badges()
    on = _cup(1, "ann bob", m.LeagueMatch(("ann", "bob"), "t1"))
    over = _cup(1, "bob ann", m.LeagueMatch(("ann", "bob"), None, (2, 1)), phase=m.Phase.BETWEEN)
    for shown in (on, over):
        course.receive(shown)
    before, held, after = (
        evening_picture(*each, course, badges)["league"] for each in ((on, on), (on, over), (over, over))
    )
    assert [league["behind"] for league in (before, held, after)] == [False, True, False]
    assert [league["matches"][0]["played"] for league in (before, held, after)] == [False, True, True]
    assert held["matches"][0]["places"] == []


def test_a_podium_waits_for_tapes_only_where_there_will_be_some() -> None:
    cup, badges = _cup(2, "ann bob", m.LeagueMatch(("ann", "bob"), "t1")), Badges()
    left = [evening_picture(cup, cup, LeagueCourse(), badges, tapes=tapes)["league"]["left"] for tapes in (True, False)]
    assert left == ["about 4 minutes", "about a minute"]


def test_a_tape_is_of_the_round_in_which_its_teams_met_also_once_the_next_one_has_begun() -> None:
    course = LeagueCourse()
    course.receive(_cup(1, "ann bob cat dan", m.LeagueMatch(("ann", "bob"), "t1"), m.LeagueMatch(("cat", "dan"), "t2")))
    course.receive(_cup(2, "ann cat bob dan", m.LeagueMatch(("ann", "cat"), "t1"), m.LeagueMatch(("dan", "bob"), "t2")))
    found = [course.round_of(*met) for met in (("t1", {"bob", "ann"}), ("t1", {"ann", "cat"}), ("t2", {"ann", "cat"}))]
    assert found == [1, 2, 0]
