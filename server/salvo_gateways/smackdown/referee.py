"""One game of Code Smackdown, without a socket: who is asked what, and what both sides read.

A side is 0 for player 1 and 1 for player 2. The course of a game is a generator: it yields a query, and is sent the
answer. Whatever is wrong with an answer loses the game for the side that gave it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Sequence
from typing import Final, NamedTuple

from salvo.errors import SalvoError
from salvo.rules import Fleet, RuleBook
from salvo_gateways.peer import PeerBroken
from salvo_gateways.smackdown import protocol_text as w

#: How long a program may take for an answer.
ANSWER_SECONDS: Final = 10.0
#: Answers that a program may give ahead of the queries: more than a game of single shots on the largest grid has.
MAX_AHEAD: Final = 1000
SIDES: Final = (0, 1)


class RefereeQuery(NamedTuple):
    """What a side is asked, and by when it has to answer."""

    side: int
    about: str
    deadline: float


class Forfeit(NamedTuple):
    """What a side has lost by.

    Attributes:
        kind: ``late``, ``ended``, ``too_many``, or the error code of its answer.
    """

    side: int
    kind: str
    text: str


class SmackdownBoard:
    """A fleet and the shots at it."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet = fleet
        self._ships = [
            {(x - 1, y - 1) for x, y in map(fleet.book.grid.xy, place.cells(fleet.book))} for place in fleet.placements
        ]
        self._struck: set[w.Cell] = set()

    @property
    def ships_afloat(self) -> int:
        return sum(not ship <= self._struck for ship in self._ships)

    def strike(self, cells: Sequence[w.Cell]) -> list[tuple[w.Cell, bool]]:
        """Return each shot with whether it hit; a cell that was hit before is hit again."""
        self._struck.update(cells)
        return [(cell, any(cell in ship for ship in self._ships)) for cell in cells]


class SmackdownReferee:
    """The rules of one game.

    Attributes:
        results: ``won game``, ``lost game`` or ``tie game`` of each side, once the game is over.
        forfeited: the side that has lost by what it did, and how; None where none has.
        boards: of each side, once it is placed.
        salvos: side and cells on the grid of all salvos that were resolved.
    """

    def __init__(
        self,
        book: RuleBook,
        send: Callable[[int, Sequence[str]], None],
        *,
        answer_seconds: float = ANSWER_SECONDS,
        opponent_first: bool = False,
    ) -> None:
        """Prepare; :meth:`begin` asks the first question.

        Args:
            send: sends lines to a side.
            opponent_first: whether player 2 first reads of the shots on its board.
        """
        self.results: tuple[str, ...] = ()
        self.forfeited: Forfeit | None = None
        self.boards: list[SmackdownBoard] = []
        self.salvos: list[tuple[int, list[w.Cell]]] = []
        self._book = book
        self._send = send
        self._answer_seconds = answer_seconds
        self._opponent_first = opponent_first
        self._ahead = tuple(deque[str | PeerBroken]() for _ in SIDES)
        self._gone = [False, False]
        self._query: RefereeQuery | None = None
        self._now = 0.0
        self._course = self._play()

    @property
    def rounds(self) -> int:
        """How many rounds were played to their end."""
        return len(self.salvos) // len(SIDES)

    def begin(self, now: float) -> None:
        """Send what both sides read first, and ask player 1."""
        self._now = now
        self._query = next(self._course)
        self._continue()

    def receive(self, side: int, answer: str | PeerBroken, now: float) -> None:
        """Take an answer, which may come ahead of its query."""
        self._now = now
        self._ahead[side].append(answer)
        if len(self._ahead[side]) > MAX_AHEAD:
            self._forfeit(side, "too_many", f"more than {MAX_AHEAD} answers ahead of the queries")
        self._continue()

    def leave(self, side: int, now: float) -> None:
        """Note that a side has ended; what it has sent before still counts."""
        self._now = now
        self._gone[side] = True
        self._continue()

    def tick(self, now: float) -> None:
        """Let a side lose that takes too long."""
        if self._query is not None and now > self._query.deadline:
            self._forfeit(self._query.side, "late", f"no {self._query.about} within {self._answer_seconds:g} s")

    # --- the course of a game ---------------------------------------------------------------------------------------

    def _play(self) -> Generator[RefereeQuery, str | PeerBroken, None]:
        for side in SIDES:
            self._send(side, w.opening(self._book))
        for side in SIDES:
            answer = yield self._ask(side, w.LOCATIONS)
            self.boards.append(SmackdownBoard(w.read_fleet(answer, self._book)))
        while all(board.ships_afloat for board in self.boards):
            yield from self._play_round()
        if not any(board.ships_afloat for board in self.boards):
            self._end(w.TIED, w.TIED)
        else:
            self._end(*(w.WON if board.ships_afloat else w.LOST for board in self.boards))

    def _play_round(self) -> Generator[RefereeQuery, str | PeerBroken, None]:
        """Ask both sides for their shots, and resolve them at once: a ship that sinks has still shot."""
        salvos = []
        for side, most in enumerate([board.ships_afloat for board in self.boards]):
            answer = yield self._ask(side, w.SHOTS, str(most))
            salvos.append(w.read_shots(answer, most))
        fired = [self.boards[1 - side].strike(salvo) for side, salvo in enumerate(salvos)]
        self.salvos += [(side, [cell for cell in salvo if self._is_on_grid(cell)]) for side, salvo in enumerate(salvos)]
        for side in SIDES:
            landed = [(cell, hit) for cell, hit in fired[1 - side] if self._is_on_grid(cell)]
            lines = [w.fallen("you", fired[side]), w.fallen("opponent", landed)]
            if side == 1 and self._opponent_first:
                lines.reverse()
            self._send(side, [*lines[0], *lines[1]])

    def _is_on_grid(self, cell: w.Cell) -> bool:
        return 0 <= cell[0] < self._book.grid.width and 0 <= cell[1] < self._book.grid.height

    def _ask(self, side: int, about: str, *values: str) -> RefereeQuery:
        self._send(side, [w.query(about, *values)])
        return RefereeQuery(side, about, self._now + self._answer_seconds)

    # --- inside -----------------------------------------------------------------------------------------------------

    def _continue(self) -> None:
        """Go on with the answers that are there."""
        while self._query is not None and self._ahead[self._query.side]:
            side = self._query.side
            try:
                self._query = self._course.send(self._ahead[side].popleft())
            except StopIteration:
                self._query = None
            except SalvoError as error:
                self._forfeit(side, error.code, error.text)
        if self._query is not None and self._gone[self._query.side]:
            self._forfeit(self._query.side, "ended", f"ended while its {self._query.about} were due")

    def _forfeit(self, side: int, kind: str, text: str) -> None:
        if not self.results:
            self._query, self.forfeited = None, Forfeit(side, kind, text)
            self._end(*(w.LOST if other == side else w.WON for other in SIDES))

    def _end(self, *results: str) -> None:
        self.results = results
        for side, result in enumerate(results):
            self._send(side, [w.info(result), w.info(w.END)])
