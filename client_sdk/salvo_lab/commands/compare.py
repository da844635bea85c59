"""``salvo compare``."""

from __future__ import annotations

import json
import secrets
import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import click

from salvo.bots.replay_command import again
from salvo.bots.sources import in_sandbox
from salvo.bots.versions import pinned
from salvo.cli.checked import refuse_unused, refuse_unused_sandbox
from salvo.cli.options import JOBS, RULES, SANDBOXED, SEED, json_option
from salvo.cli.output import SECONDS, Integer, Progress, progress_bar
from salvo_lab.commands.climbing import climb_and_show
from salvo_lab.commands.failures import failure_lines
from salvo_lab.commands.on_hosts import connected, hosts
from salvo_lab.comparison import ERROR, Comparison, SequentialTest, Verdict
from salvo_lab.comparison import compare as compare_bots
from salvo_lab.highlights import LostGame
from salvo_lab.intervals import percent
from salvo_lab.ladder import GAMES
from salvo_lab.simulation import Seats
from salvo_lab.time_limits import TURN_SECONDS

_LEGEND: Final = (
    "legend:   win rate: games won, a tie is half a win; the range has the true rate with that confidence\n"
    "          in pairs: two games each on the same fleets, with the sides exchanged"
)


@click.command()
@click.argument("first")
@click.argument("others", metavar="SECOND...", nargs=-1)
@click.option("--ladder", is_flag=True, help="Find the rungs of the frozen ladder that FIRST beats, instead of SECOND.")
@click.option(
    "--games",
    type=Integer(min=2),
    default=20_000,
    help="At most this many games against each, in pairs.",
)
@RULES
@SEED
@JOBS
@hosts
@click.option(
    "--turn-seconds",
    type=SECONDS,
    default=TURN_SECONDS,
    help="Seconds for a salvo; a bot that takes longer fails.",
)
@SANDBOXED
@json_option("One JSON line for each SECOND.")
@click.pass_context
def compare(
    ctx: click.Context,
    first: str,
    others: tuple[str, ...],
    ladder: bool,
    games: int,
    rules: str,
    seed: str | None,
    jobs: int | None,
    scheduler: str | None,
    tls: Path | None,
    turn_seconds: float,
    sandbox: bool,
    as_json: bool,
) -> None:
    """Decide whether the bot FIRST is better or worse than SECOND, or as good: it certainly wins 48% to 52%.

    Several SECONDs are played one by one, with the same fleets. HEAD:mybot.py is the bot as committed in git. With
    --ladder, FIRST meets four rungs at most of a frozen ladder of built-in bots, and shows how long that may take.

    Games are played in pairs with the same fleets and start, and the sides exchanged; bots that place their own fleets
    keep them. It stops as soon as the verdict is certain enough, which it may check after every pair:
    salvo_lab.comparison explains how. At the end it lists lost games to look at. Bot output is discarded.
    """
    if ladder:
        refuse_unused(
            "games", f"with --ladder, which plays at most {GAMES} games against a rung; leave one of them out"
        )
        refuse_unused("rules", "with --ladder, whose strengths are those of its own rules; leave one of them out")
    if ladder and others:
        raise click.UsageError(f"--ladder takes the place of {others[0]}; leave one of them out")
    if not ladder and not others:
        raise click.MissingParameter(ctx=ctx, param_hint="'SECOND...'", param_type="argument")
    seed = seed or secrets.token_hex(16)
    if sandbox:
        given = (first, *others)
        first, *guarded = (in_sandbox(bot) for bot in given)
        others = tuple(guarded)
        refuse_unused_sandbox(given, (first, *others))
    first, others = pinned(first), tuple(pinned(other) for other in others)
    cluster = ctx.with_resource(connected(scheduler, tls))
    if ladder:
        climb_and_show(
            first,
            seed,
            jobs=jobs,
            turn_seconds=turn_seconds,
            cluster=cluster,
            as_json=as_json,
        )
        return
    words = ["salvo", "compare", first, *others, "--seed", seed]
    for option, value, default in (("--games", games, 20_000), ("--rules", rules, "salvo")):
        if value != default:
            words += [option, str(value)]
    command = shlex.join(words)

    def game_again(other: str, game: int) -> str:
        return again([first, other], seed, game, rules=rules, seats=Seats.PAIRED)

    compared: list[Comparison] = []
    for other in others:
        start = time.monotonic()
        label = "games" if len(others) == 1 else f"games against {other}"
        with progress_bar(games, label, plain=as_json) as show:

            def progress(test: SequentialTest, show: Progress = show) -> None:
                show(2 * test.pairs, f"{percent(test.mean)} won")

            found = compare_bots(
                first,
                other,
                games=games,
                seed=seed,
                rules=rules,
                confidence=1 - ERROR / len(others),  # all together err as often as stated (Bonferroni)
                jobs=jobs,
                turn_seconds=turn_seconds,
                progress=progress,
                waiting=show,
                cluster=cluster,
            )
        compared.append(found)
        if as_json:
            click.echo(json.dumps({**_record(found, partial(game_again, other)), "rules": rules, "again": command}))
        else:
            for line in _lines(found, partial(game_again, other), time.monotonic() - start):
                click.echo(line)
    if any(found.failures for found in compared):
        if not as_json:
            click.echo(f"again:    {command}")
        raise SystemExit(1)
    if as_json:
        return
    if len(others) > 1:
        click.echo(_in_all(compared, others))
    for lost, other in _worth_seeing(compared, others):
        click.echo(f"{lost.in_words}: {game_again(other, lost.score.game)}")
    click.echo(_LEGEND)
    click.echo(f"again:    {command}")


