"""A bot as a player on an Xterm Boat Sinker server."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from salvo.bots.adapter import Adapter
from salvo.bots.player import Bot
from salvo.join.client import GameReport
from salvo.messages import Earlier, PlayerStats, SalvoResolved, Tally
from salvo.rules import Fleet, Grid, RuleBook, ShipClass
from salvo.rules.board import UnplayableBook
from salvo.rules.books.xbs import XBS
from salvo.view import Feed, Shot, View
from salvo_gateways.asking import call, fleet_of, seated, shots_of
from salvo_gateways.bot_clients import BotClient, TryLater
from salvo_gateways.errors import GatewayError
from salvo_gateways.xbs.protocol_text import HIT, MISS, WATER, complete, name_fault, read_board, speakable, write

log = logging.getLogger(__name__)

#: Lines without a type that end a connection, and mean another try later.
_LATER: Final = frozenset({"game is full", "game is already started"})
_IN_USE: Final = "name in use"
_BOAT: Final = re.compile(r"([A-W])([0-9]{1,3})")


class XbsBotClient(BotClient):
    """One game.

    After a lost connection another client with the same name takes the game up again: the server sends the boards.
    Of the turns before that it sends no order, so the bot has their shots and points, and no results.
    """

    def __init__(self, bot: Bot | Adapter, name: str, seed: str) -> None:
        """Wait for the server, which speaks first.

        Args:
            seed: for this game alone.
        """
        self._bot = seated(bot, name, seed)
        self._name = name
        self._book: RuleBook | None = None
        self._fleet: Fleet | None = None
        self._returned = False
        self._boards: dict[str, str] = {}
        self._points: dict[str, int] = {}
        self._skips: dict[str, int] = {}
        self._view: View | None = None
        self._current = ""
        self._unresolved = False  # whether the current turn has no shot yet
        self._results_left: int | None = None  # until the server ends the game
        self._turns = 0  # of each player, when it does
        self._ranking: list[tuple[str, int, int, int]] = []  # player, points, skips, turns

    @property
    def over(self) -> bool:
        return self._results_left is not None

    def receive(self, message: str) -> Sequence[str]:
        """Return what the bot does, and its chat."""
        kind, *values = message.rstrip().split("|")
        try:
            answers = self._answer(kind, values, message)
        except (ValueError, IndexError):
            raise GatewayError("refused_there", f"the server sends {message[:80]!r}, which cannot be read") from None
        return [*answers, *self._chat()]

    def _answer(self, kind: str, values: list[str], line: str) -> Sequence[str]:
        match kind:
            case "G":
                return self._joins(values)
            case "E" if values[0] == _IN_USE:  # by us, until the server notices that an earlier connection is lost
                raise TryLater("server_busy", f"the server answers {values[0]!r} to {self._name}")
            case "E":
                raise GatewayError("refused_there", f"the server refuses {self._name}: {values[0][:80]}")
            case "Y":
                self._returns(values[0])
            case "B":
                self._shows(values)
            case "S":
                self._starts(values)
            case "N":
                return self._turn(values[0])
            case "M":
                self._reads(values)
            case "F":
                self._resolve_without_shot()
                self._turns, self._results_left = int(values[1]), int(values[2])
                self._end_if_complete()
            case "R" if self._results_left is not None:
                self._ranking.append((values[0], int(values[1]), int(values[2]), int(values[3])))
                self._results_left -= 1
                self._end_if_complete()
            case "J" | "H" | "L" | "K" | "P":
                pass
            case _:
                text = line.strip()
                if text in _LATER:
                    raise TryLater("server_busy", f"the server answers {text!r}")
                raise GatewayError("refused_there", f"the server ends the connection: {text[:80]}")
        return ()

    # --- before the game ----------------------------------------------------------------------------------------------

    def _joins(self, values: list[str]) -> Sequence[str]:
        if self._book is not None:
            return ()
        self._book = book = _book(values)
        if fault := name_fault(self._name, book.grid.width):
            text = f"{self._name!r}: {fault}; a name has 2..{book.grid.width} bytes and begins with a letter"
            raise GatewayError("bad_name", text)
        self._fleet = fleet_of(self._bot, book)
        return [write("J", self._name, complete(self._fleet))]

    def _returns(self, board: str) -> None:
        """Take back the fleet of a running game; its server may write hit boats in small letters."""
        assert self._book is not None
        self._fleet = read_board(board.upper().replace(MISS, WATER), self._book)
        if self._fleet is None:
            raise GatewayError("refused_there", "the server sends back a board that cannot be read")
        self._returned = True

    def _starts(self, players: list[str]) -> None:
        assert self._book is not None
        assert self._fleet is not None
        self._view = View(self._book, self._name, players, 1, self._fleet, self._bot.random)
        if self._returned:
            Feed(self._view).summed_up(self._earlier(players))

    def _earlier(self, players: Sequence[str]) -> Earlier:
        """Sum up the boards of a running game; every player has had about as many turns."""
        others = {name: self._boards.get(name, "") for name in players if name != self._name}
        aimed = {
            name: tuple(cell for cell, mark in enumerate(board) if mark != WATER) for name, board in others.items()
        }
        met = {name: tuple(cell for cell, mark in enumerate(board) if mark == HIT) for name, board in others.items()}
        turns = sum(map(len, aimed.values())) // len(players)
        tallies = {name: Tally(turns, turns, self._points.get(name, 0)) for name in players}
        return Earlier(turns * len(players), tallies, (), (), turns, aimed, 0, (), met)

    # --- the game -----------------------------------------------------------------------------------------------------

    def _shows(self, values: list[str]) -> None:
        """Compare a board with what was known of it: the server shows a shot in no other way."""
        player, _, board, points, skips = values[:5]
        assert self._book is not None
        before = self._boards.get(player, WATER * self._book.grid.size)
        if len(board) != self._book.grid.size:
            raise GatewayError("refused_there", f"the server shows a board of {len(board)} cells")
        self._boards[player], self._points[player], self._skips[player] = board, int(points), int(skips)
        if self._view is None or player not in self._view.players:
            return
        fallen = [
            (Shot(player, *self._book.grid.xy(cell)), new == HIT)
            for cell, (old, new) in enumerate(zip(before, board, strict=True))
            if old == WATER != new
        ]
        if player == self._name:
            for shot, _ in fallen:
                Feed(self._view).landed(shot)
            if self._returned:  # what fell before
                self._returned = False
                return
        for shot, hit in fallen:
            self._resolve((shot,), (hit,))

    def _turn(self, player: str) -> Sequence[str]:
        view = self._view
        assert view is not None
        self._resolve_without_shot()
        self._current, self._unresolved = player, True
        mine = player == self._name
        Feed(view).begin_turn(max(view.turn, view.resolved_turn) + 1, int(mine))
        if not mine:
            return ()
        shots = shots_of(self._bot, view, skips=True)
        Feed(view).fired(shots)
        return [write("S", shot.player, shot.x, shot.y) for shot in shots] or [write("K", "")]

    def _resolve_without_shot(self) -> None:
        if self._unresolved:
            self._resolve((), ())

    def _resolve(self, shots: tuple[Shot, ...], hits: tuple[bool, ...]) -> None:
        assert self._view is not None
        if not self._current:
            return
        result = SalvoResolved(1, self._view.turn, self._current, len(shots), sum(hits), (), (), hits, shots)
        self._unresolved = False
        Feed(self._view).resolved(result)
        call(self._bot.on_result, result)

    def _end_if_complete(self) -> None:
        if self._results_left == 0:
            self.end()

    def end(self) -> None:
        if self._results_left:  # by the boards, then, which agree with them
            points = self._points.items()
            self._ranking = [(name, points, self._skips[name], self._turns) for name, points in points]
        place = {
            name: 1 + sum(more > points for _, more, _, _ in self._ranking) for name, points, _, _ in self._ranking
        }
        stats = {
            name: PlayerStats(name, turns - skips, points, 0, turns, place[name])
            for name, points, skips, turns in self._ranking
        }
        best = [name for name, rank in place.items() if rank == 1]
        winner = best[0] if len(best) == 1 else ""
        call(self._bot.on_game_over, winner, stats)
        self.report = GameReport(1, winner, place.get(self._name, 0), stats)

    # --- chat ---------------------------------------------------------------------------------------------------------

    def _reads(self, values: list[str]) -> None:
        sender, text, *group = values
        log.info("%s says%s: %s", sender or "the server", "" if any(group) or not sender else " to us", text)
        call(self._bot.on_message, sender, text, not any(group))

    def _chat(self) -> list[str]:
        return [
            write("M", to, speakable(text)) for text, to in self._bot.lines() if text is not None and to is not None
        ]


def _book(values: list[str]) -> RuleBook:
    """Return the rules that a server announces.

    Raises:
        GatewayError: ``wrong_rules``.
    """
    _, _, _, _, _, _, goal, width, height, count, *boats = values
    found = [_BOAT.fullmatch(boat) for boat in boats[: int(count)]]
    ships = tuple(ShipClass(boat[1].lower(), int(boat[2])) for boat in found if boat is not None)
    try:
        return replace(XBS, grid=Grid(int(width), int(height)), fleet=ships, goal=int(goal))
    except UnplayableBook as error:
        raise GatewayError("wrong_rules", f"the server's game cannot be played: {error.text}") from None
