"""Fleets of several rivals at once, for answers about several boards together.

A salvo at two boards has a single number of hits: the hits on one board determine those on the other. So fleets of all
boards that share answers are drawn together; a *draw* has a fleet for every such board. Turn by turn:

* A board that shares its first answer is drawn by itself, as in :mod:`salvo_lab.bots.posterior`, and added to the
  others.
* An answer is applied: draws that disagree are dropped, and the others are copied, by weight.
* The copies are moved apart: two or three ships, of one board or of several, are placed again, at places that keep all
  answers so far. Places have keys, as there, with a digit for each answer of any board, so matching places are looked
  up.

This is a particle filter with moves that preserve its distribution. Its draws only depend on the answers and on its
randomness, not on when they are read.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from random import Random
from typing import NamedTuple

from salvo.rules import RuleBook
from salvo_lab.bots.clues import Clue
from salvo_lab.bots.posterior import MAX_SHIPS_BY_KEYS, Candidates, draw_ships, learned, spread_evenly

#: Draws that are worth their time; each takes a third of a millisecond for every answer.
MAX_DRAWS = 400
#: Moves of each copy of a draw. With 5 draws get too much alike: what has a chance of 0.99 is there in 80 %; 100 are no
#: better than 30.
MOVES = 20
#: Every second move places three ships again, the others two.
THREE_IN = 2
#: The share of draws that should agree with an answer; if fewer do, draws are moved until enough have.
ENOUGH = 0.05
#: How often they are moved for that.
TRIES = 10

#: A fleet of every board: the masks of their ships, board after board.
Draw = list[int]
#: Weights added up, and the keys that have them.
Options = tuple[list[float], list[tuple[int, ...]]]


class Turn(NamedTuple):
    """What one turn revealed.

    Attributes:
        number: the turn's; 0 if several are summed up.
        clues: by player, for the boards concerned.
        hits: of a salvo at several boards, if only their number is announced; else None.
    """

    number: int
    clues: Mapping[str, Clue]
    hits: int | None


def turns(told: Mapping[str, Sequence[Clue]]) -> list[Turn]:
    """Return what was revealed about several boards, turn by turn.

    Args:
        told: by player.
    """
    found: dict[int, dict[str, Clue]] = {}
    for player, clues in told.items():
        for clue in clues:
            found.setdefault(clue.turn, {})[player] = clue
    shared = {number: [c.shared for c in each.values() if c.shared is not None] for number, each in found.items()}
    return [Turn(number, found[number], max(shared[number], default=None)) for number in sorted(found)]


class Together:
    """Draws for the boards that share answers.

    Attributes:
        boards: their players, in the order in which a draw has their fleets.
        draws: none before the first shared answer, and if none agrees with the answers.
        left_out: numbers of turns whose hits no draw agreed with.
    """

    def __init__(self, book: RuleBook, random: Random, count: int) -> None:
        """Start before the first turn.

        Args:
            count: how many draws.
        """
        self.boards: list[str] = []
        self.draws: list[Draw] = []
        self.left_out: set[int] = set()
        self._book = book
        self._random = random
        self._count = count
        self._shared: list[Turn] = []
        self._told: dict[str, list[Clue]] = {}
        self._candidates: dict[str, Candidates] = {}
        self._keys: list[dict[int, int]] = []  # by ship of a draw, the key of each place
        self._weights: list[Mapping[int, float]] = []
        self._shift = 0  # bits of a key that are in use

    def fleets(self, player: str) -> list[int]:
        """Return a board's fleets as masks, draw by draw."""
        first = self.boards.index(player) * len(self._book.fleet)
        return [sum(draw[first : first + len(self._book.fleet)]) for draw in self.draws]

    def unused(self, player: str) -> set[int]:
        """Return the turns with shots at a board whose number of hits no draw agreed with."""
        return {turn.number for turn in self._shared if turn.number in self.left_out and player in turn.clues}

    def learn(self, turn: Turn) -> None:
        """Apply what a turn revealed."""
        if len(self._book.fleet) > MAX_SHIPS_BY_KEYS:
            return
        for player, clue in turn.clues.items():
            if turn.hits is not None and clue.shots and player not in self.boards:
                self._add(player, self._told.get(player, ()))
            self._told.setdefault(player, []).append(clue)
        if turn.hits is not None:
            self._shared.append(turn)
        clues = {player: clue for player, clue in turn.clues.items() if player in self.boards}
        if not self.draws:
            return
        told = [({player: clue.shots}, clue.hits) for player, clue in clues.items() if clue.hits is not None]
        if not self._take_in_places(clues) or not all(self._take_in_hits(*each) for each in told):
            self._begin_anew()
        elif turn.hits is not None:
            self._take_in_shared(turn)

    def _begin_anew(self) -> None:
        """Draw again, as if all answers about single boards had come before the shared ones."""
        boards, self.boards, self.draws, self._keys, self._weights, self._shift = self.boards, [], [], [], [], 0
        self.left_out.clear()
        for player in boards:
            self._add(player, self._told[player])
        for turn in self._shared:
            self._take_in_shared(turn)

    def _take_in_shared(self, turn: Turn) -> None:
        """Apply a number of hits on several boards, or leave it out if no draw agrees."""
        shots = {player: clue.shots for player, clue in turn.clues.items() if clue.shots}
        assert turn.hits is not None
        if self.draws and not self._take_in_hits(shots, turn.hits):
            self.left_out.add(turn.number)

    def _add(self, player: str, told: Sequence[Clue]) -> None:
        """Add fleets of one more board to those of the others."""
        candidates = learned(self._book, told, alone=False)
        weights = candidates.weights()
        drawn = draw_ships(candidates, self._random, self._count, weights)
        ships = len(self._book.fleet)
        if drawn and (self.draws or not self.boards):
            more = [drawn[number % len(drawn)][:ships] for number in range(self._count)]
            self._random.shuffle(more)
            beside = self.draws or [[] for _ in more]
            self.draws = [[*draw, *fleet] for draw, fleet in zip(beside, more, strict=True)]
        else:
            self.draws = []
        self.boards.append(player)
        self._candidates[player] = candidates
        for ship, places in enumerate(candidates.places):
            self._keys.append({mask: key << self._shift for mask, key in places})
            self._weights.append(weights[ship] if weights else dict.fromkeys([mask for mask, _ in places], 1.0))
        self._shift += candidates.guard.bit_length()

    def _take_in_places(self, clues: Mapping[str, Clue]) -> bool:
        """Drop places that no longer agree, and update the others' weights; return whether a draw agrees."""
        ships = len(self._book.fleet)
        ratios: list[tuple[int, dict[int, float]]] = []
        weights = list(self._weights)
        for player, clue in clues.items():
            candidates, first = self._candidates[player], self.boards.index(player) * ships
            candidates.learn(clue)
            found = candidates.weights()
            for ship, places in enumerate(candidates.places, first):
                old, keys = self._weights[ship], self._keys[ship]
                new = found[ship - first] if found else {}
                weights[ship] = {mask: new.get(mask, 1.0) for mask, _ in places if mask in keys}
                ratios.append((ship, {mask: weight / old[mask] for mask, weight in weights[ship].items() if weight}))

        def agreement(draw: Draw) -> float:
            ratio = 1.0
            for ship, table in ratios:
                ratio *= table.get(draw[ship], 0.0)
                if not ratio:
                    break
            return ratio

        copies = self._keep(agreement)
        if copies is None:
            return False
        self._weights = weights
        for ship, _ in ratios:
            self._keys[ship] = {mask: key for mask, key in self._keys[ship].items() if weights[ship].get(mask)}
        self._move(copies)
        return True

    def _take_in_hits(self, shots: Mapping[str, Sequence[int]], hits: int) -> bool:
        """Drop draws that imply another number of hits, unless all do.

        Args:
            shots: by player, the shots at its board.
        """
        ships = len(self._book.fleet)
        met: list[tuple[int, dict[int, int]]] = []
        for player, layers in shots.items():
            first = self.boards.index(player) * ships
            for ship, keys in enumerate(self._keys[first : first + ships], first):
                met.append((ship, {mask: sum([(mask & layer).bit_count() for layer in layers]) for mask in keys}))
        copies = self._keep(lambda draw: float(sum([table[draw[ship]] for ship, table in met]) == hits))
        if copies is None:
            return False
        for ship, table in met:
            keys = self._keys[ship]
            self._keys[ship] = {m: key + (table[m] << self._shift) for m, key in keys.items() if table[m] <= hits}
        self._shift += next(iter(self._candidates.values())).digit
        self._move(copies)
        return True

    def _keep(self, agreement: Callable[[Draw], float]) -> list[Draw] | None:
        """Keep draws by how well they agree, and return those that are copies of others; None where none agrees."""
        kept: list[Draw] = []
        weights: list[float] = []
        for tries in range(TRIES):
            if tries:
                self._move(self.draws)
            found = [(draw, weight) for draw in self.draws if (weight := agreement(draw))]
            kept += [list(draw) for draw, _ in found]
            weights += [weight for _, weight in found]
            if len(kept) >= ENOUGH * self._count:
                break
        if not kept:
            return None
        self.draws, copies = [], []
        for draw, times in spread_evenly(zip(kept, weights, strict=True), self._count, self._random):
            more = [list(draw) for _ in range(times - 1)]
            self.draws += [draw, *more]
            copies += more
        return copies

    def _move(self, draws: Sequence[Draw]) -> None:
        if draws:
            margin = next(iter(self._candidates.values())).chart.margin
            mover = Mover(self._keys, self._weights, len(self._book.fleet), margin, self._random)
            for draw in draws:
                mover.move(draw, MOVES)


