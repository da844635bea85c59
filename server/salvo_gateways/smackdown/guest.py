"""One program's stay. The package's docstring says which messages are sent when; this module sends them."""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Callable, Iterator
from enum import Enum, auto
from random import Random
from typing import Final

from salvo import messages as m
from salvo.errors import SalvoError
from salvo.events import Event, FleetWanted, GameEnded, GameTakenUp, Refused, SalvoHeard, SalvoWanted
from salvo.messages import State
from salvo.rules import Fleet, Repeats, RuleBook
from salvo.view import Shot, View
from salvo_gateways.accounts import GatewayError
from salvo_gateways.guest import Guest
from salvo_gateways.peer import Broken, Peer
from salvo_gateways.smackdown import lines
from salvo_gateways.smackdown.lines import LOCATIONS, SHOTS, Cell
from salvo_gateways.smackdown.names import Names
from salvo_gateways.table_watch import TableWatch

log = logging.getLogger(__name__)

#: How long a program may take for an answer.
ANSWER_SECONDS: Final = 10.0
#: Answers that a program may give ahead of the queries: more than a game of single shots on the largest grid has.
MAX_AHEAD: Final = 1000
#: A program that connects during a game may have been cut off a moment ago: noticing that takes this long.
SETTLE_SECONDS: Final = 0.3
#: How long a program may take to leave when its game is over.
LEAVE_SECONDS: Final = 2.0
#: Of the time for placing, how much a fleet waits for those of the names before it.
_SHARE_OF_PLACING: Final = 0.25


class _Told(Enum):
    """How far a program has come."""

    NOTHING = auto()
    ASKED = auto()  # for its locations
    READY = auto()  # its locations are answered
    END = auto()  # the game is over for it


