"""One program that speaks JSON lines: understands what it asks, and hands it on to the game that it plays."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable
from typing import Any, Final

from salvo.errors import SalvoError, WireError
from salvo.events import Event
from salvo.rules import Fleet
from salvo_gateways.accounts import GatewayError
from salvo_gateways.guest import Guest
from salvo_gateways.hidden_fleet.game import GUEST, UnseenGame
from salvo_gateways.hidden_fleet.replies import Word
from salvo_gateways.hidden_fleet.room import Room
from salvo_gateways.jsonline.words import BUSY_TEXT, RESULTS, Dialect, Status, Wording, read_request, same_ships
from salvo_gateways.peer import Broken, Peer
from salvo_gateways.table_watch import TableWatch

log = logging.getLogger(__name__)

_INVITATION: Final = "GAME_INVITATION"


class JsonGuest(Guest):
    """The program; one of them has the room."""

    def __init__(self, peer: Peer, watch: TableWatch, room: Room, wording: Wording) -> None:
        super().__init__(peer, watch)
        self.room = room
        self.wording = wording
        self._play: Play | None = None
        self._refused = False  # an invitation on this connection, so that the room's game is another program's
        self._on: dict[str, Callable[[Any], None]] = {
            "SHOT": lambda body: self._game().shot(wording.read_cell(body)),
            "SHOT_REQUEST": lambda _: self._game().shot_request(),
            "RESULT": lambda body: self._game().result(wording.read_result(body)),
            "BOARD": lambda body: self._game().board(wording.read_board(body), listed=isinstance(body, list)),
            "BOARD_HISTORY": lambda _: self._game().history(),
            _INVITATION: lambda _: self._invited(),
        }
        if wording.names:
            self._on["SAVE_WINNER"] = lambda _: self._name_winner()

    def answer(self, kind: str, status: Status = Status.OK, text: str | None = None, body: Any = None) -> None:
        """Send an answer."""
        self.peer.send(self.wording.answer(kind, status, text, body))

    def answer_result(self, word: Word) -> None:
        """Send the answer to a RESULT, with that result where the program reads it there."""
        self.answer("RESULT", body=None if self.wording.plain else RESULTS[word])

    def answer_board(self, *, listed: bool, won: bool, house: Fleet, shot_at: Collection[int]) -> None:
        """Send the answer to the BOARD that ends a game: with the winner and the other board, but for the text's form.

        Args:
            listed: whether the program has sent its ships as a list.
            won: whether the program has.
            house: the other side's fleet.
            shot_at: cells of it.
        """
        if self.wording.plain and not listed:
            self.answer("BOARD")
            return
        body: Any = self.wording.write_ships(house, shot_at) if listed else self.wording.write_board(house)
        self.answer("BOARD", text=f"The {'client' if won else 'server'} has won.", body=body)

    def answer_history(self, moves: Iterable[tuple[bool, int, Word]]) -> None:
        """Send all shots of a game.

        Args:
            moves: for each whether it was the program's, its cell and what came of it.
        """
        body = [
            {"player": "client" if own else "server", "shot": self.wording.write_cell(cell), "result": RESULTS[word]}
            for own, cell, word in moves
        ]
        self.answer("BOARD_HISTORY", body=body)

    def message_received(self, message: str) -> None:
        try:
            request = read_request(message)
        except WireError as error:
            self.answer("UNKNOWN", Status.BAD_REQUEST, error.text)
            return
        act = self._on.get(request.type)
        if act is None:
            self._answer_unknown()
            return
        try:
            act(request.body)
        except SalvoError as error:
            self.answer(request.type, Status.ILLEGAL_ARGUMENTS, error.text)
        except Exception:
            log.exception("%s: the gateway failed; the game is ended", self.peer.name)
            self.answer(request.type, Status.INTERNAL_ERROR, "The game is ended: the server has failed.")
            self._leave_game()

    def invalid_message_received(self, broken: Broken) -> None:
        self.answer("UNKNOWN", Status.BAD_REQUEST, broken.text)

    def event_received(self, event: Event) -> None:
        """Nothing happens at the table."""

    def disconnected(self) -> None:
        """A game that is not over waits for the program."""
        if self._play is not None and self._play.over:
            self._play.finish()
        self.room.leave(self)

    def _invited(self) -> None:
        playing = self._play is not None and not self._play.over
        if not playing:
            self._leave_game()
        if playing or not self.room.claim(self):
            self._refused = True
            self.answer(_INVITATION, Status.SERVER_BUSY, BUSY_TEXT)
            return
        self._play = Play(self, None)
        self.answer(_INVITATION)

    def _leave_game(self) -> None:
        if self._play is not None and self._play.over:
            self._play.finish()
        self.room.give_up(self)
        self._play = None

    def _name_winner(self) -> None:
        """Answer a program that asks to save who has won, with who has; a game that is on has no winner."""
        if self._play is not None and self._play.over:
            self.answer("SAVE_WINNER", body=f"{'CLIENT' if self._play.won else 'SERVER'} WINS !")
        else:
            self._answer_unknown()

    def _answer_unknown(self) -> None:
        self.answer("UNKNOWN", Status.BAD_REQUEST, f"types are {', '.join(self._on)}")

    def _game(self) -> Play:
        """Return the game of this program, also one that it began before its connection broke."""
        if self._play is None and not self._refused:
            game, notes = self.room.take_up(self)
            self.wording.dialect = Dialect(notes.get("dialect", self.wording.dialect))
            if game is not None:
                self._play = Play(self, game)
        if self._play is None:
            raise GatewayError("no_game", "There is no game; send GAME_INVITATION first.")
        return self._play


class Play:
    """A game against the built-in bot in the gateway, for a program that tells its fleet at the end or never."""

    def __init__(self, guest: JsonGuest, game: UnseenGame | None) -> None:
        self._guest = guest
        self._game = game
        self._untrue = False  # whether the program has told of a fleet that its answers deny
        self._finished = False

    @property
    def over(self) -> bool:
        return self._game is not None and self._game.over

    @property
    def won(self) -> bool:
        """Whether the program has, by the gateway's game."""
        return self._game is not None and self._game.guest_won

    def shot(self, cell: int) -> None:
        if self._game is None:
            self._game = self._guest.room.begin(self._guest)
        move = self._game.guest_fires(cell)
        self._guest.room.note(self._guest, dialect=self._guest.wording.dialect)
        self._guest.answer("SHOT", body=RESULTS[move.word])

    def shot_request(self) -> None:
        cell = self._begun().house_fires()
        self._guest.room.note(self._guest)
        self._guest.answer("SHOT_REQUEST", body=self._guest.wording.write_cell(cell))

    def result(self, word: Word) -> None:
        self._begun().guest_replies(word)
        self._guest.room.note(self._guest)
        self._guest.answer_result(word)

    def board(self, fleet: Fleet, *, listed: bool) -> None:
        if self._game is None or not self._game.over:
            raise GatewayError("not_over", "The game is not over yet.")
        if not self._finished:
            self._untrue = True
            self._game.reveal(fleet)
            self._untrue = False
            self.finish()
        elif not same_ships(fleet, self._game.guest_fleet):
            raise GatewayError("contradiction", "This is not the board that was sent before.")
        shot_at = {move.cell for move in self._game.moves if move.seat == GUEST}
        self._guest.answer_board(listed=listed, won=self._game.guest_won, house=self._game.fleet, shot_at=shot_at)

    def history(self) -> None:
        if self._game is None or not self._game.over:
            raise GatewayError("not_over", "The game is not over yet.")
        self._guest.answer_history((move.seat == GUEST, move.cell, move.word) for move in self._game.moves)

    def finish(self) -> None:
        """Hand the game on to be played again, once."""
        if self._finished:
            return
        self._finished = True
        if self._untrue:
            log.warning("%s: answers and board disagree; the game does not count", self._guest.peer.name)
            self._guest.room.give_up(self._guest)
        else:
            self._guest.room.finish(self._guest)

    def _begun(self) -> UnseenGame:
        if self._game is None:
            raise GatewayError("not_your_turn", "It is your turn: the client begins.")
        return self._game
