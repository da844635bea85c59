"""``salvo dev``."""

from __future__ import annotations

import json
from collections.abc import Sequence

import click

from salvo.bots.versions import pinned
from salvo.cli.options import JOBS, RULES, json_option
from salvo.cli.output import SECONDS, Integer, has_terminal
from salvo.errors import BotError
from salvo_lab.commands.dev_bench import Bench, Signature, Trial, file_of, saved
from salvo_lab.commands.dev_report import lines, record
from salvo_lab.time_limits import TURN_SECONDS

#: Games against each opponent, for an error that means something.
LEAST_GAMES = 4
#: Games at every save.
GAMES = 200


@click.command()
@click.argument("bot")
@click.option(
    "--against",
    multiple=True,
    default=("hunter",),
    help="An opponent, or several: a file, a built-in bot, or HEAD:file.py, as git has it.",
)
@click.option(
    "--games",
    type=Integer(min=LEAST_GAMES),
    default=GAMES,
    help="Games at every save, in pairs, divided among the opponents.",
)
@RULES
@click.option("--seed", default="dev", help="Seed of all games, the same at every save, so that changes show.")
@JOBS
@click.option(
    "--turn-seconds",
    type=SECONDS,
    default=TURN_SECONDS,
    help="Seconds for a salvo.",
)
@json_option("One JSON line per save.")
def dev(
    bot: str,
    against: tuple[str, ...],
    games: int,
    rules: str,
    seed: str,
    jobs: int | None,
    turn_seconds: float,
    as_json: bool,
) -> None:
    """Play BOT, a file or file.py:Name, now and whenever a Python file in its folder is saved, until Ctrl-C.

    For a program, file.js or exec:COMMAND, it watches the files in its folder that have the same ending.

    It plays the same games every time, and compares them with those of the last save that was played to the end: the
    first line says what this save has changed: better, worse, undecided or unchanged. The first error ends the games
    and is shown with its line. +- is a 95% interval. Bot output is discarded.
    """
    file = file_of(bot)
    if not file.is_file():
        raise BotError("bad_bot", f"no file {file}; salvo dev plays a file whenever it is saved")
    share = _share(games, against)
    opponents = [(name, pinned(name)) for name in against]
    bench = Bench(bot, opponents, share, rules, seed, jobs, turn_seconds)

    def report(trial: Trial, last: Trial | None) -> None:
        if as_json:
            click.echo(json.dumps(record(trial, last, bench)))
        else:
            for line in lines(trial, last, bench):
                click.echo(line)

    last: Trial | None = None
    seen: Signature | None = None
    if has_terminal():
        what = f"{file.suffix} file of its folder" if file.suffix else "file"
        click.echo(f"{file} is played whenever a {what} is saved; Ctrl-C ends", err=True)
    try:
        while True:
            seen = saved(file, seen)
            trial = bench.play(seen)
            if trial is None:
                seen = None  # whatever has changed may be undone by now
                continue
            report(trial, last)
            if trial.rounds:
                last = trial
    except KeyboardInterrupt:
        click.echo("", err=True)


def _share(games: int, against: Sequence[str]) -> int:
    """Return how many games each opponent gets, an even number."""
    least = LEAST_GAMES * len(against)
    if games < least:
        raise click.UsageError(f"--games {games}: {len(against)} opponents need {least} or more")
    for name in against:
        if against.count(name) > 1:
            raise click.UsageError(f"--against {name}: named {against.count(name)} times")
    return games // len(against) // 2 * 2
