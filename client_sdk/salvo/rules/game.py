"""The engine: one game from the first shot to the last ship.

A :class:`Game` is mutable and trusts its caller: seats and cells are in range, the fleets are legal. What
players may do, and when, is up to the referee. Players are *seats*, 0..n-1 in play order; a *shot* is (target seat,
cell).

The sea is a dict of all occupied cells of all boards, so that one operation finds whether a salvo missed completely, as
three in five do. A turn is recorded as it was fired; its results are computed on demand.

Rulesets change little: when a turn's shots are resolved, who is next, when the game is over, and the places.
:class:`Game` resolves turns one after the other; :class:`Rounds` and :class:`Points` derive from it for the books that
need them (:func:`begin`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from salvo.rules.book import Ending, Order, Repeats, RuleBook, Salvo, Shot, Shots, Sinking
from salvo.rules.fleet import Fleet

#: Of a turn with hits or defeats: the number of hits, ships sunk, players out.
Damage = tuple[int, tuple[Sinking, ...], tuple[int, ...]]
NO_DAMAGE: Damage = (0, (), ())

#: Replaces the ship's number in a struck cell: another shot there is a hit without more damage.
STRUCK = -1


@lru_cache(maxsize=256)
def _board(seat: int, size: int) -> tuple[Shot, ...]:
    """Return the shots at every cell of a seat's board."""
    return tuple([(seat, cell) for cell in range(size)])


class Tally(NamedTuple):
    """A player's statistics: turns, shots fired, hits among them, and ships sunk by them."""

    turns: int
    shots: int
    hits: int
    sank: int


