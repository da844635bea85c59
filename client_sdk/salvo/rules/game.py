"""The engine: one game from the first shot to the last ship.

A :class:`Game` is mutable and trusts its caller: seats and cells are in range, the fleets are legal. Who may say
what, and when, is the referee's business. Players are *seats*, 0..n-1 in play order; a *shot* is (target seat, cell).

The sea is a dict of all occupied cells of all boards, so that whether a salvo met nothing at all, which three in five
do, is one question to the interpreter. A turn is written down as it was fired; what it amounts to is worked out when
somebody asks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import repeat
from typing import NamedTuple

from salvo.rules.book import Announce, RuleBook, Shots, Starter
from salvo.rules.fleet import Fleet

Shot = tuple[int, int]
Sinking = tuple[int, int]

#: In place of the ship's number where a cell was struck: it still counts as a hit and does no more damage.
STRUCK = -1


class Salvo(NamedTuple):
    """What came of one turn.

    Attributes:
        turn: counted from 1.
        seat: who fired.
        shots: how many were fired.
        hits: how many of them met an occupied cell (SALVO-FIRE-9).
        outcomes: whether each shot was a hit, in order.
        sunk: (seat, ship number) in the order of sinking.
        defeated: seats in the order of their defeat.
    """

    turn: int
    seat: int
    shots: int
    hits: int
    outcomes: Sequence[bool]
    sunk: tuple[Sinking, ...]
    defeated: tuple[int, ...]

    def announced_outcomes(self, book: RuleBook) -> tuple[bool, ...] | None:
        """Hit or miss of each shot where the rule book announces that, else None."""
        return tuple(self.outcomes) if book.announce is Announce.EACH_SHOT else None


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
    """

    __slots__ = (
        "_after",
        "_by_afloat",
        "_defeated",
        "_hits",
        "_intact",
        "_is_miss",
        "_log",
        "_salvos",
        "_sea",
        "_shots",
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
            self._sea.update(zip(zip(repeat(seat), fleet.cells), book.ship_of_cell, strict=True))
        self._is_miss = self._sea.keys().isdisjoint
        lengths = [ship.length for ship in book.fleet]
        self._intact = [lengths.copy() for _ in fleets]
        self._by_afloat = book.shots is Shots.AFLOAT
        self._until_miss = book.shots is Shots.UNTIL_MISS
        self.afloat = [len(lengths)] * players
        self.out = [False] * players
        self.over = False
        self.fallen: list[int] = []
        self._after = [*range(1, players), 0]  # who follows each seat; a ring of those not defeated
        self._log: list[tuple[int, Sequence[Shot], int, tuple[Sinking, ...], tuple[int, ...]]] = []
        self._salvos: list[Salvo] = []
        self._shots: list[Shot] = []
        self._hits = 0
        self._sunk: tuple[Sinking, ...] = ()
        self._defeated: tuple[int, ...] = ()
        self._untouched = True  # whether nothing has happened in this turn
        self.turn = 1
        self.current = starter
        self.shots_left = self.afloat[starter] if self._by_afloat else 1

    @property
    def winner(self) -> int | None:
        """The last seat standing, or None while the game goes on."""
        return self.out.index(False) if self.over else None

    @property
    def shots_fired(self) -> int:
        """Shots of this turn that were resolved so far."""
        return len(self._shots)

    @property
    def salvos(self) -> list[Salvo]:
        """The turns that have ended, in order."""
        sea, salvos = self._sea, self._salvos
        for seat, shots, hits, sunk, defeated in self._log[len(salvos) :]:
            outcomes = [shot in sea for shot in shots]
            salvos.append(Salvo(len(salvos) + 1, seat, len(shots), hits, outcomes, sunk, defeated))
        return salvos

    def fire(self, shots: Sequence[Shot]) -> None:
        """Resolve shots of the current player in order.

        Stops early, leaving the rest void, when the last rival falls (SALVO-FIRE-12). The caller fires at least one
        shot and no more than ``shots_left``.
        """
        self._untouched = False
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
        self._hits += hits
        self._shots += shots
        if self._until_miss:
            self.shots_left = int(shots[-1] in sea)
        else:
            self.shots_left -= len(shots)

    def _sink(self, target: int, ship: int) -> None:
        self._sunk += ((target, ship),)
        self.afloat[target] -= 1
        if not self.afloat[target]:
            self.defeat(target)

    def defeat(self, seat: int) -> None:
        """Take a player out of the game, by its last ship or for its silence (SALVO-TURN-6)."""
        if not self.out[seat]:
            self._untouched = False
            self.out[seat] = True
            self.fallen.append(seat)
            self._defeated += (seat,)
            self.over = len(self.fallen) + 1 == len(self.out)
            following = self._after[seat]
            # Also what follows the defeated: one of them may be the current player, brought down by its own shots.
            self._after = [following if after == seat else after for after in self._after]

    def end_turn(self) -> Salvo:
        """Close the turn, with whatever was fired, and pass it on; return what came of it."""
        self._close_turn()
        return self.salvos[-1]

    def fire_salvo(self, shots: Sequence[Shot]) -> bool:
        """Fire all shots that the turn will have and end it: ``fire`` and ``end_turn`` in one.

        This is the hot path of every simulation. ``shots`` is kept; it must not be changed afterwards.

        Returns:
            Whether a ship sank or a player fell, so that somebody has to be told more than numbers.
        """
        if not (self._untouched and self._is_miss(shots)):
            self.fire(shots)
            return self._close_turn()
        # The same as above for a turn without a hit, without the detours.
        self._log.append((self.current, shots, 0, (), ()))
        self.turn += 1
        self.current = seat = self._after[self.current]
        self.shots_left = self.afloat[seat] if self._by_afloat else 1
        return False

    def _close_turn(self) -> bool:
        sunk, defeated = self._sunk, self._defeated
        self._log.append((self.current, self._shots, self._hits, sunk, defeated))
        self._shots = []
        self._hits = 0
        self._untouched = True
        grave = bool(sunk or defeated)
        if grave:
            self._sunk = self._defeated = ()
        if not self.over:
            self.turn += 1
            self.current = seat = self._after[self.current]  # the next that is not defeated (SALVO-TURN-3)
            self.shots_left = self.afloat[seat] if self._by_afloat else 1
        return grave

    def tally(self) -> list[Tally]:
        """Return each seat's figures, from the turns that have ended."""
        turns, shots, hits, sank = ([0] * len(self.out) for _ in range(4))
        for seat, fired, met, sunk, _ in self._log:
            turns[seat] += 1
            shots[seat] += len(fired)
            if met:
                hits[seat] += met
                sank[seat] += len(sunk)
        return [Tally(*figures) for figures in zip(turns, shots, hits, sank, strict=True)]

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
