"""One program of Code Smackdown: hands what it sends to its match."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final

from salvo_gateways.client_handler import MAX_WAIT_SECONDS, ClientHandler
from salvo_gateways.peer import ClientConnection, PeerBroken
from salvo_gateways.smackdown.match import ANYBODY, SmackdownLobby, SmackdownMatch
from salvo_gateways.smackdown.referee import MAX_AHEAD

#: How long a program may take to leave when its game is over.
LEAVE_SECONDS: Final = 2.0
#: While the program waits for a match.
_LOBBY_POLL_SECONDS: Final = 0.05


class SmackdownHandler(ClientHandler):
    """The program, which plays one game.

    Attributes:
        place: the name of a child process, else :data:`~salvo_gateways.smackdown.match.ANYBODY`.
    """

    def __init__(self, peer: ClientConnection, lobby: SmackdownLobby, place: str = ANYBODY) -> None:
        super().__init__(peer)
        self.place = place
        self._lobby = lobby
        self._match: SmackdownMatch | None = None
        self._side = 0
        self._early: deque[str | PeerBroken] = deque()  # what it has sent before its match
        self._leave_by: float | None = None

    # --- the program ------------------------------------------------------------------------------------------------

    def connected(self) -> None:
        self._lobby.wait(self, self.clock())

    def message_received(self, message: str) -> None:
        if message.strip():
            self._take(message)

    def invalid_message_received(self, broken: PeerBroken) -> None:
        self._take(broken)

    def _take(self, answer: str | PeerBroken) -> None:
        self._early.append(answer)
        if len(self._early) > MAX_AHEAD:
            self.report.refused("too_many", f"{self.title()}: too many messages before the game")
            self._early.clear()
            self.end()
        self._hand_on()

    def _hand_on(self) -> None:
        while self._match is not None and self._early:
            self._match.receive(self._side, self._early.popleft(), self.clock())

    def lingers(self) -> bool:
        """A program may answer ahead and end before its match has begun."""
        return bool(self._early)

    def max_wait(self) -> float:
        return _LOBBY_POLL_SECONDS if self._match is None else MAX_WAIT_SECONDS

    def tick(self, now: float) -> None:
        self._hand_on()
        if self._match is None:
            return
        self._match.tick(now)
        if self._match.over and self._leave_by is None:
            self.peer.end_sending()
            self._leave_by = now + LEAVE_SECONDS
        elif self._leave_by is not None and now > self._leave_by:
            self.end()

    def disconnected(self) -> None:
        self._lobby.leave(self)
        if self._match is not None:
            self._match.leave(self._side, self.clock())

    # --- the match --------------------------------------------------------------------------------------------------

    @property
    def can_play(self) -> bool:
        return not self.peer.gone or bool(self._early)

    def enter(self, match: SmackdownMatch, side: int) -> None:
        self._side, self._match = side, match

    def send(self, lines: Sequence[str]) -> None:
        self.peer.send(*lines)
