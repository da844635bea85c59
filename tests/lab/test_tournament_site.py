"""A tournament's site: every game can be watched, every link leads somewhere, and nothing of this machine is in it."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from contextlib import chdir
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag

import pytest
from click.testing import CliRunner

from kit.tournaments import BOTS, played, tournament
from salvo.errors import SalvoError
from salvo.rules import BOOKS
from salvo_display.replay import REFEREE
from salvo_display.site_folder import SiteFolder
from salvo_lab.commands.tournament import tournament as command
from salvo_lab.tournament.file import Tournament, load_tournament
from salvo_lab.tournament.games import GamesFile, Played, read_games
from salvo_lab.tournament.highlights import Selection, choose
from salvo_lab.tournament.judge import Alarm, NoWatch
from salvo_lab.tournament.recorded import Recorded, is_the_same, replay_of
from salvo_lab.tournament.run import games_path, play_tournament, stand
from salvo_lab.tournament.schedule import Pairing
from salvo_lab.tournament.site import KIND, make_site, task_of, without_paths
from salvo_lab.tournament.standings import Standings
from salvo_lab.tournament.workers import Task, play_game, seated_here

BOTS_OF_ALL_KINDS = (
    BOTS
    + """

class Whim(Fine):
    def choose_salvo(self, view):
        import random
        return random.sample(sorted(view.untouched), view.shots)
"""
)


@pytest.fixture(scope="module")
def cup(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file of a tournament that was played: 18 games, of bots that fail, and that draw from elsewhere."""
    folder = tmp_path_factory.mktemp("cup")
    (folder / "bots.py").write_text(BOTS_OF_ALL_KINDS)
    sources = {
        "fine": f"{folder}/bots.py:Fine",
        "also fine": f"{folder}/bots.py:Fine",
        "raises": f"{folder}/bots.py:Raises",
        "on a whim": f"{folder}/bots.py:Whim",
    }
    lines = "".join(f"{json.dumps(name)} = {json.dumps(source)}\n" for name, source in sources.items())
    (folder / "cup.toml").write_text(
        f'name = "<b>cup & co"\ngames = 3\nseed = "b0d9a2cb"\n[bots]\n{lines}[time]\ndecision_seconds = 60\n'
    )
    path = folder / "cup.toml"
    given = load_tournament(path)
    file = GamesFile(games_path(path), given.fingerprint(), seed=given.seed)
    with chdir(folder):
        play_tournament(path, given, file, 1, lambda count: None)
    file.close()
    return path


def _standings(cup: Path, without: int = 0) -> Standings:
    given = load_tournament(cup)
    _, games = read_games(games_path(cup), given.fingerprint())
    games.sort(key=lambda game: (game.match, game.index))
    return stand(given, games[: len(games) - without])


def _make(cup: Path, folder: Path, most: int = 2, without: int = 0) -> list[Played]:
    came_to = _standings(cup, without)
    return make_site(came_to, choose(came_to.games, most), folder, 1).differing


