"""All fleets that a rival may have, given the answers so far, and draws from them.

:class:`Candidates` keeps, ship by ship, the places that agree with every answer. One of two methods combines them, and
draws evenly from all fleets that agree:

* Where a salvo's answer is a number (:func:`draw_by_keys`): number the salvos; a place's *key* has one digit a salvo,
  how many of its shots the place took. Five ships agree with the answers when their keys add up to the announced ones.
  So places with one key are one class, pairs of classes are added up once, and what they lack is looked up. Each five
  classes that agree get their share of the draws, all of them at once; ships that collide are drawn again. Where few
  fleets are left, none is drawn: it is all of them.
* If each shot's answer is announced (:func:`draw_in_turn`): cover the hits one after the other, then place the other
  ships, each evenly among the places that are left. A fleet with many alternatives at each step is drawn too rarely by
  exactly that factor, which is its weight; resampling by weight makes it even.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, product, zip_longest
from math import fsum
from random import Random
from typing import TypeVar

from salvo.rules import Announce, RuleBook, Sinkings, draw
from salvo_lab.bots.clues import Clue, ShipPlaces, cells_of, chart

#: Classes of places by key, the masks of each.
Classes = dict[int, list[int]]
#: By key, how many places are of that class, or what they weigh together.
Sizes = dict[int, float]
#: By ship and place, how likely the place is relative to the ship's other ones.
Weights = Sequence[Mapping[int, float]]
#: What two classes of ships add up to: the number of pairs of places by key, and the classes they are of.
Pairs = tuple[dict[int, float], dict[int, list[tuple[int, int, float]]]]
#: Pairs of classes of the first two ships and of the next two, with their numbers of places, and the last ship's key.
Way = tuple[list[tuple[int, int, float]], list[tuple[int, int, float]], int]
#: Ships that :func:`draw_by_keys` puts together: two pairs and one.
MAX_SHIPS_BY_KEYS = 5
#: Pairs of classes, and what they add up to, that are worth the time; a standard game has at most a few thousand.
_MAX_PAIRS = 100_000
#: Draws per fleet before giving up: on crowded boards, nearly all collide.
_TRIES = 20
#: Combinations of places for each fleet wanted, up to which it is quicker to go through all of them.
_EVERY = 2
#: Bounds of the assumed share of a board's ships that others have hit.
_LEAST_SHARE, _MAX_SHARE = 0.001, 0.95

T = TypeVar("T")


class Candidates:
    """The places of each ship of one board that agree with the answers.

    Attributes:
        places: by ship, pairs of mask and key.
        sunk: numbers of the ships that sank.
        struck: cells announced as hits.
        shot: cells known to have been shot at.
        total: the announced numbers of hits, one digit per salvo.
        digit: bits of such a digit.
        guard: the highest bit of each of these digits, which no sum reaches.
    """

    def __init__(self, book: RuleBook, *, alone: bool) -> None:
        """Start with every place.

        Args:
            alone: whether all shots at the board are known.
        """
        self.chart = chart(book)
        self._alone = alone
        self._names_sunk = book.sinkings is Sinkings.TOLD
        self.digit = (3 * book.longest_salvo).bit_length()  # three ships' digits add up without a carry
        self.places = [[(mask, 0) for mask in self.chart.places[length]] for length in self.chart.lengths]
        self.sunk: set[int] = set()
        self._ends: dict[int, tuple[int, int, float]] = {}  # of ships that sank, what :meth:`weights` is made of
        self.struck = self.shot = self.total = self.guard = 0
        self._salvos = 0
        self.clues: list[Clue] = []

    def learn(self, clue: Clue) -> None:
        """Drop what does not agree with one more turn."""
        self.clues.append(clue)
        before = self.shot
        aimed = 0
        for layer in clue.shots:
            aimed |= layer
        self.shot = before | aimed
        self.struck |= clue.struck
        place = self.digit * self._salvos
        if clue.hits is not None:
            self._salvos += 1
            self.total |= clue.hits << place
            self.guard |= 1 << place + self.digit - 1
        for ship, places in enumerate(self.places):
            if clue.misses:
                places = [pair for pair in places if not pair[0] & clue.misses]
            if ship in clue.sunk:
                self._ends[ship] = (self.shot, aimed & ~before, min(_MAX_SHARE, max(_LEAST_SHARE, clue.others)))
                places = self._sinking(places, aimed, before)
            elif self._names_sunk and ship not in self.sunk and aimed:
                afloat = ~self.shot
                places = [pair for pair in places if pair[0] & afloat]
            if clue.hits is not None:
                places = _numbered(places, clue.shots, clue.hits, place)
            self.places[ship] = places
        self.sunk.update(clue.sunk)

    def weights(self) -> Weights | None:
        """Return, by ship, how likely each place is relative to its others, given what other players may have hit.

        Cells at which the player has not fired must have been hit by others when a ship sank, and not all of them as
        long as it is afloat. Others are assumed to hit all cells of a ship equally likely; None if they have hit
        none.
        """
        others = min(_MAX_SHARE, self.clues[-1].others) if self.clues else 0.0
        if not others or self._alone or not self._names_sunk:
            return None
        return [self._weights(ship, [mask for mask, _ in places], others) for ship, places in enumerate(self.places)]

    def _weights(self, ship: int, places: Sequence[int], others: float) -> dict[int, float]:
        most = range(self.chart.lengths[ship] + 1)
        if ship not in self._ends:
            afloat = [1 - others**cells for cells in most]
            return {mask: afloat[(mask & ~self.shot).bit_count()] for mask in places}
        shot, fresh, share = self._ends[ship]
        if not fresh:  # another player hit the last cell in that turn
            last = [cells * share ** (cells - 1) if cells else 0.0 for cells in most]
            return {mask: last[(mask & ~shot).bit_count()] for mask in places}
        hit = [share**cells for cells in most]
        return {mask: hit[(mask & ~shot).bit_count()] * (1 - hit[(mask & fresh).bit_count()]) for mask in places}

    def _sinking(self, places: list[tuple[int, int]], aimed: int, before: int) -> list[tuple[int, int]]:
        """Keep those of a ship that sank in this turn and not earlier."""
        if aimed:
            fresh = aimed & ~before
            places = [pair for pair in places if pair[0] & fresh]
            if self._alone:
                places = [pair for pair in places if not pair[0] & ~self.shot]
            return places
        return [pair for pair in places if pair[0] & ~before]


def learned(book: RuleBook, known_clues: Sequence[Clue], alone: bool) -> Candidates:
    """Return the candidates that agree with these clues."""
    candidates = Candidates(book, alone=alone)
    for clue in known_clues:
        candidates.learn(clue)
    return candidates


def _numbered(places: list[tuple[int, int]], shots: Sequence[int], hits: int, digit: int) -> list[tuple[int, int]]:
    """Write one more digit into the keys, and drop places that took more shots than hit."""
    numbered = []
    first, more = shots[0], shots[1:]
    for pair in places:
        mask, key = pair
        met = mask & first
        if met:
            count = met.bit_count() + sum((mask & layer).bit_count() for layer in more)
            if count <= hits:
                numbered.append((mask, key + (count << digit)))
        else:
            numbered.append(pair)
    return numbered


def draw_fleets(
    book: RuleBook, *, alone: bool, known: Callable[[bool], Candidates], random: Random, count: int
) -> list[int]:
    """Return fleets that a rival may have, drawn evenly from all that agree, as masks; none if that is too hard.

    Args:
        alone: whether all shots at the board are known, unless the rival has fired at itself.
        known: returns the candidates, given ``alone``.
    """
    few = len(book.fleet) <= MAX_SHIPS_BY_KEYS
    if not few and book.announce is Announce.COUNT:
        return []
    for known_alone in (True, False) if alone else (False,):
        candidates = known(known_alone)
        if few:
            fleets = draw_by_keys(candidates, random, count, candidates.weights())
        else:
            fleets = draw_in_turn(candidates, random, count)
        if fleets:
            return fleets
    return []


def shares(fleets: Sequence[int], size: int) -> tuple[float, ...]:
    """Return, by cell, the share of the fleets that covers it."""
    return tuple([covering.bit_count() / len(fleets) for covering in columns(fleets, size)])


def columns(fleets: Sequence[int], size: int) -> list[int]:
    """Return, by cell, which of the fleets cover it, one bit per fleet."""
    rows = "".join([format(fleet, f"0{size}b") for fleet in fleets])
    return [int(rows[size - 1 - cell :: size], 2) for cell in range(size)]


# --- if only numbers are announced --------------------------------------------------------------------------------


def draw_by_keys(candidates: Candidates, random: Random, count: int, weights: Weights | None = None) -> list[int]:
    """Return fleets drawn evenly from all that agree, as masks; fewer if they are hard to find.

    If there are few, each of them is returned once, or as often as its weight says.

    Args:
        candidates: of at most five ships.
        count: how many fleets.
        weights: by ship and place, how likely it is relative to the ship's other places; by default all are equal.
    """
    return [sum(ships) for ships in _draw(candidates, random, count, weights)]


def _draw(candidates: Candidates, random: Random, count: int, weights: Weights | None) -> list[tuple[int, ...]]:
    """Return five masks per fleet, in the order of :func:`_classes_of`."""
    places, total, guard = _keyed(candidates)
    margin = candidates.chart.margin
    classes = [_classes(ship_places) for ship_places in _beside_certain(places, margin)]
    classes += [{0: [0]} for _ in range(MAX_SHIPS_BY_KEYS - len(classes))]
    sizes = _sizes(classes, weights)
    if len(classes[0]) * len(classes[1]) > _MAX_PAIRS or len(classes[2]) * len(classes[3]) > _MAX_PAIRS:
        return []
    first, first_parts = _pairs(sizes[0], sizes[1], total, guard)
    second, second_parts = _pairs(sizes[2], sizes[3], total, guard)
    if len(first) * len(classes[4]) > _MAX_PAIRS:
        return []
    ways: list[tuple[Way, float]] = []
    for last, size in sizes[4].items():
        rest = total - last
        for key, pairs in first.items():
            others = second.get(rest - key)
            if others:
                ways.append(((first_parts[key], second_parts[rest - key], last), pairs * others * size))
    if not ways:
        return []
    if weights is None and sum(weight for _, weight in ways) <= _EVERY * count:
        every = [product(*five) for way, _ in ways for five, _ in _classes_of(way, classes, sizes)]
        return [ships for combinations in every for ships in _apart(combinations, margin)]
    fleets: list[tuple[int, ...]] = []
    known: dict[int, list[float]] = {}
    tables = None if weights is None else _in_order_of_classes(weights)
    tries, left = count, count * _TRIES
    while tries > 0 and len(fleets) < count:
        for way, times in _spread_evenly(ways, tries, random):
            for five, often in _spread_evenly(_classes_of(way, classes, sizes), times, random):
                if tables is None:
                    picked = [_picks(masks, often, random) for masks in five]
                else:
                    weighed = zip(five, tables, strict=True)
                    picked = [_picks_by_weight(masks, table, often, random, known) for masks, table in weighed]
                fleets += _apart(zip(*picked, strict=True), margin)
        left -= tries
        tried = count * _TRIES - left
        tries = min(left, (count - len(fleets)) * tried // max(1, len(fleets)) + count // 20 + 1)
    return _even(fleets, [1] * len(fleets), random, count) if len(fleets) > count else fleets


def _sizes(classes: Sequence[Classes], weights: Weights | None) -> list[Sizes]:
    """Return by ship and key how many places there are, or what they weigh together."""
    if weights is None:
        return [{key: len(masks) for key, masks in class_.items()} for class_ in classes]
    return [
        {key: fsum([table[mask] for mask in masks]) for key, masks in ship_classes.items()}
        if table
        else dict.fromkeys(ship_classes, 1)
        for ship_classes, table in zip_longest(classes, weights)
    ]


def _in_order_of_classes(weights: Weights) -> list[Mapping[int, float]]:
    absent: list[Mapping[int, float]] = [{}] * (MAX_SHIPS_BY_KEYS - len(weights))
    first, second, third, fourth, last = [*weights, *absent]
    return [first, second, last, third, fourth]


def _classes_of(
    way: Way, classes: Sequence[Classes], sizes: Sequence[Sizes]
) -> Iterator[tuple[Sequence[list[int]], float]]:
    """Yield the masks of each ship, the last one third, and how many combinations there are, or what they weigh."""
    ones, others, last = way
    for a, b, some in ones:
        for c, d, more in others:
            five_classes = (classes[0][a], classes[1][b], classes[4][last], classes[2][c], classes[3][d])
            yield five_classes, some * more * sizes[4][last]


def _spread_evenly(weighed: Iterable[tuple[T, float]], count: int, random: Random) -> Iterator[tuple[T, int]]:
    """Share a count out by weight: each item's share, rounded up or down by chance, if it is not 0."""
    weighed = list(weighed)
    due, share = random.random(), count / fsum([weight for _, weight in weighed])
    for item, weight in weighed:
        due += weight * share
        if due >= 1:
            times = int(due)
            due -= times
            yield item, times


