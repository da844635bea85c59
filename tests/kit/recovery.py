"""A server that crashes at any step and recovers: World, and LoggedWorld with its signed log.

world = World(tmp_path / "a.journal")
world.join()
world.fire(7)
before = state(world.table)
world.restart(away=60_000)
assert state(world.table) == before
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kit.proofs import IDENTITY
from kit.services import serve
from kit.unbrokered import Wire, learn
from salvo.codec.command_writer import write_participation, write_placement, write_shot
from salvo.messages import Limits, State
from salvo.rules import SALVO, generator, random_fleet
from salvo.wire.seal import Sealer
from salvo_game.journal_interface import SavedGame
from salvo_game.log import proof_lines
from salvo_game.table import Table
from salvo_game.transcript import repeat_game
from salvo_server.service import Resume, Service
from salvo_server.spectators.referee_view import RefereeViews
from salvo_server.storage.journal.database import DatabaseJournal
from salvo_server.storage.journal.games_in_play import GamesInPlay

SEALERS = {name: Sealer(f"secret {name}", bytes((number,)) * 16) for number, name in enumerate(("ann", "bob"))}


class World:
    """A journal that outlives its servers, and a clock that the test moves."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.now = 1_000_000
        self.wire = Wire()
        self.journal: Any = DatabaseJournal(str(path), power_safe=False)
        self.service = self.open_service()

    def open_service(self, **given: Any) -> Service:
        settings: dict[str, Any] = {"tables": [""], "seed": 7, "limits": Limits(players=2)} | given
        if settings.pop("referee", False):
            settings["follower"] = RefereeViews()
        service = serve(self.wire, clock=lambda: self.now, journal=self.journal, **settings)
        self.wire.connect()
        self.run(service)
        return service

    def restart(self, resume: Resume = "crash", *, away: int = 0, **given: Any) -> Service:
        """Forget the server as a crash does, let time pass, and start the next one."""
        self.journal.close()
        self.now += away
        retained = self.wire.retained
        self.wire = Wire()
        self.wire.retained = retained
        self.journal = DatabaseJournal(str(self.path), power_safe=False)
        self.service = self.open_service(resume=resume, **given)
        return self.service

    def run(self, service: Service | None = None) -> None:
        service = service or self.service
        for _ in range(3):
            service.step()

    @property
    def table(self) -> Table:
        return self.service.tables[""]

    def join(self) -> None:
        for name, sealer in SEALERS.items():
            self.wire.give("/game/request_participation", write_participation(name, f"secret {name}"))
            self.run()
            learn(self.service.gate, name, sealer)
            for place in random_fleet(SALVO, generator(name)).placements:
                self.wire.give(f"/players/{name}/ships/{place.ship}/place", write_placement(place, sealer))
        self.run()

    def shot(self, x: int, y: int) -> tuple[str, bytes]:
        current = self.table.referee.current
        assert current is not None
        rival = "bob" if current.name == "ann" else "ann"
        return f"/players/{rival}/fire", write_shot(x, y, None, SEALERS[current.name])

    def fire(self, count: int) -> None:
        for number in range(count):
            self.wire.give(*self.shot(number % 10 + 1, 10))
            self.run()


def state(table: Table) -> object:
    referee, game = table.referee, table.referee.game
    return (
        referee.state,
        referee.number,
        list(referee.players),
        referee.results,
        list(referee.players.values()),
        (game.turn, game.current, game.shots_left, game.afloat, game.salvos) if game else None,
        table.check,
    )


class LoggedWorld(World):
    """A journal that outlives its servers, which all have one identity.

    Attributes:
        received: payloads of the log, over all servers.
    """

    def __init__(self, path: Path, **given: Any) -> None:
        self.received: list[bytes] = []
        self.given = {"identity": IDENTITY, "draw": "fair"} | given
        super().__init__(path)

    def open_service(self, **given: Any) -> Service:
        self.journal = GamesInPlay(self.journal, closed=self.game_closed)
        return super().open_service(**(self.given | given))

    def game_closed(self, game: SavedGame) -> None:
        """Do what the server does with a game that is closed without a result."""

    def run(self, service: Service | None = None) -> None:
        super().run(service)
        self.received += [payload for topic, payload in self.wire.announced if topic == "/game/log"]
        self.wire.announced = [(topic, payload) for topic, payload in self.wire.announced if topic != "/game/log"]

    def play(self) -> None:
        """Play to the end: everybody fires at the other's cells, one after the other."""
        fired = dict.fromkeys(SEALERS, 0)
        while (current := self.table.referee.current) is not None:
            rival = "bob" if current.name == "ann" else "ann"
            assert self.table.referee.game is not None
            for _ in range(self.table.referee.game.shots_left):
                at = fired[current.name]
                payload = write_shot(at % 10 + 1, at // 10 + 1, None, SEALERS[current.name])
                self.wire.give(f"/players/{rival}/fire", payload)
                fired[current.name] += 1
            self.run()
        assert self.table.referee.state is State.OVER

    def first_received(self) -> list[bytes]:
        """Each payload once, in the order of its first appearance."""
        return list(dict.fromkeys(self.received))

    def from_journal(self) -> list[bytes]:
        header, steps = repeat_game(self.journal.game("", 1))
        return proof_lines(header, list(steps), IDENTITY)
