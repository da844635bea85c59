"""A server's identity and a game that it signed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

from salvo import messages as m
from salvo.rules import SALVO, Fleet, Orientation, generator, random_fleet
from salvo_game.log import TableLog
from salvo_game.referee import Referee
from salvo_game.table import Table
from salvo_game.transcript import no_status
from salvo_server.storage.identity import Identity

IDENTITY = Identity(bytes(32))


FLEETS = {name: random_fleet(SALVO, generator(name)) for name in ("me", "you")}


MESSAGES = {name: [f"{name}{number}".encode().ljust(16) for number in range(5)] for name in FLEETS}


@dataclass(frozen=True)
class Moment:
    """A command, what everybody heard of it, and what was logged."""

    command: m.Input | None
    announced: tuple[m.Announcement, ...]
    log: tuple[bytes, ...]


def cells(fleet: Fleet) -> list[tuple[int, int]]:
    """Every cell of a fleet as x, y."""
    lengths = {ship.name: ship.length for ship in SALVO.fleet}
    return [
        (p.x + step, p.y) if p.orientation is Orientation.HORIZONTAL else (p.x, p.y + step)
        for p in fleet.placements
        for step in range(lengths[p.ship])
    ]


@cache
def play(
    game: int = 1,
    secret: str = "11",
    contexts: bool = True,
    clock: int = 1_000_000,
    draw: m.Draw = m.Draw.FAIR,
    skipped: int = 0,
) -> tuple[Moment, ...]:
    """A fair game between me and you, who know where to shoot and waste a shot a turn.

    Args:
        clock: when it begins, epoch ms.
        skipped: a turn that ends by a skip after its first shot.
    """
    book = replace(SALVO, skipping=True) if skipped else SALVO
    table = Table(Referee(secret * 32, "", book, m.Limits(players=2), game, draw), no_status)
    log = TableLog(table.header, IDENTITY)
    table.open()
    moments = [Moment(None, (), tuple(p.payload for p in log.opening()))]
    turns: list[m.TurnBegan] = []

    def do(command: m.Input) -> None:
        nonlocal clock
        clock += 10
        step = table.carry_out(command, clock)
        assert step.recorded, command
        announced = tuple(a for a in step.announcements if not hasattr(a, "to"))
        turns.extend(a for a in announced if isinstance(a, m.TurnBegan))
        moments.append(Moment(command, announced, tuple(p.payload for p in log.take_in(step))))

    for name in FLEETS:
        do(m.Participate(name, name.encode()))
    for name, fleet in FLEETS.items():
        for number, placement in enumerate(fleet.placements):
            do(m.PlaceShip(name, placement.ship, placement, MESSAGES[name][number]))
    left = {name: cells(fleet) for name, fleet in FLEETS.items()}
    while table.referee.state is m.State.TURN:
        turn = turns[-1]
        [target] = set(FLEETS) - {turn.player}
        for number in range(1, turn.shots + 1):
            x, y = (1, 1) if number == 2 or not left[target] else left[target].pop()
            context = m.ShotContext(game, turn.turn, number, target) if contexts else None
            if table.referee.state is m.State.TURN:
                do(m.Fire(turn.player, target, x, y, context))
            if turn.turn == skipped:
                do(m.Skip(turn.player, m.TurnContext(game, skipped) if contexts else None))
                break
    return tuple(moments)