def _picks(masks: list[int], count: int, random: Random) -> list[int]:
    """Draw places of one ship, each as likely as the others."""
    size = len(masks)
    if size == 1:
        return masks * count
    between_0_and_1 = random.random
    return [masks[int(between_0_and_1() * size)] for _ in range(count)]


def _picks_by_weight(
    masks: list[int], table: Mapping[int, float], count: int, random: Random, known: dict[int, list[float]]
) -> list[int]:
    """Draw places of one ship by their weight.

    Args:
        table: the weights; empty for a ship that there is not.
        known: weights added up, by the identity of ``masks``.
    """
    if len(masks) == 1 or not table:
        return masks[:1] * count
    upto = known.get(id(masks))
    if upto is None:
        upto = known[id(masks)] = list(accumulate([table[mask] for mask in masks]))
    between_0_and_1, last = random.random, len(masks) - 1
    return [masks[bisect(upto, between_0_and_1() * upto[-1], 0, last)] for _ in range(count)]


def _apart(combinations: Iterable[tuple[int, ...]], margin: dict[int, int]) -> list[tuple[int, ...]]:
    """Return those of five ships each, where none is too close to another."""
    fleets = []
    for ships in combinations:
        a, b, c, d, e = ships
        near = margin[a]
        if not b & near:
            near |= margin[b]
            if not c & near:
                near |= margin[c]
                if not d & near and not e & (near | margin[d]):
                    fleets.append(ships)
    return fleets


