"""What a league makes of tables and teams that do not do what it expects, and how it leaves them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from league.league_model import HOST, World
from salvo import messages as m
from salvo.messages import State
from salvo_lab.series.lines import Assigned, Drawn, LeagueResult, Plain, Voided
from salvo_league.director import GONE_SECONDS, HALL, Director
from salvo_league.league_file import League, LeagueError, LeagueFormat
from salvo_league.league_state import LeagueState
from salvo_league.roll_call import SEAT_SECONDS

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


@pytest.mark.parametrize("rounds", [0, 1])
def test_who_is_at_a_roll_call_when_the_league_is_killed_plays_from_the_next_round_on(rounds: int) -> None:
    early, late = (TEAMS, ["eva", "fay"]) if rounds else (["eva", "fay"], TEAMS)
    world = World(CUP, early if rounds else late)
    if rounds:
        world.until(lambda: world.of(LeagueResult))
        world.here |= set(late)
    world.until(lambda: all(world.seats.get(team) for team in late))
    world.kill_league()
    world.here |= set(early)
    world.run(5000)
    assert world.director.over
    assert all(
        {*early, *late} == {team for match in line.matches for team in match} for line in world.of(Drawn)[rounds:]
    )
    world.check()


def test_who_sleeps_on_the_way_to_a_roll_call_while_the_league_is_killed_plays_when_it_wakes_up() -> None:
    world = World(CUP, TEAMS)
    world.here.add("eva")
    world.evening = replace(world.evening, badges={"eva": 7})
    world.seats["eva"] = "t1"  # and no table lists it
    world.asleep["eva"] = 60.0
    world.run(5000)
    assert world.director.over
    assert any("eva" in match for line in world.of(Drawn) for match in line.matches)
    world.check()


def at_hall(world: World) -> list[LeagueResult]:
    return [line for line in world.of(LeagueResult) if line.table == HALL]


def test_clients_that_follow_no_seat_are_found_before_the_first_round_and_cost_nobody_a_match() -> None:
    teams = [*TEAMS, "eva", "fay", "gil", "hal"]
    league = CUP.model_copy(update={"tables": ("t1", "t2", "t3")})
    world = World(league, teams, plain=["ann", "cid", "hal"]).run(5000)
    assert world.director.over
    begun = next(place for place, line in enumerate(world.lines) if isinstance(line, Drawn))
    assert {line.plain for line in world.lines[:begun] if isinstance(line, Plain)} == {"ann", "cid", "hal"}
    assert len(world.of(Plain)) == 3
    assert world.of(Voided) == []
    assert not any(absent for line in world.of(LeagueResult) for absent in line.absent)
    assert all(line.table == HALL for line in world.of(LeagueResult) if {"ann", "cid", "hal"} & set(line.teams))
    world.check()


@pytest.mark.parametrize("seed", ["1", "2", "3"])
def test_clients_that_follow_no_seat_meet_first_so_that_the_default_table_holds_up_no_round(seed: str) -> None:
    teams = [*TEAMS, "eva", "fay", "gil", "hal"]
    league = CUP.model_copy(update={"rounds": 3, "tables": ("t1", "t2", "t3"), "seed": seed})
    world = World(league, teams, plain=["ann", "cid", "hal"]).run(5000)
    per_round = [sum(line.result in range(first, first + 4) for line in at_hall(world)) for first in (1, 5, 9)]
    assert per_round == [2, 2, 2]
    pairs = {frozenset(line.teams) for line in world.of(LeagueResult)}
    assert len(pairs) == 12, "nobody has met anybody twice for it"


def test_who_has_waited_longest_plays_first_at_the_default_table() -> None:
    teams = [*TEAMS, "eva", "fay"]
    world = World(CUP.model_copy(update={"rounds": 4}), teams, plain=teams).run(5000)
    assert world.director.over
    order = [line.teams for line in world.of(LeagueResult)]
    for at in range(3, 12, 3):
        before = {team: place for place, pair in enumerate(order[at - 3 : at]) for team in pair}
        waited = [min(before[team] for team in pair) for pair in order[at : at + 3]]
        assert waited == sorted(waited)


def test_a_client_that_is_replaced_by_one_that_follows_seats_is_seated_again() -> None:
    world = World(CUP, TEAMS, plain=["ann"])
    world.until(lambda: world.of(LeagueResult))
    assert [line.plain for line in world.of(Plain)] == ["ann"]
    assert {line.table for line in world.of(LeagueResult) if "ann" in line.teams} <= {HALL}
    world.plain.clear()
    world.run(5000)
    assert world.director.over
    assert next(line.table for line in reversed(world.of(LeagueResult)) if "ann" in line.teams) != HALL
    assert LeagueState(CUP, world.lines).plain == set()
    world.check()


def test_on_a_ladder_nobody_waits_for_the_default_table_but_those_who_follow_no_seat() -> None:
    teams = [*TEAMS, "eva", "fay", "gil", "hal"]
    ladder = League(
        name="cup", format=LeagueFormat.LADDER, games=40, table_size=2, tables=("t1", "t2"), wait_seconds=5, seed="1"
    )
    plain = ["ann", "cid", "hal"]
    world = World(ladder, teams, plain=plain).run(20_000)
    assert world.director.over
    assert world.of(Voided) == []
    games = Counter(team for line in world.of(LeagueResult) for team in line.teams)
    assert 2 * min(games[team] for team in plain) >= min(games[team] for team in teams if team not in plain)
    assert len(at_hall(world)) >= 10
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


def test_a_second_league_at_the_same_tables_ends_and_changes_nothing() -> None:
    world = World(CUP, TEAMS)
    world.until(lambda: world.director.book.round == 2)
    other = Director(LeagueState(CUP.model_copy(update={"name": "other"}), []), HOST, world.cells)
    with pytest.raises(LeagueError, match=f"league_in_use: {HOST} runs cup at these tables"):
        other.step(world.now, world.now, world.views())
    world.evening = replace(world.evening, silent=True)
    assert not other.step(world.now, world.now, world.views()), "it waits for teams in place of one that has gone"


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


def test_a_team_that_has_gone_is_not_called_waiting() -> None:
    world = World(CUP.model_copy(update={"wait_seconds": 1000}), TEAMS)
    world.run(60)
    assert world.director.waiting_here == TEAMS
    world.here.remove("dan")
    for table in world.tables.values():
        table.listed = [team for team in table.listed if team != "dan"]
    world.run(GONE_SECONDS + 5)
    assert world.director.waiting_here == TEAMS[:3]
