"""``salvo solo``."""

from __future__ import annotations

import json
import shlex
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from salvo.bots.programs.linux import cores
from salvo.cli.options import JOBS, RULES, TRACEBACK, json_option
from salvo.cli.output import Integer, progress_bar
from salvo.errors import BotError
from salvo.rules.files import load_book
from salvo_lab.commands.failures import repeated_by
from salvo_lab.commands.on_hosts import connected, hosts
from salvo_lab.intervals import DEVIATIONS
from salvo_lab.simulation import played
from salvo_lab.solo import SHOOTER, Boards, Cleared, Summary, summary

if TYPE_CHECKING:
    from salvo_lab.cluster import Cluster


@click.command()
@click.argument("bot")
@click.option("--boards", type=Integer(min=1), default=200, help="How many boards.")
@click.option("--seed", default="0", help="Seed of the boards and of the bot.")
@click.option("--ship-by-ship", is_flag=True, help="Draw each ship where it still fits, not whole fleets evenly.")
@RULES
@JOBS
@hosts
@TRACEBACK
@json_option("One JSON object.")
@click.pass_context
def solo(
    ctx: click.Context,
    bot: str,
    boards: int,
    seed: str,
    ship_by_ship: bool,
    rules: str,
    jobs: int | None,
    scheduler: str | None,
    tls: Path | None,
    traceback: bool,
    as_json: bool,
) -> None:
    """Count the shots and salvos that BOT needs to clear random boards, which never shoot back.

    Its output is discarded.
    """
    book = load_book(rules)
    cluster = ctx.with_resource(connected(scheduler, tls))
    more = [*(["--ship-by-ship"] if ship_by_ship else []), *(["--rules", rules] if rules != "salvo" else [])]
    again = shlex.join(["salvo", "solo", bot, "--boards", str(boards), "--seed", seed, *more])
    run = Boards({SHOOTER: bot}, seed, book, ship_by_ship=ship_by_ship)
    with repeated_by(again):
        cleared = list(_with_progress(clear_all(run, range(1, boards + 1), jobs, cluster), boards, plain=as_json))
    if trouble := next((board.trouble for board in cleared if board.trouble), ""):
        click.echo(f"warning: {trouble}", err=True)
    salvos, fired = summary([board.salvos for board in cleared]), summary([board.shots for board in cleared])
    seconds = [second for one in cleared for second in one.seconds]
    mean_ms, worst_ms = 1000 * sum(seconds) / len(seconds), 1000 * max(seconds)
    if as_json:
        record = {"bot": bot, "boards": boards, "seed": seed, "ship_by_ship": ship_by_ship, "rules": book.name}
        figures = {"salvos": asdict(salvos), "shots": asdict(fired)}
        click.echo(json.dumps({**record, **figures, "ms": {"mean": round(mean_ms, 3), "worst": round(worst_ms, 3)}}))
        return
    shown = salvos if book.longest_salvo > 1 else fired
    click.echo(f"{'salvos' if shown is salvos else 'shots':>7} boards")
    _show_histogram(shown)
    click.echo(_line("salvos", salvos))
    click.echo(_line("shots", fired))
    click.echo(f"time:   {mean_ms:.2f} ms a salvo, at worst {worst_ms:.1f} ms")
    click.echo("legend: salvos and shots to clear a board, fewer is better; +-: 95% interval of the mean")
    click.echo(f"again:  {again}")


def clear_all(run: Boards, boards: range, jobs: int | None, cluster: Cluster | None) -> Generator[Cleared, None, None]:
    """Clear the boards of these numbers, in their order, on the hosts of a cluster or on processes here.

    Raises:
        BotError: of the first board that fails, as :func:`salvo_lab.solo.clear`; ``bad_bot``; ``bot_crashed``: the bot
            ended its process.
    """
    written = [str(bot) for bot in run.bots.values()]
    for batch in played(run, written, boards, jobs=cores() if jobs is None else jobs, cluster=cluster):
        failures = {failure.game: failure for failure in batch.failures}
        for cleared in batch.rows:
            if (failed := failures.get(cleared.board)) is not None:
                raise BotError(failed.code, failed.text, failed.trace)
            yield cleared


def _with_progress(cleared: Generator[Cleared, None, None], count: int, *, plain: bool) -> Iterator[Cleared]:
    with closing(cleared), progress_bar(count, "boards", plain=plain) as show:
        for done, board in enumerate(cleared, start=1):
            show(done)
            yield board


def _line(what: str, found: Summary) -> str:
    return f"{what + ':':7} {found.mean:.2f} +- {DEVIATIONS * found.error:.2f}, median {found.median:g}"


def _show_histogram(found: Summary) -> None:
    lines = found.lines()
    most = max(boards for _, boards in lines)
    for label, boards in lines:
        click.echo(f"{label:>7} {boards:6} {'#' * round(50 * boards / most)}")
