"""A view as text: all boards as far as this player knows them, and nothing more."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from salvo.rules import Announce, Ending, Sinkings
from salvo.view import View
from salvo_display.boards.marks import PLAIN, Mark, picture
from salvo_display.boards.text_boards import board_lines

#: What each mark on a board means.
_WORDS: Final[Mapping[Mark, str]] = {
    Mark.HIT: "hit",
    Mark.MISS: "miss",
    Mark.FIRED: "fired at, result unknown",
}


def known_marks(view: View, player: str) -> dict[int, Mark]:
    """Return, by cell, what is known about another player's board: hit or miss, else where shots fell.

    Includes cells that others fired at, if all shots are announced.
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


def view_text(view: View) -> str:
    """Return a view as text, in plain characters: the own board, then those of the others, and who has which ships."""
    others = [player for player in view.players if player != view.me]
    grid = view.rules.grid
    boards = {player: ("", _marks(view, player)) for player in others}
    own = picture(view.fleet.board, {grid.cell(x, y) for x, y in view.incoming})
    lines = board_lines({view.me: ("(you)", own), **boards}, grid)
    notes = [f"{player}: {'; '.join(_notes(view, player))}" for player in view.players if _notes(view, player)]
    legend = ", ".join(f"{mark.translate(PLAIN)} {word}" for mark, word in _WORDS.items())
    return "\n".join([f"{view.rules.name}, game {view.game}, {_stage(view)}; {legend}", *lines, *notes])


def _marks(view: View, player: str) -> str:
    grid, marks = view.rules.grid, known_marks(view, player)
    if player not in view.revealed:
        return "".join(marks.get(cell, Mark.BLANK) for cell in range(grid.size))
    return picture(view.revealed[player].board, set(marks))


def _stage(view: View) -> str:
    if view.winners:
        return f"won by {' and '.join(view.winners)}"
    return f"turn {view.turn}, {view.shots} to fire" if view.shots else f"turn {view.turn}"


def _notes(view: View, player: str) -> list[str]:
    notes = ["defeated"] if player in view.defeated else []
    if view.rules.ending is Ending.GOAL:
        notes.append(f"points: {view.points[player]} of {view.rules.goal}")
    if view.rules.sinkings is Sinkings.TOLD:
        notes += [f"afloat: {_listed(view.afloat(player))}", f"sunk: {_listed(view.sunk[player])}"]
    return notes


def _listed(ships: Collection[str]) -> str:
    return ", ".join(ships) or "none"
