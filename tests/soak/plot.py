"""Draws a run as small plots in one SVG file: a figure each, over the games that are over, a line a program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Final

#: By program, one value a sample.
Lines = Mapping[str, Sequence[float]]

_WIDTH, _HEIGHT, _GAP, _HEAD, _COLUMNS = 330, 150, 50, 60, 3
_COLOURS: Final = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#999999", "#56b4e9", "#d55e00")
_STYLE: Final = """
svg { --page: #fff; --ink: #1a2430; --line: #b9cbd9;
  font: 13px system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif }
@media (prefers-color-scheme: dark) { svg { --page: #10161d; --ink: #e8eef4; --line: #2c3e4f } }
text { fill: var(--ink) } .page { fill: var(--page) } .line { stroke: var(--line); fill: none }
polyline { fill: none; stroke-width: 1.8 }
"""


def plot(title: str, games: Sequence[int], figures: Mapping[str, Lines]) -> str:
    """Return the SVG file; every plot begins at 0.

    Args:
        games: how many were over at each sample.
        figures: by name.
    """
    programs = list(dict.fromkeys(program for lines in figures.values() for program in lines))
    colours = dict(zip(programs, _COLOURS * len(programs), strict=False))
    rows = -(-len(figures) // _COLUMNS)
    width, height = _COLUMNS * (_WIDTH + _GAP) + _GAP, _HEAD + 20 + rows * (_HEIGHT + _GAP + 20)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<style>{_STYLE}</style>",
        f'<rect class="page" width="{width}" height="{height}" rx="10"/>',
        f'<text x="{_GAP}" y="24">{escape(title)}</text>',
    ]
    for number, program in enumerate(programs):
        x = _GAP + 115 * number
        parts.append(f'<text x="{x}" y="50" style="fill: {colours[program]}">{escape(program)}</text>')
    for number, (name, lines) in enumerate(figures.items()):
        row, column = divmod(number, _COLUMNS)
        left, top = _GAP + column * (_WIDTH + _GAP), _HEAD + 30 + row * (_HEIGHT + _GAP + 20)
        parts += [f'<g transform="translate({left} {top})">', *_small(name, games, lines, colours), "</g>"]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _small(name: str, games: Sequence[int], lines: Lines, colours: Mapping[str, str]) -> Iterator[str]:
    last = max(*games, 1)
    most = max((value for values in lines.values() for value in values), default=0) or 1
    yield f'<text x="0" y="-6">{escape(name)}: 0 to {most:,.6g}</text>'
    yield f'<rect class="line" width="{_WIDTH}" height="{_HEIGHT}"/>'
    yield f'<text x="{_WIDTH}" y="{_HEIGHT + 16}" text-anchor="end">{last:,} games</text>'
    for program, values in lines.items():
        points = " ".join(
            f"{game / last * _WIDTH:.1f},{_HEIGHT - value / most * (_HEIGHT - 4):.1f}"
            for game, value in zip(games, values, strict=True)
        )
        yield f'<polyline points="{points}" style="stroke: {colours[program]}"/>'
