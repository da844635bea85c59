"""What the stages of a client of Xterm Boat Sinker have in common, and what it has at the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from salvo import messages as m
from salvo.join.events import Event, FleetWanted, GameEnded
from salvo.messages import State
from salvo.rules import Fleet
from salvo_gateways.xbs.game_report import GameNarrator
from salvo_gateways.xbs.protocol_text import Names, XbsMessage

if TYPE_CHECKING:
    from salvo_gateways.xbs.client_handler import XbsHandler


class ClientStage:
    """A part of a client's way; a stage overrides what differs there.

    Attributes:
        is_over: whether the client knows how its game ended.
    """

    is_over = False

    def __init__(self, client: XbsHandler) -> None:
        self.client = client

    @property
    def has_begun(self) -> bool:
        """Whether the client knows that its game has begun."""
        return False

    @property
    def is_in_lobby(self) -> bool:
        """Whether the client has a place in the lobby, or has asked for one."""
        return False

    @property
    def frees_place(self) -> bool:
        """Whether that place becomes free when the client hangs up."""
        return False

    @property
    def polls_often(self) -> bool:
        """Whether the client waits for something that is not announced to it."""
        return False

    @property
    def game(self) -> int:
        """The number of the game that the client plays; 0 for none."""
        return 0

    def join(self, received: XbsMessage) -> None:
        """Ask for a place, which a client does once."""
        self.client.send_away("protocol error")

    def shoot(self, received: XbsMessage) -> None:
        """Refuse a shot."""
        in_lobby = self.client.watch.news.state is State.LOBBY
        self.client.refuse("game hasn't started" if in_lobby else "it is not your turn!")

    def skip(self, reason: str) -> None:
        """End the turn; out of turn it is ignored."""

    def speak(self, to: str, text: str) -> None:
        """Say a line; without a place it is ignored."""

    def announcement_received(self, announcement: m.Announcement) -> None:
        """Note what the table has announced."""

    def event_received(self, event: Event) -> None:
        """Report to the client what has happened to its player."""

    def tick(self, now: float) -> None:
        """Do what is due."""

    def catch_up(self) -> None:
        """Report all that the session knows and the client does not."""


class ClientPlace:
    """What a client has at the table, from when it takes a seat.

    Attributes:
        fleet: the one that came with ``J``; None without a legal board.
        back: whether it was to come back to a running game.
        report: the game as it is reported to the client.
        listed: the players, once the table has listed them.
        ended_as: how a game ended.
    """

    def __init__(self, client: XbsHandler, fleet: Fleet | None, *, back: bool) -> None:
        self.fleet = fleet
        self.back = back
        self.listed: tuple[str, ...] | None = None
        self.ended_as: GameEnded | None = None
        door = client.door
        names = Names(door.book.grid.width, client.me, client.called, door.company.called)
        self.report = GameNarrator(door, client.me, names, client.peer.send)
        self._client = client

    @property
    def started(self) -> bool:
        """Whether the session knows a game with this player, and whose turn it is there."""
        return self.report.turn_of(self._client.session.view) is not None

    def announcement_received(self, announcement: m.Announcement) -> None:
        """Note who is present and whose turn it is; the client is informed once the session knows it, too."""
        match announcement:
            case m.PlayersListed(names):
                self.listed = names
            case m.TurnBegan():
                self.report.turn_began(announcement)

    def event_received(self, event: Event) -> None:
        """Place the fleet, and note how a game ended."""
        match event:
            case FleetWanted(rules):
                if rules != self._client.door.book:
                    self._client.sent_away = "the rules of this table have changed"
                elif self.fleet is None:  # the game to come back to is over, and another one needs a board
                    self._client.sent_away = "game is already started"
                else:
                    self.back = False
                    self._client.session.place(self.fleet, self._client.clock())
            case GameEnded():
                self.ended_as = event

    def note_skip(self, acted: m.HostActed) -> bool:
        """Note a turn that a host has skipped, for the report of its result; return whether this is one."""
        turn = self.report.announced
        if acted.do is not m.HostAction.SKIP or turn is None:
            return False
        self._client.door.company.note_skip(turn.player, turn.turn, "skipped by the host")
        return True
