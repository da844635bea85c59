"""A program that plays Battleship in JSON lines, written from the protocol's text and nothing else.

Standard library only. It plays honestly with a fleet of its own that it shows when the game is over, and it can
stammer: say things that are wrong in ways that the text has an answer for.
"""

from __future__ import annotations

import json
import random
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

LETTERS = "ABCDEFGHIJ"
LENGTHS = [4, 3, 3, 2, 2, 2, 1, 1, 1, 1]
NAMES = {4: "four", 3: "three", 2: "two", 1: "one"}

Cell = tuple[int, int]  # row and column from 0


def draw_fleet(draw: random.Random) -> list[list[Cell]]:
    """Place ships that touch nowhere, not even at their corners."""
    while True:
        ships: list[list[Cell]] = []
        closed: set[Cell] = set()
        for length in LENGTHS:
            for _ in range(200):
                lying = draw.random() < 0.5
                row = draw.randrange(10 if lying else 11 - length)
                column = draw.randrange(11 - length if lying else 10)
                ship = [(row, column + n) if lying else (row + n, column) for n in range(length)]
                if not closed.intersection(ship):
                    ships.append(ship)
                    closed |= {(r + dr, c + dc) for r, c in ship for dr in (-1, 0, 1) for dc in (-1, 0, 1)}
                    break
        if len(ships) == len(LENGTHS):
            return ships


def name(cell: Cell) -> str:
    return f"{LETTERS[cell[0]]}{cell[1] + 1}"


def board_of(ships: list[list[Cell]]) -> dict[str, Any]:
    board: dict[str, Any] = {}
    for length, key in NAMES.items():
        written = [f"{name(s[0])}-{name(s[-1])}" if length > 1 else name(s[0]) for s in ships if len(s) == length]
        board[key] = written[0] if length == 4 else written
    return board


