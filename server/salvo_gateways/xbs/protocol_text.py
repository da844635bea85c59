"""The text of Xterm Boat Sinker's protocol, without a socket: messages, boards, names.

A message is a line ``TYPE|VALUE|...``; there is no escaping, so no value can contain a pipe.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from salvo.errors import IllegalCommand
from salvo.rules import Fleet, Grid, Orientation, Placement, RuleBook
from salvo.wire.topics import RESERVED

WATER: Final = "."
HIT: Final = "X"
MISS: Final = "0"

_TYPES: Final = frozenset("GPJSKMTL")
_SPACE: Final = " \t\f\r\n\v"
#: Names that the system keeps to itself.
_WORDS: Final = frozenset({"server", "all", "you", "me"})
_BRACKETS: Final = frozenset("<>[]{}()")
_NO_NAME_HERE: Final = re.compile(r"[^A-Za-z0-9_-]")
#: What would be read as the end of a value, or of the line, or as something other than text.
_UNSPEAKABLE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class XbsMessage:
    """A message of a client.

    Attributes:
        kind: one of ``GPJSKMTL``.
        values: without white space around them; more than a message has are kept, and mean nothing.
        line: all of it, without white space at its end.
    """

    kind: str
    values: tuple[str, ...]
    line: str

    def value(self, number: int) -> str:
        """Return a value, counted from 1; one that was not sent is empty."""
        return self.values[number - 1] if number <= len(self.values) else ""

    def number(self, number: int) -> int:
        """Return a value as an integer; 0, which is off every board, when it is none from 1 to 999."""
        text = self.value(number)
        return int(text) if len(text) <= 3 and text.isascii() and text.isdigit() else 0


def read(line: str) -> XbsMessage | None:
    """Return the message of a line; None for a line that is none."""
    line = line.rstrip(_SPACE)
    kind, *values = (value.strip(_SPACE) for value in line.split("|"))
    return XbsMessage(kind, tuple(values), line) if kind in _TYPES else None


def write(kind: str, *values: object) -> str:
    """Return a line."""
    return "|".join([kind, *(str(value) for value in values)])


def notice(text: str) -> str:
    """Return the message of a text from nobody."""
    return write("M", "", text)


def speakable(text: str) -> str:
    """Return a player's text as one value: a pipe becomes a slash, and what is not text a space."""
    return _UNSPEAKABLE.sub(" ", text.replace("|", "/")).strip(_SPACE)


# --- boards -----------------------------------------------------------------------------------------------------------


def masked(marks: Mapping[tuple[int, int], bool], grid: Grid) -> str:
    """Return a board's public view.

    Args:
        marks: cells (x, y) that were shot at, and whether each was a hit.
    """
    cells = [WATER] * grid.size
    for (x, y), hit in marks.items():
        if x <= grid.width and y <= grid.height:  # on an open broker any client may have announced another one
            cells[grid.cell(x, y)] = HIT if hit else MISS
    return "".join(cells)


def complete(fleet: Fleet, incoming: Iterable[tuple[int, int]] = ()) -> str:
    """Return a board as its owner may see it, boats in capitals.

    The protocol's text has small letters where a boat was hit. The system's own server sends capitals there, too, and
    all its clients end when they read a small one.

    Args:
        incoming: cells (x, y) that were shot at.
    """
    grid = fleet.book.grid
    cells = [WATER] * grid.size
    for x, y in incoming:
        cells[grid.cell(x, y)] = MISS
    for placement in fleet.placements:
        for cell in placement.cells(fleet.book):
            cells[cell] = placement.ship.upper()
    return "".join(cells)


def read_board(board: str, book: RuleBook) -> Fleet | None:
    """Return the fleet of a complete board without any shots; None when it is illegal."""
    grid = book.grid
    if len(board) != grid.size:
        return None
    placements = []
    for ship in book.fleet:
        first = board.find(ship.name.upper())
        if first < 0:
            return None
        lies = board[first + 1 : first + 2] == board[first]
        orientation = Orientation.HORIZONTAL if lies else Orientation.VERTICAL
        placements.append(Placement(ship.name, *grid.xy(first), orientation))
    try:
        fleet = Fleet(book, placements)
    except IllegalCommand:
        return None
    return fleet if complete(fleet) == board else None


def square(x: int, y: int) -> str:
    """Return what a hit calls a cell: the column's letter and the row's number."""
    return f"{chr(ord('a') + x - 1)}{y}"


# --- names ------------------------------------------------------------------------------------------------------------


def name_fault(name: str, width: int) -> str:
    """Return why a client cannot have a name, in the system's words; empty when it can.

    Args:
        width: of the board, over which the name is printed.
    """
    legal = len(name) > 1 and name[0].isascii() and name[0].isalpha() and not _BRACKETS & set(name)
    if not legal or name.lower() in _WORDS or _UNSPEAKABLE.search(name):
        return "invalid name"
    if len(name.encode()) > width:
        return "name too long"
    if seated_name(name).lower() in RESERVED:
        return "invalid name"
    return ""


def seated_name(name: str) -> str:
    """Return under which name a client sits at the table: what is in no table's name becomes ``_``."""
    return _NO_NAME_HERE.sub("_", name)


def second_seated_name(name: str) -> str:
    """Return the same for a client that finds its name at the table in another spelling, always the same."""
    return f"{seated_name(name)}-{blake2b(name.encode(), digest_size=2).hexdigest()}"


class Names:
    """How one client is shown the players' names.

    Players of this system are shown as they call themselves. Names from elsewhere may be longer than its boards are
    wide, or not begin with a letter, or be a word that the system keeps to itself. Those are shown cut or with an ``x``
    in front, and always with ``~`` and a number behind, which no name at a table has; so a shown name means one player,
    and shows that it is not the whole name.
    """

    def __init__(
        self, width: int, own: str = "", own_shown: str = "", called: Callable[[str], str] = lambda name: ""
    ) -> None:
        """Begin with the client alone.

        Args:
            width: of the boards, the longest name in bytes.
            own: the client's name at the table.
            own_shown: what it calls itself.
            called: returns what another player of this system calls itself; empty for players from elsewhere.
        """
        self._width = width
        self._called = called
        self._shown = {own: own_shown} if own else {}
        self._meant = {own_shown: own} if own else {}

    def shown(self, name: str) -> str:
        """Return what the client sees instead of a name, the same until it is forgotten."""
        if name not in self._shown:
            whole = self._called(name) or name
            shown = whole if not name_fault(whole, self._width) and whole not in self._meant else self._cut(whole)
            self._shown[name] = shown
            self._meant[shown] = name
        return self._shown[name]

    def forget(self, name: str) -> None:
        """Let a name of a player that has left be shown otherwise when it comes again."""
        self._meant.pop(self._shown.pop(name, ""), None)

    def meant(self, shown: str) -> str:
        """Return which player the client means; empty for none."""
        return self._meant.get(shown, "")

    def _cut(self, name: str) -> str:
        whole = name if name[0].isalpha() else f"x{name}"
        number = 1
        while True:
            end = f"~{number}"
            shown = whole[: max(1, self._width - len(end))] + end
            if shown not in self._meant:
                return shown
            number += 1
