"""One client of Xterm Boat Sinker at a table."""

from __future__ import annotations

import contextlib
from enum import Enum, auto
from typing import Final

from salvo import messages as m
from salvo.errors import SalvoError, WireError, printable
from salvo.join.events import Event, FleetWanted, GameEnded, HostSeen, Refused, Said, SalvoReported, ServerSeen
from salvo.messages import State
from salvo.rules import Fleet
from salvo.view import Shot, View
from salvo_gateways.peer import Broken, ClientConnection
from salvo_gateways.report import hint_of_system
from salvo_gateways.table_watch import TableWatch
from salvo_gateways.xbs.doorway import ANSWERS, OUT_OF_TIME, Doorway, Taunts
from salvo_gateways.xbs.game_report import GameNarrator
from salvo_gateways.xbs.protocol_text import Names, XbsMessage, complete, notice, read, read_board, speakable, write
from salvo_gateways.xbs.seated import SeatedHandler

#: From ``J`` to its answer. A new account takes a second, a server that derives keys for a full lobby three.
JOIN_SECONDS: Final = 20.0
#: How long the results of a game wait while the gateway's own connection has not heard of its end.
MAX_GOODBYE_SECONDS: Final = 1.0
#: A player with the right secret is listed at once, whatever refusals its name gets.
TAKEN_SECONDS: Final = 1.0
#: While something is waited for before a client can sit down.
_LOOK_SECONDS: Final = 0.05
#: Lines of chat between J and its answer that are kept until they can be said; more are dropped.
MAX_UNSAID: Final = 10
#: Between two taunts, so that a player who is shot at often may still chat (SALVO-CHAT-4).
TAUNT_SECONDS: Final = 2.0


class ClientStage(Enum):
    """How far a client has come."""

    OUTSIDE = auto()  # connected
    JOINING = auto()  # has asked for a place, and may be waiting to sit down
    WAITING = auto()  # has one
    PLAYING = auto()  # has heard that the game is on
    DONE = auto()  # has heard how it ended, or was sent away


_BEFORE_THE_GAME: Final = (ClientStage.OUTSIDE, ClientStage.JOINING, ClientStage.WAITING)