def _keyed(candidates: Candidates) -> tuple[list[list[tuple[int, int]]], int, int]:
    """Return places with keys, what the keys add up to, and the highest bits of its digits.

    A shot announced as a hit is one more digit, like a salvo of this single shot with one hit.
    """
    struck, total, guard = candidates.struck, candidates.total, candidates.guard
    if not struck:
        return candidates.places, total, guard
    first = guard.bit_length()
    digit = {cell: 1 << first + 2 * number for number, cell in enumerate(cells_of(struck))}
    announced = sum(digit.values())
    keys: dict[int, int] = {}
    places = []
    for place in candidates.places:
        keyed = []
        for mask, key in place:
            met = mask & struck
            if met not in keys:
                keys[met] = sum([digit[cell] for cell in cells_of(met)])
            keyed.append((mask, key + keys[met]))
        places.append(keyed)
    return places, total + announced, guard + 2 * announced


def _beside_certain(places: list[list[tuple[int, int]]], margin: dict[int, int]) -> list[list[tuple[int, int]]]:
    """Drop places that collide with a ship whose place is certain, so that fewer draws collide."""
    certain = [(ship, margin[place[0][0]]) for ship, place in enumerate(places) if len(place) == 1]
    for ship, taken in certain:
        places = [
            place if number == ship else [pair for pair in place if not pair[0] & taken]
            for number, place in enumerate(places)
        ]
    return places


