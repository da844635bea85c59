"""A pause after each result on real brokers: bots of all kinds play on, and who looks finds what has just happened."""

from __future__ import annotations

from typing import Any

from conformance.spec_client import SpecClient
from kit.brokers import Broker, StartServer
from kit.players import SECONDS, Heard, join
from salvo import messages as m
from salvo_lab.bots.hunter import Hunter


class Timed(Heard):
    """Knows when each result was told, in the server's time, by turn."""

    def __init__(self) -> None:
        super().__init__()
        self.told_at: dict[int, int] = {}

    def __call__(self, table: str, now: int, command: m.Input | None, announcements: Any) -> None:
        self.told_at |= {each.turn: now for each in announcements if isinstance(each, m.SalvoResolved)}
        super().__call__(table, now, command, announcements)


def test_a_paced_game_of_a_bot_and_a_client_of_the_specification_loses_no_shot(
    broker: Broker, start_server: StartServer
) -> None:
    heard = Timed()
    with start_server(heard, players=2, pace_seconds=0.02):
        plain = SpecClient("127.0.0.1", broker.port, "plain", "secret", fresh=False, seed=1)
        join(broker.url, "ours", Hunter())
        plain.start()
        try:
            assert plain.over.wait(SECONDS), plain.errors
        finally:
            plain.stop()
    turns = heard.of(m.TurnBegan)
    assert [turn.turn for turn in turns] == sorted(heard.told_at)
    assert all(turn.now - heard.told_at[turn.turn - 1] >= 20 for turn in turns[1:])
    assert heard.of(m.CommandRefused) == []
    assert all(result.shots for result in heard.of(m.SalvoResolved))
