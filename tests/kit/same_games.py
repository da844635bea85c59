"""One game in a contest and in the arena: a bot plays the same wherever, and in whatever language, it is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kit.players import Announced
from salvo import messages as m
from salvo.bots.player import Bot
from salvo.rules import SALVO, Placement
from salvo_lab import arena
from salvo_lab.bots.random_bot import RandomBot

SEED = "7"

Shots = list[tuple[str, int, int]]
Game = tuple[Mapping[str, set[Placement]], Shots, list[m.SalvoResolved]]


class AnnouncedAndSent(Announced):
    """Keeps what the teams have sent, too."""

    def __init__(self) -> None:
        super().__init__()
        self.commands: list[m.Input] = []

    def __call__(self, table: str, now: int, command: m.Input | None, announcements: Any) -> None:
        if command is not None:
            self.commands.append(command)
        super().__call__(table, now, command, announcements)

    def game(self) -> Game:
        fleets: dict[str, set[Placement]] = {}
        for command in self.commands:
            if isinstance(command, m.PlaceShip):
                fleets.setdefault(command.player, set()).add(command.placement)
        landed = [(shot.to, shot.x, shot.y) for shot in self.of(m.ShotLanded)]
        return fleets, landed, self.of(m.SalvoResolved)


def in_arena(first: Bot) -> Game:
    shots: Shots = []
    results: list[m.SalvoResolved] = []

    def listen(fired: Any, result: m.SalvoResolved) -> None:
        shots.extend(fired[: result.shots])
        results.append(result)

    outcome = arena.play({"ann": first, "bob": RandomBot()}, seed=SEED, listener=listen)
    first.close()
    return {name: set(fleet.placements) for name, fleet in outcome.fleets.items()}, shots, results


def one_fleet(announced: list[m.Announcement]) -> bool:
    return sum(isinstance(a, m.PlacementJudged) and a.approved for a in announced) >= len(SALVO.fleet)
