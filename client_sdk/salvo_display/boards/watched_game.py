"""A game while it is played: its boards on a terminal, drawn after every salvo; elsewhere, a line for each salvo."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Final, Self

from salvo.messages import SalvoResolved
from salvo.rules import Fleet, Grid
from salvo.view import Shot
from salvo_display.boards.marks import PLAIN, Mark
from salvo_display.boards.text_boards import TextBoards, news, salvo_line

#: Between two salvos: the pace of ``salvo replay``.
PAUSE_SECONDS: Final = 0.5
#: Lines of what bots print that stand below the boards.
MAX_PRINTED_LINES: Final = 5
#: The other screen of the terminal, without a cursor, and back.
_ENTER, _LEAVE = "\033[?1049h\033[?25l", "\033[?25h\033[?1049l"


class Watched(TextBoards):
    """The boards of a game, shown as it goes.

    What bots print meanwhile stands below the boards, and is printed when the screen is left.
    """

    def __init__(self, *, moving: bool, pause: Callable[[float], object] = time.sleep) -> None:
        """Show the game on standard output.

        Args:
            moving: whether that is a terminal; else a line is printed for each salvo.
            pause: waits for so many seconds.
        """
        super().__init__()
        self._out = sys.stdout
        self._moving = moving
        self._pause = pause
        self._coloured = not os.environ.get("NO_COLOR")
        self._fleets: Mapping[str, Fleet] = {}
        self._above = ["before the first salvo", ""]
        self._latest: dict[str, set[int]] = {}
        self._printed = _Printed(self._draw)
        self._leaving = contextlib.ExitStack()

    def __enter__(self) -> Self:
        if self._moving:
            for handler in logging.getLogger().handlers:
                if isinstance(handler, logging.StreamHandler) and handler.stream is sys.stderr:
                    self._leaving.callback(handler.setStream, handler.setStream(self._printed))
            self._leaving.callback(self._leave)
            self._leaving.enter_context(contextlib.redirect_stdout(self._printed))
            self._leaving.enter_context(contextlib.redirect_stderr(self._printed))
            self._write(_ENTER)
        return self

    def __exit__(self, *error: object) -> None:
        self._leaving.close()

    def begin(self, fleets: Mapping[str, Fleet]) -> None:
        """Show the fleets."""
        super().begin(fleets)
        self._fleets = fleets
        self._show()

    def follow(self, shots: Iterable[Shot], result: SalvoResolved) -> None:
        """Show a salvo."""
        shots = tuple(shots)
        super().follow(shots, result)
        if not self._moving:
            self._write(salvo_line(result, max(map(len, self._fleets)), turn_width=3) + "\n")
            return
        grid = next(iter(self._fleets.values())).book.grid
        what = f"hits {result.hits} of {result.shots}: {_aimed(shots, grid)}" if shots else "fires no shots"
        self._above = [f"turn {result.turn}: {result.player} {what}", ", ".join(news(result))]
        self._latest = {name: set() for name in self._fleets}
        for name, x, y in shots:
            self._latest[name].add(grid.cell(x, y))
        self._show()

    def _show(self) -> None:
        if self._moving:
            self._draw()
            self._pause(PAUSE_SECONDS)

    def _draw(self) -> None:
        """Draw the screen; of a small one, the upper part."""
        if not self._moving:
            return
        columns, lines = shutil.get_terminal_size()
        marks = f"{Mark.SHIP} ship, {Mark.HIT} hit, {Mark.MISS} miss"
        legend = f"{marks}, inverted: the last salvo" if self._coloured else marks.translate(PLAIN)
        salvo, brought = (line[: columns - 1] for line in self._above)
        page = [self._styled("1", salvo), brought, ""]
        if self._fleets:
            page += self.lines(self._fleets, coloured=self._coloured, latest=self._latest, columns=columns)
        page += [self._styled("2", f"{legend}; Ctrl-C ends the game"), "", *self._printed.last(columns - 1)]
        self._write("\033[H\033[J" + "\n".join(page[: lines - 1]))

    def _styled(self, code: str, text: str) -> str:
        return f"\033[{code}m{text}\033[0m" if self._coloured else text

    def _leave(self) -> None:
        self._moving = False  # what is flushed later draws nothing
        self._write(_LEAVE + self._printed.getvalue())

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()


class _Printed(io.StringIO):
    """What bots print while the boards have the screen."""

    def __init__(self, draw: Callable[[], None]) -> None:
        super().__init__()
        self._draw = draw

    def write(self, text: str) -> int:
        written = super().write(text)
        if "\n" in text:
            self._draw()
        return written

    def flush(self) -> None:
        """Show the beginning of a line, too, such as a debugger's prompt."""
        self._draw()

    def last(self, columns: int) -> list[str]:
        """Return the last lines, without what could control the terminal."""
        lines = self.getvalue().splitlines()[-MAX_PRINTED_LINES:]
        return ["".join(letter if letter.isprintable() else " " for letter in line[:columns]) for line in lines]


def _aimed(shots: Iterable[Shot], grid: Grid) -> str:
    """Return where shots went, such as ``B3 C4 of hunter``."""
    cells: dict[str, list[str]] = {}
    for player, x, y in shots:
        cells.setdefault(player, []).append(grid.name(grid.cell(x, y)))
    return ", ".join(f"{' '.join(struck)} of {player}" for player, struck in cells.items())
