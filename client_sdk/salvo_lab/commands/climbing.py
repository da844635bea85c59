"""``salvo compare --ladder``: the climb, and how it is drawn."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Iterator, Sequence
from math import ceil, isfinite
from typing import TYPE_CHECKING, Any

import click

from salvo.bots.replay_command import again
from salvo.cli.output import progress_bar
from salvo_lab.commands.failures import failure_lines
from salvo_lab.comparison import ERROR, SequentialTest
from salvo_lab.intervals import percent
from salvo_lab.ladder import GAMES, Climb, Rung, climb, frozen
from salvo_lab.simulation import Seats

if TYPE_CHECKING:
    from salvo_lab.cluster import Cluster


def climb_and_show(
    bot: str,
    seed: str,
    *,
    jobs: int | None,
    turn_seconds: float,
    cluster: Cluster | None,
    as_json: bool,
) -> None:
    """Let a bot climb the frozen ladder, and print where it stands.

    Raises:
        SystemExit: a bot failed.
    """
    begun, games = time.monotonic(), dict[str, int]()
    with progress_bar(GAMES, "games", plain=as_json) as show:

        def progress(rung: Rung, test: SequentialTest) -> None:
            games[rung.name] = 2 * test.pairs
            won = f"{percent(test.mean)} won against {rung.name}"
            show(games[rung.name], f"{won}, {left(list(games.values()), time.monotonic() - begun)}")

        found = climb(
            bot,
            seed=seed,
            jobs=jobs,
            turn_seconds=turn_seconds,
            progress=progress,
            waiting=show,
            cluster=cluster,
        )
    command = shlex.join(["salvo", "compare", bot, "--ladder", "--seed", seed])
    if as_json:
        click.echo(json.dumps(record(found) | {"seed": seed, "again": command}))
    else:
        for line in lines(found, bot, seed):
            click.echo(line)
        click.echo(f"again:    {command}")
    if found.failed:
        raise SystemExit(1)


def left(games: Sequence[int], seconds: float) -> str:
    """Return how long a climb takes at most, in words.

    Args:
        games: against each rung so far, of which the last is being met.
        seconds: how long that took.
    """
    most = len(frozen().rungs).bit_length()  # rungs that are met
    games_left = (most - len(games) + 1) * GAMES - games[-1]
    minutes = ceil(games_left * seconds / sum(games) / 60)
    return f"rung {len(games)} of {most} at most; {minutes} min more at most"


def lines(found: Climb, bot: str, seed: str) -> Iterator[str]:
    """Yield the ladder as text, the strongest rung first, with the bot where it stands."""
    rungs = found.ladder.rungs
    for number, met in found.met.items():

        def game_again(game: int, number: int = number) -> str:
            return again([bot, rungs[number].bot], seed, game, rules=found.ladder.rules, seats=Seats.PAIRED)

        yield from failure_lines(met.failures, game_again)
    if found.failed:
        yield "no verdict: a bot failed, so the games do not show how well it plays"
        return
    yield f"{found.ladder.name}, rules {found.ladder.rules}"
    for number in reversed(range(len(rungs))):
        if number == found.beats - 1:
            yield f"    > {found.bot:16} {_points(found.strength):>6}   {_range(found)}"
        yield f" {number + 1:3}  {rungs[number].name:16} {rungs[number].strength:6}{_result(found, number)}"
    if not found.beats:
        yield f"    > {found.bot:16} {_points(found.strength):>6}   {_range(found)}"
    yield found.in_words


def _result(found: Climb, number: int) -> str:
    met = found.met.get(number)
    if met is None:
        return ""
    return f"   {met.rate:.1%} won, {met.low:.1%} to {met.high:.1%}, {met.games} games"


def _points(strength: float) -> str:
    return f"{strength:.0f}" if isfinite(strength) else "-"


def _range(found: Climb) -> str:
    if isfinite(found.low) and isfinite(found.high):
        return f"strength {found.low:.0f} to {found.high:.0f}"
    if isfinite(found.low):
        return f"strength {found.low:.0f} or more"
    return f"strength {found.high:.0f} or less" if isfinite(found.high) else "strength unknown"


def record(found: Climb) -> dict[str, Any]:
    """Return a climb for programs; rungs are numbered from 1, and a strength without a bound is null."""
    rungs = found.ladder.rungs
    return {
        "ladder": found.ladder.name,
        "rules": found.ladder.rules,
        "bot": found.bot,
        "beats": None if found.failed else found.beats,
        "level_with": None if found.level is None else found.level + 1,
        "strength": found.strength if isfinite(found.strength) else None,
        "interval": [bound if isfinite(bound) else None for bound in (found.low, found.high)],
        "error": ERROR,
        "rungs": [{"rung": number, **rung._asdict()} for number, rung in enumerate(rungs, 1)],
        "compared": [
            {
                "rung": number + 1,
                "verdict": None if met.failures else met.verdict,
                "games": met.games,
                "rate": met.rate,
                "interval": [met.low, met.high],
                "failures": len(met.failures),
            }
            for number, met in found.met.items()
        ],
    }
