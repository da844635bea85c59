"""What a player knows about a rival's board, turn by turn, and every place where a ship may lie, as bit masks.

Bit ``c`` of a mask is cell ``c`` of the grid, row by row. Shared by density, meanfield and admiral.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import prod
from typing import NamedTuple

from salvo.rules import Announce, Repeats, RuleBook, Sinkings, Spacing
from salvo.view import View


class Clue(NamedTuple):
    """What one turn revealed about a board.

    Attributes:
        shots: masks of the cells aimed at, empty if unknown; a cell aimed at twice is in two of them.
        hits: how many of the shots hit, if only the number was announced; else None.
        struck: cells announced as hits.
        misses: cells that are certainly water.
        sunk: numbers in the book's fleet of the ships that sank.
        turn: its number; 0 if several are summed up.
        others: the share of the board's ships that others had hit by then, see :func:`hit_by_others`.
    """

    shots: tuple[int, ...] = ()
    hits: int | None = None
    struck: int = 0
    misses: int = 0
    sunk: tuple[int, ...] = ()
    turn: int = 0
    others: float = 0.0


def is_alone(view: View) -> bool:
    """Whether all shots at a rival's board are known: all are announced, or there is no other player."""
    return view.rules.announce is Announce.CELLS or len(view.players) == 2


def hit_by_others(view: View, target: str) -> list[float]:
    """Estimate the share of a board's ships that other players have hit: at first, and after each result.

    Each player's number of hits is known, but not their targets: all others are assumed to be hit equally often. The
    share is 0 if all shots at the board are known.
    """
    if is_alone(view):
        return [0.0] * (len(view.results) + 1)
    others = [player for player in view.players if player not in (view.me, target)]
    recorded = Counter[str]()
    for result in view.results:
        recorded[result.player] += result.hits
    standing = len(view.players)
    tallies = view.tallies  # including turns before the oldest result
    hits_on_each = {player: (tallies[player].hits - recorded[player]) / (standing - 1) for player in others}
    cells = len(view.rules.ship_of_cell)
    found = [_covered(hits_on_each.values(), cells)]
    for result in view.results:
        if result.player in hits_on_each and result.hits:
            hits_on_each[result.player] += result.hits / (standing - 1)
            found.append(_covered(hits_on_each.values(), cells))
        else:
            found.append(found[-1])
        standing = max(2, standing - len(result.defeated))
    return found


def _covered(hits: Iterable[float], cells: int) -> float:
    """Return the share of cells that were hit, if each player has hit this many different ones."""
    return 1.0 - prod([max(0.0, 1.0 - hit / cells) for hit in hits])


def clues(view: View, target: str) -> list[Clue]:
    """Return what the turns so far revealed about a rival's board, without those that revealed nothing.

    The first clue sums up the turns before the oldest available result (SALVO-JOIN-13).
    """
    book, own = view.rules, {salvo.turn: salvo.shots for salvo in view.salvos}
    # If a repeated shot is a miss, and others may have hit the cell before, a miss says nothing.
    vague = book.repeats is Repeats.MISS and not is_alone(view)
    found: list[Clue] = []
    struck = known = 0
    others = hit_by_others(view, target)
    for number, result in enumerate(view.results, 1):
        aims: Sequence[tuple[str, int, int]] = (
            own.get(result.turn, ()) if result.aims_if_announced is None else result.aims_if_announced
        )
        cells = [book.grid.cell(x, y) for player, x, y in aims if player == target]
        sunk = tuple([book.ship_number[ship.ship] for ship in result.sunk if ship.player == target])
        if not cells and not sunk:
            continue
        shots, hits, met, missed = layers_of(cells), None, 0, 0
        if result.outcomes_if_announced is not None:
            outcomes = [
                hit for (player, _, _), hit in zip(aims, result.outcomes_if_announced, strict=False) if player == target
            ]
            met = mask_of(cell for cell, hit in zip(cells, outcomes, strict=False) if hit)
            missed = 0 if vague else mask_of(cells[: len(outcomes)]) & ~(met | struck)
        elif not vague and not (len(cells) < len(aims) and 0 < result.hits < len(aims)):  # not of several boards
            if book.repeats is Repeats.MISS:
                shots = tuple(shot & ~known for shot in shots[:1])
            hits = min(result.hits, len(cells))
            if hits == 0:
                hits, missed = None, mask_of(cells) & ~known if book.repeats is Repeats.MISS else mask_of(cells)
        struck |= met
        known |= mask_of(cells)
        found.append(Clue(shots, hits, met, missed, sunk, result.turn, others[number]))
    return [*_before(view, target, found, known), *found]


def _before(view: View, target: str, found: Sequence[Clue], known: int) -> list[Clue]:
    """What is known without a clue: nothing, unless the oldest results are missing."""
    book = view.rules
    known_sunk = {ship for clue in found for ship in clue.sunk}
    sunk = [book.ship_number[name] for name in view.sunk[target]] if book.sinkings is Sinkings.TOLD else []
    cells = book.grid.cell
    if book.announce is Announce.COUNT:
        open_cells = mask_of(cells(x, y) for _, x, y in view.untouched.of(target))
        now = mask_of(cells(x, y) for player, x, y in view.fired_this_turn if player == target)
        aimed, struck, missed = ((1 << book.grid.size) - 1) & ~open_cells & ~known & ~now, 0, 0
        if target in view.defeated:  # no more shots there, so no cell is open
            aimed = 0
    else:
        marks = {cells(x, y): hit for (x, y), hit in view.marks(target).items()}
        aimed = mask_of(marks) & ~known
        struck = mask_of(cell for cell, hit in marks.items() if hit) & aimed
        missed = 0 if book.repeats is Repeats.MISS and not is_alone(view) else aimed & ~struck
    lost = tuple(ship for ship in sunk if ship not in known_sunk)
    return [Clue((aimed,), None, struck, missed, lost, 0, hit_by_others(view, target)[0])] if aimed or lost else []


