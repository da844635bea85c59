"""Where a rival's ships probably are: a chance for every cell of a board."""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from salvo.errors import BotError
from salvo.rules import Grid
from salvo_display.boards.marks import Mark
from salvo_display.boards.notebook_html import COLOURS, Colour, Square, board, shade

#: Marks of cells whose content is known: the letter says more than the chance.
_KNOWN: Final[Mapping[str, str]] = {Mark.HIT: "hit", Mark.MISS: "miss"}
_MEANINGS: Final[Mapping[str, str]] = {**_KNOWN, Mark.FIRED: "fired at before, and not told"}


@dataclass(frozen=True)
class HeatMap:
    """The chance that a ship lies there, for every cell of a board.

    ``print`` shows it as text, a notebook as a picture, both with a percentage in each cell: ``[17]`` is aimed at,
    ``✖`` is a hit, ``○`` a miss, ``●17`` was fired at with unknown result.

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

    def __post_init__(self) -> None:
        """Refuse what is not a map of this board.

        Raises:
            BotError: ``bad_heat_map``: a wrong number of chances, one out of range, an unknown mark, or a cell off the
                board.
        """
        size = self.grid.size
        object.__setattr__(self, "chances", tuple(self.chances))
        object.__setattr__(self, "aimed", tuple(self.aimed))
        object.__setattr__(self, "marks", dict(self.marks))
        if len(self.chances) != size:
            raise BotError("bad_heat_map", f"{len(self.chances)} chances; a board of {size} cells has {size}")
        for cell, chance in enumerate(self.chances):
            if not 0 <= chance <= 1:  # also false for NaN
                raise BotError("bad_heat_map", f"the chance of {self.grid.name(cell)} is {chance}; 0..1")
        for cell in (*self.aimed, *self.marks):
            if cell not in range(size):
                raise BotError("bad_heat_map", f"there is no cell {cell}; cells are 0..{size - 1}, row by row")
        for mark in self.marks.values():
            if mark not in _MEANINGS:
                raise BotError("bad_heat_map", f"mark {mark!r}; one of {Mark.HIT} {Mark.MISS} {Mark.FIRED}")

    def __str__(self) -> str:
        return self.draw()

    def draw(self, paint: Callable[[str, Colour], str] = lambda text, colour: text) -> str:
        """Return the map as text.

        Args:
            paint: puts a cell's colour under its text; both are as wide then as before.
        """
        grid = self.grid
        squares = [text if text.endswith("]") else f"{text} " for text in self._texts()]
        wide, most = max(map(len, squares)), self.hottest
        painted = [paint(f"{square:>{wide}}", self._colour(cell, most)) for cell, square in enumerate(squares)]
        lines = [self.title, "   " + "".join(f"{x:>{wide - 1}} " for x in range(1, grid.width + 1))]
        for y in range(grid.height):
            row = painted[y * grid.width : (y + 1) * grid.width]
            lines.append(f" {string.ascii_uppercase[y]} " + "".join(row))
        return "\n".join(line.rstrip() for line in (*lines, self._legend(), self.note) if line)

    def _legend(self) -> str:
        """Return the legend of the text."""
        signs = ["[ ] aimed at"] if self.aimed else []
        signs += [f"{mark} {meaning}" for mark, meaning in _MEANINGS.items() if mark in self.marks.values()]
        return ", ".join(signs)

    def _repr_html_(self) -> str:
        most = self.hottest
        squares = [
            Square(text, self._colour(cell, most), self._hover(cell), cell in self.aimed)
            for cell, text in enumerate(self._texts())
        ]
        scale = f"darker is likelier, up to {percentage(most)}%"
        return board(self.grid, squares, self.title, [line for line in (scale, self._legend(), self.note) if line])

    @property
    def hottest(self) -> float:
        """The highest chance of a cell that is not known to be a hit; 0 if there is none."""
        return max(
            (chance for cell, chance in enumerate(self.chances) if self.marks.get(cell) != Mark.HIT), default=0.0
        )

    def _texts(self) -> list[str]:
        marks = [self.marks.get(cell, "") for cell in range(self.grid.size)]
        texts = [
            mark if mark in _KNOWN else mark + percentage(chance)
            for mark, chance in zip(marks, self.chances, strict=True)
        ]
        return [f"[{text}]" if cell in self.aimed else text for cell, text in enumerate(texts)]

    def _colour(self, cell: int, most: float) -> Colour:
        mark = self.marks.get(cell, "")
        return COLOURS[mark] if mark in _KNOWN else shade(self.chances[cell] / most if most else 0.0)

    def _hover(self, cell: int) -> str:
        mark = self.marks.get(cell, "")
        known = _KNOWN.get(mark, "fired at" if mark else "")
        words = (f"{100 * self.chances[cell]:.2f}%", known, "aimed at" if cell in self.aimed else "")
        return ", ".join(word for word in words if word)


def percentage(chance: float) -> str:
    """Return a chance in whole percent; only impossible is 0 and only certain is 100."""
    if 0 < chance <= 0.005:
        return "<1"
    return ">99" if 0.995 <= chance < 1 else f"{100 * chance:.0f}"
