"""How a cell of a board looks, wherever boards are drawn."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from salvo.rules.board import BoardRules


class Mark(StrEnum):
    """What an observer knows about a cell."""

    BLANK = "·"  # water, or nothing known
    SHIP = "■"
    HIT = "✖"
    MISS = "○"
    FIRED = "●"  # fired at, with unknown result
    AIMED = "◎"  # to be fired at
    OFFERED = "+"  # where the other end of a ship may be


#: For ``str.translate``: ASCII, for output that cannot show these characters.
PLAIN: Final = str.maketrans("".join(Mark), ".#Xo*@+")


def column_heads(width: int) -> list[str]:
    """Return a heading for each column: the last digit of its number, but 10 in full if that is the last column."""
    return [str(x if x == width == 10 else x % 10) for x in range(1, width + 1)]


def picture(board: bytes, struck: set[int]) -> str:
    """Return a whole board as its owner and the referee see it, one :class:`Mark` per cell, row by row.

    Args:
        board: one byte per cell, 0 for water.
        struck: the indices of the cells that were shot at.
    """
    seen = ((Mark.BLANK, Mark.MISS), (Mark.SHIP, Mark.HIT))
    return "".join(seen[ship > 0][cell in struck] for cell, ship in enumerate(board))


def display_name(ship: str) -> str:
    """Return a ship's name for people: ``Aircraft carrier`` for ``aircraftcarrier``, ``Cruiser`` for ``cruiser2``."""
    return ship.rstrip("0123456789").replace("aircraftcarrier", "aircraft carrier").capitalize()


def letters_of(rules: BoardRules) -> dict[str, str]:
    """Return a capital letter for each ship, by name: the first of its name, then of the alphabet, that is free.

    A ``carrier`` gets A, for aircraft carrier.
    """
    found: dict[str, str] = {}
    for ship in rules.fleet:
        wanted = ("a" if ship.name == "carrier" else "") + ship.name + "abcdefghijklmnopqrstuvwxyz"
        found[ship.name] = next(c for c in wanted.upper() if c not in found.values() and c.isalpha())
    return found
