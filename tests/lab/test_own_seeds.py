"""What a bot is told of chance is its own: nobody knows a rival's fleet by it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from kit.seed_thief import SHOTS, Thief
from salvo.bots.player import Bot
from salvo.bots.sources import make
from salvo.rules import own_seed
from salvo_lab import arena
from salvo_lab.bots.random_bot import RandomBot

#: As a run draws its own: nobody finds it by trying.
SECRET = "b0d9a2cbf5c44a0e93d3c2b8ad3a7a51"
GAMES = 40
#: Of a drawn fleet's cells so many lie in another one's, as 10,000 pairs have it; 40 games, 0.015 more or less.
CHANCE = pytest.approx(0.174, abs=0.045)

PROGRAM = f"exec:{shlex.quote(sys.executable)} {Path(__file__).parents[1] / 'kit' / 'seed_thief.py'}"


@pytest.fixture(params=["bot", "program"])
def thief(request: pytest.FixtureRequest) -> Iterator[Bot]:
    with closing(Thief() if request.param == "bot" else make(PROGRAM)) as bot:
        yield bot


def hit_rate(thief: Bot, seed: int | str) -> float:
    """Return which share of the thief's shots hit."""
    shots = hits = 0
    for game in range(1, GAMES + 1):
        stats = arena.play({"thief": thief, "rival": RandomBot()}, seed=seed, game=game).stats["thief"]
        assert stats.shots <= SHOTS
        shots, hits = shots + stats.shots, hits + stats.hits
    return hits / shots


def test_a_bot_that_knows_the_runs_seed_hits_with_every_shot(thief: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
    """So it was when the run's seed was what everybody was told."""
    monkeypatch.setattr(arena, "own_seed", lambda seed, name, game: seed)
    assert hit_rate(thief, SECRET) == 1.0


@pytest.mark.long
def test_a_bot_that_knows_its_own_seed_hits_only_by_chance(thief: Bot) -> None:
    assert hit_rate(thief, SECRET) == CHANCE


def test_a_seed_that_can_be_guessed_is_found_by_trying() -> None:
    """Which is why one is drawn where none is given."""

    class Guesses(Thief):
        guesses = range(1000)

    assert hit_rate(Guesses(), 7) == 1.0
    assert hit_rate(Guesses(), SECRET) == CHANCE


def test_a_bots_own_seed_differs_for_each_seed_name_and_game() -> None:
    assert own_seed("7", "ann", 1) == own_seed(7, "ann", 1) == "080c28574ab0cadffbfb2a2ce4c1501e"
    every = [own_seed(seed, name, game) for seed in (7, 8) for name in ("ann", "bob") for game in (1, 2)]
    assert len(set(every)) == 8
