"""A client of Xterm Boat Sinker, written from its protocol's text alone: the standard library and nothing of ours.

It plays at random, remembers nothing but what the server says, comes back when it was sent away, and notes as a fault
whatever the text does not allow for.
"""

from __future__ import annotations

import random
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field

SECONDS = 60.0


class Gone(Exception):
    """The server has hung up."""


@dataclass
class Player:
    """What the server says of one player."""

    board: str = ""
    status: str = ""
    score: int = 0
    skips: int = 0


@dataclass
class Outcome:
    """How a game ended: the values of F, then those of each R."""

    state: str
    turns: int
    results: list[list[str]] = field(default_factory=list)


class Client:
    """One player."""

    def __init__(self, host: str, port: int, name: str, seed: int = 0) -> None:
        self.name = name
        self.random = random.Random(seed)
        self.faults: list[str] = []
        self.lines: list[str] = []  # all that was heard
        self.players: dict[str, Player] = {}
        self.order: list[str] = []
        self.turn = ""
        self.own = ""
        self.info: list[str] = []
        self._address = host, port
        self._socket: socket.socket | None = None
        self._rest = b""
        self.width = self.height = 0

    # --- lines ------------------------------------------------------------------------------------------------------

    def connect(self) -> list[str]:
        """Connect and return the values of the game info, which the server sends by itself."""
        self.close()
        self._socket = socket.create_connection(self._address, SECONDS)
        self._rest = b""
        kind, *self.info = self.hear()
        self.check(kind == "G" and len(self.info) == 10 + int(self.info[9]), f"game info: {kind} {self.info}")
        self.width, self.height = int(self.info[7]), int(self.info[8])
        return self.info

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def send(self, line: str) -> None:
        assert self._socket is not None
        try:
            self._socket.sendall(f"{line}\n".encode())
        except OSError:
            raise Gone from None

    def hear(self) -> list[str]:
        """Return the next message's type and values."""
        assert self._socket is not None
        while b"\n" not in self._rest:
            try:
                data = self._socket.recv(4096)
            except ConnectionError:
                data = b""
            if not data:
                raise Gone
            self._rest += data
        line, self._rest = self._rest.split(b"\n", 1)
        text = line.decode()
        self.check(len(line) < 4096 and text == text.rstrip(), f"a line of {len(line)} bytes: {text[:80]!r}")
        self.lines.append(text)
        return text.split("|")

    def hear_until(self, is_it: Callable[[list[str]], bool]) -> list[str]:
        """Note messages up to the one that is waited for."""
        while True:
            message = self.hear()
            self.note(message)
            if is_it(message):
                return message

    def check(self, holds: bool, fault: str) -> None:
        if not holds:
            self.faults.append(f"{self.name}: {fault}")

    # --- joining ----------------------------------------------------------------------------------------------------

    def draw_board(self) -> str:
        """Place each boat anywhere, again and again until none overlaps."""
        boats = [(value[0], int(value[1:])) for value in self.info[10:]]
        while True:
            cells = ["."] * (self.width * self.height)
            for letter, length in boats:
                across = self.random.random() < 0.5
                x = self.random.randrange(self.width - (length - 1 if across else 0))
                y = self.random.randrange(self.height - (0 if across else length - 1))
                for step in range(length):
                    cells[(y + (0 if across else step)) * self.width + x + (step if across else 0)] = letter
            if sum(cell != "." for cell in cells) == sum(length for _, length in boats):
                return "".join(cells)

    def join(self, board: str | None = None) -> list[str]:
        """Connect, ask to join, and return the answer; on J the own name stands in it."""
        started = self.connect()[2] == "Y"
        if started:
            self.send(f"J|{self.name}|{self.own}")
        else:
            self.own = self.draw_board() if board is None else board
            self.send(f"J|{self.name}|{self.own}")
        answer = self.hear()
        if answer == ["J", self.name]:
            self.players = {self.name: Player()}
            self.order = []
        return answer

    def join_in_time(self) -> None:
        """Join; whoever was here a moment ago may find the name in use still, or the last game not cleared yet."""
        end = time.monotonic() + SECONDS
        while True:
            without_me = self.connect()[2] == "Y" and not self.own
            answer = ["game is already started"] if without_me else self.join()
            if answer == ["J", self.name]:
                return
            again = answer in (["E", "name in use"], ["game is already started"])
            if not again or time.monotonic() > end:
                raise AssertionError(f"{self.name} may not join: {answer}")
            time.sleep(0.05)

    # --- a game -------------------------------------------------------------------------------------------------------

    def play(self) -> Outcome:
        """Play a game to its end."""
        self.join_in_time()
        while True:
            try:
                message = self.hear()
                self.note(message)
                if message[0] == "F":
                    return self.hear_results(message)
                if message == ["N", self.name]:
                    self.take_turn()
            except Gone:
                self.join_in_time()

    def note(self, message: list[str]) -> None:
        """Take in what a message says."""
        kind, *values = message
        match kind:
            case "J":
                self.check(values[0] not in self.players, f"{values[0]} joined twice")
                self.players[values[0]] = Player()
            case "L":
                self.check(not self.order, f"{values[0]} left in the game")
                self.check(self.players.pop(values[0], None) is not None, f"{values[0]} left and was not there")
            case "B":
                self.note_board(*values)
            case "Y":
                self.check(len(values[0]) == self.width * self.height, f"own board {values[0]}")
                self.own = "".join("." if cell == "0" else cell.upper() for cell in values[0])
            case "S":
                self.check(sorted(values) == sorted(self.players), f"started with {values}, told of {[*self.players]}")
                self.order = values
            case "N":
                self.check(values[0] in self.order, f"turn of {values[0]} in {self.order}")
                self.turn = values[0]
            case "H":
                self.check(len(values) in (3, 4) and {*values[:2]} <= {*self.players}, f"hit {values}")
            case "K":
                self.check(values[0] in self.players, f"skipped {values}")
            case "M":
                self.check(len(values) in (2, 3) and bool(values[1]), f"text {values}")
            case "F" | "R" | "P" | "G":
                pass
            case _:
                self.check(False, f"error message {message}")

    def note_board(self, name: str, status: str, board: str, score: str, skips: str) -> None:
        if name not in self.players:
            self.check(False, f"board of {name}")
            return
        known = self.players[name]
        self.check(len(board) == self.width * self.height and not {*board} - {*".X0"}, f"board {board}")
        for before, after in zip(known.board, board, strict=False):
            self.check(before in (".", after), f"a cell of {name} was {before} and is {after}")
        self.check(int(score) >= known.score and int(skips) >= known.skips, f"{name} lost points or skips")
        if name == self.name:
            for own, seen in zip(self.own, board, strict=True):
                self.check(seen == "." or (own == ".") == (seen == "0"), f"own cell {own} is shown as {seen}")
        self.players[name] = Player(board, status, int(score), int(skips))

    def hear_results(self, message: list[str]) -> Outcome:
        _, state, turns, count = message
        outcome = Outcome(state, int(turns))
        for _ in range(int(count)):
            kind, *values = self.hear()
            self.check(kind == "R" and len(values) == 5, f"result {kind} {values}")
            outcome.results.append(values)
            self.check(int(values[1]) == self.players[values[0]].score, f"result {values} after {self.players}")
        scores = [int(values[1]) for values in outcome.results]
        self.check(scores == sorted(scores, reverse=True), f"results out of order: {outcome.results}")
        try:
            self.check(False, f"after the results: {self.hear()}")
        except Gone:
            self.close()
        return outcome

    def choose(self) -> str:
        """Return a shot at a cell that nobody has shot at; a skip when there is none but on the own board."""
        boards = {
            name: player.board for name, player in self.players.items() if name != self.name and "." in player.board
        }
        if not boards:
            return "K|nothing left to shoot at"
        name = self.random.choice([*boards])
        cell = self.random.choice([number for number, letter in enumerate(boards[name]) if letter == "."])
        return f"S|{name}|{cell % self.width + 1}|{cell // self.width + 1}"

    def take_turn(self) -> None:
        self.send(self.choose())
