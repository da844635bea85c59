"""A bot of Xterm Boat Sinker for tests: python xbs_client.py HOST:PORT NAME --generation old --games 3

It plays, and compares the server's lines with each other as strictly as clients of its generation do. One JSON line an
event; what a server must not do is a fault, and then the exit code is 1.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import socket
import sys
import time

from sea import Hunter, Report, place

VALUES = {"G": (10, 99), "J": (1, 1), "B": (5, 5), "Y": (1, 1), "S": (2, 99), "N": (1, 1), "H": (3, 3)}
VALUES |= {"E": (1, 1), "L": (1, 2), "M": (2, 3), "K": (1, 2), "F": (3, 3), "R": (5, 5), "P": (1, 1)}
#: What a new client tolerates before the start, with what the text has for players that leave, and after it.
BEFORE, AFTER = "JLBMSG", "BKNMHFR"


class Ended(Exception):
    """The connection has ended."""


class Client:
    """One game on one connection."""

    def __init__(self, given: argparse.Namespace, report: Report, rng: random.Random, fleet_of: dict[str, str]) -> None:
        self.given, self.report, self.rng = given, report, rng
        self.name: str = given.name
        self.fleet_of = fleet_of
        self.players: list[str] = []  # as J said
        self.order: list[str] = []  # as S said
        self.boards: dict[str, str] = {}
        self.scores: dict[str, int] = {}
        self.counted: dict[str, int] = {}  # as H said
        self.back = False
        self.turns: dict[str, int] = {}
        self.turn = ""
        self.mine = 0
        self.finish: list[str] = []
        self.results: list[list[str]] = []
        self.heard: list[str] = []
        host, _, port = given.address.rpartition(":")
        self.socket = socket.create_connection((host, int(port)), timeout=120)
        self.file = self.socket.makefile("r", encoding="utf-8", newline="\n")

    def say(self, *words: object) -> None:
        self.socket.sendall(("|".join(map(str, words)) + "\n").encode())

    def hear(self) -> tuple[str, list[str]]:
        line = self.file.readline()
        if not line:
            raise Ended
        self.heard.append(line)
        if not line.endswith("\n") or len(line.encode()) > 4095:
            self.report.fault("no line", line=line)
        kind, *values = line.rstrip().split("|")
        if kind not in VALUES:
            self.report.fault("an error message", line=line)
            return "?", [line]
        least, most = VALUES[kind]
        if line.count("|") < least or line.count("|") > most:
            self.report.fault("the number of values", line=line)
        values += [""] * (least - len(values))  # empty ones at the end
        allowed = AFTER if self.order else BEFORE + ("" if self.players else "E")
        if (
            self.given.generation == "new"
            and kind not in allowed
            and not (self.back and not self.order and kind == "Y")
        ):
            self.report.fault(f"{kind} ends a new client here", line=line)
        return kind, values

    def play(self) -> bool:
        """Play until the results; return whether there are any."""
        kind, info = self.hear()
        if kind != "G":
            self.report.fault("the server does not begin with G", line=kind)
        self.width, self.height, self.goal = int(info[7]), int(info[8]), int(info[6])
        boats = [(text[0], int(text[1:])) for text in info[10:]]
        if len(boats) != int(info[9]):
            self.report.fault("another number of boats", line="|".join(info))
        if info[2] == "Y":
            self.back = self.name in self.fleet_of
        squares = ["."] * self.width * self.height
        ships = place(self.rng, self.width, self.height, [length for _, length in boats])
        for (letter, _), ship in zip(boats, ships, strict=True):
            for x, y in ship:
                squares[y * self.width + x] = letter
        board = "".join(squares)
        if not self.back:
            self.fleet_of[self.name] = board
        if self.given.leave == "connected":
            return False
        self.request = ("J", self.name, board)
        self.say(*self.request)
        self.hunters: dict[str, Hunter] = {}
        self.joined = False
        while True:
            kind, values = self.hear()
            if self.handle(kind, values):
                return True
            if self.given.leave == "joined" and self.joined:
                self.say("L", "I have to go")
                return False

    def handle(self, kind: str, values: list[str]) -> bool:
        """Hear one message; return whether the game is over."""
        if kind == "J":
            if values[0] in self.players:
                self.report.fault("joined twice", line=values[0])
            self.players.append(values[0])
            if values[0] == self.name and not self.joined:
                self.joined = True
                self.report("joined", back=self.back, board=self.fleet_of[self.name])
                if self.given.chatty:
                    self.say("T", "hit", "ouch")
                    self.say("T", "miss", "ha ha")
                    self.say("M", "", "good luck to all")
                    self.say("P", "are you there") if self.given.generation == "old" else None
        elif kind == "E" and values == ["name in use"]:  # by us, until the server notices that we have gone
            self.report("refused")
            time.sleep(0.3)
            self.say(*self.request)
        elif kind == "E":
            self.report.fault("refused", line=values[0])
        elif kind == "L":
            if values[0] in self.players:
                self.players.remove(values[0])
            self.boards.pop(values[0], None)
        elif kind == "Y":
            if not self.back or values[0].upper().replace("0", ".") != self.fleet_of[self.name]:
                self.report.fault("another board of ours", line=values[0])
        elif kind == "B":
            self.board(*values)
        elif kind == "S":
            self.order = values
            if sorted(values) != sorted(self.players):
                self.report.fault("S lists others than J", line="|".join(values), joined=self.players)
            self.report("started", order=values)
        elif kind == "N":
            self.next(values[0])
        elif kind == "H":
            shooter, target, square = values
            column, row = ord(square[0]) - ord("a"), int(square[1:]) - 1
            known = shooter in self.order and target in self.order and shooter != target
            if not known or not (0 <= column < self.width and 0 <= row < self.height):
                self.report.fault("an impossible hit", line="|".join(values))
            self.counted[shooter] = self.counted.get(shooter, 0) + 1
        elif kind == "F":
            self.finish = values
        elif kind == "R":
            self.results.append(values)
        return bool(self.finish) and len(self.results) == int(self.finish[2]) and self.at_the_end()

    def board(self, name: str, status: str, value: str, score: str, skips: str) -> None:
        if len(value) != self.width * self.height or set(value) - set(".X0"):
            self.report.fault("not a masked board", line=value)
        old = self.boards.get(name, "." * len(value))
        new = [i for i, c in enumerate(value) if c != old[i]]
        if any(old[i] != "." for i in new) or (len(new) > 1 and name in self.boards and not self.back):
            self.report.fault("more than one shot at once, or one taken back", line=f"{name} {old} {value}")
        self.boards[name] = value
        self.scores[name] = int(score)
        hunter = self.hunters.setdefault(name, Hunter(self.rng, self.width, self.height))
        for i in new:
            hunter.learn((i % self.width, i // self.width), value[i] == "X")

    def next(self, name: str) -> None:
        if name not in self.order:
            self.report.fault("the turn of nobody", line=name)
        if self.turn and not self.back:
            expected = self.order[(self.order.index(self.turn) + 1) % len(self.order)]
            if expected != name:
                self.report.fault(f"the turn of {name} and not of {expected}")
        self.turn = name
        if name != self.name:
            return
        if self.mine == self.given.leave_at:
            self.report("leaves")
            self.say("L", "tired")
            raise Ended
        if self.mine == self.given.die_at:
            self.report("dies")
            os.kill(os.getpid(), signal.SIGKILL)
        self.mine += 1
        if self.given.skip_every and self.mine % self.given.skip_every == 0:
            self.say("K", "thinking")
            return
        others = [other for other in self.order if other != self.name and self.hunters[other].untried]
        others = [other for other in others if len(self.hunters[other].hits) < self.goal] or others
        if not others:
            self.say("K", "nothing left")
            return
        if self.given.wrong_shots:
            self.say("S", self.name, 1, 1)
            self.say("S", "nobody", 1, 1)
            self.say("S", others[0], 0, self.height + 1)
        target = max(others, key=lambda other: len(self.hunters[other].hits))
        x, y = self.hunters[target].choose()
        self.say("S", target, x + 1, y + 1)

    def at_the_end(self) -> bool:
        names = [result[0] for result in self.results]
        scores = [int(result[1]) for result in self.results]
        if sorted(names) != sorted(self.order):
            self.report.fault("results of others", line=str(self.results))
        if scores != sorted(scores, reverse=True):
            self.report.fault("not best first", line=str(self.results))
        for name, score in zip(names, scores, strict=True):
            if self.scores[name] != score or (not self.back and self.counted.get(name, 0) != score):
                hits = self.counted.get(name, 0)
                self.report.fault(f"{name} has {score} points, B said {self.scores[name]}, H {hits}")
        turns = {int(result[3]) for result in self.results}
        if self.finish[0] == "finished" and (max(scores) < self.goal or len(turns) != 1):
            self.report.fault("not over", line=str(self.results))
        if self.finish[0] not in ("finished", "aborted"):
            self.report.fault("an unknown state", line=str(self.finish))
        self.report("result", finish=self.finish, results=self.results)
        return True


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("address")
    parser.add_argument("name")
    parser.add_argument("--generation", choices=["old", "new"], default="new")
    parser.add_argument("--games", type=int, default=1)
    parser.add_argument("--seed", default=None)
    parser.add_argument("--chatty", action="store_true", help="set taunts and chat")
    parser.add_argument("--skip-every", type=int, default=0)
    parser.add_argument("--wrong-shots", action="store_true", help="shoot at what a server refuses, before each shot")
    parser.add_argument("--leave", choices=["", "connected", "joined"], default="", help="leave in this state")
    parser.add_argument("--leave-at", type=int, default=-1, help="leave after so many turns of ours")
    parser.add_argument("--die-at", type=int, default=-1, help="die after so many turns of ours")
    parser.add_argument("--board", default="", help="the board of a game that we return to")
    given = parser.parse_args()
    report, rng = Report(), random.Random(given.seed)
    fleets = {given.name: given.board} if given.board else {}
    for _ in range(given.games):
        client = Client(given, report, rng, fleets)
        try:
            client.play()
        except (Ended, OSError) as error:
            if given.leave_at < 0:
                report.fault("the server closed the connection", error=repr(error), after=client.heard[-5:])
        client.file.close()
        client.socket.close()
    return 1 if report.faults else 0


if __name__ == "__main__":
    sys.exit(main())
