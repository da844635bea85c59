"""Who meets whom in a series: all of it follows from the seed, from what was drawn before, and from its results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from random import Random
from typing import Any, Final

from salvo.errors import MissingExtra
from salvo.rules import generator, sample

#: The opponent in a bye; no bot or team has this name.
BYE: Final = ""
#: Difference in rating that weighs as much on a ladder as having waited longest of all.
RATING_SCALE: Final = 5.0
#: A meeting in one of somebody's last games on a ladder weighs as much as this difference in rating.
AGAIN: Final = 2.5
#: Games of a ladder in which somebody was met lately.
LATELY: Final = 3


@dataclass(frozen=True, slots=True)
class Fixture:
    """Bots or teams that meet, for a game or several.

    Attributes:
        number: from 1, in order of play.
        round: from 1.
        teams: names; a single one has a bye.
    """

    number: int
    round: int
    teams: tuple[str, ...]


def round_robin(names: Sequence[str]) -> list[Fixture]:
    """Return every pair once."""
    return [Fixture(number, 1, pair) for number, pair in enumerate(combinations(names, 2), start=1)]


def free_for_all(names: Sequence[str], rounds: int, size: int, seed: str) -> list[Fixture]:
    """Return tables of nearly equal size, drawn again every round.

    Args:
        size: the most players of a table.
    """
    matches: list[Fixture] = []
    tables = len(sizes_of_tables(len(names), size))
    for number in range(1, rounds + 1):
        drawn = sample(generator(seed, "tables", number), names, len(names))
        for table in range(tables):
            matches.append(Fixture(len(matches) + 1, number, tuple(drawn[table::tables])))
    return matches


def swiss_round(
    number: int,
    first: int,
    points: Mapping[str, float],
    earlier: Sequence[Fixture],
    seed: str,
    size: int = 2,
    *,
    together: Collection[str] = (),
) -> list[Fixture]:
    """Return the tables of a round at which those sit together who have about the same points.

    A repeated meeting weighs more than any difference in points; what is equal then is drawn. Pairs are the best of all
    possible ones; larger tables are improved until no exchange of two makes them better. Nobody has a second bye
    before all who are there have had one: it goes to the last of those with the fewest.

    Args:
        number: of the round, from 1.
        first: number of its first match.
        points: by name, of all rounds before; two or more.
        earlier: all matches before, byes included.
        size: the most players of a table; above 2 the tables are of nearly equal size, and nobody has a bye.
        together: those whose games are played one after the other: the fewer tables they sit at, the sooner the round
            ends. In pairs that counts for more than any difference in points, and no two meet again for it; at larger
            tables, where all meet again and again, two that sit together of whom one is such count as met once more.

    Raises:
        MissingExtra: ``tournament`` is not installed.
    """
    draw = generator(seed, "swiss", number)
    names = sample(draw, points, len(points))
    names.sort(key=lambda name: -points[name])
    last = min(points.values())
    # Halves of a point are the finest differences of two players; integers keep the sums exact.
    rank = {name: round(2 * points.get(name, last)) for name in [*names, BYE]}
    widest = 1 + len(names) * (1 + (max(rank.values()) - min(rank.values())) ** 2)
    met = meetings(earlier)
    mixed = widest // 2 if size == 2 else widest

    def cost(one: str, other: str) -> int:
        again = met[frozenset((one, other))] * widest + mixed * ((one in together) != (other in together))
        return again + (rank[one] - rank[other]) ** 2

    return _round(number, first, names, earlier, cost, draw, size)


def mixed_round(
    number: int, first: int, names: Sequence[str], earlier: Sequence[Fixture], seed: str, size: int = 2
) -> list[Fixture]:
    """Return the tables of a round at which as many as possible meet for the first time, at least two of them.

    With an even number of names and tables of two, each meets each once in the fewest rounds. The arguments are those
    of :func:`swiss_round`; ``names`` are in an order of drawing, and those that came later stand at its end.

    Raises:
        MissingExtra: ``tournament`` is not installed.
    """
    met = meetings(earlier)
    draw = generator(seed, "mixed", number)
    turned = _turned(names, met) if size == 2 else []
    if turned:
        return [Fixture(first + place, number, pair) for place, pair in enumerate(turned)]
    unmet = {name: sum(not met[frozenset((name, other))] for other in names if other != name) for name in names}
    most = 1 + max(met.values(), default=0) * len(names) ** 2

    def cost(one: str, other: str) -> int:
        times = met[frozenset((one, other))]
        return (most + times * times) if times else 0

    ordered = sorted(sample(draw, names, len(names)), key=lambda name: -unmet[name])
    return _round(number, first, ordered, earlier, cost, draw, size)


def _turned(names: Sequence[str], met: Mapping[frozenset[str], int]) -> list[tuple[str, ...]]:
    """Return a round of the circle method in which all meet for the first time, with a bye if there must be one."""
    circle = [*names, *[BYE] * (len(names) % 2)]
    for turn in range(len(circle) - 1):
        seats = [circle[0], *circle[1 + turn :], *circle[1 : 1 + turn]]
        pairs = [(seats[at], seats[-1 - at]) for at in range(len(seats) // 2)]
        if not any(met[frozenset(pair)] for pair in pairs):
            pairs.sort(key=lambda pair: BYE in pair)
            return [tuple(name for name in pair if name != BYE) for pair in pairs]
    return []


def ladder_match(
    since: Mapping[str, float],
    rating: Mapping[str, float],
    earlier: Iterable[Fixture],
    size: int,
    together: Collection[str] = (),
) -> tuple[str, ...]:
    """Return a game of those who wait: who waits longest, with those who are nearest in rating.

    Who waits longest always plays, so nobody waits for more games to begin than there are others. Of the others, a
    smaller difference in rating counts for them, a longer wait does, and not to have been met lately.

    Args:
        since: when they began to wait, two or more.
        rating: at least of all that wait.
        earlier: all matches before, in their order.
        size: the most players of a table.
        together: if given, one of these that waits longest plays, and others of them before all others.
    """
    ordered = sorted(since, key=lambda name: (name not in together, since[name], name))
    first = ordered[0]
    longest = max(since.values()) - since[first]
    own = [match.teams for match in earlier if first in match.teams][-LATELY:]
    met = [name for teams in own for name in teams]

    def distance(name: str) -> float:
        waited = (max(since.values()) - since[name]) / longest if longest else 0.0
        return abs(rating[name] - rating[first]) / RATING_SCALE + AGAIN / RATING_SCALE * met.count(name) - waited

    others = sorted(ordered[1:], key=lambda name: (name not in together, distance(name)))
    return (first, *others[: size - 1])


def meetings(matches: Iterable[Fixture]) -> Counter[frozenset[str]]:
    """Return how often each two have met; a bye is a meeting with :data:`BYE`."""
    return Counter(
        frozenset(pair)
        for match in matches
        for pair in combinations((*match.teams, BYE)[: max(2, len(match.teams))], 2)
    )


def sizes_of_tables(players: int, size: int) -> list[int]:
    """Return tables of nearly equal size, the larger ones first."""
    tables = -(-players // size)
    return [players // tables + (table < players % tables) for table in range(tables)]


def _round(
    number: int,
    first: int,
    names: Sequence[str],
    earlier: Sequence[Fixture],
    cost: Callable[[str, str], int],
    draw: Random,
    size: int,
) -> list[Fixture]:
    """Return the tables of a round with the least costs; names come in the order in which they are seated."""
    tables = _pairs(names, meetings(earlier), cost, draw) if size == 2 else _tables(names, cost, size)
    return [Fixture(first + place, number, tuple(table)) for place, table in enumerate(tables)]


def _pairs(
    given: Sequence[str], met: Mapping[frozenset[str], int], cost: Callable[[str, str], int], draw: Random
) -> list[list[str]]:
    names = [*given, *[BYE] * (len(given) % 2)]
    fewest = min(met[frozenset((name, BYE))] for name in given)
    graph = _networkx().Graph()
    graph.add_nodes_from(range(len(names)))
    for one, other in combinations(range(len(names)), 2):
        drawn = int(draw.random() * _DRAWN)
        if names[other] != BYE or met[frozenset((names[one], BYE))] == fewest:
            graph.add_edge(one, other, weight=cost(names[one], names[other]) * 2 * len(names) * _DRAWN + drawn)
    pairs = sorted(tuple(sorted(pair)) for pair in _networkx().min_weight_matching(graph))
    pairs.sort(key=lambda pair: names[pair[1]] == BYE)
    return [[names[seat] for seat in pair if names[seat] != BYE] for pair in pairs]


def _tables(names: Sequence[str], cost: Callable[[str, str], int], size: int) -> list[list[str]]:
    """Seat the first that is left with those that suit best, table by table; then exchange while that is better."""
    left, tables = list(names), []
    for seats in sizes_of_tables(len(names), size):
        table = [left.pop(0)]
        while len(table) < seats:
            best = min(left, key=lambda name: sum(cost(name, other) for other in table))
            left.remove(best)
            table.append(best)
        tables.append(table)
    better = True
    while better:
        better = False
        for one, other in combinations(tables, 2):
            for a, b in product(range(len(one)), range(len(other))):
                now = _sum(cost, one, a, one[a]) + _sum(cost, other, b, other[b])
                if _sum(cost, one, a, other[b]) + _sum(cost, other, b, one[a]) < now:
                    one[a], other[b] = other[b], one[a]
                    better = True
    return tables


def _sum(cost: Callable[[str, str], int], table: Sequence[str], seat: int, name: str) -> int:
    """Return what somebody costs in a seat of a table."""
    return sum(cost(name, other) for at, other in enumerate(table) if at != seat)


#: How finely chance distinguishes equal pairings.
_DRAWN: Final = 1 << 20


def _networkx() -> Any:
    try:
        import networkx
    except ModuleNotFoundError:
        raise MissingExtra("a swiss tournament", "tournament") from None
    return networkx
