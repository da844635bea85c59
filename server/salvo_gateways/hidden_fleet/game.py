"""One game of a built-in bot against a program that answers for its own fleet without showing it.

The engine judges all of it: the house's fleet is known, and in place of the program's is one that agrees with its
answers (:mod:`~salvo_gateways.hidden_fleet.replies`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from salvo.adapter import Adapter
from salvo.messages import SalvoResolved
from salvo.player import Bot
from salvo.rules import Fleet, Orientation, Placement, Repeats, RuleBook
from salvo.rules.game import Game, begin
from salvo.view import Feed, Shot, View
from salvo_gateways.accounts import GatewayError
from salvo_gateways.asking import fleet_of, seated, shots_of, tell
from salvo_gateways.hidden_fleet.replies import Replies, Word, kind_of

#: Seats.
GUEST: Final = 0
HOUSE: Final = 1
NAMES: Final = ("guest", "house")


class Move(NamedTuple):
    """One shot and what came of it; ``ship`` is the one that sank, else empty."""

    seat: int
    cell: int
    word: Word
    ship: str


class UnseenGame:
    """One game.

    Attributes:
        moves: all shots that were answered.
        asked: the cell of the house's shot that the program has not answered yet.
        guest_begins: whether the program has the first shot.
        fleet: the house's.
    """

    def __init__(
        self,
        book: RuleBook,
        bot: Bot | Adapter,
        seed: str,
        *,
        guest_begins: bool = True,
        fleet: Fleet | None = None,
        number: int = 1,
    ) -> None:
        """Let the house place its fleet.

        Args:
            bot: plays for the house, with its own randomness.
            seed: decides what the bot draws.
            fleet: the house's, when it is placed already.
            number: the game's, as its players count.
        """
        self._bot = bot = seated(bot, NAMES[HOUSE], seed, number)
        self.book = book
        self.moves: list[Move] = []
        self.asked: int | None = None
        self.guest_begins = guest_begins
        self.fleet = fleet or fleet_of(bot, book)
        self._replies = Replies(book)
        self._game = self._begin(self._replies.fleet)
        order = NAMES if guest_begins else NAMES[::-1]
        self._view = View(book, NAMES[HOUSE], order, number, self.fleet, bot.bot.random)

    # --- what is true -----------------------------------------------------------------------------------------------

    @property
    def over(self) -> bool:
        return self._game.over

    @property
    def guests_turn(self) -> bool:
        """Whether the next shot is the program's."""
        return not self.over and self._game.current == GUEST

    @property
    def houses_turn(self) -> bool:
        """Whether the next shot is the house's, or it waits for its answer."""
        return not self.over and self._game.current == HOUSE

    @property
    def guest_won(self) -> bool:
        return self._game.winner == GUEST

    @property
    def guest_fleet(self) -> Fleet:
        """A fleet that agrees with all answers of the program."""
        return self._replies.fleet

    # --- what happens -----------------------------------------------------------------------------------------------

    def guest_fires(self, cell: int) -> Move:
        """Resolve a shot of the program's.

        Raises:
            GatewayError: ``not_your_turn``, or ``shot_before`` where the rules have no repeated shots.
        """
        if not self.guests_turn:
            why = "the game is over" if self.over else "it is the other side's turn"
            raise GatewayError("not_your_turn", why)
        before = [move for move in self.moves if move.seat == GUEST and move.cell == cell]
        if before and self.book.repeats is Repeats.REFUSED:
            name = self.book.grid.name(cell)
            raise GatewayError("shot_before", f"{name} was shot at before: {before[0].word}")
        return self._resolve(cell)

    def house_fires(self) -> int:
        """Return the cell that the house shoots at, the same one until it is answered.

        Raises:
            GatewayError: ``not_your_turn``: it is the program's.
        """
        if not self.houses_turn:
            why = "the game is over" if self.over else "it is your turn"
            raise GatewayError("not_your_turn", why)
        if self.asked is None:
            Feed(self._view).begin_turn(self._game.turn, 1)
            [shot] = shots_of(self._bot, self._view)
            self._ask(cell := self.book.grid.cell(shot.x, shot.y))
            return cell
        return self.asked

    def guest_replies(self, word: Word, kind: str = "") -> Move:
        """Take in the program's answer to the house's shot; one that is refused leaves it unanswered.

        Args:
            kind: of the ship that sank, where the protocol tells it.

        Raises:
            GatewayError: ``nothing_asked``, or ``contradiction``.
        """
        if self.asked is None:
            raise GatewayError("nothing_asked", "there is no shot to answer")
        former, cell = self._replies.fleet, self.asked
        self._replies.note(cell, word, kind)
        if self._replies.fleet is not former:
            self._game = self._begin(self._replies.fleet)
            for move in self.moves:
                self._game.fire_salvo([(1 - move.seat, move.cell)])
        self.asked = None
        return self._resolve(cell)

    def reveal(self, fleet: Fleet) -> None:
        """Compare the program's fleet with its answers, and keep it as the true one.

        Raises:
            GatewayError: ``contradiction``.
        """
        self._replies.check(fleet)
        self._replies.fleet = fleet

    # --- to keep it ---------------------------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """Return all that :meth:`from_json` needs."""
        return {
            "guest_begins": self.guest_begins,
            "house": _fleet_to_json(self.fleet),
            "guest": _fleet_to_json(self.guest_fleet) if self.over else None,
            "moves": [[move.seat, move.cell, move.word, kind_of(move.ship)] for move in self.moves],
            "asked": self.asked,
        }

    @classmethod
    def from_json(cls, book: RuleBook, bot: Bot, seed: str, kept: dict[str, Any]) -> UnseenGame:
        """Return a game as it was.

        Raises:
            GatewayError, IllegalCommand, LookupError, TypeError, ValueError: it is not a game of this book.
        """
        fleet = _fleet_from_json(book, kept["house"])
        game = cls(book, bot, seed, guest_begins=kept["guest_begins"], fleet=fleet)
        game.repeat((seat, cell, Word(word), kind) for seat, cell, word, kind in kept["moves"])
        if kept["guest"] is not None:
            game.reveal(_fleet_from_json(book, kept["guest"]))
        if kept["asked"] is not None:
            game._ask(int(kept["asked"]))
        return game

    def repeat(self, moves: Iterable[tuple[int, int, Word, str]]) -> None:
        """Do again what was done before; the bot is told, and not asked.

        Args:
            moves: seat, cell and answer, and the kind of ship that sank, where it was told.

        Raises:
            GatewayError: what the moves themselves raise.
        """
        for seat, cell, word, kind in moves:
            if seat == GUEST:
                self.guest_fires(cell)
            else:
                self._ask(cell)
                self.guest_replies(word, kind)

    # --- inside -------------------------------------------------------------------------------------------------------

    def _ask(self, cell: int) -> None:
        self.asked = cell
        Feed(self._view).fired([_shot(self.book, NAMES[GUEST], cell)])

    def _begin(self, guest: Fleet) -> Game:
        return begin(self.book, [guest, self.fleet], GUEST if self.guest_begins else HOUSE)

    def _resolve(self, cell: int) -> Move:
        """Fire for whose turn it is, and tell the bot."""
        seat = self._game.current
        self._game.fire_salvo([(1 - seat, cell)])
        salvo = self._game.salvos[-1]
        ship = self.book.fleet[salvo.sunk[0][1]].name if salvo.sunk else ""
        move = Move(seat, cell, Word.SUNK if ship else Word.HIT if salvo.hits else Word.MISS, ship)
        self.moves.append(move)
        if seat == GUEST:
            Feed(self._view).landed(_shot(self.book, NAMES[HOUSE], cell))
        result = SalvoResolved.of(1, NAMES, self.book, salvo)
        Feed(self._view).resolved(result)
        tell(self._bot.on_result, result)
        return move


def _shot(book: RuleBook, player: str, cell: int) -> Shot:
    return Shot(player, *book.grid.xy(cell))


def _fleet_to_json(fleet: Fleet) -> list[list[Any]]:
    return [[place.ship, place.x, place.y, place.orientation] for place in fleet.placements]


def _fleet_from_json(book: RuleBook, kept: list[list[Any]]) -> Fleet:
    return Fleet(book, [Placement(ship, x, y, Orientation(way)) for ship, x, y, way in kept])