def _classes(places: Sequence[tuple[int, int]]) -> Classes:
    classes: Classes = {}
    for mask, key in places:
        if key in classes:
            classes[key].append(mask)
        else:
            classes[key] = [mask]
    return classes


def _pairs(ones: Sizes, others: Sizes, total: int, guard: int) -> Pairs:
    """Add up every two classes, unless a digit gets larger than announced."""
    weights: dict[int, float] = {}
    parts: dict[int, list[tuple[int, int, float]]] = {}
    most = total | guard
    for one, ways in ones.items():
        rest = most - one
        for other, more in others.items():
            if (rest - other) & guard == guard:
                key, pairs = one + other, ways * more
                if key in weights:
                    weights[key] += pairs
                    parts[key].append((one, other, pairs))
                else:
                    weights[key] = pairs
                    parts[key] = [(one, other, pairs)]
    return weights, parts


# --- if each shot's answer is announced ---------------------------------------------------------------------------


class _ShipKind:
    """Ships with the same length and the same places left."""

    __slots__ = ("covering", "free", "length", "ships", "sunk")

    def __init__(self, length: int, free: int, covering: list[int], *, sunk: bool) -> None:
        self.length = length
        self.free = free  # places, as a bit mask of indices
        self.covering = covering
        self.sunk = sunk
        self.ships = 0


