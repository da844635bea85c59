"""What is written: one letter that says what, cells as ``Ia``, ships by their names. No sockets here."""

from __future__ import annotations

import string
from dataclasses import dataclass
from typing import Final

from salvo.errors import SalvoError
from salvo.rules import Grid, RuleBook
from salvo_display.boards.marks import display_name
from salvo_gateways.hidden_fleet.answers import ShotOutcome, kind_of

#: The longest message has some 20 characters.
MAX_BYTES: Final = 64
CLIENT: Final = "C"
RESET: Final = "Z"
DONE: Final = "D"
EXIT: Final = "E"

#: Columns from 1 on: after 9 comes ``a``.
_COLUMNS: Final = string.digits[1:] + string.ascii_lowercase
_ROWS: Final = string.ascii_uppercase
MAX_COLUMNS: Final = len(_COLUMNS)
MAX_ROWS: Final = len(_ROWS)
_LETTERS: Final = {"M": ShotOutcome.MISS, "H": ShotOutcome.HIT, "S": ShotOutcome.SUNK, "E": ShotOutcome.SUNK}


class NotUnderstood(SalvoError):
    """A message that is not in the protocol: the program ends after it."""


@dataclass(frozen=True, slots=True)
class Shoot:
    """``S``, a shot."""

    cell: int


@dataclass(frozen=True, slots=True)
class Reply:
    """``R``, what came of a shot.

    Attributes:
        kind: of the ship that sank (:func:`~salvo_gateways.hidden_fleet.answers.kind_of`), else empty.
        last: whether it was the last ship.
    """

    cell: int
    outcome: ShotOutcome
    kind: str = ""
    last: bool = False


Message = str | Shoot | Reply


def read(text: str, book: RuleBook) -> Message:
    """Read a message; one without anything behind its letter is that letter.

    Raises:
        NotUnderstood: ``not_understood``.
    """
    if text in (CLIENT, RESET, DONE, EXIT):
        return text
    if text[:1] == "S" and len(text) == 3:
        return Shoot(_read_cell(text[1:], book.grid))
    if text[:1] == "R" and text[3:4] in _LETTERS:
        cell, letter, sunk = _read_cell(text[1:3], book.grid), text[3], text[4:]
        outcome = _LETTERS[letter]
        kinds = {display_name(ship.name): kind_of(ship.name) for ship in book.fleet}
        if outcome is ShotOutcome.SUNK and sunk in kinds:
            return Reply(cell, outcome, kinds[sunk], letter == "E")
        if outcome is not ShotOutcome.SUNK and not sunk:
            return Reply(cell, outcome)
    raise NotUnderstood("not_understood", f"{text[:30]!r} is not a message of this protocol")


def shoot(cell: int, grid: Grid) -> str:
    """Write a shot."""
    return f"S{_write_cell(cell, grid)}"


def reply(cell: int, outcome: ShotOutcome, ship: str, last: bool, grid: Grid) -> str:
    """Write what came of a shot.

    Args:
        ship: that sank, by its name in the ruleset; else empty.
        last: whether it was the last one.
    """
    letter = "E" if last else {ShotOutcome.MISS: "M", ShotOutcome.HIT: "H", ShotOutcome.SUNK: "S"}[outcome]
    return f"R{_write_cell(cell, grid)}{letter}{display_name(ship)}"


def _read_cell(text: str, grid: Grid) -> int:
    row, column = _ROWS.find(text[0]), _COLUMNS.find(text[1])
    if not (0 <= row < grid.height and 0 <= column < grid.width):
        raise NotUnderstood("not_understood", f"{text!r} is not a cell of the grid")
    return grid.cell(column + 1, row + 1)


def _write_cell(cell: int, grid: Grid) -> str:
    x, y = grid.xy(cell)
    return f"{_ROWS[y - 1]}{_COLUMNS[x - 1]}"
