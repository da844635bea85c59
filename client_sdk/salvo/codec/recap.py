"""The recap: the game so far as one player may know it, as numbers, so that a long game still fits into one message.

Players are indices into ``players`` and ships indices into ``fleet``, from 0; lists are flat and read in groups of two,
three or four (SALVO-JOIN-12). If a game is too long even so, its oldest turns are summed up (SALVO-JOIN-13), which
:mod:`salvo.codec.recap_writer` does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

from salvo import messages as m
from salvo.codec.json_codec import Codec
from salvo.rules import Placement
from salvo.rules.board import MAX_SIDE
from salvo.wire.json_shape import Bounds, Flat, Strict, Via
from salvo.wire.seal import MAX_RECAP_BLOB_BYTES

#: Four cells per hexadecimal digit, on the largest board.
_MAX_DIGITS: Final = MAX_SIDE * MAX_SIDE // 4
_Count = Annotated[int, Bounds(ge=0, le=10**9)]
_Cells = Annotated[str, Bounds(pattern=r"^[0-9a-f]*$", max_length=_MAX_DIGITS)]
_Twos = Annotated[tuple[tuple[int, int], ...], Flat(2)]
_Threes = Annotated[tuple[tuple[int, int, int], ...], Flat(3)]
_Fours = Annotated[tuple[tuple[int, int, int, int], ...], Flat(4)]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecapBefore(Strict):
    """A summary of what is left out."""

    tallies: _Threes
    sunk: _Twos
    defeated: tuple[_Count, ...]
    shots: _Count
    aimed: tuple[_Cells, ...]
    hits: _Count
    struck: _Cells
    met: tuple[_Cells, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecapBody(Strict):
    """The content of the blob on ``.../recap``."""

    game: _Count
    turn: _Count
    players: tuple[str, ...]
    fleet: tuple[Annotated[Placement, Via(m.ShipPlace)], ...]
    first: Annotated[int, Bounds(ge=1, le=10**9)]
    results: _Threes
    sunk: _Threes
    defeated: _Twos
    shots: _Fours
    hits: _Twos
    outcomes: Annotated[str, Bounds(pattern=r"^[01]*$")] | None = None
    aims: _Threes | None = None
    before: RecapBefore | None = None


RECAP: Final[Codec[RecapBody]] = Codec(RecapBody, largest=MAX_RECAP_BLOB_BYTES, own=True, grows=True)
