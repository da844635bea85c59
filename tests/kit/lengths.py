"""How many turns a game has."""

from __future__ import annotations

from statistics import mean

from salvo.rules import BOOKS
from salvo_lab import arena
from salvo_lab.bots.hunter import Hunter


def turns_of_game(teams: int, seed: int, rules: str = "salvo") -> int:
    bots = {f"bot{number}": Hunter() for number in range(teams)}
    return arena.play(bots, seed=seed, book=BOOKS[rules]).turns


def turns(rules: str, teams: int, games: int) -> float:
    return mean(turns_of_game(teams, seed, rules) for seed in range(games))
