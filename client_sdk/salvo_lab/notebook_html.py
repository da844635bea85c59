"""The picture of each :class:`salvo.notebook.Pictured` thing: the results of games in tables with bars.

It imports the modules whose objects it shows, and none of them imports it; it is loaded on first display.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import singledispatch

from salvo.messages import PlayerStats
from salvo.notebook import Pictured
from salvo_display.boards.notebook_boards import fleet_page, laid
from salvo_display.boards.notebook_html import Bar, beside, figures
from salvo_display.boards.views import view_page
from salvo_lab.arena import Failure, Outcome
from salvo_lab.comparison import Comparison
from salvo_lab.intervals import percent
from salvo_lab.simulation import Played, Simulation
from salvo_lab.solo import Summary


@singledispatch
def page_of(thing: Pictured) -> str:
    """Return an object as HTML for a notebook's cell."""
    raise TypeError(f"{type(thing).__name__} has no picture")


page_of.register(fleet_page)
page_of.register(view_page)


@page_of.register
def outcome_page(outcome: Outcome) -> str:
    """Return a game for a notebook, with all fleets."""
    boards = [laid(fleet, title=player) for player, fleet in outcome.fleets.items()]
    return beside([_standings(outcome.stats), *boards], _ended(outcome))


@page_of.register
def played_page(played: Played) -> str:
    """Return a game for a notebook."""
    return _standings(played.stats, _ended(played), _failed(played.failures))


@page_of.register
def simulation_page(simulation: Simulation) -> str:
    """Return games for a notebook: the number of wins of each bot, the best first."""
    games = len(simulation)
    if not games:
        return figures((), (), "no game was played")
    rows: list[list[str | Bar]] = []
    for name in sorted(simulation.bots, key=simulation.rate, reverse=True):
        rate, error = simulation.rate(name), simulation.error(name)
        interval = max(0.0, rate - error), min(1.0, rate + error)
        rows.append([name, f"{simulation.wins[name]}", f"{rate:.1%} ± {error:.1%}", Bar(rate, interval)])
    ties = f", {simulation.ties} ties" if simulation.ties else ""
    title = f"{games} games of {simulation.rules}, seats {simulation.seats}, seed {simulation.seed}{ties}"
    speed = [f"{games / simulation.seconds:,.0f} games a second"] if simulation.seconds else []
    notes = ["±: 95% interval; a tie of two is half a win", *speed, *_failed(simulation.failures)]
    return figures(("bot", "wins", "win rate", ""), rows, title, notes)


@page_of.register
def comparison_page(found: Comparison) -> str:
    """Return a comparison for a notebook."""
    name, other = found.bots
    share = f"{found.rate:.1%}, {found.low:.1%} to {found.high:.1%}"
    row: list[str | Bar] = [f"{name} against {other}", share, Bar(found.rate, (found.low, found.high), guide=True)]
    notes = [
        f"{found.games} games in pairs, seed {found.seed}, {percent(1 - found.error)} confidence",
        *_failed(found.failures),
    ]
    return figures(("", "win rate", "half is marked"), [row], found.in_words, notes)


@page_of.register
def summary_page(summary: Summary) -> str:
    """Return a histogram for a notebook."""
    lines = summary.lines()
    most = max(boards for _, boards in lines)
    title = f"{summary.mean:.3f} ± {summary.error:.3f} (standard error), median {summary.median:g}"
    return figures(("count", "boards", ""), [[label, str(n), Bar(n / most)] for label, n in lines], title)


def _standings(stats: Mapping[str, PlayerStats], title: str = "", notes: Sequence[str] = ()) -> str:
    rows = [
        [str(one.place), name, str(one.shots), str(one.hits), str(one.sunk), str(one.turns)]
        for name, one in sorted(stats.items(), key=lambda pair: pair[1].place)
    ]
    return figures(("place", "player", "shots", "hits", "ships sunk", "turns"), rows, title, notes)


def _ended(game: Outcome | Played) -> str:
    how = f"won by {game.winner}" if game.winner else f"a tie of {' and '.join(game.winners)}"
    return f"game {game.game}, seed {game.seed}: {how} after {game.turns} salvos"


def _failed(failures: Sequence[Failure]) -> list[str]:
    if not failures:
        return []
    first = failures[0]
    return [f"{len(failures)} failures, the first in game {first.game}: {first.player}: {first.code}: {first.text}"]
