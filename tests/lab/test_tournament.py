"""Tournaments: who meets whom, what a bot may get wrong, what the games come to."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from kit.pages import Read
from kit.tournaments import BOTS, played, tournament
from salvo.bots.sources import make
from salvo.rules import own_seed
from salvo_game.standings.points_and_ratings import points_of
from salvo_lab import arena
from salvo_lab.series.lines import SeriesResult, TournamentGame
from salvo_lab.series.page import page
from salvo_lab.series.record import SeriesError
from salvo_lab.series.schedule import Fixture, swiss_round
from salvo_lab.series.standings import SeriesStandings, points, standings
from salvo_lab.tournament.file import Format, Tournament, TournamentError, load_tournament
from salvo_lab.tournament.games import GamesFile
from salvo_lab.tournament.pairings import games_of, number_of_games, schedule, whole_schedule
from salvo_lab.tournament.playing import play_games
from salvo_lab.tournament.run import play_tournament, stand


@pytest.fixture
def bots(tmp_path: Path) -> Path:
    path = tmp_path / "bots.py"
    path.write_text(BOTS)
    return path


def named(count: int) -> list[str]:
    return [f"bot{number}" for number in range(count)]


# --- who meets whom ---------------------------------------------------------------------------------------------


def test_bots_take_every_seat_equally_often_and_no_fleet_is_dealt_twice() -> None:
    given = tournament(games=18, format=Format.FREE_FOR_ALL, seats=3, names=("a", "b", "c"))
    games = list(games_of(Fixture(1, 1, ("a", "b", "c")), given))
    seats = Counter((bot, seat) for game in games for seat, bot in enumerate(game.bots))
    assert set(seats.values()) == {6}
    assert len({own_seed(game.seed, "a", game.game) for game in games}) == 18


def test_a_round_robin_has_every_pair_once() -> None:
    matches = whole_schedule(tournament(names=named(8)))
    assert matches is not None
    assert len({frozenset(match.teams) for match in matches}) == len(matches) == 28


@pytest.mark.parametrize(("count", "seats"), [(2, None), (3, 3), (7, 3), (9, 4), (10, 4), (64, 8)])
def test_tables_are_of_nearly_equal_size_and_leave_nobody_out(count: int, seats: int | None) -> None:
    given = tournament(names=named(count), format=Format.FREE_FOR_ALL, seats=seats, rounds=5)
    matches = whole_schedule(given)
    assert matches is not None
    for number in range(1, 6):
        tables = [match.teams for match in matches if match.round == number]
        assert sorted(bot for table in tables for bot in table) == sorted(given.bots)
        sizes = {len(table) for table in tables}
        assert max(sizes) - min(sizes) <= 1
        assert min(sizes) >= 2


@pytest.mark.parametrize("count", [2, 3, 5, 8, 9, 12])
@pytest.mark.parametrize("seed", ["1", "2", "3"])
def test_in_swiss_nobody_meets_anybody_twice_or_has_two_byes_while_that_can_be(count: int, seed: str) -> None:
    luck = Random(seed)
    points = dict.fromkeys(named(count), 0.0)
    matches: list[Fixture] = []
    rounds = count - 1 if count % 2 == 0 else count  # as many as a round robin has, where nobody need meet again
    certain = rounds // 2 + 1  # later a pairing without repetition need not exist
    for number in range(1, certain + 1):
        pairs = swiss_round(number, len(matches) + 1, points, matches, seed)
        assert sorted(bot for match in pairs for bot in match.teams) == sorted(points)
        assert [match.number for match in pairs] == list(range(len(matches) + 1, len(matches) + 1 + len(pairs)))
        matches += pairs
        for match in pairs:
            points[luck.choice(match.teams)] += 1
    met = Counter(frozenset(match.teams) for match in matches)
    assert set(met.values()) == {1}
    assert sum(len(match.teams) == 1 for match in matches) == (certain if count % 2 else 0)


def test_a_swiss_round_pairs_equal_points_and_gives_the_last_the_bye() -> None:
    points = {"a": 3.0, "b": 3.0, "c": 1.5, "d": 1.5, "e": 0.0}
    pairs = [match.teams for match in swiss_round(4, 1, points, [], "1")]
    assert [set(pair) for pair in pairs[:2]] == [{"a", "b"}, {"c", "d"}]
    assert pairs[2] == ("e",)


def test_a_bye_counts_as_a_match_won_and_is_no_game() -> None:
    given = tournament(names=named(3), format=Format.SWISS, games=4)
    [bye] = [match for match in schedule(given, [])[0] if len(match.teams) == 1]
    assert list(games_of(bye, given)) == []
    assert points(given.bots, [bye], [], games=4)[bye.teams[0]] == 4
    assert number_of_games(given) == 8


# --- points and ratings -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("places", "points"),
    [
        ((1, 2), [1, 0]),
        ((1, 1), [0.5, 0.5]),
        ((2, 1, 3), [0.5, 1, 0]),
        ((1, 1, 3), [0.75, 0.75, 0]),
        ((1, 2, 2, 4), [1, 0.5, 0.5, 0]),
    ],
)
def test_a_players_points_are_the_share_of_opponents_it_beats(places: tuple[int, ...], points: list[float]) -> None:
    assert points_of(places) == points
    assert sum(points_of(places)) == len(places) / 2


def _stand(given: Tournament, matches: list[Fixture], games: Sequence[SeriesResult]) -> SeriesStandings:
    return standings(stand(given).series, matches, games)


def test_equal_points_are_ranked_by_opponents_strength_or_share_a_place() -> None:
    given = tournament(names=("a", "b", "c", "d"), games=1)
    games = [played(1, 0, ("a", "b"), (1, 2)), played(2, 0, ("c", "d"), (1, 2)), played(3, 0, ("b", "d"), (1, 2))]
    table = _stand(given, [], games).rows
    assert [(row.name, row.place) for row in table] == [("a", 1), ("b", 1), ("c", 3), ("d", 4)]
    assert [row.place for row in _stand(given, [], []).rows] == [1, 1, 1, 1]


# --- strikes ----------------------------------------------------------------------------------------------------


def _play(tmp_path: Path, bots: dict[str, str], *, jobs: int = 1, **settings: object) -> list[TournamentGame]:
    given = tournament(bots=bots, **settings)
    path = tmp_path / "cup.toml"
    path.write_text("")
    with closing(GamesFile(tmp_path / "cup.games.jsonl", given)) as file:
        play_tournament(path, given, file, jobs, lambda count: None)
    with closing(GamesFile(tmp_path / "cup.games.jsonl", given)) as file:
        return sorted(file.games, key=lambda game: game.index)


def _play_two(first: str, second: str, **given: object) -> list[TournamentGame]:
    """Play all games of two bots."""
    cup = tournament(bots={"a": first, "b": second}, **given)
    [[match], _] = schedule(cup, [])
    return [game for games in play_games(cup, list(games_of(match, cup)), 1) for game in games]


@pytest.mark.long
def test_bots_that_fail_lose_each_game_and_nobody_else_does(
    bots: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = 2  # a busy machine must not make the fine one late
    monkeypatch.setattr("salvo_lab.tournament.playing._GRACE_SECONDS", 0.0)  # nobody here answers late
    causes = {
        "Raises": "bots.py:14: ValueError: no idea",
        "Leaves": "bots.py:20: SystemExit: 3",
        "Dies": "ended the process: exit code 7",
        "Crashes": "ended the process: killed by SIGSEGV",
        "Hangs": "did not answer within 2 s",
        "HangsAsync": "did not answer within 2 s",
        "Swallows": "did not answer within 2 s",
    }
    sources = {kind: f"{bots}:{kind}" for kind in causes}
    limits = {"decision_seconds": seconds, "strikes": 1}
    games = _play(tmp_path, {**sources, "fine": "hunter"}, format=Format.FREE_FOR_ALL, games=1, time=limits)
    assert len(games) == 1
    for game in games:
        for bot, strikes, place, forfeited in zip(game.teams, game.strikes, game.places, game.forfeited, strict=True):
            if bot in causes:
                assert causes[bot] in strikes[0]
                assert (place > 1, forfeited) == (True, True)
            else:
                assert (strikes, place, forfeited) == ((), 1, False)


def test_a_bot_is_closed_after_its_game_and_an_error_then_costs_one_strike(bots: Path) -> None:
    games = _play_two(f"{bots}:Closes", f"{bots}:Closes", games=3)
    for game in games:
        assert [len(strikes) for strikes in game.strikes] == [1, 1]
        assert all("bots.py:77: ValueError: too late (Closes" in strikes[0] for strikes in game.strikes)
        assert game.forfeited == (False, False)
    closed = Path(f"{bots}.closed").read_text().split()
    assert sorted(Counter(closed).values()) == [3, 3]


def test_an_illegal_fleet_and_one_bad_moment_cost_a_strike_and_no_more(bots: Path) -> None:
    for kind, cause in (
        ("BadFleet", "bad_fleet: bots.py:55: returned 'fleet', not a fleet of these rules (BadFleet, place_fleet)"),
        ("DeafOnce", ": KeyError: 'once'"),
    ):
        for game in _play_two(f"{bots}:{kind}", "random", games=2):
            [error] = game.strikes[game.teams.index("a")]
            assert cause in error
            assert game.forfeited == (False, False)


@pytest.mark.parametrize("rules", ["salvo", "streak"])
def test_a_game_without_strikes_is_the_one_that_play_shows(rules: str) -> None:
    for game in _play_two("hunter", "random", rules=rules, games=2, seed=9):
        shown = arena.play(
            {name: make(name) for name in game.players},
            seed=game.seed,
            game=game.game,
            book=tournament(rules=rules).book,
        )
        assert (shown.turns, tuple(shown.places[name] for name in game.players)) == (game.turns, game.places)


def test_a_tournaments_games_are_the_same_with_any_number_of_processes(tmp_path: Path) -> None:
    here = _play_two("hunter", "random", games=6)
    there = _play(tmp_path, {"a": "hunter", "b": "random"}, games=6, jobs=2)
    unmeasured, no = (0.0, 0.0), ("", "")
    untimed = [
        [replace(game, seconds=unmeasured, longest=unmeasured, versions=no) for game in games]
        for games in (here, there)
    ]
    assert untimed[0] == untimed[1]


# --- what was played is kept ------------------------------------------------------------------------------------


TWO = tournament(names=("a", "b"))


def test_half_a_line_of_a_killed_process_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    with closing(GamesFile(path, TWO)) as file:
        file.add_games([played(1, 0, ("a", "b"), (1, 2))])
    whole = path.read_bytes()
    for cut in (b'{"result":1,"ind', b"\0\0\0"):
        path.write_bytes(whole + cut)
        with closing(GamesFile(path, TWO)) as file:
            assert len(file.games) == 1
            file.add_games([played(1, 1, ("b", "a"), (1, 2))])
        with closing(GamesFile(path, TWO)) as file:
            assert [game.index for game in file.games] == [0, 1]
    path.write_bytes(whole[: whole.index(b"\n") - 3])  # killed while it wrote the first line
    for _ in range(2):
        with closing(GamesFile(path, TWO)) as file:
            assert file.lines == []


def test_games_of_an_interrupted_write_remain_and_are_not_reported_as_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, force = tmp_path / "cup.games.jsonl", os.fsync

    def interrupted(file: int) -> None:
        force(file)
        raise KeyboardInterrupt

    with closing(GamesFile(path, TWO)) as file:
        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", interrupted)
            with pytest.raises(KeyboardInterrupt):
                file.add_games([played(1, 0, ("a", "b"), (1, 2))])
        assert file.mend() == ""
        assert len(file.games) == 1
    with closing(GamesFile(path, TWO)) as file:
        assert len(file.games) == 1


def test_games_of_a_tournament_with_other_settings_are_not_taken_for_its_own(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    with closing(GamesFile(path, TWO)) as file:
        file.add_games([played(1, 0, ("a", "b"), (1, 2))])
    for other, changed in (
        (tournament(names=("a", "b"), games=7), "games changed"),
        (tournament(names=("a", "b"), time={"strikes": 9}), "time changed"),
        (tournament(names=("a", "c")), "bots changed"),
    ):
        with pytest.raises(
            SeriesError, match=f"bad_results: .* before {changed}; undo that, or rename games.jsonl to begin again"
        ):
            GamesFile(path, other)
    path.rename(tmp_path / "before.jsonl")
    with closing(GamesFile(path, TWO)) as begun:
        assert begun.games == []
        with pytest.raises(SeriesError, match=r"bad_results: .*another process plays this tournament"):
            GamesFile(path, TWO)
    path.write_text('{"form": 1}\n')
    with pytest.raises(SeriesError, match=r"games.jsonl, line 1: not written by this version's salvo tournament or"):
        GamesFile(path, TWO)


def test_a_tournaments_seed_is_drawn_once_and_for_its_owners_eyes(tmp_path: Path) -> None:
    drawn = []
    cup = TWO.with_seed("")
    for name in ("one", "two"):
        path = tmp_path / name
        for _ in range(2):
            with closing(GamesFile(path, cup)) as file:
                drawn.append(file.seed)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert drawn[0] == drawn[1] != drawn[2] == drawn[3]
    assert [len(seed) for seed in drawn] == [32] * 4
    for _ in range(2):
        with closing(GamesFile(tmp_path / "said", TWO.with_seed("7"))) as file:
            assert file.seed == "7"


# --- the file ---------------------------------------------------------------------------------------------------

WHOLE = """\
name = "cup"
format = "swiss"

