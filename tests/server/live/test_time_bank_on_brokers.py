"""A bank of time on real brokers: who thinks too long loses turns, and hears why; who is quick loses none."""

from __future__ import annotations

import time
from typing import Any

from kit.brokers import Broker, StartServer
from kit.golden_games import ALICE
from kit.players import Heard, join, over
from salvo import messages as m
from salvo.events import Refused
from salvo.player import Answer, Bot
from salvo.rules import Fleet, RuleBook
from salvo.view import View


class Thinks(Bot):
    """Takes a while for each salvo; its ships lie in the upper half."""

    def place_fleet(self, rules: RuleBook) -> Fleet:
        return ALICE

    def choose_salvo(self, view: View) -> Answer:
        limits.append((view.limited_by, view.seconds_left or 0.0))
        time.sleep(0.7)
        return view.untouched.sample(view.shots)


limits: list[tuple[str, float]] = []


class Quick(Bot):
    """Fires at the lower half first, and so sinks nothing before the other's time is used up."""

    def choose_salvo(self, view: View) -> Answer:
        return sorted(view.untouched, key=lambda shot: -shot.y)[: view.shots]


def test_the_bank_of_a_game_ends_turns_and_is_no_business_of_the_quick(
    broker: Broker, start_server: StartServer
) -> None:
    heard, refused = Heard(), list[str]()
    limits.clear()

    def listen(event: Any) -> None:
        if isinstance(event, Refused):
            refused.append(f"{event.code}: {event.text}")

    with start_server(heard, players=2, turn_seconds=60, bank_seconds=3):
        team = join(broker.url, "thinks", Thinks(), listener=listen)
        join(broker.url, "quick", Quick())
        heard.until(over)
        team.join(60)
        stats = {each.player: each for each in heard.of(m.PlayerStats)}
    assert heard.of(m.RulesAnnounced)[0].bank_seconds == 3
    assert any(line.startswith("bank_empty: turn ") for line in refused)
    assert {each.to for each in heard.of(m.CommandRefused)} == {"thinks"}
    lost = [each for each in heard.of(m.CommandRefused) if each.code == "bank_empty"]
    assert len(lost) >= 3
    assert "your 3 s for this game were used up, with 5 shots not fired" in lost[0].text
    assert stats["quick"].place == 1
    assert limits[0][0] == "bank_empty"
    assert limits[0][1] <= 3.0
    assert limits[1][1] <= max(0.0, limits[0][1] - 0.7)  # what the first answer took, however long the machine takes
