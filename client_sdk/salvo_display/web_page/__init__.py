"""A whole game as one page for the browser: a file that needs nothing else, makes no requests and plays by itself.

The page is complete without its script: the boards at the end, every salvo in words, the figures. The script begins
before the first turn, from numbers (:mod:`.moves`), and reveals nothing that comes after the turn it shows. It is made
from the frames of one view and from nothing else, so it contains nothing that this view does not know, nor the game's
seed, from which it could be computed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from itertools import accumulate
from posixpath import dirname, join
from typing import Any, Final, NamedTuple

from salvo.badges import Badge, Badges
from salvo.rules import Ending, RuleBook, ShipClass
from salvo_display import replay_text
from salvo_display.boards.marks import Mark
from salvo_display.replay import REFEREE, Frame, Onlooker, Replay
from salvo_display.web_page import drawing
from salvo_display.web_page.moves import AimedCell, Move, Ship, moves_of, numbers, strengths, tells_sinkings
from salvo_display.web_page.rendering import policy, render, shortened

_SYMBOL: Final = re.compile(r'<symbol id="(e\d+)".*?</symbol>\n?', re.DOTALL)
#: Salvos a second that the page offers, and how long the longest game may take at the one that it begins with.
_SPEEDS: Final = (0.5, 1, 2, 4, 8, 16, 32)
_MAX_SECONDS: Final = 60
#: Boards that fit on a screen and can still be read.
_MOST_THAT_FIT: Final = 12
#: Notes of a salvo that are shown; a player may have been refused a thousand times.
_MAX_NOTES: Final = 5
#: Players on the podium: of a tie of thirty the table tells.
_MAX_PODIUM: Final = 8
#: Letters of a name that a list of shots has.
_WHOLE: Final = 16
#: What the legend says of which cells.
_LEGEND: Final = (
    ("aa", "ship"),
    ("aA", "hit"),
    ("AA", "sunk"),
    ("*", "miss"),
    ("?", "fired at, hit or miss unknown"),
)
#: Of a script: comments, and what other modules use.
_LEFT_OUT: Final = re.compile(r"^\s*//.*\n|^export ", re.MULTILINE)
_IMPORT: Final = re.compile(r'^import (?:.* from )?"\./(.+)";\n', re.MULTILINE)


class Setting(NamedTuple):
    """A game's place among others, for a page that is one of several.

    Attributes:
        links: words and addresses, from this page.
        luck: and skill, which the end has, too.
        checked: what is known of the record, such as that it was executed again.
        badges: of the teams of all games; of this game's alone by default.
    """

    links: Sequence[tuple[str, str]] = ()
    luck: drawing.Luck | None = None
    checked: str = ""
    badges: Badges | None = None


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
    page, style, script = _Page(replay, view), house_style(), joined("page.js")
    setting = setting or Setting()
    badges = (setting.badges or Badges()).of(page.names)
    return render(
        "salvo_display/web_page/page.html.j2",
        style=style,
        script=script,
        policy=policy(style, script),
        emblems=emblems(badges.values()),
        badges=badges,
        page=page,
        numbers=numbers(page.seen, page.moves),
        player=None if view == REFEREE else view,
        turn=turn,
        setting=setting,
        speeds=_SPEEDS,
    )


class _Page:
    """What ``page.html.j2`` asks for."""

    def __init__(self, replay: Replay, view: str) -> None:
        self.seen: Onlooker = replay.onlooker(view)
        self._last: Frame = self.seen.frames[-1]
        self.book = self.seen.book
        self.game = replay.header.game
        self.began = replay_text.when(self.seen.frames[0].at)
        self.first_speed = _first_speed(self.book, len(self._last.seas))
        self.goal = self.book.goal if self.book.ending is Ending.GOAL else None
        self.names = tuple(self._last.seas)
        self.moves: list[Move] = moves_of(self.seen)
        self._sunk: list[Ship] = [ship for move in self.moves for ship in move.sunk]

    def heading(self) -> str:
        return " against ".join(self.names) if len(self.names) == 2 else replay_text.in_words(self.names)

    @property
    def columns(self) -> int:
        """How many boards are beside each other where all have to fit on a screen; 0 where too many do not."""
        count = len(self.names)
        if count > _MOST_THAT_FIT or (count > 4 and self.book.grid.width > 14):
            return 0
        rows = 1 if count <= 3 else 2 if count <= 8 else 3
        return -(-count // rows)

    # --- boards ---------------------------------------------------------------------------------------------------

    def legend(self) -> list[tuple[str, dict[str, str], str]]:
        """Return of each kind of mark the cells, their drawing and words."""
        there = "".join(drawing.cells_of(sea.marks, None) for sea in self._last.seas.values())
        told = [(cells, word) for cells, word in _LEGEND if cells[0].isalpha() or cells in there]
        return [
            *((cells, drawing.board(cells, len(cells)), word) for cells, word in told),
            (".", drawing.board(".", 1, [0]), "shot of this salvo"),
        ]

    def boards(self) -> Iterator[dict[str, Any]]:
        for seat, (name, sea) in enumerate(self._last.seas.items()):
            fleet = self.seen.fleets.get(name) or self.seen.revealed.get(name)
            sunk = [ship for owner, ship in self._sunk if owner == seat]
            place = self._last.places.get(name)
            yield {
                "name": name,
                "sea": sea,
                "place": place,
                "badge": "" if not place else "winner" if name == self._last.winner else f"place {place}",
                "paths": drawing.board(drawing.cells_of(sea.marks, fleet), self.book.grid.width),
                "afloat": len(self.book.fleet) - len(sunk),
                "fleet": self._fleet(name, sunk),
            }

    def _fleet(self, name: str, sunk: Sequence[int]) -> list[tuple[ShipClass, bool]]:
        """Return the ships and whether each has sunk; nothing if that is not known."""
        if not tells_sinkings(self.seen, name):
            return []
        return [(ship, number in sunk) for number, ship in enumerate(self.book.fleet)]

    # --- salvos ---------------------------------------------------------------------------------------------------

    def salvos(self) -> Iterator[tuple[int, str, str, int, str, str, str]]:
        """Return of each salvo its turn, player, shots and hits, then in words its aims, its news and its notes."""
        for move in self.moves:
            result, allowed = move.frame.result, move.frame.allowed
            assert result is not None
            shots = f"{result.shots}" if result.shots == allowed else f"{result.shots} of {allowed}"
            words = self._aims(move.aims), ", ".join(self._news(move)), _notes(move.frame.notes)
            yield result.turn, result.player, shots, result.hits, *words

    def _aims(self, aims: Sequence[AimedCell]) -> str:
        """Return shots as people say them, a board at a time."""
        by_seat: dict[int, list[str]] = {}
        for seat, cell, mark in aims:
            outcome = " hit" if mark is Mark.HIT else ""
            by_seat.setdefault(seat, []).append(self.book.grid.name(cell) + outcome)
        return "; ".join(f"{shortened(self.names[seat], _WHOLE)} {', '.join(cells)}" for seat, cells in by_seat.items())

    def _news(self, move: Move) -> list[str]:
        ships = [f"sinks {self.names[seat]}'s {self.book.fleet[ship].name}" for seat, ship in move.sunk]
        lines = [*ships, *(line for line in replay_text.news(move.frame) if not line.startswith("sinks "))]
        return [self._shortened(line) for line in lines]

    def _shortened(self, words: str) -> str:
        """Return words whose names of players are shortened, the longest first, since one may be within another."""
        for name in sorted(self.names, key=len, reverse=True):
            words = words.replace(name, shortened(name, _WHOLE))
        return words

    # --- the course and the end -----------------------------------------------------------------------------------

    def chart(self) -> drawing.Chart:
        afloat = self.goal is None and all(tells_sinkings(self.seen, name) for name in self.names)
        what = "ships afloat" if afloat else "hits" if self.goal is None else "points"
        courses = [
            drawing.Course(
                name, self._afloat(seat) if afloat else [frame.seas[name].hits for frame in self.seen.frames]
            )
            for seat, name in enumerate(self.names)
        ]
        return drawing.chart(courses, what, len(self.book.fleet) if afloat else self.goal)

    def _afloat(self, seat: int) -> list[int]:
        lost = (sum(owner == seat for owner, _ in move.sunk) for move in self.moves)
        return list(accumulate(lost, lambda afloat, sunk: afloat - sunk, initial=len(self.book.fleet)))

    def turning_point(self) -> tuple[int, str] | None:
        """Return the salvo since which the winner was ahead, and it in words; None without a single winner.

        Who is ahead is strongest (:func:`strengths`).
        """
        last, strength = self._last, strengths(self.seen)
        if not last.winner or not strength:
            return None
        ahead = [one[last.winner] > max(one[name] for name in self.names if name != last.winner) for one in strength]
        if not ahead[-1]:
            return None
        turn = max(turn for turn, is_ahead in enumerate(ahead) if not is_ahead) + 1
        move = self.moves[turn - 1]
        struck = Counter(self.names[seat] for seat, _, mark in move.aims if mark is Mark.HIT)
        did = [*(f"{replay_text.counted(hits, 'hit')} at {name}" for name, hits in struck.items()), *self._news(move)]
        since = f" From then on {last.winner} was ahead." if turn < len(self.moves) else ""
        return turn, self._shortened(f"{self.names[move.seat]}: {', '.join(did)}.{since}")

    def heads(self) -> list[str]:
        place, sunk = (["place"], ["ships sunk"]) if self.seen.stats else ([], [])
        return [*place, "player", "shots", "hits", "hit rate", *sunk, "turns"]

    def outcome(self) -> str:
        last, count = self._last, replay_text.counted(len(self.moves), "salvo")
        count += f" in {replay_text.clock(last)}" if replay_text.when(last.at) else ""
        if last.places and not (last.winner or last.tied):
            return f"{replay_text.ABORTED.capitalize()} after {count}"
        if last.places:
            return f"{' and '.join(last.tied)} tie after {count}" if last.tied else f"{last.winner} wins after {count}"
        if last.current:
            return f"Not over after {count}: next is {last.current} with {replay_text.counted(last.shots, 'shot')}"
        return f"Not over after {count}"

    def ended(self) -> Iterator[tuple[int | str | None, str, list[object]]]:
        """Return of each player its place, its name and its figures, under the heads."""
        for name in self._last.places or self.names:
            stats, sea = self.seen.stats.get(name), self._last.seas[name]
            rate = f"{sea.hits / sea.shots:.0%}" if sea.shots else "-"
            turns = sum(self.names[move.seat] == name for move in self.moves)
            figures = [sea.shots, sea.hits, rate, *([stats.sunk] if stats else []), turns]
            yield self._last.places.get(name) or ("-" if stats else None), name, figures

    def podium(self) -> list[tuple[int, str, str]]:
        """Return who has one of the first three places; nothing as long as there are none."""
        return [(place, name, "") for name, place in self._last.places.items() if 0 < place <= 3][:_MAX_PODIUM]


def _first_speed(book: RuleBook, players: int) -> float:
    """Return how fast a page plays at first, by its rules alone: by its salvos, it would tell how long the game is."""
    salvos = book.grid.size * players / book.longest_salvo
    return next((speed for speed in _SPEEDS if salvos <= speed * _MAX_SECONDS and speed >= 2), _SPEEDS[-1])


def house_style() -> str:
    """Return how pages of games look."""
    return team_style() + text_of("static/boards.css") + text_of("page.css")


def team_style() -> str:
    """Return how teams look: their colours, lines and places, on the house's colours."""
    return text_of("static/colours.css") + text_of("static/badges.css") + text_of("teams.css")


def emblems(badges: Iterable[Badge]) -> str:
    """Return the drawings of the emblems of these badges."""
    wanted = {f"e{badge.emblem}" for badge in badges}
    return _SYMBOL.sub(lambda symbol: symbol[0] if symbol[1] in wanted else "", text_of("badges.svg"))


def text_of(name: str, package: str = __name__) -> str:
    """Return a style, a script or a drawing of a package, this one by default."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


def joined(name: str) -> str:
    """Return a script of this package with the modules that it imports before it: one module, for a page of one file.

    Their names are in one scope: a module imports others by their own names, and no two define the same.
    """
    modules: dict[str, str] = {}

    def take(name: str) -> None:
        if name not in modules:
            text = text_of(name)
            for imported in _IMPORT.findall(text):
                take(join(dirname(name), imported))
            modules[name] = _LEFT_OUT.sub("", _IMPORT.sub("", text))

    take(name)
    return "".join(modules.values())


def _notes(notes: Sequence[str]) -> str:
    more = [f"and {len(notes) - _MAX_NOTES} more"] if len(notes) > _MAX_NOTES else []
    return "; ".join([*notes[:_MAX_NOTES], *more])