class Game:
    """One game in play, turn by turn.

    Attributes:
        current: the seat whose turn it is.
        turn: the running number of the turn, from 1.
        shots_left: what the current player may still fire.
        afloat: ships afloat by seat.
        out: whether a seat is defeated.
        over: whether the game has ended (SALVO-END-1).
        fallen: defeated seats in the order of their defeat.
    """

    __slots__ = (
        "_after",
        "_at_once",
        "_by_afloat",
        "_damage",
        "_defeated",
        "_fired",
        "_hit_goes_on",
        "_hits",
        "_intact",
        "_is_miss",
        "_repeat_is_miss",
        "_salvos",
        "_sea",
        "_seats",
        "_shots",
        "_struck",
        "_sunk",
        "_until_miss",
        "_untouched",
        "afloat",
        "book",
        "current",
        "fallen",
        "fleets",
        "out",
        "over",
        "shots_left",
        "turn",
    )

    def __init__(self, book: RuleBook, fleets: Sequence[Fleet], starter: int) -> None:
        players = len(fleets)
        self.book = book
        self.fleets = fleets
        self._sea: dict[Shot, int] = {}
        for seat, fleet in enumerate(fleets):
            board = _board(seat, book.grid.size)
            for cell, ship in zip(fleet.cells, book.ship_of_cell, strict=True):
                self._sea[board[cell]] = ship
        self._is_miss = frozenset(self._sea).isdisjoint
        lengths = [ship.length for ship in book.fleet]
        self._intact = [lengths.copy() for _ in fleets]
        self._by_afloat = book.shots is Shots.AFLOAT
        self._until_miss = book.shots is Shots.UNTIL_MISS
        self._hit_goes_on = book.order is Order.STREAK
        self._repeat_is_miss = book.repeats is Repeats.MISS
        self._at_once = type(self) is Game  # whether shots do their damage in their own turn
        self.afloat = [len(lengths)] * players
        self.out = [False] * players
        self.over = False
        self.fallen: list[int] = []
        self._after = [*range(1, players), 0]  # the seat after each; a ring of those not defeated
        # Seats and shots of the turns that have ended. Two lists, because pairs are work for the garbage collector.
        self._seats: list[int] = []
        self._fired: list[Sequence[Shot]] = []
        self._damage: dict[int, Damage] = {}  # by turn
        self._salvos: list[Salvo] = []
        self._struck: set[Shot] | None = None  # in those salvos, if a repeated shot is a miss
        self._shots: list[Shot] = []
        self._hits = 0
        self._sunk: tuple[Sinking, ...] = ()
        self._defeated: tuple[int, ...] = ()
        self._untouched = self._at_once  # whether nothing has happened in this turn
        self.turn = 1
        self.current = starter
        self.shots_left = self.afloat[starter] if self._by_afloat else 1

    @property
    def winners(self) -> tuple[int, ...]:
        """The seats that won, several after a tie; none while the game is running."""
        return tuple(seat for seat, place in enumerate(self.places()) if place == 1) if self.over else ()

    @property
    def shots_fired(self) -> int:
        """Shots of this turn so far."""
        return len(self._shots)

    @property
    def salvos(self) -> list[Salvo]:
        """The turns that have ended and are resolved, in order."""
        self._salvos += map(self._salvo, range(len(self._salvos) + 1, len(self._fired) + 1))
        return self._salvos

    def _salvo(self, turn: int) -> Salvo:
        shots = self._fired[turn - 1]
        hits, sunk, defeated = self._damage.get(turn, NO_DAMAGE)
        outcomes = [shot in self._sea for shot in shots]
        if self._repeat_is_miss:
            outcomes = [self._is_first(shot) and met for shot, met in zip(shots, outcomes, strict=True)]
        return Salvo(turn, self._seats[turn - 1], len(shots), hits, outcomes, sunk, defeated, shots)

    def _is_first(self, shot: Shot) -> bool:
        """Whether this shot was not fired in any salvo resolved so far."""
        if self._struck is None:
            self._struck = set()
        before = len(self._struck)
        self._struck.add(shot)
        return len(self._struck) > before

    def fire(self, shots: Sequence[Shot]) -> None:
        """Resolve shots of the current player in order.

        Stops early, leaving the rest void, when the last rival falls (SALVO-FIRE-12). The caller fires at least one
        shot and no more than ``shots_left``.
        """
        self._untouched = False
        shots = self._strike(shots)
        self._shots += shots
        if self._until_miss:
            self.shots_left = int(shots[-1] in self._sea)
        else:
            self.shots_left -= len(shots)

    def _strike(self, shots: Sequence[Shot]) -> Sequence[Shot]:
        """Let shots do their damage; return those that are not void."""
        sea = self._sea
        hits = 0
        for shot in shots:
            if shot in sea:
                hits += 1
                ship = sea[shot]
                if ship != STRUCK:
                    sea[shot] = STRUCK
                    intact = self._intact[shot[0]]
                    intact[ship] -= 1
                    if not intact[ship]:
                        self._sink(shot[0], ship)
                        if self.over:
                            shots = shots[: shots.index(shot) + 1]
                            break
                elif self._repeat_is_miss:
                    hits -= 1
        self._hits += hits
        return shots

    def _sink(self, target: int, ship: int) -> None:
        self._sunk += ((target, ship),)
        self.afloat[target] -= 1
        if not self.afloat[target]:
            self._fall(target)

    def defeat(self, seat: int) -> None:
        """Take a player out of the game for its silence (SALVO-TURN-6)."""
        self._fall(seat)

    def judge_silence(self, silent: Sequence[int], most: int) -> bool:
        """Apply the consequences of the current player's silence; return whether it is defeated (SALVO-TURN-6).

        Args:
            silent: turns in a row without a shot, by seat, this one included.
            most: how many of them are too many.
        """
        too_many = silent[self.current] >= most
        if too_many:
            self.defeat(self.current)
        return too_many

    def _fall(self, seat: int) -> None:
        if not self.out[seat]:
            self._untouched = False
            self.out[seat] = True
            self.fallen.append(seat)
            self._defeated += (seat,)
            self.over = len(self.fallen) + 1 == len(self.out)
            following = self._after[seat]
            # Also after the defeated: one of them may be the current player, sunk by its own shots.
            self._after = [following if after == seat else after for after in self._after]

    def end_turn(self) -> None:
        """Close the turn, whatever was fired, and pass it on; ``salvos`` has its outcome."""
        self._close_turn()

    def fire_salvo(self, shots: Sequence[Shot]) -> None:
        """Fire all shots that the turn will have and end it: ``fire`` and ``end_turn`` in one.

        This is the hot path of every simulation. ``shots`` is kept; it must not be changed afterwards.
        """
        missed = self._is_miss(shots)
        if not self._untouched or (self._hit_goes_on and not missed):
            self.fire(shots)
            self._close_turn()
            return
        # The same, without detours, for a turn in which nothing has happened yet.
        if not missed:
            shots = self._strike(shots)
            self._note_damage()
            self._untouched = True
        self._seats.append(self.current)
        self._fired.append(shots)
        if not self.over:
            self.turn += 1
            self.current = seat = self._after[self.current]
            self.shots_left = self.afloat[seat] if self._by_afloat else 1

    def _close_turn(self) -> None:
        self._seats.append(self.current)
        self._fired.append(self._shots)
        self._shots = []
        self._untouched = self._at_once
        goes_on = self._hit_goes_on and self._hits and not self.out[self.current]
        self._note_damage()
        if not self.over:
            self.turn += 1
            if not goes_on:
                self.current = self._after[self.current]  # the next that is not defeated (SALVO-TURN-3)
            self.shots_left = self.afloat[self.current] if self._by_afloat else 1

    def _note_damage(self) -> None:
        """Record what this turn has done."""
        if self._hits or self._defeated:
            self._damage[self.turn] = (self._hits, self._sunk, self._defeated)
            self._hits = 0
            self._sunk = self._defeated = ()

    def tally(self) -> list[Tally]:
        """Return each seat's statistics, from the turns that have ended."""
        shots, hits, sank = ([0] * len(self.out) for _ in range(3))
        for seat, fired in zip(self._seats, self._fired, strict=True):
            shots[seat] += len(fired)
        for turn, (met, sunk, _) in self._damage.items():
            seat = self._seats[turn - 1]
            hits[seat] += met
            sank[seat] += len(sunk)
        turns = map(self._seats.count, range(len(self.out)))
        return [Tally(*figures) for figures in zip(turns, shots, hits, sank, strict=True)]

    def places(self) -> list[int]:
        """Return each seat's place, 1 for the winner; players still standing share the best place.

        A fall in a turn that goes on does not count: a host may end the game without that turn (SALVO-HOST-5).
        """
        players = len(self.out)
        places = [1] * players
        going_on = 0 if self.over else len(self._defeated)
        for fall, seat in enumerate(self.fallen[: len(self.fallen) - going_on]):
            places[seat] = players - fall
        return places


