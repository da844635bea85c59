"""An evening of games whose settings change between them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from kit.recovery import SEALERS, LoggedWorld
from kit.unbrokered import learn
from salvo.codec.command_writer import write_participation, write_placement, write_shot
from salvo.messages import Limits, State
from salvo.rules import SALVO, Grid, ShipClass, generator, random_fleet

#: Small boards, so that a game is over soon.
SEA = {"grid": Grid(5, 4), "fleet": (ShipClass("boat", 2), ShipClass("raft", 1)), "goal": None}


POND = replace(SALVO, name="pond", **SEA)  # type: ignore[arg-type]


LIMITS = Limits(players=2)


class Evening(LoggedWorld):
    """Games on a small board, by servers whose settings change."""

    def __init__(self, path: Path, **given: Any) -> None:
        super().__init__(path, **({"book": POND, "limits": LIMITS} | given))

    def change(self, **changed: Any) -> None:
        """Stop the server in peace, and start the next one with other settings."""
        self.service.go_offline()
        self.run()
        self.given |= changed
        self.restart("always", away=1000)

    def join(self, *names: str) -> None:
        for name in names or SEALERS:
            sealer = SEALERS[name]
            self.wire.give("/game/request_participation", write_participation(name, f"secret {name}"))
            self.run()
            learn(self.service.gate, name, sealer)
            for place in random_fleet(self.table.referee.book, generator(name)).placements:
                self.wire.give(f"/players/{name}/ships/{place.ship}/place", write_placement(place, sealer))
            self.run()

    def turn(self) -> None:
        """Let a turn, or a pause, pass: the current player fires at one cell after the other."""
        referee = self.table.referee
        current, game, due = referee.current, referee.game, referee.deadline()
        assert game is not None
        assert due is not None
        if current is None:
            self.now = due
        else:
            rival = "bob" if current.name == "ann" else "ann"
            for number in range(game.shots_left):
                y, x = divmod(len(current.shots) + number, 5)
                self.wire.give(f"/players/{rival}/fire", write_shot(x + 1, y + 1, None, SEALERS[current.name]))
            self.now += 10
        self.run()
        self.wire.delivered = self.wire.published

    def play(self) -> None:
        while self.table.referee.state is State.TURN:
            self.turn()

    def forget(self) -> None:
        """Let the result's time end."""
        due = self.table.referee.deadline()
        assert due is not None
        self.now = due
        self.run()
        assert self.table.referee.state is State.LOBBY
