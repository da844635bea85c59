"""Games of two versions of a bot are not added up: what it has loaded is compared file by file."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from kit.tournaments import played
from salvo.errors import BotError
from salvo_lab.simulation import stream
from salvo_lab.templates import FOLDER
from salvo_lab.tournament.file import Tournament, TournamentError, load_tournament
from salvo_lab.tournament.games import GamesFile, TournamentGame
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
        file = GamesFile(Path("cup.games.jsonl"), cup.fingerprint(), seed="1")
        play_tournament(Path("cup.toml"), cup, file, 1, lambda count: None)
        file.close()
        assert [game.strikes for game in file.games] == [((), ())] * 2
    return folder


@pytest.fixture
def cup(played_once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tournament:
    shutil.copytree(played_once, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return load_tournament(Path("cup.toml"))


@pytest.mark.long
@pytest.mark.parametrize("name", [*(f"bots/{name}" for name in LOADED), "program.py", "weights.bin"])
def test_a_tournament_is_not_resumed_when_code_of_a_bot_has_changed(name: str, cup: Tournament) -> None:
    with open(name, "a") as file:
        file.write("\n# changed")
    with pytest.raises(TournamentError, match=rf"bad_results: .* played before {name} changed; .* --fresh, which sets"):
        GamesFile(Path("cup.games.jsonl"), cup.fingerprint())


@pytest.mark.long
@pytest.mark.parametrize("name", ["bots/data.txt", "bots/other.py", "bots/new.py"])
def test_a_tournament_is_resumed_when_what_has_changed_is_no_code_of_a_bot(name: str, cup: Tournament) -> None:
    with open(name, "a") as file:
        file.write("\n# changed")
    resumed = GamesFile(Path("cup.games.jsonl"), cup.fingerprint())
    resumed.close()
    assert len(resumed.games) == 2


def test_games_with_other_code_than_those_before_are_not_written(tmp_path: Path) -> None:
    file = GamesFile(tmp_path / "games.jsonl", {})

    def game(index: int, **code: str) -> TournamentGame:
        return TournamentGame(**{**_fields(played(1, index, ("a", "b"), (1, 2))), "code": code})

    file.add([game(0, helper="1"), game(1)])
    with pytest.raises(TournamentError, match=r"bad_results: .*: helper changed while games were played"):
        file.add([game(2, other="1"), game(3, helper="2"), game(4)])
    file.close()
    assert [game.index for game in file.games] == [0, 1, 2]


def _fields(game: TournamentGame) -> dict[str, Any]:
    return {name: getattr(game, name) for name in TournamentGame.__slots__}


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