class XbsHandler(SeatedHandler):
    """Speaks the protocol of :mod:`salvo_gateways.xbs`, which says what becomes of each message."""

    def __init__(self, peer: ClientConnection, watch: TableWatch, doorway: Doorway) -> None:
        super().__init__(peer, watch)
        self._door = doorway
        self._book = doorway.book
        self._stage = ClientStage.OUTSIDE
        self.called = ""  # what the client calls itself
        self._me = ""  # at the table
        self._asked: XbsMessage | None = None  # the J that waits for a place to sit down
        self._report = self._new_report("", "")
        self._fleet: Fleet | None = None  # the one that came with J
        self._back = False  # whether it was to come back to a running game
        self._bounds = (0, 0)  # the numbers of players that the client knows from G
        self._answer_by = 0.0
        self._taken_by: float | None = None
        self._sent_away = ""  # the line to say before hanging up, or an E line, after which the client may try again
        self._listed: tuple[str, ...] | None = None
        self._ended_as: GameEnded | None = None
        self._results_by = 0.0  # by when the results are reported, whatever is missing; 0 before the end
        self._away = False
        self._taunts = Taunts()
        self._taunt_at = 0.0
        self._unsaid: list[tuple[str, str]] = []  # receiver and text
        self._reason = ""  # for leaving

    # --- what other clients ask ---------------------------------------------------------------------------------------

    def is_going(self) -> bool:
        """Whether the client has hung up."""
        return self.peer.gone

    def is_in_lobby(self) -> bool:
        """Whether the client has a place in the lobby, or has asked for one."""
        return self._stage in (ClientStage.JOINING, ClientStage.WAITING)

    def taunt(self, kind: str) -> str:
        """Return one of the texts that were set for who shoots here."""
        return self._taunts.draw(kind, self._door.random)

    # --- what the client says -------------------------------------------------------------------------------------

    def connected(self) -> None:
        """The system's server speaks first."""
        rules = self.watch.news.rules
        if rules is None or rules.book != self._book:
            self._send_away("the rules of this table have changed", "end the gateway, and start it again")
        else:
            self._send_game_info()

    def invalid_message_received(self, broken: Broken) -> None:
        """What is longer than a message can be, or not text, is not a message."""
        self._send_away("protocol error")

    def message_received(self, message: str) -> None:
        """Do what a message asks for; a client that sends anything else is sent away."""
        received = read(message)
        if received is None:
            self._send_away("protocol error", hint_of_system(message, "xbs"))
            return
        match received.kind:
            case "G":
                self._send_game_info()
            case "P":
                self.peer.send(received.line)
            case "J":
                self._join(received)
            case "S":
                self._shoot(received)
            case "K":
                self._skip(speakable(received.value(1)))
            case "M":
                self._speak(received.value(1), received.value(2))
            case "T":
                self._taunts.add(received.value(1), received.value(2))
            case "L":
                self._reason = speakable(received.value(1))
                self.end()

    def _send_game_info(self) -> None:
        news = self.watch.news
        self._bounds = self._door.bounds(news)
        self.peer.send(self._door.game_info(news))

    def title(self) -> str:
        return f"{printable(self.called, 40)} at {self.peer.name}" if self.called else self.peer.name

    def max_wait(self) -> float:
        return _LOOK_SECONDS if self._asked is not None or self._results_by else super().max_wait()

    def disconnected(self) -> None:
        """Free the player's place in the lobby; in a game it stays, and is missing."""
        joining = self._stage is ClientStage.JOINING and self._taken_by is None
        if self.seated and (joining or self._stage is ClientStage.WAITING):
            self._door.company.note_reason(self._me, self._reason)
            self.leave_lobby()

    def _join(self, received: XbsMessage) -> None:
        if self._stage is not ClientStage.OUTSIDE or not received.value(1):
            self._send_away("protocol error")
            return
        self._stage, self._asked = ClientStage.JOINING, received
        self._answer_by = self.clock() + JOIN_SECONDS
        self._sit_down_or_not()
        if self._sent_away:
            self._turn_away()

    def _sit_down_or_not(self) -> None:
        """Sit down, or say why not; wait for the next lobby, or for a client that is giving the name back."""
        assert self._asked is not None
        news = self.watch.news
        if self._door.reopens(news):
            return
        name, board = self._asked.value(1), self._asked.value(2)
        seat = self._door.seat_of(name, self.watch)
        holder = self._door.company.member(seat)
        if holder is not None and holder.is_going():
            return
        self._asked = None
        self._back = seat in news.players and news.state is not State.LOBBY
        self._fleet = read_board(board, self._book)
        self.called = name
        self._sent_away = self._door.admit(self, seat, news, board=self._fleet is not None or self._back)
        if not self._sent_away:
            self._sit_down_as(seat, name)

    def _sit_down_as(self, seat: str, name: str) -> None:
        self._me, self._report = seat, self._new_report(seat, name)
        try:
            self.sit_down(seat)
        except SalvoError as error:
            why = {"bad_name": "invalid name", "name_taken": "name in use"}.get(error.code, speakable(error.text))
            self._sent_away = write("E", why)

    def _new_report(self, seat: str, name: str) -> GameNarrator:
        names = Names(self._book.grid.width, seat, name, self._door.company.called)
        return GameNarrator(self._door, seat, names, self.peer.send)

    def _shoot(self, received: XbsMessage) -> None:
        self._catch_up()
        view = self._report.view
        if self._stage is not ClientStage.PLAYING or view is None:
            self._refuse("game hasn't started" if self.watch.news.state is State.LOBBY else "it is not your turn!")
            return
        x, y = received.number(2), received.number(3)
        grid = self._book.grid
        if not self._is_my_turn(view):
            self._refuse("it is not your turn!")
        elif not (target := self._report.target(view, received.value(1))):
            self._refuse("invalid target player name")
        elif target == self._me:
            self._refuse("don't shoot at yourself!")
        elif not (1 <= x <= grid.width and 1 <= y <= grid.height):
            self._refuse("illegal coordinates")
        elif (x, y) in view.marks(target):
            self._refuse("that spot has already been shot")
        else:
            self.session.fire([Shot(target, x, y)])

    def _skip(self, reason: str) -> None:
        """End the turn; out of turn it is ignored."""
        self._catch_up()
        view = self._report.view
        if self._stage is ClientStage.PLAYING and view is not None and self._is_my_turn(view):
            self._report.skipped = True
            self._door.company.note_skip(self._me, view.turn, reason)
            self.session.skip()

    def _is_my_turn(self, view: View) -> bool:
        return view is self.session.view and self._report.is_my_turn(view)

    def _speak(self, to: str, text: str) -> None:
        """Say a line, as soon as the client is seated; one without text or to an unknown name is ignored."""
        if self._stage is ClientStage.JOINING and len(self._unsaid) < MAX_UNSAID:
            self._unsaid.append((to, text))
        if self._stage not in (ClientStage.WAITING, ClientStage.PLAYING) or not text:
            return
        hearer = self._report.names.meant(to)
        if to and not hearer:
            return
        try:
            self.send_chat(text, hearer)
        except WireError as error:
            self._refuse("chat is off" if error.code == "chat_off" else speakable(error.text))

    # --- what happens at the table --------------------------------------------------------------------------------

    def announcement_received(self, announcement: m.Announcement, retained: bool) -> None:
        """Note who is present and whose turn it is; the client is informed once the session knows it, too."""
        match announcement:
            case m.PlayersListed(names):
                self._listed = names
            case m.TurnBegan():
                self._report.turn_began(announcement)
            case m.CommandRefused(_, "name_taken", _) if self._stage is ClientStage.JOINING and self._taken_by is None:
                self._taken_by = self.clock() + TAKEN_SECONDS

    def event_received(self, event: Event) -> None:
        """Tell what the client is to know; for changes that it reads off the session see :meth:`tick`."""
        match event:
            case FleetWanted(rules):
                if rules != self._book:
                    self._sent_away = "the rules of this table have changed"
                elif self._fleet is None:  # the game to come back to is over, and another one needs a board
                    self._sent_away = "game is already started"
                else:
                    self._back = False
                    self.session.place(self._fleet, self.clock())
            case SalvoReported(result):
                self._salvo_reported(result)
            case GameEnded():
                self._ended_as = event
            case HostSeen(acted):
                self._hear_host(acted)
            case Said(sender, text, private):
                self._pass_on(sender, text, private=private)
            case Refused(code, text):
                self._refused(code, text)
            case ServerSeen(online):
                waits = self._stage in (ClientStage.WAITING, ClientStage.PLAYING) and self._ended_as is None
                if waits and online is self._away:
                    self._inform("the server is back" if online else "the server is away; the game waits for it")
                self._away = not online

    def _hear_host(self, acted: m.HostActed) -> None:
        """Tell what a host does: a skip by its own message, all else as a text from nobody."""
        turn = self._report.announced
        if acted.do is m.HostAction.SKIP and turn is not None:
            self._door.company.note_skip(turn.player, turn.turn, "skipped by the host")
        elif self._stage in (ClientStage.WAITING, ClientStage.PLAYING):
            self._inform(acted.text or str(acted))

    def tick(self, now: float) -> None:
        """Tell what has changed at the table, and give up what takes too long."""
        if self._stage in _BEFORE_THE_GAME and self._bounds != self._door.bounds(self.watch.news):
            self._send_game_info()  # a host has set another number
        if self._asked is not None:
            self._sit_down_or_not()
        if self._sent_away and self._stage is not ClientStage.DONE:
            self._turn_away()
        elif self._asked is not None and now > self._answer_by:
            self._asked, self._sent_away = None, write("E", "the table does not answer")
        elif self._stage is ClientStage.JOINING and self.seated:
            self._join_or_not(now)
        self._catch_up()
        if self._stage is ClientStage.DONE:
            self.end()

    def stand_up(self) -> None:
        """Give the name back, too."""
        view = self._report.view
        game = view.game if view is not None and self._stage is ClientStage.PLAYING else 0
        super().stand_up()
        if self._me:
            self._door.company.leave(self._me, game)
        self._me = ""

    # --- joining --------------------------------------------------------------------------------------------------

    def _join_or_not(self, now: float) -> None:
        session, listed = self.session, self._listed
        if session.fleet is not None and (self._started if self._back else session.fleet == self._fleet):
            self._welcome(session.fleet)
        elif session.fleet is not None and not self._back:
            self._give_up_former_place()
        elif session.state is State.TURN and listed is not None and self._me not in listed:
            self._sent_away = "game is already started"
        elif self._taken_by is not None and now > self._taken_by:
            self._sent_away = write("E", "name in use")
        elif now > self._answer_by:
            self._sent_away = write("E", "name in use" if self._me in (listed or ()) else "the table does not answer")
        if self._sent_away:
            self._turn_away()

    def _give_up_former_place(self) -> None:
        """Take another place with the new board: this one was left without a word, as by a gateway that was killed."""
        if self.session.state is State.TURN:
            self._back = True  # it has begun with the former board
        else:
            self.session.leave()
            self.session.wants_to_play = True

    @property
    def _started(self) -> bool:
        """Whether the session knows a game with this player, and whose turn it is there."""
        return self._report.turn_of(self.session.view) is not None

    def _welcome(self, fleet: Fleet) -> None:
        self._report.welcome()
        view = self.session.view
        if self._back:
            self.peer.send(write("Y", complete(fleet, view.incoming if view is not None else ())))
        self._stage = ClientStage.WAITING
        self.report.happened(f"{self.title()}: {'comes back' if self._back else 'takes part'}{self._seat_shown()}")
        unsaid, self._unsaid = self._unsaid, []
        for to, text in unsaid:
            self._speak(to, text)

    def _seat_shown(self) -> str:
        return "" if self._me == self.called else f", as {self._me}"

    def _turn_away(self) -> None:
        self.stand_up()
        line, self._sent_away = self._sent_away, ""
        self._asked = None
        self._listed, self._taken_by, self._unsaid = None, None, []
        hint = self._door.hint(line.removeprefix("E|"), self.watch.news)
        if line.startswith("E|"):
            self._stage = ClientStage.OUTSIDE
            self.peer.send(line)
            self._report_refusal(line.removeprefix("E|"), hint)
        else:
            self._stage = ClientStage.DONE
            self._send_away(line, hint)

    def _send_away(self, line: str, hint: str = "") -> None:
        """Say why, and hang up; a player stays in a running game, and may come back."""
        self.peer.send(line)
        self._report_refusal(line, hint)
        self.end()

    def _refuse(self, text: str) -> None:
        """Say why something is not done."""
        self._inform(text)
        self._report_refusal(text)

    def _report_refusal(self, text: str, hint: str = "") -> None:
        self.report.refused(text if text in ANSWERS else "other", f"{self.title()}: {text}", hint)

    def _refused(self, code: str, text: str) -> None:
        if self._stage is ClientStage.JOINING:
            if code == "table_full":
                self._sent_away = "game is full"
            elif code in ("not_in_roster", "sealed_required"):
                self._sent_away = write("E", speakable(text))
        elif self._stage is ClientStage.PLAYING and code == "turn_timeout":  # of which the turn's result tells
            self._report_refusal(OUT_OF_TIME, self._door.hint(OUT_OF_TIME, self.watch.news))
        elif self._stage is ClientStage.PLAYING:
            self._refuse(speakable(text))

    def _pass_on(self, sender: str, text: str, *, private: bool) -> None:
        """Pass on a line of chat, except the client's own."""
        if (
            self._stage in (ClientStage.WAITING, ClientStage.PLAYING)
            and sender != self._me
            and (text := speakable(text))
        ):
            name = self._report.names.shown(sender) if sender else ""
            self.peer.send(write("M", name, text) if private else write("M", name, text, "All"))

    # --- the game -------------------------------------------------------------------------------------------------

    def _inform(self, text: str) -> None:
        self.peer.send(notice(text))

    def _catch_up(self) -> None:
        """Tell all that the session knows and the client does not."""
        if self._stage not in (ClientStage.WAITING, ClientStage.PLAYING):
            return
        if self._stage is ClientStage.WAITING:
            view = self.session.view
            if view is not None and self._started:
                self._report.begin(view, back=self._back)
                self._stage = ClientStage.PLAYING
            else:
                self._report.list_players(self._listed or ())
        if self._stage is ClientStage.PLAYING:
            self._go_on()

    def _go_on(self) -> None:
        """Tell what is new in the game, or how it ended."""
        report, view = self._report, self.session.view
        assert report.view is not None
        if view is not None and view.game == report.view.game:
            report.view = view
            report.report_boards()
            report.report_turn(view)
        known = report.view
        ended = self._ended_as is not None and self._ended_as.game == known.game
        if not (ended or known is not view) or self._must_wait():
            return
        if ended:
            assert self._ended_as is not None
            how, stats = "aborted" if self._ended_as.aborted else "finished", self._ended_as.stats
            report.report_results(how, {name: m.Tally(s.turns, s.shots, s.hits) for name, s in stats.items()})
        else:
            report.report_results("aborted", known.tallies)
        self._stage = ClientStage.DONE  # in the system a server has one game

    def _must_wait(self) -> bool:
        """Whether a client that reads the results and comes back at once would still find the game running."""
        now = self.clock()
        self._results_by = self._results_by or now + MAX_GOODBYE_SECONDS
        return self.watch.news.state is State.TURN and now < self._results_by and not self.dismissed

    def _salvo_reported(self, result: m.SalvoResolved) -> None:
        if self._stage is ClientStage.WAITING:
            self._catch_up()
        view = self.session.view
        if self._stage is ClientStage.PLAYING and view is not None:
            self._report.report_salvo(view, result, self._taunt_shooter)

    # --- taunts ---------------------------------------------------------------------------------------------------

    def _taunt_shooter(self, shooter: str, target: str, kind: str) -> None:
        """Let the target of a shot answer it."""
        if target == self._me:
            self._taunt(shooter, kind)
        elif shooter == self._me:
            self._be_taunted_by(target, kind)

    def _be_taunted_by(self, target: str, kind: str) -> None:
        """Tell the client another one's answer to its shot; nothing where the chat is off."""
        member = self._door.company.member(target)
        text = speakable(member.taunt(kind)) if member is not None else ""
        if text and self.session.chat:
            self.peer.send(write("M", self._report.names.shown(target), text))

    def _taunt(self, shooter: str, kind: str) -> None:
        """Send one of the texts to a player from elsewhere who has just shot here, as the chat's limits allow."""
        now, text = self.clock(), self.taunt(kind)
        if text and now >= self._taunt_at and self._door.company.member(shooter) is None:
            self._taunt_at = now + TAUNT_SECONDS
            with contextlib.suppress(WireError):
                self.send_chat(text, shooter)