@pytest.fixture(scope="module")
def site(cup: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "www"
    _make(cup, folder)
    return folder


class Read(HTMLParser):
    """A page's addresses, and what can be addressed in it."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.references: list[str] = []
        self.names: set[str] = set()
        self.tags: list[str] = []
        self.text = ""
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            assert not name.startswith("on")
            assert name not in ("style", "srcset", "src")
            if name == "href" and value is not None:
                self.references.append(value)
            elif name == "id" and value is not None:
                self.names.add(value)

    def handle_data(self, data: str) -> None:
        self.text += data


def _texts(folder: Path) -> dict[str, str]:
    return {str(file.relative_to(folder)): file.read_text() for file in sorted(folder.rglob("*")) if file.is_file()}


# --- the whole site -----------------------------------------------------------------------------------------------


@pytest.mark.long
def test_every_link_of_every_page_leads_to_something_of_the_site(site: Path) -> None:
    pages = {file.resolve(): Read(file) for file in site.rglob("*.html")}
    assert len(pages) == 1 + 4 + 2 * 6
    reached = {(site / "index.html").resolve()}
    for file, page in pages.items():
        for reference in page.references:
            address, fragment = urldefrag(reference)
            to = (file.parent / address).resolve() if address else file
            assert to in pages, f"{file.name}: {reference}"
            assert not fragment or fragment in pages[to].names or fragment.startswith("turn="), reference
            reached.add(to)
    assert reached == set(pages)


def test_a_site_names_nothing_from_elsewhere_and_no_folder_of_this_machine(site: Path, cup: Path) -> None:
    for name, text in _texts(site).items():
        assert str(cup.parent) not in text, name
        assert str(Path(sys.prefix).parent) not in text, name
        assert not re.search(r"https?:", text.replace("http-equiv", "")), name
        if name.endswith(".html"):
            assert "default-src 'none'" in text
            assert "unsafe" not in text
    assert "…/bots.py:Fine" in (site / "index.html").read_text()


def test_a_name_is_text_and_in_no_files_name(site: Path) -> None:
    for name in _texts(site):
        assert re.fullmatch(r"site\.json|index\.html|bots/[1-4]\.html|games/[0-9]+-[1-3]\.html", name)
    for file in site.rglob("*.html"):
        page = Read(file)
        assert "<b>cup & co" in page.text
        assert page.tags.count("script") == (
            2 if file.parent.name == "games" and "The moves of this game" not in page.text else 0
        )


@pytest.mark.long
def test_a_site_that_is_made_twice_is_the_same_byte_for_byte(site: Path, cup: Path, tmp_path: Path) -> None:
    """A bot that draws not from its seed plays other games each time, some to the same end; none is shown."""
    otherwise = _make(cup, tmp_path / "again")
    assert _texts(tmp_path / "again") == _texts(site)
    assert [game for game in otherwise if "on a whim" not in game.bots] == []
    assert len(otherwise) == 6
    for game in otherwise:
        text = (site / f"games/{game.match}-{game.index + 1}.html").read_text()
        assert "it ended differently" in text


def test_games_are_watched_under_the_names_of_the_tournament_and_tell_strikes_at_their_end(site: Path) -> None:
    pages = [Read(file).text for file in (site / "games").iterdir()]
    assert any("fine against also fine" in text or "also fine against fine" in text for text in pages)
    assert any("raises: turn 7: bots.py:14: ValueError: no idea" in text for text in pages)
    assert not any("turn_timeout" in text for text in pages)
    assert all("salvo play" in text and "--seed b0d9a2cb-" in text for text in pages)


def test_while_games_are_left_no_page_tells_a_seed(cup: Path, tmp_path: Path) -> None:
    _make(cup, tmp_path, most=1, without=6)
    texts = _texts(tmp_path)
    assert "12 of 18 games so far" in texts["index.html"]
    assert not [name for name, text in texts.items() if "b0d9a2cb" in text or "salvo play" in text]


def test_a_site_can_be_made_before_the_first_game(cup: Path, tmp_path: Path) -> None:
    assert _make(cup, tmp_path, without=18) == []
    assert sorted(_texts(tmp_path)) == [*(f"bots/{number}.html" for number in range(1, 5)), "index.html", "site.json"]


def test_an_index_leads_from_a_cell_to_the_games_of_two_bots_the_lost_ones_first(site: Path) -> None:
    index = Read(site / "index.html")
    assert "bots/1.html#against-2" in index.references
    rows = re.findall(r'<span class="(lost|tied|won)">', (site / "bots/3.html").read_text())
    assert rows == ["lost"] * 6
    for number in (1, 2):
        for section in (site / f"bots/{number}.html").read_text().split("<h2 ")[1:]:
            words = re.findall(r'<span class="(lost|tied|won)">', section)
            assert words == sorted(words, key=["lost", "tied", "won"].index)


# --- playing again ------------------------------------------------------------------------------------------------


def _record(alarm: Alarm, given: Tournament, *bots: str, **how: Any) -> Recorded:
    task = Task(Pairing(1, 1, 0, bots, "9", 2), recorded=True, patient=True, **how)
    game = play_game(task, given.bots, given.book, seated_here(given.time, alarm, NoWatch()))
    assert isinstance(game, Recorded)
    return game


@pytest.mark.parametrize("bots", [("a", "Z"), ("Z", "a"), ("Z", "m", "a")])
@pytest.mark.parametrize("rules", [*BOOKS])
def test_a_game_that_is_looked_at_is_the_one_that_was_played(rules: str, bots: Sequence[str], alarm: Alarm) -> None:
    given = tournament(names=("a", "Z", "m"), rules=rules)
    game = _record(alarm, given, *bots)
    replay = replay_of(game, given.book)
    assert sorted(replay.players) == sorted(bots)
    last = replay.frames(REFEREE)[-1]
    assert replay.turns == game.played.turns
    assert [last.places[bot] for bot in bots] == list(game.played.places)
    assert [last.seas[bot].shots for bot in bots] == list(game.played.shots)
    assert [last.seas[bot].hits for bot in bots] == list(game.played.hits)
    assert _record(alarm, given, *bots).played.moves == game.played.moves


def test_what_differs_in_time_alone_is_the_same_game() -> None:
    game = played(1, 0, ("a", "b"), (1, 2))
    assert is_the_same(replace(game, seconds=(1.0, 2.0), longest=(0.5, 0.5), strikes=game.strikes), game)
    assert not is_the_same(replace(game, turns=11), game)
    assert not is_the_same(replace(game, strikes=(("",), ())), game)
    assert not is_the_same(replace(game, moves="1f"), replace(game, moves="2e"))
    assert is_the_same(replace(game, moves="1f"), game)  # kept before moves had a digest


@pytest.mark.parametrize(
    ("cause", "apart", "patient"),
    [
        ("turn 3: ValueError: no idea", False, True),
        ("turn 3: ended the process: exit code 7", True, True),
        ("turn 3: hung beyond its time, and its process was ended", True, True),
        ("turn 3: took longer than 0.5 s", False, False),
        ("turn 3: its 60 s for a game are used up", False, False),
    ],
)
def test_a_game_is_played_again_as_it_was(cause: str, *, apart: bool, patient: bool) -> None:
    task = task_of(replace(played(1, 0, ("a", "b"), (1, 2)), strikes=((), (cause,)), forfeited=(False, True)))
    assert (task.apart, task.patient) == (apart, patient)


# --- which games --------------------------------------------------------------------------------------------------


def _with_hits(index: int, places: tuple[int, int], hits: tuple[int, int], *, odd: bool = False) -> Played:
    game = replace(played(1, index, ("a", "b"), places), hits=hits)
    return replace(game, strikes=(("turn 1: bad",), ())) if odd else game


def test_an_odd_game_comes_first_then_those_lost_by_most_and_by_least() -> None:
    games = [
        _with_hits(0, (1, 2), (17, 12)),
        _with_hits(1, (1, 2), (17, 3)),
        _with_hits(2, (1, 2), (17, 16)),
        _with_hits(3, (2, 1), (9, 17)),
        _with_hits(4, (2, 1), (0, 17), odd=True),
        _with_hits(5, (2, 1), (0, 17), odd=True),
    ]

    def numbers(most: int) -> list[int]:
        return [game.index for game in choose(games, most).games]

    assert numbers(1) == [4]
    assert numbers(4) == [1, 2, 3, 4]
    assert numbers(5) == [1, 2, 3, 4, 5]
    assert numbers(9) == [0, 1, 2, 3, 4, 5]
    lost = choose(games, 9).losses
    assert lost[1, 1] == {"b": "lost by most"}
    assert lost[1, 2] == {"b": "lost by least"}
    assert lost[1, 3] == {"a": "lost by most"}


def test_games_of_several_are_chosen_by_table_whatever_their_seats() -> None:
    tables = [played(1, index, bots, (1, 2, 3)) for index, bots in enumerate([("a", "b", "c"), ("c", "a", "b")])]
    other = played(2, 0, ("a", "b", "d"), (1, 2, 3))
    assert [game.match for game in choose([*tables, other], 1).games] == [1, 2]


# --- the folder ---------------------------------------------------------------------------------------------------


def _empty(folder: Path, name: str = "cup") -> None:
    came_to = stand(tournament(name=name), [])
    make_site(came_to, Selection(1), folder, 1)


@pytest.mark.parametrize(
    "there",
    [
        {"thesis.txt": "years of work"},
        {"site.json": "{}"},
        {"site.json": "[1]"},
        {"site.json": '{"form": 2, "tournament": "cup", "files": []}'},
        {"site.json": '{"form": 1, "tournament": "cup", "files": 3}'},
    ],
)
def test_a_folder_that_is_no_site_is_refused_and_left_alone(there: dict[str, str], tmp_path: Path) -> None:
    for name, text in there.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(SalvoError, match=r"not_a_site: .* is there and is no site of a tournament; name an empty"):
        _empty(tmp_path)
    assert _texts(tmp_path) == there


def test_a_file_in_place_of_the_folder_and_another_tournaments_site_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SalvoError, match="not_a_site"):
        _empty(tmp_path / "file")
    _empty(tmp_path / "www", "other")
    before = _texts(tmp_path / "www")
    with pytest.raises(SalvoError, match=r"not_a_site: .* is the site of another tournament, 'other', not of 'cup'"):
        _empty(tmp_path / "www")
    assert _texts(tmp_path / "www") == before


def test_files_of_the_former_site_go_and_all_others_stay(tmp_path: Path) -> None:
    www = tmp_path / "www"
    _empty(www)
    for name in ("games/1-1.html", "bots/notes.txt", "mine.html"):
        (www / name).write_text("mine")
    (tmp_path / "mine.html").write_text("mine")
    mark = json.loads((www / "site.json").read_text())
    mark["files"] += ["games/1-1.html", "../mine.html", "mine.html", "bots/notes.txt", "games/9-9.html"]
    (www / "site.json").write_text(json.dumps(mark))
    _empty(www)
    assert not (www / "games/1-1.html").exists()
    assert all((tmp_path / name).exists() for name in ("mine.html", "www/mine.html", "www/bots/notes.txt"))
    assert json.loads((www / "site.json").read_text())["files"] == [
        *(f"bots/{n}.html" for n in range(1, 5)),
        "index.html",
    ]


def test_a_site_that_was_interrupted_is_one_that_can_be_made_anew(tmp_path: Path) -> None:
    def stop() -> None:
        with SiteFolder(tmp_path / "www", KIND, "cup") as folder:
            folder.write("games/1-1.html", "half a site")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stop()
    assert (tmp_path / "www/games/1-1.html").exists()
    _empty(tmp_path / "www")
    assert not (tmp_path / "www/games/1-1.html").exists()


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SalvoError, match=r"html_unwritable: .*www: Not a directory; name another folder"):
        _empty(tmp_path / "file" / "www")


# --- no paths -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("/home/me/bots/mine.py:Name", "…/mine.py:Name"),
        ("exec:/usr/bin/python3 -I '/srv/x y/b.py' /tmp", "exec:…/python3 -I '…/x y/b.py' …/tmp"),
        ("No such file: '/home/me/secret'", "No such file: '…/secret'"),
        ("file:///home/me/x.py", "…/x.py"),
        (r"C:\Users\me\bot.py", "…/bot.py"),
        ("bots/mine.py and ../x.py and ./y.py", "bots/mine.py and ../x.py and ./y.py"),
        ("3/4 of a/b, and/or 1 / 2", "3/4 of a/b, and/or 1 / 2"),
        ("HEAD:mine.py", "HEAD:mine.py"),
    ],
)
def test_of_a_path_only_its_end_is_told(text: str, told: str) -> None:
    assert without_paths(text) == told
    assert without_paths(told) == told


# --- the command --------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_the_command_writes_a_site_beside_its_file_and_says_what_is_in_it(cup: Path) -> None:
    done = CliRunner().invoke(command, ["site", str(cup), "--games-per-pair", "1"])
    assert done.stdout.startswith(f"site:   {cup.with_suffix('.site')}/index.html, 6 of 18 games\n")
    assert "no moves: 3, first match 3, game " in done.stdout
    assert (cup.with_suffix(".site") / "index.html").is_file()


@pytest.mark.parametrize("wrong", ["0", "-1", "x"])
def test_a_number_of_games_that_cannot_be_is_refused(wrong: str, cup: Path) -> None:
    done = CliRunner().invoke(command, ["site", str(cup), "--games-per-pair", wrong])
    assert done.exit_code == 2
    assert "--games-per-pair" in done.output
