"""Who meets whom, in which seats, under which seed: all of it drawn from the tournament's seed alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

from salvo.errors import MissingExtra
from salvo.rules import Starter, generator, sample
from salvo.rules.game import draw_starter
from salvo_server.tournament.file import Format, Tournament

#: The opponent in a bye; no bot has this name.
BYE: Final = ""


@dataclass(frozen=True, slots=True)
class Match:
    """Bots that meet for a number of games.

    Attributes:
        number: from 1, in order of play.
        round: from 1.
        bots: names; a single one has a bye.
    """

    number: int
    round: int
    bots: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pairing:
    """A game that is to be played.

    Attributes:
        match: the number of its match.
        index: its place in the match, from 0.
        bots: names in seat order.
        seed, game: what ``salvo play`` takes.
    """

    match: int
    round: int
    index: int
    bots: tuple[str, ...]
    seed: str
    game: int


def games_of(match: Match, tournament: Tournament) -> Iterator[Pairing]:
    """Return the games of a match, none for a bye.

    Every bot sits in every seat in turn while one seat begins, so no bot begins more often than another. Where the
    rules let the players alternate from game to game, all have begun before the seats change. After each time round the
    table a new seating order is drawn. Each game has its own number, so that no fleet comes twice: a bot may remember
    what it met.
    """
    players = len(match.bots)
    if players < 2:
        return
    seed, book = f"{tournament.seed}-{match.number}", tournament.book
    alternating = book.starter is Starter.ALTERNATING
    number = begins = 0
    cycle = players * players if alternating else players
    for index in range(tournament.games):
        step = index % cycle
        turned = step // players if alternating else step
        order = sample(generator(tournament.seed, "seats", match.number, index // cycle), match.bots, players)
        number += 1
        if not alternating:
            while step and draw_starter(book, seed, "", number, players) != begins:
                number += 1
            begins = draw_starter(book, seed, "", number, players)
        yield Pairing(match.number, match.round, index, (*order[turned:], *order[:turned]), seed, number)


def round_robin(names: Sequence[str]) -> list[Match]:
    """Return every pair once."""
    return [Match(number, 1, pair) for number, pair in enumerate(combinations(names, 2), start=1)]


def free_for_all(tournament: Tournament) -> list[Match]:
    """Return tables of nearly equal size, drawn again every round."""
    matches: list[Match] = []
    names = list(tournament.bots)
    tables = -(-len(names) // tournament.most_seats)
    for number in range(1, tournament.number_of_rounds + 1):
        drawn = sample(generator(tournament.seed, "tables", number), names, len(names))
        for table in range(tables):
            matches.append(Match(len(matches) + 1, number, tuple(drawn[table::tables])))
    return matches


def swiss_round(
    number: int, first: int, points: Mapping[str, float], earlier: Sequence[Match], seed: str
) -> list[Match]:
    """Return the pairs of a round.

    Of all ways to pair the bots it is the one with the fewest repeated pairs and byes, and among these the one with the
    smallest squares of differences in points, where a bye counts as a meeting with the last. What is equal then is
    drawn.

    Args:
        number: of the round, from 1.
        first: number of its first match.
        points: by bot, of all rounds before.
        earlier: all matches before, byes included.

    Raises:
        MissingExtra: ``tournament`` is not installed.
    """
    networkx = _networkx()
    draw = generator(seed, "swiss", number)
    names = sample(draw, points, len(points))
    names.sort(key=lambda name: -points[name])
    if len(names) % 2:
        names.append(BYE)
    met = [frozenset((*match.bots, BYE)[:2]) for match in earlier]
    last = min(points.values())
    graph = networkx.Graph()
    graph.add_nodes_from(range(len(names)))
    # Halves of a point are the finest differences of two players; integers keep the sums exact.
    rank = {name: round(2 * points.get(name, last)) for name in names}
    widest = 1 + len(names) * (1 + (max(rank.values()) - min(rank.values())) ** 2)
    for one, other in combinations(range(len(names)), 2):
        a, b = names[one], names[other]
        cost = met.count(frozenset((a, b))) * widest + (rank[a] - rank[b]) ** 2
        graph.add_edge(one, other, weight=cost * 2 * len(names) * _DRAWN + int(draw.random() * _DRAWN))
    pairs = sorted(tuple(sorted(pair)) for pair in networkx.min_weight_matching(graph))
    pairs.sort(key=lambda pair: names[pair[1]] == BYE)
    return [
        Match(first + place, number, tuple(names[seat] for seat in pair if names[seat] != BYE))
        for place, pair in enumerate(pairs)
    ]


#: How finely chance distinguishes equal pairings.
_DRAWN: Final = 1 << 20


def _networkx() -> Any:
    try:
        import networkx
    except ModuleNotFoundError:
        raise MissingExtra("a swiss tournament", "tournament") from None
    return networkx


def whole_schedule(tournament: Tournament) -> list[Match] | None:
    """Return all matches of a format that knows them beforehand; None for swiss."""
    match tournament.format:
        case Format.ROUND_ROBIN:
            return round_robin(list(tournament.bots))
        case Format.FREE_FOR_ALL:
            return free_for_all(tournament)
    return None


def number_of_games(tournament: Tournament) -> int:
    """Return how many games there are in all."""
    matches = whole_schedule(tournament)
    count = len(tournament.bots) // 2 * tournament.number_of_rounds if matches is None else len(matches)
    return count * tournament.games
