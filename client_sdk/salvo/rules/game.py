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
from typing import NamedTuple

from salvo.rules.book import Announce, RuleBook, Shots, Starter
from salvo.rules.fleet import Fleet

Shot = tuple[int, int]
Sinking = tuple[int, int]
#: Of a turn with hits or defeats: the number of hits, what sank, who is out.
Damage = tuple[int, tuple[Sinking, ...], tuple[int, ...]]
NO_DAMAGE: Damage = (0, (), ())

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
        aims: the shots themselves, in order.
    """

    turn: int
    seat: int
    shots: int
    hits: int
    outcomes: Sequence[bool]
    sunk: tuple[Sinking, ...]
    defeated: tuple[int, ...]
    aims: Sequence[Shot]

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
        "_damage",
        "_defeated",
        "_fired",
        "_hits",
        "_intact",
        "_is_miss",
        "_salvos",
        "_sea",
        "_seats",
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
        ship_of_cell = book.ship_of_cell
        self._sea: dict[Shot, int] = {
            (seat, cell): ship
            for seat, fleet in enumerate(fleets)
            for cell, ship in zip(fleet.cells, ship_of_cell, strict=True)
        }
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
        # Of the turns that have ended: who fired, and what. Two lists, since a pair a turn is work for the collector.
        self._seats: list[int] = []
        self._fired: list[Sequence[Shot]] = []
        self._damage: dict[int, Damage] = {}  # by turn
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
        self._salvos += map(self._salvo, range(len(self._salvos) + 1, len(self._fired) + 1))
        return self._salvos

    def _salvo(self, turn: int) -> Salvo:
        shots = self._fired[turn - 1]
        hits, sunk, defeated = self._damage.get(turn, NO_DAMAGE)
        outcomes = [shot in self._sea for shot in shots]
        return Salvo(turn, self._seats[turn - 1], len(shots), hits, outcomes, sunk, defeated, shots)

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
        return self._salvo(len(self._fired))

    def fire_salvo(self, shots: Sequence[Shot]) -> None:
        """Fire all shots that the turn will have and end it: ``fire`` and ``end_turn`` in one.

        This is the hot path of every simulation. ``shots`` is kept; it must not be changed afterwards.
        """
        if not (self._untouched and self._is_miss(shots)):
            self.fire(shots)
            self._close_turn()
            return
        # The same for a turn without a hit, without the detours.
        self._seats.append(self.current)
        self._fired.append(shots)
        self.turn += 1
        self.current = seat = self._after[self.current]
        self.shots_left = self.afloat[seat] if self._by_afloat else 1

    def _close_turn(self) -> None:
        self._seats.append(self.current)
        self._fired.append(self._shots)
        self._shots = []
        self._untouched = True
        if self._hits or self._defeated:
            self._damage[self.turn] = (self._hits, self._sunk, self._defeated)
            self._hits = 0
            self._sunk = self._defeated = ()
        if not self.over:
            self.turn += 1
            self.current = seat = self._after[self.current]  # the next that is not defeated (SALVO-TURN-3)
            self.shots_left = self.afloat[seat] if self._by_afloat else 1

    def tally(self) -> list[Tally]:
        """Return each seat's figures, from the turns that have ended."""
        turns, shots, hits, sank = ([0] * len(self.out) for _ in range(4))
        for seat, fired in zip(self._seats, self._fired, strict=True):
            turns[seat] += 1
            shots[seat] += len(fired)
        for turn, (met, sunk, _) in self._damage.items():
            seat = self._seats[turn - 1]
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


def draw_fair_starter(book: RuleBook, secret: bytes, messages: Sequence[bytes], players: int) -> int:
    """Return the seat that begins a game, drawn from the server's secret and all teams' messages (SALVO-LOG-8).

    The server committed to its secret before it saw any message, and no team knows the secret while it writes its
    messages, which have random bytes in them: neither can choose what is drawn. A team that the server tells its
    secret can.

    Args:
        secret: of this game, at most 64 bytes.
        messages: digests of the placements in force, fleet by fleet in play order, in a fleet as the rule book has
            its ships.
    """
    if book.starter is Starter.FIRST:
        return 0
    digest = hashlib.blake2b(b"salvo start" + b"".join(messages), digest_size=32, key=secret).digest()
    return int.from_bytes(digest, "big") % players