class Client:
    """One connection."""

    def __init__(
        self, address: tuple[str, int], seed: int, *, xy: bool = False, alternate: bool = False, end: str = "\n"
    ) -> None:
        """Connect.

        Args:
            xy: whether cells are written with x and y from 0, and bodies are never null.
            alternate: whether a hit does not shoot again.
            end: what stands behind a message.
        """
        self.draw = random.Random(seed)
        self.fleet = draw_fleet(self.draw)
        self.xy = xy
        self.alternate = alternate
        self.end = end
        self.struck: set[Cell] = set()
        self.wrong: dict[int, int] = {}  # status -> how many wrong messages got it
        self.won = False
        self.seen = False  # whether the server can know how cells are written
        self._address = address
        self.connect()

    def connect(self) -> None:
        self.socket = socket.create_connection(self._address, timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._rest = ""

    def close(self) -> None:
        self.socket.close()

    # --- one message --------------------------------------------------------------------------------------------

    def send(self, text: str) -> None:
        self.socket.sendall(text.encode())

    def receive(self) -> dict[str, Any]:
        decoder = json.JSONDecoder()
        while True:
            self._rest = self._rest.lstrip()
            try:
                value, end = decoder.raw_decode(self._rest)
            except ValueError:
                data = self.socket.recv(65536)
                if not data:
                    raise ConnectionError("the server has hung up") from None
                self._rest += data.decode()
                continue
            self._rest = self._rest[end:]
            assert list(value) == ["type", "status", "message", "body"], value
            return dict(value)

    def say(self, kind: str, body: Any = None) -> dict[str, Any]:
        self.send(json.dumps({"type": kind, "body": body}) + self.end)
        answer = self.receive()
        assert answer["type"] == kind, (kind, body, answer)
        return answer

    def good(self, kind: str, body: Any = None) -> Any:
        answer = self.say(kind, body)
        assert answer["status"] in (0, "OK"), (kind, body, answer)
        assert answer["message"] is None
        return answer["body"]

    def cell(self, cell: Cell) -> dict[str, Any]:
        row, column = cell
        self.seen = True
        return {"x": column, "y": row} if self.xy else {"row": LETTERS[row], "column": column + 1}

    def cell_of(self, body: dict[str, Any]) -> Cell:
        return (body["y"], body["x"]) if self.xy else (LETTERS.index(body["row"]), body["column"] - 1)

    # --- a game -------------------------------------------------------------------------------------------------

    def result_at(self, cell: Cell) -> str:
        self.struck.add(cell)
        for ship in self.fleet:
            if cell in ship:
                return "SINKING" if self.struck.issuperset(ship) else "HIT"
        return "MISS"

    @property
    def lost(self) -> bool:
        return all(self.struck.issuperset(ship) for ship in self.fleet)

    def targets(self) -> Iterator[Cell]:
        cells = [(row, column) for row in range(10) for column in range(10)]
        self.draw.shuffle(cells)
        return iter(cells)

    def play(self, *, stammer: float = 0.0) -> None:
        """Play one game.

        Args:
            stammer: how likely something wrong is said before each message.
        """
        self.struck = set()
        while self.say("GAME_INVITATION")["status"] == 1:
            time.sleep(0.1)
        if stammer:  # each wrong thing once at least, whatever is drawn later
            for wrong in self._wrong():
                wrong()
        targets = self.targets()
        sunk = 0
        while sunk < len(LENGTHS) and not self.lost:
            answer = "HIT"
            while answer != "MISS" and sunk < len(LENGTHS):
                self.stammer(stammer, mine=True)
                answer = self.good("SHOT", self.cell(next(targets)))
                sunk += answer == "SINKING"
                if self.alternate:
                    break
            while sunk < len(LENGTHS) and not self.lost:
                self.stammer(stammer, mine=False)
                body = self.good("SHOT_REQUEST")
                if self.draw.random() < stammer:
                    assert self.good("SHOT_REQUEST") == body, "asked again before the answer, it is the same shot"
                answer = self.result_at(self.cell_of(body))
                self.stammer(stammer, mine=None)
                assert self.good("RESULT", answer) == (answer if self.xy else None)
                if answer == "MISS" or self.alternate:
                    break
        self.won = sunk == len(LENGTHS)
        told = self.say("BOARD", board_of(self.fleet))
        assert (told["status"], told["message"]) == (
            0,
            f"The {'client' if self.won else 'server'} has won." if self.xy else None,
        )

    # --- what is wrong --------------------------------------------------------------------------------------------

    def stammer(self, chance: float, *, mine: bool | None) -> None:
        """Say something wrong now and then; it gets the text's status and changes nothing.

        Args:
            mine: whether the next shot is this side's; None while an answer is owed.
        """
        while self.draw.random() < chance:
            self.draw.choice(self._wrong() + [self._out_of_turn] * (mine is not True))()

    def _wrong(self) -> list[Callable[[], None]]:
        """Return what is wrong at any time of a game."""
        return [
            self._unknown,
            self._unreadable,
            self._too_long,
            self._off_board,
            self._shapeless,
            self._in_parts,
            self._invited_again,
            self._early_board,
        ]

    def expect(self, text: str, kind: str, status: int) -> None:
        self.send(text)
        answer = self.receive()
        assert (answer["type"], answer["status"]) == (kind, status), (text[:200], answer)
        shaped = self.seen and self.xy and kind in ("SHOT", "SHOT_REQUEST", "RESULT", "BOARD")
        assert (answer["body"] is not None) is shaped, (text[:200], answer)
        self.wrong[status] = self.wrong.get(status, 0) + 1

    def _unknown(self) -> None:
        self.expect(json.dumps({"type": self.draw.choice(["SHOOT", "", "shot"]), "body": None}), "UNKNOWN", 4)

    def _unreadable(self) -> None:
        texts = ["hello\n", '{"type": }', '{"type":"SHOT","type":"SHOT","body":null}', "[1, 2]", '{"body": null}\n']
        self.expect(self.draw.choice(texts), "UNKNOWN", 4)

    def _too_long(self) -> None:
        self.expect(json.dumps({"type": "SHOT", "body": "x" * 9000}) + "\n", "UNKNOWN", 4)

    def _off_board(self) -> None:
        self.seen = True
        for body in [{"x": 10, "y": 0}, {"x": 0, "y": -1}] if self.xy else [{"row": "K", "column": 1}]:
            self.expect(json.dumps({"type": "SHOT", "body": body}), "SHOT", 2)

    def _shapeless(self) -> None:
        kind = self.draw.choice(["SHOT", "RESULT", "BOARD"])
        body: Any = self.draw.choice([None, 7, "SUNK", {"row": 1, "column": "A"}, {"four": 3}, [[]], True])
        self.expect(json.dumps({"type": kind, "body": body}), kind, 2)

    def _in_parts(self) -> None:
        """Something that is right, but comes in pieces."""
        text = json.dumps({"type": "GAME_INVITATION", "body": None}, indent=2)
        for part in (text[:7], text[7:20]):
            self.send(part)
        self.expect(text[20:] + "\r\n\r\n", "GAME_INVITATION", 1)

    def _invited_again(self) -> None:
        self.expect(json.dumps({"type": "GAME_INVITATION", "body": None}), "GAME_INVITATION", 1)

    def _early_board(self) -> None:
        self.expect(json.dumps({"type": "BOARD", "body": board_of(self.fleet)}), "BOARD", 2)

    def _out_of_turn(self) -> None:
        self.expect(json.dumps({"type": "SHOT", "body": self.cell((0, 0))}), "SHOT", 2)
