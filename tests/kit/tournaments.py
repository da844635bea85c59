"""A small tournament, and the games that were played in it."""

from __future__ import annotations

from collections.abc import Sequence

from salvo_lab.series.lines import TournamentGame
from salvo_lab.tournament.file import Tournament

BOTS = """
import ctypes, os, sys, time
import salvo


class Fine(salvo.Bot):
    def choose_salvo(self, view):
        return view.untouched.sample(view.shots)


class Raises(Fine):
    def choose_salvo(self, view):
        if view.turn > 6:
            raise ValueError("no idea")
        return super().choose_salvo(view)


class Leaves(Fine):
    def choose_salvo(self, view):
        sys.exit(3)


class Hangs(Fine):
    def choose_salvo(self, view):
        while True:
            pass


class HangsAsync(Fine):
    async def choose_salvo(self, view):
        import asyncio
        await asyncio.sleep(3600)


class Swallows(Fine):
    def choose_salvo(self, view):
        while True:
            try:
                time.sleep(60)
            except BaseException:
                pass


class Dies(Fine):
    def choose_salvo(self, view):
        os._exit(7)


class Crashes(Fine):
    def choose_salvo(self, view):
        ctypes.string_at(0)


class BadFleet(Fine):
    def place_fleet(self, rules):
        return "fleet"


class DeafOnce(Fine):
    heard = 0

    def on_result(self, result):
        self.heard += 1
        if self.heard == 3:
            raise KeyError("once")


class Forever(Fine):
    def choose_salvo(self, view):
        return [(view.opponents[0], 1, 1)]


class Closes(Fine):
    def close(self):
        with open(__file__ + ".closed", "a") as file:
            print(self.name, file=file)
        raise ValueError("too late")
"""


def tournament(**settings: object) -> Tournament:
    names = settings.pop("names", ("a", "b", "c", "d"))
    assert isinstance(names, Sequence)
    return Tournament(**{"name": "cup", "seed": "1", "bots": dict.fromkeys(names, "random"), **settings})  # type: ignore[arg-type]


def played(match: int, index: int, bots: Sequence[str], places: Sequence[int]) -> TournamentGame:
    nobody = tuple(() for _ in bots)
    zeros = tuple(0 for _ in bots)
    return TournamentGame(
        result=match,
        index=index,
        teams=tuple(bots),
        players=tuple(bots),
        seed="1",
        game=1,
        turns=10,
        places=tuple(places),
        shots=zeros,
        hits=zeros,
        strikes=nobody,
        forfeited=tuple(False for _ in bots),
        seconds=tuple(0.0 for _ in bots),
        longest=tuple(0.0 for _ in bots),
        decisions=zeros,
        versions=tuple("" for _ in bots),
    )
