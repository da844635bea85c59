"""A language model plays by tools, called by a client of the official package over standard input and output."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from kit.brokers import Broker, StartServer
from kit.players import Announced, join
from salvo_lab.bots.random_bot import RandomBot

if TYPE_CHECKING:
    from mcp.client.client import Client

#: A game of some ten turns.
PUDDLE = """\
name = "puddle"
like = "salvo"
width = 4
height = 3
[fleet]
boat = 2
raft = 1
"""
CELLS = [f"{row}{column}" for row in "ABC" for column in range(1, 5)]
Answer = dict[str, Any]


class Model:
    """Calls the tools of ``salvo play`` or ``salvo join``, and fires row by row, then from the first cell again.

    Attributes:
        repeats: whether each call that changes something is made twice.
    """

    def __init__(self, client: Client, *, repeats: bool = False) -> None:
        self._client = client
        self.repeats = repeats

    async def call(self, tool: str, **arguments: object) -> Answer:
        """Return what a tool answers."""
        result = await self._client.call_tool(tool, arguments)
        assert result.structured_content is not None, result
        answer: Answer = result.structured_content
        return answer

    async def play(self) -> Answer:
        """Play to the end of the game; return the last answer, with all news."""
        cells = itertools.cycle(CELLS)  # the last salvo may be larger than the number of cells left
        while (waited := await self.call("wait_for_turn"))["state"] in ("lobby", "waiting", "your turn"):
            if waited["state"] != "your turn":
                continue
            shots = list(itertools.islice(cells, waited["shots_left"]))
            call = {"game": waited["game"], "turn": waited["turn"], "shots": shots}
            fired = await self.call("fire", **call)
            assert fired["accepted"], fired
            if self.repeats:
                again = await self.call("fire", **call)
                assert (again["accepted"], again["code"] in ("stale_turn", "not_your_turn")) == (False, True), again
        return waited


@pytest.fixture
def puddle(tmp_path: Path) -> str:
    file = tmp_path / "puddle.toml"
    file.write_text(PUDDLE)
    return str(file)


def _run(arguments: list[str], use: Callable[[Client], Any], **environment: str) -> Any:
    from mcp.client.client import Client  # only here: every process that collects tests would pay for it
    from mcp.client.stdio import StdioServerParameters

    async def session() -> Any:
        parameters = StdioServerParameters(command=sys.executable, args=["-m", "salvo", *arguments], env=environment)
        async with Client(parameters) as client:
            return await use(client)

    return anyio.run(session)


def test_a_model_plays_a_whole_game_and_repeated_calls_change_nothing(puddle: str) -> None:
    play = ["play", "mcp", "random", "--seed", "1", "--rules", puddle]
    once = _run(play, lambda client: Model(client).play())
    twice = _run(play, lambda client: Model(client, repeats=True).play())
    assert once["state"] == "over"
    assert once["places"].keys() == {"mcp", "random"}
    assert once == twice


def test_a_wrong_call_is_answered_with_the_reason_and_changes_nothing() -> None:
    async def use(client: Client) -> None:
        model = Model(client)
        assert {tool.name for tool in (await client.list_tools()).tools} == {
            "rules",
            "wait_for_turn",
            "view",
            "fire",
            "chat",
        }
        now = await model.call("wait_for_turn")
        turn = {"game": now["game"], "turn": now["turn"]}
        before = await model.call("view")
        for shots, code, text in (
            (["Z9"], "off_grid", "no cell 'Z9'; cells are A1 to J10"),
            (["A1", "A2"], "bad_salvo", "2 shots; this turn has 1"),
            (["nobody A1"], "bad_salvo", "no player 'nobody'"),
            ([], "bad_salvo", "0 shots; this salvo has 1"),
            (["a b c"], "bad_salvo", "is not a shot: give a player and a cell, such as random B3"),
            ([""], "bad_salvo", "is not a shot"),
        ):
            refused = await model.call("fire", **turn, shots=shots)
            assert (refused["accepted"], refused["code"]) == (False, code), refused
            assert text in refused["text"]
        stale = await model.call("fire", game=now["game"], turn=now["turn"] + 1, shots=["A1"])
        assert stale["code"] == "stale_turn"
        assert (await model.call("chat", text="hello"))["code"] == "chat_off"
        assert await model.call("view") == before
        described = await model.call("rules")
        assert "A turn is one shot. You must fire all shots of a turn." in described["how_to_play"]
        assert described["ships"] == {"carrier": 5, "battleship": 4, "destroyer": 3, "submarine": 3, "patrolboat": 2}
        assert sorted(described["your_fleet"]) == sorted(described["ships"])

    _run(["play", "mcp", "random", "--seed", "3", "--rules", "standard"], use)


def test_a_model_that_has_forgotten_everything_is_told_each_salvo_with_its_cells_and_hits(puddle: str) -> None:
    async def use(client: Client) -> None:
        model = Model(client)
        fired: dict[int, list[str]] = {}
        cells = itertools.cycle(CELLS)
        while (waited := await model.call("wait_for_turn"))["state"] == "your turn":
            fired[waited["turn"]] = list(itertools.islice(cells, waited["shots_left"]))
            turn = {"game": waited["game"], "turn": waited["turn"]}
            await model.call("fire", **turn, shots=fired[waited["turn"]])
        salvos = (await model.call("view"))["salvos"]
        assert {each["turn"]: each["shots"] for each in salvos if each["player"] == "mcp"} == fired
        assert not any("shots" in each for each in salvos if each["player"] == "random")
        for each in salvos:
            of = f" (fired at {', '.join(each['shots'])})" if "shots" in each else ""
            shots = f"{each['fired']} shot{'s' * (each['fired'] > 1)}: {each['hits']} hit{'s' * (each['hits'] != 1)}"
            [_] = [news for news in waited["news"] if shots in news["text"] and news["text"].endswith(of)][:1]
        assert [each["turn"] for each in salvos] == list(range(1, len(salvos) + 1))
        assert (await model.call("view", since=2))["salvos"] == salvos[2:]

    _run(["play", "mcp", "random", "--seed", "1", "--rules", puddle], use)


def test_a_model_that_comes_back_has_rules_fleet_and_salvos_of_its_game(
    broker: Broker, start_server: StartServer, puddle: str, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("ashes")
    join_it = ["join", broker.url, "mcp", "--team", "model", "--seed", "1"]

    async def first(client: Client) -> tuple[Answer, Answer]:
        model = Model(client)
        rules = await model.call("rules")  # as the first call: it is answered when the table has said them
        assert rules["how_to_play"][0].startswith("Each player has a board with hidden ships: boat of 2 cells, raft")
        while (waited := await model.call("wait_for_turn"))["state"] != "your turn":
            pass
        await model.call("fire", game=waited["game"], turn=waited["turn"], shots=CELLS[: waited["shots_left"]])
        view = await model.call("view")
        while not any(each["player"] == "model" for each in view["salvos"]):
            await model.call("wait_for_turn", seconds=1)
            view = await model.call("view")
        return await model.call("rules"), view

    async def again(client: Client) -> tuple[Answer, Answer]:
        model = Model(client)
        while (await model.call("wait_for_turn"))["state"] == "lobby":
            pass
        return await model.call("rules"), await model.call("view")

    with start_server(Announced(), players=2, over_seconds=60, rules=puddle):
        join(broker.url, "random", RandomBot())
        rules, view = _run(join_it, first, SALVO_SECRET_FILE=str(secret))
        rules_again, view_again = _run(join_it, again, SALVO_SECRET_FILE=str(secret))
    for name in ("how_to_play", "your_fleet", "me"):
        assert rules[name] == rules_again[name]
    assert any(line.startswith("A turn takes ") for line in rules["how_to_play"]), rules["how_to_play"]
    [mine] = [each for each in view["salvos"] if each["player"] == "model"]
    assert mine["shots"] == CELLS[: mine["fired"]]
    assert view_again["salvos"][: len(view["salvos"])] == view["salvos"]


def test_a_model_plays_in_a_contest(broker: Broker, start_server: StartServer, puddle: str) -> None:
    async def use(client: Client) -> Answer:
        model = Model(client)
        result = await model.play()
        assert (await model.call("chat", text="good game"))["accepted"]
        return result

    with start_server(Announced(), players=2, over_seconds=60, rules=puddle):
        join(broker.url, "random", RandomBot())
        over = _run(["join", broker.url, "mcp", "--team", "model", "--seed", "1"], use)
    assert over["places"].keys() == {"model", "random"}
