"""A program of Code Smackdown, written from the protocol's text alone: the standard library, nothing of ours.

As a child process: ``python smackdown_client.py OWN_NAME OPPONENT_NAME``, on standard streams.
Over TCP a test calls :meth:`Program.play`. Whatever the text does not have is a ``Complaint``.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable

Cell = tuple[int, int]

#: What a program may do in a round: all of it are good answers.
WHIMS = ("", "", "", "fewer", "repeated", "off_grid", "ahead")


class Complaint(Exception):
    """The server has not done what the text says."""


class Program:
    """One game.

    Attributes:
        result: ``won``, ``lost`` or ``tie``, once the game is over.
    """

    def __init__(self, read: Callable[[], bytes], write: Callable[[bytes], object], rng: random.Random) -> None:
        """Take ``read()``, which returns a line as bytes, and ``write(bytes)``."""
        self.read, self.write, self.rng = read, write, rng
        self.result = ""
        self.reported_of: list[bytes] = []  # everything, for who wants to look
        self.width = self.height = self.ships = 0
        self.sizes: list[int] = []
        self.fleet: list[set[Cell]] = []  # a set of cells for each ship
        self.struck: set[Cell] = set()
        self.tried: set[Cell] = set()
        self.waiting: list[Cell] = []  # shots of this round whose result is not known
        self.answered_ahead = False
        self.met: set[Cell] = set()
        self.round = 0

    def play(self) -> str:
        """Play to the end of the game and return the result."""
        while True:
            line = self.read()
            if not line:
                raise Complaint(f"hung up in mid-game, after {self.reported_of[-3:]}")
            fields = line.decode("ascii").rstrip("\n").split("|")
            if fields[0] or fields[-1] or fields[-2] != "END" or len(fields) < 5:
                raise Complaint(f"{line!r} is no message")
            self.reported_of.append(line)
            kind, about, *values = fields[1:-2]
            if kind == "QUERY":
                self.asked(about, values)
            elif kind != "INFO":
                raise Complaint(f"{line!r} is neither asked nor told")
            elif about == "end game":
                return self.result
            else:
                self.reported(about, values)

    def reported(self, about: str, values: list[str]) -> None:
        if about == "grid size":
            self.width, self.height = map(int, values[0].split())
        elif about == "num ships":
            self.ships = int(values[0])
        elif about == "ship sizes":
            self.sizes = [int(value) for value in values]
            self.expect(len(self.sizes) == self.ships, "as many sizes as ships")
        elif about in ("you hit", "you miss"):
            shot = _cell(values[0])
            self.expect(shot in self.waiting, f"only what was shot is told: {shot} of {self.waiting}")
            self.waiting.remove(shot)
            if about == "you hit":
                self.expect(0 <= shot[0] < self.width and 0 <= shot[1] < self.height, "no hit off the grid")
                self.met.add(shot)
            else:
                self.expect(shot not in self.met, "a hit is a hit again")
        elif about in ("opponent hit", "opponent miss"):
            shot = _cell(values[0])
            occupied = any(shot in ship for ship in self.fleet)
            self.expect(occupied == (about == "opponent hit"), f"{about} {shot}")
            self.struck.add(shot)
        elif about in ("won game", "lost game", "tie game"):
            self.result = about.split()[0]
            self.check_end()
        else:
            raise Complaint(f"{about!r} is not in the text")

    def check_end(self) -> None:
        won, lost = len(self.met) == sum(self.sizes), bool(self.fleet) and self.afloat() == 0
        expected = {(True, True): "tie", (True, False): "won", (False, True): "lost", (False, False): "won"}
        self.expect(self.result == expected[won, lost], f"{self.result} with {won} and {lost}")

    def afloat(self) -> int:
        return sum(not ship <= self.struck for ship in self.fleet)

    def asked(self, about: str, values: list[str]) -> None:
        if about == "ship locations":
            self.place()
            return
        self.expect(about == "shots", "shots or locations are asked for")
        self.expect(self.waiting == [] or self.answered_ahead, f"no result for {self.waiting}")
        self.round += 1
        most = int(values[0])
        self.expect(most == self.afloat(), f"{most} shots with {self.afloat()} ships")
        if self.answered_ahead:
            self.answered_ahead = False
        else:
            self.shoot(most)

    def expect(self, holds: bool, what: str) -> None:
        if not holds:
            raise Complaint(f"{what}; round {self.round}, after {self.reported_of[-8:]}")

    # --- answers ----------------------------------------------------------------------------------------------------

    def place(self) -> None:
        texts: list[str] = []
        taken: set[Cell] = set()
        for size in self.sizes:
            while True:
                flat = size > self.height or (size <= self.width and self.rng.random() < 0.5)
                x = self.rng.randrange(self.width - (size - 1) * flat)
                y = self.rng.randrange(self.height - (size - 1) * (not flat))
                cells = {(x + step * flat, y + step * (not flat)) for step in range(size)}
                if not cells & taken:
                    break
            taken |= cells
            self.fleet.append(cells)
            texts.append(f"{x} {y} {'H' if flat else 'V'}")
        self.answer("ship locations", texts)

    def shoot(self, most: int) -> None:
        free = [(x, y) for x in range(self.width) for y in range(self.height) if (x, y) not in self.tried]
        near = [(x, y) for x, y in free if {(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)} & self.met]
        self.rng.shuffle(free)
        self.rng.shuffle(near)
        shots = list(dict.fromkeys(near + free))[:most]
        whim = self.rng.choice(WHIMS)
        if whim == "fewer":
            shots = shots[:1]
        elif whim == "repeated" and self.tried:
            shots[0] = self.rng.choice(sorted(self.met or self.tried))
        elif whim == "off_grid":
            shots[0] = self.rng.choice([(-1, 0), (0, self.height), (self.width, -5), (123456, 0)])
        self.waiting += shots
        self.tried |= set(shots)
        self.answer("shots", [f"{x} {y}" for x, y in shots])
        if whim == "ahead" and most > 1:
            # One shot is always allowed, so the answer to the next query may be given now.
            left = [cell for cell in free if cell not in self.tried]
            if left:
                self.answered_ahead = True
                self.waiting.append(left[0])
                self.tried.add(left[0])
                self.answer("shots", ["{} {}".format(*left[0])])

    def answer(self, about: str, values: list[str]) -> None:
        line = "|".join(["", "RESPONSE", about, *values, "END", ""]).encode() + b"\n"
        for piece in (line[:3], line[3:]):
            self.write(piece)


def _cell(text: str) -> Cell:
    x, y = text.split()
    return int(x), int(y)


def main() -> None:
    own, opponent = sys.argv[-2:]
    rng = random.Random(f"{own}:{opponent}")
    out = sys.stdout.buffer

    def write(data: bytes) -> None:
        out.write(data)
        out.flush()

    program = Program(sys.stdin.buffer.readline, write, rng)
    print(f"{own} against {opponent}: {program.play()}", file=sys.stderr)


if __name__ == "__main__":
    main()
