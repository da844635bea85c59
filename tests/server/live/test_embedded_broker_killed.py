"""The embedded broker dies in mid-game, and everything that it kept with it."""

from __future__ import annotations

import pytest

from kit.broker_process import BrokerProcess
from kit.players import Heard, Slower, join, over, salvos
from salvo import messages as m
from salvo_server.contest import Contest
from salvo_server.settings import ServerSettings


def check_all_shots_are_accounted_for(heard: Heard) -> None:
    """Every turn was resolved once and in order, each with the shots that it allowed or that the game still took."""
    turns = {turn.turn: turn for turn in heard.of(m.TurnBegan)}
    resolved = heard.of(m.SalvoResolved)
    assert [salvo.turn for salvo in resolved] == list(range(1, len(resolved) + 1))
    for salvo in resolved[:-1]:
        assert (salvo.player, salvo.shots) == (turns[salvo.turn].player, turns[salvo.turn].shots)
    fired = {stats.player: stats.shots for stats in heard.of(m.PlayerStats)}
    assert fired == {name: sum(salvo.shots for salvo in resolved if salvo.player == name) for name in ("a", "b")}
    assert [refused.code for refused in heard.of(m.CommandRefused)] == []


@pytest.mark.long
def test_the_broker_is_killed_in_mid_game_and_no_shot_is_lost() -> None:
    heard = Heard()
    with BrokerProcess() as broker:
        contest = Contest(ServerSettings(broker=broker.url, seed="7", players=2, over_seconds=600), heard)
        with contest.in_background():
            for name in ("a", "b"):
                join(broker.url, name, Slower())
            heard.until(lambda said: any(isinstance(a, m.TurnBegan) for a in said))
            for done in (0, 1, 10):
                heard.until(salvos(done))
                broker.kill()
                broker.start()
            heard.until(over)
    check_all_shots_are_accounted_for(heard)
