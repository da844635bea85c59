"""``salvo compare``."""

from __future__ import annotations

import json
import secrets
import shlex
import time

import click

from salvo.laboratory.again import again
from salvo.laboratory.comparison import Comparison, SequentialTest
from salvo.laboratory.comparison import compare as compare_bots
from salvo.laboratory.simulation import TURN_SECONDS, Seats
from salvo_server.cli.output import JOBS, SECONDS, failure_lines, progress_bar


@click.command()
@click.argument("first")
@click.argument("second")
@click.option("--games", type=click.IntRange(min=2), default=20_000, help="At most so many; seats and fleets in pairs.")
@click.option("--rules", default="salvo", help="Rule book: a name, or a TOML file.")
@click.option("--seed", help="Decides all games; 128 bits are drawn when not given, since a bot guesses a small one.")
@click.option(
    "--confidence",
    type=click.FloatRange(0.5, 1, min_open=True, max_open=True),
    default=0.95,
    help="1 - the error that a verdict may have.",
)
@click.option(
    "--margin",
    type=click.FloatRange(0, 0.5, max_open=True),
    default=0.02,
    help="Stop, too, when the win rate is surely so near to one half; 0 never does.",
)
@click.option("--jobs", type=JOBS, help="Processes to play in.  [default: all cores]")
@click.option(
    "--turn-seconds",
    type=SECONDS,
    default=TURN_SECONDS,
    help="How long a bot may think about a salvo before it is given up.",
)
@click.option("--json", "as_json", is_flag=True, help="The result as one JSON line.")
def compare(
    first: str,
    second: str,
    games: int,
    rules: str,
    seed: str | None,
    confidence: float,
    margin: float,
    jobs: int | None,
    turn_seconds: float,
    as_json: bool,
) -> None:
    """Tell whether the bot FIRST is better or worse than SECOND, or that the games leave it undecided.

    Every two games have the same fleets and start, with the sides exchanged; bots that lay their fleets themselves keep
    them. It stops as soon as the verdict is sure enough, and may look after every pair: how, says
    salvo.laboratory.comparison. What bots print goes nowhere.
    """
    seed = seed or secrets.token_hex(16)
    start = time.monotonic()
    with progress_bar(games, "games", hidden=as_json) as show:

        def progress(test: SequentialTest) -> None:
            if test.pairs % 16 == 0:
                show(2 * test.pairs)

        found = compare_bots(
            first,
            second,
            games=games,
            seed=seed,
            rules=rules,
            confidence=confidence,
            margin=margin or None,
            jobs=jobs,
            turn_seconds=turn_seconds,
            progress=progress,
        )
    words = ["salvo", "compare", first, second, "--seed", seed]
    for option, value, default in (
        ("--games", games, 20_000),
        ("--rules", rules, "salvo"),
        ("--confidence", confidence, 0.95),
        ("--margin", margin, 0.02),
    ):
        if value != default:
            words += [option, f"{value:g}" if isinstance(value, float) else str(value)]
    command = shlex.join(words)
    if as_json:
        click.echo(json.dumps({**_record(found), "rules": rules, "again": command}))
        return
    # First, since a verdict on a bot that fails says little of how it plays.
    for line in failure_lines(
        found.failures, lambda game: again([first, second], seed, game, rules=rules, seats=Seats.PAIRED)
    ):
        click.echo(line)
    other = found.bots[1]
    click.echo(found.in_words)
    click.echo(
        f"win rate: {found.rate:.1%} against {other}, {found.low:.1%} to {found.high:.1%} with {1 - found.error:g} "
        f"confidence, {found.games} games in pairs, {time.monotonic() - start:.1f} s"
    )
    click.echo(f"again:    {command}")


def _record(found: Comparison) -> dict[str, object]:
    return {
        "bots": found.bots,
        "verdict": found.verdict,
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
    }
