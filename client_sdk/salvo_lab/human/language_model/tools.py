"""A language model at the desk: its program calls tools of the Model Context Protocol over standard input and output.

``salvo play mcp hunter`` and ``salvo join URL mcp`` are programs that an MCP client starts. The fleet is drawn. Every
answer has the game, the turn and the state; a call that is lost or repeated changes nothing, because a salvo names the
turn that it is for, and news have numbers. A model that has forgotten a game, or is started in the middle of one, gets
all of it again from ``rules`` and ``view``.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any, Final

import anyio

from salvo.bots.player import check_salvo
from salvo.errors import BotError, IllegalCommand, MissingExtra
from salvo.messages import SalvoResolved
from salvo.rules import Announce, Fleet, Grid, RuleBook
from salvo.system.distribution import __version__
from salvo.view import Shot
from salvo_lab.human.channel import (
    Broken,
    Channel,
    Clock,
    FiredSalvo,
    GameOver,
    Line,
    LinkState,
    Notice,
    PlaceFleet,
    RulesTold,
    Seen,
    game_thread,
)
from salvo_lab.human.channel import DeskMessage as DeskNews
from salvo_lab.human.language_model.rules_in_words import rules_in_words
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
#: What the client tells the model before the first call.
_HOW: Final = """\
Battleship against one or more other players, whose ships you find by firing at cells. Call `rules` first: they differ.
Then repeat until the state is over: `wait_for_turn`, `view`, and `fire` with as many cells as shots_left.
`view` has the boards and every salvo so far with its cells and its number of hits. Reason from these: where only the
number is announced, a board cannot show which shots of a salvo hit.
Your fleet is placed for you. If you have lost track of the game, `rules` and `view` have all that you may know.
In a contest another game follows: call `wait_for_turn` again when one is over.
"""


class Tools:
    """What a model knows of its games, and does in them.

    Attributes:
        error: what ended it; None while it goes on, and when the client has left.
    """

    def __init__(self, desk: Channel) -> None:
        self.error: BaseException | None = None
        self._desk = desk
        self._book: RuleBook | None = None
        self._turn_seconds: int | None = None
        self._fleet: Fleet | None = None
        self._me, self._game = "", 0
        self._over_seen = False  # whether an answer had the end of this game
        self._sight: Snapshot | None = None
        self._over: GameOver | None = None
        self._news: list[str] = []
        self._trouble = ""
        self._deadline: float | None = None

    def _look(self) -> None:
        """Take in what has happened."""
        for news in self._desk.news():
            self._receive(news)

    def _receive(self, news: DeskNews) -> None:
        match news:
            case RulesTold(rules, seconds):
                self._turn_seconds = seconds
                if self._sight is None:
                    self._book = rules
            case PlaceFleet(rules, me, game, random):
                self._sight = self._over = None
                self._over_seen = False
                self._book, self._me, self._game = rules, me, game
                self._fleet = rules.random_fleet(random)
                self._desk.answer(self._fleet)
            case Seen(sight):
                self._sight = sight
                self._book, self._me, self._game, self._fleet = sight.rules, sight.me, sight.game, sight.fleet
            case Notice(text, player):
                self._news.append(f"{player}: {text}{self._squares(player)}" if player else text)
            case GameOver(game, winner, places):
                self._over, self._over_seen = news, False
                how = "was aborted" if news.aborted else f"is over: {winner or 'no one alone'} wins"
                self._news.append(f"game {game} {how}; places: {dict(places)}")
            case Clock(_, deadline):
                self._deadline = deadline
            case LinkState(trouble):
                self._trouble = trouble
            case Broken(error):
                self.error = error

    def _squares(self, player: str) -> str:
        """Return where the salvo fell whose result has come in, if it is the own one and the result does not say so."""
        sight = self._sight
        if sight is None or player != sight.me or sight.rules.announce is not Announce.COUNT:
            return ""
        return f" (fired at {', '.join(_cells(sight.fired_this_turn, sight))})" if sight.fired_this_turn else ""

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

    @property
    def _waits(self) -> bool:
        """Whether something is to come; after a game of a contest that the model knows to be over, the next one."""
        next_game = self.state == "over" and self._over_seen and self._desk.lobbies
        return next_game or self.state in ("lobby", "waiting")

    # --- the tools

    async def rules(self) -> dict[str, Any]:
        """Return the rules of the game, how cells are named, and your fleet; waits until they are known."""
        self._look()
        end = time.monotonic() + MAX_WAIT_SECONDS
        while self._book is None and self.state != "failed" and time.monotonic() < end:
            await anyio.sleep(_LOOK_SECONDS)
            self._look()
        if self._book is None:
            return self._answer(text="the table has not announced its rules yet; call rules again")
        book, grid = self._book, self._book.grid
        fleet = [] if self._fleet is None or self._fleet.book != book else self._fleet.placements
        return self._answer(
            me=self._me,
            rules=book.name,
            how_to_play=rules_in_words(book, self._turn_seconds),
            grid={"columns": grid.width, "rows": grid.height, "cells": f"A1 to {grid.name(grid.size - 1)}"},
            ships={ship.name: ship.length for ship in book.fleet},
            your_fleet={place.ship: [grid.name(cell) for cell in place.cells(book)] for place in fleet},
        )

    async def wait_for_turn(self, seconds: float = 20, since: int = 0) -> dict[str, Any]:
        """Wait until it is your turn or the game is over; at most 45 seconds, then call again.

        ``state`` is "your turn": fire ``shots_left`` shots within ``seconds_left``; "waiting": for the others; "lobby":
        for the game to begin; "over": see winner and places, and in a contest call again for the next game; "failed".

        Args:
            since: the number of the last news that you have seen; newer ones are in the answer, 50 at most.
        """
        self._look()
        end = time.monotonic() + min(seconds, MAX_WAIT_SECONDS)
        while self._waits and time.monotonic() < end:
            await anyio.sleep(_LOOK_SECONDS)
            self._look()
        first = max(since, len(self._news) - MAX_NEWS, 0)
        news = [{"number": number, "text": text} for number, text in enumerate(self._news[first:], first + 1)]
        return self._answer(news=news)

    async def view(self, since: int = 0) -> dict[str, Any]:
        """Return all that you know of the game: boards, row by row from A1 on, every salvo, and what was sunk.

        In a board, ✖ is a hit, ✘ a hit of a ship that has sunk, ○ a miss, ● a shot of which you know only how many of
        its salvo hit, ■ a ship of yours, and · water or unknown.

        ``salvos`` has each turn of each player: ``hits`` of ``fired`` shots, the ships ``sunk``, and, as far as the
        rules tell, the cells in ``shots``, with ``outcomes`` hit (true) or miss of each in this order.

        Args:
            since: only salvos of later turns than this one; 0 for all.
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
            salvos=[_salvo(result, sight) for result in sight.results if result.turn > since],
            shot_at_you=[sight.rules.grid.name_at(x, y) for x, y in sight.incoming],
        )

    async def fire(self, game: int, turn: int, shots: list[str], fired: int = 0) -> dict[str, Any]:
        """Fire the whole salvo of a turn; what it hits is in the next answers of wait_for_turn and view.

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
        self._desk.answer(FiredSalvo(game, turn, salvo))
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
            "game": self._game if over is None else over.game,
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
            self._over_seen = True
            answer |= {"winner": over.winner, "places": dict(over.places), "aborted": over.aborted}
        if self.error is not None:
            answer["error"] = str(self.error)
        return answer | more

    def _refused(self, code: str, text: str) -> dict[str, Any]:
        return self._answer(accepted=False, code=code, text=text)


def _salvo(result: SalvoResolved, sight: Snapshot) -> dict[str, Any]:
    """Return a turn of any player, as far as the rules tell."""
    shots = sight.own.get(result.turn) or [Shot(*aim) for aim in result.aims_if_announced or ()]
    outcomes = result.outcomes_if_announced
    return {
        "turn": result.turn,
        "player": result.player,
        **({"shots": _cells(shots, sight)} if shots else {}),
        "fired": result.shots,
        "hits": result.hits,
        **({"outcomes": list(outcomes)} if outcomes is not None else {}),
        "sunk": [f"{ship.ship} of {ship.player}" for ship in result.sunk],
        **({"defeated": list(result.defeated)} if result.defeated else {}),
    }


def _cells(shots: Iterable[Shot], sight: Snapshot) -> list[str]:
    """Return shots as :func:`_shot` reads them: ``B3``, or with several opponents ``red B3``."""
    grid, many = sight.rules.grid, len(sight.players) > 2
    return [f"{shot.player} " * many + grid.name_at(shot.x, shot.y) for shot in shots]


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

    server: MCPServer[None] = MCPServer("salvo", instructions=_HOW, version=__version__, lifespan=playing)
    for tool in (tools.rules, tools.wait_for_turn, tools.view, tools.fire, tools.chat):
        server.add_tool(tool)
    with contextlib.redirect_stdout(sys.__stdout__):
        await server.run_stdio_async()
