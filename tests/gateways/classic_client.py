"""A program of the two-player game, written from the protocol's text and nothing else; standard library only.

It plays whole games honestly, as client or as server (who leads), over anything that carries lines.
"""

from __future__ import annotations

import random
import socket
import time
from typing import Protocol

ROWS = "ABCDEFGHIJ"
COLUMNS = "123456789a"
FLEET = [("Aircraft carrier", 5), ("Battleship", 4), ("Cruiser", 3), ("Submarine", 2), ("Submarine", 2)]

Cell = tuple[int, int]


class Line(Protocol):
    """Carries messages."""

    def send(self, message: str) -> None: ...

    def receive(self, seconds: float) -> str | None:
        """Return the next message; None when there is none in that time, an empty one at the end."""
        ...

    def close(self) -> None: ...


class Tcp:
    """A TCP connection with one message a line."""

    def __init__(self, other: tuple[str, int] | socket.socket) -> None:
        """Connect to an address, or use a connection."""
        self.socket = other if isinstance(other, socket.socket) else socket.create_connection(other)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._rest = b""

    def send(self, message: str) -> None:
        self.socket.sendall(message.encode() + b"\n")

    def receive(self, seconds: float) -> str | None:
        self.socket.settimeout(seconds)
        while b"\n" not in self._rest:
            try:
                data = self.socket.recv(4096)
            except TimeoutError:
                return None
            except OSError:
                data = b""
            if not data:
                return ""
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode()

    def close(self) -> None:
        self.socket.close()


class Bus:
    """The bus of the text: programs find each other by multicast, and one of two calls the other over TCP."""

    def __init__(self, group: str) -> None:
        """Join the group, at a port of the system's."""
        self._air = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._air.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._air.bind(("", 0))
        loopback = socket.inet_aton("127.0.0.1")
        self._air.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(group) + loopback)
        self._air.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, loopback)
        self._air.settimeout(60)
        self.group = group, self._air.getsockname()[1]
        self._line: socket.socket | None = None
        self._rest = b""

    def meet(self) -> None:
        """Wait for another program, take an address by which that one calls, and let it."""
        other = self._hear()
        last = (int(other[-1]) + 1) % 10  # of the port: the one before it calls
        listeners = [socket.create_server(("127.0.0.1", 0))]
        while listeners[-1].getsockname()[1] % 10 != last:
            listeners.append(socket.create_server(("127.0.0.1", 0)))
        own = f"127.0.0.1:{listeners[-1].getsockname()[1]}"
        self.say(f"A/{own}")
        self._line, _ = listeners[-1].accept()
        assert self.receive(60) == f"P/{other}"
        for listener in listeners:
            listener.close()

    def say(self, text: str) -> None:
        self._air.sendto(text.encode(), self.group)

    def _hear(self) -> str:
        """Return the address of a program that is on the bus."""
        while (text := self._air.recv(1024).decode())[:2] not in ("A/", "P/"):
            pass
        return text[2:]

    def send(self, message: str) -> None:
        assert self._line is not None
        data = (21).to_bytes(4, "big") + len(message).to_bytes(4, "big") + message.encode()
        for part in (data[:3], data[3:9], data[9:]):
            self._line.sendall(part)

    def receive(self, seconds: float) -> str | None:
        assert self._line is not None
        self._line.settimeout(seconds)
        while len(self._rest) < 8 or len(self._rest) < 8 + int.from_bytes(self._rest[4:8], "big"):
            try:
                data = self._line.recv(4096)
            except TimeoutError:
                return None
            except OSError:
                data = b""
            if not data:
                return ""
            self._rest += data
        assert self._rest[:4] == b"\0\0\0\x15"
        end = 8 + int.from_bytes(self._rest[4:8], "big")
        message, self._rest = self._rest[8:end], self._rest[end:]
        return message.decode()

    def close(self) -> None:
        self._air.close()
        if self._line is not None:
            self._line.close()


