"""What ``salvo play`` is given to play, and the lines that it prints of a game."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from salvo.bots.replay_command import again
from salvo.bots.sources import is_program
from salvo.cli.output import keep_recorded, look_again, places_line, winner_line
from salvo_lab.arena import EMPTY_TURNS, Outcome
from salvo_lab.human import AT_DESKS
from salvo_lab.simulation import Played, Seats
from salvo_lab.time_limits import TimeLimits

#: Stands for the game's number in the name of a file.
GAME: Final = "{game}"


@dataclass(frozen=True, slots=True)
class PlayPlan:
    """Games to be played, as the command line says.

    Attributes:
        game: number of the first one.
        games: how many.
        record: name of the transcript, with ``{game}`` where several have one.
    """

    bots: tuple[str, ...]
    seed: str
    rules: str
    game: int
    games: int
    seats: Seats
    turn_seconds: float | None
    bank: float | None
    record: str | None
    as_json: bool

    @property
    def has_programs(self) -> bool:
        return any(is_program(bot) for bot in self.bots)

    @property
    def has_person(self) -> bool:
        """Whether a person or a model plays."""
        return any(bot in AT_DESKS for bot in self.bots)

    @property
    def at_once(self) -> bool:
        """Whether several games are played at the same time."""
        return self.games > 1 and self.record is None and self.bank is None and not self.has_programs

    @property
    def limits(self) -> TimeLimits | None:
        """How long bots may think in games one by one."""
        if self.turn_seconds is None and self.bank is None:
            return None
        return TimeLimits(self.turn_seconds, self.bank)

    @property
    def command(self) -> str:
        """What plays the same again."""
        return self._again(self.game, self.games)

    def command_for(self, game: int) -> str:
        """Return the command that replays a game, or plays it again."""
        if self.record is None:
            return self._again(game, 1)
        return look_again(self.transcript(game)).removeprefix("show:").strip()

    def _again(self, game: int, games: int) -> str:
        given = (("turn-seconds", self.turn_seconds), ("bank", self.bank))
        timed = "".join(f" --{name} {value:g}" for name, value in given if value)
        return again(self.bots, self.seed, game, games, self.rules, self.seats) + timed

    def transcript(self, game: int) -> Path:
        """Return the file in which a game is recorded."""
        assert self.record is not None
        return Path(self.record.replace(GAME, str(game)))

    def check_transcript(self, game: int) -> None:
        """Refuse to overwrite another game before this one is played, not when it is lost."""
        keep_recorded(self.transcript(game))


def warn(text: str) -> None:
    """Print a warning."""
    click.echo(f"warning: {text}", err=True)


def write_game(outcome: Outcome, write: Callable[[str], None]) -> None:
    """Write how a game ended."""
    write(f"{winner_line(outcome.winner, outcome.places)} after {outcome.turns} salvos")
    write(f"places: {places_line(outcome.places)}")
    for name in outcome.silent:
        write(f"out:    {name}, after {EMPTY_TURNS} turns in a row without a shot")


def write_again(plan: PlayPlan, write: Callable[[str], None], *, explained: bool) -> None:
    """Write the commands that play the games again.

    Args:
        explained: whether also those that explain and show the first one, if it is recorded.
    """
    write(f"seed:   {plan.seed}")
    write(f"again:  {plan.command}")
    if plan.record is not None and explained:
        transcript = plan.transcript(plan.game)
        write(f"why:    salvo explain {shlex.quote(str(transcript))}")
        write(look_again(transcript))


def wins_line(wins: dict[str, int], ties: int, games: int, rates: dict[str, tuple[float, float]]) -> str:
    """Return the wins of each bot.

    Args:
        rates: by name, the mean score, in which a tie counts in part, and half the width of its 95 % interval.
    """
    tied = f", ties: {ties}, of which each has a share" if ties else ""
    shown = [f"{name} {wins[name]} of {games} ({rate:.1%} +- {error:.1%})" for name, (rate, error) in rates.items()]
    return "wins:   " + ", ".join(shown) + tied


def record_of(outcome: Outcome | Played) -> dict[str, object]:
    """Return a game for JSON."""
    failures = outcome.failures if isinstance(outcome, Played) else ()
    failed = {"failures": [{"player": f.player, "turn": f.turn, "code": f.code, "text": f.text} for f in failures]}
    return {
        "winner": outcome.winner,
        "places": outcome.places,
        "turns": outcome.turns,
        "seed": outcome.seed,
        "game": outcome.game,
        "stats": {
            name: {"shots": s.shots, "hits": s.hits, "sunk": s.sunk, "turns": s.turns, "place": s.place}
            for name, s in outcome.stats.items()
        },
        **(failed if failures else {}),
    }
