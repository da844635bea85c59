"""A client that has a place at the table: in the lobby, in the game, and until it knows how that ended."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final

from salvo import messages as m
from salvo.errors import WireError
from salvo.join.events import Event, HostSeen, Refused, Said, SalvoReported, ServerSeen
from salvo.messages import State
from salvo.view import Shot, View
from salvo_gateways.xbs.client_stage import ClientPlace, ClientStage
from salvo_gateways.xbs.doorway import OUT_OF_TIME
from salvo_gateways.xbs.protocol_text import XbsMessage, speakable, write

if TYPE_CHECKING:
    from salvo_gateways.xbs.client_handler import XbsHandler

#: How long the results of a game wait while the gateway's own connection has not received its end.
MAX_GOODBYE_SECONDS: Final = 1.0
#: Between two taunts, so that a player who is shot at often may still chat (SALVO-CHAT-4).
TAUNT_SECONDS: Final = 2.0


class AtTable(ClientStage):
    """It plays; in the system a server has one game, so the client leaves when that is over."""

    def __init__(self, client: XbsHandler, place: ClientPlace) -> None:
        super().__init__(client)
        self._place = place
        self._report = place.report
        self._results_by = 0.0  # by when the results are reported, whatever is missing; 0 before the end
        self._taunt_at = 0.0

    @property
    def has_begun(self) -> bool:
        """Whether the boards were shown."""
        return self._report.view is not None

    @property
    def is_in_lobby(self) -> bool:
        """Whether the game has yet to begin."""
        return not self.has_begun

    @property
    def frees_place(self) -> bool:
        """Whether the place is in the lobby; one in a game stays, and the player is missing."""
        return not self.has_begun

    @property
    def polls_often(self) -> bool:
        """Whether results wait."""
        return self._results_by > 0

    @property
    def game(self) -> int:
        view = self._played
        return 0 if view is None else view.game

    @property
    def _played(self) -> View | None:
        """The game that the client plays; None before it has begun, and when it is over."""
        return None if self.is_over else self._report.view

    # --- what the client says -------------------------------------------------------------------------------------

    def shoot(self, received: XbsMessage) -> None:
        """Fire, or say why not."""
        self.catch_up()
        view = self._played
        if view is None:
            super().shoot(received)
            return
        x, y = received.number(2), received.number(3)
        grid = self.client.door.book.grid
        if not self._is_my_turn(view):
            self.client.refuse("it is not your turn!")
        elif not (target := self._report.target(view, received.value(1))):
            self.client.refuse("invalid target player name")
        elif target == self.client.me:
            self.client.refuse("don't shoot at yourself!")
        elif not (1 <= x <= grid.width and 1 <= y <= grid.height):
            self.client.refuse("illegal coordinates")
        elif (x, y) in view.marks(target):
            self.client.refuse("that spot has already been shot")
        else:
            self.client.session.fire([Shot(target, x, y)])

    def skip(self, reason: str) -> None:
        """End the turn; out of turn it is ignored."""
        self.catch_up()
        view = self._played
        if view is not None and self._is_my_turn(view):
            self._report.skipped = True
            self.client.door.company.note_skip(self.client.me, view.turn, reason)
            self.client.session.skip()

    def _is_my_turn(self, view: View) -> bool:
        return view is self.client.session.view and self._report.is_my_turn(view)

    def speak(self, to: str, text: str) -> None:
        """Say a line; one without text or to an unknown name is ignored."""
        if self.is_over or not text:
            return
        receiver = self._report.names.meant(to)
        if to and not receiver:
            return
        try:
            self.client.send_chat(text, receiver)
        except WireError as error:
            self.client.refuse("chat is off" if error.code == "chat_off" else speakable(error.text))

    # --- what happens at the table --------------------------------------------------------------------------------

    def announcement_received(self, announcement: m.Announcement) -> None:
        self._place.announcement_received(announcement)

    def event_received(self, event: Event) -> None:
        """Report what has happened; :meth:`catch_up` reports what only the session shows."""
        self._place.event_received(event)
        match event:
            case SalvoReported(result):
                self._salvo_reported(result)
            case HostSeen(acted):
                if not self._place.note_skip(acted) and not self.is_over:
                    self.client.inform(acted.text or str(acted))
            case Said(sender, text, private) if not self.is_over:
                self._pass_on(sender, text, private=private)
            case Refused(code, text) if self._played is not None:
                self._refused(code, text)
            case ServerSeen(online, presence) if online is self.client.server_away:
                if not self.is_over and self._place.ended_as is None:
                    news = "back" if online else f"{presence}; the game waits for it"
                    self.client.inform(f"the server is {news}")

    def _salvo_reported(self, result: m.SalvoResolved) -> None:
        if not self.has_begun:
            self.catch_up()
        view = self.client.session.view
        if self._played is not None and view is not None:
            self._report.report_salvo(view, result, self._taunt_shooter)

    def _pass_on(self, sender: str, text: str, *, private: bool) -> None:
        """Pass on a line of chat, except the client's own."""
        if sender != self.client.me and (text := speakable(text)):
            name = self._report.names.shown(sender) if sender else ""
            self.client.peer.send(write("M", name, text) if private else write("M", name, text, "All"))

    def _refused(self, code: str, text: str) -> None:
        if code == "turn_timeout":  # the turn's result is reported to the client
            hint = self.client.door.hint(OUT_OF_TIME, self.client.watch.news)
            self.client.report_refusal(OUT_OF_TIME, hint)
        else:
            self.client.refuse(speakable(text))

    def tick(self, now: float) -> None:
        """Leave a table that has no more use for the client."""
        if self.client.sent_away and not self.is_over:
            self.client.turn_away()

    def catch_up(self) -> None:
        if self.is_over:
            return
        if not self.has_begun:
            view = self.client.session.view
            if view is not None and self._place.started:
                self._report.begin(view, back=self._place.back)
            else:
                self._report.list_players(self._place.listed or ())
        if (known := self._played) is not None:
            self._report_game(known)

    def _report_game(self, known: View) -> None:
        """Report what is new in the game, or how it ended."""
        report, view, ended_as = self._report, self.client.session.view, self._place.ended_as
        if view is not None and view.game == known.game:
            report.view = known = view
            report.report_boards()
            report.report_turn(view)
        ended = ended_as is not None and ended_as.game == known.game
        if not (ended or known is not view) or self._must_wait():
            return
        if ended_as is not None and ended:
            how = "aborted" if ended_as.aborted else "finished"
            report.report_results(how, {name: m.Tally(s.turns, s.shots, s.hits) for name, s in ended_as.stats.items()})
        else:
            report.report_results("aborted", known.tallies)
        self.is_over = True

    def _must_wait(self) -> bool:
        """Whether a client that reads the results and comes back at once would still find the game running."""
        now = self.client.clock()
        self._results_by = self._results_by or now + MAX_GOODBYE_SECONDS
        return self.client.watch.news.state is State.TURN and now < self._results_by and not self.client.dismissed

    # --- taunts ---------------------------------------------------------------------------------------------------

    def _taunt_shooter(self, shooter: str, target: str, kind: str) -> None:
        """Let the target of a shot answer it."""
        if target == self.client.me:
            self._taunt(shooter, kind)
        elif shooter == self.client.me:
            self._be_taunted_by(target, kind)

    def _be_taunted_by(self, target: str, kind: str) -> None:
        """Send the client another one's answer to its shot; nothing where the chat is off."""
        member = self.client.door.company.member(target)
        text = speakable(member.taunt(kind)) if member is not None else ""
        if text and self.client.session.chat:
            self.client.peer.send(write("M", self._report.names.shown(target), text))

    def _taunt(self, shooter: str, kind: str) -> None:
        """Send one of the texts to a player from elsewhere who has just shot here, as the chat's limits allow."""
        now, text = self.client.clock(), self.client.taunt(kind)
        if text and now >= self._taunt_at and self.client.door.company.member(shooter) is None:
            self._taunt_at = now + TAUNT_SECONDS
            with contextlib.suppress(WireError):
                self.client.send_chat(text, shooter)