class Player(Guest):
    """A program of Code Smackdown at the table."""

    def __init__(
        self,
        peer: Peer,
        watch: TableWatch,
        *,
        names: Names,
        check: Callable[[RuleBook], None],
        answer_seconds: float,
        opponent_first: bool,
        child: str = "",
    ) -> None:
        """Let a program in.

        Args:
            check: raises when the protocol cannot express a book.
            child: the name, if it is a child process: when that ends it does not come back into its game.
        """
        super().__init__(peer, watch)
        self._names = names
        self._check = check
        self._answer_seconds = answer_seconds
        self._opponent_first = opponent_first
        self._child = child
        self._called = ""  # the own name, once there is a seat
        self._told = _Told.NOTHING
        self._name_refused = False
        self._seat_at = 0.0
        self._forfeited = False
        self._walks_over = False  # whether the only rival has forfeited, so that this program has won
        self._began = False  # whether this program was in the game when it went on
        self._game = 0
        self._leave_by = 0.0
        self._ahead: deque[str | Broken] = deque()
        self._query = ""
        self._asked_at = 0.0
        self._fleet: Fleet | None = None
        self._fleet_wanted = False
        self._ask_by: float | None = None  # for the locations, after those of the names before this one
        self._place_by: float | None = None
        self._approved: set[str] = set()
        self._wanted: View | None = None  # the turn that waits for an answer
        self._allowed = 0  # shots of that turn
        self._given: tuple[int, list[tuple[Cell, bool | None]]] = (0, [])  # turn; shots, with what is known already
        self._waits_for_own = False  # result of a salvo
        self._told_turn = 0
        self._told_landed: Counter[Cell] = Counter()

    # --- the program ------------------------------------------------------------------------------------------------

    def rounds(self) -> Iterator[None]:
        try:
            yield from super().rounds()
        finally:  # not before the seat is left: the next one of this name sits down there
            if self._called:
                lost = self._began and not self._knows_the_end and not self._child
                self._names.give_back(self._called, lost_in=self._game if lost else 0)

    def connected(self) -> None:
        if self._child or self.watch.news.state is not State.TURN:
            self._find_a_seat()
        else:
            self._seat_at = self.watch.clock() + SETTLE_SECONDS

    def message_received(self, message: str) -> None:
        if message.strip():
            self._take_in(message)

    def invalid_message_received(self, broken: Broken) -> None:
        self._take_in(broken)

    @property
    def _knows_the_end(self) -> bool:
        """Whether the program has read how its game ended, which at the table may go on."""
        return self._forfeited or self._walks_over or self._told is _Told.END

    def _take_in(self, answer: str | Broken) -> None:
        if self._knows_the_end:
            return
        self._ahead.append(answer)
        if len(self._ahead) <= MAX_AHEAD:
            self._read_answers()
        elif self._told is _Told.NOTHING:
            log.warning("%s: too many messages before the game", self.peer.name)
            self.end()
        else:
            self._forfeit(f"more than {MAX_AHEAD} answers ahead of the queries")

    def lingers(self) -> bool:
        """A child that ended may have answered ahead, and after a forfeit both players stay in their game."""
        if not self.seated or self._told is _Told.END:
            return False
        return self._knows_the_end or (self._child != "" and (self._told is not _Told.NOTHING or bool(self._ahead)))

    def tick(self, now: float) -> None:
        if self._name_refused:
            self._leave_name()
        if not self.seated:
            if now >= self._seat_at:
                self._find_a_seat()
            return
        rules = self.session.rules
        if self._told is not _Told.END and rules is not None and len(self._approved) == len(rules.fleet):
            self._names.has_placed(self._called)
        self._win_if_the_rival_has_forfeited()
        in_game = self._began and self._told is not _Told.END
        if in_game and self.session.view is None and self.session.state is State.LOBBY:
            self._give_up_game()
        if self._leave_by and now > self._leave_by:
            self._leave_by = 0.0
            if self._told is _Told.END:
                self.end()
            else:
                self.peer.hang_up()
        if self._query and self.abandoned:
            self._forfeit(f"ended while its {self._query} were due")
        elif self._query and now - self._asked_at > self._answer_seconds:
            self._forfeit(f"no {self._query} within {self._answer_seconds:g} s")
        if self._ask_by is not None and (self._names.may_place(self._called) or now > self._ask_by):
            self._ask_by = None
            self._ask(LOCATIONS)
        if self._place_by is not None and (self._names.may_place(self._called) or now > self._place_by):
            self._place()

    def _find_a_seat(self) -> None:
        while (
            name := self._names.take_child(self._child) if self._child else self._names.take(self._is_off)
        ) is not None:
            self._called = name
            try:
                self.sit_down(name)
            except GatewayError as error:
                self._called = ""
                if error.code != "name_taken" or not self._names.is_not_ours(name):
                    raise
                continue
            log.info("%s: plays as %s", self.peer.name, name)
            return

    def _is_off(self) -> bool:
        """Whether the name will be free in a moment."""
        return self.peer.gone and not self.lingers()

    def _leave_name(self) -> None:
        """Try another name, since another player uses this one at the table."""
        name, self._called, self._name_refused = self._called, "", False
        self.stand_up()
        if not self._names.is_not_ours(name):
            raise GatewayError("name_taken", f"another player is called {name!r}")

    # --- queries and answers ----------------------------------------------------------------------------------------

    def _ask(self, about: str, *values: str) -> None:
        self.peer.send(lines.query(about, *values))
        self._query = about
        self._asked_at = self.watch.clock()
        self._read_answers()

    def _read_answers(self) -> None:
        while self._query and self._ahead:
            answer, query = self._ahead.popleft(), self._query
            self._query = ""
            try:
                if query == LOCATIONS:
                    self._locate(answer)
                else:
                    self._shoot(lines.read_shots(_text(answer), self._allowed))
            except SalvoError as error:
                self._forfeit(str(error))

    def _introduce(self, rules: RuleBook) -> None:
        """Tell what is played and ask for the locations, once the names before this one have placed theirs."""
        self._check(rules)
        self._told = _Told.ASKED
        self.peer.send(*lines.opening(rules))
        if self._fleet_wanted and not self._names.may_place(self._called):
            self._ask_by = self.watch.clock() + self._longest_wait
        else:
            self._ask(LOCATIONS)

    def _locate(self, answer: str | Broken) -> None:
        rules = self.session.rules
        assert rules is not None
        if self._fleet_wanted:
            self._fleet = lines.read_fleet(_text(answer), rules)
        self._told = _Told.READY
        self._place_in_turn()
        if self.session.view is not None:
            self._tell_past(self.session.view)
        if self._wanted is not None:
            self._ask_for_shots(self._wanted)

    def _place_in_turn(self) -> None:
        """Place the fleet when those of the names before this one stand, but don't wait too long for them."""
        if not self._fleet_wanted:
            return
        self._place_by = self.watch.clock() + self._longest_wait
        if self._names.may_place(self._called):
            self._place()

    @property
    def _longest_wait(self) -> float:
        """Seconds for which the fleets of the names before this one are waited for."""
        news = self.watch.news.rules
        longest = self._answer_seconds
        return longest if news is None else min(longest, news.placement_seconds * _SHARE_OF_PLACING)

    def _place(self) -> None:
        assert self._fleet is not None
        self._place_by = None
        self._fleet_wanted = False
        self.session.place(self._fleet, self.watch.clock())

    # --- the table --------------------------------------------------------------------------------------------------

    def announcement_received(self, announcement: m.Announcement, retained: bool) -> None:
        match announcement:
            case m.PlacementJudged(_, ship, True) if self._fleet is not None and not self._fleet_wanted:
                self._approved.add(ship)  # of a fleet that was placed, and not that of the last game, which is retained
            case m.TurnBegan(game=game, turn=turn) if self._query == SHOTS:
                assert self._wanted is not None
                if (game, turn) > (self._wanted.game, self._wanted.turn):
                    self._wanted = None
                    self._forfeit("no shots before the turn's deadline")
            case _:
                pass

    def event_received(self, event: Event) -> None:
        if self._told is _Told.END:
            return
        self._win_if_the_rival_has_forfeited()
        match event:
            case FleetWanted(rules, _):
                self._want_fleet(rules)
            case GameTakenUp():
                if self._told is _Told.NOTHING and self.session.state is not State.OVER:
                    assert self.session.rules is not None
                    self._introduce(self.session.rules)
            case SalvoWanted(view):
                self._want_salvo(view)
            case SalvoHeard(result):
                self._hear_salvo(result)
            case GameEnded():
                self._hear_end(event)
            case Refused("name_taken", _) if self._told is _Told.NOTHING:
                self._name_refused = True
            case Refused(code, text):
                log.warning("%s: %s: %s", self._called, code, text)
            case _:
                pass

    def _want_fleet(self, rules: RuleBook) -> None:
        if self._began:
            self._give_up_game()
            return
        self._wanted = None
        self._approved.clear()
        self._names.has_placed(self._called, placed=False)
        self._fleet_wanted = True
        if self._knows_the_end:
            self._fleet = rules.random_fleet(Random())
        if self._told is _Told.NOTHING:
            self._introduce(rules)
        elif self._fleet is not None:
            self._place_in_turn()

    def _want_salvo(self, view: View) -> None:
        self._wanted = view
        if self._told is _Told.NOTHING:
            self._introduce(view.rules)
        elif self._knows_the_end or self._told is _Told.READY:
            self._is_in(view)
            self._ask_for_shots(view)

    def _is_in(self, view: View) -> None:
        """The game is on, and the program in it."""
        self._began, self._game = True, view.game

    def _ask_for_shots(self, view: View) -> None:
        if self._knows_the_end:
            self._play_turn_alone()
            return
        self._tell(view)
        self._waits_for_own = True
        self._allowed = view.shots
        self._ask(SHOTS, str(view.shots))

    def _shoot(self, cells: list[Cell]) -> None:
        """Fire what the server will take, and remember the answer to the rest."""
        self._wanted = None
        view = self.session.view  # another object than the one wanted, if the server was away meanwhile
        if view is None:
            return
        rival = _rival(view)
        known = view.marks(rival) if view.rules.repeats is Repeats.REFUSED else {}
        fired: list[Shot] = []
        given: list[tuple[Cell, bool | None]] = []
        for x, y in cells:
            shot = Shot(rival, x + 1, y + 1)
            if not (0 <= x < view.rules.grid.width and 0 <= y < view.rules.grid.height):
                given.append(((x, y), False))
            elif shot[1:] in known:
                given.append(((x, y), known[shot[1:]]))
            else:
                given.append(((x, y), None))
                fired.append(shot)
        self._given = view.turn, given
        if fired:
            self.session.fire(fired)
        if len(fired) < self._allowed:
            self.session.skip()

    def _play_turn_alone(self) -> None:
        """Play a turn that the program does not know of: give it up after a forfeit, else fire a shot, to win."""
        wanted, self._wanted = self._wanted, None
        view = self.session.view
        if wanted is None or view is None:
            return
        if self._walks_over:
            self.session.fire(view.untouched.sample(1 if view.rules.skipping else view.shots))
        if view.shots:
            self.session.skip()

    # --- what the program reads -------------------------------------------------------------------------------------

    def _hear_salvo(self, result: m.SalvoResolved) -> None:
        view = self.session.view
        if view is None:
            return
        if self._told is _Told.READY:
            self._is_in(view)
            self._tell(view)
        if self._query == SHOTS and result.player == view.me:
            self._wanted = None
            self._forfeit("no shots before the turn's deadline")

    def _tell(self, view: View) -> None:
        """Tell what has come of all salvos since the last time."""
        if self._knows_the_end:
            return
        for result in _since(view, self._told_turn):
            self._told_turn = result.turn
            if result.player == view.me:
                self._waits_for_own = False
                self.peer.send(*lines.fallen("you", self._own_shots(view, result)))
            elif result.aims_if_told is not None and result.outcomes_if_told is not None and view.opponents:
                rival = _rival(view)
                aimed = zip(result.aims_if_told, result.outcomes_if_told, strict=True)
                met = [((x - 1, y - 1), hit) for (target, x, y), hit in aimed if target == rival]
                self.peer.send(*lines.fallen("you", met))
        if self._opponent_first or not self._waits_for_own:
            self.peer.send(*lines.fallen("opponent", self._landed(view)))

    def _own_shots(self, view: View, result: m.SalvoResolved) -> Iterator[tuple[Cell, bool]]:
        fired = next((salvo.shots for salvo in reversed(view.salvos) if salvo.turn == result.turn), ())
        met = [((shot.x - 1, shot.y - 1), hit) for shot, hit in zip(fired, result.outcomes_if_told or (), strict=False)]
        turn, given = self._given
        for cell, known in given if turn == result.turn else ():
            if known is not None:
                yield cell, known
            elif (one := next((one for one in met if one[0] == cell), None)) is not None:
                met.remove(one)
                yield one
        yield from met  # of a program before this one

    def _landed(self, view: View) -> Iterator[tuple[Cell, bool]]:
        """Yield what fell on the own board and was not told yet."""
        occupied = {view.rules.grid.xy(cell) for cell in view.fleet.cells}
        seen: Counter[Cell] = Counter()
        for cell in view.incoming:
            seen[cell] += 1
            if seen[cell] <= self._told_landed[cell]:
                continue
            self._told_landed[cell] += 1
            repeated = seen[cell] > 1 and view.rules.repeats is Repeats.MISS
            yield (cell[0] - 1, cell[1] - 1), cell in occupied and not repeated

    def _tell_past(self, view: View) -> None:
        """Tell a program that joins its running game what has happened so far."""
        self._is_in(view)
        self._told_turn = view.resolved_turn
        if view.opponents:
            marks = [((x - 1, y - 1), hit) for (x, y), hit in view.marks(_rival(view)).items()]
            self.peer.send(*lines.fallen("you", marks))
        self.peer.send(*lines.fallen("opponent", self._landed(view)))

    # --- the end ----------------------------------------------------------------------------------------------------

    def _hear_end(self, ended: GameEnded) -> None:
        if self._told is _Told.NOTHING:
            if not self._names.waits_for_end_of(self._called, ended.game):
                return  # the game of another program that had this name
        elif self._told is _Told.READY and self.session.view is not None:
            self._waits_for_own = False
            self._tell(self.session.view)
        if ended.aborted:
            self._finish(lines.TIED)
            return
        winners = self.session.view.winners if self.session.view is not None else (ended.winner,)
        self._finish(lines.LOST if self._called not in winners else lines.WON if ended.winner else lines.TIED)

    def _give_up_game(self) -> None:
        """The server opens another game: this one has no winner."""
        self._finish(lines.TIED)

    def _finish(self, how: str) -> None:
        self._query = ""
        self.session.wants_to_play = False
        how = lines.LOST if self._forfeited else lines.WON if self._walks_over else how
        self._names.has_ended(self._called, how, forfeited=self._forfeited)
        if self._knows_the_end:
            self._told = _Told.END
            self.end()
            return
        self._told = _Told.END
        self._say_end(how)
        log.info("%s: %s", self._called, how)

    def _forfeit(self, reason: str) -> None:
        """End it for the program; its player stays, and gives its turns up."""
        log.warning("%s forfeits: %s", self._called, reason)
        self._query = ""
        self._ahead.clear()
        self._forfeited = True
        self._names.has_forfeited(self._called, self.session.game)
        self._told = _Told.READY
        rules = self.session.rules
        if self._fleet_wanted and rules is not None:
            self._fleet = rules.random_fleet(Random())
            self._place_in_turn()
        self._say_end(lines.LOST)
        self._play_turn_alone()

    def _win_if_the_rival_has_forfeited(self) -> None:
        """End it for the program of the only rival of one that has forfeited; its player stays, and wins."""
        view = self.session.view
        if self._knows_the_end or self._told is not _Told.READY or view is None or len(view.players) > 2:
            return
        if any(self._names.forfeited(name, view.game) for name in view.players if name != view.me):
            self._query = ""
            self._ahead.clear()
            self._walks_over = True
            self._say_end(lines.WON)
            self._play_turn_alone()

    def _say_end(self, how: str) -> None:
        self.peer.send(lines.info(how), lines.info(lines.END))
        self.peer.end_sending()
        self._leave_by = self.watch.clock() + LEAVE_SECONDS


def _text(answer: str | Broken) -> str:
    """Return an answer that is a text.

    Raises:
        Unreadable: it is none.
    """
    if isinstance(answer, Broken):
        raise lines.Unreadable(answer.code, answer.text)
    return answer


def _rival(view: View) -> str:
    """Return the target of all shots: the next in play order that is still afloat."""
    own = view.players.index(view.me)
    standing = set(view.opponents)
    return next(name for name in (*view.players[own + 1 :], *view.players[:own]) if name in standing)


def _since(view: View, turn: int) -> list[m.SalvoResolved]:
    """Return the results after a turn, in order."""
    found = []
    for result in reversed(view.results):
        if result.turn <= turn:
            break
        found.append(result)
    return found[::-1]
