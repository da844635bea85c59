"""What the judge's server does with a client's commands: what a right server would, unless a scenario wants less."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, Protocol

from salvo.wire import topics
from salvo_audit.check import keys
from salvo_audit.check.commands import JudgedCommand
from salvo_audit.check.own_broker import ReceivedPublication
from salvo_audit.check.table import Cell, StagedTable, cells_of

#: More are a flood, which is not answered any more.
MOST_REFUSED: Final = 1000
_CONTEXT: Final = ("g", "t", "n", "to")


class Judge(Protocol):
    """Notes whether a case went well, and returns it."""

    def __call__(
        self, case: str, fine: bool, seen: str, *, expected: str = "", publication: ReceivedPublication | None = None
    ) -> bool:
        """See :meth:`salvo_audit.check.stage.Stage.judge`."""
        ...


class ServerAnswers:
    """The server's side of a scenario; every method changes this object or the table.

    Attributes:
        lenient: whether shots that come when they must not are expected: the judge has provoked them.
        takes_requests: whether a request lists the team.
        places: whether right placements are approved.
        counts: whether the client's shots count.
        refuses: returns the code with which a command is refused in any case; empty for none.
        refused: messages that were refused.
        faulty_ships: placements of ships that were wrong.
        salts: of the keys that the client has used.
    """

    def __init__(self, table: StagedTable, judge: Judge, team: str, secret: str) -> None:
        self.table = table
        self.team = team
        self.lenient = False
        self.takes_requests = True
        self.places = True
        self.counts = True
        self.refuses: Callable[[JudgedCommand], str] = lambda command: ""
        self.refused = 0
        self.faulty_ships = 0
        self.salts: list[bytes] = []
        self._judge = judge
        self._secret = secret

    def answer(self, command: JudgedCommand) -> None:
        """Do what a server does."""
        code = self.refuses(command)
        if code:
            self._refuse(command, code)
        elif command.kind == topics.REQUEST_PARTICIPATION.name:
            self._take_request(command)
        elif command.kind == topics.PLACE.name:
            self._take_placement(command)
        elif command.kind == topics.FIRE.name:
            self._take_shot(command)
        elif command.kind == topics.SKIP.name:
            self._take_skip(command)
        elif command.kind == topics.LEAVE.name and command.body is not None and self.table.phase == "lobby":
            self.table.drop_player(self.team)

    def _refuse(self, command: JudgedCommand, code: str) -> None:
        self.refused += 1
        self._judge("turn/no-flood", self.refused < MOST_REFUSED, f"{self.refused} refused messages")
        if self.refused >= MOST_REFUSED:
            return
        player = self.table.player(self.team)
        if command.kind == topics.PLACE.name and player is not None:
            self.table.refuse_ship(player, command.ship, code, retain=command.ship not in player.ships)
        else:
            self.table.error(self.team, code)

    def _take_request(self, command: JudgedCommand) -> None:
        body = command.body
        if body is None or body["name"] != self.team:
            return
        if self.table.player(self.team) is not None:
            self.send_recap()
        elif self.table.phase != "lobby":
            self._refuse(command, "wrong_state")
        elif self.takes_requests:
            self.table.list_player(self.team)

    def send_recap(self, **changes: Any) -> None:
        """Send the client its recap, with other fields."""
        self.send_sealed(self.table.recap(self.team) | changes)

    def send_sealed(self, value: object) -> None:
        """Send the client something under the key of what the server says to its team."""
        salt = self.salts[0] if self.salts else bytes(range(16))
        key = keys.key_to_team(keys.key_of(self._secret.encode(), salt))
        self.table.say(f"/players/{self.team}/recap", keys.seal(value, key, salt), retain=False)

    def _take_placement(self, command: JudgedCommand) -> None:
        player, body, ship = self.table.player(self.team), command.body, command.ship
        fleet = self.table.rules["fleet"]
        plain = _plain(ship)
        known = {_plain(name): name for name in fleet}
        seen, expected = repr(ship), f"a ship of {', '.join(fleet)}"
        if not self._judge(
            "place/known-ship", plain in known, seen, expected=expected, publication=command.publication
        ):
            return
        if player is None or body is None or self.table.phase != "lobby":
            if player is None:
                self._refuse(command, "unknown_player")
            elif self.table.phase != "lobby":
                self._refuse(command, "wrong_state")
            return
        name = known[plain]
        if len(player.ships) == len(fleet):
            self._refuse(command, "fleet_final")
            return
        code = self._fault_of_ship(player.ships, name, command)
        if code:
            self.faulty_ships += 1
            self._refuse(command, code)
        elif self.places:
            self.table.place(player, name, body["coordinates"], body["Orientation"])

    def take_up_placements(self, commands: Iterable[JudgedCommand]) -> None:
        """Answer placements that have waited at the broker while the server was away."""
        for command in commands:
            player = self.table.player(self.team)
            if player is not None and command.ship not in player.ships:
                self._take_placement(command)

    def _fault_of_ship(self, ships: dict[str, list[Cell]], name: str, command: JudgedCommand) -> str:
        body = command.body
        assert body is not None
        rules = self.table.rules
        x, y = (int(part) for part in body["coordinates"].split(";"))
        cells = cells_of(x, y, body["Orientation"], rules["fleet"][name])
        placement = f"{name} of {rules['fleet'][name]} cells at {x};{y}, {body['Orientation']}"
        fits = all(1 <= each[0] <= rules["width"] and 1 <= each[1] <= rules["height"] for each in cells)
        if not self._judge("place/on-grid", fits, placement, publication=command.publication):
            return "off_grid"
        others = [(other, each) for other, taken in ships.items() if other != name for each in taken]
        struck = [other for other, each in others if each in cells]
        seen = f"{placement}, across {struck[0]}" if struck else ""
        if not self._judge("place/no-overlap", not struck, seen, publication=command.publication):
            return "overlap"
        return ""

    def _take_shot(self, command: JudgedCommand) -> None:
        table, body = self.table, command.body
        if body is None:
            return
        cell, target = (body["x"], body["y"]), command.player
        if not self._check_context(command, cell):
            return
        mine = table.current == self.team and table.phase == "turn"
        if not mine or len(table.fired) >= table.wanted:
            self._take_surplus(command, mine)
            return
        on_grid = 1 <= cell[0] <= table.rules["width"] and 1 <= cell[1] <= table.rules["height"]
        expected = f"x from 1 to {table.rules['width']}, y from 1 to {table.rules['height']}"
        self._judge(
            "turn/on-grid", on_grid, f"x {cell[0]}, y {cell[1]}", expected=expected, publication=command.publication
        )
        struck = table.player(target)
        expected = f"a name of the list: {', '.join(table.names[:9])}"
        self._judge(
            "turn/target-listed", struck is not None, repr(target), expected=expected, publication=command.publication
        )
        self._judge("turn/not-itself", target != self.team, "a shot at its own board", publication=command.publication)
        out = struck is not None and struck.out
        self._judge("turn/not-the-defeated", not out, f"a shot at {target}", publication=command.publication)
        if not on_grid:
            self._refuse(command, "off_grid")
        elif struck is None:
            self._refuse(command, "unknown_target")
        elif self.counts:
            table.land(target, cell)

    def _check_context(self, command: JudgedCommand, cell: Cell) -> bool:
        """Judge game, turn, number and target, if they are there; return whether the shot goes on."""
        body, table = command.body or {}, self.table
        given = {name: body[name] for name in _CONTEXT if name in body}
        if not given:
            return True
        mine = table.current == self.team
        ended = any(
            salvo.player == self.team and (command.player, cell) in salvo.shots and salvo.turn == given.get("t")
            for salvo in table.salvos
        )
        if len(given) == len(_CONTEXT) and given["g"] == table.game and ended:
            return False  # a repetition, which is not answered, also between two turns (SALVO-FIRE-13)
        known = (
            (command.player, cell) in table.fired
            and 1 <= given.get("n", 0) <= len(table.fired)
            and table.fired[given["n"] - 1] == (command.player, cell)
        )
        if known and mine:
            return False  # a repetition
        wanted = {"g": table.game, "t": table.turn, "n": len(table.fired) + 1, "to": command.player}
        if mine and self.counts and not self.lenient:
            expected = ", ".join(f"{name} {value}" for name, value in wanted.items())
            seen = ", ".join(f"{name} {value}" for name, value in given.items())
            if (
                not self._judge(
                    "turn/context-right", given == wanted, seen, expected=expected, publication=command.publication
                )
                and len(table.fired) < table.wanted
            ):
                self._refuse(command, "stale_context")
                return False
        return True

    def _take_surplus(self, command: JudgedCommand, mine: bool) -> None:
        table = self.table
        if table.phase == "over":
            if not self.lenient:
                self._judge("end/no-shot-after-over", False, "a shot", publication=command.publication)
            return
        if not self.lenient:
            if mine:
                seen, expected = f"shot {len(table.fired) + 1} or later", f"{table.wanted} shots"
                self._judge("turn/count", False, seen, expected=expected, publication=command.publication)
            else:
                whose = f"in the turn of {table.current}" if table.current else "when it is nobody's turn"
                self._judge("turn/silent-otherwise", False, f"a shot {whose}", publication=command.publication)
        self._refuse(command, "too_many_shots" if mine else "not_your_turn")

    def _take_skip(self, command: JudgedCommand) -> None:
        table, body = self.table, command.body
        if body is None or table.current != self.team:
            return
        fine = not body or body == {"g": table.game, "t": table.turn}
        self._judge("turn/skip-context", fine, str(body), publication=command.publication)
        if fine:
            table.wanted = len(table.fired)


def _plain(ship: str) -> str:
    """Return a ship's name without what clients spell differently."""
    return "".join(letter for letter in ship.lower() if letter not in "-_ ")
