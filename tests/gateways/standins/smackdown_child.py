"""A program of Code Smackdown for tests: python smackdown_child.py OWN OPPONENT, on standard streams.

It plays one game and compares all lines with what a referee may say. Events, one JSON line each, go to the file of
--report. With --wrong it does something wrong in round --round (0: the placement).
"""

from __future__ import annotations

import argparse
import os
import random
import re
import signal
import sys

from sea import Cell, Hunter, Report, place

WRONG = {"overlap": "|RESPONSE|ship locations|0 0 H|0 0 H|0 0 H|0 0 H|0 0 H|END|", "garbage": "hello", "none": ""}


class Child:
    """One game."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given = given
        self.report = Report(given.report)
        self.rng = random.Random(given.seed)
        self.state: list[str] = []  # the lines so far, without their values
        self.sizes: list[int] = []
        self.rounds = 0
        self.shots: list[Cell] = []  # those without a result
        self.left: set[Cell] = set()  # of the own ships
        self.hit = 0
        self.result = ""

    def answer(self, *words: object) -> None:
        wrong = self.given.wrong if self.rounds == self.given.round else ""
        if wrong == "exit":
            sys.exit(3)
        if wrong == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if wrong == "silence":
            return
        if wrong == "many":
            words = (*words, "9 9", "9 8", "9 7", "9 6", "9 5", "9 4")
        line = WRONG.get(wrong, "|" + "|".join(map(str, ["RESPONSE", *words, "END"])) + "|")
        print(line, flush=True)

    def run(self) -> int:
        for line in sys.stdin:
            words = line.rstrip().split("|")
            if words[0] != "" or words[-2:] != ["END", ""] or len(words) < 5:
                self.report.fault("not a message", line=line)
                continue
            self.handle(words[1], words[2], words[3:-2], line)
            if self.state[-1:] == ["end game"]:
                break
        else:
            self.report.fault("the referee ended in mid-game", state=self.state[-3:])
        self.report("result", name=self.given.own, result=self.result, rounds=self.rounds)
        return 1 if self.report.faults else 0

    def handle(self, kind: str, what: str, values: list[str], line: str) -> None:
        state, self.state = self.state, [*self.state, what]
        if kind == "INFO" and what == "grid size" and not state:
            self.width, self.height = map(int, values[0].split())
            self.hunter = Hunter(self.rng, self.width, self.height)
        elif kind == "INFO" and what == "num ships" and state == ["grid size"]:
            self.ships = int(values[0])
        elif kind == "INFO" and what == "ship sizes" and state == ["grid size", "num ships"]:
            self.sizes = list(map(int, values))
            if len(values) != self.ships:
                self.report.fault("another number of ships", line=line)
        elif kind == "QUERY" and what == "ship locations" and state[-1:] == ["ship sizes"] and not values:
            fleet = place(self.rng, self.width, self.height, self.sizes)
            self.left = {cell for ship in fleet for cell in ship}
            ways = ["V" if ship[0][0] == ship[-1][0] else "H" for ship in fleet]
            self.answer(what, *(f"{ship[0][0]} {ship[0][1]} {way}" for ship, way in zip(fleet, ways, strict=True)))
        elif kind == "QUERY" and what == "shots" and self.left and self.sizes and len(values) == 1:
            self.query(int(values[0]), line)
        elif kind == "INFO" and re.fullmatch("(you|opponent) (hit|miss)", what) and self.rounds and len(values) == 1:
            x, y = map(int, values[0].split(" "))
            if what.startswith("you"):
                if (x, y) not in self.shots:
                    self.report.fault("a result of no shot", line=line)
                else:
                    self.shots.remove((x, y))
                self.hunter.learn((x, y), what == "you hit")
                self.hit += what == "you hit"
            else:
                self.left.discard((x, y))
        elif kind == "INFO" and what in ("won game", "lost game", "tie game") and not values and not self.result:
            self.result = what
            true = "tie game" if not self.left and self.hit == sum(self.sizes) else ""
            true = true or ("lost game" if not self.left else "won game" if self.hit == sum(self.sizes) else "")
            if self.sizes and true != what and not self.given.forfeits:
                self.report.fault(f"{what} where it was {true or 'not over'}", line=line)
        elif not (kind == "INFO" and what == "end game" and self.result and not values):
            self.report.fault("out of place", line=line, state=state[-3:])

    def query(self, most: int, line: str) -> None:
        if self.shots:
            self.report.fault("a query before all results", line=line)
        if not 1 <= most <= self.ships:
            self.report.fault("a query for too many or too few", line=line)
        self.rounds += 1
        self.report("round", name=self.given.own, number=self.rounds)
        self.shots = []
        for _ in range(min(most, len(self.hunter.untried))):
            self.shots.append(self.hunter.choose())
            self.hunter.exclude(self.shots[-1:])
        self.answer("shots", *(f"{x} {y}" for x, y in self.shots))


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("own")
    parser.add_argument("opponent")
    parser.add_argument("--report", default=os.devnull)
    parser.add_argument("--seed", default=None)
    parser.add_argument(
        "--wrong", default="", choices=["", "overlap", "garbage", "none", "many", "silence", "exit", "kill"]
    )
    parser.add_argument("--round", type=int, default=-1)
    parser.add_argument("--forfeits", action="store_true", help="somebody may forfeit, so results need no sunk fleet")
    return Child(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
