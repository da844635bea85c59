"""A view as a picture: all boards as far as this player knows them, and nothing more."""

from __future__ import annotations

from salvo.pictures.marks import Mark
from salvo.rules import Announce
from salvo.view import View


def known_marks(view: View, player: str) -> dict[int, Mark]:
    """Return by cell what is known of another player's board: hit or miss, else where shots fell.

    A cell that was fired at by others is among them, where everybody is told of all shots.
    """
    grid = view.rules.grid
    known = view.marks(player) if view.rules.announce is not Announce.COUNT else {}
    marks: dict[int, Mark] = {}
    if player in view.opponents:
        fresh = {grid.cell(x, y) for _, x, y in view.untouched.of(player)}
        marks = {cell: Mark.FIRED for cell in range(grid.size) if cell not in fresh}
    own = [shot for salvo in view.salvos for shot in salvo.shots]
    marks |= {grid.cell(x, y): Mark.FIRED for target, x, y in (*own, *view.fired_this_turn) if target == player}
    return marks | {grid.cell(*cell): Mark.HIT if hit else Mark.MISS for cell, hit in known.items()}