def draw_fleet(draw: random.Random) -> list[tuple[str, list[Cell]]]:
    """Place ships that have no border in common; corners may touch."""
    while True:
        ships: list[tuple[str, list[Cell]]] = []
        closed: set[Cell] = set()
        for name, length in FLEET:
            lying = draw.random() < 0.5
            row = draw.randrange(10 if lying else 11 - length)
            column = draw.randrange(11 - length if lying else 10)
            ship = [(row, column + n) if lying else (row + n, column) for n in range(length)]
            if closed.isdisjoint(ship):
                ships.append((name, ship))
                closed.update(ship)
                closed.update((r + dr, c + dc) for r, c in ship for dr, dc in ((0, 1), (0, -1), (1, 0), (-1, 0)))
        if len(ships) == len(FLEET):
            return ships


def written(cell: Cell) -> str:
    return ROWS[cell[0]] + COLUMNS[cell[1]]


class Program:
    """One program.

    Attributes:
        won: of each game whether this side won.
        begun: of each game whether this side began.
    """

    def __init__(self, line: Line, seed: int, *, leads: bool = False) -> None:
        self.line = line
        self.draw = random.Random(seed)
        self.leads = leads
        self.won: list[bool] = []
        self.begun: list[bool] = []
        self._early: list[str] = []

    def next(self, seconds: float = 60.0) -> str:
        message = self.line.receive(seconds)
        assert message is not None, f"nothing in {seconds} s"
        return message

    def connect(self) -> None:
        """Go through "connecting as ..."; the next message is about the set-up."""
        if self.leads:
            assert self.next() == "C"
            self.line.send("Z")
            return
        while True:
            self.line.send("C")
            until = time.monotonic() + 1
            while (left := until - time.monotonic()) > 0:
                if (message := self.line.receive(left)) is not None:
                    assert message == "Z", message
                    return

    def play(self, games: int) -> None:
        """Play games from the set-up of the first to the end of the last."""
        for game in range(games):
            if game:
                if self.leads:
                    self.line.send("Z")
                else:
                    assert self.next() == "Z"
            self.play_one(begins=self.leads == (game % 2 == 0))

    def set_up(self) -> None:
        self.line.send("D")
        while (message := self.next()) == "C":  # said before the Z was heard
            pass
        assert message == "D", message

    def play_one(self, *, begins: bool, turns: int | None = None) -> None:
        """Play from the set-up on, to the end or so many of the own turns."""
        self.fleet = draw_fleet(self.draw)
        self.struck: set[Cell] = set()
        self.targets = [(row, column) for row in range(10) for column in range(10)]
        self.draw.shuffle(self.targets)
        self.set_up()
        self.begun.append(begins)
        mine = begins
        fired = 0
        while turns is None or fired < turns:
            letter = self.shoot() if mine else self.be_shot_at()
            fired += mine
            if letter == "E":
                self.won.append(mine)
                return
            mine = not mine

    def shoot(self) -> str:
        cell = self.draw.choice(self.targets) if self.draw.random() < 0.03 else self.targets.pop()
        self.line.send(f"S{written(cell)}")
        reply = self.next()
        assert reply[:3] == f"R{written(cell)}", reply
        assert (reply[4:] in {name for name, _ in FLEET}) == (reply[3] in "SE"), reply
        return reply[3]

    def be_shot_at(self) -> str:
        message = self.next()
        assert message[0] == "S", message
        cell = ROWS.index(message[1]), COLUMNS.index(message[2])
        reply = self.reply_to(cell)
        self.line.send(f"R{message[1:]}{reply}")
        return reply[0]

    def reply_to(self, cell: Cell) -> str:
        if cell in self.struck:
            return "M"
        self.struck.add(cell)
        for name, ship in self.fleet:
            if cell in ship:
                if not self.struck.issuperset(ship):
                    return "H"
                last = all(self.struck.issuperset(other) for _, other in self.fleet)
                return ("E" if last else "S") + name
        return "M"
