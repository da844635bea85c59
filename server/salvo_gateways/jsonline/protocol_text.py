"""The protocol's text: JSON values in a row, cells in two notations, status codes, boards. No sockets here."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Any, Final

from salvo.codec.strict_json import parse_json
from salvo.errors import IllegalCommand, SalvoError, WireError
from salvo.rules import Fleet, Grid, RuleBook
from salvo_gateways.hidden_fleet.answers import ShotOutcome, placement_of
from salvo_gateways.peer import PeerBroken

#: A board in the text's form has some 150 bytes, as a list of cells below 1000.
MAX_BYTES: Final = 4096
#: A message, its body, a list in it, a cell in that list; one more for lists of ships that are lists of cells.
DEEPEST: Final = 5
OFF_BOARD: Final = "The shot is not within the boundaries of the board."
BUSY_TEXT: Final = "Server is playing the other game."

_COUNTS: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_SHIP: Final = re.compile(r"\s*([A-Za-z])\s*(\d{1,2})\s*(?:-\s*([A-Za-z])\s*(\d{1,2})\s*)?", re.ASCII)
_SPACE: Final = " \t\r\n"
_DECODER: Final = json.JSONDecoder()
#: What may be the beginning of a literal, a number or an escape.
_WORD: Final = re.compile(r"[\\\w.+-]*", re.ASCII)
_BEHIND_NOISE: Final = re.compile(r"[\n{\[]")
_BEFORE_VALUE: Final = re.compile(r"[}\]\n](?=[ \t\r\n]*[{\[])")


class Status(IntEnum):
    """The text's codes."""

    OK = 0
    SERVER_BUSY = 1
    ILLEGAL_ARGUMENTS = 2
    INTERNAL_ERROR = 3
    BAD_REQUEST = 4


class Dialect(StrEnum):
    """How a program writes a cell: ``{"row": "A", "column": 2}``, or from 0 as ``{"x": 1, "y": 0}``."""

    TEXT = "text"
    XY = "xy"


#: What the text calls an answer to a shot.
RESULTS: Final = {ShotOutcome.MISS: "MISS", ShotOutcome.HIT: "HIT", ShotOutcome.SUNK: "SINKING"}
WORDS: Final = {result: word for word, result in RESULTS.items()}


class BadBody(SalvoError):
    """A message of a known type whose body is wrong: the text's status 2."""


class Values:
    """Finds JSON objects and lists in a row, with or without anything between them.

    Other text is a separate message, up to the next line break or bracket, and will not be understood. Behind a value
    that is not JSON or too long, reading continues at a bracket that begins a line or follows another bracket's end.
    """

    def __init__(self) -> None:
        self._text = ""  # a character for each byte
        self._skipping = False

    def feed(self, data: bytes) -> Iterable[bytes | PeerBroken]:
        """Return what has ended."""
        self._text += data.decode("latin-1")
        return list(iter(self._next, None))

    def write(self, message: str) -> bytes:
        """Return a message as it is sent: one a line."""
        return f"{message}\n".encode()

    def _next(self) -> bytes | PeerBroken | None:
        if self._skipping and not self._skip():
            return None
        text = self._text = self._text.lstrip(_SPACE)
        if not text:
            return None
        try:
            end = _end_of_value(text) if text[0] in "{[" else _BEHIND_NOISE.search(text, 1)
        except json.JSONDecodeError as error:
            self._text, self._skipping = text[error.pos :], text[error.pos] not in "{["
            return PeerBroken("not_json", f"{error.msg} at character {error.pos + 1}")
        length = end.start() if isinstance(end, re.Match) else end
        if length is None and len(text) <= MAX_BYTES:
            return None
        self._text, self._skipping = text[length:] if length else text, length is None
        if length is None or length > MAX_BYTES:
            return PeerBroken("too_long", f"a message has at most {MAX_BYTES} bytes")
        return text[:length].rstrip(_SPACE).encode("latin-1")

    def _skip(self) -> bool:
        """Drop what comes before the next value; return whether it has begun."""
        found = _BEFORE_VALUE.search(self._text)
        self._skipping = found is None
        if found is not None:
            self._text = self._text[found.end() :]
        else:
            self._text = self._text.rstrip(" \t\r")[-1:]  # by which a value that follows may be recognised
        return found is not None


