"""A process in which several bots play ends or hangs: whoever did it is at fault, wherever bots play."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from salvo_lab.series.lines import TournamentGame
from salvo_lab.simulation import simulate
from salvo_lab.tournament.file import Tournament
from salvo_lab.tournament.pairings import games_of, schedule
from salvo_lab.tournament.playing import play_games

#: Whoever shares a process with the guilty bot finds its event, sets it, and waits until the process is gone.
HONEST = """
import sys, threading
import salvo

@salvo.bot
def fire(view):
    if getattr(sys, "threads", 0) and sys.games > sys.asked_from:
        sys.asked.set()
        threading.Event().wait(60)
    return view.untouched.sample(view.shots)
"""
#: At its second turn it does itself what its thread does before, while the other bot is asked.
GUILTY = """
import ctypes, os, re, signal, sys, threading
import salvo

sys.asked, sys.asked_from, sys.games, sys.threads = threading.Event(), 0, 0, 0

def end():
    DOES

def wait():
    sys.threads += 1
    sys.asked.wait()
    end()

class Guilty(salvo.Bot):
    turns = 0

    def prepare(self, *given):
        super().prepare(*given)
        sys.games += 1

    def choose_salvo(self, view):
        self.turns += 1
        if self.turns == 1:
            threading.Thread(target=wait, daemon=True).start()
        elif self.turns == 2:
            sys.asked.set()
            threading.Event().wait(60)
        return view.untouched.sample(view.shots)
"""
ON_RESULT = GUILTY.replace("def choose_salvo", "def on_result(self, result):\n        end()\n\n    def unused")
#: Its thread is from the first game, and the process ends in another one.
EARLIER = GUILTY.replace("threading.Event(), 0, 0", "threading.Event(), 1, 0")
EARLIER = EARLIER.replace("self.turns == 1:", "sys.games == self.turns == 1:").replace("self.turns == 2:", "False:")
WAYS = {
    "exits in a thread": GUILTY.replace("DOES", "os._exit(5)"),
    "crashes in a thread": GUILTY.replace("DOES", "ctypes.string_at(0)"),
    "exits when it hears of a salvo": ON_RESULT.replace("DOES", "os._exit(5)").replace(
        "def unused",
        "def choose_salvo(self, view):\n        return view.untouched.sample(view.shots)\n\n    def unused",
    ),
    "exits in a later game": EARLIER.replace("DOES", "os._exit(5)"),
}


class Found(NamedTuple):
    """Of each bot in each game: its name, whether it won, and what it got wrong."""

    bot: str
    won: bool
    wrong: tuple[str, ...]


def _simulated(folder: Path) -> list[Found]:
    played = simulate({"guilty": f"{folder}/guilty.py", "honest": f"{folder}/honest.py"}, games=2, seed=1, jobs=1)
    return [
        Found(name, name in game.winners, tuple(f.text for f in game.failures if f.player == name))
        for game in played
        for name in game.stats
    ]


def _in_a_tournament(folder: Path) -> list[Found]:
    bots = {name: f"{folder}/{name}.py" for name in ("guilty", "honest")}
    cup = Tournament(name="cup", seed="1", games=2, bots=bots)
    pairings = list(games_of(schedule(cup, [])[0][0], cup))
    return _of_tournament([game for games in play_games(cup, pairings, 1) for game in games])


def _of_tournament(games: list[TournamentGame]) -> list[Found]:
    return [
        Found(bot, place == 1, strikes)
        for game in games
        for bot, place, strikes in zip(game.teams, game.places, game.strikes, strict=True)
    ]


PLACES: dict[str, Callable[[Path], list[Found]]] = {
    "play --games": _simulated,
    "tournament": _in_a_tournament,
}


@pytest.mark.long
@pytest.mark.parametrize(
    ("place", "way"),
    [("play --games", way) for way in WAYS]
    + [("tournament", way) for way in ("exits in a thread", "exits in a later game")],
)
def test_only_a_bot_that_ends_its_own_process_is_at_fault(place: str, way: str, tmp_path: Path) -> None:
    (tmp_path / "guilty.py").write_text(WAYS[way])
    (tmp_path / "honest.py").write_text(HONEST)
    found = PLACES[place](tmp_path)
    assert len(found) == 4
    for bot, won, wrong in found:
        assert bool(wrong) is (bot == "guilty" and way != "exits in a later game"), wrong
        assert all("ended the process: " in text for text in wrong)
        if way != "exits in a later game":
            assert won is (bot == "honest")
