"""What one player may know of a game, and nothing else.

A :class:`View` starts from the own fleet and the list of players and is fed with what that player is told: its turns,
its own shots, the shots that landed on its board, the result of every salvo. Session and arena feed it alike, so a
bot cannot tell them apart.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from random import Random
from typing import NamedTuple

from salvo.messages import SalvoResolved
from salvo.rules import Fleet, Grid, RuleBook


class Shot(NamedTuple):
    """A shot at a player's board: x = column and y = row, both from 1."""

    player: str
    x: int
    y: int


class OwnSalvo(NamedTuple):
    """One of the player's own salvos and what came of it."""

    turn: int
    shots: tuple[Shot, ...]
    result: SalvoResolved


@lru_cache(maxsize=1024)
def board_shots(player: str, grid: Grid) -> tuple[Shot, ...]:
    """Return the shots at every cell of a player's board, in the order of the cells."""
    return tuple(Shot(player, *grid.xy(cell)) for cell in range(grid.size))


@lru_cache(maxsize=256)
def _all_shots(players: tuple[str, ...], grid: Grid) -> tuple[tuple[Shot, ...], dict[Shot, int], list[int]]:
    """Every shot at these boards, its number, and the numbers in order; shared and never changed."""
    shots = tuple(shot for player in players for shot in board_shots(player, grid))
    return shots, {shot: number for number, shot in enumerate(shots)}, list(range(len(shots)))


#: Place of a shot that is not among the untouched ones.
_GONE = -1


class Untouched(Collection[Shot]):
    """The cells of standing opponents that this player has not fired at yet, as shots.

    Drawing and removing cost the same however many there are: shots are numbers in a list, ``_order``, and every number
    knows its place there, so that the last one can fill a gap.
    """

    __slots__ = ("_number", "_order", "_place", "_random", "_shots")

    def __init__(self, players: Sequence[str], grid: Grid, random: Random) -> None:
        """Start with every cell of these players' boards."""
        self._shots, self._number, in_order = _all_shots(tuple(players), grid)
        self._order = in_order.copy()
        self._place = in_order.copy()
        self._random = random

    def __len__(self) -> int:
        return len(self._order)

    def __iter__(self) -> Iterator[Shot]:
        return map(self._shots.__getitem__, self._order)

    def __contains__(self, shot: object) -> bool:
        number = self._number.get(shot, _GONE)  # type: ignore[call-overload]
        return bool(number != _GONE and self._place[number] != _GONE)

    def of(self, player: str) -> list[Shot]:
        """Return those at one player's board."""
        return [shot for shot in self if shot.player == player]

    def reseed(self, random: Random) -> None:
        """Draw from another source from now on."""
        self._random = random

    def sample(self, count: int) -> list[Shot]:
        """Return ``count`` different ones drawn with the bot's own randomness; all of them if there are fewer."""
        order, random = self._order, self._random.random
        size = len(order)
        if count * 2 >= size:
            return self._sample_most(count)
        chosen = [order[int(random() * size)] for _ in range(count)]
        while len(set(chosen)) < count:  # a double: keep the first of each, draw the missing ones anew
            chosen = list(dict.fromkeys(chosen))
            chosen += [order[int(random() * size)] for _ in range(count - len(chosen))]
        shots = self._shots
        return [shots[number] for number in chosen]

    def _sample_most(self, count: int) -> list[Shot]:
        chosen: list[Shot] = []
        pool = self._order.copy()
        while pool and len(chosen) < count:
            chosen.append(self._shots[pool.pop(int(self._random.random() * len(pool)))])
        return chosen

    def discard(self, shots: Iterable[Shot]) -> None:
        """Take shots out, wherever they are."""
        numbers, order, places = self._number, self._order, self._place
        for shot in shots:
            number = numbers.get(shot, _GONE)
            if number == _GONE or places[number] == _GONE:
                continue
            place, places[number] = places[number], _GONE
            last = order.pop()
            if last != number:
                order[place] = last
                places[last] = place

    def restore(self, shots: Iterable[Shot]) -> None:
        """Put shots back that did not count."""
        for shot in shots:
            number = self._number.get(shot, _GONE)
            if number != _GONE and self._place[number] == _GONE:
                self._place[number] = len(self._order)
                self._order.append(number)

    def discard_player(self, player: str) -> None:
        """Take out the whole board of a player that is defeated."""
        self.discard(self.of(player))