def _end_of_value(text: str) -> int | None:
    """Return where a JSON value at the beginning ends; None while more of it has to come.

    Raises:
        JSONDecodeError: it is none.
    """
    try:
        return _DECODER.raw_decode(text)[1]
    except RecursionError:
        return None  # then it is too long, soon
    except json.JSONDecodeError as error:
        begun = error.msg.startswith("Unterminated") or _WORD.fullmatch(text[error.pos :].rstrip(_SPACE))
        if not begun:
            raise
        return None


@dataclass(frozen=True, slots=True)
class JsonRequest:
    """A message; ``body`` is None where there is none."""

    type: str
    body: Any


def read_request(message: str) -> JsonRequest:
    """Read a message.

    Raises:
        WireError: it is no JSON object with a type.
    """
    value = parse_json(message.encode(), MAX_BYTES, DEEPEST)
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        raise WireError("wrong_shape", 'a message is {"type": "...", "body": ...}')
    return JsonRequest(value["type"], value.get("body"))


class Wording:
    """Writes answers to one program, and cells as it writes them itself.

    Programs that differ from the text in cells or statuses also read the body of every answer, where the text has null.

    Attributes:
        dialect: that of the last cell that was read.
        names: whether a status is written as its name.
    """

    def __init__(self, book: RuleBook, dialect: Dialect = Dialect.TEXT, *, names: bool = False) -> None:
        self.book = book
        self.dialect = dialect
        self.names = names

    @property
    def plain(self) -> bool:
        """Whether the program writes as the text does."""
        return self.dialect is Dialect.TEXT and not self.names

    def answer(self, kind: str, status: Status = Status.OK, text: str | None = None, body: Any = None) -> str:
        """Return one line."""
        shown = status.name if self.names else int(status)
        if body is None and status is not Status.OK and not self.plain:
            miss = RESULTS[ShotOutcome.MISS]
            body = {
                "SHOT": miss,
                "SHOT_REQUEST": self.write_cell(0),
                "RESULT": miss,
                "BOARD": [],
                "BOARD_HISTORY": [],
            }.get(kind)
        return json.dumps({"type": kind, "status": shown, "message": text, "body": body})

    def read_cell(self, body: Any) -> int:
        """Return the cell of a body, whose dialect the answers have from then on.

        Raises:
            BadBody: ``wrong_shape`` or ``off_board``.
        """
        match body:
            case {"x": x, "y": y} if len(body) == 2 and type(x) is type(y) is int:
                self.dialect = Dialect.XY
                return _cell(self.book.grid, x + 1, y + 1)
            case {"row": str(row), "column": column} if len(body) == 2 and type(column) is int:
                self.dialect = Dialect.TEXT
                return _cell(self.book.grid, column, _row(row))
        raise BadBody("wrong_shape", f'a cell is {{"row": "A", "column": 2}} or {{"x": 1, "y": 0}}, not {_shown(body)}')

    def write_cell(self, cell: int) -> dict[str, Any]:
        """Return a body."""
        x, y = self.book.grid.xy(cell)
        return {"x": x - 1, "y": y - 1} if self.dialect is Dialect.XY else {"row": chr(64 + y), "column": x}

    def read_result(self, body: Any) -> ShotOutcome:
        """Return what came of a shot.

        Raises:
            BadBody: ``wrong_shape``.
        """
        if not isinstance(body, str) or body not in WORDS:
            raise BadBody("wrong_shape", f"a result is one of {', '.join(WORDS)}, not {_shown(body)}")
        return WORDS[body]

    def read_board(self, body: Any) -> Fleet:
        """Return a fleet: an object of texts as ``"B3-B6"`` by length, or a list of ships.

        A ship in a list is such a text, its cells, or an object that has them as ``position``, as programs send it.

        Raises:
            BadBody: ``wrong_shape`` or ``off_board``.
            GatewayError: ``bad_board``.
            IllegalCommand: ``too_close``, ``overlap``.
        """
        left = list(self.book.fleet)
        placements = []
        for count, cells in self._ships(body):
            ship = next((each for each in left if each.length == len(cells)), None)
            if ship is None or count not in (None, len(cells)):
                where = ", ".join(self.book.grid.name(cell) for cell in cells[:6])
                length = f", which is not a ship of {count}" if count not in (None, len(cells)) else ""
                raise BadBody("wrong_shape", f"one ship too many of {len(cells)} cells: {where}{length}")
            left.remove(ship)
            placements.append(placement_of(cells, ship.name, self.book))
        if left:
            raise BadBody("wrong_shape", f"a ship of {left[0].length} cells is missing")
        return Fleet(self.book, placements)

    def write_board(self, fleet: Fleet) -> dict[str, str | list[str]]:
        """Return a fleet as the text writes it: the only ship of its length without a list."""
        name, board = self.book.grid.name, dict[str, list[str]]()
        for place in fleet.placements:
            cells = place.cells(self.book)
            written = name(cells[0]) if len(cells) == 1 else f"{name(cells[0])}-{name(cells[-1])}"
            board.setdefault(_COUNTS[len(cells) - 1], []).append(written)
        return {count: ships[0] if len(ships) == 1 else ships for count, ships in board.items()}

    def write_ships(self, fleet: Fleet, shot_at: Collection[int]) -> list[dict[str, Any]]:
        """Return a fleet as programs list it that say of each ship where it lies and whether it has sunk."""
        ships = [place.cells(self.book) for place in fleet.placements]
        return [
            {"position": [self.write_cell(cell) for cell in cells], "isShipSinking": set(cells) <= set(shot_at)}
            for cells in ships
        ]

    def _ships(self, body: Any) -> Iterable[tuple[int | None, list[int]]]:
        """Yield the stated length of each ship, and its cells."""
        if isinstance(body, dict):
            for name, ships in body.items():
                if name not in _COUNTS:
                    raise BadBody("wrong_shape", f"ships are listed as {', '.join(_COUNTS[:4])}..., not {name[:20]!r}")
                for ship in ships if isinstance(ships, list) else [ships]:
                    yield _COUNTS.index(name) + 1, self._ship(ship)
        elif isinstance(body, list):
            for ship in body:
                yield None, self._ship(ship)
        else:
            raise BadBody("wrong_shape", "a board is an object or a list of ships")

    def _ship(self, ship: Any) -> list[int]:
        if isinstance(ship, dict) and "position" in ship:
            ship = ship["position"]
        if isinstance(ship, list) and ship:
            return [self.read_cell(cell) for cell in ship]
        found = _SHIP.fullmatch(ship) if isinstance(ship, str) else None
        if found is None:
            raise BadBody(
                "wrong_shape", f'a ship is written as "B3-B6", "D2" or a list of its cells, not {_shown(ship)}'
            )
        row, column, last_row, last_column = found.groups()
        x, y = int(column), _row(row)
        last_x, last_y = (int(last_column), _row(last_row)) if last_row else (x, y)
        if x != last_x and y != last_y:
            raise BadBody("wrong_shape", f"{ship[:20]!r} lies in neither a row nor a column")
        return [
            _cell(self.book.grid, column, line)
            for line in range(min(y, last_y), max(y, last_y) + 1)
            for column in range(min(x, last_x), max(x, last_x) + 1)
        ]


def same_ships(one: Fleet, other: Fleet) -> bool:
    """Whether two fleets of one book look alike: ships of one length have no names in this protocol."""
    first, second = ({place.cells(fleet.book) for place in fleet.placements} for fleet in (one, other))
    return first == second


def _row(row: str) -> int:
    """Return the number of a row's letter, 0 for what is none: off every board."""
    return ord(row.upper()) - 64 if len(row) == 1 and row.isascii() and row.isalpha() else 0


def _cell(grid: Grid, x: int, y: int) -> int:
    try:
        return grid.cell(x, y)
    except IllegalCommand:
        raise BadBody("off_board", OFF_BOARD) from None


def _shown(value: Any) -> str:
    return json.dumps(value)[:60]
