"""A client of Battleship in JSON lines for tests: python jsonline_client.py HOST:PORT --cells zero --turns alternate

It drives whole games against the server and compares the server's board, if it gets it, with what the server said.
One JSON line an event; what a server must not do is a fault, and then the exit code is 1.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import socket
import sys
import time
from typing import Any

from sea import Cell, Hunter, Report, around, place

SIZE = 10
LENGTHS = [4, 3, 3, 2, 2, 2, 1, 1, 1, 1]
FLEET = {"four": 4, "three": 3, "two": 2, "one": 1}
STATUSES = ["OK", "SERVER_BUSY", "ILLEGAL_ARGUMENTS", "INTERNAL_ERROR", "BAD_REQUEST"]


class Ended(Exception):
    """The server has closed the connection."""


class Client:
    """A connection, and the games on it."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given = given
        self.report = Report()
        self.rng = random.Random(given.seed)
        self.buffer = ""
        self.socket: socket.socket | None = None

    def connect(self) -> None:
        host, _, port = self.given.address.rpartition(":")
        self.socket = socket.create_connection((host, int(port)), timeout=60)
        self.buffer = ""

    def close(self) -> None:
        if self.socket is not None:
            self.socket.close()
        self.socket = None

    def say(self, kind: str, body: Any = None) -> None:
        assert self.socket is not None
        self.send_text(json.dumps({"type": kind, "body": body}))

    def send_text(self, text: str) -> None:
        assert self.socket is not None
        self.socket.sendall(text.encode() + (b"\n" if self.given.end == "line" else b""))

    def hear(self) -> dict[str, Any]:
        """Return the next message."""
        assert self.socket is not None
        while True:
            text = self.buffer.lstrip()
            if text:
                try:
                    message, end = json.JSONDecoder().raw_decode(text)
                except ValueError:
                    pass
                else:
                    if "\n" in text[:end]:
                        self.report.fault("a message over several lines", line=text[:end])
                    self.buffer = text[end:]
                    assert isinstance(message, dict)
                    return message
            chunk = self.socket.recv(65536)
            if not chunk:
                raise Ended(text)
            self.buffer += chunk.decode()

    def ask(self, kind: str, body: Any = None, *, status: int = 0) -> Any:
        """Say something, and return the body of its answer."""
        self.say(kind, body)
        answer = self.hear()
        if set(answer) != {"type", "status", "message", "body"}:
            self.report.fault("not type, status, message and body", line=json.dumps(answer))
        said = STATUSES[status] if self.given.status == "name" else status
        if answer.get("type") != kind or answer.get("status") != said:
            self.report.fault(f"not the answer to {kind}, with status {said}", line=json.dumps(answer))
        return answer.get("body")

    def cell_of(self, body: Any) -> Cell:
        if self.given.cells == "zero":
            cell = body["x"], body["y"]
        else:
            cell = body["column"] - 1, "ABCDEFGHIJ".index(body["row"])
        if len(body) != 2 or not (0 <= cell[0] < SIZE and 0 <= cell[1] < SIZE):
            self.report.fault("no cell of the board", line=json.dumps(body))
        return cell

    def written(self, cell: Cell) -> dict[str, Any]:
        if self.given.cells == "zero":
            return {"x": cell[0], "y": cell[1]}
        return {"row": "ABCDEFGHIJ"[cell[1]], "column": cell[0] + 1}

    # Games.

    def play(self) -> bool:
        """Play one game; return whether it came to its end."""
        self.say("GAME_INVITATION")
        answer = self.hear()
        if answer["status"] in (1, "SERVER_BUSY"):
            return False
        if answer["status"] not in (0, "OK") or answer["type"] != "GAME_INVITATION" or answer["body"] is not None:
            self.report.fault("not the answer to an invitation", line=json.dumps(answer))
        if self.given.probe:
            self.probe()
        self.fleet = place(self.rng, SIZE, SIZE, LENGTHS, apart=True)
        self.left = {cell for ship in self.fleet for cell in ship}
        self.hunter = Hunter(self.rng, SIZE, SIZE)
        self.results: list[tuple[Cell, str]] = []
        self.theirs: list[Cell] = []
        while True:
            result = self.shoot()
            if len(self.hunter.hits) == sum(LENGTHS):
                break
            if result != "MISS" and self.given.turns == "streak":
                continue
            while self.be_shot() != "MISS" and self.given.turns == "streak" and self.left:
                pass
            if not self.left:
                break
        revealed = self.ask("BOARD", self.own_board())
        self.compare(revealed)
        self.report(
            "result",
            winner="client" if self.left else "server",
            shots=[len(self.results), len(self.theirs)],
            revealed=revealed is not None,
        )
        return True

    def probe(self) -> None:
        """What a server refuses, and after which the game goes on."""
        self.ask("GAME_INVITATION", status=1)
        off = {"x": 10, "y": 0} if self.given.cells == "zero" else {"row": "K", "column": 2}
        self.ask("SHOT", off, status=2)
        for text in ('{"type":"NONSENSE","body":null}', "nonsense\n"):
            self.send_text(text)
            answer = self.hear()
            if answer.get("type") != "UNKNOWN" or answer.get("status") not in (4, "BAD_REQUEST"):
                self.report.fault("not UNKNOWN and 4", line=json.dumps(answer))

    def shoot(self) -> str:
        cell = self.hunter.choose()
        result = self.ask("SHOT", self.written(cell))
        if result not in ("MISS", "HIT", "SINKING"):
            self.report.fault("no result", line=json.dumps(result))
        self.hunter.learn(cell, result != "MISS")
        self.results.append((cell, str(result)))
        if len(self.results) == self.given.die_at:
            self.report("dies")
            os.kill(os.getpid(), signal.SIGKILL)
        if len(self.results) == self.given.leave_at:
            raise Ended("left")
        if result == "SINKING":
            ship = [cell]
            for part in ship:
                ship += [other for other in around(part) if other in self.hunter.hits and other not in ship]
            self.hunter.exclude(other for part in ship for other in around(part, corners=True))
        return str(result)

    def be_shot(self) -> str:
        cell = self.cell_of(self.ask("SHOT_REQUEST"))
        if cell in self.theirs:
            self.report.fault("the same shot again", cell=cell)
        self.theirs.append(cell)
        ship = next((ship for ship in self.fleet if cell in ship), [])
        self.left.discard(cell)
        result = "MISS" if not ship else "HIT" if self.left & set(ship) else "SINKING"
        body = self.ask("RESULT", result)
        if body != (result if self.given.echo else None):
            self.report.fault("a body of the answer to a result", line=json.dumps(body))
        return result

    def own_board(self) -> Any:
        def square(cell: Cell) -> str:
            return f"{'ABCDEFGHIJ'[cell[1]]}{cell[0] + 1}"

        spans = [
            (len(ship), square(ship[0]) + (f"-{square(ship[-1])}" if len(ship) > 1 else "")) for ship in self.fleet
        ]
        if self.given.board == "list":
            return [
                {"position": [{"x": x, "y": y} for x, y in ship], "isShipSinking": not self.left & set(ship)}
                for ship in self.fleet
            ]
        return {
            name: [span for size, span in spans if size == length] if length < 4 else spans[0][1]
            for name, length in FLEET.items()
        }

    def compare(self, board: Any) -> None:
        """Check what the server said against the board that it revealed, if it did."""
        if board is None:
            return
        fleet: list[set[Cell]] = []
        if isinstance(board, list):
            fleet = [{(cell["x"], cell["y"]) for cell in ship["position"]} for ship in board]
        for text in re.findall(r"[A-J]\d+(?:-[A-J]\d+)?", json.dumps(board)):
            ends = [(int(end[1:]) - 1, "ABCDEFGHIJ".index(end[0])) for end in text.split("-")]
            (x, y), (to_x, to_y) = ends[0], ends[-1]
            fleet.append({(cx, cy) for cx in range(x, to_x + 1) for cy in range(y, to_y + 1)})
        if sorted(map(len, fleet), reverse=True) != LENGTHS:
            self.report.fault("another fleet", line=json.dumps(board))
        shot: set[Cell] = set()
        for cell, result in self.results:
            shot.add(cell)
            ship = next((ship for ship in fleet if cell in ship), set())
            true = "MISS" if not ship else "SINKING" if ship <= shot else "HIT"
            if true != result:
                self.report.fault(f"{cell} was {result}, on the board it is {true}", line=json.dumps(board))


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("address")
    parser.add_argument("--cells", choices=["text", "zero"], default="text")
    parser.add_argument("--status", choices=["number", "name"], default="number")
    parser.add_argument("--turns", choices=["streak", "alternate"], default="streak")
    parser.add_argument("--end", choices=["line", "none"], default="line", help="of a message")
    parser.add_argument("--board", choices=["text", "list"], default="text")
    parser.add_argument("--echo", action="store_true", help="the answer to a result repeats it")
    parser.add_argument("--one-connection", action="store_true", help="for all games")
    parser.add_argument("--probe", action="store_true", help="first say what a server refuses")
    parser.add_argument("--games", type=int, default=1)
    parser.add_argument("--leave-at", type=int, default=-1, help="leave after so many shots")
    parser.add_argument("--die-at", type=int, default=-1, help="die after so many shots")
    parser.add_argument("--seed", default=None)
    given = parser.parse_args()
    client = Client(given)
    left = given.games
    while left:
        if client.socket is None:
            client.connect()
        assert client.socket is not None
        try:
            if client.play():
                left -= 1
            else:
                client.report("busy")
                time.sleep(0.3)
        except Ended as ended:
            left -= 1
            if str(ended) == "left":
                client.report("left")
            else:
                client.report.fault("the server closed the connection", rest=str(ended))
            client.close()
        if not given.one_connection:
            client.close()
    client.close()
    return 1 if client.report.faults else 0


if __name__ == "__main__":
    sys.exit(main())
