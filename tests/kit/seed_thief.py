"""A bot, and a program, that draws its rival's fleet again from all that it was told, by all that draws here."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import ClassVar

from salvo.bots.player import Bot
from salvo.rules import SALVO, Fleet, generator, own_seed
from salvo.view import Shot, View
from salvo_lab.programs.bot_server import BotServer

#: A whole fleet's cells: so many shots are enough for who knows where it lies.
SHOTS = sum(ship.length for ship in SALVO.fleet)


class Thief(Bot):
    """Fires so many shots as a rival's fleet has cells, and no more: at where that fleet must be.

    Attributes:
        guesses: what may be the run's seed; one that its own seed comes from is it.
        told: of this game, where anything was told beside its seed.
    """

    guesses: ClassVar[Sequence[int]] = ()
    seen: Sequence[int | str] = ()

    def prepare(self, name: str, seed: int | str, game: int = 1) -> None:
        super().prepare(name, seed, game)
        guessed: list[int | str] = [guess for guess in self.guesses if own_seed(guess, name, game) == seed]
        self._things = guessed or [seed, *self.seen]
        self._aims: list[Shot] | None = None

    def choose_salvo(self, view: View) -> Sequence[Shot]:
        if self._aims is None:
            [rival] = view.opponents
            cells = dict.fromkeys(cell for fleet in self._fleets(rival, view) for cell in fleet.cells)
            self._aims = [Shot(rival, *view.rules.grid.xy(cell)) for cell in cells][:SHOTS]
        now, self._aims = self._aims[: view.shots], self._aims[view.shots :]
        return now

    def _fleets(self, rival: str, view: View) -> Iterable[Fleet]:
        """Return what may be the rival's fleet, first what was drawn as the own one was."""
        mine, its = (self._drawn(name, view) for name in (view.me, rival))
        pairs = sorted(zip(mine, its, strict=True), key=lambda pair: pair[0].cells != view.fleet.cells)
        return [fleet for _, fleet in pairs]

    def _drawn(self, name: str, view: View) -> list[Fleet]:
        game = view.game
        owns = [own_seed(thing, name, game) for thing in self._things]
        recipes = [(thing, name, game) for thing in (*self._things, *owns)]
        spares = [(*recipe, "fleet") for recipe in recipes] + [(own, "fleet") for own in owns]
        return [view.rules.random_fleet(generator(*parts)) for parts in (*recipes, *spares)]


def main() -> None:
    """Play as a program that takes everything for a seed that the line of a game says."""
    answering = BotServer(Thief)
    for line in sys.stdin.buffer:
        line_value = json.loads(line)
        if line_value["type"] == "game":
            Thief.seen = [line_value["seed"], *(line_value[key] for key in line_value if key != "rules")]
        answering.answer(line, sys.stdout.buffer)


if __name__ == "__main__":
    main()
