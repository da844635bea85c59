"""The protocol's messages, one by one, as ``gateways/xbs.txt`` has them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gateways.gateway_hall import Hall, Program
from salvo import messages as m
from salvo.messages import State
from salvo.rules import XBS, Fleet
from salvo_gateways.accounts import RosterAccounts
from salvo_gateways.listener import GatewayDoor
from salvo_gateways.xbs import door
from salvo_gateways.xbs.protocol_text import complete, second_seated_name
from salvo_server.storage.roster import Roster

BOARD = ".........................B..EE.....B....CCC..B.........B....................DDD............AAAAA...."
_FILE = Path(__file__).parent / "conversations" / "xbs.txt"


@dataclass
class Scene:
    """A part of the file."""

    name: str
    first: int
    steps: list[str]
    settings: dict[str, int] = dataclasses.field(default_factory=dict)


def scenes() -> Iterator[Scene]:
    scene: Scene | None = None
    for number, line in enumerate(_FILE.read_text().splitlines(), start=1):
        text = line.split("   # ")[0]
        if text.startswith("== "):
            if scene is not None:
                yield scene
            scene = Scene(text[3:], number, [])
        elif scene is not None:
            name, _, value = text.partition(" ")
            if name in ("players", "goal", "over"):
                scene.settings[name] = int(value)
            scene.steps.append(text)
    assert scene is not None
    yield scene


@pytest.mark.long
@pytest.mark.parametrize("scene", list(scenes()), ids=lambda scene: scene.name)
def test_an_xbs_conversation_runs_as_the_protocols_text_has_it(scene: Scene) -> None:
    book = dataclasses.replace(XBS, name="table", goal=scene.settings.get("goal", 17))
    over_ms = 1000 * scene.settings.get("over", 300)
    hall = Hall(book, players=scene.settings.get("players"), over_ms=over_ms)
    example = door(hall.watch, book, title="Example Game", most=4)
    clients: dict[str, Program] = {}
    for number, step in enumerate(scene.steps, start=scene.first + 1):
        name, _, action = step.partition(" ")
        what, text = action[:1], action[2:]
        where = f"{_FILE.name}, line {number}"
        if what == "+":
            clients[name] = hall.come(example, name)
        elif what == ">":
            clients[name].say(text)
        elif what == "<":
            assert clients[name].hear() == text, where
        elif what == ".":
            assert clients[name].hear() == "", where
        elif what == "-":
            clients[name].go()
        elif name == "~":
            hall.wait(float(action))
        else:
            assert not name or name in scene.settings, where


def _two_that_end_a_game_before_the_onlooker_hears_of_it(hall: Hall, example: GatewayDoor) -> list[Program]:
    first, second = clients = [hall.come(example, name) for name in ("ann", "bob")]
    for client in clients:
        client.say(f"J|{client.name}|{BOARD}")
    if "N|bob" in first.received:
        first, second = second, first
    first.say("K|")
    hall.onlooker_is_late = True
    second.say(f"S|{first.name}|6|3")
    return clients


def test_a_client_that_receives_its_result_can_join_the_next_game() -> None:
    """The gateway's onlooker may hear of the end a moment later than the clients, who come again at once."""
    book = dataclasses.replace(XBS, goal=1)
    hall = Hall(book, players=2, over_ms=1000)
    example = door(hall.watch, book)
    clients = _two_that_end_a_game_before_the_onlooker_hears_of_it(hall, example)
    assert not any(client.ended or client.received[-1].startswith("R|") for client in clients)
    hall.onlooker_is_late = False
    hall.settle()
    assert all(client.ended and client.received[-1].startswith("R|") for client in clients)
    assert hall.come(example, "again").hear().split("|")[3] == "N"


def test_a_gateway_sends_results_though_its_viewer_never_receives_the_end() -> None:
    book = dataclasses.replace(XBS, goal=1)
    hall = Hall(book, players=2, over_ms=60_000)
    example = door(hall.watch, book)
    clients = _two_that_end_a_game_before_the_onlooker_hears_of_it(hall, example)
    hall.wait(2)
    assert all(client.ended and client.received[-1].startswith("R|") for client in clients)


def test_a_closing_gateway_sends_results_first() -> None:
    """A server with --games ends with its last game, and its gateways with it."""
    book = dataclasses.replace(XBS, goal=1)
    hall = Hall(book, players=2)
    example = door(hall.watch, book)
    clients = _two_that_end_a_game_before_the_onlooker_hears_of_it(hall, example)
    for client in clients:
        client.handler.dismiss()
    hall.settle()
    assert all(client.ended and client.received[-1].startswith("R|") for client in clients)


def test_a_place_that_a_gateway_left_when_it_was_killed_is_taken_with_a_new_board() -> None:
    """The client got its old board back as if a game were on, and ended."""
    hall = Hall(XBS, players=2)
    first = hall.come(door(hall.watch, XBS), "ann")
    first.say(f"J|ann|{BOARD}")
    hall.kill_gateway()
    [listed] = hall.referee.players.values()
    assert len(listed.placements) == len(XBS.fleet)
    example = door(hall.watch, XBS)
    ann, bob = hall.come(example, "ann"), hall.come(example, "bob")
    ann.hear_all()
    ann.say(f"J|ann|{BOARD[::-1]}")
    assert ann.hear_all() == ["J|ann"]
    bob.say(f"J|bob|{BOARD}")
    assert ann.hear() == "J|bob"
    assert hall.referee.state is State.TURN
    fleet = hall.referee.players["ann"].placements.values()
    assert complete(Fleet(XBS, list(fleet))) == BOARD[::-1]


