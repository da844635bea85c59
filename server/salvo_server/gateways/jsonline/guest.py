"""One program that speaks JSON lines: understands what it asks, and hands it on to the game that it plays."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable
from typing import Any, Final, Protocol

from salvo import messages as m
from salvo.errors import SalvoError, WireError
from salvo.events import Event
from salvo.rules import Fleet
from salvo_server.gateways.accounts import GatewayError
from salvo_server.gateways.guest import Guest
from salvo_server.gateways.hidden_fleet.game import GUEST, UnseenGame
from salvo_server.gateways.hidden_fleet.replies import Word
from salvo_server.gateways.hidden_fleet.room import Room
from salvo_server.gateways.jsonline.at_table import AtTable, same_ships
from salvo_server.gateways.jsonline.words import BUSY_TEXT, RESULTS, Dialect, Status, Wording, read_request
from salvo_server.gateways.peer import Broken, Peer
from salvo_server.gateways.table_watch import TableWatch

log = logging.getLogger(__name__)

_INVITATION: Final = "GAME_INVITATION"


class Play(Protocol):
    """A game that a program plays. Each method answers, now or later; all raise a SalvoError for status 2."""

    @property
    def over(self) -> bool: ...
    def shot(self, cell: int) -> None: ...
    def shot_request(self) -> None: ...
    def result(self, word: Word) -> None: ...
    def board(self, fleet: Fleet, *, listed: bool) -> None: ...
    def history(self) -> None: ...
    def event_received(self, event: Event) -> None: ...
    def announcement_received(self, announcement: m.Announcement) -> None: ...
    def finish(self) -> None:
        """The game is over and was talked about."""


class JsonGuest(Guest):
    """The program; one of them has the room."""

    def __init__(self, peer: Peer, watch: TableWatch, room: Room, wording: Wording) -> None:
        super().__init__(peer, watch)
        self.room = room
        self.wording = wording
        self._play: Play | None = None
        self._on: dict[str, Callable[[Any], None]] = {
            "SHOT": lambda body: self._game().shot(wording.read_cell(body)),
            "SHOT_REQUEST": lambda _: self._game().shot_request(),
            "RESULT": lambda body: self._game().result(wording.read_result(body)),
            "BOARD": lambda body: self._game().board(wording.read_board(body), listed=isinstance(body, list)),
            "BOARD_HISTORY": lambda _: self._game().history(),
            _INVITATION: lambda _: self._invited(),
        }

    def answer(self, kind: str, status: Status = Status.OK, text: str | None = None, body: Any = None) -> None:
        """Send an answer."""
        self.peer.send(self.wording.answer(kind, status, text, body))

    def answer_result(self, word: Word) -> None:
        """Send the answer to a RESULT, with that result where the program reads it there."""
        self.answer("RESULT", body=None if self.wording.plain else RESULTS[word])

    def answer_board(self, *, listed: bool, won: bool | None, house: Fleet | None, shot_at: Collection[int]) -> None:
        """Send the answer to the BOARD that ends a game: with the winner and the other board, but for the text's form.

        Args:
            listed: whether the program has sent its ships as a list.
            won: whether the program has; None if the host has aborted the game.
            house: the other side's fleet, where it is known.
            shot_at: cells of it.
        """
        if self.wording.plain and not listed:
            self.answer("BOARD")
            return
        body: Any = []
        if house is not None:
            body = self.wording.write_ships(house, shot_at) if listed else self.wording.write_board(house)
        text = "The game was aborted." if won is None else f"The {'client' if won else 'server'} has won."
        self.answer("BOARD", text=text, body=body)

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
            self.answer("UNKNOWN", Status.BAD_REQUEST, f"types are {', '.join(self._on)}")
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
        if self._play is not None:
            self._play.event_received(event)

    def announcement_received(self, announcement: m.Announcement, retained: bool) -> None:
        if self._play is not None and not retained:
            self._play.announcement_received(announcement)

    def tick(self, now: float) -> None:
        """Sit down at the table when it is free, and stand up when the game is over: others want to play."""
        if not isinstance(self._play, AtTable):
            return
        if self._play.ended:
            self._play.finish()
            self.stand_up()
            self.room.leave_table(self)
        elif not self.seated and self.room.take_table(self):
            self.sit_down(self.room.guest)

    def disconnected(self) -> None:
        """A game that is not over waits for the program."""
        if self._play is not None and self._play.over:
            self._play.finish()
        self.stand_up()
        self.room.leave_table(self)
        self.room.leave(self)

    def sit_at_table(self, fleet: Fleet, game: int | None = None, told: int = 0) -> None:
        """Play at the table with this fleet, or play on."""
        self._play = AtTable(self, fleet, game, told)

    def _invited(self) -> None:
        playing = self._play is not None and not self._play.over
        if not playing:
            self._leave_game()
        if playing or not self.room.claim(self):
            self.answer(_INVITATION, Status.SERVER_BUSY, BUSY_TEXT)
            return
        self._play = Unseen(self, None)
        self.answer(_INVITATION)

    def _leave_game(self) -> None:
        if self._play is not None and self._play.over:
            self._play.finish()
        self.room.give_up(self)
        self._play = None
        self.stand_up()
        self.room.leave_table(self)

    def _game(self) -> Play:
        """Return the game of this program, also one that it began before its connection broke."""
        if self._play is None:
            game, notes = self.room.take_up(self)
            self.wording.dialect = Dialect(notes.get("dialect", self.wording.dialect))
            if game is not None:
                self._play = Unseen(self, game)
            elif "board" in notes:
                self.sit_at_table(self.wording.read_board(notes["board"]), notes["game"], notes["told"])
        if self._play is None:
            raise GatewayError("no_game", "There is no game; send GAME_INVITATION first.")
        return self._play


class Unseen:
    """A game against the built-in bot in the gateway, for a program that tells its fleet at the end or never."""

    def __init__(self, guest: JsonGuest, game: UnseenGame | None) -> None:
        self._guest = guest
        self._game = game
        self._untrue = False  # whether the program has told of a fleet that its answers deny
        self._finished = False

    @property
    def over(self) -> bool:
        return self._game is not None and self._game.over

    def shot(self, cell: int) -> None:
        if self._game is None:
            if self._guest.room.bot is None:
                raise GatewayError(
                    "no_board", "Send BOARD before the first shot: the other side is a team at the table."
                )
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
        if self._game is None:
            self._guest.room.note(self._guest, board=self._guest.wording.write_board(fleet), game=None, told=0)
            self._guest.sit_at_table(fleet)
            self._guest.answer("BOARD")
            return
        if not self._game.over:
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

    def event_received(self, event: Event) -> None:
        """Nothing happens at the table."""

    def announcement_received(self, announcement: m.Announcement) -> None:
        """Nothing is announced there."""

    def _begun(self) -> UnseenGame:
        if self._game is None:
            raise GatewayError("not_your_turn", "It is your turn: the client begins.")
        return self._game
