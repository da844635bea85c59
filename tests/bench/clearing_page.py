"""Draws ``docs/numbers.md`` and ``docs/numbers.svg`` from ``docs/numbers.json``, which ``clearing.py`` measures."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from salvo.rules import BOOKS
from salvo.system.atomic_file import replace_file
from salvo_lab.intervals import DEVIATIONS
from salvo_lab.solo import summary

DOCS: Final = Path(__file__).parents[2] / "docs"
DATA: Final = DOCS / "numbers.json"

_BARS: Final = "▁▂▃▄▅▆▇█"
#: Between what stands in one line.
_JOINED: Final = "\N{NO-BREAK SPACE}"
#: Boards of a bot that is quick.
_MOST: Final = 10_000
#: Bars of a histogram.
_COLUMNS: Final = 20
_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 760, 340, 60, 290
_STYLE: Final = """
svg { --page: #fff; --ink: #1a2430; --line: #b9cbd9;
  font: 14px system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif }
@media (prefers-color-scheme: dark) { svg { --page: #10161d; --ink: #e8eef4; --line: #2c3e4f } }
text { fill: var(--ink) } .page { fill: var(--page) } .line { stroke: var(--line) }
polyline { fill: none; stroke-width: 2.5 }
"""
#: Colours that people tell apart who see few of them.
_COLOURS: Final = ("#999999", "#e69f00", "#56b4e9", "#009e73")

Row = Mapping[str, Any]


def write_page() -> None:
    """Write page and plot."""
    data = json.loads(DATA.read_text())
    replace_file(DOCS / "numbers.md", page(data).encode())
    replace_file(DOCS / "numbers.svg", plot([row for row in data["rows"] if row["rules"] == "standard"]).encode())


def page(data: Mapping[str, Any]) -> str:
    """Return the page as Markdown."""
    measured = [row for row in data["rows"] if row["boards"]]
    rows = [row for row in measured if not row.get("ship_by_ship")]
    template = Path(__file__).with_suffix(".md").read_text()
    return template.format(
        table="\n".join(
            _line(row, _longest(rows, row["rules"]), is_first=before is None or row["rules"] != before["rules"])
            for before, row in pairwise([None, *rows])
            if row is not None
        ),
        small="\n".join(_small(board) for board in data["small"]),
        code=", ".join(_code(bot, rows) for bot in dict.fromkeys(row["bot"] for row in rows)),
        seed=rows[0]["seed"],
        literature="\n".join(_like_others(row) for row in measured if row.get("ship_by_ship")),
    )


def _code(bot: str, rows: Sequence[Row]) -> str:
    """Return the commits of a bot's figures, the one of most rulesets without their names."""
    by_code: dict[str, list[str]] = {}
    for row in rows:
        if row["bot"] == bot:
            by_code.setdefault(row["code"], []).append(f"`{row['rules']}`")
    most, *others = sorted(by_code, key=lambda code: -len(by_code[code]))
    return "".join([f"{bot} `{most}`", *(f" ({' and '.join(by_code[code])}: `{code}`)" for code in others)])


def _like_others(row: Row) -> str:
    """Return a line of the figures that are measured as somebody else's are."""
    found, again = summary(counts(row)), f"salvo solo {row['bot']} --rules {row['rules']} --ship-by-ship"
    mean = f"{found.mean:.2f} ± {DEVIATIONS * found.error:.2f}".replace(" ", _JOINED)
    more = f" --seed {row['seed']} --boards {row['boards']}"
    return f"| `{row['rules']}` | `{row['bot']}` | {mean} | {row['boards']:,} | `{row['code']}` | `{again}{more}` |"


def counts(row: Row) -> list[int]:
    """Return the turns of every board, ascending."""
    return [int(turns) for turns in sorted(row["turns"], key=int) for _ in range(row["turns"][turns])]


def quantile(row: Mapping[str, int], share: float) -> float:
    """Return the smallest value that this share of all does not exceed."""
    wanted = share * sum(row.values())
    for value in sorted(row, key=float):
        wanted -= row[value]
        if wanted <= 0:
            return float(value)
    raise ValueError("of nothing there is no quantile")


def _longest(rows: Sequence[Row], rules: str) -> int:
    return max(int(turns) for row in rows if row["rules"] == rules for turns in row["turns"])


def _line(row: Row, longest: int, *, is_first: bool) -> str:
    every = counts(row)
    found = summary(every)
    ms = row["ms"]
    mean_ms = 1000 * row["seconds"] / sum(ms.values())
    cells = (
        f"`{row['rules']}`" if is_first else "",
        f"`{row['bot']}`" + ("" if row["boards"] >= _MOST else " \\*"),
        f"{found.mean:.2f} ± {DEVIATIONS * found.error:.2f}".replace(" ", _JOINED),
        f"{found.median:g}",
        f"{quantile(row['turns'], 0.95):g}",
        f"{every[0]}..{every[-1]}",
        f"`{histogram(row, longest)}`",
        f"{mean_ms:.2g}, {quantile(ms, 0.95):g}".replace(" ", _JOINED),
    )
    return f"| {' | '.join(cells)} |"


def histogram(row: Row, longest: int) -> str:
    """Return the boards by number of turns as bars, from 1 to the most turns of a ruleset."""
    bars = [0] * _COLUMNS
    for turns, boards in row["turns"].items():
        bars[(int(turns) - 1) * _COLUMNS // longest] += boards
    return "".join(_BARS[-(-bar * (len(_BARS) - 1) // max(bars))] for bar in bars)


def _small(board: Row) -> str:
    gaps = [f"{gap:+.3f} ± {error:.3f}".replace(" ", _JOINED) for gap, error in board["gaps"].values()]
    return f"| {board['board']} | {board['layouts']:,} | {board['optimum']:.4f} | {' | '.join(gaps)} |"


def plot(rows: Sequence[Row]) -> str:
    """Return the share of boards that are cleared, by shots, as an SVG file."""
    size = BOOKS["standard"].grid.size
    curves = [part for row, colour in zip(rows, _COLOURS, strict=True) for part in _curve(row, size, colour)]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">',
        "<title>Share of boards cleared, by shots, for each built-in bot, with the ruleset standard</title>",
        f"<style>{_STYLE}</style>",
        f'<rect class="page" width="{_WIDTH}" height="{_HEIGHT}" rx="10"/>',
        *_axes(size),
        *curves,
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _x(shots: float, size: int) -> float:
    return round(_LEFT + shots / size * (_WIDTH - _LEFT - 30), 1)


def _y(share: float) -> float:
    return round(_BOTTOM - share * (_BOTTOM - 30), 1)


def _axes(size: int) -> Iterator[str]:
    for share in (0, 0.25, 0.5, 0.75, 1):
        yield f'<line class="line" x1="{_LEFT}" x2="{_WIDTH - 30}" y1="{_y(share)}" y2="{_y(share)}"/>'
        yield f'<text x="{_LEFT - 10}" y="{_y(share) + 5}" text-anchor="end">{share:.0%}</text>'
    for shots in range(0, size + 1, 20):
        yield f'<text x="{_x(shots, size)}" y="{_BOTTOM + 22}" text-anchor="middle">{shots}</text>'
    yield f'<text x="{_x(size / 2, size)}" y="{_BOTTOM + 42}" text-anchor="middle">shots, ruleset standard</text>'


def _curve(row: Row, size: int, colour: str) -> Iterator[str]:
    cleared, points = 0, []
    for shots in range(size + 1):
        cleared += row["turns"].get(str(shots), 0)
        points.append(f"{_x(shots, size)},{_y(cleared / row['boards'])}")
    yield f'<polyline stroke="{colour}" points="{" ".join(points)}"/>'
    place = _COLOURS.index(colour)
    yield f'<rect x="{_LEFT + 16}" y="{44 + 24 * place}" width="22" height="4" fill="{colour}"/>'
    yield f'<text x="{_LEFT + 46}" y="{51 + 24 * place}">{escape(row["bot"])}</text>'
