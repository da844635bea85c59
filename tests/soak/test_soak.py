"""``make soak`` in small."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kit.programs import BROKERS
from soak.run import BOUNDS, TABLES, Bound, Growth, growths, soak

_GAMES = 40


@pytest.mark.slow
@pytest.mark.parametrize("broker", BROKERS)
def test_an_evening_of_many_games_holds_no_more_at_its_end_than_at_its_beginning(broker: str, tmp_path: Path) -> None:
    plots = tmp_path / "plots"
    assert soak(tmp_path, _GAMES, broker, plots) == []
    found = json.loads((plots / f"{broker}.json").read_text())
    assert found["games"][-1] >= len(TABLES)
    assert found["figures"].keys() >= BOUNDS.keys()
    assert {"server", "web", "league", "console"} <= found["figures"]["memory, kB"].keys()


def test_what_grows_with_every_game_is_named() -> None:
    counts = [10, 20, 30, 40, 50, 60]
    lines = {"threads": {"server": [5, 9, 12, 9, 9, 12], "web": [5, 5, 9, 9, 15, 15]}}
    steady, grows = growths(counts, lines)
    assert (steady.too_much, grows.too_much) == (False, True)
    assert str(grows).endswith("GROWS")
    assert not Growth("journal, kB", "", 100, 500, 50, Bound(each=8)).too_much
    assert Growth("journal, kB", "", 100, 501, 50, Bound(each=8)).too_much
