"""A server and a bot that are killed in mid-game: the proofs that the teams write have no gap."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kit import players
from kit.killed import SECONDS, Stage, ends, kill


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    stage = Stage(tmp_path)
    yield stage
    stage.end()


@pytest.mark.long
def test_server_and_bot_are_killed_at_a_time_and_the_bot_goes_on_with_its_proof(stage: Stage) -> None:
    server = stage.serve()
    first, other = stage.join("a"), stage.seat("b", players.Slower())
    stage.until_salvos("b", 5)
    for process in (server, first):
        kill(process)
    noted = stage.proof("a").read_bytes()
    stage.serve()
    assert f"{stage.proof('a')}: game 1 is whole" in ends(stage.join("a"))
    other.join(SECONDS)
    assert stage.proof("a").read_bytes().startswith(noted[: noted.rindex(b"\n") + 1])
    output = stage.verify("a", "b")
    for name in ("a", "b"):
        assert f"{stage.proof(name)}: fair: game 1: " in output
        assert stage.entries(name) == list(range(len(stage.entries(name))))
        assert re.search(rf"{name} in game 1: its notes of \d+ shots fit the log", output), output
    assert f"2 files: the same story of game 1, {len(stage.entries('a'))} entries compared" in output
