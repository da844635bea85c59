"""Selects the games of a tournament that are worth showing move by move: odd ones, and the clearest and closest losses.

A game is *odd* if a bot got a strike or was out before the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from salvo_lab.highlights import Score, lost_by_least, lost_by_most
from salvo_lab.tournament.games import Played

#: Identifies a game of a tournament: its match, and its index in the match, from 0.
Key = tuple[int, int]


@dataclass(slots=True)
class Selection:
    """Games to show.

    Attributes:
        max_games: limit for the games of the same bots.
        games: in the order of the tournament.
        losses: by game and bot, for the games that the bot lost by most or by least against those rivals: which of the
            two, such as ``lost by most``.
    """

    max_games: int
    games: list[Played] = field(default_factory=list)
    losses: dict[Key, dict[str, str]] = field(default_factory=dict)


def key_of(game: Played) -> Key:
    """Return what identifies a game."""
    return game.match, game.index


def is_odd(game: Played) -> bool:
    """Whether a bot got a strike or was out before the end."""
    return any(game.strikes) or any(game.forfeited)


def by_bots(games: Iterable[Played]) -> list[list[Played]]:
    """Return the games in groups of the same bots, whatever their seats."""
    groups: dict[frozenset[str], list[Played]] = {}
    for game in games:
        groups.setdefault(frozenset(game.bots), []).append(game)
    return list(groups.values())


def choose(games: Iterable[Played], max_games: int) -> Selection:
    """Select up to ``max_games`` games of the same bots: an odd one, those lost by most and by least, then the others.

    Args:
        games: in the order of the tournament.
    """
    selection = Selection(max_games)
    for group in by_bots(games):
        for bot in group[0].bots:
            for game, why in _extreme_losses(group, bot):
                selection.losses.setdefault(key_of(game), {}).setdefault(bot, why)
        selection.games += _most_interesting(group, selection)
    selection.games.sort(key=key_of)
    return selection


def _most_interesting(group: Sequence[Played], selection: Selection) -> list[Played]:
    odd = [game for game in group if is_odd(game)]
    extreme = [game for game in group if key_of(game) in selection.losses]
    ranked = {key_of(game): game for game in (*odd[:1], *extreme, *odd, *group)}
    return list(ranked.values())[: selection.max_games]


def _extreme_losses(group: Sequence[Played], bot: str) -> Iterator[tuple[Played, str]]:
    scores = [_score(number, game, bot) for number, game in enumerate(group)]
    for lost in (lost_by_most(scores), lost_by_least(scores)):
        if lost is not None:
            yield group[lost.score.game], lost.why


def _score(number: int, game: Played, bot: str) -> Score:
    """Return a bot's result in a game, compared with the best of the others."""
    seat = game.bots.index(bot)
    points = (game.places[seat] == 1) / game.places.count(1)
    rival = max(hits for other, hits in enumerate(game.hits) if other != seat)
    return Score(number, points, game.hits[seat], rival, is_odd(game))
