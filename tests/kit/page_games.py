"""The page of a golden game."""

from __future__ import annotations

from functools import cache

from kit.golden_games import GOLDEN
from salvo_display.replay import Replay
from salvo_game.recordings import open_recordings


@cache
def golden_replay(name: str) -> Replay:
    return Replay(*open_recordings(str(GOLDEN / f"{name}.jsonl.gz")).executed())
