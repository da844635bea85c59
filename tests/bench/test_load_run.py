"""``make load`` in small: everybody comes, everything is counted, and the table has it."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from bench.sizes import Costs, Load
from kit.programs import needs

_LOAD = Path(__file__).with_name("load.py")
_WORDS = ("--tables", "2", "--teams", "3", "--spectators", "4", "--pace", "0.4", "--seconds", "3", "--json")


@needs("mosquitto")
@pytest.mark.slow
def test_two_tables_of_three_are_measured_beside_a_prediction() -> None:
    done = subprocess.run([sys.executable, str(_LOAD), *_WORDS], stdout=subprocess.PIPE, check=True, timeout=500)
    [result] = json.loads(done.stdout)
    assert result["size"] == {"tables": 2, "teams": 3, "spectators": 4, "pace": 0.4}
    figures, costs = result["figures"], result["costs"]
    for window in ("teams", "watchers", "web", "browsers"):
        assert figures[f"{window}: salvos a second"] > 0
        assert figures[f"{window}: turn / pace, p50"] >= 1
        assert figures[f"{window}: salvo / echo, p50"] > 0
    assert figures["answers with an error"] == 0
    assert 0 < figures["browsers: results that were shown"] <= 1.5
    # A salvo that misses: its result, whose turn it is, and the same as a client of the plain specification reads them.
    assert costs["watched"] >= 2
    assert costs["received"] > costs["watched"] / 2
    assert set(costs) == {each.name for each in fields(Costs)}
    for name in (each.name for each in fields(Load)):
        assert result["load"][name] > 0
        assert result["predicted"][name] > 0
