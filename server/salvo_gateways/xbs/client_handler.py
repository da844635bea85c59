"""One client of Xterm Boat Sinker: what holds wherever it stands; its stages do the rest."""

from __future__ import annotations

from typing import Final

from salvo import messages as m
from salvo.errors import printable
from salvo.join.events import Event, ServerSeen
from salvo_gateways.peer import ClientConnection, PeerBroken
from salvo_gateways.report import hint_of_system
from salvo_gateways.table_watch import TableWatch
from salvo_gateways.xbs.client_stage import ClientStage
from salvo_gateways.xbs.doorway import ANSWERS, Doorway, Taunts
from salvo_gateways.xbs.joining import Joining
from salvo_gateways.xbs.protocol_text import XbsMessage, notice, read, speakable
from salvo_gateways.xbs.seated import SeatedHandler

#: While the client waits for something that is not announced to it.
_POLL_SECONDS: Final = 0.05


class Outside(ClientStage):
    """A client that is connected, and may ask for a place."""

    def join(self, received: XbsMessage) -> None:
        if not received.value(1):
            super().join(received)
            return
        self.client.stage = joining = Joining(self.client, received)
        joining.sit_down_or_not()
        if self.client.sent_away:
            self.client.turn_away()


class XbsHandler(SeatedHandler):
    """Speaks the protocol of :mod:`salvo_gateways.xbs`, which says what becomes of each message.

    A client is :class:`Outside`, then :class:`.joining.Joining`, then :class:`.at_table.AtTable`. One that is turned
    away may be outside again; none comes back from the table.

    Attributes:
        stage: how far the client has come.
        called: what the client calls itself.
        me: its name at the table; empty without one.
        sent_away: the line to say before hanging up, or an E line, after which the client may try again.
        server_away: whether the server was away when it was last seen.
    """

    def __init__(self, peer: ClientConnection, watch: TableWatch, doorway: Doorway) -> None:
        super().__init__(peer, watch)
        self.door = doorway
        self.stage: ClientStage = Outside(self)
        self.called = ""
        self.me = ""
        self.sent_away = ""
        self.server_away = False
        self._bounds = (0, 0)  # the numbers of players that the client knows from G
        self._taunts = Taunts()
        self._reason = ""  # for leaving

    # --- what other clients ask ---------------------------------------------------------------------------------------

    def is_going(self) -> bool:
        """Whether the client has hung up."""
        return self.peer.gone

    def is_in_lobby(self) -> bool:
        """Whether the client has a place in the lobby, or has asked for one."""
        return self.stage.is_in_lobby

    def taunt(self, kind: str) -> str:
        """Return one of the texts that were set for who shoots here."""
        return self._taunts.draw(kind, self.door.random)

    # --- what the client says -------------------------------------------------------------------------------------

    def connected(self) -> None:
        """The system's server speaks first."""
        rules = self.watch.news.rules
        if rules is None or rules.book != self.door.book:
            self.send_away("the rules of this table have changed", "end the gateway, and start it again")
        else:
            self._send_game_info()

    def invalid_message_received(self, broken: PeerBroken) -> None:
        """What is longer than a message can be, or not text, is not a message."""
        self.send_away("protocol error")

    def message_received(self, message: str) -> None:
        """Do what a message asks for; a client that sends anything else is sent away."""
        received = read(message)
        if received is None:
            self.send_away("protocol error", hint_of_system(message, "xbs"))
            return
        match received.kind:
            case "G":
                self._send_game_info()
            case "P":
                self.peer.send(received.line)
            case "J":
                self.stage.join(received)
            case "S":
                self.stage.shoot(received)
            case "K":
                self.stage.skip(speakable(received.value(1)))
            case "M":
                self.stage.speak(received.value(1), received.value(2))
            case "T":
                self._taunts.add(received.value(1), received.value(2))
            case "L":
                self._reason = speakable(received.value(1))
                self.end()

    def _send_game_info(self) -> None:
        news = self.watch.news
        self._bounds = self.door.bounds(news)
        self.peer.send(self.door.game_info(news))

    def title(self) -> str:
        return f"{printable(self.called, 40)} at {self.peer.name}" if self.called else self.peer.name

    def max_wait(self) -> float:
        return _POLL_SECONDS if self.stage.polls_often else super().max_wait()

    def disconnected(self) -> None:
        """Free the player's place in the lobby; in a game it stays, and is missing."""
        if self.seated and self.stage.frees_place:
            self.door.company.note_reason(self.me, self._reason)
            self.leave_lobby()

    # --- what happens at the table --------------------------------------------------------------------------------

    def announcement_received(self, announcement: m.Announcement, retained: bool) -> None:
        self.stage.announcement_received(announcement)

    def event_received(self, event: Event) -> None:
        self.stage.event_received(event)
        if isinstance(event, ServerSeen):
            self.server_away = not event.online

    def tick(self, now: float) -> None:
        """Report what has changed at the table, and give up what takes too long."""
        if not self.stage.has_begun and self._bounds != self.door.bounds(self.watch.news):
            self._send_game_info()  # a host has set another number
        self.stage.tick(now)
        self.stage.catch_up()
        if self.stage.is_over:
            self.end()

    def stand_up(self) -> None:
        """Give the name back, too."""
        game = self.stage.game
        super().stand_up()
        if self.me:
            self.door.company.leave(self.me, game)
        self.me = ""

    # --- what the stages use --------------------------------------------------------------------------------------

    def turn_away(self) -> None:
        """Take the place from a client, say why, and hang up unless another try may help."""
        self.stand_up()
        self.stage = Outside(self)
        line, self.sent_away = self.sent_away, ""
        hint = self.door.hint(line.removeprefix("E|"), self.watch.news)
        if line.startswith("E|"):
            self.peer.send(line)
            self.report_refusal(line.removeprefix("E|"), hint)
        else:
            self.send_away(line, hint)

    def send_away(self, line: str, hint: str = "") -> None:
        """Say why, and hang up; a player stays in a running game, and may come back."""
        self.peer.send(line)
        self.report_refusal(line, hint)
        self.end()

    def inform(self, text: str) -> None:
        """Send a text from nobody."""
        self.peer.send(notice(text))

    def refuse(self, text: str) -> None:
        """Say why something is not done."""
        self.inform(text)
        self.report_refusal(text)

    def report_refusal(self, text: str, hint: str = "") -> None:
        """Report to the log what the client was refused."""
        self.report.refused(text if text in ANSWERS else "other", f"{self.title()}: {text}", hint)
