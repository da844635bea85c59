"""The preview of a link to a game: a title, a sentence and a picture of the boards (Open Graph).

The picture is a PNG, since no messenger shows an SVG; it needs nothing but zlib. It has the boards in play order, and
no text: title and sentence have the names.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from salvo.rules import Grid
from salvo_display import replay_text
from salvo_display.boards.colours import COLOURS, Colour
from salvo_display.boards.marks import Mark
from salvo_display.replay import REFEREE, Frame, Replay
from salvo_display.web_page.rendering import render

#: What messengers ask for.
WIDTH: Final = 1200
HEIGHT: Final = 630
_GAP: Final = 24
#: Behind the boards, and how a miss is drawn on water.
_PAPER: Final[Colour] = (10, 17, 24)
_PALETTE: Final = (_PAPER, *(COLOURS[mark] for mark in (Mark.BLANK, Mark.SHIP, Mark.HIT, Mark.FIRED)), (111, 133, 150))
_WATER: Final = 1
_MISS: Final = 5
_INK: Final = {Mark.BLANK: _WATER, Mark.SHIP: 2, Mark.HIT: 3, Mark.FIRED: 4, Mark.MISS: _MISS}


class Shared(NamedTuple):
    """What is said of a game, or of a turn of it.

    Attributes:
        words: the properties of Open Graph that are the same at every address.
        boards: the marks after that turn, in play order.
    """

    words: Mapping[str, str]
    boards: Sequence[str]
    grid: Grid

    @classmethod
    def of(cls, replay: Replay, turn: int | None) -> Shared:
        """Return what is said of a turn, or of the last one if there are fewer; of the whole game with None."""
        frames = replay.frames(REFEREE)
        frame = frames[-1] if turn is None else frames[min(turn, len(frames) - 1)]
        names = list(frame.seas)
        who = " against ".join(names) if len(names) == 2 else ", ".join(names)
        text = _outcome(frame, len(frames) - 1) if turn is None else replay_text.salvo_line(frame)
        words = {
            "title": f"{who}: game {replay.header.game}{'' if turn is None else f', turn {frame.turn}'}",
            "description": " ".join(text.split()),
            "image:alt": f"The boards of {who} after turn {frame.turn}",
        }
        return cls(words, [sea.marks for sea in frame.seas.values()], replay.header.rules.book.grid)

    def head(self, page: str, picture: str) -> str:
        """Return the lines for the head of the game's page; both addresses are whole ones."""
        size = {"image:width": str(WIDTH), "image:height": str(HEIGHT)}
        given = {"type": "website", "site_name": "Salvo", "url": page, "image": picture, **size, **self.words}
        return render("salvo_display/web_page/shared.html.j2", properties=given)

    def picture(self) -> bytes:
        """Return a PNG of the boards."""
        grid, (across, cell) = self.grid, _layout(len(self.boards), self.grid)
        down = -(-len(self.boards) // across)
        wide, high = cell * grid.width + _GAP, cell * grid.height + _GAP
        left, top = (WIDTH - across * wide + _GAP) // 2, (HEIGHT - down * high + _GAP) // 2
        rows = [bytearray(WIDTH) for _ in range(HEIGHT)]
        for number, marks in enumerate(self.boards):
            row, column = divmod(number, across)
            _draw(rows, left + column * wide, top + row * high, marks, grid, cell)
        return _png(rows)


def _outcome(frame: Frame, salvos: int) -> str:
    winners = frame.tied or ((frame.winner,) if frame.winner else ())
    return f"{replay_text.outcome(winners)} after {replay_text.counted(salvos, 'salvo')}"


def _layout(boards: int, grid: Grid) -> tuple[int, int]:
    """Return how many boards stand beside each other, and how large a cell is, so that cells are largest."""

    def cell(across: int) -> int:
        down = -(-boards // across)
        wide, high = (WIDTH - _GAP) // across - _GAP, (HEIGHT - _GAP) // down - _GAP
        return max(1, min(wide // grid.width, high // grid.height))

    return max(((across, cell(across)) for across in range(1, boards + 1)), key=lambda found: found[1])


def _draw(rows: Sequence[bytearray], left: int, top: int, marks: str, grid: Grid, cell: int) -> None:
    edge = 1 if cell > 4 else 0  # of the paper's colour, between two cells
    for number, mark in enumerate(marks):
        x, y = left + number % grid.width * cell, top + number // grid.width * cell
        ink = _INK[Mark(mark)]
        _fill(rows, x, y, cell - edge, _WATER if ink == _MISS else ink)
        if ink == _MISS:
            inset = cell // 3
            _fill(rows, x + inset, y + inset, cell - 2 * inset, _MISS)


def _fill(rows: Sequence[bytearray], x: int, y: int, size: int, ink: int) -> None:
    for row in rows[y : y + size]:
        row[x : x + size] = bytes([ink]) * size


def _png(rows: Sequence[bytearray]) -> bytes:
    """Return an image of palette colours (PNG 1.2)."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 3, 0, 0, 0)
    palette = b"".join(bytes(colour) for colour in _PALETTE)
    lines = zlib.compress(b"".join(b"\0" + row for row in rows), 9)
    chunks = [chunk(b"IHDR", header), chunk(b"PLTE", palette), chunk(b"IDAT", lines), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)
