"""One client of Xterm Boat Sinker at a table."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from enum import Enum, auto
from random import Random
from typing import Final

from salvo import messages as m
from salvo.errors import SalvoError, WireError
from salvo.events import Event, FleetWanted, GameEnded, HostSeen, Refused, Said, SalvoHeard, ServerSeen
from salvo.messages import State
from salvo.rules import Fleet, RuleBook
from salvo.view import Shot, View
from salvo_gateways.peer import Broken, Peer
from salvo_gateways.table_watch import TableWatch
from salvo_gateways.xbs.name_registry import NameRegistry
from salvo_gateways.xbs.protocol_text import (
    Message,
    Names,
    complete,
    masked,
    name_fault,
    read,
    read_board,
    seated_name,
    second_seated_name,
    speakable,
    square,
    write,
)
from salvo_gateways.xbs.seated import SeatedHandler

#: Clients of 1.1 take 1.1 or later.
VERSION: Final = "2.0.0"
#: Players that a game takes.
FEWEST_PLAYERS: Final = 2
#: From ``J`` to its answer. A new account takes a second, a server that derives keys for a full lobby three.
JOIN_SECONDS: Final = 20.0
#: How long the results of a game wait while the gateway's own connection has not heard of its end.
MAX_GOODBYE_SECONDS: Final = 1.0
#: A player with the right secret is listed at once, whatever refusals its name gets.
TAKEN_SECONDS: Final = 1.0
#: While something is waited for before a client can sit down.
_LOOK_SECONDS: Final = 0.05
#: A client that wants to join waits for a result that stays no longer than this; the system's own server has none.
MAX_REOPENING_SECONDS: Final = 5
#: Of each type; more are forgotten.
MAX_TAUNTS: Final = 100
#: Lines of chat between J and its answer that are kept until they can be said; more are dropped.
MAX_UNSAID: Final = 10
#: Between two taunts, so that a player who is shot at often may still chat (SALVO-CHAT-4).
TAUNT_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True)
class Doorway:
    """What all clients of one door share.

    Attributes:
        title: what ``G`` calls the game.
        most: players that ``G`` allows, and that make the game full.
        least: players with which ``G`` says that the game can start.
    """

    book: RuleBook
    title: str
    most: int
    least: int = FEWEST_PLAYERS
    company: NameRegistry = field(default_factory=NameRegistry)
    random: Random = field(default_factory=Random)


class Stage(Enum):
    """How far a client has come."""

    OUTSIDE = auto()  # connected
    JOINING = auto()  # has asked for a place, and may be waiting to sit down
    WAITING = auto()  # has one
    PLAYING = auto()  # has heard that the game is on
    DONE = auto()  # has heard how it ended, or was sent away


class XbsHandler(SeatedHandler):
    """Speaks the protocol of :mod:`salvo_gateways.xbs`, which says what becomes of each message."""

    def __init__(self, peer: Peer, watch: TableWatch, doorway: Doorway) -> None:
        super().__init__(peer, watch)
        self._door = doorway
        self._book = doorway.book
        self._stage = Stage.OUTSIDE
        self.called = ""  # what the client calls itself
        self._me = ""  # at the table
        self._asked: Message | None = None  # the J that waits for a place to sit down
        self._names = Names(self._book.grid.width)
        self._fleet: Fleet | None = None  # the one that came with J
        self._back = False  # whether it was to come back to a running game
        self._answer_by = 0.0
        self._taken_by: float | None = None
        self._sent_away = ""  # the line to say before hanging up, or an E line, after which the client may try again
        self._listed: tuple[str, ...] | None = None
        self._joined: set[str] = set()  # players that the client has heard of
        self._turn: m.TurnBegan | None = None
        self._told_turn = 0
        self._told: dict[str, str] = {}  # board messages by player
        self._told_as_of: object = None
        self._view: View | None = None  # of the game that the client has heard of
        self._order: tuple[str, ...] = ()  # of its players, by turns
        self._ended_as: GameEnded | None = None
        self._results_by = 0.0  # when the results are told in any case; 0 before the end
        self._skipped = False
        self._away = False
        self._taunts: dict[str, tuple[str, ...]] = {"hit": (), "miss": ()}
        self._taunt_at = 0.0
        self._unsaid: list[tuple[str, str]] = []  # receiver and text
        self._reason = ""  # for leaving

    # --- what other clients ask ---------------------------------------------------------------------------------------

    def is_going(self) -> bool:
        """Whether the client has hung up."""
        return self.peer.gone

    def taunt(self, kind: str) -> str:
        """Return one of the texts that were set for who shoots here."""
        texts = self._taunts[kind]
        return self._door.random.choice(texts) if texts else ""

    # --- what the client says -------------------------------------------------------------------------------------

    def connected(self) -> None:
        """The system's server speaks first."""
        rules = self.watch.news.rules
        if rules is None or rules.book != self._book:
            self._send_away("the rules of this table have changed")
        else:
            self.peer.send(self._game_info())

    def invalid_message_received(self, broken: Broken) -> None:
        """What is longer than a message can be, or not text, is not a message."""
        self._send_away("protocol error")

    def message_received(self, message: str) -> None:
        """Do what a message asks for; a client that sends anything else is sent away."""
        said = read(message)
        if said is None:
            self._send_away("protocol error")
            return
        match said.kind:
            case "G":
                self.peer.send(self._game_info())
            case "P":
                self.peer.send(said.line)
            case "J":
                self._join(said)
            case "S":
                self._shoot(said)
            case "K":
                self._skip(speakable(said.value(1)))
            case "M":
                self._speak(said.value(1), said.value(2))
            case "T":
                self._set_taunt(said.value(1), said.value(2))
            case "L":
                self._reason = speakable(said.value(1))
                self.end()

    def max_wait(self) -> float:
        return _LOOK_SECONDS if self._asked is not None or self._results_by else super().max_wait()

    def disconnected(self) -> None:
        """Free the player's place in the lobby; in a game it stays, and is missing."""
        joining = self._stage is Stage.JOINING and self._taken_by is None
        if self.seated and (joining or self._stage is Stage.WAITING):
            self._door.company.note_reason(self._me, self._reason)
            self.leave_lobby()

    @property
    def _reopens(self) -> bool:
        """Whether the last game is over and the next lobby about to open."""
        news = self.watch.news
        soon = news.rules is not None and news.rules.over_seconds <= MAX_REOPENING_SECONDS
        return news.state is State.OVER and soon

    def _game_info(self) -> str:
        news, book = self.watch.news, self._book
        joined = 0 if self._reopens else len(news.players)
        return write(
            "G",
            VERSION,
            self._door.title,
            "N" if news.state is State.LOBBY or self._reopens else "Y",
            self._door.least,
            max(self._door.most, joined),  # clients believe in no game with more players than fit
            joined,
            book.goal,
            book.grid.width,
            book.grid.height,
            len(book.fleet),
            *(f"{ship.name.upper()}{ship.length}" for ship in book.fleet),
        )

    def _join(self, said: Message) -> None:
        if self._stage is not Stage.OUTSIDE or not said.value(1):
            self._send_away("protocol error")
            return
        self._stage, self._asked = Stage.JOINING, said
        self._answer_by = self.clock() + JOIN_SECONDS
        self._sit_down_or_not()
        if self._sent_away:
            self._turn_away()

    def _sit_down_or_not(self) -> None:
        """Sit down, or say why not; wait for the next lobby, or for a client that is giving the name back."""
        assert self._asked is not None
        if self._reopens:
            return
        name, board = self._asked.value(1), self._asked.value(2)
        seat = self._seat_of(name)
        holder = self._door.company.member(seat)
        if holder is not None and holder.is_going():
            return
        self._asked = None
        self._back = seat in self.watch.news.players and self.watch.news.state is not State.LOBBY
        self._fleet = read_board(board, self._book)
        self._sent_away = self._why_not(name, seat)
        if not self._sent_away:
            self._sit_down_as(seat, name)

    def _seat_of(self, name: str) -> str:
        """Return the client's name at the table, where spellings of one name exclude one another; here they do not."""
        seat, second = seated_name(name), second_seated_name(name)
        players = self.watch.news.players
        others = [each for each in (*players, *self._door.company.names()) if each.lower() == seat.lower()]
        called = self._door.company.called(seat)
        taken = any(each != seat for each in others) or called not in ("", name)
        return second if second in players or taken or self.watch.spelled_otherwise(seat) else seat

    def _why_not(self, name: str, seat: str) -> str:
        """Return what to tell a client that cannot join; empty for one that can."""
        news = self.watch.news
        listed, fault = seat in news.players, name_fault(name, self._book.grid.width)
        if not listed and news.state is State.LOBBY and len(news.players) >= self._door.most:
            return "game is full"
        if fault:
            return write("E", fault)
        if not listed and news.state is not State.LOBBY:
            return "game is already started"
        return "invalid board" if self._fleet is None and not self._back else ""

    def _sit_down_as(self, seat: str, name: str) -> None:
        self.called = name
        if not self._door.company.claim(seat, self):
            self._sent_away = write("E", "name in use")
            return
        self._me, self._names = seat, Names(self._book.grid.width, seat, name, self._door.company.called)
        try:
            self.sit_down(seat)
        except SalvoError as error:
            why = {"bad_name": "invalid name", "name_taken": "name in use"}.get(error.code, speakable(error.text))
            self._sent_away = write("E", why)

    def _shoot(self, said: Message) -> None:
        self._catch_up()
        view = self._view if self._stage is Stage.PLAYING else None
        if view is None:
            self._tell("game hasn't started" if self.watch.news.state is State.LOBBY else "it is not your turn!")
            return
        x, y = said.number(2), said.number(3)
        grid = self._book.grid
        if not self._is_my_turn(view):
            self._tell("it is not your turn!")
        elif not (target := self._target(view, said.value(1))):
            self._tell("invalid target player name")
        elif target == self._me:
            self._tell("don't shoot at yourself!")
        elif not (1 <= x <= grid.width and 1 <= y <= grid.height):
            self._tell("illegal coordinates")
        elif (x, y) in view.marks(target):
            self._tell("that spot has already been shot")
        else:
            self.session.fire([Shot(target, x, y)])

    def _target(self, view: View, text: str) -> str:
        """Return whom a shot is meant for: a name, the beginning of only one, or a number in turn order, from 1."""
        if text.isascii() and text.isdigit():
            return dict(enumerate(self._order, start=1)).get(int(text[:3]), "")
        begins = [name for name in view.players if text and self._names.shown(name).startswith(text)]
        meant = self._names.meant(text)
        return meant if meant in view.players else begins[0] if len(begins) == 1 else ""

    def _skip(self, reason: str) -> None:
        """End the turn; out of turn it is ignored."""
        self._catch_up()
        if self._stage is Stage.PLAYING and self._view is not None and self._is_my_turn(self._view):
            self._skipped = True
            self._door.company.note_skip(self._me, self._view.turn, reason)
            self.session.skip()

    def _is_my_turn(self, view: View) -> bool:
        return view is self.session.view and view.shots > 0 and self._told_turn == view.turn

    def _speak(self, to: str, text: str) -> None:
        """Say a line, as soon as the client is seated; one without text or to an unknown name is ignored."""
        if self._stage is Stage.JOINING and len(self._unsaid) < MAX_UNSAID:
            self._unsaid.append((to, text))
        if self._stage not in (Stage.WAITING, Stage.PLAYING) or not text:
            return
        hearer = self._names.meant(to)
        if to and not hearer:
            return
        try:
            self.send_chat(text, hearer)
        except WireError as error:
            self._tell("chat is off" if error.code == "chat_off" else speakable(error.text))

    def _set_taunt(self, kind: str, text: str) -> None:
        taunts = self._taunts.get(kind.lower())
        if taunts is None:
            return
        if not text:
            self._taunts[kind.lower()] = ()
        elif len(taunts) < MAX_TAUNTS:
            self._taunts[kind.lower()] = (*taunts, text)

    # --- what happens at the table --------------------------------------------------------------------------------

    def announcement_received(self, announcement: m.Announcement, retained: bool) -> None:
        """Note who is there and whose turn it is; the client hears of it once the session knows it, too."""
        match announcement:
            case m.PlayersListed(names):
                self._listed = names
            case m.TurnBegan():
                self._turn = announcement
            case m.CommandRefused(_, "name_taken", _) if self._stage is Stage.JOINING and self._taken_by is None:
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
            case SalvoHeard(result):
                self._tell_salvo(result)
            case GameEnded():
                self._ended_as = event
            case HostSeen(acted):
                self._hear_host(acted)
            case Said(sender, text, private):
                self._heard(sender, text, private=private)
            case Refused(code, text):
                self._refused(code, text)
            case ServerSeen(online):
                if self._stage in (Stage.WAITING, Stage.PLAYING) and online is self._away:
                    self._tell("the server is back" if online else "the server is away; the game waits for it")
                self._away = not online

    def _hear_host(self, acted: m.HostActed) -> None:
        """Tell what a host does: a skip by its own message, all else as a text from nobody."""
        turn = self._turn
        if acted.do is m.HostAction.SKIP and turn is not None:
            self._door.company.note_skip(turn.player, turn.turn, "skipped by the host")
        elif self._stage in (Stage.WAITING, Stage.PLAYING):
            self._tell(acted.text or str(acted))

    def tick(self, now: float) -> None:
        """Tell what has changed at the table, and give up what takes too long."""
        if self._asked is not None:
            self._sit_down_or_not()
        if self._sent_away and self._stage is not Stage.DONE:
            self._turn_away()
        elif self._asked is not None and now > self._answer_by:
            self._asked, self._sent_away = None, write("E", "the table does not answer")
        elif self._stage is Stage.JOINING and self.seated:
            self._join_or_not(now)
        self._catch_up()
        if self._stage is Stage.DONE:
            self.end()

    def stand_up(self) -> None:
        """Give the name back, too."""
        game = self._view.game if self._view is not None and self._stage is Stage.PLAYING else 0
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
        view = self.session.view
        return view is not None and self._turn_in(view) is not None

    def _turn_in(self, view: View) -> m.TurnBegan | None:
        """Return a game's current turn; on an open broker any client may have announced one of an unknown player."""
        turn = self._turn
        return turn if turn is not None and turn.game == view.game and turn.player in view.players else None

    def _welcome(self, fleet: Fleet) -> None:
        self.peer.send(write("J", self._names.shown(self._me)))
        self._joined.add(self._me)
        view = self.session.view
        if self._back:
            self.peer.send(write("Y", complete(fleet, view.incoming if view is not None else ())))
        self._stage = Stage.WAITING
        unsaid, self._unsaid = self._unsaid, []
        for to, text in unsaid:
            self._speak(to, text)

    def _turn_away(self) -> None:
        self.stand_up()
        line, self._sent_away = self._sent_away, ""
        self._asked = None
        self._listed, self._taken_by, self._turn, self._unsaid = None, None, None, []
        if line.startswith("E|"):
            self._stage = Stage.OUTSIDE
            self.peer.send(line)
        else:
            self._stage = Stage.DONE
            self._send_away(line)

    def _send_away(self, line: str) -> None:
        """Say why, and hang up; a player stays in a running game, and may come back."""
        self.peer.send(line)
        self.end()

    def _refused(self, code: str, text: str) -> None:
        if self._stage is Stage.JOINING:
            if code == "table_full":
                self._sent_away = "game is full"
            elif code in ("not_in_roster", "sealed_required"):
                self._sent_away = write("E", speakable(text))
        elif self._stage is Stage.PLAYING and code != "turn_timeout":  # of which the turn's result tells
            self._tell(speakable(text))

    def _heard(self, sender: str, text: str, *, private: bool) -> None:
        """Pass on a line of chat, except the client's own."""
        if self._stage in (Stage.WAITING, Stage.PLAYING) and sender != self._me and (text := speakable(text)):
            name = self._names.shown(sender) if sender else ""
            self.peer.send(write("M", name, text) if private else write("M", name, text, "All"))

    # --- the game -------------------------------------------------------------------------------------------------

    def _tell(self, text: str) -> None:
        self.peer.send(write("M", "", text))

    def _catch_up(self) -> None:
        """Tell all that the session knows and the client does not."""
        if self._stage not in (Stage.WAITING, Stage.PLAYING):
            return
        if self._stage is Stage.WAITING:
            if self._started:
                self._begin()
            else:
                self._tell_who_is_here(self._listed or ())
        if self._stage is Stage.PLAYING:
            self._go_on()

    def _go_on(self) -> None:
        """Tell what is new in the game, or how it ended."""
        known, view = self._view, self.session.view
        assert known is not None
        if view is not None and view.game == known.game:
            known = self._view = view
            self._tell_boards()
            self._tell_turn(view)
        ended = self._ended_as is not None and self._ended_as.game == known.game
        if (ended or known is not view) and self._must_wait():
            return
        if ended:
            assert self._ended_as is not None
            how, stats = "aborted" if self._ended_as.aborted else "finished", self._ended_as.stats
            self._tell_results(how, {name: m.Tally(s.turns, s.shots, s.hits) for name, s in stats.items()})
        elif known is not view:
            self._tell_results("aborted", known.tallies)

    def _must_wait(self) -> bool:
        """Whether a client that reads the results and comes back at once would still find the game running."""
        now = self.clock()
        self._results_by = self._results_by or now + MAX_GOODBYE_SECONDS
        return self.watch.news.state is State.TURN and now < self._results_by and not self.dismissed

    def _tell_who_is_here(self, names: tuple[str, ...]) -> None:
        """The game begins with as many players as a client has heard of, or the client gives up."""
        gone = self._joined.difference(names, (self._me,))
        come = [name for name in names if name not in self._joined]
        for name in sorted(gone):
            self.peer.send(write("L", self._names.shown(name), self._door.company.reason(name)))
            self._names.forget(name)
        self.peer.send(*(write("J", self._names.shown(name)) for name in come))
        self._joined = self._joined.difference(gone).union(come)

    def _begin(self) -> None:
        view = self._view = self.session.view
        assert view is not None
        players = self._order = self._turn_order(view)
        self._told_as_of = self._as_of(view)
        boards = self._boards(view)
        if self._back:
            for name in players:
                if name != self._me:
                    self.peer.send(write("J", self._names.shown(name)), boards[name])
            self._joined.update(players)
        else:
            self._tell_who_is_here(players)
            self.peer.send(*(boards[name] for name in players))
        self._told = boards
        self.peer.send(write("S", *map(self._names.shown, players)))
        self._stage = Stage.PLAYING
        self._tell_turn(view)
        if self._back:
            self.peer.send(boards[self._me])
            self._tell(f"{self._names.shown(self._me)} reconnected")

    def _turn_order(self, view: View) -> tuple[str, ...]:
        """The players, starting with the one who had the first turn; as no one is ever out, any turn tells which."""
        players, turn = view.players, self._turn_in(view)
        assert turn is not None
        first = (players.index(turn.player) - (turn.turn - 1)) % len(players)
        return players[first:] + players[:first]

    def _boards(self, view: View) -> dict[str, str]:
        """Return every player's board message."""
        tallies = view.tallies
        return {name: self._board(view, name, tallies[name]) for name in view.players}

    def _board(self, view: View, name: str, tally: m.Tally) -> str:
        board = masked(view.marks(name), self._book.grid)
        return write(
            "B", self._names.shown(name), self._status(view, name), board, tally.hits, tally.turns - tally.shots
        )

    def _status(self, view: View, name: str) -> str:
        return "disconnected" if self._door.company.is_missing(name, view.game) else ""

    def _as_of(self, view: View) -> object:
        """Return what changes when a board message does."""
        return view.turns_known, *(self._status(view, name) for name in view.players)

    def _tell_boards(self, *first: str) -> None:
        """Send the boards that have changed since they were sent last, those of ``first`` before all others."""
        view = self._view
        assert view is not None
        as_of = self._as_of(view)
        if as_of == self._told_as_of:
            return
        boards = self._boards(view)
        for name in sorted(boards, key=lambda name: first.index(name) if name in first else len(first)):
            if boards[name] != self._told[name]:
                self.peer.send(boards[name])
                if self._told[name].split("|")[2] and not self._status(view, name):
                    self._tell(f"{self._names.shown(name)} reconnected")
        self._told, self._told_as_of = boards, as_of

    def _tell_turn(self, view: View) -> None:
        """Say whose turn it is, once boards and session are ready for the answer."""
        turn = self._turn_in(view)
        if turn is None or turn.turn <= self._told_turn:
            return
        if turn.player == self._me:
            ready = view.turn == turn.turn and (view.shots > 0 or bool(view.fired_this_turn))
        else:
            ready = view.resolved_turn >= turn.turn - 1
        if ready:
            self._told_turn = turn.turn
            self._skipped = False
            self.peer.send(write("N", self._names.shown(turn.player)))

    def _tell_salvo(self, result: m.SalvoResolved) -> None:
        """Say what came of a turn: a hit before the boards, so that a client that counts points itself is put right."""
        if self._stage is Stage.WAITING:
            self._catch_up()
        if self._stage is not Stage.PLAYING or self.session.view is None:
            return
        self._view = self.session.view
        self._tell_turn(self._view)
        if not {result.player, *(target for target, _, _ in result.aims_if_told or ())} <= {*self._view.players}:
            return  # noise on an open broker
        name = self._names.shown
        if not result.aims_if_told or result.outcomes_if_told is None:
            mine = result.player == self._me
            if not (mine and self._skipped):
                reason = self._door.company.skip_reason(result.player, result.turn)
                self.peer.send(write("K", name(result.player), reason or ("out of time" if mine else "")))
            self._tell_boards(result.player)
            return
        for (target, x, y), hit in zip(result.aims_if_told, result.outcomes_if_told, strict=True):
            if hit:
                self.peer.send(write("H", name(result.player), name(target), square(x, y)))
            if target == self._me:
                self._taunt(result.player, "hit" if hit else "miss")
            elif result.player == self._me:
                self._be_taunted_by(target, "hit" if hit else "miss")
            self._tell_boards(result.player, target)

    def _be_taunted_by(self, target: str, kind: str) -> None:
        """Tell the client another one's answer to its shot; nothing where the chat is off."""
        member = self._door.company.member(target)
        text = speakable(member.taunt(kind)) if member is not None else ""
        if text and self.session.chat:
            self.peer.send(write("M", self._names.shown(target), text))

    def _taunt(self, shooter: str, kind: str) -> None:
        """Send one of the texts to a player from elsewhere who has just shot here, as the chat's limits allow."""
        now, text = self.clock(), self.taunt(kind)
        if text and now >= self._taunt_at and self._door.company.member(shooter) is None:
            self._taunt_at = now + TAUNT_SECONDS
            with contextlib.suppress(WireError):
                self.send_chat(text, shooter)

    def _tell_results(self, state: str, tallies: dict[str, m.Tally]) -> None:
        """Say how the game ended, and hang up: in the system a server has one game."""
        view = self._view
        assert view is not None
        self.peer.send(write("F", state, max(tally.turns for tally in tallies.values()), len(tallies)))
        for name in sorted(view.players, key=lambda name: -tallies[name].hits):
            tally = tallies[name]
            skips = tally.turns - tally.shots
            self.peer.send(
                write("R", self._names.shown(name), tally.hits, skips, tally.turns, self._status(view, name))
            )
        self._stage = Stage.DONE
