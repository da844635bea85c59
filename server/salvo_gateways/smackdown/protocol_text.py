"""The messages of Code Smackdown as text: what a referee writes, and how a program's answers are read. No state.

A message is one line, ``|KIND|about|value|...|END|``. A cell is ``x y``, from 0 and from the top left; elsewhere here
both count from 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from salvo.errors import SalvoError
from salvo.rules import Fleet, Orientation, Placement, RuleBook, ShipClass
from salvo_gateways.peer import PeerBroken

LOCATIONS: Final = "ship locations"
SHOTS: Final = "shots"
WON: Final = "won game"
LOST: Final = "lost game"
TIED: Final = "tie game"
END: Final = "end game"

#: A cell as the protocol has it: x and y from 0; also off the grid.
Cell = tuple[int, int]

_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,9}")
_MAX_SHOWN: Final = 80


class UnreadableAnswer(SalvoError):
    """An answer that means nothing."""


def info(about: str, *values: str) -> str:
    """Return a line of information for a program."""
    return _line("INFO", about, *values)


def query(about: str, *values: str) -> str:
    """Return what a program is asked."""
    return _line("QUERY", about, *values)


def opening(book: RuleBook) -> list[str]:
    """Return what a program reads when a game starts."""
    return [
        info("grid size", f"{book.grid.width} {book.grid.height}"),
        info("num ships", str(len(book.fleet))),
        info("ship sizes", *(str(ship.length) for ship in _shortest_first(book))),
    ]


def _shortest_first(book: RuleBook) -> list[ShipClass]:
    """Return a fleet as the protocol's text has it, 2 3 3 4 5: programs that know it answer without reading."""
    return sorted(book.fleet, key=lambda ship: ship.length)


def fallen(who: str, shots: Iterable[tuple[Cell, bool]]) -> list[str]:
    """Return what a program reads of shots.

    Args:
        who: ``you`` or ``opponent``.
        shots: each with whether it was a hit.
    """
    return [info(f"{who} {'hit' if hit else 'miss'}", f"{x} {y}") for (x, y), hit in shots]


def read_fleet(line: str | PeerBroken, book: RuleBook) -> Fleet:
    """Read where a program wants its ships, in the order in which their sizes were sent; ``H`` alone is horizontal.

    Raises:
        UnreadableAnswer: ``not_an_answer``, ``not_a_location``, ``wrong_number``.
        IllegalCommand: ``off_grid``, ``overlap``, ``too_close``.
    """
    locations = _values(line, LOCATIONS)
    if len(locations) != len(book.fleet):
        raise UnreadableAnswer("wrong_number", f"{len(locations)} locations for {len(book.fleet)} ships")
    placements = []
    for ship, text in zip(_shortest_first(book), locations, strict=True):
        match text.split():
            case [x, y, way] if _NUMBER.fullmatch(x) and _NUMBER.fullmatch(y):
                orientation = Orientation.HORIZONTAL if way == "H" else Orientation.VERTICAL
                placements.append(Placement(ship.name, int(x) + 1, int(y) + 1, orientation))
            case _:
                raise UnreadableAnswer("not_a_location", f"{_shown(text)} is not a location, such as '0 0 V'")
    return Fleet(book, placements)


def read_shots(line: str | PeerBroken, most: int) -> list[Cell]:
    """Read a salvo; its shots may be off the grid.

    Args:
        most: how many there may be; there is always one.

    Raises:
        UnreadableAnswer: ``not_an_answer``, ``not_a_cell``, ``wrong_number``.
    """
    shots = []
    for text in _values(line, SHOTS):
        match text.split():
            case [x, y] if _NUMBER.fullmatch(x) and _NUMBER.fullmatch(y):
                shots.append((int(x), int(y)))
            case _:
                raise UnreadableAnswer("not_a_cell", f"{_shown(text)} is not a cell, such as '0 0'")
    if not 1 <= len(shots) <= most:
        raise UnreadableAnswer("wrong_number", f"{len(shots)} shots; 1..{most} are allowed")
    return shots


def _line(*fields: str) -> str:
    return "".join(f"|{field}" for field in (*fields, "END")) + "|"


def _values(line: str | PeerBroken, about: str) -> Sequence[str]:
    if isinstance(line, PeerBroken):
        raise UnreadableAnswer(line.code, line.text)
    match line.strip().split("|"):
        case ["", "RESPONSE", answered, *values, "END", ""] if answered == about:
            return values
    raise UnreadableAnswer("not_an_answer", f"{_shown(line)} is not |RESPONSE|{about}|...|END|")


def _shown(text: str) -> str:
    return repr(text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + "...")
