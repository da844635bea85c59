"""What a league makes of tables and teams that do not do what it expects, and how it leaves them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from league.league_model import World
from salvo import messages as m
from salvo.messages import State
from salvo_lab.series.lines import Assigned, Drawn, LeagueResult, Plain
from salvo_league.director import HALL, SEAT_SECONDS
from salvo_league.league_file import League
from salvo_league.league_state import LeagueState

CUP = League(name="cup", rounds=4, table_size=2, tables=("t1", "t2"), wait_seconds=5, seed="1")
TEAMS = ["ann", "bob", "cid", "dan"]


@pytest.mark.long
@pytest.mark.parametrize(("placement", "asleep"), [(2, SEAT_SECONDS + 1), (2, 120.0), (30, SEAT_SECONDS + 5)])
def test_a_machine_that_sleeps_is_late_or_absent_but_never_taken_for_one_that_follows_no_seat(
    placement: int, asleep: float
) -> None:
    world = World(CUP.model_copy(update={"placement_seconds": placement}), TEAMS)
    world.until(lambda: any("ann" in line.teams for line in world.of(Assigned)))
    match = next(line for line in world.of(Assigned) if "ann" in line.teams)
    world.asleep["ann"] = world.now + asleep
    world.run(5000)
    assert world.director.over
    assert world.of(Plain) == []
    first = next(line for line in world.of(LeagueResult) if line.result == match.assigned)
    if placement > asleep:
        assert not any(first.absent), "it was waited for"
    assert not any(absent for line in world.of(LeagueResult)[-2:] for absent in line.absent), "it plays on"
    world.check()


def test_a_client_that_follows_no_seat_is_tried_again_in_its_next_match() -> None:
    world = World(CUP, TEAMS, plain=["ann"])
    world.until(lambda: len(world.of(Plain)) == 2)
    assert [line.plain for line in world.of(Plain)] == ["ann", "ann"]
    played = [line.table for line in world.of(LeagueResult) if "ann" in line.teams]
    assert played == [HALL], "the match of the first one was played where it stays"
    world.plain.clear()  # restarted as a client that follows seats
    world.run(5000)
    assert world.director.over
    assert world.of(LeagueResult)[-1].table != HALL
    assert len(world.of(Plain)) == 2
    assert LeagueState(CUP, world.lines).plain == set()
    world.check()


def test_a_break_holds_up_the_draw_and_every_match_that_has_no_table() -> None:
    world = World(CUP, TEAMS)
    world.until(lambda: world.tables["t1"].state is State.TURN)
    world.evening = replace(world.evening, phase=m.Phase.BREAK)
    world.run(200)
    before = len(world.of(Drawn)), len(world.of(Assigned))
    world.run(200)
    assert (len(world.of(Drawn)), len(world.of(Assigned))) == before
    assert not world.director.book.assigned
    world.evening = replace(world.evening, phase=m.Phase.ROUND)
    world.run(5000)
    assert world.director.over
    world.check()


def test_a_host_ends_a_league_after_the_present_round() -> None:
    world = World(CUP, TEAMS)
    world.until(lambda: world.director.book.round == 2)
    world.evening = replace(world.evening, last=2)
    world.run(5000)
    assert world.director.over
    assert [line.drawn for line in world.of(Drawn)] == [1, 2]
    assert not world.director.book.open_matches


def test_a_host_takes_a_team_out_of_a_league_and_it_is_drawn_no_more() -> None:
    world = World(CUP, TEAMS)
    world.until(lambda: world.director.book.round == 1)
    world.evening = replace(world.evening, withdrawn=("ann",))
    world.run(5000)
    assert world.director.over
    drawn = [teams for line in world.of(Drawn)[1:] for teams in line.matches]
    assert drawn
    assert not any("ann" in teams for teams in drawn)


def test_a_host_lets_the_first_round_begin_before_all_who_are_invited_are_there() -> None:
    world = World(CUP.model_copy(update={"wait_seconds": 600}), TEAMS)
    world.run(60)
    assert not world.of(Drawn)
    world.evening = replace(world.evening, began=1)
    world.until(lambda: world.of(Drawn))
    assert world.now < 100


@pytest.mark.parametrize(("winners", "over_seconds"), [(("eve",), 30), ((), 0)])
def test_a_league_shows_a_foreign_games_result_for_the_servers_own_time(
    winners: tuple[str, ...], over_seconds: int
) -> None:
    world = World(CUP, TEAMS)
    hall = world.tables[HALL]
    hall.state, hall.winners, hall.limits = State.OVER, winners, replace(m.Limits(), over_ms=30_000)
    world.until(lambda: hall.state is not State.OVER)
    assert over_seconds <= world.now <= over_seconds + CUP.result_seconds + 5
