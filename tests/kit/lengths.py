"""How many turns a game has, and what is afloat on the way."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean
from typing import NamedTuple

from salvo import messages as m
from salvo.bots.player import Bot
from salvo.rules import BOOKS
from salvo_lab import arena
from salvo_lab.bots.hunter import Hunter
from salvo_lab.bots.random_bot import RandomBot


class PlayedGame(NamedTuple):
    """A game that is over."""

    names: tuple[str, ...]
    results: tuple[m.SalvoResolved, ...]

    def afloat(self, turns: int, ships: int) -> list[int]:
        """Return the ships by team after so many turns."""
        lost = [ship.player for result in self.results[:turns] for ship in result.sunk]
        return [ships - lost.count(name) for name in self.names]


def play(bots: Sequence[Bot], seed: int, rules: str = "salvo") -> PlayedGame:
    results: list[m.SalvoResolved] = []
    named = {f"bot{number}": bot for number, bot in enumerate(bots)}
    arena.play(named, seed=seed, book=BOOKS[rules], listener=lambda _, result: results.append(result))
    return PlayedGame(tuple(named), tuple(results))


def mixed_game(teams: int, seed: int) -> PlayedGame:
    """Return a game of good and bad bots, half of each."""
    return play([RandomBot() if (seed + number) % 2 else Hunter() for number in range(teams)], seed)


def turns_of_game(teams: int, seed: int, rules: str = "salvo") -> int:
    bots = {f"bot{number}": Hunter() for number in range(teams)}
    return arena.play(bots, seed=seed, book=BOOKS[rules]).turns


def turns(rules: str, teams: int, games: int) -> float:
    return mean(turns_of_game(teams, seed, rules) for seed in range(games))
