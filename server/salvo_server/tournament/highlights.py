"""Which games of a tournament are shown move by move, and why: lost by most, odd, tied.

A game is *odd* when a bot got a strike or was out of it before the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from salvo.lab.highlights import Score, lost_by_least, lost_by_most
from salvo_server.tournament.games import Played

#: A game of a tournament: its match, and its place in it from 0.
Key = tuple[int, int]


@dataclass(slots=True)
class Chosen:
    """Games to show.

    Attributes:
        most: limit for the games of the same bots.
        games: by number.
        lost: of a game, which bots lost it by most or by least of all against those rivals: ``lost by most``, by bot.
    """

    most: int
    games: list[Played] = field(default_factory=list)
    lost: dict[Key, dict[str, str]] = field(default_factory=dict)


def key_of(game: Played) -> Key:
    """Return which game of the tournament it is."""
    return game.match, game.index


def is_odd(game: Played) -> bool:
    """Whether a bot got a strike or was out before the end."""
    return any(game.strikes) or any(game.forfeited)


def choose(games: Iterable[Played], most: int) -> Chosen:
    """Return up to that many games of the same bots: an odd one, those lost by most and by least, then the others.

    Args:
        games: by number.
    """
    tables: dict[frozenset[str], list[Played]] = {}
    for game in games:
        tables.setdefault(frozenset(game.bots), []).append(game)
    chosen = Chosen(most)
    for table in tables.values():
        for bot in table[0].bots:
            for game, why in _extremes(table, bot):
                chosen.lost.setdefault(key_of(game), {}).setdefault(bot, why)
        chosen.games += _first(table, chosen)
    chosen.games.sort(key=key_of)
    return chosen


def _first(table: Sequence[Played], chosen: Chosen) -> list[Played]:
    odd = [game for game in table if is_odd(game)]
    extreme = [game for game in table if key_of(game) in chosen.lost]
    worth_seeing = {key_of(game): game for game in (*odd[:1], *extreme, *odd, *table)}
    return list(worth_seeing.values())[: chosen.most]


def _extremes(table: Sequence[Played], bot: str) -> Iterator[tuple[Played, str]]:
    scores = [_score(number, game, bot) for number, game in enumerate(table)]
    for lost in (lost_by_most(scores), lost_by_least(scores)):
        if lost is not None:
            yield table[lost.score.game], lost.why


def _score(number: int, game: Played, bot: str) -> Score:
    """Return what a game was to a bot, compared with the best of the others."""
    seat = game.bots.index(bot)
    worth = (game.places[seat] == 1) / game.places.count(1)
    rival = max(hits for other, hits in enumerate(game.hits) if other != seat)
    return Score(number, worth, game.hits[seat], rival, is_odd(game))