[bots]
mine = "random"
yours = "hunter"

[time]
strikes = 2
"""


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ('name = "cup"', "", "name is missing"),
        ('"swiss"', '"swis"', "line 2: format is 'swis'; input should be 'round_robin', 'swiss' or 'free_for_all'"),
        ('"swiss"', '"swiss"\nseats = 3', "line 3: seats is 3; seats belongs to free_for_all"),
        ('"swiss"', '"free_for_all"\nseats = 3', "line 3: seats is 3; the file names only 2 bots"),
        ('"swiss"', '"round_robin"\nrounds = 3', "line 3: rounds is 3; round_robin has as many rounds as it needs"),
        ('"swiss"', '"swiss"\ngames = 0', "line 3: games is 0; input should be greater than or equal to 1"),
        ('"swiss"', '"swiss"\ngames = true', "line 3: games is True; input should be an integer"),
        ('"swiss"', '"swiss"\ngames = 2.0', "line 3: games is 2.0; input should be an integer"),
        ('"swiss"', '"swiss"\nround = 2', "line 3: 'round' is not a key of a tournament; did you mean rounds?"),
        ('"swiss"', '"swiss"\nrules = "spacd"', "line 3: no ruleset 'spacd'; did you mean spaced?"),
        ('"swiss"', '"swiss"\nseed = "a b"', "line 3: seed is 'a b'; it is 1..64 ASCII characters, no blanks"),
        ('"swiss"', '"swiss"\nseed = 1.5', "line 3: seed is 1.5; input should be an integer or a text"),
        ("mine = ", "'mi/ne' = ", "line 5: the bot's name is 'mi/ne'; it is 1..32 letters"),
        ('"random"', "3", "line 5: bots.mine is 3; input should be a valid string"),
        ('yours = "hunter"', "", "line 4: 1 bots; a tournament has 2..64"),
        ("strikes = 2", "strikes = 0", "line 9: time.strikes is 0; input should be greater than or equal to 1"),
        ("strikes = 2", "stikes = 2", "line 9: 'stikes' is not a key of a tournament; did you mean strikes?"),
        ("strikes = 2", "bank_seconds = nan", "line 9: time.bank_seconds is nan; input should be"),
        ("strikes = 2", "decision_seconds = 0", "line 9: time.decision_seconds is 0; input should be greater than"),
        ("[bots]", "[bots", ", line 4: "),
    ],
)
def test_a_mistake_in_a_tournament_file_is_reported_with_its_line(
    old: str, new: str, error: str, tmp_path: Path
) -> None:
    path = tmp_path / "cup.toml"
    assert WHOLE.count(old) == 1
    path.write_text(WHOLE.replace(old, new))
    with pytest.raises(TournamentError) as raised:
        load_tournament(path)
    assert raised.value.code == "bad_tournament"
    assert str(path) in raised.value.text
    assert error in raised.value.text


# --- the page ---------------------------------------------------------------------------------------------------


def test_the_page_is_well_formed_needs_nothing_else_and_shows_names_as_they_are(tmp_path: Path) -> None:
    given = tournament(bots={"a": "<script>.py", "b": "random", "c": "hunter"}, name="<b>cup & co", games=2)
    matches = whole_schedule(given)
    assert matches is not None
    games = [played(match.number, index, match.teams, (1, 2)) for match in matches for index in range(2)]
    games[0] = replace(games[0], strikes=(("raised <img src=x>",), ()))
    whole = page(_stand(given, matches, games))
    read = Read(whole)
    assert read.unclosed == []
    references = [given.get(name) for _, given in read.tags for name in ("src", "href", "xlink:href", "srcset", "data")]
    assert all(reference.startswith("#") for reference in references if reference is not None)
    assert not [word for word in ("http:", "https:", "@import", "url(") if word in whole]
    seen = Counter(tag for tag, _ in read.tags)
    assert (seen["polyline"], seen["script"], seen["img"]) == (6, 0, 0)  # the best, and each by itself
    assert "<b>cup" not in whole
    assert "salvo play &#39;&lt;script&gt;.py&#39; random --seed 1" in whole