class View:
    """One player's knowledge of one game.

    Attributes:
        rules: the rule book that is played.
        me: the own name.
        players: all names in play order.
        game: the game's number at the table.
        turn: the running number of the turn, from 1; 0 before the first.
        shots: how many shots may be fired in the turn to be answered; 0 when it is somebody else's.
        fleet: the own ships.
        opponents: the others that still stand, in play order.
        defeated: who is out, in that order.
        ships_afloat: by player, the own ones too.
        sunk: ship names by player.
        untouched: cells of opponents not fired at yet.
        salvos: the own salvos with their results.
        results: the results of all salvos, in order.
        random: the bot's own source of randomness; using no other keeps a game reproducible.
    """

    def __init__(
        self, rules: RuleBook, me: str, players: Sequence[str], game: int, fleet: Fleet, random: Random
    ) -> None:
        self.rules = rules
        self.me = me
        self.players = tuple(players)
        self.game = game
        self.turn = 0
        self.shots = 0
        self.fleet = fleet
        self.opponents = tuple(player for player in players if player != me)
        self.defeated: tuple[str, ...] = ()
        self.ships_afloat = dict.fromkeys(players, len(rules.fleet))
        self.sunk: dict[str, tuple[str, ...]] = dict.fromkeys(players, ())
        self.untouched = Untouched(self.opponents, rules.grid, random)
        self.salvos: list[OwnSalvo] = []
        self.results: list[SalvoResolved] = []
        self.random = random
        self._fired: list[Shot] = []
        self._landed: list[Shot] = []
        self._deadline: float | None = None  # on the monotonic clock

    @property
    def seconds_left(self) -> float | None:
        """Time until the turn's deadline; None where no clock runs, as in the arena."""
        return None if self._deadline is None else max(0.0, self._deadline - time.monotonic())

    @property
    def incoming(self) -> list[tuple[int, int]]:
        """Cells of the own board that were shot at, as (x, y), in order."""
        return [(x, y) for _, x, y in self._landed]

    @property
    def fired_this_turn(self) -> tuple[Shot, ...]:
        """Own shots of a turn whose result is not known yet."""
        return tuple(self._fired)

    def afloat(self, player: str) -> list[str]:
        """Return the names of a player's ships that are afloat."""
        return [ship.name for ship in self.rules.fleet if ship.name not in self.sunk[player]]

    # --- feeding ----------------------------------------------------------------------------------------------

    def reseed(self, random: Random) -> None:
        """Draw from another source from now on."""
        self.random = random
        self.untouched.reseed(random)

    def extend(self, deadline: float) -> None:
        """The turn's time began anew; ``deadline`` is on the monotonic clock."""
        self._deadline = deadline

    def begin_turn(self, turn: int, shots: int, deadline: float | None = None) -> None:
        """A turn began; ``shots`` is 0 when it is somebody else's, ``deadline`` is on the monotonic clock."""
        self.turn = turn
        self.shots = shots
        self._deadline = deadline

    def fired(self, shots: Sequence[Shot]) -> None:
        """This player fired."""
        self._fired += shots
        self.untouched.discard(shots)

    def landed(self, shot: Shot) -> None:
        """A shot fell on the own board."""
        self._landed.append(shot)

    def resolved(self, result: SalvoResolved) -> None:
        """A salvo was announced."""
        self.results.append(result)
        if result.player == self.me:
            if len(self._fired) > result.shots:
                self._take_back(result.shots)
            self.salvos.append(OwnSalvo(result.turn, tuple(self._fired), result))
            self._fired = []
            self.shots = 0
        for ship in result.sunk:
            self.ships_afloat[ship.player] -= 1
            self.sunk[ship.player] += (ship.ship,)
        for player in result.defeated:
            self.defeated += (player,)
            self.opponents = tuple(other for other in self.opponents if other != player)
            self.untouched.discard_player(player)

    def _take_back(self, counted: int) -> None:
        """Forget the end of a salvo that came too late, or after the game was won: nobody was shot at there."""
        lost, self._fired = self._fired[counted:], self._fired[:counted]
        known = {shot for salvo in self.salvos for shot in salvo.shots}.union(self._fired)
        self.untouched.restore(shot for shot in lost if shot not in known)