class Rounds(Game):
    """A game by rounds (``Order.ROUNDS``): every player gives a salvo, then all are resolved at once.

    Players are asked one after the other. No salvo takes effect before the last of the round is given: no ship sinks
    and no player falls. So a ship that sinks in a round has still shot in it.
    """

    __slots__ = ("_begun_with", "_fell_in", "_given", "_round", "_silent", "_waiting")

    def __init__(self, book: RuleBook, fleets: Sequence[Fleet], starter: int) -> None:
        super().__init__(book, fleets, starter)
        players = len(fleets)
        self._round = 1
        self._fell_in: dict[int, int] = {}  # round by seat
        self._begun_with = [(starter + step) % players for step in range(players)]
        self._waiting = self._begun_with[1:]  # seats whose salvo of this round is missing
        self._given: list[tuple[int, list[Shot]]] = []
        self._silent: set[int] = set()

    def fire(self, shots: Sequence[Shot]) -> None:
        """Give shots of the current player, to be resolved with the round."""
        self._shots += shots
        self.shots_left -= len(shots)

    def defeat(self, seat: int) -> None:
        """Take a player out for its silence, when the round is resolved."""
        self._silent.add(seat)

    def _fall(self, seat: int) -> None:
        if not self.out[seat]:
            self.out[seat] = True
            self.fallen.append(seat)
            self._fell_in[seat] = self._round
            self._defeated += (seat,)

    def _close_turn(self) -> None:
        self._given.append((self.current, self._shots))
        self._shots = []
        if self._waiting:
            self.turn += 1
        else:
            self._resolve()
        if not self.over:
            self.current = seat = self._waiting.pop(0)
            self.shots_left = self.afloat[seat] if self._by_afloat else 1

    def _resolve(self) -> None:
        """Resolve the turns of the round, one after the other; the next turn is the one after them."""
        self.turn -= len(self._given) - 1
        for seat, shots in self._given:
            self.current = seat
            super().fire(shots)
            if seat in self._silent:
                self._fall(seat)
            super()._close_turn()
        self._given = []
        self._round += 1
        self._waiting = [seat for seat in self._begun_with if not self.out[seat]]
        self.over = len(self._waiting) <= 1
        if self.over:
            self.turn -= 1
            self.shots_left = 0

    def places(self) -> list[int]:
        """Return each seat's place; those that fell in one round share theirs."""
        fell = [self._fell_in.get(seat, self._round) for seat in range(len(self.out))]
        return [1 + sum(later > mine for later in fell) for mine in fell]


class Points(Game):
    """A game for points (``Ending.GOAL``): no one is ever out, and all have equally many turns.

    Attributes:
        points: hits by seat.
    """

    __slots__ = ("_abandoned", "points")

    def __init__(self, book: RuleBook, fleets: Sequence[Fleet], starter: int) -> None:
        super().__init__(book, fleets, starter)
        self.points = [0] * len(fleets)
        self._abandoned = False

    def judge_silence(self, silent: Sequence[int], most: int) -> bool:
        """Silence defeats no one; once all players are silent, the game ends as it is (SALVO-BOOK-9)."""
        self._abandoned = self._closes_round and min(silent) >= most
        return False

    @property
    def _closes_round(self) -> bool:
        """Whether all will have had equally many turns when this one ends."""
        return (len(self._fired) + 1) % len(self.points) == 0

    def _fall(self, seat: int) -> None:
        """No one is ever out: neither without ships nor for silence."""

    def _close_turn(self) -> None:
        self.points[self.current] += self._hits
        reached = self.book.goal is not None and max(self.points) >= self.book.goal
        self.over = self._abandoned or (reached and self._closes_round)
        super()._close_turn()

    def places(self) -> list[int]:
        """Return each seat's place by its points; equal points share a place."""
        return [1 + sum(others > own for others in self.points) for own in self.points]


def begin(book: RuleBook, fleets: Sequence[Fleet], starter: int) -> Game:
    """Return a game by the book.

    Args:
        fleets: by seat.
        starter: the seat that begins.
    """
    if book.order is Order.ROUNDS:
        return Rounds(book, fleets, starter)
    return Points(book, fleets, starter) if book.ending is Ending.GOAL else Game(book, fleets, starter)
