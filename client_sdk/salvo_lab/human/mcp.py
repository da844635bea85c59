"""A language model at the desk: its program calls tools of the Model Context Protocol over standard input and output.

``salvo play mcp hunter`` and ``salvo join URL mcp`` are programs that an MCP client starts. The fleet is drawn. Every
answer has the game, the turn and the state; a call that is lost or repeated changes nothing, because a salvo names the
turn that it is for, and news have numbers.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from typing import Any, Final

import anyio

from salvo.distribution import __version__
from salvo.errors import BotError, IllegalCommand, MissingExtra
from salvo.player import check_salvo
from salvo.rules import Fleet, Grid
from salvo.view import Shot
from salvo_lab.human.channel import (
    Broken,
    Channel,
    Clock,
    FleetAsked,
    Line,
    Link,
    Notice,
    Over,
    Salvo,
    Seen,
    game_thread,
)
from salvo_lab.human.channel import News as DeskNews
from salvo_lab.human.snapshot import Snapshot

try:
    from mcp.server import MCPServer
except ImportError:
    raise MissingExtra("playing as a language model", "mcp") from None

#: How many of the latest news an answer may have.
MAX_NEWS: Final = 50
#: How long one call waits for a turn; clients give up on a call after a minute.
MAX_WAIT_SECONDS: Final = 45.0
#: How often the desk is looked at meanwhile.
_LOOK_SECONDS: Final = 0.05


class Tools:
    """What a model knows of its games, and does in them.

    Attributes:
        error: what ended it; None while it goes on, and when the client has left.
    """

    def __init__(self, desk: Channel) -> None:
        self.error: BaseException | None = None
        self._desk = desk
        self._rules: dict[str, Any] = {}
        self._sight: Snapshot | None = None
        self._over: Over | None = None
        self._news: list[str] = []
        self._trouble = ""
        self._deadline: float | None = None

    def _look(self) -> None:
        """Take in what has happened."""
        for news in self._desk.news():
            self._receive(news)

    def _receive(self, news: DeskNews) -> None:
        match news:
            case FleetAsked(rules, me, game, random):
                self._sight = self._over = None
                fleet = rules.random_fleet(random)
                self._rules = _described(fleet, me, game)
                self._desk.answer(fleet)
            case Seen(sight):
                self._sight = sight
            case Notice(text, player):
                self._news.append(f"{player}: {text}" if player else text)
            case Over():
                self._over = news
            case Clock(_, deadline):
                self._deadline = deadline
            case Link(trouble):
                self._trouble = trouble
            case Broken(error):
                self.error = error

    @property
    def state(self) -> str:
        """What the player can do: ``lobby``, ``your turn``, ``waiting``, ``over`` or ``failed``."""
        if self.error is not None:
            return "failed"
        if self._over is not None:
            return "over"
        if self._sight is None:
            return "lobby"
        return "your turn" if self._sight.shots else "waiting"

    # --- the tools

    async def rules(self) -> dict[str, Any]:
        """Return the rules of the game and your fleet; a cell is its row's letter and column's number: B3."""
        self._look()
        return self._answer(**self._rules)

    async def wait_for_turn(self, seconds: float = 20, since: int = 0) -> dict[str, Any]:
        """Wait until it is your turn or the game is over; at most 45 seconds, then call again.

        Args:
            since: the number of the last news that you have seen; newer ones are in the answer, 50 at most.
        """
        self._look()
        end = time.monotonic() + min(seconds, MAX_WAIT_SECONDS)
        while self.state in ("lobby", "waiting") and time.monotonic() < end:
            await anyio.sleep(_LOOK_SECONDS)
            self._look()
        first = max(since, len(self._news) - MAX_NEWS, 0)
        news = [{"number": number, "text": text} for number, text in enumerate(self._news[first:], first + 1)]
        return self._answer(news=news)

    async def view(self) -> dict[str, Any]:
        """Return all boards as you know them, row by row, and what was sunk.

        In a board, ✖ is a hit, ✘ a hit of a ship that has sunk, ○ a miss, ● a shot whose result is not announced, ■ a
        ship of yours, and · water or unknown.
        """
        self._look()
        sight = self._sight
        if sight is None:
            return self._answer()
        width = sight.rules.grid.width
        boards = {
            player: [board[first : first + width] for first in range(0, len(board), width)]
            for player, board in sight.boards.items()
        }
        return self._answer(
            me=sight.me,
            boards=boards,
            sunk={player: list(ships) for player, ships in sight.sunk.items()},
            defeated=list(sight.out),
            points=dict(sight.points),
            shot_at_you=[sight.rules.grid.name_at(x, y) for x, y in sight.incoming],
        )

    async def fire(self, game: int, turn: int, shots: list[str], fired: int = 0) -> dict[str, Any]:
        """Fire the whole salvo of a turn.

        Args:
            game: as in the last answer.
            turn: as in the last answer.
            shots: as many cells as ``shots_left``, such as ["B3", "C7"]; with several opponents, ["red B3", "blue C7"].
            fired: how many shots of this turn you have fired before; only under rules with several salvos a turn.
        """
        self._look()
        sight = self._sight
        if self.state != "your turn" or sight is None:
            return self._refused("not_your_turn", f"the state is {self.state!r}; call wait_for_turn")
        now = (sight.game, sight.turn, len(sight.fired_this_turn))
        if (game, turn, fired) != now:
            text = f"game {game}, turn {turn}, {fired} fired; it is game {now[0]}, turn {now[1]}, {now[2]} fired"
            return self._refused("stale_turn", f"{text}: nothing was changed")
        try:
            salvo = check_salvo([_shot(shot, sight) for shot in shots], sight)
        except (BotError, IllegalCommand) as error:
            return self._refused(error.code, error.text)
        if len(salvo) != sight.shots and not sight.rules.skipping:
            return self._refused("bad_salvo", f"{len(salvo)} shots; this salvo has {sight.shots}")
        self._desk.answer(Salvo(game, turn, salvo))
        self._sight = sight.after(salvo)
        return self._answer(accepted=True)

    async def chat(self, text: str, to: str = "") -> dict[str, Any]:
        """Write a line to everybody, or to one player; in a contest."""
        self._look()
        if not self._desk.chat:
            return self._refused("chat_off", "nobody reads chat in a game on one machine")
        self._desk.answer(Line(text, to))
        return self._answer(accepted=True)

    def _answer(self, **more: Any) -> dict[str, Any]:
        sight, over = self._sight, self._over
        answer: dict[str, Any] = {
            "game": over.game if over is not None else sight.game if sight is not None else self._rules.get("game", 0),
            "turn": 0 if sight is None else sight.turn,
            "state": self.state,
            "shots_left": 0 if sight is None or over is not None else sight.shots,
        }
        deadline = self._deadline if sight is None or sight.deadline is None else sight.deadline
        if deadline is not None and over is None:
            answer["seconds_left"] = round(max(0.0, deadline - time.monotonic()), 1)
        if self._trouble:
            answer["trouble"] = self._trouble
        if over is not None:
            answer |= {"winner": over.winner, "places": dict(over.places), "aborted": over.aborted}
        if self.error is not None:
            answer["error"] = str(self.error)
        return answer | more

    def _refused(self, code: str, text: str) -> dict[str, Any]:
        return self._answer(accepted=False, code=code, text=text)


def _described(fleet: Fleet, me: str, game: int) -> dict[str, Any]:
    rules, grid = fleet.book, fleet.book.grid
    cells = {place.ship: [grid.name(cell) for cell in place.cells(rules)] for place in fleet.placements}
    return {
        "game": game,
        "me": me,
        "rules": rules.name,
        "grid": {"columns": grid.width, "rows": grid.height, "cells": f"A1 to {grid.name(grid.size - 1)}"},
        "ships": {ship.name: ship.length for ship in rules.fleet},
        "spacing": str(rules.spacing),
        "your_fleet": cells,
    }


def _shot(text: str, sight: Snapshot) -> Shot:
    """Read ``B3`` or ``red B3``.

    Raises:
        BotError: ``bad_salvo``.
        IllegalCommand: ``off_grid``.
    """
    words = text.split()
    names, cell = words[:-1], "".join(words[-1:])
    opponents = [player for player in sight.players if player != sight.me and player not in sight.out]
    if not cell or len(names) > 1 or (not names and len(opponents) != 1):
        raise BotError("bad_salvo", f"{text[:40]!r} is not a shot: give a player and a cell, such as {opponents[0]} B3")
    target = names[0] if names else opponents[0]
    grid: Grid = sight.rules.grid
    return Shot(target, *grid.at(cell))


def sit_down(desk: Channel, play: Callable[[], None]) -> None:
    """Serve the tools until the client closes standard input or the game fails.

    Args:
        play: plays games over the channel; runs on a separate thread and ends by ``PersonLeft``.

    Raises:
        Exception: whatever the game raised.
    """
    tools = Tools(desk)
    with game_thread(desk, play) as game:
        anyio.run(_serve, tools, game)
    if tools.error is not None:
        raise tools.error


async def _serve(tools: Tools, game: threading.Thread) -> None:
    @contextlib.asynccontextmanager
    async def playing(_: MCPServer[None]) -> AsyncIterator[None]:
        game.start()  # not before: from here on, standard output is the protocol's, and what bots print goes elsewhere
        yield

    how = "Battleship. Call rules, then wait_for_turn, view and fire until the state is over."
    server: MCPServer[None] = MCPServer("salvo", instructions=how, version=__version__, lifespan=playing)
    for tool in (tools.rules, tools.wait_for_turn, tools.view, tools.fire, tools.chat):
        server.add_tool(tool)
    with contextlib.redirect_stdout(sys.__stdout__):
        await server.run_stdio_async()
