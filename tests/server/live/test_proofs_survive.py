"""Servers and bots that are killed in mid-game: the proofs that the teams write have no gap."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kit import players
from kit.killed import SECONDS, Stage, ends, kill
from kit.mosquitto import Mosquitto
from kit.programs import needs


@pytest.fixture
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    """On the embedded broker, which dies with its server, or on a mosquitto, which stays."""
    with contextlib.ExitStack() as stack:
        broker = stack.enter_context(Mosquitto()).url if getattr(request, "param", "") == "mosquitto" else None
        stage = Stage(tmp_path, broker)
        stack.callback(stage.end)
        yield stage


def _whole(stage: Stage, *names: str) -> None:
    output = stage.verify(*names)
    for name in names:
        assert f"{stage.proof(name)}: fair: game 1: " in output
        assert stage.entries(name) == list(range(len(stage.entries(name))))
        if name in ("a", "b"):
            assert re.search(rf"{name} in game 1: its notes of \d+ shots fit the log", output), output
    if len(names) > 1:
        assert (
            f"{len(names)} files: the same story of game 1, {len(stage.entries(names[0]))} entries compared" in output
        )


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["embedded", pytest.param("mosquitto", marks=needs("mosquitto"))], indirect=True)
def test_the_server_is_killed_and_every_proof_is_whole(stage: Stage) -> None:
    server = stage.serve()
    teams = [stage.join(name) for name in ("a", "b")]
    for count in (4, 9):
        stage.until_salvos("a", count)
        kill(server)
        server = stage.serve()
    for team, name in zip(teams, ("a", "b"), strict=True):
        assert f"{stage.proof(name)}: game 1 is whole" in ends(team)
    _whole(stage, "a", "b")


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
    _whole(stage, "a", "b")
