"""A server of Battleship in JSON lines for tests: python jsonline_server.py PORT --cells zero --status name --games 3

The client drives: it shoots, asks for shots, says their results and sends its board at the end, with which all it
said is compared. One JSON line an event; what a client must not do is a fault, and then the exit code is 1.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import selectors
import socket
import sys
from typing import Any

from sea import Cell, Hunter, Report, around, place

SIZE = 10
FLEET = {"four": 4, "three": 3, "two": 2, "one": 1}
LENGTHS = [4, 3, 3, 2, 2, 2, 1, 1, 1, 1]
STATUSES = ["OK", "SERVER_BUSY", "ILLEGAL_ARGUMENTS", "INTERNAL_ERROR", "BAD_REQUEST"]


def square(cell: Cell) -> str:
    return f"{'ABCDEFGHIJ'[cell[1]]}{cell[0] + 1}"


def ship_of(text: str) -> list[Cell]:
    """Return the cells of a ship such as B3-B6 or D2."""
    match = re.fullmatch(r"([A-J])([1-9]|10)(?:-([A-J])([1-9]|10))?", text)
    if match is None:
        raise ValueError(f"no ship: {text}")
    first = (int(match[2]) - 1, "ABCDEFGHIJ".index(match[1]))
    last = (int(match[4]) - 1, "ABCDEFGHIJ".index(match[3])) if match[3] else first
    if (first[0] != last[0] and first[1] != last[1]) or last < first:
        raise ValueError(f"no ship: {text}")
    return [(x, y) for x in range(first[0], last[0] + 1) for y in range(first[1], last[1] + 1)]


class Server:
    """Games one after the other, one at a time."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given = given
        self.report = Report()
        self.rng = random.Random(given.seed)
        self.selector = selectors.DefaultSelector()
        self.listener = socket.create_server(("127.0.0.1", given.port))
        self.selector.register(self.listener, selectors.EVENT_READ)
        self.buffers: dict[socket.socket, str] = {}
        self.playing: socket.socket | None = None
        self.games = 0
        self.probed: set[str] = set()
        self.report("listening", port=self.listener.getsockname()[1])

    def run(self) -> int:
        while self.games < self.given.games:
            for key, _ in self.selector.select():
                if key.fileobj is self.listener:
                    connection, _ = self.listener.accept()
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    self.buffers[connection] = ""
                    self.selector.register(connection, selectors.EVENT_READ)
                elif key.fileobj in self.buffers:
                    assert isinstance(key.fileobj, socket.socket)
                    self.read(key.fileobj)
        for connection in list(self.buffers):
            self.drop(connection)
        return 1 if self.report.faults else 0

    def read(self, connection: socket.socket) -> None:
        try:
            chunk = connection.recv(65536)
        except OSError:
            chunk = b""
        if not chunk:
            if self.buffers[connection].strip():
                self.report.fault("an unfinished message", line=self.buffers[connection])
            self.drop(connection)
            return
        self.buffers[connection] += chunk.decode()
        while connection in self.buffers and (text := self.buffers[connection].lstrip()):
            try:
                message, end = json.JSONDecoder().raw_decode(text)
            except ValueError:
                if "\n" in text:
                    self.report.fault("not JSON", line=text)
                    self.buffers[connection] = ""
                    self.answer(connection, "UNKNOWN", 4)
                break
            if "\n" in text[:end]:
                self.report.fault("a message over several lines", line=text[:end])
            self.buffers[connection] = text[end:]
            self.handle(connection, message)

    def drop(self, connection: socket.socket) -> None:
        self.selector.unregister(connection)
        connection.close()
        del self.buffers[connection]
        if connection is self.playing:
            self.playing = None
            self.report("abandoned", shots=len(self.shots))

    def answer(
        self, connection: socket.socket, kind: str, status: int = 0, message: str | None = None, body: Any = None
    ) -> None:
        said: int | str = STATUSES[status] if self.given.status == "name" else status
        text = json.dumps({"type": kind, "status": said, "message": message, "body": body})
        data = text.encode() + (b"\n" if self.given.end == "line" else b"")
        try:
            for part in (data[:9], data[9:]) if self.given.split else (data,):
                connection.sendall(part)
        except OSError:
            pass  # the next read says so

    def cell(self, body: Any) -> Cell | None:
        """Return the cell that a client names, None if it is none of the board."""
        try:
            if self.given.cells == "zero":
                x, y = body["x"], body["y"]
                known = set(body) == {"x", "y"}
            else:
                x, y = body["column"] - 1, "ABCDEFGHIJ".index(body["row"])
                known = set(body) == {"row", "column"} and len(body["row"]) == 1
        except (TypeError, KeyError, ValueError):
            return None
        return (x, y) if known and x in range(SIZE) and y in range(SIZE) else None

    def written(self, cell: Cell) -> dict[str, Any]:
        if self.given.cells == "zero":
            return {"x": cell[0], "y": cell[1]}
        return {"row": "ABCDEFGHIJ"[cell[1]], "column": cell[0] + 1}

    # The game.

    def handle(self, connection: socket.socket, message: Any) -> None:
        kind = message.get("type") if isinstance(message, dict) else None
        if not isinstance(message, dict) or not {"type"} <= set(message) <= {"type", "body"}:
            self.report.fault("more or less than type and body", line=json.dumps(message))
        if kind == "GAME_INVITATION":
            self.invite(connection, message)
        elif kind not in ("SHOT", "SHOT_REQUEST", "RESULT", "BOARD"):
            self.report.fault("unknown type", line=json.dumps(message))
            self.answer(connection, "UNKNOWN", 4)
        elif connection is not self.playing:
            self.report.fault("no game", line=json.dumps(message))
            self.answer(connection, kind, 4, "Invite first.")
        elif kind == "BOARD":
            self.board(connection, message.get("body"))
        elif kind != (expected := self.expected()):
            self.out_of_place(f"expected {expected}", message)
            self.answer(connection, kind, 4, "It is not your turn.")
        else:
            {"SHOT": self.shot, "SHOT_REQUEST": self.request, "RESULT": self.result}[kind](
                connection, message.get("body")
            )

    def invite(self, connection: socket.socket, message: Any) -> None:
        if message.get("body") is not None:
            self.report.fault("a body of an invitation", line=json.dumps(message))
        if connection is self.playing:
            self.report.fault("a second invitation")
        if self.playing is not None or self.given.busy > 0:
            self.given.busy -= self.playing is None
            self.report("busy")
            self.answer(connection, "GAME_INVITATION", 1, "Server is playing the other game.")
            return
        self.playing = connection
        self.ships = place(self.rng, SIZE, SIZE, LENGTHS, apart=True)
        self.shots: list[Cell] = []  # the client's
        self.hunter = Hunter(self.rng, SIZE, SIZE)
        self.replies: list[tuple[Cell, str]] = []  # to our shots
        self.pending: Cell | None = None
        self.mine = False  # whose turn it is
        self.left = 20  # of the client's cells
        self.answer(connection, "GAME_INVITATION")
        self.report("started")

    def out_of_place(self, text: str, said: Any) -> None:
        """Take note of what is refused; with --probing, a client may try cells and turns once each."""
        about = "cell" if text == "off the board" else "turn"
        if self.given.probing and about not in self.probed:
            self.probed.add(about)
            self.report("probed", text=text)
        else:
            self.report.fault(text, line=json.dumps(said))

    def over(self) -> bool:
        return self.left == 0 or {cell for ship in self.ships for cell in ship} <= set(self.shots)

    def expected(self) -> str:
        if self.pending is not None:
            return "RESULT"
        return "BOARD" if self.over() else "SHOT_REQUEST" if self.mine else "SHOT"

    def again(self, result: str) -> bool:
        return self.given.turns == "streak" and result != "MISS"

    def shot(self, connection: socket.socket, body: Any) -> None:
        cell = self.cell(body)
        if cell is None:
            self.out_of_place("off the board", body)
            self.answer(connection, "SHOT", 2, "The shot is not within the boundaries of the board.")
            return
        if cell in self.shots:
            self.report.fault("the same shot again", line=json.dumps(body))
        self.shots.append(cell)
        ship = next((ship for ship in self.ships if cell in ship), [])
        result = "MISS" if not ship else "SINKING" if set(ship) <= set(self.shots) else "HIT"
        self.mine = not self.again(result)
        self.answer(connection, "SHOT", body=result)
        if len(self.shots) == self.given.cut:
            self.given.cut = -1
            self.report("cut")
            self.drop(connection)

    def request(self, connection: socket.socket, body: Any) -> None:
        if body is not None:
            self.report.fault("a body of a request", line=json.dumps(body))
        self.pending = self.hunter.choose()
        self.answer(connection, "SHOT_REQUEST", body=self.written(self.pending))

    def result(self, connection: socket.socket, body: Any) -> None:
        assert self.pending is not None
        if body not in ("MISS", "HIT", "SINKING"):
            self.report.fault("no result", line=json.dumps(body))
            self.answer(connection, "RESULT", 2, "Not a result.")
            return
        cell, self.pending = self.pending, None
        self.replies.append((cell, body))
        self.hunter.learn(cell, body != "MISS")
        self.left -= body != "MISS"
        self.mine = self.again(body)
        if body == "SINKING":
            ship = [cell]
            for part in ship:
                ship += [other for other in around(part) if other in self.hunter.hits and other not in ship]
            self.hunter.exclude(other for part in ship for other in around(part, corners=True))
        self.answer(connection, "RESULT")

    def board(self, connection: socket.socket, body: Any) -> None:
        if self.expected() != "BOARD":
            self.report.fault(f"a board in mid-game, expected {self.expected()}", line=json.dumps(body))
        try:
            ships = self.fleet(body)
        except (ValueError, KeyError, TypeError) as error:
            self.report.fault(f"an impossible board: {error}", line=json.dumps(body))
            self.answer(connection, "BOARD", 2, "The board is impossible.")
        else:
            self.compare(ships)
            mine = self.own_board() if self.given.reveal else None
            self.answer(connection, "BOARD", body=mine)
        winner = "server" if self.left == 0 else "client" if self.over() else None
        self.report("result", winner=winner, shots=[len(self.shots), len(self.replies)], board=type(body).__name__)
        self.playing = None
        self.games += 1
        if self.given.after == "close" and self.games < self.given.games:
            self.drop(connection)

    def own_board(self) -> Any:
        spans = [
            (len(ship), square(ship[0]) + (f"-{square(ship[-1])}" if len(ship) > 1 else "")) for ship in self.ships
        ]
        if self.given.board == "list":
            return [{"position": [{"x": x, "y": y} for x, y in ship], "isShipSinking": True} for ship in self.ships]
        return {
            name: [span for size, span in spans if size == length] if length < 4 else spans[0][1]
            for name, length in FLEET.items()
        }

    def fleet(self, body: Any) -> list[list[Cell]]:
        """Return the ships of a board; raise ValueError if there is no such fleet."""
        if self.given.board == "list":
            ships = [[(cell["x"], cell["y"]) for cell in ship["position"]] for ship in body]
        else:
            if set(body) != set(FLEET) or not isinstance(body["four"], str):
                raise ValueError("not the four kinds of ships, the first as text")
            ships = [ship_of(body["four"])]
            for name in ("three", "two", "one"):
                more = [ship_of(text) for text in body[name]]
                if any(len(ship) != FLEET[name] for ship in more):
                    raise ValueError(f"the lengths of {name}")
                ships += more
        if sorted(map(len, ships), reverse=True) != LENGTHS:
            raise ValueError("other ships")
        for i, ship in enumerate(ships):
            near = {cell for part in ship for cell in [part, *around(part, corners=True)]}
            if any(near & set(other) for other in ships[:i]):
                raise ValueError("ships touch")
        return ships

    def compare(self, ships: list[list[Cell]]) -> None:
        """Check each reply to our shots against the board."""
        shot: set[Cell] = set()
        for cell, reply in self.replies:
            shot.add(cell)
            ship = next((ship for ship in ships if cell in ship), [])
            true = "MISS" if not ship else "SINKING" if set(ship) <= shot else "HIT"
            if true != reply:
                self.report.fault(f"{square(cell)} was {reply}, on the board it is {true}")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("--cells", choices=["text", "zero"], default="text")
    parser.add_argument("--status", choices=["number", "name"], default="number")
    parser.add_argument("--turns", choices=["streak", "alternate"], default="streak")
    parser.add_argument("--end", choices=["line", "none"], default="line", help="of a message")
    parser.add_argument("--board", choices=["text", "list"], default="text")
    parser.add_argument("--reveal", action="store_true", help="answer a board with our own")
    parser.add_argument("--split", action="store_true", help="send each message in two parts")
    parser.add_argument("--after", choices=["close", "open"], default="close", help="the connection after a game")
    parser.add_argument("--games", type=int, default=1)
    parser.add_argument("--busy", type=int, default=0, help="refuse so many invitations")
    parser.add_argument(
        "--probing", action="store_true", help="a client may find out how cells and turns go, once each"
    )
    parser.add_argument("--cut", type=int, default=-1, help="cut the first client off after so many shots")
    parser.add_argument("--seed", default=None)
    return Server(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
