"""A league's director: whatever is killed or lost, and whoever comes and goes, each game counts once."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kit.pages import badges_on
from league.league_model import HOST, World, by_name
from salvo import messages as m
from salvo.messages import State
from salvo.table_places import cell_of, place_of, table_of
from salvo_game.journal_interface import Result as Ended
from salvo_game.standings.chronicle import Chronicle
from salvo_game.standings.points_and_ratings import Counting, Score
from salvo_lab.series.lines import Annulled, Badged, Drawn, Head, LeagueResult, SeriesKind, Voided
from salvo_lab.series.page import page
from salvo_lab.series.standings import of_league
from salvo_league.director import Director
from salvo_league.league_file import League, LeagueError
from salvo_league.seating import seat_at

NAMES = [f"bot{number:02}" for number in range(16)]
FORMATS: list[dict[str, Any]] = [
    {"format": "swiss", "rounds": 3},
    {"format": "round-robin"},
    {"format": "ladder", "games": 12},
]


def league(**announced: Any) -> League:
    return League(**{"name": "any", "seed": "1", "tables": ("t1", "t2"), "wait_seconds": 5, **announced})


formats = st.sampled_from(FORMATS)
sizes = st.integers(2, 8)
seeds = st.integers(0, 2**32)
troubles: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"deaths": st.floats(0, 0.1), "losses": st.floats(0, 0.3), "outages": st.floats(0, 0.03)}
)


@pytest.mark.long
@given(formats.filter(lambda of: of["format"] != "ladder"), sizes, st.integers(2, 11), seeds, troubles)
@settings(max_examples=10, deadline=None)
def test_the_same_results_give_the_same_schedule(
    of: dict[str, Any], size: int, count: int, seed: int, troubles: dict[str, Any]
) -> None:
    calm = World(league(**of, table_size=size), NAMES[:count]).run(20_000)
    rough = World(league(**of, table_size=size), NAMES[:count], seed=seed, **troubles).run(20_000)
    assert rough.of(Drawn) == calm.of(Drawn)
    rows = [(row.name, row.points, row.place) for row in calm.director.book.rows()]
    assert [(row.name, row.points, row.place) for row in rough.director.book.rows()] == rows


def standings(world: World) -> Chronicle:
    """Return what the server's standings come to."""
    found = []
    for (at, game), places in world.games.items():
        players = tuple(m.PlayerStats(name, 9, 3, 1, 5, place) for name, place in places.items())
        by = world.tables[at].annulled.get(game)
        ended = round(1000 * world.ends[at, game])
        found.append(Ended(at, game, ended, "salvo", players, False, ended + 1 if by else None, by))
    return Chronicle(found)


def won_without_a_game(world: World, team: str) -> int:
    """Return how many byes a team had, and matches to which nobody else came."""
    byes: int = sum(match == (team,) for line in world.of(Drawn) for match in line.matches)
    alone: list[LeagueResult] = [line for line in world.of(LeagueResult) if line.absent.count(False) == 1]
    return byes + sum(line.teams[line.absent.index(False)] == team for line in alone)


@pytest.mark.long
@given(formats, sizes, st.integers(2, 11), st.booleans(), seeds, troubles, st.sampled_from([0.005, 0.02, 0.2]))
@settings(max_examples=10, deadline=None)
def test_what_a_host_annuls_counts_no_more_in_any_table_and_round(
    of: dict[str, Any], size: int, count: int, hall: bool, seed: int, troubles: dict[str, Any], often: float
) -> None:
    tables = ("", "t1") if hall else ("t1", "t2")
    given = league(**of, table_size=size, tables=tables)
    world = World(given, NAMES[:count], seed=seed, annulments=often, **troubles).run(20_000)
    assert world.director.over
    world.annulments = 0.0
    world.run_until_seen()
    world.check()
    annulled = {(at, game) for at, table in world.tables.items() for game in table.annulled}
    results = {line.result: line for line in world.of(LeagueResult)}
    assert {(results[line.annulled].table, results[line.annulled].game) for line in world.of(Annulled)} == annulled
    counting = Counting(Score)
    for _, line in sorted(results.items()):
        there = [seat for seat, absent in enumerate(line.absent) if not absent]
        if len(there) > 1 and (line.table, line.game) not in annulled:
            counting.add(*([each[seat] for seat in there] for each in (line.teams, line.places, line.shots, line.hits)))
    scores = {score.name: score for score in standings(world).standings()[1].ranked()}
    book = world.director.book
    for row in book.rows():
        score = scores.get(row.name, Score(row.name))
        counts = ("games", "wins", "ties", "losses", "shots", "hits")
        assert [getattr(row, each) for each in counts] == [getattr(score, each) for each in counts]
        assert row.points == pytest.approx(score.points + won_without_a_game(world, row.name))
        assert book.points([row.name])[row.name] == pytest.approx(row.points)
        assert book.rating(row.name) == counting.scores.get(row.name, Score(row.name)).rating


