"""Each player's chance of winning, from the boards as they stand: the rest of the game, played out in numbers.

A playout knows of each board only how many cells are untouched and how many cells of each ship are. A shot goes to a
rival that is drawn, and hits as often as a ship would be found there by chance, times a factor: players look for the
rest of a ship that was hit, so they hit more often. The factor was fitted to games of built-in bots, and the tests hold
how well the chances fit them (Brier score).
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Final, NamedTuple

from salvo import messages as m
from salvo.rules import Order, RuleBook, Shots, generator
from salvo_display.replay import ship_letter

#: Playouts of all teams together, and at least: of a duel a chance of one half is right within 0.025.
PLAYOUTS: Final = 800
FEWEST: Final = 120
#: How much more often players hit than by chance, on a fresh board and while a ship is hit and afloat.
_SEARCHING: Final = 1.15
_HUNTING: Final = 3.0
_MAX_HIT: Final = 0.9
#: Turns of a playout, after which nobody is counted as the winner.
_MAX_TURNS: Final = 2000


class Chances(NamedTuple):
    """By player, 0 to 1, after a turn of a game."""

    game: int
    turn: int
    of: Mapping[str, float]


class _Side(NamedTuple):
    """A board: untouched cells, and of each ship afloat its cells that are not hit, then its length."""

    name: str
    untouched: int
    ships: tuple[tuple[int, int], ...]


class Race(NamedTuple):
    """What a playout begins with.

    Attributes:
        shooter: the index of who fires next.
    """

    game: int
    turn: int
    sides: tuple[_Side, ...]
    shooter: int
    one_shot: bool
    streak: bool

    @classmethod
    def of(cls, view: m.RefereeView, book: RuleBook) -> Race:
        """Return the race that the referee's boards show."""
        sides = []
        for board in view.boards:
            letters = "".join(board.rows)
            afloat = []
            for number, ship in enumerate(book.fleet):
                if left := letters.count(ship_letter(number)):
                    afloat.append((left, ship.length))
            untouched = sum(letter == "." or letter.islower() for letter in letters)
            sides.append(_Side(board.player, untouched, () if board.out else tuple(afloat)))
        names = [side.name for side in sides]
        last = view.last.player if view.last is not None else names[-1]
        shooter = names.index(view.player) if view.player in names else (names.index(last) + 1) % len(names)
        return cls(view.game, view.turn, tuple(sides), shooter, book.shots is Shots.ONE, book.order is Order.STREAK)


def chances(race: Race, playouts: int | None = None) -> Chances:
    """Return the share of playouts that each player wins.

    Each playout draws the same numbers throughout a game, so chances change with the boards and not by luck.
    """
    wins = dict.fromkeys((side.name for side in race.sides), 0)
    for playout in range(playouts or max(FEWEST, PLAYOUTS // max(1, len(race.sides)))):
        winner = _play_out(race, generator("chances", race.game, playout))
        if winner is not None:
            wins[race.sides[winner].name] += 1
    total = sum(wins.values()) or 1
    return Chances(race.game, race.turn, {name: count / total for name, count in wins.items()})


def _play_out(race: Race, random: Random) -> int | None:
    """Return the index of the winner; None if nobody wins in time."""
    draw = random.random
    untouched = [side.untouched for side in race.sides]
    ships = [[list(ship) for ship in side.ships] for side in race.sides]
    alive = [seat for seat, afloat in enumerate(ships) if afloat]
    seat = race.shooter
    for _ in range(_MAX_TURNS):
        if len(alive) < 2:
            return alive[0] if alive else None
        while seat not in alive:
            seat = (seat + 1) % len(ships)
        hits = 0
        for _ in range(1 if race.one_shot else len(ships[seat])):
            rivals = [rival for rival in alive if rival != seat]
            if not rivals:
                break
            rival = rivals[int(draw() * len(rivals))]
            afloat = ships[rival]
            left = sum([ship[0] for ship in afloat])
            wounded = next((ship for ship in afloat if ship[0] < ship[1]), None)
            likely = left / max(untouched[rival], left) * (_HUNTING if wounded is not None else _SEARCHING)
            untouched[rival] = max(untouched[rival] - 1, left)
            if draw() >= min(likely, _MAX_HIT):
                continue
            hits += 1
            ship = wounded if wounded is not None else afloat[int(draw() * len(afloat))]
            ship[0] -= 1
            if not ship[0]:
                afloat.remove(ship)
                if not afloat:
                    alive.remove(rival)
        if not (race.streak and hits):
            seat = (seat + 1) % len(ships)
    return None
