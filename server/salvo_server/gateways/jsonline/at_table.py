"""A game at the table, for a program that has told its fleet before the first shot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from salvo import events as e
from salvo import messages as m
from salvo.events import Event
from salvo.messages import SalvoResolved
from salvo.rules import Fleet, Repeats
from salvo.view import Shot, View
from salvo_server.gateways.accounts import GatewayError
from salvo_server.gateways.hidden_fleet.replies import Word
from salvo_server.gateways.jsonline.words import RESULTS, Status

if TYPE_CHECKING:
    from salvo_server.gateways.jsonline.guest import JsonGuest

_OVER = "The game is over."


class AtTable:
    """Answers of the program are compared with the referee's, whose word counts.

    A SHOT waits until it is the player's turn, a SHOT_REQUEST until the other one has shot.

    Attributes:
        ended: whether the game has ended at the table.
    """

    def __init__(self, guest: JsonGuest, fleet: Fleet, game: int | None, told: int) -> None:
        """Begin, or continue.

        Args:
            game: its number at the table; None until the fleet is placed.
            told: how many shots at its board the program has heard of, and has answered.
        """
        self.ended = False
        self._guest = guest
        self._fleet = fleet
        self._number = game
        self._told = told
        self._cell: int | None = None  # of a SHOT that waits
        self._fired = False  # whether that one is on its way
        self._wanted = False  # whether a SHOT_REQUEST waits
        self._asked: SalvoResolved | None = None
        self._final: View | None = None  # of the game that is over
        self._approved: set[str] = set()

    @property
    def over(self) -> bool:
        """Whether the game has ended, and the program has heard of all shots and answered them."""
        return self.ended and not self._landed()

    # --- what the program says --------------------------------------------------------------------------------------

    def shot(self, cell: int) -> None:
        self._check_on()
        if self._cell is not None:
            raise GatewayError("not_your_turn", "The last SHOT is not answered yet.")
        self._cell = cell
        self._guest.room.note(self._guest, dialect=self._guest.wording.dialect)
        self._go_on()

    def shot_request(self) -> None:
        if self._asked is None and not self._landed():
            self._check_on()
        self._wanted = True
        self._go_on()

    def result(self, word: Word) -> None:
        if self._asked is None:
            raise GatewayError("nothing_asked", "There is no shot to answer.")
        true = _word(self._asked)
        if word is not true:
            where = self._name(self._asked)
            raise GatewayError("contradiction", f"{where} is {RESULTS[true]} on the board that was sent.")
        self._asked = None
        self._told += 1
        self._guest.room.note(self._guest, told=self._told)
        self._guest.answer_result(word)

    def board(self, fleet: Fleet, *, listed: bool) -> None:
        view = self._view
        if view is None or not (view.winners or self.ended) or self._landed():
            raise GatewayError("not_over", "The game is not over yet.")
        if not same_ships(fleet, self._fleet):
            raise GatewayError("contradiction", "This is not the board that was sent before the first shot.")
        house = view.revealed.get(next(name for name in view.players if name != view.me))
        shot_at = {cell for own, cell, _ in self._moves(view) if own}
        won = view.me in view.winners if view.winners else None
        self._guest.answer_board(listed=listed, won=won, house=house, shot_at=shot_at)

    def history(self) -> None:
        view = self._view
        if view is None or not (view.winners or self.ended):
            raise GatewayError("not_over", "The game is not over yet.")
        self._guest.answer_history(self._moves(view))

    # --- what happens at the table ------------------------------------------------------------------------------------

    def event_received(self, event: Event) -> None:
        match event:
            case e.FleetWanted():
                self._approved.clear()
                self._guest.session.place(self._fleet, self._guest.watch.clock())
            case e.SalvoHeard(result) if result.player == self._guest.room.guest:
                self._answer_shot(result)
            case e.GameTakenUp(game) if game == self._number:
                self._guest.room.opponent_sits_down()
            case e.GameEnded(game) if game == self._number:
                self._final = self._view
                self.ended = True
                self._guest.session.wants_to_play = False
            case e.Refused(code, text):
                self._refused(code, text)
            case _:
                pass
        self._go_on()

    def announcement_received(self, announcement: m.Announcement) -> None:
        """Call the built-in bot once the fleet is placed: the first in play order begins."""
        if isinstance(announcement, m.PlacementJudged) and announcement.approved:
            self._approved.add(announcement.spelling)
            if len(self._approved) == len(self._fleet.placements):
                self._number = self._guest.session.game
                self._guest.room.note(self._guest, game=self._number)
                self._guest.room.opponent_sits_down()

    def finish(self) -> None:
        """The room is free."""
        self._guest.room.give_up(self._guest)

    def _go_on(self) -> None:
        """Answer what can be answered now."""
        if self._wanted and (self._asked or self._landed()):
            self._wanted = False
            self._asked = self._asked or self._landed()[0]
            _, x, y = self._aim(self._asked)
            cell = self._fleet.book.grid.cell(x, y)
            self._guest.answer("SHOT_REQUEST", body=self._guest.wording.write_cell(cell))
        view = self._view
        mine = view is not None and view.shots > 0
        if self._wanted and (mine or self.over):
            self._wanted = False
            self._guest.answer("SHOT_REQUEST", Status.ILLEGAL_ARGUMENTS, _OVER if self.over else "It is your turn.")
        if self._cell is None or self._fired:
            return
        if self._asked or self._landed():
            self._refuse_shot("The other side has shot: send SHOT_REQUEST and RESULT first.")
        elif self.over:
            self._refuse_shot(_OVER)
        elif mine and view is not None:
            self._fire(view, self._cell)

    def _fire(self, view: View, cell: int) -> None:
        target = view.opponents[0]
        x, y = view.rules.grid.xy(cell)
        marks = view.marks(target)
        if (x, y) in marks and view.rules.repeats is Repeats.REFUSED:
            self._refuse_shot(f"{view.rules.grid.name(cell)} was shot at before: {'hit' if marks[x, y] else 'miss'}.")
            return
        self._fired = True
        self._guest.session.fire([Shot(target, x, y)])

    def _answer_shot(self, result: SalvoResolved) -> None:
        if not self._fired:
            return
        self._cell, self._fired = None, False
        if result.shots:
            self._guest.answer("SHOT", body=RESULTS[_word(result)])
        else:
            self._guest.answer("SHOT", Status.ILLEGAL_ARGUMENTS, "The shot came too late for the turn.")

    def _refused(self, code: str, text: str) -> None:
        if self._cell is not None and self._fired:
            self._refuse_shot(text)
        elif code in ("name_taken", "not_in_roster", "sealed_required", "table_full"):
            raise GatewayError(code, text)

    def _refuse_shot(self, text: str) -> None:
        self._cell, self._fired = None, False
        self._guest.answer("SHOT", Status.ILLEGAL_ARGUMENTS, text)

    def _check_on(self) -> None:
        if self.over:
            raise GatewayError("over", _OVER)

    @property
    def _view(self) -> View | None:
        """What the program may know of its game; the seat may still hear of an earlier one."""
        if self.ended:
            return self._final
        view = self._guest.session.view if self._guest.seated else None
        return view if view is not None and view.game == self._number else None

    def _landed(self) -> list[SalvoResolved]:
        """Return shots at the program's board that it has not heard of."""
        view = self._view
        if view is None:
            return []
        me = view.me
        return [result for result in view.results if result.aims_if_told and result.aims_if_told[0][0] == me][
            self._told :
        ]

    def _moves(self, view: View) -> Iterator[tuple[bool, int, Word]]:
        for result in view.results:
            if result.aims_if_told:
                _, x, y = self._aim(result)
                yield result.player == view.me, view.rules.grid.cell(x, y), _word(result)

    def _aim(self, result: SalvoResolved) -> tuple[str, int, int]:
        assert result.aims_if_told
        return result.aims_if_told[0]

    def _name(self, result: SalvoResolved) -> str:
        _, x, y = self._aim(result)
        return self._fleet.book.grid.name(self._fleet.book.grid.cell(x, y))


def same_ships(one: Fleet, other: Fleet) -> bool:
    """Whether two fleets of one book look alike: ships of one length have no names in this protocol."""
    first, second = ({place.cells(fleet.book) for place in fleet.placements} for fleet in (one, other))
    return first == second


def _word(result: SalvoResolved) -> Word:
    return Word.SUNK if result.sunk else Word.HIT if result.hits else Word.MISS
