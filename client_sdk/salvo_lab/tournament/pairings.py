"""The matches of a tournament and the games of each, in which seats, under which seed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from salvo.rules import Starter, generator, sample
from salvo.rules.starter import draw_starter
from salvo_lab.series.lines import TournamentGame
from salvo_lab.series.schedule import Fixture, free_for_all, round_robin, swiss_round
from salvo_lab.series.standings import points
from salvo_lab.tournament.file import Format, Tournament


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


def games_of(match: Fixture, tournament: Tournament) -> Iterator[Pairing]:
    """Return the games of a match, none for a bye.

    Every bot sits in every seat in turn while one seat begins, so no bot begins more often than another. Where the
    rules let the players alternate from game to game, all have begun before the seats change. After each time round the
    table a new seating order is drawn. Each game has its own number, so that no fleet comes twice: a bot may remember
    what it met.
    """
    players = len(match.teams)
    if players < 2:
        return
    seed, book = f"{tournament.seed}-{match.number}", tournament.book
    alternating = book.starter is Starter.ALTERNATING
    number = begins = 0
    cycle = players * players if alternating else players
    for index in range(tournament.games):
        step = index % cycle
        turned = step // players if alternating else step
        order = sample(generator(tournament.seed, "seats", match.number, index // cycle), match.teams, players)
        number += 1
        if not alternating:
            while step and draw_starter(book, seed, "", number, players) != begins:
                number += 1
            begins = draw_starter(book, seed, "", number, players)
        yield Pairing(match.number, match.round, index, (*order[turned:], *order[:turned]), seed, number)


def whole_schedule(tournament: Tournament) -> list[Fixture] | None:
    """Return all matches of a format that knows them beforehand; None for swiss."""
    names = list(tournament.bots)
    match tournament.format:
        case Format.ROUND_ROBIN:
            return (
                round_robin(names) if tournament.entrants is None else _pairs_that_stay(tournament, tournament.entrants)
            )
        case Format.FREE_FOR_ALL:
            return free_for_all(names, tournament.number_of_rounds, tournament.most_seats, tournament.seed)
    return None


def _pairs_that_stay(tournament: Tournament, came: Sequence[str]) -> list[Fixture]:
    """Return every pair of a folder's bots, with the number that it has whoever comes later or goes."""
    pairs = [(earlier, later) for place, later in enumerate(came) for earlier in came[:place]]
    return [
        Fixture(number, 1, pair) for number, pair in enumerate(pairs, start=1) if set(pair) <= tournament.bots.keys()
    ]


def number_of_games(tournament: Tournament) -> int:
    """Return how many games there are in all."""
    matches = whole_schedule(tournament)
    count = len(tournament.bots) // 2 * tournament.number_of_rounds if matches is None else len(matches)
    return count * tournament.games


def schedule(tournament: Tournament, games: Iterable[TournamentGame]) -> tuple[list[Fixture], list[TournamentGame]]:
    """Return all matches that are certain after some games, and those of the games that are theirs.

    Games of a swiss pairing that does not come about, since a bot has changed and scored something else, are nobody's.

    Raises:
        MissingExtra: ``tournament`` is not installed.
    """
    games = list(games)
    whole = whole_schedule(tournament)
    if whole is not None:
        return whole, _games_of(whole, games)
    matches: list[Fixture] = []
    own: list[TournamentGame] = []
    for number in range(1, tournament.number_of_rounds + 1):
        if len(own) < tournament.games * sum(len(match.teams) > 1 for match in matches):
            break  # the round before is not over
        so_far = points(tournament.bots, matches, own, games=tournament.games)
        matches += swiss_round(number, len(matches) + 1, so_far, matches, tournament.seed)
        own = _games_of(matches, games)
    return matches, own


def _games_of(matches: Sequence[Fixture], games: Sequence[TournamentGame]) -> list[TournamentGame]:
    sides = {match.number: set(match.teams) for match in matches}
    return [game for game in games if sides.get(game.result) == set(game.teams)]