def _lines(found: Comparison, command: Callable[[int], str], seconds: float) -> Iterator[str]:
    # First, since a verdict on a bot that fails says little of how it plays.
    yield from failure_lines(found.failures, command)
    if found.failures:
        failed = " and ".join(sorted({failure.player for failure in found.failures}))
        yield f"no verdict against {found.bots[1]}: {failed} failed, so the games do not show how well it plays"
        return
    yield found.in_words
    yield (
        f"win rate: {found.rate:.1%} against {found.bots[1]}, {found.low:.1%} to {found.high:.1%} with "
        f"{percent(1 - found.error)} confidence, {found.games} games in pairs, {seconds:.1f} s"
    )


def _in_all(compared: Sequence[Comparison], others: Sequence[str]) -> str:
    """Return all verdicts in a line, with the error of all together."""
    verdicts: dict[str, list[str]] = {"better than": [], "worse than": [], "as good as": [], "undecided against": []}
    for found, other in zip(compared, others, strict=True):
        words = f"{found.verdict} than" if found.verdict is not Verdict.UNDECIDED else "undecided against"
        verdicts["as good as" if found.within_margin else words].append(other)
    in_words = "; ".join(f"{words} {', '.join(names)}" for words, names in verdicts.items() if names)
    error = f"the chance that any of it is wrong is at most {percent(ERROR)}"
    return f"in all:   {compared[0].bots[0]} is {in_words}; {error}"


def _worth_seeing(compared: Sequence[Comparison], others: Sequence[str]) -> Iterator[tuple[LostGame, str]]:
    """Yield of all lost games the one lost by most and the one lost by least, and the opponents."""
    lost = [(one, other) for found, other in zip(compared, others, strict=True) for one in found.lost]
    lost.sort(key=lambda found: found[0].score.lead)
    if lost:
        yield lost[0]
        if lost[-1][0].why == "lost by least":
            yield lost[-1]


def _record(found: Comparison, command: Callable[[int], str]) -> dict[str, object]:
    return {
        "bots": found.bots,
        "verdict": None if found.failures else found.verdict,
        "within_margin": found.within_margin,
        "games": found.games,
        "rate": found.rate,
        "interval": [found.low, found.high],
        "error": round(found.error, 12),
        "margin": found.margin,
        "games_needed": found.games_needed,
        "seed": found.seed,
        "pairs": {f"{score:g}": count for score, count in found.pairs.items()},
        "failures": [
            {"player": f.player, "game": f.game, "turn": f.turn, "code": f.code, "text": f.text} for f in found.failures
        ],
        "lost": [
            {"why": why, "game": score.game, "hits": score.hits, "rival_hits": score.rival_hits}
            | {"again": command(score.game)}
            for why, score in found.lost
        ],
    }