@pytest.mark.long
@given(formats, sizes, st.lists(st.tuples(st.sampled_from(NAMES), st.integers(5, 200)), max_size=12), seeds, troubles)
@settings(max_examples=10, deadline=None)
def test_teams_that_come_and_go_lose_nobody_a_game(
    of: dict[str, Any], size: int, changes: list[tuple[str, int]], seed: int, troubles: dict[str, Any]
) -> None:
    announced = {**of, "rounds": 5} if "rounds" in of else of
    world = World(league(**announced, table_size=size), NAMES[:6], seed=seed, plain=NAMES[2:3], **troubles)
    for name, seconds in changes:
        world.run(seconds)
        world.here ^= {name}
        world.check()
    world.here |= set(NAMES[:4])
    world.run(30_000)
    world.check()
    assert world.director.over


@pytest.mark.long
@given(st.integers(2, 16), seeds)
@settings(max_examples=8, deadline=None)
def test_all_meet_all_in_pairs_in_the_fewest_rounds(count: int, seed: int) -> None:
    world = World(league(format="round-robin", table_size=2), NAMES[:count], seed=seed).run(30_000)
    met = [frozenset(line.teams) for line in world.of(LeagueResult)]
    assert sorted(map(sorted, met)) == [list(pair) for pair in combinations(NAMES[:count], 2)]
    assert len(world.of(Drawn)) == count - 1 + count % 2


@pytest.mark.parametrize("of", FORMATS, ids=lambda of: of["format"])
def test_a_team_that_is_gone_forfeits_twice_and_is_seated_again_when_it_is_back(of: dict[str, Any]) -> None:
    announced = {**of, "rounds": 8} if "rounds" in of else {**of, "games": 30} if "games" in of else of
    world = World(league(**announced, table_size=2), NAMES[:8], seed=1)
    while not world.of(LeagueResult):
        world.step()
    gone = NAMES[5]
    world.here.discard(gone)
    while gone not in world.director.book.away:
        world.step()
    missed = [line for line in world.of(LeagueResult) if gone in line.teams and line.absent[line.teams.index(gone)]]
    assert len(missed) == 2
    assert all(line.places[line.teams.index(gone)] == 2 for line in missed)
    last = len(world.of(Drawn))
    while len(world.of(Drawn)) < last + 1:
        world.step()
    assert all(gone not in match for line in world.of(Drawn)[last:] for match in line.matches)
    world.here.add(gone)
    world.run(20_000)
    assert any(gone in match for line in world.of(Drawn)[last + 1 :] for match in line.matches)
    world.check()


def test_seats_are_filled_with_bots_of_the_house_when_there_are_too_few_teams() -> None:
    fill = {f"house{number}": "SECRET" for number in range(3)}
    world = World(league(format="swiss", rounds=4, table_size=4, fill=fill), [*NAMES[:6], *fill], seed=1).run(5000)
    assert world.director.over
    for line in world.of(Drawn):
        assert sorted(map(len, line.matches)) == [4, 4]
        assert [sum(name in fill for name in match) for match in line.matches] == [1, 1]
    world.check()


# --- several cells ----------------------------------------------------------------------------------------------------

CELLS = ("a:1", "b:1", "c:1")
cells = st.integers(2, 3).map(lambda count: CELLS[:count])


@pytest.mark.long
@given(formats, sizes, st.integers(2, 11), st.just(("",)) | cells, st.booleans(), seeds, troubles)
@settings(max_examples=12, deadline=None)
def test_every_game_counts_once_in_one_cell_or_several_whatever_dies(
    of: dict[str, Any], size: int, count: int, cells: tuple[str, ...], hall: bool, seed: int, troubles: dict[str, Any]
) -> None:
    tables = ("", "t1") if hall else ("t1", "t2")
    given = league(**of, table_size=size, tables=tables, away_seconds=10)
    world = World(given, NAMES[:count], seed=seed, cells=cells, **troubles)
    for number in range(8):
        world.run(seed % 97 + 1)
        world.kill(cells[(seed >> number) % len(cells)], (seed >> number) % 120)
    world.run(20_000)
    world.check()
    assert world.director.over
    assert not world.director.book.open_matches


@pytest.mark.long
@given(formats, st.integers(2, 8), st.integers(4, 11), cells, st.integers(0, 300), seeds)
@settings(max_examples=10, deadline=None)
def test_a_cell_that_is_gone_holds_up_nobody_and_costs_nobody_a_match(
    of: dict[str, Any], size: int, count: int, cells: tuple[str, ...], after: int, seed: int
) -> None:
    world = World(league(**of, table_size=size, away_seconds=20), NAMES[:count], seed=seed, cells=cells)
    world.run(after)
    gone = cells[-1]
    others = {at: line for at, line in world.director.book.assigned.items() if cell_of(at) != gone}
    world.kill(gone, 1e9)
    before = len(world.lines)
    world.run(20_000)
    world.check()
    assert world.director.over
    assert not any(any(line.absent) for line in world.of(LeagueResult))
    voided = {line.voided for line in world.of(Voided)}
    assert not voided & {line.assigned for line in others.values()}, "a game of another cell was played again"
    assert all(cell_of(line.table) != gone for line in world.lines[before:] if isinstance(line, LeagueResult))


