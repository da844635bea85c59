"""A server of Xterm Boat Sinker for tests: python xbs_server.py PORT --players 2 --order older --games 3

It starts a game as soon as the players are complete, referees it by itself and prints one JSON line an event. What a
client must not do is a fault, and then the exit code is 1.
"""

from __future__ import annotations

import argparse
import random
import selectors
import socket
import sys

from sea import Report

BOATS = [("A", 5), ("B", 4), ("C", 3), ("D", 3), ("E", 2)]
MOST_BYTES = 4095


class Line:
    """A client's connection."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self.player: Player | None = None
        self.buffer = b""
        self.open = True

    def send(self, *values: object) -> None:
        if self.open:
            try:
                self.socket.sendall("|".join(map(str, values)).encode() + b"\n")
            except OSError:
                self.open = False


class Player:
    """Somebody in the game, connected or not."""

    def __init__(self, name: str, board: str, line: Line) -> None:
        self.name = name
        self.board = list(board)
        self.line: Line | None = line
        self.status = ""
        self.score = self.skips = self.turns = 0
        self.taunts: dict[str, list[str]] = {"hit": [], "miss": []}

    def masked(self) -> str:
        return "".join("X" if c.islower() else "0" if c == "0" else "." for c in self.board)

    def send(self, *values: object) -> None:
        if self.line is not None:
            self.line.send(*values)


class Server:
    """Games one after the other, on one port."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given = given
        self.report = Report()
        self.rng = random.Random(given.seed)
        self.width, self.height = given.width, given.height
        self.goal = sum(length for _, length in BOATS)
        self.selector = selectors.DefaultSelector()
        self.listener = socket.create_server(("127.0.0.1", given.port))
        self.selector.register(self.listener, selectors.EVENT_READ)
        self.lines: list[Line] = []
        self.games = 0
        self.open_lobby()
        self.report("listening", port=self.listener.getsockname()[1])

    def open_lobby(self) -> None:
        self.players: dict[str, Player] = {}
        self.order: list[Player] = []
        self.started = self.held = False
        self.been_away = False
        self.at = self.total = 0
        self.kept: list[tuple[Line, str]] = []

    def run(self) -> int:
        while self.games < self.given.games:
            for key, _ in self.selector.select():
                if key.data is None:
                    connection, _ = self.listener.accept()
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    line = Line(connection)
                    self.lines.append(line)
                    self.selector.register(connection, selectors.EVENT_READ, line)
                    line.send(*self.info())
                elif key.data.open:
                    self.read(key.data)
            for line in [line for line in self.lines if not line.open]:
                self.drop(line)
        for line in list(self.lines):
            self.drop(line)
        return 1 if self.report.faults else 0

    def read(self, line: Line) -> None:
        try:
            chunk = line.socket.recv(65536)
        except OSError:
            chunk = b""
        line.buffer += chunk
        if not chunk:
            line.open = False
            if line.buffer:
                self.fault(line, "a line without an end", said=repr(line.buffer))
        while b"\n" in line.buffer and line.open:
            raw, line.buffer = line.buffer.split(b"\n", 1)
            if len(raw) > MOST_BYTES:
                self.fault(line, "too long a line")
            try:
                text = raw.decode().rstrip()
            except UnicodeDecodeError:
                self.fault(line, "not UTF-8", said=repr(raw))
                continue
            if self.held and text.startswith(("S|", "K")):
                self.kept.append((line, text))
            else:
                self.handle(line, text)

    def drop(self, line: Line) -> None:
        """Close a connection; its player's place stays if there is a game."""
        line.open = False
        if line not in self.lines:
            return
        self.lines.remove(line)
        self.selector.unregister(line.socket)
        line.socket.close()
        self.kept = [kept for kept in self.kept if kept[0] is not line]
        player, line.player = line.player, None
        if player is None or self.players.get(player.name) is not player:
            return
        self.report("gone", name=player.name)
        player.line, player.status = None, "disconnected"
        if not self.started:
            del self.players[player.name]
            self.to_all("L", player.name, "disconnected")
            return
        self.been_away = True
        self.to_all(*self.board_of(player))
        if self.given.skip_gone and self.order[self.at] is player:
            self.operator_skips()

    def fault(self, line: Line, text: str, **details: str) -> None:
        self.report.fault(text, name=line.player.name if line.player else None, **details)

    def to_all(self, *values: object, but: Player | None = None) -> None:
        for player in list(self.players.values()):
            if player is not but:
                player.send(*values)

    def info(self) -> list[object]:
        version = "1.1" if self.given.order == "older" else "2.0.7"
        least = most = self.given.players
        counts = [least, most, len(self.players), self.goal, self.width, self.height, len(BOATS)]
        boats = [f"{letter}{length}" for letter, length in BOATS]
        return ["G", version, "Stand-in", "Y" if self.started else "N", *counts, *boats]

    def board_of(self, player: Player) -> list[object]:
        return ["B", player.name, player.status, player.masked(), player.score, player.skips]

    # What clients say.

    def handle(self, line: Line, text: str) -> None:
        kind, *values = text.split("|")
        player = line.player
        if kind == "G" and not values:
            line.send(*self.info())
        elif kind == "P" and len(values) == 1:
            line.send("P", *values)
        elif kind == "J" and len(values) == 2 and player is None:
            self.join(line, *values)
        elif kind == "L" and len(values) <= 1:
            self.report("leaves", name=player.name if player else None)
            line.open = False
        elif kind == "S" and len(values) == 3 and player:
            self.shoot(player, *values)
        elif kind == "K" and len(values) <= 1 and player:
            if self.started and self.order[self.at] is player:
                player.skips += 1
                self.report("skips", name=player.name)
                self.turn_over(player)
        elif kind == "M" and len(values) == 2 and player:
            self.chat(player, *values)
        elif kind == "T" and len(values) == 2 and player and values[0] in player.taunts:
            player.taunts[values[0]] = [*player.taunts[values[0]], values[1]] if values[1] else []
        else:
            self.fault(line, "protocol error", said=text)
            line.send("protocol error")
            line.open = False

    def chat(self, player: Player, to: str, text: str) -> None:
        if not text:
            return
        if not to:
            self.to_all("M", player.name, text, "All", but=player)
        elif to in self.players and to != player.name:
            self.players[to].send("M", player.name, text)

    def join(self, line: Line, name: str, board: str) -> None:
        if self.started:
            self.rejoin(line, name)
        elif len(self.players) == self.given.players:
            line.send("game is full")
            line.open = False
        elif self.given.refuse_first > 0:
            self.given.refuse_first -= 1
            line.send("E", "name in use")
        elif refusal := self.bad_name(name):
            line.send("E", refusal)
        elif not self.is_board(board):
            self.fault(line, "invalid board", said=board)
            line.send("invalid board")
            line.open = False
        else:
            player = line.player = Player(name, board, line)
            others = list(self.players.values())
            if self.given.order == "older":
                line.send("J", name)
            for other in others:
                other.send("J", name)
                line.send("J", other.name)
            if self.given.order == "newer":
                line.send("J", name)
            self.players[name] = player
            self.report("joined", name=name)
            line.send("M", "", f"Welcome, {name}!")
            if len(self.players) == self.given.players:
                self.start()

    def bad_name(self, name: str) -> str:
        if len(name) < 2 or not (name[0].isascii() and name[0].isalpha()) or set(name) & set("<>[]{}()"):
            return "invalid name"
        if name.lower() in ("server", "all", "you", "me"):
            return "invalid name"
        if len(name.encode()) > self.width:
            return "name too long"
        return "name in use" if name in self.players else ""

    def is_board(self, board: str) -> bool:
        if len(board) != self.width * self.height:
            return False
        left = board
        for letter, length in BOATS:
            at = [i for i, c in enumerate(board) if c == letter]
            across = list(range(at[0], at[0] + length)) if at else []
            down = list(range(at[0], at[0] + length * self.width, self.width)) if at else []
            if at != down and (at != across or at[0] // self.width != at[-1] // self.width):
                return False
            left = left.replace(letter, ".")
        return set(left) == {"."}

    def rejoin(self, line: Line, name: str) -> None:
        player = self.players.get(name)
        if player is None:
            self.report("turned away", name=name)
            line.send("game is already started")
            line.open = False
            return
        if player.line is not None:
            line.send("E", "name in use")
            return
        line.player, player.line, player.status = player, line, ""
        line.send("J", name)
        line.send("Y", "".join(player.board))
        for other in self.order:
            if other is not player:
                line.send("J", other.name)
                line.send(*self.board_of(other))
        line.send("S", *(other.name for other in self.order))
        line.send("N", self.order[self.at].name)
        self.to_all(*self.board_of(player))
        self.to_all("M", "", f"{name} reconnected")
        self.report("back", name=name)
        if self.held and all(other.line for other in self.order):
            self.held = False
            kept, self.kept = self.kept, []
            for its_line, text in kept:
                self.handle(its_line, text)

    # The game.

    def start(self) -> None:
        self.started = True
        self.order = list(self.players.values())
        self.rng.shuffle(self.order)
        self.report("started", order=[player.name for player in self.order])
        for player in self.order:
            self.to_all(*self.board_of(player))
        self.to_all("S", *(player.name for player in self.order))
        self.to_all("N", self.order[0].name)

    def shoot(self, player: Player, target_name: str, x: str, y: str) -> None:
        target = self.players.get(target_name)
        on_board = x.isdecimal() and y.isdecimal() and 1 <= int(x) <= self.width and 1 <= int(y) <= self.height
        at = (int(y) - 1) * self.width + int(x) - 1 if on_board else 0
        refusal = (
            "game hasn't started"
            if not self.started
            else "it is not your turn!"
            if self.order[self.at] is not player
            else "invalid target player name"
            if target is None
            else "you can't shoot at yourself"
            if target is player
            else "illegal coordinates"
            if not on_board
            else "that spot has already been shot"
            if target.board[at] == "0" or target.board[at].islower()
            else ""
        )
        if refusal or target is None:
            self.report.fault(refusal, name=player.name, line=f"S|{target_name}|{x}|{y}")
            player.send("M", "", refusal)
            return
        hit = target.board[at] != "."
        target.board[at] = target.board[at].lower() if hit else "0"
        player.score += hit
        words = ["H", player.name, target.name, f"{chr(ord('a') + int(x) - 1)}{y}"]
        taunts = target.taunts["hit" if hit else "miss"]
        if self.given.order == "older":
            self.to_all(*self.board_of(target))
            self.turn_over(player, hit=words if hit else [])
        else:
            if hit:
                self.to_all(*words)
            self.to_all(*self.board_of(player))
            self.to_all(*self.board_of(target))
        if taunts:
            player.send("M", target.name, self.rng.choice(taunts))
        if self.given.order == "newer":
            self.turn_over(player)

    def turn_over(self, player: Player, hit: list[str] | None = None) -> None:
        """Give the next player the turn, or end the game; ``hit`` is what the older order says after that."""
        player.turns += 1
        self.total += 1
        equal = len({other.turns for other in self.order}) == 1
        if equal and any(other.score >= self.goal for other in self.order):
            if hit:
                self.to_all(*hit)
            self.finish("finished")
            return
        self.at = (self.at + 1) % len(self.order)
        turn = self.order[self.at]
        self.to_all("N", turn.name)
        if hit:
            self.to_all(*hit)
        if self.total == self.given.hold:
            self.held, self.been_away = True, False
            self.report("held", turn=turn.name)
        elif self.total in self.given.cut and turn.line is not None:
            self.report("cut", name=turn.name)
            turn.line.open = False
        elif self.total == self.given.abort:
            self.finish("aborted")
        elif turn.line is None and self.given.skip_gone:
            self.operator_skips()

    def operator_skips(self) -> None:
        player = self.order[self.at]
        if any(other.line for other in self.order):
            player.skips += 1
            self.to_all("K", player.name, "not here")
            self.turn_over(player)

    def finish(self, state: str) -> None:
        ranked = sorted(self.order, key=lambda player: -player.score)
        self.to_all("F", state, max(player.turns for player in ranked), len(ranked))
        for player in ranked:
            self.to_all("R", player.name, player.score, player.skips, player.turns, player.status)
        self.report(
            "result",
            state=state,
            players=[{"name": p.name, "score": p.score, "skips": p.skips, "turns": p.turns} for p in ranked],
        )
        self.games += 1
        players = self.order
        self.open_lobby()
        for player in players:
            if player.line is not None:
                player.line.player = None
                player.line.open = self.given.after == "open"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("--players", type=int, default=2)
    parser.add_argument("--order", choices=["older", "newer"], default="newer")
    parser.add_argument("--games", type=int, default=1)
    parser.add_argument("--seed", default=None)
    parser.add_argument("--width", type=int, default=10)
    parser.add_argument("--height", type=int, default=10)
    parser.add_argument("--after", choices=["close", "open"], default="close", help="connections after a game")
    parser.add_argument("--hold", type=int, default=-1, help="wait after so many turns until somebody went and came")
    parser.add_argument("--cut", type=int, nargs="*", default=[], help="cut off the player of these turns")
    parser.add_argument("--abort", type=int, default=-1, help="abort the game after so many turns")
    parser.add_argument("--skip-gone", action="store_true", help="skip players who are not here")
    parser.add_argument("--refuse-first", type=int, default=0, help="refuse so many names as in use")
    return Server(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
