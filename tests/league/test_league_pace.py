"""The pace of a league's tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit.paced import set_by_a_host
from salvo.messages import Limits
from salvo_league.league_file import load_league
from salvo_server.game_lengths import turns_of


def _league(seconds: str, tmp_path: Path) -> Limits:
    file = tmp_path / "league.toml"
    file.write_text(f'name = "evening"\nrounds = 3\nturn_seconds = 5\npace_seconds = {seconds}\n')
    league = load_league(file)
    assert league.game_seconds(3, "salvo") == (turns_of("salvo", 3) or 0) * float(seconds)
    return set_by_a_host(league.settings(("ann", "bob", "eve"), "salvo"))


@pytest.mark.parametrize(("seconds", "pace_ms"), [("0.8", 800), ("1.0", 1_000), ("60", 60_000)])
def test_a_league_paces_its_tables(seconds: str, pace_ms: int, tmp_path: Path) -> None:
    assert _league(seconds, tmp_path).pace_ms == pace_ms
