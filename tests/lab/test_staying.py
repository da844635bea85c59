"""Programs that stay for further games: the same games as by new processes, and nobody is left at the end."""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from salvo_lab.bots.random_bot import RandomBot
from salvo_lab.simulation import Played, stream

PYTHON = f"{shlex.quote(sys.executable)} -I -S"
PROGRAM = Path(__file__).parents[1] / "kit" / "staying_program.py"
GAMES = 5


class Asked:
    """What the processes of a program were told."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def by(self, *misdeed: object) -> str:
        """Return the source of a program that adds to this, and misbehaves so."""
        words = [str(PROGRAM), str(self.file), *map(str, misdeed)]
        return f"exec:{PYTHON} {shlex.join(words)}"

    def lines(self) -> list[tuple[int, dict[str, Any]]]:
        pairs = (line.split(" ", 1) for line in self.file.read_text().splitlines())
        return [(int(process), json.loads(asked)) for process, asked in pairs]

    @property
    def games(self) -> list[tuple[int, int]]:
        """Process and number of each game, as they began."""
        return [(process, asked["game"]) for process, asked in self.lines() if asked["type"] == "game"]

    @property
    def by_game(self) -> dict[int, list[dict[str, Any]]]:
        """What was told of each game."""
        found: dict[int, list[dict[str, Any]]] = {}
        for _, asked in self.lines():
            found.setdefault(asked["game"], []).append(asked)
        return found

    def are_gone(self) -> bool:
        """Whether all processes have ended; who was killed may take a moment to be gone."""
        end = time.monotonic() + 60
        left = {process for process, _ in self.lines()}
        while left and time.monotonic() < end:
            left = {process for process in left if _state(process) not in ("", "Z")}
        return not left


def _state(process: int) -> str:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


@pytest.fixture
def asked(tmp_path: Path) -> Callable[[str], Asked]:
    return lambda name: Asked(tmp_path / name)


def play(source: str, games: int = GAMES, **how: Any) -> list[Played]:
    return list(stream({"ann": source, "bob": RandomBot}, games=games, seed=7, **{"jobs": 1, "strict": True} | how))


@pytest.mark.long
def test_a_program_that_stays_plays_the_same_games_as_new_processes(asked: Callable[[str], Asked]) -> None:
    leaves, says_nothing = asked("leaves"), asked("says nothing")
    played = play(leaves.by("leaves"))
    assert play(says_nothing.by("is-silent-on-it"), jobs=2) == played
    for each in (leaves, says_nothing):
        assert max(Counter(process for process, _ in each.games).values()) == 1
        assert each.are_gone()
    for jobs in (0, 1, 2):
        stays = asked(f"stays {jobs}")
        assert play(stays.by(), jobs=jobs) == played
        assert len({process for process, _ in stays.games}) == max(jobs, 1)
        assert stays.by_game == leaves.by_game == says_nothing.by_game
        assert stays.are_gone()


def test_a_game_played_alone_is_the_one_that_was_played_after_others(asked: Callable[[str], Asked]) -> None:
    assert play(asked("all").by())[4] == play(asked("alone").by(), games=1, first=5)[0]


@pytest.mark.long
@pytest.mark.parametrize(
    ("misdeed", "strict"), [("fires-off-grid", True), ("fires-off-grid", False), ("crashes", True)]
)
def test_a_fault_is_its_game_s_own_and_the_next_has_a_new_process(
    misdeed: str, strict: bool, asked: Callable[[str], Asked]
) -> None:
    well, badly = asked("well"), asked("badly")
    sound, faulty = play(well.by()), play(badly.by(misdeed, 3), strict=strict)
    assert [game.game for game, other in zip(sound, faulty, strict=True) if game != other] == [3]
    assert [bool(game.failures) for game in faulty] == [strict and game == 3 for game in range(1, GAMES + 1)]
    by_process = {process: [g for p, g in badly.games if p == process] for process, _ in badly.games}
    assert [1, 2, 3] in by_process.values()
    assert [4, 5] in by_process.values()
    assert badly.are_gone()


class DiesInThird(RandomBot):
    """Ends the process that it plays in."""

    def prepare(self, name: str, seed: int | str, game: int = 1) -> None:
        super().prepare(name, seed, game)
        self.third = game == 3

    def choose_salvo(self, view: Any) -> Any:
        if self.third:
            os._exit(7)
        return super().choose_salvo(view)


def test_programs_of_a_process_that_dies_or_is_killed_end_with_it(asked: Callable[[str], Asked]) -> None:
    beside, hanging = asked("beside"), asked("hangs")
    games = list(stream({"ann": beside.by(), "bob": DiesInThird}, games=4, seed=7, jobs=1))
    assert [bool(game.failures) for game in games] == [False, False, True, False]
    assert beside.are_gone()
    playing = stream({"ann": hanging.by("hangs", 2), "bob": RandomBot}, games=2, seed=7, jobs=1)
    assert next(playing).game == 1
    playing.close()
    assert hanging.are_gone()
