"""The judge as a server: it runs one table, and plays the rivals.

A scenario calls its methods one by one, so that each announcement comes when the scenario wants it. What is announced
goes through :attr:`Table.publish`, where a scenario may change, repeat or lose it. It shares no code with the server.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

#: x and y, from 1.
Cell = tuple[int, int]

SALVO_RULES: Final[Mapping[str, Any]] = {
    "rules": "salvo",
    "width": 10,
    "height": 10,
    "first": 1,
    "fleet": {"carrier": 5, "battleship": 4, "destroyer": 3, "submarine": 3, "patrolboat": 2},
    "spacing": "touch",
    "shots": "afloat",
    "order": "rotation",
    "announce": "count",
    "ending": "last_afloat",
    "starter": "random",
    "placement_seconds": 60,
    "turn_seconds": 30,
    "over_seconds": 300,
    "empty_turns": 3,
    "table": "",
}
#: The protocol's version that the judge speaks.
VERSION: Final = {"major": 1, "minor": 0}


@dataclass
class StagedPlayer:
    """One who is listed.

    Attributes:
        ships: cells by ship.
        placements: coordinates and orientation by ship, as they were placed.
        struck: cells that were shot at, in order.
    """

    name: str
    ships: dict[str, list[Cell]] = field(default_factory=dict)
    placements: dict[str, tuple[str, str]] = field(default_factory=dict)
    struck: list[Cell] = field(default_factory=list)
    sunk: list[str] = field(default_factory=list)
    out: bool = False
    turns: int = 0
    shots: int = 0
    hits: int = 0
    sank: int = 0

    @property
    def afloat(self) -> int:
        """Ships that have not sunk."""
        return len(self.ships) - len(self.sunk)


@dataclass
class StagedSalvo:
    """A turn: who fired what, and what came of it."""

    turn: int
    player: str
    shots: list[tuple[str, Cell]]
    hits: int = 0
    sunk: list[tuple[str, str]] = field(default_factory=list)
    defeated: list[str] = field(default_factory=list)


class StagedTable:
    """A table of the judge.

    Attributes:
        publish: takes topic below the table's prefix, payload and whether it is retained.
        phase: ``lobby``, ``turn`` or ``over``.
        players: in order of arrival, then in play order.
        current: whose turn it is; empty between turns.
        wanted: the shots of this turn.
        fired: the client's shots that count in this turn.
    """

    def __init__(self, publish: Callable[[str, bytes, bool], None]) -> None:
        self.publish = publish
        self.rules = dict(SALVO_RULES)
        self.server: dict[str, Any] = {
            "status": "online",
            "version": "1.0",
            "game": 1,
            "profile": "open",
            "protocol": VERSION,
        }
        self.game = 1
        self.phase = "lobby"
        self.players: list[StagedPlayer] = []
        self.turn = 0
        self.current = ""
        self.wanted = 0
        self.fired: list[tuple[str, Cell]] = []
        self.salvos: list[StagedSalvo] = []
        self._retained: dict[str, None] = {}

    def player(self, name: str) -> StagedPlayer | None:
        """Return a listed player."""
        return next((each for each in self.players if each.name == name), None)

    @property
    def names(self) -> list[str]:
        """The listed names."""
        return [player.name for player in self.players]

    def say(self, topic: str, value: object, *, retain: bool = True) -> None:
        """Announce a text as it is, and anything else as JSON."""
        payload = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
        if retain and topic not in ("/game/state", "/game/rules", "/game/server"):
            self._retained[topic] = None
        self.publish(topic, payload.encode(), retain)

    # --- the lobby --------------------------------------------------------------------------------------------------

    def open(self) -> None:
        """Announce the table as it is when a server begins."""
        self.say("/game/rules", self.rules)
        self.publish_server()
        self._publish_players()
        self.say("/game/state", self.phase)

    def publish_server(self, **changes: Any) -> None:
        """Announce the server, with other fields."""
        self.server |= changes
        self.say("/game/server", self.server)

    def list_player(self, name: str) -> StagedPlayer:
        """List a player, as the last one."""
        player = StagedPlayer(name)
        self.players.append(player)
        self._publish_players()
        return player

    def drop_player(self, name: str) -> None:
        """Take a player from the list."""
        self.players = [player for player in self.players if player.name != name]
        self._publish_players()

    def add_rival(self, name: str) -> StagedPlayer:
        """List a rival with its fleet, which stands in every second column."""
        player = self.list_player(name)
        width, height = self.rules["width"], self.rules["height"]
        for number, (ship, length) in enumerate(self.rules["fleet"].items()):
            x, y = 1 + 2 * number % width, 1 + 6 * (2 * number // width)
            cells = [(x, y + each) for each in range(min(length, height - y + 1))]
            player.ships[ship] = cells
            player.placements[ship] = (f"{x};{y}", "VERTICAL")
            self.say(f"/players/{name}/ships/{ship}/approved", "true")
        return player

    def _publish_players(self) -> None:
        self.say("/players/count", len(self.players))
        self.say("/players/list", self.names)

    def place(self, player: StagedPlayer, ship: str, coordinates: str, orientation: str) -> None:
        """Take a ship that was judged and approve it."""
        self.assign(player, ship, coordinates, orientation)
        self.say(f"/players/{player.name}/ships/{ship}/approved", "true")

    def assign(self, player: StagedPlayer, ship: str, coordinates: str, orientation: str) -> None:
        """Give a player a ship without a word."""
        x, y = (int(part) for part in coordinates.split(";"))
        player.ships[ship] = cells_of(x, y, orientation, self.rules["fleet"][ship])
        player.placements[ship] = (coordinates, orientation)

    def refuse_ship(self, player: StagedPlayer, ship: str, code: str, *, retain: bool = True) -> None:
        """Refuse a ship."""
        self.say(f"/players/{player.name}/ships/{ship}/approved", "false", retain=retain)
        self.say(f"/players/{player.name}/ships/{ship}/error", f"{code}: not there", retain=False)

    def error(self, name: str, code: str, text: str = "said by the judge") -> None:
        """Send an error to a player alone."""
        self.say(f"/players/{name}/error", f"{code}: {text}", retain=False)

    # --- turns ------------------------------------------------------------------------------------------------------

    def begin(self, *order: str) -> None:
        """Begin the game, without its first turn."""
        self.players.sort(key=lambda each: order.index(each.name) if each.name in order else len(order))
        self.phase = "turn"
        if order:
            self._publish_players()
        self.say("/game/state", "turn")

    def give_turn(self, name: str, *, publish_turn: bool = True) -> None:
        """Begin a player's turn."""
        player = self.player(name)
        assert player is not None
        self.turn += 1
        self.wanted = player.afloat
        self.current, self.fired = name, []
        if publish_turn:
            self.publish_turn()
        self.say("/game/current", name)

    def publish_turn(self) -> None:
        """Announce the turn as it is, with its time from now on."""
        now = int(time.time() * 1000)
        deadline = now + 1000 * self.rules["turn_seconds"]
        self.say(
            "/game/turn",
            {
                "game": self.game,
                "turn": self.turn,
                "player": self.current,
                "shots": self.wanted,
                "now": now,
                "deadline": deadline,
            },
        )

    def land(self, target: str, cell: Cell) -> None:
        """Let a shot of the current player count, and say so to its target."""
        self.fired.append((target, cell))
        self.say(f"/players/{target}/hit", {"x": cell[0], "y": cell[1]}, retain=False)

    def end_turn(self) -> StagedSalvo:
        """Resolve the turn and announce what came of it."""
        salvo = self.resolve()
        self.announce(salvo)
        return salvo

    def resolve(self) -> StagedSalvo:
        """Resolve the turn without a word."""
        shooter = self.player(self.current)
        assert shooter is not None
        salvo = StagedSalvo(self.turn, shooter.name, self.fired)
        for target, cell in self.fired:
            struck = self.player(target)
            if struck is None:
                continue
            struck.struck.append(cell)
            salvo.hits += any(cell in cells for cells in struck.ships.values())
            for ship, cells in struck.ships.items():
                if ship not in struck.sunk and set(cells) <= set(struck.struck):
                    struck.sunk.append(ship)
                    salvo.sunk.append((target, ship))
            if not struck.afloat and not struck.out:
                struck.out = True
                salvo.defeated.append(target)
        shooter.turns += 1
        shooter.shots += len(self.fired)
        shooter.hits += salvo.hits
        shooter.sank += len(salvo.sunk)
        self.salvos.append(salvo)
        self.current = ""
        return salvo

    def announce(self, salvo: StagedSalvo) -> None:
        """Announce what came of a turn, in the protocol's order."""
        self.say("/game/hits", str(salvo.hits), retain=False)
        self.publish_result(salvo)
        for name, ship in salvo.sunk:
            self.say(f"/players/{name}/ships/{ship}/sunk", "true")
            self.say(f"/player/{name}/ships/{ship}/sunk", "true")
        for name in salvo.defeated:
            self.say(f"/players/{name}/defeated", "true")
            self.say(f"/player/{name}/defeated", "true")

    def publish_result(self, salvo: StagedSalvo) -> None:
        """Announce a result."""
        self.say(
            "/game/result",
            {
                "game": self.game,
                "turn": salvo.turn,
                "player": salvo.player,
                "shots": len(salvo.shots),
                "hits": salvo.hits,
                "sunk": [{"player": name, "ship": ship} for name, ship in salvo.sunk],
                "defeated": salvo.defeated,
            },
        )

    def rival_turn(self, name: str, target: str, cells: Sequence[Cell]) -> StagedSalvo:
        """Let a rival fire, its whole turn at once."""
        self.give_turn(name)
        for cell in cells:
            self.land(target, cell)
        return self.end_turn()

    def sink(self, name: str, target: str, ship: str) -> StagedSalvo:
        """Let a rival sink a ship with one salvo."""
        victim = self.player(target)
        assert victim is not None
        return self.rival_turn(name, target, victim.ships[ship])

    # --- the end ----------------------------------------------------------------------------------------------------

    def end(self, *winners: str) -> None:
        """End the game: no winner if a host has aborted it, several after a tie."""
        self.phase, self.current = "over", ""
        for player in self.players:
            place = 0 if not winners else 1 if player.name in winners else 1 + len(winners)
            stats = {
                "shots": player.shots,
                "hits": player.hits,
                "sunk": player.sank,
                "turns": player.turns,
                "place": place,
            }
            self.say(f"/game/stats/{player.name}", stats)
        self.say("/game/winner", winners[0] if len(winners) == 1 else json.dumps(list(winners)))
        self.say("/game/state", "over")

    def next_lobby(self) -> None:
        """Clear the game, and open the next lobby."""
        topics, self._retained = self._retained, {}
        for topic in topics:
            if topic not in ("/players/count", "/players/list"):
                self.publish(topic, b"", True)
        self.game += 1
        self.phase, self.players, self.turn, self.salvos, self.current = "lobby", [], 0, [], ""
        self._publish_players()
        self.publish_server(game=self.game)
        self.say("/game/state", "lobby")

    def recap(self, name: str) -> dict[str, Any]:
        """Return what a player that comes back is told (SALVO-JOIN-12)."""
        player = self.player(name)
        assert player is not None
        seats = {each: number for number, each in enumerate(self.names)}
        ships = {each: number for number, each in enumerate(self.rules["fleet"])}
        own = [(each.turn, each.shots) for each in self.salvos if each.player == name]
        if self.current == name:
            own.append((self.turn, self.fired))
        flying = [] if self.current in ("", name) else [cell for target, cell in self.fired if target == name]
        return {
            "game": self.game,
            "turn": self.turn,
            "players": self.names,
            "fleet": [
                {"ship": ship, "coordinates": placements[0], "Orientation": placements[1]}
                for ship, placements in player.placements.items()
            ],
            "first": 1,
            "results": [number for each in self.salvos for number in (seats[each.player], len(each.shots), each.hits)],
            "sunk": [
                number
                for each in self.salvos
                for owner, ship in each.sunk
                for number in (each.turn, seats[owner], ships[ship])
            ],
            "defeated": [number for each in self.salvos for who in each.defeated for number in (each.turn, seats[who])],
            "shots": [
                number for turn, shots in own for target, (x, y) in shots for number in (turn, seats[target], x, y)
            ],
            "hits": [number for cell in (*player.struck, *flying) for number in cell],
        }


def cells_of(x: int, y: int, orientation: str, length: int) -> list[Cell]:
    """Return the cells of a ship."""
    right = orientation == "HORIZONTAL"
    return [(x + number * right, y + number * (not right)) for number in range(length)]
