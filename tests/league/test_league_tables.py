"""What a league makes of tables and teams that do not do what it expects, and how it leaves them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from league.league_model import World
from salvo import messages as m
from salvo.messages import State
from salvo_lab.series.lines import Assigned, LeagueResult, Plain
from salvo_league.director import HALL, SEAT_SECONDS
from salvo_league.league_file import OVER_SECONDS, League
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


def own_settings(world: World, at: str) -> bool:
    limits = world.tables[at].limits
    return OVER_SECONDS * 1000 not in (limits.over_ms, limits.placement_ms)


def test_a_league_that_is_over_gives_all_tables_back_and_announces_no_winner_before_the_hall() -> None:
    world = World(CUP, TEAMS).run(5000)
    held = [at for at in world.tables if not own_settings(world, at)]
    assert held == ["", "t1", "t2"]
    world.release()
    assert all(own_settings(world, at) for at in held)
    hosted = world.tables[HALL].hosted
    assert hosted is not None
    assert hosted.text == "cup is over"


def test_a_league_that_is_interrupted_opens_the_hall_and_leaves_its_games_alone() -> None:
    world = World(CUP, TEAMS)
    world.until(lambda: world.tables["t1"].state is State.TURN)
    games = {at: table.game for at, table in world.tables.items() if at != HALL}
    assert not own_settings(world, HALL)
    world.release()
    assert own_settings(world, HALL)
    assert {at: table.game for at, table in world.tables.items() if at != HALL} == games
    world.run(5000)  # and it goes on from there
    assert world.director.over
    world.check()


@pytest.mark.parametrize(("winners", "over_seconds"), [(("eve",), 30), ((), 0)])
def test_a_league_shows_a_foreign_games_result_for_the_servers_own_time(
    winners: tuple[str, ...], over_seconds: int
) -> None:
    world = World(CUP, TEAMS)
    hall = world.tables[HALL]
    hall.state, hall.winners, hall.limits = State.OVER, winners, replace(m.Limits(), over_ms=30_000)
    world.until(lambda: hall.state is not State.OVER)
    assert over_seconds <= world.now <= over_seconds + CUP.result_seconds + 5
