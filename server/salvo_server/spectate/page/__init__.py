"""A whole game as one page for the browser: a file that needs nothing else, makes no requests and plays by itself.

The page is complete without its script: the boards at the end, every salvo in words, the figures. The script begins
before the first turn, from numbers (:mod:`.moves`), and reveals nothing that comes after the turn it shows. It is made
from the frames of one view and from nothing else, so it contains nothing that this view does not know, nor the game's
seed, from which it could be computed.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from itertools import accumulate
from typing import Final, NamedTuple

from salvo.lab.pictures.html import COLOURS, css
from salvo.lab.pictures.marks import Mark
from salvo.rules import Ending, RuleBook, Shots
from salvo_server.spectate import telling
from salvo_server.spectate.page import drawing
from salvo_server.spectate.page.moves import Aim, Move, Ship, moves_of, numbers, tells_sinkings
from salvo_server.spectate.replay import REFEREE, Frame, Onlooker, Replay

_HERE: Final = files(__name__)
_VARIABLES: Final = {Mark.BLANK: "water", Mark.SHIP: "ship", Mark.HIT: "hit", Mark.MISS: "miss", Mark.FIRED: "fired"}
#: Salvos a second that the page offers, and how long the longest game may take at the one that it begins with.
_SPEEDS: Final = (0.5, 1, 2, 4, 8, 16, 32)
_MAX_SECONDS: Final = 60
#: Notes of a salvo that are shown; a player may have been refused a thousand times.
_MAX_NOTES: Final = 5
_LEGEND: Final = ((Mark.HIT, "hit"), (Mark.MISS, "miss"), (Mark.FIRED, "fired at, hit or miss not told"))
#: What each does, by which key, that key's name in HTML, and its picture.
_BUTTONS: Final = (
    ("first", "To the start", "Home", "Home", "M5 4v12M16 4L8 10l8 6z"),
    ("back", "One salvo back", "left arrow", "ArrowLeft", "M14 4L6 10l8 6z"),
    ("play", "Play", "space", "Space", "M6 3l11 7-11 7z"),
    ("on", "One salvo on", "right arrow", "ArrowRight", "M6 4l8 6-8 6z"),
    ("last", "To the end", "End", "End", "M4 4l8 6-8 6zM15 4v12"),
)


class Setting(NamedTuple):
    """A game's place among others, for a page that is one of several.

    Attributes:
        called: the game's name; its number when empty.
        links: words and addresses, from this page.
        notes: what else the end says.
    """

    called: str = ""
    links: Sequence[tuple[str, str]] = ()
    notes: Sequence[str] = ()


def html_page(replay: Replay, view: str = REFEREE, turn: int = 0, setting: Setting | None = None) -> str:
    """Return the page of a game.

    Args:
        view: whose; the page holds nothing that this view does not know.
        turn: where it opens, unless its address says otherwise, as ``#turn=20`` does.
        setting: of a page that is one of several.

    Raises:
        ReplayError: ``unknown_view``, ``unknown_turn`` or ``not_begun``.
    """
    replay.frame(view, turn)
    return _Page(replay, view, turn, setting or Setting()).whole()


class _Page:
    """The parts of a page; every name in them is escaped."""

    def __init__(self, replay: Replay, view: str, turn: int, setting: Setting) -> None:
        self._replay = replay
        self._setting = setting
        self._view = view
        self._turn = turn
        self._seen: Onlooker = replay.onlooker(view)
        self._last: Frame = self._seen.frames[-1]
        self._book = self._seen.book
        self._names = tuple(self._last.seas)
        self._moves: list[Move] = moves_of(self._seen)
        self._sunk: list[Ship] = [ship for move in self._moves for ship in move.sunk]

    def whole(self) -> str:
        style = house_style()
        script = _HERE.joinpath("page.js").read_text(encoding="utf-8")
        policy = (
            f"default-src 'none'; style-src {allowed(style)}; script-src {allowed(script)};"
            " base-uri 'none'; form-action 'none'"
        )
        return (
            '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{escape(self._heading())}: Salvo</title><style>{style}</style></head><body>{drawing.SYMBOLS}"
            f"{self._links()}{self._header()}"
            f'<main class="end{" large" * (self._book.grid.width > 14)}" data-turn="{self._turn}">'
            f'<section class="game" aria-label="The game">{self._boards()}'
            f"{_controls(self._book, len(self._names))}</section>"
            f"{self._salvos()}{self._course()}{self._end()}</main>{self._footer()}"
            f'<script type="application/json" id="game">{numbers(self._seen, self._moves)}</script>'
            f"<script>{script}</script></body></html>\n"
        )

    def _heading(self) -> str:
        return " against ".join(self._names) if len(self._names) == 2 else _listed(self._names)

    def _links(self) -> str:
        links = "".join(f'<a href="{escape(to)}">{escape(words)}</a> ' for words, to in self._setting.links)
        return f'<nav aria-label="Other pages">{links}</nav>' if links else ""

    def _header(self) -> str:
        grid, began = self._book.grid, telling.when(self._seen.frames[0].at)
        called = self._setting.called or f"game {self._replay.header.game}"
        facts = [
            f"{called} by the rules {self._book.name} on {grid.width} x {grid.height}",
            *([began] if began else []),
            "seen by the referee" if self._view == REFEREE else f"seen by {self._view}, with what it knew",
        ]
        return f"<header><h1>{escape(self._heading())}</h1><p>{escape(' · '.join(facts))}</p></header>"

    # --- boards ---------------------------------------------------------------------------------------------------

    def _boards(self) -> str:
        boards = "".join(map(self._board, range(len(self._names)), self._names))
        marks = "".join(f"<span>{drawing.symbol(mark)} {word}</span>" for mark, word in _LEGEND if self._has(mark))
        ships = '<span><i class="hull"></i> ship</span><span><i class="hull wreck"></i> sunk</span>'
        latest = '<span><i class="latest"></i> shot of this salvo</span>'
        return f'<div class="boards">{boards}</div><p class="legend">{marks}{ships}{latest}</p>'

    def _has(self, mark: Mark) -> bool:
        return any(mark in sea.marks for sea in self._last.seas.values())

    def _board(self, seat: int, name: str) -> str:
        late = name in self._seen.revealed
        fleet = self._seen.fleets.get(name) or self._seen.revealed.get(name)
        sunk = [ship for owner, ship in self._sunk if owner == seat]
        picture = drawing.board(self._book, f"Board of {name}", self._last.seas[name].marks, fleet, sunk, late=late)
        out = " out" * self._last.seas[name].out
        return (
            f'<figure class="board{out}"><figcaption><h2>{drawing.key(seat)} {escape(name)}</h2>'
            f"{self._badges(name)}{self._figures(seat, name)}</figcaption>{picture}{self._fleet(name, sunk)}</figure>"
        )

    def _badges(self, name: str) -> str:
        place = self._last.places.get(name)
        won = "" if place is None else "winner" if name == self._last.winner else f"place {place}"
        ended = f'<b class="place{" won" * (place == 1)}">{won}</b>' if won else ""
        return f'<p class="badges"><b class="fires">fires</b><b class="defeated">defeated</b>{ended}</p>'

    def _figures(self, seat: int, name: str) -> str:
        sea, ships = self._last.seas[name], len(self._book.fleet)
        told = []
        if tells_sinkings(self._seen, name):
            afloat = ships - sum(owner == seat for owner, _ in self._sunk)
            told.append(f'<span>afloat <b data-of="afloat">{afloat}</b> of {ships}</span>')
        what, goal = ("points", f" of {self._book.goal}") if self._book.ending is Ending.GOAL else ("hits", "")
        told.append(f'<span>{what} <b data-of="hits">{sea.hits}</b>{goal}</span>')
        told.append(f'<span>shots <b data-of="shots">{sea.shots}</b></span>')
        return f'<p class="figures">{" ".join(told)}</p>'

    def _fleet(self, name: str, sunk: Sequence[int]) -> str:
        """Return the ships by name and length, if it is known which have sunk."""
        if not tells_sinkings(self._seen, name):
            return ""
        ships = "".join(
            f"<li{' class=sunk' * (number in sunk)}>{escape(ship.name)} {ship.length}</li>"
            for number, ship in enumerate(self._book.fleet)
        )
        return f'<ul class="fleet">{ships}</ul>'

    # --- salvos ---------------------------------------------------------------------------------------------------

    def _salvos(self) -> str:
        first = '<tr><td><a href="#turn=0">0</a><td colspan="4">before the first salvo'
        rows = [first, *map(self._salvo, self._moves)]
        return (
            '<section class="salvos" aria-label="All salvos" tabindex="0"><table><thead>'
            "<tr><th>turn<th>player<th>shots<th>hits<th>what came of it</thead>"
            f"<tbody>{chr(10).join(rows)}</tbody></table></section>"
        )

    def _salvo(self, move: Move) -> str:
        result = move.frame.result
        assert result is not None
        shots = f"{result.shots}" if result.shots == move.frame.allowed else f"{result.shots} of {move.frame.allowed}"
        texts = (("", self._aims(move.aims)), ("b", ", ".join(self._news(move))), ("i", _notes(move.frame.notes)))
        told = "; ".join(f"<{tag}>{escape(text)}</{tag}>" if tag else escape(text) for tag, text in texts if text)
        return (
            f'<tr><td><a href="#turn={result.turn}">{result.turn}</a><td>{escape(result.player)}'
            f"<td>{shots}<td>{result.hits}<td>{told}"
        )

    def _aims(self, aims: Sequence[Aim]) -> str:
        """Return shots as people say them, a board at a time."""
        by_seat: dict[int, list[str]] = {}
        for seat, cell, mark in aims:
            told = " hit" if mark is Mark.HIT else ""
            by_seat.setdefault(seat, []).append(self._book.grid.name(cell) + told)
        return "; ".join(f"{self._names[seat]} {', '.join(cells)}" for seat, cells in by_seat.items())

    def _news(self, move: Move) -> list[str]:
        ships = [f"sinks {self._names[seat]}'s {self._book.fleet[ship].name}" for seat, ship in move.sunk]
        return [*ships, *(line for line in telling.news(move.frame) if not line.startswith("sinks "))]

    # --- the course and the end -----------------------------------------------------------------------------------

    def _course(self) -> str:
        if not self._moves:
            return ""
        afloat = self._book.ending is not Ending.GOAL and all(tells_sinkings(self._seen, name) for name in self._names)
        what = "ships afloat" if afloat else "points" if self._book.ending is Ending.GOAL else "hits"
        courses = [
            drawing.Course(
                name, self._afloat(seat) if afloat else [frame.seas[name].hits for frame in self._seen.frames]
            )
            for seat, name in enumerate(self._names)
        ]
        known = len(self._book.fleet) if afloat else self._book.goal if self._book.ending is Ending.GOAL else None
        chart = drawing.chart(courses, what, known)
        return f'<section class="course" aria-label="The course of the game">{chart}</section>'

    def _afloat(self, seat: int) -> list[int]:
        lost = (sum(owner == seat for owner, _ in move.sunk) for move in self._moves)
        return list(accumulate(lost, lambda afloat, sunk: afloat - sunk, initial=len(self._book.fleet)))

    def _end(self) -> str:
        last, stats = self._last, self._seen.stats
        heads = [
            *(["place"] if stats else []),
            "player",
            "shots",
            "hits",
            "hit rate",
            *(["ships sunk"] if stats else []),
        ]
        rows = "".join(f"<tr>{self._ended(name)}" for name in last.places or self._names)
        head = "".join(f'<th scope="col">{each}' for each in [*heads, "turns"])
        notes = "".join(f"<li>{escape(note)}" for note in self._setting.notes)
        return (
            f'<section class="ended" aria-label="The end"><h2>{escape(self._outcome())}</h2>'
            f"<table><thead><tr>{head}</thead><tbody>{rows}</tbody></table>"
            f"{f'<ul>{notes}</ul>' if notes else ''}</section>"
        )

    def _outcome(self) -> str:
        last, count = self._last, _counted(len(self._moves), "salvo")
        count += f" in {telling.clock(last)}" if telling.when(last.at) else ""
        if last.places:
            return f"{' and '.join(last.tied)} tie after {count}" if last.tied else f"{last.winner} wins after {count}"
        if last.current:
            return f"Not over after {count}: next is {last.current} with {_counted(last.shots, 'shot')}"
        return f"Not over after {count}"

    def _ended(self, name: str) -> str:
        stats, sea = self._seen.stats.get(name), self._last.seas[name]
        rate = f"{sea.hits / sea.shots:.0%}" if sea.shots else "-"
        turns = sum(self._names[move.seat] == name for move in self._moves)
        figures = [sea.shots, sea.hits, rate, *([stats.sunk] if stats else []), turns]
        place = f"<td>{stats.place}" if stats else ""
        return f'{place}<th scope="row">{escape(name)}' + "".join(f"<td>{each}" for each in figures)

    def _footer(self) -> str:
        hidden = "" if self._view == REFEREE else f" What {self._view} was not told is not in this page."
        return f"<footer><p>{escape(f'A game of Battleship: Salvo.{hidden}')}</p></footer>"


def _controls(book: RuleBook, players: int) -> str:
    """Return what the script works with; it shows them, and says how far the slider goes."""
    buttons = "".join(
        f'<button type="button" id="{name}" aria-label="{label}" title="{label} ({by})" aria-keyshortcuts="{key}">'
        f'<svg viewBox="0 0 20 20" aria-hidden="true"><path d="{path}"/></svg></button>'
        for name, label, by, key, path in _BUTTONS
    )
    begun = _first_speed(book, players)
    speeds = "".join(
        f'<option value="{speed:g}"{" selected" * (speed == begun)}>{speed:g} a second</option>' for speed in _SPEEDS
    )
    return (
        '<div class="controls" id="controls" hidden>'
        f'<div class="buttons" role="group" aria-label="Moving">{buttons}</div>'
        f'<label><span>Speed</span> <select id="speed" aria-label="Speed">{speeds}</select></label>'
        '<input type="range" id="slider" min="0" max="0" value="0" aria-label="Turn">'
        '<p id="now" aria-live="polite"></p></div>'
    )


def _first_speed(book: RuleBook, players: int) -> float:
    """Return how fast a page plays at first, by its rules alone: by its salvos, it would tell how long the game is."""
    salvos = book.grid.size * players / (len(book.fleet) if book.shots is Shots.AFLOAT else 1)
    return next((speed for speed in _SPEEDS if salvos <= speed * _MAX_SECONDS and speed >= 2), _SPEEDS[-1])


def house_style() -> str:
    """Return how pages of games look, with the house's colours of marks as variables."""
    palette = ":root{" + "".join(f"--{name}:{css(COLOURS[mark])};" for mark, name in _VARIABLES.items()) + "}\n"
    return palette + _HERE.joinpath("page.css").read_text(encoding="utf-8")


def allowed(inline: str) -> str:
    """Return what lets a browser take this very style or script, and no other."""
    return f"'sha256-{b64encode(hashlib.sha256(inline.encode()).digest()).decode()}'"


def _notes(notes: Sequence[str]) -> str:
    more = [f"and {len(notes) - _MAX_NOTES} more"] if len(notes) > _MAX_NOTES else []
    return "; ".join([*notes[:_MAX_NOTES], *more])


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"
