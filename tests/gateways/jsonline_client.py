"""A program that plays Battleship in JSON lines, written from the protocol's text and nothing else.

Standard library only. It plays honestly with a fleet of its own that it shows when the game is over.
"""

from __future__ import annotations

import json
import random
import socket
import time
from collections.abc import Iterator
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
        self.won = False
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

    def play(self) -> None:
        """Play one game; here and there the same shot is asked for twice."""
        self.struck = set()
        while self.say("GAME_INVITATION")["status"] == 1:
            time.sleep(0.1)
        targets = self.targets()
        sunk = 0
        while sunk < len(LENGTHS) and not self.lost:
            answer = "HIT"
            while answer != "MISS" and sunk < len(LENGTHS):
                answer = self.good("SHOT", self.cell(next(targets)))
                sunk += answer == "SINKING"
                if self.alternate:
                    break
            while sunk < len(LENGTHS) and not self.lost:
                body = self.good("SHOT_REQUEST")
                if self.draw.random() < 0.15:
                    assert self.good("SHOT_REQUEST") == body, "asked again before the answer, it is the same shot"
                answer = self.result_at(self.cell_of(body))
                assert self.good("RESULT", answer) == (answer if self.xy else None)
                if answer == "MISS" or self.alternate:
                    break
        self.won = sunk == len(LENGTHS)
        shown = self.say("BOARD", board_of(self.fleet))
        assert (shown["status"], shown["message"]) == (
            0,
            f"The {'client' if self.won else 'server'} has won." if self.xy else None,
        )
