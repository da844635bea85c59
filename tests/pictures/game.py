"""A game as a moving picture: an SVG file without scripts, which a browser plays again and again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from string import ascii_uppercase
from typing import Final

from salvo.bots.sources import load
from salvo.messages import SalvoResolved
from salvo.view import Shot
from salvo_lab import arena

_CELL: Final = 32
_BOARD: Final = 10 * _CELL
_TOP: Final = 132
_LEFT: Final = (52, 452)
_WIDTH, _HEIGHT = _LEFT[1] + _BOARD + 28, _TOP + _BOARD + 24
_TURN_SECONDS: Final = 0.7
#: How long the end is shown before the game begins again.
_END_TURNS: Final = 8

_STYLE: Final = """
svg { --page: #fff; --ink: #1a2430; --dim: #55616e; --line: #b9cbd9; --sea: #e8f3fa; --ship: #5b6f84; --hit: #d2600a;
  --sunk: #2b3640; --now: #0072b2; font: 14px system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif }
@media (prefers-color-scheme: dark) { svg { --page: #10161d; --ink: #e8eef4; --dim: #9dabb9; --line: #2c3e4f;
  --sea: #16222e; --ship: #7d93a9; --hit: #f07a28; --sunk: #3d4853; --now: #56b4e9 } }
text { fill: var(--ink) } .dim { fill: var(--dim); font-size: 12px; text-anchor: middle } .page { fill: var(--page) }
.name { font-size: 20px; font-weight: 600 } .say { font-size: 17px } .sea { fill: var(--sea) }
.grid { stroke: var(--line); fill: none } .ship { fill: var(--ship) }
.sunk { fill: var(--sunk); stroke: var(--hit); stroke-width: 3 }
.miss { fill: var(--dim) } .hit { fill: var(--hit) }
.cross { stroke: #fff; stroke-width: 2.4; stroke-linecap: round }
.now { fill: none; stroke: var(--now); stroke-width: 3 } .turn { fill: var(--now) }
"""


class Film:
    """The game of two built-in bots, as the referee sees it."""

    def __init__(self, first: str, second: str, seed: str) -> None:
        self._salvos: list[tuple[Sequence[Shot], SalvoResolved]] = []
        self._names = (first, second)
        bots = {name: load(name)() for name in self._names}
        self._outcome = arena.play(bots, seed=seed, listener=lambda *salvo: self._salvos.append(salvo))
        self._turns = len(self._salvos) + _END_TURNS
        self._sunk = {(sunk.player, sunk.ship): result.turn for _, result in self._salvos for sunk in result.sunk}

    def svg(self) -> str:
        """Return the whole file."""
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">',
            f"<title>{escape(' against '.join(self._names))}: {escape(self._outcome.winner)} wins</title>",
            f"<style>{_STYLE}{''.join(self._times())}</style>",
            f'<rect class="page" width="{_WIDTH}" height="{_HEIGHT}" rx="10"/>',
            *(part for seat in range(2) for part in self._board(seat)),
            *(part for salvo in self._salvos for part in self._moment(*salvo)),
            "</svg>",
        ]
        return "\n".join(parts) + "\n"

    def _times(self) -> Iterator[str]:
        """When a turn's marks come (``m``) and when its words do (``n``); who wants no motion sees the end."""
        last = len(self._salvos)
        for turn in range(1, last + 1):
            begin, end = (f"{100 * (turn + more) / self._turns:.2f}%" for more in (-1, 0))
            yield f"@keyframes m{turn} {{ 0% {{ opacity: 0 }} {begin} {{ opacity: 1 }} }}\n"
            gone = f" {end} {{ opacity: 0 }}" if turn < last else ""
            yield f"@keyframes n{turn} {{ 0% {{ opacity: 0 }} {begin} {{ opacity: 1 }}{gone} }}\n"
            yield f".m{turn} {{ animation-name: m{turn} }} .n{turn} {{ animation-name: n{turn} }}\n"
        yield f".m, .n {{ animation: 0s step-end infinite; animation-duration: {self._turns * _TURN_SECONDS:.1f}s }}\n"
        yield f".n {{ opacity: 0 }} .n{last} {{ opacity: 1 }}\n"
        yield "@media (prefers-reduced-motion: reduce) { .m, .n { animation: none } }\n"

    def _board(self, seat: int) -> Iterator[str]:
        name, left = self._names[seat], _LEFT[seat]
        fleet = self._outcome.fleets[name]
        yield f'<text class="name" x="{left}" y="{_TOP - 54}">{escape(name)}</text>'
        yield f'<rect class="sea" x="{left}" y="{_TOP}" width="{_BOARD}" height="{_BOARD}"/>'
        lines = "".join(
            f"M{left + at} {_TOP}v{_BOARD}M{left} {_TOP + at}h{_BOARD}" for at in range(0, _BOARD + 1, _CELL)
        )
        yield f'<path class="grid" d="{lines}"/>'
        for place in range(10):
            middle = place * _CELL + _CELL // 2
            yield f'<text class="dim" x="{left + middle}" y="{_TOP - 8}">{place + 1}</text>'
            yield f'<text class="dim" x="{left - 14}" y="{_TOP + middle + 4}">{ascii_uppercase[place]}</text>'
        afloat = left + _BOARD
        for ship in reversed(fleet.placements):
            cells = [fleet.book.grid.xy(cell) for cell in ship.cells(fleet.book)]
            (x, y), (to_x, to_y) = min(cells), max(cells)
            wide, high = (_CELL * (to - at + 1) - 8 for at, to in ((x, to_x), (y, to_y)))
            afloat -= 12 * len(cells)
            at_x, at_y = left + (x - 1) * _CELL + 4, _TOP + (y - 1) * _CELL + 4
            shapes = (
                f'x="{at_x}" y="{at_y}" width="{wide}" height="{high}" rx="9"',
                f'x="{afloat}" y="{_TOP - 66}" width="{12 * len(cells) - 4}" height="11" rx="5"',
            )
            turn = self._sunk.get((name, ship.ship))
            for shape in shapes:
                yield f'<rect class="ship" {shape}/>'
                yield f'<rect class="sunk m m{turn}" {shape}/>' if turn else ""

    def _moment(self, shots: Sequence[Shot], result: SalvoResolved) -> Iterator[str]:
        marks, frames = [], []
        for shot in shots:
            left, book = _LEFT[self._names.index(shot.player)], self._outcome.fleets[shot.player].book
            x, y = left + (shot.x - 1) * _CELL, _TOP + (shot.y - 1) * _CELL
            frames.append(
                f'<rect class="now" x="{x + 1}" y="{y + 1}" width="{_CELL - 2}" height="{_CELL - 2}" rx="5"/>'
            )
            if book.grid.cell(shot.x, shot.y) in self._outcome.fleets[shot.player].cells:
                marks.append(
                    f'<circle class="hit" cx="{x + 16}" cy="{y + 16}" r="10"/>'
                    f'<path class="cross" d="M{x + 12} {y + 12}l8 8m0-8l-8 8"/>'
                )
            else:
                marks.append(f'<circle class="miss" cx="{x + 16}" cy="{y + 16}" r="4.5"/>')
        yield f'<g class="m m{result.turn}">{"".join(marks)}</g>'
        seat = self._names.index(result.player)
        line = f'<path class="turn" d="M{_LEFT[seat]} {_TOP - 44}h{_BOARD}v3h-{_BOARD}z"/>'
        yield f'<g class="n n{result.turn}">{"".join(frames)}{line}{self._words(result)}</g>'

    def _words(self, result: SalvoResolved) -> str:
        hits = "1 hit" if result.hits == 1 else f"{result.hits or 'no'} hits"
        words = f"Turn {result.turn}: {result.player} fires {result.shots}, {hits}"
        words += "".join(f", sinks the {sunk.ship}" for sunk in result.sunk)
        if result.turn == len(self._salvos):
            words += f". {self._outcome.winner} wins"
        return f'<text class="say" x="{_LEFT[0]}" y="36">{escape(words)}</text>'