def mask_of(cells: Iterable[int]) -> int:
    """Return the mask of some cells."""
    mask = 0
    for cell in cells:
        mask |= 1 << cell
    return mask


def cells_of(mask: int) -> list[int]:
    """Return the cells of a mask, ascending."""
    cells = []
    while mask:
        lowest = mask & -mask
        cells.append(lowest.bit_length() - 1)
        mask ^= lowest
    return cells


def cells_of_shots(clue: Clue) -> list[int]:
    """Return the cells that were shot at, with repetitions."""
    return [cell for layer in clue.shots for cell in cells_of(layer)]


def announced_numbers(view: View, known_clues: Iterable[Clue]) -> list[tuple[int, int | None]]:
    """Return each salvo's shots at a board, and their hits, if only numbers are announced.

    None replaces a number for several boards at once, or a meaningless one because others may have hit the same cells
    before.
    """
    if view.rules.announce is not Announce.COUNT:
        return []
    return [(len(cells_of_shots(clue)), 0 if clue.misses else clue.hits) for clue in known_clues if clue.shots]


def layers_of(cells: Iterable[int]) -> tuple[int, ...]:
    """Split cells into masks: each mask has a cell at most once, all together have it as often as it is given."""
    layers: list[int] = []
    for cell in cells:
        for number, layer in enumerate(layers):
            if not layer >> cell & 1:
                layers[number] |= 1 << cell
                break
        else:
            layers.append(1 << cell)
    return tuple(layers)


class ShipPlaces:
    """Every place of every ship of a ruleset on an empty board.

    Attributes:
        size: number of cells.
        lengths: of the ships, in the order of the fleet.
        places: masks by length.
        cells: by mask of a place.
        reach: by mask of a place, the cells that it takes from other ships; ``cells`` itself if ships may touch.
        margin: by mask of a place, the cells that no other ship may occupy; itself among them.
        number: by length, a place's index by mask.
        covering: by length and cell, the places that cover the cell, as a bit mask of indices.
    """

    def __init__(self, book: RuleBook) -> None:
        self.size = book.grid.size
        self.lengths = tuple(ship.length for ship in book.fleet)
        self._width, self._height, self._spacing = book.grid.width, book.grid.height, book.spacing
        self.places = {length: self._places(length) for length in sorted(set(self.lengths), reverse=True)}
        every = [place for places in self.places.values() for place in places]
        self.cells = {place: tuple(cells_of(place)) for place in every}
        self.margin = {0: 0} | {place: self._margin(place) for place in every}
        touching = self._spacing is Spacing.TOUCH
        self.reach = self.cells if touching else {place: tuple(cells_of(self.margin[place])) for place in every}
        self.number = {length: {mask: n for n, mask in enumerate(places)} for length, places in self.places.items()}
        self.covering = {length: self._covering(places) for length, places in self.places.items()}
        self._clear: dict[tuple[int, int], list[int]] = {}

    def clear_of(self, length: int, other: int) -> list[int]:
        """Return, by index of a place of ``length``, the places of length ``other`` that may coexist with it."""
        if (length, other) not in self._clear:
            every, covering = (1 << len(self.places[other])) - 1, self.covering[other]
            table = []
            for place in self.places[length]:
                blocked = 0
                for cell in cells_of(self.margin[place]):
                    blocked |= covering[cell]
                table.append(every & ~blocked)
            self._clear[length, other] = table
        return self._clear[length, other]

    def _places(self, length: int) -> tuple[int, ...]:
        width, height = self._width, self._height
        lying = mask_of(range(length))
        standing = mask_of(range(0, length * width, width))
        places = [lying << y * width + x for y in range(height) for x in range(width - length + 1)]
        if length > 1:
            places += [standing << y * width + x for y in range(height - length + 1) for x in range(width)]
        return tuple(places)

    def _margin(self, place: int) -> int:
        if self._spacing is Spacing.TOUCH:
            return place
        near = [(-1, 0), (1, 0), (0, -1), (0, 1)]
        if self._spacing is Spacing.APART:
            near += [(-1, -1), (-1, 1), (1, -1), (1, 1)]
        margin = place
        for cell in cells_of(place):
            y, x = divmod(cell, self._width)
            margin |= mask_of(
                (y + dy) * self._width + x + dx
                for dx, dy in near
                if 0 <= x + dx < self._width and 0 <= y + dy < self._height
            )
        return margin

    def _covering(self, places: Iterable[int]) -> list[int]:
        covering = [0] * self.size
        for number, place in enumerate(places):
            for cell in cells_of(place):
                covering[cell] |= 1 << number
        return covering


@lru_cache(maxsize=16)
def chart(book: RuleBook) -> ShipPlaces:
    """Return the chart of a ruleset; cached."""
    return ShipPlaces(book)
