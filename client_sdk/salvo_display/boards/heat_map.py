"""Where a rival's ships probably are: a chance for every cell of a board."""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from salvo.rules import Grid
from salvo_display.boards.colours import COLOURS, Colour, css, ink, shade
from salvo_display.boards.marks import Mark

#: Marks of cells whose content is known: the letter says more than the chance.
_KNOWN: Final[Mapping[str, str]] = {Mark.HIT: "hit", Mark.MISS: "miss"}
_MEANINGS: Final[Mapping[str, str]] = {**_KNOWN, Mark.FIRED: "fired at before, result unknown"}


class Square(NamedTuple):
    """One cell of a map.

    Attributes:
        details: what a page shows of it under the mouse pointer.
    """

    text: str
    colour: Colour
    details: str
    aimed: bool


@dataclass(frozen=True)
class HeatMap:
    """The chance that a ship lies there, for every cell of a board.

    ``print`` shows it with a percentage in each cell: ``[17]`` is aimed at, ``✖`` is a hit, ``○`` a miss, ``●17`` was
    fired at with unknown result. A notebook shows it in colours.

    Attributes:
        chances: one per cell, row by row, each 0..1.
        title: the line above it.
        marks: by cell what is known of it, ``Mark.HIT``, ``Mark.MISS`` or ``Mark.FIRED``; others have none.
        aimed: cells of a salvo, to be highlighted.
        exact: whether the chances are shares of whole fleets that agree with all answers but those that the note leaves
            out; else they are estimated ship by ship.
        note: the line below it: where the chances come from.
    """

    grid: Grid
    chances: tuple[float, ...] = field(repr=False)
    title: str = ""
    marks: Mapping[int, str] = field(default_factory=dict)
    aimed: tuple[int, ...] = ()
    exact: bool = True
    note: str = ""

    def __str__(self) -> str:
        return self.draw()

    def _repr_html_(self) -> str:
        """Return the map as a part of a page; notebooks call this."""
        from salvo_display.web_page.rendering import render  # with the whole package of pages

        return render("salvo_display/boards/heat_map.html.j2", map=self, css=css, ink=ink, percentage=percentage)

    def draw(self, paint: Callable[[str, Colour], str] = lambda text, colour: text) -> str:
        """Return the map as text.

        Args:
            paint: puts a cell's colour under its text; both are as wide then as before.
        """
        rows = self.rows()
        wide = max(len(square.text) + (not square.aimed) for row in rows for square in row)
        lines = [self.title, "   " + "".join(f"{x:>{wide - 1}} " for x in range(1, self.grid.width + 1))]
        for letter, row in zip(string.ascii_uppercase, rows, strict=False):
            texts = [square.text + " " * (not square.aimed) for square in row]
            painted = [paint(f"{text:>{wide}}", square.colour) for text, square in zip(texts, row, strict=True)]
            lines.append(f" {letter} " + "".join(painted))
        return "\n".join(line.rstrip() for line in (*lines, *self.notes()) if line)

    def rows(self) -> list[list[Square]]:
        """Return the cells, row by row."""
        width, most = self.grid.width, self.hottest
        squares = [self._square(cell, most) for cell in range(self.grid.size)]
        return [squares[first : first + width] for first in range(0, len(squares), width)]

    def notes(self) -> list[str]:
        """Return the legend and the note, as far as there are any."""
        signs = ["[ ] aimed at"] if self.aimed else []
        signs += [f"{mark} {meaning}" for mark, meaning in _MEANINGS.items() if mark in self.marks.values()]
        return [line for line in (", ".join(signs), self.note) if line]

    @property
    def hottest(self) -> float:
        """The highest chance of a cell that is not known to be a hit; 0 if there is none."""
        return max(
            (chance for cell, chance in enumerate(self.chances) if self.marks.get(cell) != Mark.HIT), default=0.0
        )

    def _square(self, cell: int, most: float) -> Square:
        mark, chance, aimed = self.marks.get(cell, ""), self.chances[cell], cell in self.aimed
        text = mark if mark in _KNOWN else mark + percentage(chance)
        colour = COLOURS[mark] if mark in _KNOWN else shade(chance / most if most else 0.0)
        known = _KNOWN.get(mark, "fired at" if mark else "")
        words = (f"{100 * chance:.2f}%", known, "aimed at" if aimed else "")
        details = f"{self.grid.name(cell)}: {', '.join(word for word in words if word)}"
        return Square(f"[{text}]" if aimed else text, colour, details, aimed)


def percentage(chance: float) -> str:
    """Return a chance in whole percent; only impossible is 0 and only certain is 100."""
    if 0 < chance <= 0.005:
        return "<1"
    return ">99" if 0.995 <= chance < 1 else f"{100 * chance:.0f}"
