"""A referee of Code Smackdown for tests: python smackdown_referee.py ann="COMMAND" bob="COMMAND" --games 3

It starts each COMMAND with its own and its opponent's name, asks player 1 before player 2 and prints one JSON line an
event. What a client must not do is a fault, and then the exit code is 1; `--faulty NAME` expects a player to forfeit.
"""

from __future__ import annotations

import argparse
import queue
import shlex
import subprocess
import sys
import threading
from contextlib import suppress

from sea import Cell, Report


class Forfeit(Exception):
    """A player has lost by what it did."""


class Child:
    """A player's program."""

    def __init__(self, command: str, name: str, opponent: str) -> None:
        self.name = name
        self.process = subprocess.Popen(
            [*shlex.split(command), name, opponent], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self.ships: list[set[Cell]] = []
        self.shots: list[Cell] = []

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put("")

    def send(self, *words: object) -> None:
        assert self.process.stdin is not None
        with suppress(OSError):  # the next answer, or the end, says so
            self.process.stdin.write("|" + "|".join(map(str, words)) + "|END|\n")
            self.process.stdin.flush()

    def answer(self, seconds: float) -> str:
        try:
            line = self.lines.get(timeout=seconds)
        except queue.Empty:
            raise Forfeit("no answer in time") from None
        if not line.endswith("\n"):
            self.lines.put("")  # the end is read once more, at the end
            raise Forfeit("it has ended" if not line else f"a line without an end: {line!r}")
        return line.rstrip()


class Game:
    """One game of two new children."""

    def __init__(self, given: argparse.Namespace, report: Report) -> None:
        self.given, self.report = given, report
        self.width, self.height = given.size
        names = [player.partition("=")[0] for player in given.player]
        self.children = [
            Child(player.partition("=")[2], names[i], names[1 - i]) for i, player in enumerate(given.player)
        ]
        self.rounds = 0

    def play(self) -> None:
        offender, reason = None, "sunk"
        try:
            for child in self.children:
                child.send("INFO", "grid size", f"{self.width} {self.height}")
                child.send("INFO", "num ships", len(self.given.ships))
                child.send("INFO", "ship sizes", *self.given.ships)
            for child in self.children:
                self.locate(child, self.ask(child, "ship locations"))
            while all(self.afloat(child) for child in self.children):
                self.round()
        except Forfeit as forfeit:
            offender, reason = self.asked, str(forfeit)
        self.finish(offender, reason)

    def ask(self, child: Child, *words: object) -> str:
        self.asked = child
        child.send("QUERY", *words)
        return child.answer(self.given.answer_seconds)

    def locate(self, child: Child, line: str) -> None:
        words = line.split("|")
        if words[:3] != ["", "RESPONSE", "ship locations"] or words[-2:] != ["END", ""]:
            raise Forfeit(f"no ship locations: {line}")
        ships = words[3:-2]
        if len(ships) != len(self.given.ships):
            raise Forfeit(f"the number of ships: {line}")
        for text, length in zip(ships, self.given.ships, strict=True):
            x, y, way = text.split(" ") if text.count(" ") == 2 else ("", "", "")
            if not (x.isdecimal() and y.isdecimal()):
                raise Forfeit(f"no ship: {text}")
            if way not in ("H", "V"):
                self.report.fault("neither H nor V", name=child.name, line=line)
            right = way == "H"
            ship = {(int(x) + i * right, int(y) + i * (not right)) for i in range(length)}
            if any(cx >= self.width or cy >= self.height for cx, cy in ship):
                raise Forfeit(f"off the board: {text}")
            if any(ship & other for other in child.ships):
                raise Forfeit(f"one upon the other: {text}")
            child.ships.append(ship)

    def afloat(self, child: Child) -> int:
        other = self.children[1 - self.children.index(child)]
        return sum(not ship <= set(other.shots) for ship in child.ships)

    def round(self) -> None:
        self.rounds += 1
        allowed = [self.afloat(child) for child in self.children]
        salvos: list[list[Cell]] = []
        for child, most in zip(self.children, allowed, strict=True):
            salvos.append(self.salvo(child, self.ask(child, "shots", most), most))
        told: list[list[tuple[str, Cell]]] = []
        for i, salvo in enumerate(salvos):
            fleet = set[Cell]().union(*self.children[1 - i].ships)
            told.append([("hit" if cell in fleet else "miss", cell) for cell in salvo])
            self.children[i].shots += salvo
        for i, child in enumerate(self.children):
            parts = [("you", told[i]), ("opponent", told[1 - i])]
            if i == 1 and self.given.opponent_first:
                parts.reverse()
            for whose, shots in parts:
                for result, (x, y) in shots:
                    child.send("INFO", f"{whose} {result}", f"{x} {y}")

    def salvo(self, child: Child, line: str, most: int) -> list[Cell]:
        words = line.split("|")
        if words[:3] != ["", "RESPONSE", "shots"] or words[-2:] != ["END", ""]:
            raise Forfeit(f"no shots: {line}")
        cells: list[Cell] = []
        for text in words[3:-2]:
            x, _, y = text.partition(" ")
            try:
                cells.append((int(x), int(y)))
            except ValueError:
                raise Forfeit(f"no shot: {text}") from None
        if not 1 <= len(cells) <= most:
            raise Forfeit(f"{len(cells)} shots of {most}")
        for cell in cells:
            if cell in child.shots or cells.count(cell) > 1:
                self.report.fault("the same shot again", name=child.name, line=line)
            if not (0 <= cell[0] < self.width and 0 <= cell[1] < self.height):
                self.report.fault("a shot off the board", name=child.name, line=line)
        return cells

    def finish(self, offender: Child | None, reason: str) -> None:
        losers = [offender] if offender else [child for child in self.children if not self.afloat(child)]
        for child in self.children:
            if len(losers) == 2:
                child.send("INFO", "tie game")
            else:
                child.send("INFO", "lost game" if child in losers else "won game")
            child.send("INFO", "end game")
        if offender is not None and offender.name != self.given.faulty:
            self.report.fault(reason, name=offender.name)
        for child in self.children:
            self.wait_for(child, forgiven=child is offender)
        winner = next(child.name for child in self.children if child not in losers) if len(losers) == 1 else None
        self.report("result", winner=winner, rounds=self.rounds, reason=reason)

    def wait_for(self, child: Child, *, forgiven: bool) -> None:
        """A program ends by itself after `end game`, and says nothing more."""
        if forgiven:
            child.process.kill()
        try:
            code = child.process.wait(60)
        except subprocess.TimeoutExpired:
            child.process.kill()
            code = child.process.wait()
        said = child.lines.get(timeout=60)
        if not forgiven and (code != 0 or said):
            self.report.fault(f"after the end it said {said!r} and ended with {code}", name=child.name)
        assert child.process.stdin is not None
        with suppress(OSError):
            child.process.stdin.close()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("player", nargs=2, help="NAME=COMMAND")
    parser.add_argument("--games", type=int, default=1)
    parser.add_argument("--size", type=int, nargs=2, default=[10, 10])
    parser.add_argument("--ships", type=int, nargs="+", default=[2, 3, 3, 4, 5])
    parser.add_argument("--answer-seconds", type=float, default=10.0)
    parser.add_argument("--opponent-first", action="store_true", help="show player 2 the opponent's shots first")
    parser.add_argument("--faulty", default="", help="the name of a player that forfeits on purpose")
    given = parser.parse_args()
    report = Report()
    for _ in range(given.games):
        Game(given, report).play()
    return 1 if report.faults else 0


if __name__ == "__main__":
    sys.exit(main())