class Mover:
    """Places ships of draws again, so that all answers stay the same."""

    def __init__(
        self,
        keys: Sequence[Mapping[int, int]],
        weights: Sequence[Mapping[int, float]],
        ships: int,
        margin: Mapping[int, int],
        random: Random,
    ) -> None:
        """Sort places by key.

        Args:
            keys: by ship of a draw, the key of each place.
            weights: by ship of a draw, how likely each place is.
            ships: number of ships on each board.
        """
        self._keys, self._weights, self._ships, self._margin, self._random = keys, weights, ships, margin, random
        self._classes: list[dict[int, list[int]]] = []
        self._upto: list[dict[int, list[float]]] = []
        self._sizes: list[dict[int, float]] = []
        for places, table in zip(keys, weights, strict=True):
            classes: dict[int, list[int]] = {}
            for mask, key in places.items():
                classes.setdefault(key, []).append(mask)
            upto = {key: list(accumulate([table[mask] for mask in masks])) for key, masks in classes.items()}
            self._classes.append(classes)
            self._upto.append(upto)
            self._sizes.append({key: each[-1] for key, each in upto.items()})
        self._two: dict[tuple[int, int, int], Options] = {}
        self._three: dict[tuple[int, int, int, int], Options] = {}

    def move(self, draw: Draw, times: int) -> None:
        """Place ships of a draw again, several times."""
        between, keys, count = self._random.random, self._keys, len(self._keys)
        classes, added_up = self._classes, self._upto
        for number in range(times):
            one, other = int(between() * count), int(between() * (count - 1))
            other += other >= one
            key = keys[one][draw[one]] + keys[other][draw[other]]
            if number % THREE_IN or count < 3:
                block: tuple[int, ...] = (one, other)
                upto, options = self._pairs(one, other, key)
            else:
                third = int(between() * count)
                if third in (one, other):
                    continue
                block = (one, other, third)
                upto, options = self._triples(one, other, third, key + keys[third][draw[third]])
            picked = options[bisect(upto, between() * upto[-1], 0, len(upto) - 1)] if len(upto) > 1 else options[0]
            masks, moved = [], False
            for ship, each in zip(block, picked, strict=True):
                places = classes[ship][each]
                mask = places[0]
                if len(places) > 1:
                    sums = added_up[ship][each]
                    mask = places[bisect(sums, between() * sums[-1], 0, len(sums) - 1)]
                moved |= mask != draw[ship]
                masks.append(mask)
            if moved:
                self._lay(draw, block, masks)

    def _lay(self, draw: Draw, block: Sequence[int], masks: Sequence[int]) -> None:
        """Place ships of a draw, unless they would be too close to others; then nothing is moved."""
        before = [draw[ship] for ship in block]
        for ship, mask in zip(block, masks, strict=True):
            draw[ship] = mask
        for ship, mask in zip(block, masks, strict=True):
            near, first = self._margin[mask], ship - ship % self._ships
            for other in range(first, first + self._ships):
                if near & draw[other] and other != ship:
                    for each, old in zip(block, before, strict=True):
                        draw[each] = old
                    return

    def _pairs(self, one: int, other: int, key: int) -> Options:
        """Return the keys of two ships' places that add up to a key."""
        found = self._two.get((one, other, key))
        if found is None:
            sizes, others = self._sizes[one], self._sizes[other]
            firsts = [each for each in sizes if key - each in others]
            upto = list(accumulate([sizes[each] * others[key - each] for each in firsts]))
            found = self._two[one, other, key] = upto, [(each, key - each) for each in firsts]
        return found

    def _triples(self, one: int, other: int, third: int, key: int) -> Options:
        found = self._three.get((one, other, third, key))
        if found is None:
            upto: list[float] = []
            options: list[tuple[int, ...]] = []
            for each, size in self._sizes[one].items():
                if each <= key:
                    before = upto[-1] if upto else 0.0
                    pairs_upto, pairs = self._pairs(other, third, key - each)
                    upto += [before + size * more for more in pairs_upto]
                    options += [(each, *pair) for pair in pairs]
            found = self._three[one, other, third, key] = upto, options
        return found
