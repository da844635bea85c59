"""What players say, on both brokers: who reads it, who may write it, and that a flood of it holds nobody up."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from kit.accounts import SERVER, contest
from kit.brokers import Broker, StartServer
from kit.players import SECONDS, Heard, join, over
from kit.programs import BROKERS
from kit.secured import Client, Secured, secured
from kit.services import serve
from kit.waiting import until
from salvo import messages as m
from salvo.codec.command_writer import write_participation
from salvo.net.mqtt import Connection
from salvo.permissions import Role
from salvo.rules import Fleet, RuleBook
from salvo.view import Shot, View
from salvo_lab.bots.random_bot import RandomBot
from salvo_server.storage.register import Account

TEAMS = ("red", "blue", "green")
HALL = Account("hall", "hall", Role.WATCHER, "secret-of-hall")
LINE = {"from": "red", "text": "Ahoy!"}


class Table:
    """A server with three teams in its lobby, on a broker that knows who is who.

    Attributes:
        clients: by user: the teams, a screen of blue's, and the hall; all read whatever they may.
    """

    def __init__(self, broker: Secured, stack: contextlib.ExitStack) -> None:
        accounts = {account.user: account for account in contest(*TEAMS, others=[HALL])}
        users = (*TEAMS, "blue.1", "hall")
        self.clients = {user: stack.enter_context(Client(broker.port, accounts[user])) for user in users}
        for client in self.clients.values():
            client.subscribe(["#"])
        hall = self.clients["hall"]
        hall.until(lambda: any(topic == "/game/server" for topic, _, _ in hall.heard))  # said once it has subscribed
        for team in TEAMS:
            request = write_participation(team, f"secret-of-{team}").decode()
            self.clients[team].publish(["/game/request_participation"], request)
        hall.wait_for("/players/list", json.dumps(TEAMS, separators=(",", ":")))

    def say(self, user: str, player: str, text: str, **more: str) -> None:
        self.clients[user].publish([f"/players/{player}/say"], json.dumps({"text": text, **more}))

    def heard(self, user: str) -> list[tuple[str, str, str]]:
        """Last level, sender and text of the lines that somebody has heard, but for those that say it is all."""
        said = [(t, json.loads(p)) for t, p, _ in self.clients[user].heard if t.endswith(("/chat", "/message"))]
        lines = [(topic.rpartition("/")[2], line["from"], line["text"]) for topic, line in said]
        return sorted(line for line in lines if line[2] != "that is all")

    def settle(self) -> None:
        """Let every team say a last line, which comes behind all that it has sent before; wait until all are heard."""
        for team in TEAMS:
            self.say(team, team, "that is all")
            for client in self.clients.values():
                client.wait_for("/game/chat", f'{{"from":"{team}","text":"that is all"}}')


@pytest.fixture(params=BROKERS)
def table(request: pytest.FixtureRequest) -> Iterator[Table]:
    with secured(request.param, contest(*TEAMS, others=[HALL]), ("",)) as broker, contextlib.ExitStack() as stack:
        url = f"mqtt://127.0.0.1:{broker.port}"
        connection = Connection(url, "", username=SERVER.user, password=SERVER.secret, clean_session=True)
        service = serve(connection, [""], seed=7)
        stop = threading.Event()
        serving = threading.Thread(target=service.run, args=(stop,), daemon=True)
        serving.start()
        yield Table(broker, stack)
        stop.set()
        connection.wake()
        serving.join(60)
        connection.close()
        service.gate.close()


def test_everybody_hears_what_is_said_to_everybody_and_one_player_what_is_said_to_it(table: Table) -> None:
    table.say("red", "red", "Ahoy!")
    table.say("red", "red", "you are next", to="blue")
    table.settle()
    public = [("chat", "red", "Ahoy!")]
    for user in ("red", "green", "hall"):
        assert table.heard(user) == public, user
    for user in ("blue", "blue.1"):
        assert table.heard(user) == [*public, ("message", "red", "you are next")], user
    assert not any(topic.endswith("/say") for user in table.clients for topic, _, _ in table.clients[user].heard)


def test_nobody_says_anything_in_anothers_name_and_onlookers_say_nothing(table: Table) -> None:
    table.say("blue", "red", "I give up")
    table.say("blue.1", "blue", "from the screen")
    table.say("hall", "red", "from the hall")
    for user in ("blue", "hall"):
        table.clients[user].publish(["/game/chat", "/players/red/message"], json.dumps(LINE))
    table.settle()
    for user in table.clients:
        assert table.heard(user) == [], user


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
