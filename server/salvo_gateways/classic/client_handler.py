"""The gateway's side of Battle Ship for two, as its server or its client, for one program."""

from __future__ import annotations

import logging
from collections.abc import Callable
from enum import Enum, StrEnum, auto
from typing import Final

from salvo.errors import SalvoError
from salvo.system.log_throttle import SELDOM
from salvo_gateways.classic import protocol_text as w
from salvo_gateways.client_handler import ClientHandler
from salvo_gateways.hidden_fleet.game import HiddenGame
from salvo_gateways.hidden_fleet.room import PlacedFleet, Room
from salvo_gateways.peer import ClientConnection, PeerBroken
from salvo_gateways.report import hint_of_system

log = logging.getLogger(__name__)

#: How often a client announces itself.
CLIENT_SECONDS: Final = 1.0
#: From the end of a game to the next set-up: what people see of the end.
END_SECONDS: Final = 5.0
#: A client's C may have been on its way when it was sent Z; later ones come from a program that was started again.
_CROSSING_SECONDS: Final = 1.5
_AS_CLIENT: Final = "--role client, with --call HOST:PORT or on the --bus"


class ClassicRole(StrEnum):
    """The gateway's side."""

    SERVER = "server"
    CLIENT = "client"


class _ClientState(Enum):
    CONNECT = auto()
    SETUP = auto()
    PLAY = auto()
    ENDED = auto()


class _Wrong(SalvoError):
    """A message that does not belong here in the protocol."""


