"""One client that speaks JSON lines: reads what it asks, and answers out of the game that it plays."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Final

from salvo.errors import SalvoError, WireError
from salvo.rules import Fleet, Order
from salvo.system.log_throttle import SELDOM
from salvo_gateways.client_handler import ClientHandler
from salvo_gateways.errors import GatewayError
from salvo_gateways.hidden_fleet.answers import ShotOutcome
from salvo_gateways.hidden_fleet.game import PROGRAM, HiddenGame
from salvo_gateways.hidden_fleet.room import Room
from salvo_gateways.jsonline.protocol_text import BUSY_TEXT, RESULTS, Status, Wording, read_request, same_ships
from salvo_gateways.peer import ClientConnection, PeerBroken
from salvo_gateways.report import hint_of_system

log = logging.getLogger(__name__)

_INVITATION: Final = "GAME_INVITATION"
_NOT_OVER: Final = GatewayError("not_over", "The game is not over yet.")


class JsonHandler(ClientHandler):
    """The client; one of them has the room."""

    def __init__(self, peer: ClientConnection, room: Room, wording: Wording) -> None:
        super().__init__(peer)
        self._room = room
        self._wording = wording
        self._game: HiddenGame | None = None
        self._recorded = self._reported = False
        self._is_untrue = False  # whether the program has shown a board that its answers deny
        self._refused = False  # an invitation on this connection, so that the room's game is another program's
        self._answers: dict[str, Callable[[Any], None]] = {
            "SHOT": self._answer_shot,
            "SHOT_REQUEST": lambda _: self._answer_shot_request(),
            "RESULT": self._answer_result,
            "BOARD": self._answer_board,
            "BOARD_HISTORY": lambda _: self._answer_history(),
            _INVITATION: lambda _: self._answer_invitation(),
        }
        if wording.names:
            self._answers["SAVE_WINNER"] = lambda _: self._answer_winner()

    def message_received(self, message: str) -> None:
        try:
            request = read_request(message)
        except WireError as error:
            self._refuse("UNKNOWN", Status.BAD_REQUEST, error.code, error.text, hint_of_system(message, "jsonline"))
            return
        answer = self._answers.get(request.type)
        if answer is None:
            self._refuse_unknown(request.type)
            return
        try:
            answer(request.body)
            self._report_result()
        except SalvoError as error:
            self._refuse(request.type, Status.ILLEGAL_ARGUMENTS, error.code, error.text, self._hint(error.code))
        except Exception:
            log.exception("%s: the gateway failed; the game is ended", self.peer.name, extra=SELDOM)
            self._answer(request.type, Status.INTERNAL_ERROR, "The game is ended: the server has failed.")
            self._leave_game()

    def invalid_message_received(self, broken: PeerBroken) -> None:
        self._refuse("UNKNOWN", Status.BAD_REQUEST, broken.code, broken.text)

    def disconnected(self) -> None:
        """A game that is not over waits for the program."""
        self._record()
        self._room.leave(self, in_game=self._is_in_game)

    def farewell(self) -> str:
        if self.peer.silent:
            return "it has sent nothing, and here the program begins; those of xbs and smackdown wait for their server"
        if self._game is None or self._game.over:
            return ""
        if self._game.moves:
            return f"its game, {self._game.course}, waits for it"
        other = "leave out --status-names" if self._wording.names else "--status-names"
        return f"it has not fired; if it did not understand the status of its invitation: {other}"

    @property
    def _is_in_game(self) -> bool:
        return self._game is not None and not self._game.over

    # --- answers ------------------------------------------------------------------------------------------------------

    def _answer(self, kind: str, status: Status = Status.OK, text: str | None = None, body: Any = None) -> None:
        self.peer.send(self._wording.answer(kind, status, text, body))

    def _refuse(self, kind: str, status: Status, code: str, text: str, hint: str = "") -> None:
        """Answer what is refused, and report it."""
        self._answer(kind, status, text)
        self.report.refused(f"{kind} {code}", f"{self.title()}: {kind} refused: {text}", hint)

    def _refuse_unknown(self, kind: str) -> None:
        text = f"types are {', '.join(self._answers)}"
        hint = "--status-names, by which it is answered" if kind == "SAVE_WINNER" and not self._wording.names else ""
        self._refuse("UNKNOWN", Status.BAD_REQUEST, "type", text, hint)

    def _hint(self, code: str) -> str:
        """Return what is likely to help a program that is refused something."""
        rules, moves = self._room.book, [] if self._game is None else self._game.moves
        if code == "not_your_turn" and self._is_in_game and moves and moves[-1].outcome is not ShotOutcome.MISS:
            if rules.order is Order.STREAK:
                return f"by the rules {rules.name} a hit shoots again; for a program that alternates: --rules alternate"
            return f"by the rules {rules.name} sides alternate; for a program whose hit shoots again: --rules streak"
        if code in ("contradiction", "wrong_shape", "too_close", "overlap", "bad_board"):
            return f"the rules are {rules.name}; for a program with another fleet: --rules NAME, or a file"
        if code == "shot_before":
            return f"by the rules {rules.name} a cell is shot at once; for other programs: --rules FILE, repeats = miss"
        return ""

    def _answer_invitation(self) -> None:
        playing = self._game is not None and not self._game.over
        if not playing:
            self._leave_game()
        if playing or not self._room.claim(self):
            self._refused = True
            hint = "" if playing else "a gateway plays with one program; for others start another one, with --listen"
            self._refuse(_INVITATION, Status.SERVER_BUSY, "busy", BUSY_TEXT, hint)
            return
        self._game, self._recorded, self._is_untrue, self._reported = self._room.begin(), False, False, False
        self.report.happened(f"{self.title()}: a game begins, by the rules {self._room.book.name}")
        self._answer(_INVITATION)

    def _answer_shot(self, body: Any) -> None:
        game = self._current_game()
        move = game.program_fires(self._wording.read_cell(body))
        self._answer("SHOT", body=RESULTS[move.outcome])

    def _answer_shot_request(self) -> None:
        cell = self._current_game().house_fires()
        self._answer("SHOT_REQUEST", body=self._wording.write_cell(cell))

    def _answer_result(self, body: Any) -> None:
        """Answer with null, or with that result where the program reads it there."""
        game, outcome = self._current_game(), self._wording.read_result(body)
        game.program_answers(outcome)
        self._answer("RESULT", body=None if self._wording.plain else RESULTS[outcome])

    def _answer_board(self, body: Any) -> None:
        """Answer the board that ends a game: with the winner and the other board, but for the text's form."""
        game, fleet, listed = self._current_game(), self._wording.read_board(body), isinstance(body, list)
        if not game.over:
            raise _NOT_OVER
        if not self._recorded:
            self._reveal(game, fleet)
        elif game.program_fleet is None or not same_ships(fleet, game.program_fleet):
            raise GatewayError("contradiction", "This is not the board that was sent before.")
        if self._wording.plain and not listed:
            self._answer("BOARD")
            return
        shot_at = {move.cell for move in game.moves if move.side == PROGRAM}
        shown: Any = self._wording.write_ships(game.fleet, shot_at) if listed else self._wording.write_board(game.fleet)
        self._answer("BOARD", text=f"The {'client' if game.program_won else 'server'} has won.", body=shown)

    def _reveal(self, game: HiddenGame, fleet: Fleet) -> None:
        try:
            game.reveal(fleet)
        except GatewayError:
            self._is_untrue = True
            raise
        self._is_untrue = False
        self._record()

    def _answer_history(self) -> None:
        game = self._current_game()
        if not game.over:
            raise _NOT_OVER
        shots = [
            {
                "player": "client" if move.side == PROGRAM else "server",
                "shot": self._wording.write_cell(move.cell),
                "result": RESULTS[move.outcome],
            }
            for move in game.moves
        ]
        self._answer("BOARD_HISTORY", body=shots)

    def _answer_winner(self) -> None:
        """Answer a program that asks to save who has won, with who has; a game that is not over has no winner."""
        if self._game is not None and self._game.over:
            self._answer("SAVE_WINNER", body=f"{'CLIENT' if self._game.program_won else 'SERVER'} WINS !")
        else:
            self._refuse_unknown("SAVE_WINNER")

    # --- the game -----------------------------------------------------------------------------------------------------

    def _current_game(self) -> HiddenGame:
        """Return the game of this program, also one that it began before its connection broke."""
        if self._game is None and not self._refused:
            former = self._room.take_up(self)
            if isinstance(former, JsonHandler):
                self._game, self._wording.dialect = former._game, former._wording.dialect
                self._reported = former._reported
                self.report.happened(f"{self.title()}: continues a game, {self._game and self._game.course}")
        if self._game is None:
            raise GatewayError("no_game", "No game is on; send GAME_INVITATION first.")
        return self._game

    def _report_result(self) -> None:
        if self._game is not None and self._game.over and not self._reported:
            self._reported = True
            self.report.happened(f"{self.title()}: the game is over, {self._game.course}")

    def _leave_game(self) -> None:
        self._record()
        self._game = None
        self._room.leave(self)

    def _record(self) -> None:
        """Write the transcript of a game that is over, once; its program need not show its board."""
        if self._game is not None and self._game.over and not self._recorded and not self._is_untrue:
            self._recorded = True
            self._room.record(self._game)
