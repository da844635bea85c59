"""A server with a game on, in this process and without a broker: real gate, real cryptography, and no waiting.

Keys are derived on the spot and once, as in the simulation; everything else is what a contest runs.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random
from typing import Any

from kit.deriver import Deriver
from kit.services import serve
from kit.unbrokered import Wire
from salvo import messages as m
from salvo.codec.command_writer import write_placement
from salvo.net.inbound import Inbound
from salvo.rules import SALVO, Fleet
from salvo.wire import topics
from salvo.wire.seal import Sealer
from salvo_server.core.authenticator import Authenticator
from salvo_server.storage.identity import Identity

TEAMS = ("ann", "bob", "cy")


def secret(name: str) -> str:
    """The secret of a team."""
    return f"the secret of {name}"


def fleet(number: int) -> Fleet:
    """One of many fleets."""
    return SALVO.random_fleet(Random(number))


class Stage:
    """A service, its teams, and whoever else can publish on an open broker.

    Attributes:
        reports: whether the broker reports which connection published a message; each team has one of its name.
        current: whose turn it is, when a game is on.
        received: what was published since :meth:`hush`, as topic and payload.
    """

    def __init__(
        self,
        teams: Sequence[str] = TEAMS,
        *,
        play: bool = True,
        reports: bool = False,
        tables: Sequence[str] = ("",),
        **given: Any,
    ) -> None:
        self.now = 1_000_000
        self.worker = Deriver()
        self.edge = Wire()
        self.gate = Authenticator(executor=self.worker)
        self.identity = Identity.fresh()
        self.reports = reports
        self.service = serve(
            self.edge,
            list(tables),
            seed=7,
            clock=lambda: self.now,
            gate=self.gate,
            identity=self.identity,
            **{"limits": m.Limits(players=len(teams), over_ms=60_000)} | given,
        )
        self.referee = self.service.tables[""].referee
        self.sealers = {name: Sealer(secret(name), name.encode().ljust(16, b".")) for name in TEAMS}
        self.edge.connect()
        self.service.step()
        for name in teams:
            self.join(name)
        if play:
            self.place(teams)

    # --- what happens ---------------------------------------------------------------------------------------------

    def say(self, topic: str, payload: bytes, *, retained: bool = False, by: str = "") -> None:
        """Publish something, whoever it is; ``by`` is the connection, on a broker that reports it."""
        self.publish(Inbound(topic, payload, retained, 1, 1, publisher=by if self.reports else None))

    def publish(self, message: Inbound) -> None:
        """Publish a message."""
        self.edge.inbox.append(message)
        self.service.step()

    def wait(self, seconds: float) -> None:
        """Let time go by, and timers run."""
        self.now += round(seconds * 1000)
        self.service.step()

    def hold_up(self, seconds: float) -> None:
        """Let time go by while the server stands still, waiting for a message."""
        poll = self.edge.poll

        def slow_poll(timeout_seconds: float) -> Sequence[Inbound]:
            self.now += round(seconds * 1000)
            return poll(timeout_seconds)

        self.edge.poll = slow_poll  # type: ignore[method-assign]
        self.service.step()
        self.edge.poll = poll  # type: ignore[method-assign]

    def hush(self) -> None:
        """Forget what was published so far."""
        self.edge.announced.clear()

    @property
    def received(self) -> list[tuple[str, bytes]]:
        return self.edge.announced

    def codes(self) -> list[str]:
        """Return the codes on all error topics since :meth:`hush`."""
        return [text.decode().partition(":")[0] for topic, text in self.received if topic.endswith("/error")]

    # --- what teams do --------------------------------------------------------------------------------------------

    def join(self, name: str, with_secret: str | None = None) -> None:
        """Ask to take part."""
        given = secret(name) if with_secret is None else with_secret
        self.say(topics.REQUEST_PARTICIPATION.of(), json.dumps({"name": name, "secret": given}).encode(), by=name)

    def place(self, teams: Sequence[str]) -> None:
        """Place everybody's fleet; that begins the game."""
        self.fill(teams)
        assert self.referee.state is m.State.TURN

    def fill(self, teams: Sequence[str]) -> None:
        """Place everybody's fleet."""
        for number, name in enumerate(teams):
            for placement in fleet(number).placements:
                topic = topics.PLACE.of(player=name, ship=placement.ship)
                self.say(topic, write_placement(placement, self.sealers[name]), by=name)

    def shot(self, name: str, x: int = 1, y: int = 1) -> bytes:
        """Return a shot as a client of the plain specification signs it."""
        return self.sealers[name].sign({"x": x, "y": y})

    def fire(self, target: str, payload: bytes, by: str = "") -> None:
        """Publish a shot at somebody's board; on a broker that tells who has, ``by`` has published it."""
        topic = topics.FIRE.of(player=target)
        if by and not self.reports:
            self.publish(Inbound(topic, payload, False, 1, 1, team=by))
        else:
            self.say(topic, payload, by=by)

    # --- how things stand -----------------------------------------------------------------------------------------

    @property
    def current(self) -> str:
        player = self.referee.current
        assert player is not None
        return player.name

    def others(self) -> list[str]:
        """Return who plays and is not the current player."""
        return [name for name in self.referee.players if name != self.current]

    def fired(self) -> int:
        """Return how many shots of this turn were accepted."""
        game = self.referee.game
        return game.shots_fired if game is not None else 0

    def until_turn_of(self, name: str) -> None:
        """Let the others' turns go by in silence."""
        before = self.referee.game.turn if self.referee.game is not None else 0
        while self.current != name or (self.referee.game is not None and self.referee.game.turn == before):
            self.wait(31)
