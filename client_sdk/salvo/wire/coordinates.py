"""A cell as players write it: ``"3;4"``, or with a row letter ``"3;D"`` (SALVO-GAME-3)."""

from __future__ import annotations

import re

from salvo.errors import WireError

_COORDINATES = re.compile(r"\s*(-?[0-9]{1,9})\s*;\s*(-?[0-9]{1,9}|[A-Za-z])\s*")


def read_coordinates(text: str) -> tuple[int, int]:
    """Read ``"<x>;<y>"``, with a letter for y if the sender likes.

    Raises:
        WireError: ``bad_coordinates``.
    """
    found = _COORDINATES.fullmatch(text)
    if found is None:
        raise WireError("bad_coordinates", f'{text[:40]!r} is not "<x>;<y>", such as "3;4" or "3;D"')
    y = found[2]
    return int(found[1]), read_row(y) if y.isalpha() else int(y)


def read_row(y: int | str) -> int:
    """Return the number of a row that is given by its number or its letter.

    Raises:
        WireError: ``bad_coordinates``.
    """
    if isinstance(y, int):
        return y
    if len(y) == 1 and y.isascii() and y.isalpha():
        return ord(y.upper()) - ord("A") + 1
    raise WireError("bad_coordinates", f"y={y[:40]!r} is neither a row number nor a row letter")
