"""A series that was played: which games count after a change, and what its record shows when all else is gone."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest

from kit.command_line import run
from kit.tournaments import played, tournament
from salvo_lab.loaded_code import code_of
from salvo_lab.series.lines import TournamentGame
from salvo_lab.series.record import SeriesError, read_record
from salvo_lab.tournament.file import Format, Tournament, load_tournament
from salvo_lab.tournament.games import GamesFile
from salvo_lab.tournament.pairings import games_of, number_of_games, schedule
from salvo_lab.tournament.run import play_tournament, stand_of_record

BOT = "import {helper}\nimport salvo\n\n\n@salvo.bot\ndef fire(view):\n    return {helper}.aim(view)\n"
HELPER = "def aim(view):\n    return view.untouched.sample(view.shots)\n"
POND = 'name = "pond"\nlike = "salvo"\nwidth = 4\nheight = 4\n[fleet]\nraft = 1\n'
EIGHT = [f"b{number}" for number in range(8)]


@pytest.fixture
def eight(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tournament:
    """Eight bots in one folder, of which one has a helper of its own."""
    monkeypatch.chdir(tmp_path)
    for name in ("helper", "other"):
        Path(f"{name}.py").write_text(HELPER)
    Path("pond.toml").write_text(POND)
    for name in EIGHT:
        Path(f"{name}.py").write_text(BOT.format(helper="other" if name == "b3" else "helper"))
    bots = "".join(f'{name} = "{name}.py"\n' for name in EIGHT)
    Path("cup.toml").write_text(f'name = "cup"\ngames = 1\nseed = 5\nrules = "pond.toml"\n[bots]\n{bots}')
    return load_tournament(Path("cup.toml"))


def _play(cup: Tournament) -> list[TournamentGame]:
    """Play what is left, and return what was played now."""
    with closing(GamesFile(Path("cup.games.jsonl"), cup)) as file:
        before = len(file.lines)
        play_tournament(Path("cup.toml"), cup, file, 1, lambda count: None)
        return [line for line in file.lines[before:] if isinstance(line, TournamentGame)]


@pytest.mark.long
def test_when_one_of_eight_bots_has_changed_only_its_pairs_are_played_again(eight: Tournament) -> None:
    first = _play(eight)
    assert (len(first), _play(eight)) == (28, [])
    Path("other.py").write_text(HELPER + "# changed\n")
    again = _play(eight)
    assert len(again) == 7
    assert all("b3" in game.teams for game in again)
    assert {(game.result, game.teams, game.seed, game.game) for game in again} <= {
        (game.result, game.teams, game.seed, game.game) for game in first
    }
    recorded = read_record(Path("cup.games.jsonl"))
    assert recorded is not None
    came_to = stand_of_record(recorded)
    assert (came_to.complete, len(came_to.games)) == (True, 28)
    [earlier] = came_to.earlier
    assert (earlier.entered.entered, earlier.games) == ("b3", 7)
    Path("other.py").write_text(HELPER)
    assert _play(eight) == []  # all games of the version of before are there
    recorded = read_record(Path("cup.games.jsonl"))
    assert recorded is not None
    [earlier] = stand_of_record(recorded).earlier
    assert earlier.entered.version == again[0].versions[again[0].teams.index("b3")]


@pytest.mark.long
def test_a_tournament_is_shown_when_its_file_its_rules_and_its_bots_are_gone(eight: Tournament, tmp_path: Path) -> None:
    _play(eight)
    beside = run("tournament", "show", "cup.toml", "--json", cwd=tmp_path)
    Path("b0.py").write_text("changed")
    noted = run("tournament", "show", "cup.toml", cwd=tmp_path)
    assert noted.stderr == "note: games were played before b0 changed\n"
    assert "go on:  salvo tournament run cup.toml" in noted.stdout
    far = tmp_path / "far"
    far.mkdir()
    shutil.copy("cup.games.jsonl", far / "evening.jsonl")
    words = ("show", "evening.jsonl", "--json", "--csv", "table.csv", "--page", "page.html")
    shown = [run(command, *words, cwd=far) for command in ("tournament", "league")]
    assert [(done.returncode, done.stderr) for done in shown] == [(0, "")] * 2
    assert shown[0].stdout == shown[1].stdout == beside.stdout
    assert len(json.loads(beside.stdout)["games"]) == 28
    assert (far / "table.csv").read_text().startswith("place,bot,points,")
    assert "<title>cup</title>" in (far / "page.html").read_text()


def test_games_of_a_swiss_pairing_that_a_changed_result_has_undone_count_no_more() -> None:
    cup = tournament(names=("a", "b", "c", "d"), format=Format.SWISS, games=1)

    def after(winners: str) -> list[TournamentGame]:
        """Return all games, each won by the one that stands first in ``winners``."""
        games: list[TournamentGame] = []
        for _ in range(2):
            there = {game.result for game in games}
            for match in schedule(cup, games)[0]:
                for game in games_of(match, cup) if match.number not in there else ():
                    first = min(game.bots, key=winners.index)
                    places = tuple(1 if bot == first else 2 for bot in game.bots)
                    games.append(replace(played(game.match, 0, game.bots, places), versions=("1", "1")))
        return games

    def second(games: Sequence[TournamentGame]) -> set[frozenset[str]]:
        return {frozenset(game.teams) for game in games[2:]}

    games = after("abcd")
    assert len(schedule(cup, games)[1]) == number_of_games(cup) == 4
    others = next(other for order in permutations("abcd") if second(other := after("".join(order))) != second(games))
    matches, own = schedule(cup, [*others[:2], *games[2:]])
    assert {frozenset(match.teams) for match in matches[2:]} == second(others)
    assert own == others[:2]


def test_a_bots_code_is_its_file_and_what_it_imports_from_its_folder_however_deep(tmp_path: Path) -> None:
    files = {
        "bots/mine.py": "import os, near\ndef late():\n    from pack.part import thing\n",
        "bots/near.py": "import mine\n",
        "bots/pack/__init__.py": "",
        "bots/pack/part.py": "from . import inner\nfrom .. import unknown\n",
        "bots/pack/inner.py": "(",
        "bots/other.py": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    code = code_of("bots/mine.py:Mine", str(tmp_path))
    assert sorted(code) == sorted(files.keys() - {"bots/other.py"})
    assert code_of("hunter", str(tmp_path)) == code_of("bots/gone.py", str(tmp_path)) == {}


@pytest.mark.parametrize(
    "broken",
    [
        lambda line: line.replace('"places":[1,2]', '"places":[1]'),
        lambda line: line.replace('"teams":["a","b"]', '"teams":["a","a"]'),
        lambda line: line.replace('"index":0,', ""),
        lambda line: '{"drawn":1,"first":1,"matches":[["a","b"]]}',
        lambda line: "[" * 5000,
    ],
    ids=["a place is missing", "against itself", "no index", "of a league", "nested"],
)
def test_a_line_that_no_tournament_has_written_is_refused_with_its_number(
    broken: Callable[[str], str], tmp_path: Path
) -> None:
    path = tmp_path / "cup.games.jsonl"
    with closing(GamesFile(path, tournament(names=("a", "b")))) as file:
        file.add_games([played(1, 0, ("a", "b"), (1, 2))])
    *lines, game = path.read_text().splitlines()
    assert broken(game) != game
    path.write_text("\n".join([*lines, broken(game), ""]))
    with pytest.raises(SeriesError, match=r"bad_results: .*, line 4: not written by salvo tournament; remove the line"):
        read_record(path)


@pytest.mark.parametrize("settings", [{}, {"name": "cup", "bots": 3}, {"name": "cup", "bots": ["a"]}])
def test_a_record_without_a_tournaments_settings_is_refused(settings: dict[str, object], tmp_path: Path) -> None:
    path = tmp_path / "cup.jsonl"
    path.write_text(json.dumps({"form": 3, "kind": "tournament", "settings": settings, "seed": "1"}) + "\n")
    recorded = read_record(path)
    assert recorded is not None
    with pytest.raises(SeriesError, match="bad_results"):
        stand_of_record(recorded)
