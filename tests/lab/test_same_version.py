"""Games of two versions of a bot are not added up: what it has loaded is compared file by file."""

from __future__ import annotations

import shutil
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from kit.tournaments import played, tournament
from salvo.errors import BotError
from salvo_lab.loaded_code import digest_of
from salvo_lab.series.lines import TournamentGame
from salvo_lab.series.record import SeriesError
from salvo_lab.simulation import stream
from salvo_lab.templates import FOLDER
from salvo_lab.tournament.file import Tournament, load_tournament
from salvo_lab.tournament.games import GamesFile
from salvo_lab.tournament.run import play_tournament

FILES = {
    "cup.toml": f"""
name = "cup"
seed = 1
rules = "pond.toml"
[bots]
mine = "bots/mine.py"
program = "exec:{sys.executable} program.py --weights=weights.bin"
""",
    "pond.toml": 'name = "pond"\nlike = "salvo"\nwidth = 6\nheight = 6\n[fleet]\nraft = 1\n',
    "program.py": (FOLDER / "program.py").read_text(),
    "weights.bin": "1",
    "bots/mine.py": """
from pathlib import Path
import helper, pack.part
import salvo

@salvo.bot
def fire(view):
    if view.turn > 2:
        import late
    Path(__file__).with_name("data.txt").read_text()
    return helper.aim(view)
""",
    "bots/helper.py": "def aim(view):\n    return view.untouched.sample(view.shots)\n",
    "bots/late.py": "",
    "bots/pack/part.py": "from . import inner\n",
    "bots/pack/inner.py": "",
    "bots/data.txt": "",
    "bots/other.py": "",
}
LOADED = ["mine.py", "helper.py", "late.py", "pack/part.py", "pack/inner.py"]


@pytest.fixture(scope="module")
def played_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tournament that was played."""
    folder = tmp_path_factory.mktemp("cup")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        cup = load_tournament(Path("cup.toml"))
        with closing(_opened(cup)) as file:
            play_tournament(Path("cup.toml"), cup, file, 1, lambda count: None)
        assert [game.strikes for game in file.games] == [((), ())] * 2
    return folder


@pytest.fixture
def cup(played_once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tournament:
    shutil.copytree(played_once, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return load_tournament(Path("cup.toml"))


def _opened(cup: Tournament) -> GamesFile:
    return GamesFile(Path("cup.games.jsonl"), cup)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "bot"),
    [*((f"bots/{name}", "mine") for name in LOADED), ("program.py", "program"), ("weights.bin", "program")],
)
def test_games_of_a_bot_count_no_more_when_its_code_has_changed_until_it_is_what_it_was(
    name: str, bot: str, cup: Tournament
) -> None:
    before = Path(name).read_text()
    Path(name).write_text(f"{before}\n# changed")
    with closing(_opened(cup)) as file:
        assert (file.replaced, file.games, len(file.lines)) == ([bot], [], 4)
        file.add_games([played(1, 0, ("mine", "program"), (1, 2))])
    Path(name).write_text(before)
    with closing(_opened(cup)) as file:
        assert (file.replaced, len(file.games)) == ([bot], 2)
        file.enter()
    with closing(_opened(cup)) as file:
        assert (file.replaced, len(file.games)) == ([], 2)


@pytest.mark.long
@pytest.mark.parametrize("name", ["bots/data.txt", "bots/other.py", "bots/new.py"])
def test_a_tournament_is_resumed_when_what_has_changed_is_no_code_of_a_bot(name: str, cup: Tournament) -> None:
    with open(name, "a") as file:
        file.write("\n# changed")
    with closing(_opened(cup)) as resumed:
        assert (resumed.replaced, len(resumed.games)) == ([], 2)


@pytest.mark.long
def test_code_that_a_bot_was_seen_to_load_by_another_way_is_part_of_its_version(cup: Tournament) -> None:
    found = Path("bots/other.py")
    for text in ("", "# changed", "# changed again"):
        found.write_text(text)
        with closing(_opened(cup)) as file:
            assert (file.replaced, bool(file.games)) == ((["mine"], False) if text else ([], True))
            game = played(1, 2, ("mine", "program"), (1, 2))
            file.add_games([replace(game, code={"bots/other.py": digest_of("bots/other.py")})])
        with closing(_opened(cup)) as file:
            assert (file.replaced, bool(file.games)) == ([], True)


def test_games_with_other_code_than_that_of_the_bots_versions_are_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text("import helper\n")
    Path("helper.py").write_text("")
    code = {name: digest_of(name) for name in ("a.py", "helper.py")}

    def game(index: int, **code: str) -> TournamentGame:
        return replace(played(1, index, ("a", "b"), (1, 2)), code=code)

    with closing(GamesFile(Path("games.jsonl"), tournament(bots={"a": "a.py", "b": "random"}))) as file:
        file.add_games([game(0, **code), game(1)])
        with pytest.raises(SeriesError, match=r"bad_results: .*: helper.py changed while games were played; start it"):
            file.add_games([game(2), game(3, **{"helper.py": "2"}), game(4)])
        assert [game.index for game in file.games] == [0, 1, 2]


@pytest.mark.parametrize(
    ("source", "name"), [("bots/mine.py", "bots/helper.py"), (f"exec:{sys.executable} program.py", "program.py")]
)
def test_games_end_when_code_is_saved_while_they_are_played(
    source: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that is started later would play another version; here one ends in the second game."""
    for file, text in FILES.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
    monkeypatch.chdir(tmp_path)
    Path("ends.py").write_text(
        "import os\n"
        + FILES["bots/helper.py"].replace(
            "def aim(view):", "import salvo\n@salvo.bot\ndef fire(view):\n    if view.game == 2: os._exit(1)"
        )
    )
    games = stream([source, "ends.py"], jobs=1, games=20)
    assert next(games).game == 1
    with open(name, "a") as changed:
        changed.write("\n# changed")
    with pytest.raises(BotError, match=f"code_changed: {name} changed while games were played; start them again"):
        list(games)