@pytest.mark.long
@given(formats, st.integers(4, 11), cells, seeds)
@settings(max_examples=10, deadline=None)
def test_a_given_up_game_still_in_play_is_aborted_when_its_server_returns(
    of: dict[str, Any], count: int, cells: tuple[str, ...], seed: int
) -> None:
    given = league(**of, table_size=2, away_seconds=5)
    world = World(given, NAMES[:count], seed=seed, cells=cells, play=lambda *all: (by_name(*all)[0], 600.0))
    while not any(line.game == world.tables[at].game for at, line in world.director.book.assigned.items()):
        world.step()
    while all(table.state is not State.TURN for table in world.tables.values()):
        world.step()
    at = next(at for at, table in world.tables.items() if table.state is State.TURN)
    game = world.tables[at].game
    world.kill(cell_of(at), 100)
    world.run(110)
    assert world.director.book.given_up[at] == game
    assert (at, game) not in world.games
    assert world.tables[at].game > game or world.tables[at].state is State.OVER


def test_the_table_of_a_match_that_is_no_longer_there_holds_up_nobody() -> None:
    world = World(league(format="swiss", rounds=2, table_size=2), NAMES[:6], seed=1, cells=CELLS)
    while not any(cell_of(at) == CELLS[2] for at in world.director.book.assigned):
        world.step()
    world.cells = list(CELLS[:2])
    world.tables = {at: table for at, table in world.tables.items() if cell_of(at) != CELLS[2]}
    world.where = dict.fromkeys(world.where, CELLS[0])
    world.director = Director(world.director.book, HOST, world.cells)
    world.seats = {}
    world.run(20_000)
    assert world.director.over
    assert all(cell_of(line.table) != CELLS[2] for line in world.of(LeagueResult))


names = st.sampled_from(["", "t1", "blue"])


@given(st.none() | st.tuples(names, cells.flatmap(st.sampled_from)), cells)
def test_a_seat_published_at_each_broker_means_the_same_table(
    where: tuple[str, str] | None, cells: tuple[str, ...]
) -> None:
    brokers = {cell: f"mqtt://{cell}" for cell in cells}
    place = None if where is None or where[1] not in cells else place_of(*where)
    for cell in cells:
        seat = seat_at(place, cell, brokers)
        assert seat is not None
        assert sorted(seat.brokers) == sorted(brokers.values())
        assert seat.brokers[-1] == brokers[cell], "the one that is lost comes last"
        there = seat.broker or brokers[cell]
        assert place is None or (seat.table, there) == (table_of(place), brokers[cell_of(place)])
    assert seat_at(None, cells[0], {}) is None


@pytest.mark.parametrize("count", [2, 3, 9])
def test_a_team_that_one_server_does_not_know_is_named_before_the_first_round(count: int) -> None:
    teams = [f"bot{number:02}" for number in range(count)]
    world = World(league(format="swiss", rounds=1, table_size=2), teams, cells=CELLS[:2])
    world.strangers[CELLS[1]] = teams[-1]
    with pytest.raises(LeagueError, match=f"rosters_differ.*b:1: the roster has no team '{teams[-1]}'"):
        world.run(1000)
    assert world.of(Drawn) == []
    world.strangers[CELLS[1]] = ""  # its roster is copied, and the league started again
    world.tables[f"t1@{CELLS[1]}"].refused = None
    world.run(3000)
    assert world.director.over


def test_the_badges_that_the_server_gives_are_in_a_leagues_record_and_on_its_page() -> None:
    names, given = NAMES[:4], {"bot00": 17, "bot01": 90, "bot02": 91, "bot03": 5, "stranger": 7}
    world = World(league(format="round-robin", table_size=2), names)
    world.evening = replace(world.evening, badges={name: given[name] for name in names[:2]})
    world.until(lambda: world.of(Badged))
    world.evening = replace(world.evening, badges=given)
    world.run(20_000)
    assert [line.badged.keys() for line in world.of(Badged)] == [set(names[:2]), set(names)]
    head = Head(3, SeriesKind.LEAGUE, {"name": "any", "format": "round-robin"}, "1")
    for standings in (world.director.book.standings(), of_league(head, world.lines)):
        drawn = {name: badge.number for name, badge in badges_on(page(standings)).items()}
        assert drawn == {name: given[name] for name in names}
