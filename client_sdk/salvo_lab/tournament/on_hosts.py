"""Games of a tournament on other hosts, where they are played as on this one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

from salvo.rules import RuleBook
from salvo.versions import revision_of, split
from salvo_lab.cluster import Carrying, Cluster, Shipped, Work, ship
from salvo_lab.loaded_code import folders_of
from salvo_lab.tournament.file import Tournament
from salvo_lab.tournament.games import Played
from salvo_lab.tournament.judge import HUNG, is_of_the_clock
from salvo_lab.tournament.schedule import Pairing
from salvo_lab.tournament.workers import Task, Unpacked, Workers


def play_on_hosts(cluster: Cluster, tournament: Tournament, pairings: Sequence[Pairing]) -> Iterator[list[Played]]:
    """Play games, and return them block by block, in their order.

    Raises:
        SalvoError: as :meth:`salvo_lab.cluster.Cluster.play` and :func:`salvo_lab.cluster.ship`.
    """
    work = _Games(tournament, tuple(ship(tournament.bots.values())), tournament.book)
    for games in cluster.play(work, pairings):
        yield [replace(game, code={os.path.relpath(file): code for file, code in game.code.items()}) for game in games]


@dataclass(frozen=True, slots=True)
class _Games(Work[Pairing, Played]):
    tournament: Tournament
    bots: tuple[Shipped, ...]
    book: RuleBook

    @contextmanager
    def begin(self, jobs: int) -> Iterator[Carrying[Pairing, Played]]:
        found = {bot.source: bot.unpacked() for bot in self.bots}
        plain = [bot for bot in self.bots if not revision_of(split(bot.source)[0])[0]]
        own = {folder: bot.folder for bot in plain for folder in folders_of([found[bot.source]], os.sep)}
        with Workers(self.tournament, jobs, self.book, Unpacked(found, own)) as workers:
            yield partial(self._play, workers, set())

    def _play(
        self, workers: Workers, hanging: set[str], pairings: Sequence[Pairing], waiting: Callable[[], None]
    ) -> list[Played]:
        tasks = {(pairing.match, pairing.index): Task(pairing) for pairing in pairings}
        played = _by_game(workers.carry_out(tasks.values(), waiting))
        # Hosts are not equally fast, and busy now and then: time that is up here need not be up elsewhere.
        # A bot that is not done with more time, either, is given none in other games.
        for key, game in played.items():
            if _late(game) <= hanging:
                continue
            [again] = [
                game for games in workers.carry_out([replace(tasks[key], patient=True)], waiting) for game in games
            ]
            hanging |= _late(again)
            if not _late(again):
                played[key] = again
        return [self._as_typed(played[key]) for key in tasks]

    def _as_typed(self, game: Played) -> Played:
        strikes = game.strikes
        for bot in self.bots:
            strikes = tuple(tuple(bot.seen_there(cause) for cause in causes) for causes in strikes)
        return replace(game, strikes=strikes)

    def essence(self, results: list[Played]) -> dict[str, object]:
        """Return the games in which no bot was too slow, without times."""
        return {
            f"game {game.index + 1} of match {game.match}": replace(game, seconds=(), longest=())
            for game in results
            if not _late(game)
        }


def _by_game(played: Iterator[list[Played]]) -> dict[tuple[int, int], Played]:
    return {(game.match, game.index): game for games in played for game in games}


def _late(game: Played) -> set[str]:
    """Return the bots that were too slow."""
    return {
        bot
        for bot, causes in zip(game.bots, game.strikes, strict=True)
        if any(is_of_the_clock(cause) or HUNG in cause for cause in causes)
    }
