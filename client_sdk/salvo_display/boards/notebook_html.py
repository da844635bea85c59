"""Boards and bars as HTML; callers decide what they show."""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Final, NamedTuple

from salvo.rules import Grid
from salvo_display.boards.marks import Mark

Colour = tuple[int, int, int]

_BLACK: Final = (0, 0, 0)
_WHITE: Final = (255, 255, 255)
#: Light to dark, the first, middle and last of ColorBrewer's Blues: readable without seeing red or green.
_SCALE: Final[tuple[Colour, ...]] = ((247, 251, 255), (107, 174, 214), (8, 48, 107))
#: By mark, distinguishable without seeing red or green (Okabe and Ito, except for water).
COLOURS: Final[Mapping[str, Colour]] = {
    Mark.BLANK: (232, 243, 250),
    Mark.SHIP: (90, 110, 130),
    Mark.HIT: (213, 94, 0),
    Mark.MISS: (217, 217, 217),
    Mark.FIRED: (240, 228, 66),
}
#: Width and height of a bar.
_LONG, _HIGH = 240, 14
_TABLE: Final = "border-collapse:collapse;border:0;margin:4px 0;font-size:13px;line-height:1.2"
_PLAIN: Final = "padding:0 4px;border:0;background:transparent;color:inherit"
_CAPTION: Final = "caption-side:top;text-align:left;color:inherit;font-weight:bold;padding:2px 0;white-space:nowrap"


class Square(NamedTuple):
    """One cell of a board.

    Attributes:
        text: its text.
        hover: shown with its name under the mouse pointer; empty for only the name.
        framed: whether it is highlighted.
    """

    text: str
    colour: Colour
    hover: str = ""
    framed: bool = False


def shade(share: float) -> Colour:
    """Return the colour of a value, light for 0 and dark for 1."""
    step = min(max(share, 0.0), 1.0) * (len(_SCALE) - 1)
    first = min(int(step), len(_SCALE) - 2)
    red, green, blue = (
        round(low + (high - low) * (step - first)) for low, high in zip(_SCALE[first], _SCALE[first + 1], strict=True)
    )
    return red, green, blue


def luminance(colour: Colour) -> float:
    """Return how bright a colour is, 0..1 (WCAG 2.2, relative luminance)."""
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in (c / 255 for c in colour)
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def ink(colour: Colour) -> Colour:
    """Return black or white, whichever stands out more."""
    bright = luminance(colour) + 0.05
    return _BLACK if bright / 0.05 > 1.05 / bright else _WHITE


def board(grid: Grid, squares: Sequence[Square], title: str, notes: Iterable[str] = ()) -> str:
    """Return a board with rows A.. and columns 1.., a title above, and notes below, a line each.

    Args:
        squares: one per cell, row by row.
    """
    head = "".join(_heading("col", str(x)) for x in range(1, grid.width + 1))
    rows = [
        f"<tr>{_heading('row', string.ascii_uppercase[y])}"
        + "".join(_square(grid.name(cell), squares[cell]) for cell in range(y * grid.width, (y + 1) * grid.width))
        + "</tr>"
        for y in range(grid.height)
    ]
    return _table(f'<tr><td style="{_PLAIN}"></td>{head}</tr>', rows, title, notes)


class Bar(NamedTuple):
    """A share from 0 to 1 as a bar.

    Attributes:
        interval: of the true share, drawn as a line.
        guide: whether the half is marked.
    """

    share: float
    interval: tuple[float, float] | None = None
    guide: bool = False


def figures(heads: Sequence[str], rows: Iterable[Sequence[str | Bar]], title: str, notes: Iterable[str] = ()) -> str:
    """Return a table of texts and bars; each bar has its value next to it, for those who cannot see it."""
    head = "".join(_heading("col", escape(text)) for text in heads)
    body = ["<tr>" + "".join(map(_figure, row)) + "</tr>" for row in rows]
    return _table(f"<tr>{head}</tr>", body, title, notes)


def beside(parts: Iterable[str], title: str) -> str:
    """Return several pictures side by side, as far as there is room, with a title above all."""
    row = f'<div style="display:flex;flex-wrap:wrap;align-items:flex-start">{"".join(parts)}</div>'
    return f'<div><div style="color:inherit;font-weight:bold;padding:4px 0">{escape(title)}</div>{row}</div>'


def _table(head: str, rows: Iterable[str], title: str, notes: Iterable[str]) -> str:
    below = "".join(f'<div style="color:inherit;font-size:12px">{escape(note)}</div>' for note in notes)
    return (
        f'<div style="display:inline-block;vertical-align:top;margin:0 16px 8px 0"><table style="{_TABLE}">'
        f'<caption style="{_CAPTION}">{escape(title)}</caption>'
        f"<thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>{below}</div>"
    )


def _figure(shown: str | Bar) -> str:
    text = shown if isinstance(shown, str) else ""
    inside = _bar(shown) if isinstance(shown, Bar) else escape(text)
    side = "right" if text[:1].isdigit() else "left"
    return f'<td style="{_PLAIN};text-align:{side};white-space:nowrap">{inside}</td>'


def _bar(bar: Bar) -> str:
    parts = [_box(0, bar.share, _HIGH, f'fill="{css(_SCALE[1])}"')]
    if bar.guide:
        parts.append(_box(0.5, 0.5, _HIGH, 'fill="currentColor"'))
    if bar.interval is not None:
        parts.append(_box(*bar.interval, 3, 'fill="currentColor"'))
    return (
        f'<svg width="{_LONG}" height="{_HIGH}" style="vertical-align:middle" aria-hidden="true">{"".join(parts)}</svg>'
    )


def _box(low: float, high: float, height: int, how: str) -> str:
    """Return a part of a bar; a line if it is too narrow to be seen."""
    wide = max(1.0, (high - low) * _LONG)
    return f'<rect x="{low * _LONG:.1f}" y="{(_HIGH - height) / 2:g}" width="{wide:.1f}" height="{height}" {how}/>'


def _heading(scope: str, text: str) -> str:
    return f'<th scope="{scope}" style="{_PLAIN};text-align:center;font-weight:normal">{text}</th>'


def _square(name: str, square: Square) -> str:
    frame = ";outline:3px solid #d55e00;outline-offset:-3px" if square.framed else ""
    hover = escape(f"{name}: {square.hover}" if square.hover else name)
    return (
        f'<td title="{hover}" style="padding:0 2px;border:1px solid #7f7f7f;min-width:22px;height:22px;'
        f'text-align:center;background:{css(square.colour)};color:{css(ink(square.colour))}{frame}">'
        f"{escape(square.text)}</td>"
    )


def css(colour: Colour) -> str:
    """Return a colour as style sheets write it, such as ``#d55e00``."""
    return "#{:02x}{:02x}{:02x}".format(*colour)
