"""What the answers so far reveal about a rival's board, cell by cell: :func:`heat_map`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from math import fsum
from random import Random

from salvo.errors import BotError
from salvo.rules import Grid, generator
from salvo.view import View
from salvo_display.boards import HeatMap
from salvo_display.boards.marks import Mark
from salvo_display.boards.views import known_marks
from salvo_lab.bots.clues import announced_numbers, clues, is_alone
from salvo_lab.bots.meanfield import MeanField
from salvo_lab.bots.posterior import draw_fleets, learned, shares


def heat_map(
    view: View,
    target: str,
    *,
    aimed: Iterable[tuple[str, int, int]] = (),
    random: Random | None = None,
    fleets: int = 500,
) -> HeatMap:
    """Return the chance that a ship lies there, for every cell of a rival's board.

    Fleets are sampled evenly from all that agree with every answer; the chance of a cell is the share of them that
    covers it, give or take 0.02 with 500. If others fire, too, at targets that are not announced, their hits are
    assumed to be anywhere on ships. A number of hits on several boards together is left out, and the note says how many
    are. If that is too hard, as with six ships, each ship is treated almost independently; the map is not ``exact``
    then, and says so.

    Args:
        aimed: shots to highlight, as a bot returns them: (player, x, y); those at other players are ignored.
        random: source of the sample; by default, seeded by game, turn and target. The view's own is never used.
        fleets: how many to sample, 1 or more.

    Raises:
        BotError: ``unknown_target``: not an opponent in the game; ``bad_fleets``: ``fleets`` is less than 1.
    """
    if target not in view.opponents:
        standing = ", ".join(view.opponents) or "nobody"
        raise BotError("unknown_target", f"{target!r} is not an opponent in the game: {standing}")
    if fleets < 1:
        raise BotError("bad_fleets", f"{fleets} fleets to sample; 1 or more")
    book, known_clues = view.rules, clues(view, target)
    source = random or generator("heat map", view.game, view.turn, target)
    drawn = draw_fleets(
        book, alone=is_alone(view), known=partial(learned, book, known_clues), random=source, count=fleets
    )
    return map_of(
        target,
        book.grid,
        shares(drawn, book.grid.size) if drawn else estimated(view, target),
        marks=known_marks(view, target),
        aimed=(book.grid.cell(x, y) for player, x, y in aimed if player == target),
        fleets=len(drawn),
        left_out=sum(hits is None for _, hits in announced_numbers(view, known_clues)),
    )


def map_of(
    target: str,
    grid: Grid,
    chances: Sequence[float],
    *,
    marks: Mapping[int, str],
    aimed: Iterable[int],
    fleets: int,
    left_out: int,
) -> HeatMap:
    """Return the map of a rival's board, with a note on where its chances come from.

    Args:
        chances: one per cell, 0..1, row by row.
        marks: by cell, the mark of what is known.
        aimed: cells to highlight.
        fleets: how many were sampled; 0 if the chances are estimated.
        left_out: the number of answers that the chances ignore.
    """
    title = f"{target}: chance of a ship in %"
    return HeatMap(grid, tuple(chances), title, marks, tuple(aimed), bool(fleets), _source_of(fleets, left_out))


def _source_of(fleets: int, left_out: int) -> str:
    """Return where chances come from, in words."""
    note = "estimated ship by ship: which whole fleets agree with all answers is too hard to compute"
    if fleets:
        note = f"the share of {fleets} fleets that agree with all answers"
    return f"{note}, {left_out} left out" if left_out else note


def estimated(view: View, target: str) -> list[float]:
    """Return, by cell, the chance that a ship lies there, estimated without sampling whole fleets.

    The chances come from :class:`MeanField`, scaled to add up to the cells of a fleet; none exceeds 1.
    """
    weights = MeanField().density(view, target)
    hits = {cell for cell, mark in known_marks(view, target).items() if mark is Mark.HIT}
    open_weight = fsum(weight for cell, weight in enumerate(weights) if cell not in hits)
    left = len(view.rules.ship_of_cell) - len(hits)
    scale = left / open_weight if open_weight else 0.0
    return [1.0 if cell in hits else min(1.0, weight * scale) for cell, weight in enumerate(weights)]