class ClassicHandler(ClientHandler):
    """The program's handler; one has the room, and a further client's C is not answered before it is free."""

    def __init__(
        self,
        peer: ClientConnection,
        room: Room,
        role: ClassicRole,
        *,
        end_seconds: float,
        parted: Callable[[], None],
        restarts: Callable[[], bool] | None,
    ) -> None:
        super().__init__(peer)
        self._room = room
        self._role = role
        self._end_seconds = end_seconds
        self._parted = parted
        self._restarts = restarts
        self._state = _ClientState.CONNECT
        self._game: HiddenGame | None = None
        self._placed: PlacedFleet | None = None
        self._played = 0  # games that came to their end: who begins alternates
        self._done = self._theirs_done = False  # with the set-up
        self._sent_at = 0.0  # when C or Z was sent
        self._ended_at = 0.0

    # --- what the program does --------------------------------------------------------------------------------------

    def message_received(self, message: str) -> None:
        try:
            self._handle(w.read(message.rstrip("\r"), self._room.book))
        except SalvoError as error:
            self._quit(error.code, error.text, self._hint(error.code, message))
        except Exception:
            log.exception("%s: the gateway failed; the game is ended", self.peer.name, extra=SELDOM)
            self._quit("failed", "the gateway failed")

    def invalid_message_received(self, broken: PeerBroken) -> None:
        self._quit(broken.code, broken.text)

    def tick(self, now: float) -> None:
        if (
            self._state is _ClientState.CONNECT
            and self._role is ClassicRole.CLIENT
            and now - self._sent_at >= CLIENT_SECONDS
        ):
            self._sent_at = now
            self.peer.send(w.CLIENT)
        elif self._state is _ClientState.ENDED and self._role is ClassicRole.SERVER:
            if self._is_end_seen(now):
                self._set_up()
        elif self._state is _ClientState.SETUP and not self._done:
            self._be_done()

    def disconnected(self) -> None:
        """A lost program counts as one that sent E; one whose gateway ends, or whose person leaves, is sent E."""
        if self.dismissed:
            self.peer.send(w.EXIT)
        self._room.leave(self)
        self._parted()

    def farewell(self) -> str:
        if self._game is not None:
            return f"its game ends, {self._game.course}"
        if self.peer.silent and self._role is ClassicRole.SERVER:
            return f"it has sent nothing, and here a client begins; for a program that is a server: {_AS_CLIENT}"
        return ""

    def _hint(self, code: str, message: str) -> str:
        """Return what is likely to help a program that has sent what cannot be."""
        if code == "out_of_turn" and message == w.RESET:
            return f"the program is a server, too: {_AS_CLIENT}"
        if code == "out_of_turn" and message == w.CLIENT:
            return "the program is a client, too: --role server"
        if code == "not_understood" and (hint := hint_of_system(message, "classic")):
            return hint
        if code in ("not_understood", "contradiction"):
            return f"the rules are {self._room.book.name}; for a program with other ships or squares: --rules FILE"
        return ""

    # --- the protocol -------------------------------------------------------------------------------------------------

    def _handle(self, message: w.Message) -> None:
        match message:
            case w.EXIT:
                self._room.leave(self)
                self.end()
            case w.CLIENT if self._role is ClassicRole.SERVER:
                self._meet_client()
            case w.RESET if self._role is ClassicRole.CLIENT:
                self._game = None
                self._set_up()
            case w.DONE if self._state is _ClientState.SETUP and not self._theirs_done:
                self._theirs_done = True
                if self._done:
                    self._begin()
            case w.Shoot(cell) if self._game is not None:
                self._reply(self._game, cell)
            case w.Reply() if self._game is not None:
                self._replied(self._game, message)
            case _:
                raise _Wrong("out_of_turn", f"{message} is not expected now")

    def _meet_client(self) -> None:
        if self._state is _ClientState.SETUP and self.clock() - self._sent_at < _CROSSING_SECONDS:
            return
        self._game, self._played = None, 0
        self._set_up()

    def _set_up(self) -> None:
        """Enter the set-up, a server's only when the room is free."""
        self._done = self._theirs_done = False
        if self._role is ClassicRole.CLIENT:
            self._state = _ClientState.SETUP
        self._be_done()

    def _be_done(self) -> None:
        """Be done with the set-up if the room is free; it takes a bot no time, and a person its own."""
        if not self._room.claim(self):
            return
        self._state = _ClientState.SETUP
        if self._role is ClassicRole.SERVER:
            self.peer.send(w.RESET)
        self._placed = self._room.place(self._played + 1)
        self._sent_at, self._done = self.clock(), True
        self.peer.send(w.DONE)
        if self._theirs_done:
            self._begin()

    def _begin(self) -> None:
        others_turn = (self._role is ClassicRole.CLIENT) != (self._played % 2 == 1)
        self._game = self._room.begin(self._placed, program_begins=others_turn)
        begins = "the program" if others_turn else "the gateway"
        self.report.happened(f"{self.title()}: game {self._played + 1} begins, {begins} shoots first")
        self._state = _ClientState.PLAY
        self._shoot(self._game)

    def _shoot(self, game: HiddenGame) -> None:
        if game.houses_turn:
            cell = game.house_fires()
            self.peer.send(w.shoot(cell, self._room.book.grid))

    def _reply(self, game: HiddenGame, cell: int) -> None:
        move = game.program_fires(cell)
        self.peer.send(w.reply(cell, move.outcome, move.ship, game.over, self._room.book.grid))
        self._continue(game)

    def _replied(self, game: HiddenGame, reply: w.Reply) -> None:
        if reply.cell != game.asked:
            raise _Wrong("out_of_turn", "a reply to a shot that was not fired")
        game.program_answers(reply.outcome, reply.kind)
        if game.over is not reply.last:
            raise _Wrong("contradiction", "E is sent when the last ship sinks, and only then")
        self._continue(game)

    def _continue(self, game: HiddenGame) -> None:
        if not game.over:
            self._shoot(game)
            return
        self._room.record(game)
        self.report.happened(f"{self.title()}: game {self._played + 1} is over, {game.course}")
        self._game, self._state, self._ended_at = None, _ClientState.ENDED, self.clock()
        self._played += 1
        if self._role is ClassicRole.CLIENT:
            self._room.leave(self)

    def _is_end_seen(self, now: float) -> bool:
        """Whether the end of a game stood long enough, or the person, who leads, has chosen to restart."""
        if self._restarts is None:
            return now - self._ended_at >= self._end_seconds
        return self._restarts()

    def _quit(self, kind: str, why: str, hint: str = "") -> None:
        self.report.refused(kind, f"{self.title()}: sent away: {why}", hint)
        self._room.leave(self)
        self.peer.send(w.EXIT)
        self.end()