def draw_in_turn(candidates: Candidates, random: Random, count: int) -> list[int]:
    """Return fleets drawn evenly from all that agree, as masks; none when none was found."""
    kinds = _kinds(candidates)
    if not all(kind.free for kind in kinds):
        return []
    sea = candidates.chart
    lengths = [kind.length for kind in kinds]
    clear = [[sea.clear_of(one, other) for other in lengths] for one in lengths]
    fleets, weights = [], []
    for tries in range(1, count * _TRIES + 1):
        fleet, weight = _lay(kinds, clear, sea, candidates.struck, random)
        if weight:
            fleets.append(fleet)
            weights.append(weight)
        if len(fleets) == count or (tries >= 4 * count and not fleets):
            break
    return _even(fleets, weights, random, count)


def _kinds(candidates: Candidates) -> list[_ShipKind]:
    """Return the ships to place: first those that sank, then the long ones."""
    sea = candidates.chart
    kinds: dict[tuple[bool, int, int], _ShipKind] = {}
    for ship, places in enumerate(candidates.places):
        length = sea.lengths[ship]
        number = sea.number[length]
        free = 0
        for mask, _ in places:
            free |= 1 << number[mask]
        sunk = ship in candidates.sunk and not any(mask & ~candidates.struck for mask, _ in places)
        kind = kinds.setdefault((sunk, length, free), _ShipKind(length, free, sea.covering[length], sunk=sunk))
        kind.ships += 1
    return sorted(
        kinds.values(), key=lambda kind: (not kind.sunk, kind.free.bit_count() if kind.sunk else -kind.length)
    )


def _lay(
    kinds: Sequence[_ShipKind], clear: list[list[list[int]]], sea: ShipPlaces, struck: int, random: Random
) -> tuple[int, float]:
    """Build one fleet; return its mask and its weight, 0 at a dead end."""
    free = [kind.free for kind in kinds]
    ships = [kind.ships for kind in kinds]
    fleet, weight = 0, 1.0
    order = [number for number, kind in enumerate(kinds) if kind.sunk for _ in range(kind.ships)]
    left = sum(ships)
    while left:
        uncovered = struck & ~fleet
        if order:
            number = order.pop(0)
            options = free[number]
            ways = options.bit_count()
        elif uncovered:
            cell = (uncovered & -uncovered).bit_length() - 1
            covers = [(n, free[n] & kinds[n].covering[cell]) for n, more in enumerate(ships) if more]
            counts = [ships[n] * places.bit_count() for n, places in covers]
            ways = sum(counts)
            if not ways:
                return 0, 0.0
            chance = draw(random, ways)
            for (number, options), many in zip(covers, counts, strict=True):  # noqa: B007
                if chance < many:
                    break
                chance -= many
        else:
            number = next(n for n, more in enumerate(ships) if more)
            options = free[number]
            ways = options.bit_count()
        if not ways:
            return 0, 0.0
        weight *= ways
        place = _pick(options, draw(random, options.bit_count()))
        kind = kinds[number]
        fleet |= sea.places[kind.length][place]
        ships[number] -= 1
        left -= 1
        beside = clear[number]
        for other, more in enumerate(ships):
            if more:
                free[other] &= beside[other][place]
    return (fleet, weight) if not struck & ~fleet else (0, 0.0)


def _pick(bits: int, number: int) -> int:
    """Return the index of a set bit by its number, counted from the lowest one, 0."""
    index, half = 0, 1 << max(0, (bits.bit_length() - 1).bit_length() - 1)
    while half:
        low = bits & ((1 << half) - 1)
        below = low.bit_count()
        if number < below:
            bits = low
        else:
            number -= below
            bits >>= half
            index += half
        half >>= 1
    return index


def _even(fleets: Sequence[T], weights: Sequence[float], random: Random, count: int) -> list[T]:
    """Resample by weight, as evenly as possible: each fleet as often as its share says, rounded up or down."""
    if not fleets:
        return []
    return [
        fleet for fleet, times in _spread_evenly(zip(fleets, weights, strict=True), count, random) for _ in range(times)
    ]
