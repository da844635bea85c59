"""A bot as a program of Code Smackdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from salvo.bots.adapter import Adapter
from salvo.bots.player import Bot
from salvo.join.client import GameReport
from salvo.messages import PlayerStats, SalvoResolved
from salvo.rules import Grid, Orientation, RuleBook, ShipClass
from salvo.rules.board import UnplayableBook
from salvo.rules.books.smackdown import SMACKDOWN
from salvo.view import Feed, Shot, View
from salvo_gateways.asking import call, fleet_of, seated, shots_of
from salvo_gateways.bot_clients import BotClient
from salvo_gateways.errors import GatewayError
from salvo_gateways.smackdown.protocol_text import END, LOCATIONS, LOST, SHOTS, TIED, WON

#: A round's turns: first the bot's, then its opponent's.
_TURNS: Final = 2


class SmackdownBotClient(BotClient):
    """One game."""

    def __init__(self, bot: Bot | Adapter, me: str, opponent: str, seed: str) -> None:
        """Take a seat.

        Args:
            seed: for this game alone.
        """
        self._bot = seated(bot, me, seed)
        self._me = me
        self._opponent = opponent
        self._grid = SMACKDOWN.grid
        self._sizes: list[int] = []
        self._view: View | None = None
        self._round = 0
        self._fallen: dict[str, list[tuple[Shot, bool]]] = {me: [], opponent: []}
        self._winner: str | None = None  # empty for a tie

    @property
    def over(self) -> bool:
        return self._winner is not None

    def receive(self, message: str) -> Sequence[str]:
        """Return the answer to a query; what the protocol does not have is ignored."""
        match message.strip().split("|"):
            case ["", "INFO", "grid size", size, "END", ""]:
                width, height = _numbers(size)
                self._grid = Grid(width, height)
            case ["", "INFO", "ship sizes", *sizes, "END", ""]:
                self._sizes = [number for size in sizes for number in _numbers(size)]
            case ["", "QUERY", about, "END", ""] if about == LOCATIONS:
                return [self._placed()]
            case ["", "QUERY", about, most, "END", ""] if about == SHOTS:
                [shots] = _numbers(most)
                return [self._fired(shots)]
            case ["", "INFO", about, cell, "END", ""]:
                self._note_shot(about, cell)
            case ["", "INFO", about, "END", ""] if about in (WON, LOST, TIED):
                self._winner = {WON: self._me, LOST: self._opponent, TIED: ""}[about]
                self._resolve_round()
            case ["", "INFO", about, "END", ""] if about == END:
                self.end()
        return ()

    def _placed(self) -> str:
        book = self._book()
        fleet = fleet_of(self._bot, book)
        self._view = View(book, self._me, (self._me, self._opponent), 1, fleet, self._bot.random)
        left = list(fleet.placements)
        values = []
        for size in self._sizes:
            place = next(place for place in left if len(place.cells(book)) == size)
            left.remove(place)
            way = "H" if place.orientation is Orientation.HORIZONTAL else "V"
            values.append(f"{place.x - 1} {place.y - 1} {way}")
        return _response(LOCATIONS, *values)

    def _book(self) -> RuleBook:
        if self._grid == SMACKDOWN.grid and sorted(self._sizes) == sorted(ship.length for ship in SMACKDOWN.fleet):
            return SMACKDOWN
        ships = tuple(ShipClass(f"ship{number}", size) for number, size in enumerate(self._sizes, start=1))
        try:
            return replace(SMACKDOWN, grid=self._grid, fleet=ships)
        except UnplayableBook as error:
            raise GatewayError("wrong_rules", f"the referee's game cannot be played: {error.text}") from None

    def _fired(self, most: int) -> str:
        view = self._view
        if view is None:
            raise GatewayError("refused_there", "the referee asks for shots before it has asked for ships")
        self._resolve_round()
        self._round += 1
        Feed(view).begin_turn(self._first_turn, most)
        shots = shots_of(self._bot, view)
        Feed(view).fired(shots)
        return _response(SHOTS, *(f"{shot.x - 1} {shot.y - 1}" for shot in shots))

    @property
    def _first_turn(self) -> int:
        return _TURNS * (self._round - 1) + 1

    def _note_shot(self, about: str, cell: str) -> None:
        """Note one shot of the round."""
        who, _, outcome = about.partition(" ")
        if self._view is None or who not in ("you", "opponent") or outcome not in ("hit", "miss"):
            return
        x, y = (number + 1 for number in _numbers(cell))
        shooter, target = (self._me, self._opponent) if who == "you" else (self._opponent, self._me)
        self._fallen[shooter].append((Shot(target, x, y), outcome == "hit"))
        if shooter == self._opponent and 1 <= x <= self._grid.width and 1 <= y <= self._grid.height:
            Feed(self._view).landed(Shot(target, x, y))

    def _resolve_round(self) -> None:
        """Show the bot what came of the last round."""
        if self._view is None or not any(self._fallen.values()):
            return
        for number, (shooter, shots) in enumerate(self._fallen.items()):
            hits = tuple(hit for _, hit in shots)
            turn = self._first_turn + number
            result = SalvoResolved(1, turn, shooter, len(shots), sum(hits), (), (), hits)
            Feed(self._view).resolved(result)
            call(self._bot.on_result, result)
        self._fallen = {self._me: [], self._opponent: []}

    def end(self) -> None:
        winner = self._winner or ""
        tallies = self._view.tallies if self._view is not None else {}
        place = {name: 1 if winner in ("", name) else 2 for name in (self._me, self._opponent)}
        stats = {
            name: PlayerStats(name, tally.shots, tally.hits, 0, tally.turns, place[name])
            for name, tally in tallies.items()
        }
        call(self._bot.on_game_over, winner, stats)
        self.report = GameReport(1, winner, place[self._me], stats)


def _numbers(text: str) -> list[int]:
    try:
        return [int(word) for word in text.split()]
    except ValueError:
        raise GatewayError("refused_there", f"the referee sends {text[:60]!r} where numbers belong") from None


def _response(about: str, *values: str) -> str:
    return "|".join(["", "RESPONSE", about, *values, "END", ""])
