"""One game of a bot against a program that answers for its own fleet without showing it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from salvo.bots.adapter import Adapter
from salvo.bots.player import Bot
from salvo.messages import SalvoResolved, SunkShip
from salvo.rules import Fleet, Order, Repeats, RuleBook
from salvo.view import Feed, Shot, View
from salvo_gateways.asking import call, fleet_of, seated, shots_of
from salvo_gateways.errors import GatewayError
from salvo_gateways.hidden_fleet.answers import Answers, ShotOutcome

#: Sides.
PROGRAM: Final = 0
HOUSE: Final = 1
NAMES: Final = ("guest", "house")


class HiddenMove(NamedTuple):
    """One shot and what came of it; ``ship`` is the one that sank, else empty."""

    side: int
    cell: int
    outcome: ShotOutcome
    ship: str


class HiddenGame:
    """One game.

    Attributes:
        moves: all shots that were answered.
        asked: the cell of the house's shot that the program has not answered yet.
        program_begins: whether the program has the first shot.
        fleet: the house's.
        over: whether a fleet has sunk.
    """

    def __init__(
        self,
        book: RuleBook,
        bot: Bot | Adapter,
        seed: str,
        *,
        program_begins: bool = True,
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
        self.moves: list[HiddenMove] = []
        self.asked: int | None = None
        self.program_begins = program_begins
        self.fleet = fleet or fleet_of(bot, book)
        self.over = False
        self._answers = Answers(book)
        self._revealed: Fleet | None = None
        self._afloat = {place.ship: set(place.cells(book)) for place in self.fleet.placements}
        self._current = PROGRAM if program_begins else HOUSE
        order = NAMES if program_begins else NAMES[::-1]
        self._view = View(book, NAMES[HOUSE], order, number, self.fleet, bot.random)

    # --- what is true -----------------------------------------------------------------------------------------------

    @property
    def programs_turn(self) -> bool:
        """Whether the next shot is the program's."""
        return not self.over and self._current == PROGRAM

    @property
    def houses_turn(self) -> bool:
        """Whether the next shot is the house's, or it waits for its answer."""
        return not self.over and self._current == HOUSE

    @property
    def program_won(self) -> bool:
        return self.over and not self._answers.all_sunk

    @property
    def course(self) -> str:
        """How it stands, in words."""
        shots = f"{len(self.moves)} shot{'s' * (len(self.moves) != 1)}"
        if not self.over:
            return f"not over after {shots}"
        return f"{'the program' if self.program_won else 'the gateway'} wins after {shots}"

    @property
    def program_fleet(self) -> Fleet | None:
        """The fleet that the program has revealed, or one that agrees with its answers, if there is one."""
        return self._revealed or self._answers.fleet()

    # --- what happens -----------------------------------------------------------------------------------------------

    def program_fires(self, cell: int) -> HiddenMove:
        """Resolve a shot of the program's.

        Raises:
            GatewayError: ``not_your_turn``, or ``shot_before`` where the rules have no repeated shots.
        """
        if not self.programs_turn:
            why = "the game is over" if self.over else "it is the other side's turn"
            raise GatewayError("not_your_turn", why)
        before = [move for move in self.moves if move.side == PROGRAM and move.cell == cell]
        if before and self.book.repeats is Repeats.REFUSED:
            name = self.book.grid.name(cell)
            raise GatewayError("shot_before", f"{name} was shot at before: {before[0].outcome}")
        ship = next((name for name, cells in self._afloat.items() if cell in cells), "")
        if not ship:
            return self._resolve(cell, ShotOutcome.MISS)
        self._afloat[ship].discard(cell)
        if self._afloat[ship]:
            return self._resolve(cell, ShotOutcome.HIT)
        return self._resolve(cell, ShotOutcome.SUNK, ship)

    def house_fires(self) -> int:
        """Return the cell that the house shoots at, the same one until it is answered.

        Raises:
            GatewayError: ``not_your_turn``: it is the program's.
        """
        if not self.houses_turn:
            why = "the game is over" if self.over else "it is your turn"
            raise GatewayError("not_your_turn", why)
        if self.asked is None:
            Feed(self._view).begin_turn(len(self.moves) + 1, 1)
            [shot] = shots_of(self._bot, self._view)
            self._ask(self.book.grid.cell(shot.x, shot.y))
        assert self.asked is not None
        return self.asked

    def program_answers(self, outcome: ShotOutcome, kind: str = "") -> HiddenMove:
        """Note the program's answer to the house's shot; one that is refused leaves it unanswered.

        Args:
            kind: of the ship that sank, where the protocol says it.

        Raises:
            GatewayError: ``nothing_asked``, or ``contradiction``.
        """
        if self.asked is None:
            raise GatewayError("nothing_asked", "no shot waits for an answer")
        cell, ship = self.asked, self._answers.add(self.asked, outcome, kind)
        self.asked = None
        return self._resolve(cell, outcome, ship)

    def reveal(self, fleet: Fleet) -> None:
        """Compare the program's fleet with its answers, and take it as the true one.

        Raises:
            GatewayError: ``contradiction``.
        """
        self._answers.check(fleet)
        self._revealed = fleet

    def repeat(self, moves: Iterable[HiddenMove]) -> None:
        """Do again what was done in another game; the bot is shown it, and not asked.

        Raises:
            GatewayError: what the moves themselves raise.
        """
        for move in moves:
            if move.side == PROGRAM:
                self.program_fires(move.cell)
            else:
                self._ask(move.cell)
                self.program_answers(move.outcome)

    # --- inside -------------------------------------------------------------------------------------------------------

    def _ask(self, cell: int) -> None:
        self.asked = cell
        Feed(self._view).fired([Shot(NAMES[PROGRAM], *self.book.grid.xy(cell))])

    def _resolve(self, cell: int, outcome: ShotOutcome, ship: str = "") -> HiddenMove:
        """Record a shot, show it to the bot, and pass the turn on."""
        side, other, x, y = self._current, 1 - self._current, *self.book.grid.xy(cell)
        hit, target = outcome is not ShotOutcome.MISS, NAMES[other]
        self.moves.append(move := HiddenMove(side, cell, outcome, ship))
        self.over = self._answers.all_sunk if other == PROGRAM else not any(self._afloat.values())
        if not (hit and self.book.order is Order.STREAK):
            self._current = other
        if other == HOUSE:
            Feed(self._view).landed(Shot(target, x, y))
        sunk = (SunkShip(target, ship),) if ship else ()
        defeated = (target,) if self.over else ()
        result = SalvoResolved(1, len(self.moves), NAMES[side], 1, int(hit), sunk, defeated, (hit,), ((target, x, y),))
        Feed(self._view).resolved(result)
        call(self._bot.on_result, result)
        return move
