"""The engine: one game from the first shot to the last ship.

A :class:`Game` is mutable and trusts its caller: seats and cells are in range, the fleets are legal. Who may say
what, and when, is the referee's business. Players are *seats*, 0..n-1 in play order.

A board is a bytearray, one byte a cell: 0 water, 1..n the ship there, and 128 added once that cell was hit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

from salvo.rules.book import Announce, RuleBook, Shots, Starter
from salvo.rules.fleet import Fleet

#: Set in a board's byte once that cell of the ship was hit.
STRUCK = 128


class Salvo(NamedTuple):
    """What came of one turn.

    Attributes:
        turn: counted from 1.
        seat: who fired.
        shots: how many were fired.
        hits: how many of them met an occupied cell (SALVO-FIRE-9).
        outcomes: of each shot in order, 0 for a miss and above 0 for a hit.
        sunk: (seat, ship number) in the order of sinking.
        defeated: seats in the order of their defeat.
    """

    turn: int
    seat: int
    shots: int
    hits: int
    outcomes: Sequence[int]
    sunk: tuple[tuple[int, int], ...]
    defeated: tuple[int, ...]

    def announced_outcomes(self, book: RuleBook) -> tuple[bool, ...] | None:
        """Hit or miss of each shot where the rule book announces that, else None."""
        return tuple(map(bool, self.outcomes)) if book.announce is Announce.EACH_SHOT else None


class Tally(NamedTuple):
    """A player's figures: turns, shots fired, hits among them, and ships that they sank."""

    turns: int
    shots: int
    hits: int
    sank: int


class Game:
    """One game in play.

    Attributes:
        current: the seat whose turn it is.
        turn: the running number of the turn, from 1.
        shots_left: what the current player may still fire.
        afloat: ships afloat by seat.
        out: whether a seat is defeated.
        over: whether one player is left (SALVO-END-1).
        fallen: defeated seats in the order of their defeat.
        salvos: the turns that have ended, in order.
    """

    __slots__ = (
        "_boards",
        "_by_afloat",
        "_defeated",
        "_intact",
        "_outcomes",
        "_sunk",
        "_until_miss",
        "afloat",
        "book",
        "current",
        "fallen",
        "fleets",
        "out",
        "over",
        "salvos",
        "shots_left",
        "turn",
    )

    def __init__(self, book: RuleBook, fleets: Sequence[Fleet], starter: int) -> None:
        players = len(fleets)
        lengths = [0, *(ship.length for ship in book.fleet)]
        self.book = book
        self.fleets = fleets
        self._boards = [bytearray(fleet.board) for fleet in fleets]
        self._intact = [lengths[:] for _ in fleets]
        self._by_afloat = book.shots is Shots.AFLOAT
        self._until_miss = book.shots is Shots.UNTIL_MISS
        self.afloat = [len(book.fleet)] * players
        self.out = [False] * players
        self.over = False
        self.fallen: list[int] = []
        self.salvos: list[Salvo] = []
        self.turn = 0
        self._sunk: tuple[tuple[int, int], ...] = ()
        self._defeated: tuple[int, ...] = ()
        self._begin_turn(starter)

    def _begin_turn(self, seat: int) -> None:
        self.turn += 1
        self.current = seat
        self.shots_left = self.afloat[seat] if self._by_afloat else 1
        self._outcomes: list[int] = []

    @property
    def winner(self) -> int | None:
        """The last seat standing, or None while the game goes on."""
        return self.out.index(False) if self.over else None

    @property
    def shots_fired(self) -> int:
        """Shots of this turn that were resolved so far."""
        return len(self._outcomes)

    def fire(self, shots: Sequence[tuple[int, int]]) -> None:
        """Resolve shots of the current player in order, each (target seat, cell).

        Stops early, leaving the rest void, when the last rival falls (SALVO-FIRE-12). The caller fires at least one
        shot and no more than ``shots_left``. This is the hot loop of every simulation, so misses, four shots in
        five, are told apart in one pass over the bytes.
        """
        boards = self._boards
        outcomes = [boards[target][cell] for target, cell in shots]
        if any(outcomes):
            del outcomes[self._strike(shots, outcomes) :]
        self._outcomes += outcomes
        if self._until_miss:
            self.shots_left = int(outcomes[-1] > 0)
        else:
            self.shots_left -= len(outcomes)

    def _strike(self, shots: Sequence[tuple[int, int]], outcomes: list[int]) -> int:
        """Damage what was hit; return how many shots counted, fewer than all when the game is over."""
        for number, (target, cell) in enumerate(shots, start=1):
            if not outcomes[number - 1]:
                continue
            board = self._boards[target]
            ship = board[cell]  # read again: an earlier shot of this very salvo may have struck the cell
            if ship < STRUCK:
                board[cell] = ship | STRUCK
                intact = self._intact[target]
                intact[ship] -= 1
                if not intact[ship]:
                    self._sink(target, ship - 1)
                    if self.over:
                        return number
        return len(shots)

    def _sink(self, target: int, ship: int) -> None:
        self._sunk += ((target, ship),)
        self.afloat[target] -= 1
        if not self.afloat[target]:
            self.defeat(target)

    def defeat(self, seat: int) -> None:
        """Take a player out of the game, by its last ship or for its silence (SALVO-TURN-6)."""
        if not self.out[seat]:
            self.out[seat] = True
            self.fallen.append(seat)
            self._defeated += (seat,)
            self.over = len(self.fallen) + 1 == len(self.out)

    def end_turn(self) -> Salvo:
        """Close the turn, with whatever was fired, and pass it on; return what came of it."""
        seat, outcomes = self.current, self._outcomes
        fired = len(outcomes)
        # Straight to tuple's constructor: half the time of the generated one, once a turn.
        salvo = tuple.__new__(
            Salvo, (self.turn, seat, fired, fired - outcomes.count(0), outcomes, self._sunk, self._defeated)
        )
        self.salvos.append(salvo)
        if self._sunk:
            self._sunk = ()
        if self._defeated:
            self._defeated = ()
        if not self.over:
            seat += 1
            out = self.out
            while True:  # the next one in play order that is not defeated (SALVO-TURN-3)
                if seat == len(out):
                    seat = 0
                if not out[seat]:
                    break
                seat += 1
            self._begin_turn(seat)
        return salvo

    def tally(self) -> list[Tally]:
        """Return each seat's figures, from the turns that have ended."""
        own: list[list[Salvo]] = [[] for _ in self.out]
        for salvo in self.salvos:
            own[salvo.seat].append(salvo)
        return [
            Tally(
                len(salvos), sum(s.shots for s in salvos), sum(s.hits for s in salvos), sum(len(s.sunk) for s in salvos)
            )
            for salvos in own
        ]

    def places(self) -> list[int]:
        """Return each seat's place, 1 for the winner; players still standing share the best place."""
        players = len(self.out)
        places = [1] * players
        for fall, seat in enumerate(self.fallen):
            places[seat] = players - fall
        return places


def draw_starter(book: RuleBook, seed: int | str, table: str, game: int, players: int) -> int:
    """Return the seat that begins a game, drawn from the table's seed and the game's number (SALVO-TURN-1)."""
    if book.starter is Starter.FIRST:
        return 0
    digest = hashlib.blake2b(f"{seed}/{table}/starter/{game}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % players
