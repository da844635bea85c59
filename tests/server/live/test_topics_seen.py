"""What somebody who subscribes to everything sees: exactly the topics of the table, in the order of SALVO-TOPIC-4."""

from __future__ import annotations

import itertools
import threading

import pytest

from kit.brokers import Broker, StartServer
from kit.observer import Observer, announced, placed
from kit.players import SECONDS
from salvo.codec.announcement_reader import read_announcement
from salvo.codec.log_reader import read_entry, take_apart
from salvo.join import client
from salvo.net.inbound import Inbound
from salvo.rules import Fleet, RuleBook
from salvo.wire import topics
from salvo.wire.topics import Publisher, Reader
from salvo_lab.bots.hunter import Hunter

OURS = [topic.name for topic in topics.TOPICS if topic.publisher is Publisher.SERVER]
_PRINTED = ("sunk_as_printed", "defeated_as_printed")


class Chatty(Hunter):
    """Says something to everybody."""

    def place_fleet(self, rules: RuleBook) -> Fleet:
        self.say("Ahoy!")
        return super().place_fleet(rules)


#: What an empty lobby has besides its state (SALVO-JOIN-10, SALVO-TOPIC-5).
EMPTY = ("/players/count", "/players/list", "/game/headline")


def play_bots(url: str, names: list[str], watch: Observer) -> None:
    """Let bots play one game, in the order of the names."""
    threads = []
    for name in names:
        thread = threading.Thread(
            target=client.play, args=(Chatty(), url, name, f"secret {name}"), kwargs={"seed": "7"}, daemon=True
        )
        thread.start()
        threads.append(thread)
        watch.until(lambda seen, name=name: placed(seen, name) == 5)  # type: ignore[misc]
    watch.until(announced("/game/state", b"over"))
    for thread in threads:
        thread.join(SECONDS)


@pytest.mark.long
def test_every_topic_of_a_game_is_in_the_table_and_in_order(
    broker: Broker, start_server: StartServer, observer: Observer
) -> None:
    names = ["ann", "bob", "cy"]
    with start_server(players=3, over_seconds=1):
        observer.until(announced("/game/headline", b"game 1, lobby: 0 teams, 0 complete fleets"))
        seen = [x.topic for x in observer.seen if x.topic != "/game/log"]
        assert seen == ["/game/league", "/game/server", "/game/rules", "/game/state", *EMPTY]
        play_bots(broker.url, names, observer)
        observer.until(lambda seen: [x.payload for x in seen if x.topic == "/game/state"][-1] == b"lobby")
        late = Observer(broker.url)
        retained = {"/game/league", "/game/state", "/game/rules", "/game/server", "/game/standings", *EMPTY}
        late.until(lambda seen: retained <= {x.topic for x in seen})
        assert {x.topic for x in late.seen} == retained
        assert all(x.retain for x in late.seen)
        late.close()
    _check_payloads(observer.seen)
    _check_order([_name(x) for x in observer.seen if x.payload], len(names))


def _name(message: Inbound) -> str:
    return topics.parse(message.topic).topic.name


def _check_payloads(seen: list[Inbound]) -> None:
    """Every topic is of the table; the server's payloads read back as what they announce."""
    for message in seen:
        address = topics.parse(message.topic)
        if address.topic.name in ("count", "current", "hits", "sunk", "defeated", "recap", "headline", *_PRINTED):
            assert b"{" not in message.payload or address.topic is topics.RECAP
        elif address.topic is topics.LOG:
            read_entry(take_apart(message.payload)[0])
        elif address.topic.publisher is Publisher.SERVER and message.payload:
            assert read_announcement(address, message.payload) is not None
        elif address.topic is topics.PLACE:
            assert b"coordinates" not in message.payload  # sealed
    public = {topic.name for topic in topics.TOPICS if topic.reader is Reader.EVERYBODY}
    # In other books, after requests that no bot of ours makes, and where there is a host.
    elsewhere = {"board", "fleet", "request_error", "hosted"}
    assert public - {_name(message) for message in seen} == elsewhere


def _check_order(names: list[str], count: int) -> None:
    """The announcements between two salvos come in the order of SALVO-TOPIC-4."""
    kinds = [
        name for name in names if name in OURS and name not in ("log", "chat", "standings", "headline", "league")
    ]  # whose order is their own business
    # Without "current" a turn is the same one, which has more time because the machine was held up.
    kinds = [a for a, b in itertools.zip_longest(kinds, kinds[1:]) if a != "turn" or b == "current"]
    start = kinds.index("turn")
    assert kinds[start - 1 : start + 2] == ["state", "turn", "current"]
    # A team repeats a placement whose approval is late on a busy machine; the answer may then come in the game.
    rest = [name for name in kinds[start + 2 :] if name not in ("approved", "error", "placement_error")]
    over = rest.index("winner")
    assert rest[over - count : over + 2] == ["stats"] * count + ["winner", "state"]
    order = {"hit": 0, "hits": 1, "result": 2, "sunk": 3, "defeated": 4, "turn": 5, "current": 6, "stats": 7}
    plain = [name.removesuffix("_as_printed") for name in rest[:over]]
    salvo: list[int] = []
    salvos = 0
    for name in plain:
        if name == "hit" and salvo and salvo[-1] > 0:
            assert salvo == sorted(salvo)
            assert [salvo.count(order[once]) for once in ("hits", "result", "turn", "current")] == [1, 1, 1, 1]
            salvo, salvos = [], salvos + 1
        salvo.append(order[name])
    assert salvo == sorted(salvo)
    assert salvos > 10
