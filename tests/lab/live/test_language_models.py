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


def _run(arguments: list[str], use: Callable[[Client], Any]) -> Any:
    from mcp.client.client import Client  # only here: every process that collects tests would pay for it
    from mcp.client.stdio import StdioServerParameters

    async def session() -> Any:
        parameters = StdioServerParameters(command=sys.executable, args=["-m", "salvo", *arguments])
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
        assert described["ships"] == {"carrier": 5, "battleship": 4, "destroyer": 3, "submarine": 3, "patrolboat": 2}
        assert sorted(described["your_fleet"]) == sorted(described["ships"])

    _run(["play", "mcp", "random", "--seed", "3", "--rules", "standard"], use)


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
