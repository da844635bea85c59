"""Plays the games of a tournament: the arena's games in the processes of a simulation, with strikes and time limits.

What a bot gets wrong is a strike and costs it the turn; with enough of them it is out of that game. A bot that ends its
process, or does not return soon after its time, is out at once: the game is played again with each bot in a process of
its own, which shows whose doing it was (:mod:`salvo_lab.programs.apart`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Final

from salvo.bots.adapter import Adapter, made
from salvo.bots.errors import placed
from salvo.bots.player import Bot
from salvo.bots.programs.debugger import is_debugged
from salvo.bots.programs.exec_bot import ExecBot
from salvo.bots.replay_command import seat_names
from salvo.bots.sources import in_sandbox
from salvo.errors import BotError
from salvo.rules import RuleBook
from salvo_lab.arena import FINAL, Decisions, Failure, Supervision
from salvo_lab.series.lines import TournamentGame
from salvo_lab.simulation.pool import Pool
from salvo_lab.simulation.worker import GameResults, Run, RunPlayer
from salvo_lab.tournament.file import TimeRules, Tournament
from salvo_lab.tournament.pairings import Pairing

#: How long after its time a bot may return, which is a strike, before its process is ended.
_GRACE_SECONDS: Final = 2.0
#: Salvos of a bot for each cell of its rivals' boards, after which the game is one that never ends.
_SALVOS_A_CELL: Final = 10
#: Letters of a strike's cause.
_CAUSE_LETTERS: Final = 300


def play_games(tournament: Tournament, pairings: Sequence[Pairing], jobs: int) -> Iterator[list[TournamentGame]]:
    """Play games in processes, and return them as they end, in their order.

    Raises:
        BotError: ``bad_bot``: a bot cannot be loaded or made; the text begins with its name. ``code_changed``.
    """
    bots = {name: in_sandbox(bot) if tournament.sandbox else bot for name, bot in tournament.bots.items()}
    run = _Games(bots, tournament.book, tournament.time, tuple(pairings))
    patience = _limits_here(tournament.time).decision_seconds + _GRACE_SECONDS
    with Pool(run, min(jobs, len(pairings)), patience, forks=False) as pool:  # no bot has the results' lock
        for batch in pool.play(0, len(pairings)):
            yield [replace(batch.rows[0], code=batch.code), *batch.rows[1:]]


def _limits_here(limits: TimeRules) -> TimeRules:
    """Return the limits that hold in this process: under a debugger nothing times out."""
    if not is_debugged():
        return limits
    return limits.model_copy(update={"decision_seconds": float("inf"), "bank_seconds": float("inf")})


@dataclass(frozen=True, slots=True)
class _Games(Run[TournamentGame]):
    bots: Mapping[str, str]
    book: RuleBook
    limits: TimeRules
    pairings: tuple[Pairing, ...]
    strict: bool = True  # else a program's failures come as empty salvos, and cost nothing

    def player(
        self, mark: memoryview | None = None, kinds: Mapping[str, type[Bot]] | None = None
    ) -> RunPlayer[TournamentGame]:
        return _Playing(self, mark, kinds)

    def at_table(self, game: int) -> Iterable[str]:
        return dict.fromkeys(self.pairings[game].bots)


class _Playing(RunPlayer[TournamentGame]):
    def __init__(self, games: _Games, mark: memoryview | None, kinds: Mapping[str, type[Bot]] | None) -> None:
        self._games = games
        self._limits = _limits_here(games.limits)  # before a bot is loaded: none may grant itself time with a tracer
        super().__init__(games, mark, kinds)

    def _load(self, name: str, bot: str | type[Bot]) -> type[Bot]:
        """Load a bot and make it once, so that what cannot play is reported before the first game."""
        try:
            kind = super()._load(name, bot)
            if issubclass(kind, ExecBot):
                kind.most_files = 0  # as many as games, and another name in every run's strikes
            self._try_out(kind, str(bot))
        except BotError as error:
            raise BotError("bad_bot", f"{name}: {error.text}", error.trace) from None
        return kind

    def _try_out(self, kind: type[Bot], source: str) -> None:
        """Make a bot, and ask a program for a fleet.

        Raises:
            BotError: it cannot be made, or a program ends.
        """
        try:
            bot = Adapter(made(kind))
        except BotError as error:
            raise BotError(error.code, placed(error.text, f"creating {source}")) from None
        if issubclass(kind, ExecBot):
            with closing(bot):
                bot.prepare("trial", "0", 1)
                bot.fleet(self._games.book)

    def _play(self, game: int, batch: GameResults[TournamentGame]) -> TournamentGame:
        pairing, limits = self._games.pairings[game], self._limits
        names = seat_names([self._games.bots[bot] for bot in pairing.bots])
        salvos = _SALVOS_A_CELL * self._games.book.grid.size * (len(names) - 1)
        clocks = [_GameClock(limits, salvos) for _ in names]
        supervision = Supervision(self._mark, clocks, strikes=limits.strikes)
        seated = {name: self._kinds[bot] for name, bot in zip(names, pairing.bots, strict=True)}
        outcome = self._outcome(seated, supervision, seed=pairing.seed, game=pairing.game, book=self._games.book)
        stats = [outcome.stats[name] for name in names]
        failed = [[failure for failure in supervision.failures if failure.player == name] for name in names]
        return TournamentGame(
            result=pairing.match,
            index=pairing.index,
            teams=pairing.bots,
            players=tuple(names),
            seed=pairing.seed,
            game=pairing.game,
            turns=outcome.turns,
            places=tuple(player.place for player in stats),
            shots=tuple(player.shots for player in stats),
            hits=tuple(player.hits for player in stats),
            strikes=tuple(tuple(_cause(failure, pairing) for failure in failures) for failures in failed),
            forfeited=tuple(_is_out(failures, outcome.turns, limits.strikes) for failures in failed),
            seconds=tuple(round(clock.seconds, 6) for clock in clocks),
            longest=tuple(round(clock.worst, 6) for clock in clocks),
            decisions=tuple(clock.count for clock in clocks),
            versions=("",) * len(names),
        )


class _GameClock(Decisions):
    """The time of a bot's salvos, and how many it has."""

    def __init__(self, limits: TimeRules, most: int) -> None:
        super().__init__()
        self._limits = limits
        self._most = most
        self._last = 0.0

    def note(self, seconds: float) -> None:
        super().note(seconds)
        self._last = seconds

    def check(self) -> None:
        """Compare with the limits. The time itself is in no text: no other run would repeat it.

        Raises:
            BotError: the bot was too slow, or has fired too many salvos.
        """
        if self.seconds >= self._limits.bank_seconds:
            raise BotError("bank_empty", f"its {self._limits.bank_seconds:g} s for a game are used up")
        if self._last >= self._limits.decision_seconds:
            raise BotError("turn_timeout", f"took longer than {self._limits.decision_seconds:g} s")
        if self.count > self._most:
            raise BotError("not_cleared", f"the game does not end, after {self._most} salvos")


def _cause(failure: Failure, pairing: Pairing) -> str:
    """Return a failure in a line, without the seed, which reveals the fleets of games to come."""
    text = failure.text.replace(f"; seed {pairing.seed}, game {pairing.game}", "")
    return " ".join(f"{failure.code}: {text}".split())[:_CAUSE_LETTERS]


def _is_out(failures: Sequence[Failure], turns: int, strikes: int) -> bool:
    """Whether a bot was out before the game's last turn had ended."""
    during = [failure for failure in failures if failure.turn <= turns]
    return len(during) >= strikes or any(failure.code in (*FINAL, "bad_bot") for failure in during)