def test_a_client_that_returns_before_its_leave_is_done_waits_for_its_name() -> None:
    hall = Hall(XBS, players=2)
    example = door(hall.watch, XBS)
    first, second = hall.come(example, "first"), hall.come(example, "second")
    first.say(f"J|ann|{BOARD}")
    second.hear_all()
    first.gone = True  # which its guest has not noticed yet
    hall.programs.reverse()
    second.say(f"J|ann|{BOARD}")
    assert second.hear_all() == ["J|ann"]


def test_a_team_that_the_roster_spells_differently_plays_under_its_own_name(tmp_path: Path) -> None:
    """The first spelling bound a name for ever: everybody else's was in use, at an empty table, also years later."""
    roster = Roster(tmp_path / "roster.json")
    roster.add("Bob")
    for _ in range(2):  # the gateway is started again
        accounts = RosterAccounts(roster, "xbs", sleep=lambda seconds: None)
        hall = Hall(XBS, accounts, players=4)
        example = door(hall.watch, XBS)
        for name, answer in (("wopr", "J|wopr"), ("WOPR", "J|WOPR"), ("bob", "J|bob"), ("Bob", "E|name in use")):
            client = hall.come(example, name)
            client.hear_all()
            client.say(f"J|{name}|{BOARD}")
            assert client.hear() == answer
    names = [member.name for member in roster.members()]
    assert names == ["Bob", "wopr", second_seated_name("WOPR"), second_seated_name("bob")]


def test_each_spelling_comes_back_to_its_own_seat_also_at_a_gateway_that_was_started_again() -> None:
    hall = Hall(XBS, players=2)
    example = door(hall.watch, XBS)
    for name in ("wopr", "WOPR"):
        hall.come(example, name).say(f"J|{name}|{BOARD}")
    hall.kill_gateway()
    example = door(hall.watch, XBS)
    for name in ("WOPR", "wopr"):
        client = hall.come(example, name)
        client.say(f"J|{name}|")
        received = client.hear_all()
        assert received[1:3] == [f"J|{name}", f"Y|{BOARD}"]
        assert f"B|{name}||{'.' * 100}|0|0" in received


def test_what_the_host_does_reaches_the_clients_in_their_own_words() -> None:
    hall = Hall(XBS)
    example = door(hall.watch, XBS)
    clients = [hall.come(example, name) for name in ("ann", "bob")]
    for client in clients:
        client.say(f"J|{client.name}|{BOARD}")

    def received(do: m.HostAction, **argument: Any) -> list[list[str]]:
        for client in clients:
            client.hear_all()
        hall.service.act("", m.HostCommand(m.TERMINAL_HOST, do, **argument))
        hall.settle()
        return [client.hear_all() for client in clients]

    [first] = {line for each in received(m.HostAction.START) for line in each if line.startswith("N|")}
    assert received(m.HostAction.ANNOUNCE, text="Lunch is at noon") == [["M||Lunch is at noon"]] * 2
    for each in received(m.HostAction.SKIP):
        assert f"K|{first[2:]}|skipped by the host" in each
    for each in received(m.HostAction.ABORT):
        assert any(line.startswith("F|aborted|") for line in each)


def test_a_host_who_sets_another_number_of_players_changes_how_many_the_gateway_admits() -> None:
    hall = Hall(XBS, players=2)
    example = door(hall.watch, XBS, most=4)
    first = hall.come(example, "first")
    assert first.hear().split("|")[4:6] == ["2", "2"]
    hall.service.act("", m.HostCommand("desk", m.HostAction.SET, settings=m.NextGame(players=3)))
    hall.service.act("", m.HostCommand("desk", m.HostAction.NEXT))
    hall.settle()
    assert first.hear().split("|")[4:6] == ["3", "3"]  # to a client that has not asked
    for name in ("ann", "bob"):
        client = hall.come(example, name)
        assert client.hear().split("|")[4:6] == ["3", "3"]
        client.say(f"J|{name}|{BOARD}")
    assert hall.referee.state.value == "lobby"
    first.say(f"J|cid|{BOARD}")
    assert hall.referee.state is State.TURN
    assert [line[0] for line in first.hear_all()[:4]] == ["J", "J", "J", "B"]


def test_clients_that_come_at_once_get_no_more_places_than_the_table_has() -> None:
    """The table lists them later, so each of three found a place free, and two of them ended when the game began."""
    hall = Hall(XBS, players=2)
    example = door(hall.watch, XBS, most=9)
    clients = [hall.come(example, name) for name in ("ann", "bob", "cid")]
    for client in clients:
        client.hear_all()
        client.say_at_once(f"J|{client.name}|{BOARD}")
    hall.settle()
    ann, bob, cid = (client.hear_all() for client in clients)
    assert (cid, clients[2].ended) == (["game is full"], True)
    assert [line for line in ann + bob if line.startswith("S|")] != []
    assert not any("cid" in line for line in ann + bob)


@pytest.mark.parametrize(("goal", "told"), [(17, True), (1, False)])
def test_a_server_that_ends_with_its_last_game_is_not_called_offline(goal: int, told: bool) -> None:
    """With --games, clients read that the game waits for the server, just before its results."""
    book = dataclasses.replace(XBS, goal=goal)
    hall = Hall(book, players=2)
    clients = _two_that_end_a_game_before_the_onlooker_hears_of_it(hall, door(hall.watch, book))
    hall.service.go_offline()
    hall.settle()
    hall.wait(2)
    received = [line for client in clients for line in client.hear_all()]
    assert any("the server is offline; the game waits" in line for line in received) is told
    assert any(line.startswith("F|finished") for line in received) is not told
