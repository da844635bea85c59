"""The authority over one table: lobby, turn, over.

Pure: no broker, no clock, no randomness of its own. Commands come in through :meth:`Referee.receive`, time through
its ``now`` argument and :meth:`Referee.handle_timer`; all that ever comes out is announcements. Nothing a player does
raises: what is not allowed is answered with :class:`~salvo.messages.CommandRefused` or
:class:`~salvo.messages.PlacementRefused` and leaves the game as it was (SALVO-ERR-2).

The theory fits in two tables. ``TRANSITIONS`` says how a table moves between its states; the published state diagram
is printed from it. ``ACCEPTED`` says in which states a command can be accepted; in every other it is refused.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from salvo import messages as m
from salvo.codec import read_ship
from salvo.errors import IllegalCommand
from salvo.messages import Limits, State
from salvo.rules import SALVO, Announce, Fleet, Order, Placement, Repeats, RuleBook, Salvo, Targets, check_placement
from salvo.rules.game import Game, begin, draw_fair_starter, draw_starter, set_starter


class Transition(NamedTuple):
    """One arrow of the state diagram."""

    source: State
    event: str
    target: State
    sentence: str


TRANSITIONS = (
    Transition(State.LOBBY, "the operator's number of fleets is complete", State.TURN, "SALVO-JOIN-6"),
    Transition(State.LOBBY, "placement time ends, two or more fleets complete", State.TURN, "SALVO-JOIN-5"),
    Transition(State.LOBBY, "placement time ends, fewer fleets complete", State.LOBBY, "SALVO-JOIN-5"),
    Transition(State.TURN, "a turn ends, two or more players left", State.TURN, "SALVO-TURN-3"),
    Transition(State.TURN, "one player left", State.OVER, "SALVO-END-1"),
    Transition(State.OVER, "time of the result ends", State.LOBBY, "SALVO-END-4"),
)

#: Where a command can be accepted. A known team may come back in any state (SALVO-JOIN-7).
ACCEPTED: dict[type, frozenset[State]] = {
    m.Participate: frozenset({State.LOBBY}),
    m.Leave: frozenset({State.LOBBY}),
    m.PlaceShip: frozenset({State.LOBBY}),
    m.Fire: frozenset({State.TURN}),
    m.Skip: frozenset({State.TURN}),
}

#: Answers a player gets to refused commands, for each ship it has afloat, in one turn (SALVO-ERR-4).
ANSWERS_PER_SHIP = 3
#: Accepted placements of each ship while its team is listed (SALVO-PLACE-7): each is a log entry, and a nonce for ever.
MAX_PLACEMENTS = 20

_C = TypeVar("_C", bound=m.Command)


@dataclass(slots=True)
class Player:
    """One team at the table and what is known of it.

    Attributes:
        placements: good placements so far, by ship.
        messages: what stands for the message that a good placement came with, by ship.
        placed: number of accepted placements, by ship.
        spellings: how the team wrote a ship's name when it placed it, by ship.
        answered: the spelling under which the last answer stands, by ship.
        silent_turns: turns in a row without a shot.
        missed_turns: those of them, the last ones, that ended by their time and not by a skip.
        answers: refusals that may still be answered.
        open_answers: the same for what came under its name without proof, kept apart so that a rival's noise does
            not silence the answers to the team itself.
        skipped: the last turn that it ended by a skip.
        shots: own ones that count, those of a round that is not resolved too.
        landed: cells of the own board that were shot at, as far as that has been told.
        seen: by rules that announce cells: those of the own board that were shot at, and whether they were hits.
        bank_ms: what is left of the time for all salvos of the game, where there is such a limit.
    """

    name: str
    credential: bytes = field(repr=False)
    placements: dict[str, Placement] = field(default_factory=dict)
    placed: Counter[str] = field(default_factory=Counter)
    spellings: dict[str, str] = field(default_factory=dict)
    messages: dict[str, bytes] = field(default_factory=dict)
    answered: dict[str, str] = field(default_factory=dict)
    seat: int = -1
    silent_turns: int = 0
    missed_turns: int = 0
    answers: int = 0
    open_answers: int = 0
    skipped: int | None = None
    shots: list[m.OwnShot] = field(default_factory=list)
    landed: list[tuple[int, int]] = field(default_factory=list)
    seen: dict[tuple[int, int], bool] = field(default_factory=dict)
    bank_ms: int = 0

    def spelling(self, ship: str) -> str:
        """How the team writes this ship's name; the rule book's name until it has written one."""
        return self.spellings.get(ship, ship)

    def shot(self, turn: int, number: int) -> m.OwnShot | None:
        """Return the shot of a turn with this number, from 1; None when there is none."""
        place = bisect_left(self.shots, turn, key=lambda shot: shot.turn) + number - 1
        return self.shots[place] if 0 <= place < len(self.shots) else None


class Referee:
    """One table.

    Attributes:
        state: lobby, turn or over.
        number: the running number of the game, from 1; the next game gets its number with its lobby.
        players: by name, in order of arrival; in play order once the game began.
        game: the engine's game in the states turn and over.
        extensions: how often the placement time has been restarted since the newest team was listed.
    """

    def __init__(
        self,
        seed: int | str,
        table: str = "",
        book: RuleBook = SALVO,
        limits: Limits | None = None,
        number: int = 1,
        draw: m.Draw = m.Draw.SEED,
    ) -> None:
        """Set up a table whose draws all come from ``seed``; nothing is announced before :meth:`open`.

        Args:
            number: of the game that the first lobby is for.
            draw: what ``seed`` is; for a fair one it is 32 secret bytes in hexadecimal, of the first game alone.
        """
        self.seed = seed
        self.draw = draw
        self.table = table
        self.book = book
        self.limits = limits or Limits()
        self.state = State.LOBBY
        self.number = number
        self.players: dict[str, Player] = {}
        self.game: Game | None = None
        self.results: list[m.SalvoResolved] = []
        self._order: list[Player] = []  # play order: as the fleets were completed (SALVO-TURN-2)
        self._cut_short: set[int] = set()  # turns that ended by their deadline
        self._void_shots = 0  # shots of the winning salvo that may still arrive
        self.extensions = 0
        self._deadline: int | None = None
        self._pause_ms = 0  # that is on before the next turn begins; 0 while a turn is on (SALVO-PACE-1)
        self._delivered: int | None = None  # since when the bank of the current player counts
        self._bank_ends_turn = False
        self._next = (self.seed, self.limits, self.draw, self.book)

    # --- inputs -------------------------------------------------------------------------------------------------

    def open(self) -> list[m.Announcement]:
        """Return what a table says when it opens."""
        return [m.TableOpened(self.number), self.rules, m.StateChanged(self.state)]

    def deadline(self) -> int | None:
        """When :meth:`handle_timer` is due, in epoch ms; None when nothing is to happen by itself."""
        return self._deadline

    def handle_timer(self, now: int) -> list[m.Announcement]:
        """Do what time does; nothing before the deadline."""
        if self._deadline is None or now < self._deadline:
            return []
        match self.state:
            case State.LOBBY:
                return self._end_placement_time(now)
            case State.TURN:
                return [self._begin_turn(now)] if self._pause_ms else self._end_turn_in_silence(now)
            case State.OVER:
                return self._reset()

    def receive(self, command: m.Input, now: int) -> list[m.Announcement]:
        """Carry out or refuse one command; due timers run first, so a shot after the deadline comes too late."""
        if isinstance(command, m.Resumed):
            return self._resume(now)
        late = self.handle_timer(now)
        if isinstance(command, m.TimePassed):
            return late
        if isinstance(command, m.TurnDelivered):
            return [*late, *self._count_from(command, now)]
        handler = _HANDLERS[type(command)]
        return [*late, *handler(self, command, now)]

    def configure(
        self, seed: int | str, limits: Limits, draw: m.Draw = m.Draw.SEED, book: RuleBook | None = None
    ) -> None:
        """Change seed, limits and rules from the next lobby on; the game in play keeps its own (SALVO-BACK-6)."""
        self._next = (seed, limits, draw, book or self._next[-1])

    # --- queries ------------------------------------------------------------------------------------------------

    @property
    def next_differs(self) -> bool:
        """Whether the next lobby has other limits or rules than this game."""
        _, limits, _, book = self._next
        return (limits, book) != (self.limits, self.book)

    @property
    def rules(self) -> m.RulesAnnounced:
        """What ``/game/rules`` says."""
        limits = self.limits
        seconds = (limits.placement_ms // 1000, limits.turn_ms // 1000, limits.over_ms // 1000)
        bank = [None if each is None else each // 1000 for each in (limits.bank_ms, limits.increment_ms)]
        return m.RulesAnnounced(self.book, self.table, *seconds, limits.empty_turns, *bank)

    @property
    def current(self) -> Player | None:
        """Whose turn it is; None in a pause."""
        if self.state is State.TURN and self.game is not None and not self._pause_ms:
            return self._order[self.game.current]
        return None

    def awaits_delivery(self) -> int | None:
        """Return the turn whose bank does not count yet: it does from :class:`~salvo.messages.TurnDelivered` on."""
        if self.limits.bank_ms is None or self.current is None or self._delivered is not None:
            return None
        return self.game.turn if self.game is not None else None

    def has_had(self, command: m.Input) -> bool:
        """Whether a shot or a skip is the repetition of one that counted, or fell void with the end (SALVO-FIRE-13).

        Only a command that tells its occasion can be one: without it, the same shot again is another shot.
        """
        match command:
            case m.Skip(name, m.TurnContext(game, turn)) if game == self.number:
                return name in self.players and self.players[name].skipped == turn
            case m.Fire(name, target, x, y, m.ShotContext(game, turn, number, to)) if game == self.number:
                player = self.players.get(name)
                had = player is not None and to == target and m.OwnShot(turn, target, x, y) == player.shot(turn, number)
                return had or self._fell_void(name, turn)
        return False

    def _fell_void(self, name: str, turn: int) -> bool:
        """Whether all that was left of the salvo of a turn was void and has come already."""
        last = self.results[-1] if self.state is State.OVER else None
        return last is not None and (last.player, last.turn) == (name, turn) and not self._void_shots

    def is_absent(self, player: Player) -> bool:
        """Whether a player has missed so many turns that its next ones are short (SALVO-TURN-8)."""
        return self.limits.absent_ms is not None and player.missed_turns >= self.limits.empty_turns

    def hold_to_bounds(self, command: _C) -> _C | m.Unreadable:
        """Return a command as it may be given to this table: one placement too many becomes a refusal.

        The service calls this; :meth:`receive` does not check, so that records of servers without this
        limit still replay as they were written.
        """
        if self.state is not State.LOBBY or not isinstance(command, m.PlaceShip):
            return command
        player, ship = self.players.get(command.player), command.placement.ship
        if player is None or self._complete(player) or player.placed[ship] < MAX_PLACEMENTS:
            return command
        text = f"{ship} was placed {player.placed[ship]} times, {MAX_PLACEMENTS} at most; its last place stays"
        return m.Unreadable(player.name, command.spelling, "rate_limited", text, proven=True)

    def _check_state(self, command: m.Command) -> None:
        accepted = ACCEPTED[type(command)]
        if self.state not in accepted:
            states = " and ".join(sorted(accepted))
            raise IllegalCommand(
                "wrong_state", f"{type(command).__name__} is accepted in state {states}; the state is {self.state}"
            )

    def _complete(self, player: Player) -> bool:
        return len(player.placements) == len(self.book.fleet)

    # --- participation (SALVO-JOIN) -----------------------------------------------------------------------------

    def _participate(self, command: m.Participate, now: int) -> list[m.Announcement]:
        name = command.name
        known = self.players.get(name)
        if known is not None and known.credential == command.credential:
            return [self._recap(known)]
        if any(name.lower() == other.lower() for other in self.players):
            return [
                m.CommandRefused(name, "name_taken", f"{name!r} is taken, by a team with another secret or spelling")
            ]
        try:
            self._check_state(command)
        except IllegalCommand as error:
            return [m.CommandRefused(name, error.code, error.text)]
        if len(self.players) >= self.limits.most_players:
            return [m.CommandRefused(name, "table_full", f"{len(self.players)} teams take part; that is the most")]
        self.players[name] = Player(name, command.credential)
        self.extensions = 0
        self._deadline = now + self.limits.placement_ms
        for player in self.players.values():
            self._refill(player)
        return [self._listing()]

    def _strike_off(self, command: m.StruckOff, now: int) -> list[m.Announcement]:
        """Let a team leave the lobby, with a fleet that is complete, too (SALVO-ACCESS-8)."""
        player = self.players.get(command.name)
        if player is None or self.state is not State.LOBBY:
            return []
        return self._take_off_list(player)

    def _leave(self, command: m.Leave, now: int) -> list[m.Announcement]:
        """Let a team leave the lobby by its own will (SALVO-JOIN-15)."""
        player = self.players.get(command.player)
        if player is None:
            return []
        try:
            self._check_state(command)
            if command.game not in (None, self.number):
                raise IllegalCommand("stale_context", f"signed for game {command.game}; this is game {self.number}")
        except IllegalCommand as error:
            return self._refuse(player, error.code, error.text)
        return self._take_off_list(player)

    def _take_off_list(self, player: Player) -> list[m.Announcement]:
        del self.players[player.name]
        self._order = [other for other in self._order if other is not player]
        return [m.PlayerLeft(player.name), self._listing()]

    def _listing(self) -> m.PlayersListed:
        return m.PlayersListed(tuple(self.players))

    def recap(self, name: str) -> m.Recap | None:
        """Return all that a player may know of the game so far; None for a player who is not at the table."""
        player = self.players.get(name)
        return None if player is None else self._recap(player)

    def _recap(self, player: Player) -> m.Recap:
        return m.Recap(
            to=player.name,
            game=self.number,
            turn=self.game.turn if self.game else 0,
            fleet=tuple(player.placements.values()),
            shots=tuple(player.shots),
            landed=tuple(player.landed),
            results=tuple(self.results),
            players=tuple(self.players),
        )

    # --- placement (SALVO-PLACE) --------------------------------------------------------------------------------

    def _place(self, command: m.PlaceShip, now: int) -> list[m.Announcement]:
        player = self.players.get(command.player)
        if player is None:
            return []
        try:
            self._check_state(command)
            self._check_placement(player, command.placement)
        except IllegalCommand as error:
            return self._refuse_placement(player, command.spelling, error)
        return self._accept_placement(player, command, now)

    def _check_placement(self, player: Player, placement: Placement) -> None:
        if self._complete(player):
            raise IllegalCommand("fleet_final", f"all {len(self.book.fleet)} ships are placed; the fleet is final")
        others = [other for ship, other in player.placements.items() if ship != placement.ship]
        check_placement(self.book, placement, others)

    def _refuse_placement(self, player: Player, spelling: str, error: IllegalCommand) -> list[m.Announcement]:
        if not self._may_answer(player):
            return []
        refused = m.PlacementRefused(player.name, spelling, error.code, error.text)
        if error.code in ("wrong_state", "fleet_final"):
            return [refused]  # the ship stands; "approved false" would deny it
        return [*self._judge(player, spelling, False), refused]

    def _judge(self, player: Player, spelling: str, approved: bool) -> list[m.Announcement]:
        """Answer under the spelling that the team used last, and under no other one (SALVO-PLACE-6)."""
        ship = read_ship(spelling, self.book)
        former = player.answered.get(ship, spelling)
        player.answered[ship] = spelling
        dropped = [m.SpellingDropped(player.name, former)] if former != spelling else []
        return [*dropped, m.PlacementJudged(player.name, spelling, approved)]

    def _accept_placement(self, player: Player, command: m.PlaceShip, now: int) -> list[m.Announcement]:
        ship = command.placement.ship
        player.placements[ship] = command.placement
        player.placed[ship] += 1
        player.spellings[ship] = command.spelling
        player.messages[ship] = command.message
        self._refill(player)
        announcements = self._judge(player, command.spelling, True)
        if self._complete(player):
            self._order.append(player)
            if len(self._order) == self.limits.players:
                announcements += self._start(now)
        return announcements

    def _end_placement_time(self, now: int) -> list[m.Announcement]:
        if len(self._order) >= 2:
            return self._start(now)
        self._deadline = None
        return self._dismiss_incomplete()

    def _dismiss_incomplete(self) -> list[m.Announcement]:
        """Strike all teams without a complete fleet off the list (SALVO-JOIN-5)."""
        leaving = [player for player in self.players.values() if not self._complete(player)]
        announcements: list[m.Announcement] = []
        for player in leaving:
            placed = f"{len(player.placements)} of {len(self.book.fleet)} ships were placed in time"
            announcements.append(
                m.CommandRefused(player.name, "placement_timeout", f"{placed}; ask to take part again")
            )
            announcements.append(m.PlayerLeft(player.name))
            del self.players[player.name]
        return [*announcements, self._listing()] if leaving else []

    # --- the game (SALVO-TURN, SALVO-FIRE) ----------------------------------------------------------------------

    def _start(self, now: int) -> list[m.Announcement]:
        left = self._dismiss_incomplete()
        arrival = list(self.players)
        self.players = {player.name: player for player in self._order}
        for seat, player in enumerate(self._order):
            player.seat = seat
            player.bank_ms = self.limits.bank_ms or 0
        fleets = [Fleet(self.book, list(player.placements.values())) for player in self._order]
        self.game = begin(self.book, fleets, self._starter())
        self.state = State.TURN
        listing = [] if list(self.players) == arrival else [self._listing()]
        return [*left, *listing, m.StateChanged(State.TURN), self._begin_turn(now)]

    def _starter(self) -> int:
        names = [player.name for player in self._order]
        seat = set_starter(self.book, self.number, names)
        if seat is not None:
            return seat
        if self.draw is m.Draw.SEED:
            return draw_starter(self.book, self.seed, self.table, self.number, len(names))
        messages = [player.messages[ship.name] for player in self._order for ship in self.book.fleet]
        return draw_fair_starter(self.book, bytes.fromhex(str(self.seed)), messages, len(names))

    def _begin_turn(self, now: int) -> m.TurnBegan:
        assert self.game is not None
        self._pause_ms = 0
        player = self._order[self.game.current]
        player.bank_ms += self.limits.increment_ms or 0
        for other in self._order:
            self._refill(other)
        end = self._set_clock(player, now)
        return m.TurnBegan(self.number, self.game.turn, player.name, self.game.shots_left, now, end)

    # --- the clock of a turn (SALVO-TIME) -----------------------------------------------------------------------

    def _set_clock(self, player: Player, now: int) -> int:
        """Let a turn's time begin; return the end to announce, as if its begin had been delivered already."""
        self._deadline = now + self._turn_ms(player)
        self._delivered, self._bank_ends_turn = None, False
        return self._deadline if self.limits.bank_ms is None else min(self._deadline, now + player.bank_ms)

    def _turn_ms(self, player: Player) -> int:
        absent_ms = self.limits.absent_ms
        return self.limits.turn_ms if absent_ms is None or not self.is_absent(player) else absent_ms

    def _count_from(self, command: m.TurnDelivered, now: int) -> list[m.Announcement]:
        """Let the current player's bank count (SALVO-TIME-2); unannounced, since no player has less time by it."""
        if command.turn == self.awaits_delivery():
            assert self.game is not None
            assert self._deadline is not None
            self._delivered = now
            empty = now + self._order[self.game.current].bank_ms
            self._bank_ends_turn = empty < self._deadline
            self._deadline = min(self._deadline, empty)
        return []

    def _stop_clock(self, now: int) -> None:
        """Take what the current player has used off its bank."""
        assert self.game is not None
        if self._delivered is not None:
            player = self._order[self.game.current]
            player.bank_ms = max(0, player.bank_ms - (now - self._delivered))

    def _fire(self, command: m.Fire, now: int) -> list[m.Announcement]:
        player = self.players.get(command.player)
        if player is None:
            return []
        if self._is_void(player):
            return []
        try:
            self._check_state(command)
            target, cell = self._check_shot(player, command)
        except IllegalCommand as error:
            return self._refuse(player, error.code, error.text)
        return self._resolve(player, target, cell, now)

    def _is_void(self, player: Player) -> bool:
        """Whether a shot belongs to the rest of the salvo that won the game (SALVO-FIRE-12)."""
        won = self.state is State.OVER and self.results[-1].player == player.name
        if not won or not self._void_shots:
            return False
        self._void_shots -= 1
        return True

    def _check_shot(self, player: Player, command: m.Fire) -> tuple[Player, int]:
        game = self.game
        assert game is not None
        if player is not self.current:
            raise self._out_of_turn(player)
        target = self.players.get(command.target)
        if target is None:
            raise IllegalCommand(
                "unknown_target", f"no player {command.target[:40]!r}; the players are {', '.join(self.players)}"
            )
        cell = self.book.grid.cell(command.x, command.y)
        self._check_target(player, target, command)
        if command.context is not None:
            expected = m.ShotContext(self.number, game.turn, game.shots_fired + 1, target.name)
            if command.context != expected:
                raise IllegalCommand(
                    "stale_context",
                    f"signed for game {command.context.game}, turn {command.context.turn}, shot {command.context.shot} "
                    f"at {command.context.target[:40]!r}; this is game {expected.game}, turn {expected.turn}, "
                    f"shot {expected.shot} at {expected.target!r}",
                )
        return target, cell

    def _check_target(self, player: Player, target: Player, command: m.Fire) -> None:
        if target is player and self.book.targets is Targets.OTHERS:
            raise IllegalCommand("own_board", f"the rules {self.book.name} have no shots at the own board")
        if self.book.repeats is Repeats.REFUSED and (command.x, command.y) in target.landed:
            cell = self.book.grid.name(self.book.grid.cell(command.x, command.y))
            raise IllegalCommand("shot_before", f"{cell} of {target.name} was shot at before; take another cell")

    def _out_of_turn(self, player: Player) -> IllegalCommand:
        last = self.results[-1] if self.results else None
        if last is not None and last.player == player.name and self._spent(last):
            return IllegalCommand("too_many_shots", f"your salvo had {last.shots} shots; {self._whose_turn()}")
        return self._not_your_turn(player)

    def _not_your_turn(self, player: Player) -> IllegalCommand:
        other = f", not {player.name}'s" if self.current is not None else ""
        return IllegalCommand("not_your_turn", self._whose_turn() + other)

    def _whose_turn(self) -> str:
        game, current = self.game, self.current
        assert game is not None
        if current is not None:
            return f"it is {current.name}'s turn"
        following = self._order[game.current].name
        return f"it is nobody's turn: turn {game.turn}, {following}'s, begins {self._pause_ms} ms after the last result"

    def _spent(self, salvo: m.SalvoResolved) -> bool:
        """Whether a salvo ended by its last shot and not by its deadline."""
        return salvo.turn not in self._cut_short

    def _resolve(self, player: Player, target: Player, cell: int, now: int) -> list[m.Announcement]:
        game = self.game
        assert game is not None
        x, y = self.book.grid.xy(cell)
        player.missed_turns = 0
        player.shots.append(m.OwnShot(game.turn, target.name, x, y))
        game.fire(((target.seat, cell),))
        if self.book.order is Order.ROUNDS:
            told: m.Announcement = m.ShotAccepted(player.name, target.name, x, y)
        else:
            told = self._land(target, x, y)
        if game.shots_left and not game.over:
            return [told]
        player.silent_turns = 0
        return [told, *self._end_turn(now)]

    def _land(self, target: Player, x: int, y: int) -> m.ShotLanded:
        target.landed.append((x, y))
        return m.ShotLanded(target.name, x, y)

    def _skip(self, command: m.Skip, now: int) -> list[m.Announcement]:
        """End the turn of a player that wants no more of it (SALVO-BOOK-7)."""
        player = self.players.get(command.player)
        if player is None:
            return []
        try:
            self._check_state(command)
            self._check_skip(player, command)
        except IllegalCommand as error:
            return self._refuse(player, error.code, error.text)
        player.missed_turns = 0
        if self.game is not None:
            player.skipped = self.game.turn
        self._note_silence(player)
        return self._end_turn(now)

    def _check_skip(self, player: Player, command: m.Skip) -> None:
        game = self.game
        assert game is not None
        if not self.book.skipping:
            text = f"the rules {self.book.name} have no skipping; a turn ends with its last shot or at its deadline"
            raise IllegalCommand("no_skipping", text)
        if player is not self.current:
            raise self._not_your_turn(player)
        expected = m.TurnContext(self.number, game.turn)
        if command.context is not None and command.context != expected:
            raise IllegalCommand(
                "stale_context",
                f"signed for game {command.context.game}, turn {command.context.turn}; "
                f"this is game {expected.game}, turn {expected.turn}",
            )

    def _note_silence(self, player: Player) -> bool:
        """Count a turn that ended before its last shot; return whether its player is defeated (SALVO-TURN-6)."""
        game = self.game
        assert game is not None
        self._cut_short.add(game.turn)
        player.silent_turns = 0 if game.shots_fired else player.silent_turns + 1
        return game.judge_silence([each.silent_turns for each in self._order], self.limits.empty_turns)

    def _end_turn_in_silence(self, now: int) -> list[m.Announcement]:
        """Close a turn whose deadline passed (SALVO-TURN-5, SALVO-TURN-6)."""
        game = self.game
        assert game is not None
        player = self._order[game.current]
        left = game.shots_left
        code, reason = "turn_timeout", f"turn {game.turn} ended after {self._turn_ms(player) // 1000} s"
        if self._bank_ends_turn:
            code = "bank_empty"
            reason = (
                f"turn {game.turn} ended when your {(self.limits.bank_ms or 0) // 1000} s for this game were used up,"
            )
        reason += f" with {left} shots not fired"
        if self._note_silence(player):
            reason += f"; {player.silent_turns} empty turns in a row are a defeat"
        player.missed_turns = 0 if game.shots_fired else player.missed_turns + 1
        if self.is_absent(player):
            reason += f"; your turns have {self._turn_ms(player) // 1000} s until you fire or skip"
        return [m.CommandRefused(player.name, code, reason), *self._end_turn(now)]

    def _end_turn(self, now: int) -> list[m.Announcement]:
        game = self.game
        assert game is not None
        self._stop_clock(now)
        game.end_turn()
        resolved = game.salvos[len(self.results) :]
        said = [announcement for salvo in resolved for announcement in self._tell(salvo)]
        if game.over:
            return [*said, *self._end_game(now)]
        self._pause_ms = (self.limits.pace_ms or 0) * len(resolved)
        if not self._pause_ms:
            return [*said, self._begin_turn(now)]
        self._deadline = now + self._pause_ms
        return said

    def _tell(self, salvo: Salvo) -> list[m.Announcement]:
        """Return what is announced of a turn, and to the targets of a round that it resolves."""
        result = self._announce(salvo)
        self.results.append(result)
        in_rounds, all_see = self.book.order is Order.ROUNDS, self.book.announce is Announce.CELLS
        if not (in_rounds or all_see):
            return [result]
        aims = [(self._order[seat], *self.book.grid.xy(cell)) for seat, cell in salvo.aims]
        landed = [self._land(*aim) for aim in aims] if in_rounds else []
        if not all_see:
            return [*landed, result]
        for (target, x, y), hit in zip(aims, salvo.outcomes, strict=True):
            target.seen[x, y] = hit or target.seen.get((x, y), False)
        targets = {target.name: target for target, _, _ in aims}
        return [*landed, result, *map(self._show, targets.values())]

    def _show(self, player: Player) -> m.BoardShown:
        grid, letter = self.book.grid, {None: ".", False: "0", True: "X"}
        return m.BoardShown(player.name, "".join(letter[player.seen.get(grid.xy(cell))] for cell in range(grid.size)))

    def _announce(self, salvo: Salvo) -> m.SalvoResolved:
        names, spellings = [p.name for p in self._order], [p.spellings for p in self._order]
        return m.SalvoResolved.of(self.number, names, self.book, salvo, spellings)

    # --- the end (SALVO-END) ------------------------------------------------------------------------------------

    def _end_game(self, now: int) -> list[m.Announcement]:
        game = self.game
        assert game is not None
        figures = zip(self._order, game.tally(), game.places(), strict=True)
        stats = [m.PlayerStats(p.name, t.shots, t.hits, t.sank, t.turns, place) for p, t, place in figures]
        self.state = State.OVER
        self._void_shots = game.shots_left
        self._deadline = now + self.limits.over_ms
        winners = tuple(self._order[seat].name for seat in game.winners)
        won = m.GameWon(winners[0]) if len(winners) == 1 else m.GameWon("", winners)
        return [*self._reveal(), *stats, won, m.StateChanged(State.OVER)]

    def _reveal(self) -> list[m.Announcement]:
        """Reveal all fleets where the rule book says so (SALVO-BOOK-11)."""
        fleets = self.game.fleets if self.game is not None and self.book.reveal else ()
        return [m.FleetRevealed(p.name, f.placements) for p, f in zip(self._order, fleets, strict=False)]

    def _resume(self, now: int) -> list[m.Announcement]:
        """Restart the time to act, because no player could act, and a pause, because no one could watch.

        A result's time runs on: no player needs it to act.
        """
        if self._deadline is None:
            return []
        match self.state:
            case State.LOBBY:
                self.extensions += 1
                self._deadline = now + self.limits.placement_ms
            case State.OVER:
                pass
            case State.TURN if self._pause_ms:
                self._deadline = now + self._pause_ms
            case State.TURN:
                game, player = self.game, self.current
                assert game is not None
                assert player is not None
                shots = game.shots_fired + game.shots_left
                end = self._set_clock(player, now)
                return [m.TurnResumed(self.number, game.turn, player.name, shots, now, end)]
        return []

    def _reset(self) -> list[m.Announcement]:
        """Forget the game, its secrets and its boards, and open the next lobby."""
        former = self.rules
        self.seed, self.limits, self.draw, self.book = self._next
        self.state = State.LOBBY
        self.number += 1
        self.players = {}
        self.game = None
        self.results = []
        self._order = []
        self._cut_short = set()
        self._deadline = None
        changed = [] if self.rules == former else [self.rules]
        return [m.TableReset(), m.TableOpened(self.number), *changed, m.StateChanged(State.LOBBY)]

    # --- refusals (SALVO-ERR) -----------------------------------------------------------------------------------

    def _unreadable(self, command: m.Unreadable, now: int) -> list[m.Announcement]:
        player = self.players.get(command.player)
        if player is None or not self._may_answer(player, proven=command.proven):
            return []
        if command.spelling:
            return [m.PlacementRefused(player.name, command.spelling, command.code, command.text)]
        return [m.CommandRefused(player.name, command.code, command.text)]

    def _refuse(self, player: Player, code: str, text: str) -> list[m.Announcement]:
        return [m.CommandRefused(player.name, code, text)] if self._may_answer(player) else []

    def _may_answer(self, player: Player, *, proven: bool = True) -> bool:
        left = player.answers if proven else player.open_answers
        if left and proven:
            player.answers -= 1
        elif left:
            player.open_answers -= 1
        return left > 0

    def _refill(self, player: Player) -> None:
        afloat = self.game.afloat[player.seat] if self.game else len(self.book.fleet)
        player.answers = player.open_answers = ANSWERS_PER_SHIP * max(afloat, 1)


_HANDLERS: dict[type, Callable[[Referee, Any, int], list[m.Announcement]]] = {
    m.Participate: Referee._participate,
    m.StruckOff: Referee._strike_off,
    m.Leave: Referee._leave,
    m.PlaceShip: Referee._place,
    m.Fire: Referee._fire,
    m.Skip: Referee._skip,
    m.Unreadable: Referee._unreadable,
}
