"""Is a bot fit for a contest? Plays it on many seeds and lists what would go wrong there."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from salvo.bots.adapter import Adapter, closing, made, method, replace
from salvo.bots.player import Bot
from salvo.errors import BotError
from salvo.messages import SalvoResolved
from salvo.rules import SALVO, RuleBook
from salvo.view import Shot, View
from salvo_lab import arena
from salvo_lab.bots.random_bot import RandomBot

_NAME = "candidate"


@dataclass(slots=True)
class Report:
    """What :func:`check_bot` found.

    Attributes:
        games: how many were played to their end.
        wins: how many of them the bot won.
        slowest_seconds: the longest time for one salvo.
        problems: one sentence each; empty when all is well.
    """

    games: int = 0
    wins: int = 0
    slowest_seconds: float = 0.0
    problems: list[str] = field(default_factory=list)


def check_bot(
    kind: type[Bot],
    *,
    games: int = 20,
    seed: int | str = 0,
    turn_seconds: float = 30.0,
    opponents: int = 2,
    book: RuleBook = SALVO,
) -> Report:
    """Play a bot against random ones, every game twice.

    Finds exceptions, illegal fleets and salvos, turns that take longer than ``turn_seconds``, and games that differ
    although their seed is the same (a bot that draws from anything but its own randomness).
    """
    report = Report()
    for game in range(1, games + 1):
        try:
            first = _play(kind, report, seed, game, opponents, book)
            second = _play(kind, report, seed, game, opponents, book)
        except BotError as error:
            report.problems.append(str(error))
            continue
        report.games += 1
        report.wins += first[0] == _NAME
        if first != second:
            report.problems.append(
                f"game {game}, seed {seed}: played twice it went two ways; draw from self.random or view.random only"
            )
    if report.slowest_seconds > turn_seconds:
        report.problems.append(f"a salvo took {report.slowest_seconds:.1f} s; a turn has {turn_seconds:g} s")
    return report


def _play(
    kind: type[Bot], report: Report, seed: int | str, game: int, opponents: int, book: RuleBook
) -> tuple[str, list[tuple[tuple[Shot, ...], SalvoResolved]]]:
    salvos: list[tuple[tuple[Shot, ...], SalvoResolved]] = []

    def listen(shots: Sequence[Shot], result: SalvoResolved) -> None:
        salvos.append((tuple(shots), result))

    with closing(made(kind), _NAME, report.problems.append) as adapter:
        choose = method(adapter.bot, "choose_salvo")

        def choose_timed(view: View) -> Any:
            start = time.perf_counter()
            answer = adapter.settled(choose(view))
            report.slowest_seconds = max(report.slowest_seconds, time.perf_counter() - start)
            return answer

        replace(adapter.bot, "choose_salvo", choose_timed)
        rivals = {f"random-{number}": RandomBot() for number in range(1, opponents + 1)}
        players: dict[str, Bot | Adapter] = {_NAME: adapter, **rivals}
        outcome = arena.play(players, seed=seed, game=game, book=book, listener=listen)
    return outcome.winner, salvos
