"""What players say, on both brokers: who reads it, who may write it, and that a flood of it holds nobody up."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from kit.brokers import Broker, StartServer
from kit.players import SECONDS, Heard, join, over
from kit.waiting import until
from salvo import messages as m
from salvo.net.mqtt import Connection
from salvo.rules import Fleet, RuleBook
from salvo.view import Shot, View
from salvo_lab.bots.random_bot import RandomBot


class Chatty(RandomBot):
    """Greets everybody, fires once the table is flooded, and keeps what it hears."""

    def __init__(self, flooded: threading.Event) -> None:
        self._flooded = flooded
        self.heard: list[tuple[str, str, bool]] = []

    def place_fleet(self, rules: RuleBook) -> Fleet:
        self.say("Ahoy!")
        return super().place_fleet(rules)

    def choose_salvo(self, view: View) -> Sequence[Shot]:
        self._flooded.wait(SECONDS)
        return super().choose_salvo(view)

    def on_message(self, sender: str, text: str, private: bool) -> None:
        self.heard.append((sender, text, private))
        if not private:
            self.say(f"hello {sender}", to=sender)

    def on_game_over(self, winner: str | None, stats: Any) -> None:
        self.say(f"gg {winner}")


def test_bots_talk_and_a_flood_of_lines_costs_no_turn(broker: Broker, start_server: StartServer) -> None:
    heard = Heard()
    flooded, ended = threading.Event(), threading.Event()
    red, blue = Chatty(flooded), Chatty(flooded)
    sent = [0]

    def flood() -> None:
        noise = Connection(broker.url, "noise", clean_session=True)
        noise.connect(60)
        while not ended.is_set():
            for _ in range(50):
                noise.publish("/players/red/say", b'{"text": "spam"}')
            sent[0] += 50
            noise.poll(0.05)
            if running.service.counts["rate_limited"]:
                flooded.set()
        noise.close()

    with start_server(heard, players=2, turn_seconds=10) as running:
        players = [join(broker.url, "red", red)]
        until(lambda: running.service.tables[""].referee.players)
        players.append(join(broker.url, "blue", blue))
        # Blue answers every line of the flood, and would have none left for its greeting.
        until(lambda: ("blue", "Ahoy!", False) in red.heard)
        flooding = threading.Thread(target=flood, daemon=True)
        flooding.start()
        heard.until(over)
        ended.set()
        for player in (*players, flooding):
            player.join(60)
        counts = running.service.counts
    assert sent[0] >= 50
    assert counts["rate_limited"] > 0
    assert [refused.code for refused in heard.of(m.CommandRefused)] == []  # no turn lost
    assert ("blue", "Ahoy!", False) in red.heard
    assert sum(text == "spam" for _, text, _ in blue.heard) <= 5 + 40  # at once, and a line every two seconds
