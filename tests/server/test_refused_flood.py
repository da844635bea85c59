"""One team's flood of its own refused commands fills neither the journal nor the memory (SALVO-FRESH-8)."""

from __future__ import annotations

import pytest

from kit.stage import Stage
from salvo_server.core import authenticator
from salvo_server.core.rate_limit import REFUSALS


def flood(stage: Stage, team: str, count: int) -> int:
    """Fire out of turn; return how many steps the game has more."""
    before = stage.service.last_step
    for _ in range(count):
        stage.fire(stage.current, stage.shot(team))
    return stage.service.last_step - before


def learnt(stage: Stage) -> str:
    """Return a team that is not the current one, and whose salt is known."""
    team = stage.others()[0]
    stage.fire(stage.current, stage.shot(team))
    return team


def test_a_flood_of_refused_shots_is_kept_up_to_a_bound() -> None:
    stage = Stage()
    team = learnt(stage)
    burned = stage.gate.counts["opened"]
    answers = 15  # each of them is a step, too (SALVO-ERR-4)
    assert flood(stage, team, 2000) <= REFUSALS.size + answers
    assert stage.gate.counts["opened"] - burned <= REFUSALS.size
    assert stage.gate.counts["rate_limited"] >= 2000 - REFUSALS.size
    stage.wait(1)
    assert flood(stage, team, 300) == REFUSALS.a_second


def test_nobody_else_uses_it_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither with what somebody made up, nor with what the team said before."""
    monkeypatch.setattr(authenticator, "MAX_RECENT", 0)  # as if much was said before each repetition
    stage = Stage()
    team = learnt(stage)
    old = stage.shot(team)
    stage.fire(stage.current, old)
    for number in range(1100):
        stage.fire(stage.current, old)
        stage.fire(stage.current, b'{"data":{"x":%d,"y":1},"signature":"x"}' % number)
    assert flood(stage, team, 50) == 50
