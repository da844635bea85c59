"""``salvo solo``."""

from __future__ import annotations

import importlib.util
import json
import multiprocessing
import shlex
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict
from functools import cache, partial
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import TYPE_CHECKING

import click

from salvo.adapter import made
from salvo.cli.checked import Checked
from salvo.cli.options import JOBS, RULES, TRACEBACK, json_option
from salvo.cli.output import Integer, has_terminal, progress_bar
from salvo.errors import BotError
from salvo.programs.keeper import how_it_ended
from salvo.programs.linux import cores
from salvo.programs.process_pool import ProgramPool
from salvo.rules import RuleBook
from salvo.rules.files import load_book
from salvo.sources import load
from salvo_lab.commands.failures import repeated_by
from salvo_lab.commands.on_hosts import UNUSED, connected, hosts
from salvo_lab.intervals import DEVIATIONS
from salvo_lab.programs.worker_process import LOOK_SECONDS, WorkerProcess, end_all
from salvo_lab.solo import Cleared, Summary, clear, summary

if TYPE_CHECKING:
    from salvo_lab.cluster import Cluster

#: Boards that a process is given at a time.
_AT_ONCE = 8


@click.command(cls=Checked, unused=UNUSED)
@click.argument("bot")
@click.option("--boards", type=Integer(min=1), default=200, help="How many boards.")
@click.option("--seed", default="0", help="Seed of the boards and of the bot.")
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
    more = ["--rules", rules] if rules != "salvo" else []
    again = shlex.join(["salvo", "solo", bot, "--boards", str(boards), "--seed", seed, *more])
    with repeated_by(again):
        cleared = list(_with_progress(_clear_all(bot, boards, seed, book, jobs, cluster), boards, plain=as_json))
    if trouble := next((each.trouble for each in cleared if each.trouble), ""):
        click.echo(f"warning: {trouble}", err=True)
    salvos, fired = summary([each.salvos for each in cleared]), summary([each.shots for each in cleared])
    seconds = [each for one in cleared for each in one.seconds]
    mean_ms, worst_ms = 1000 * sum(seconds) / len(seconds), 1000 * max(seconds)
    if as_json:
        record = {"bot": bot, "boards": boards, "seed": seed, "rules": book.name}
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


class Clearers:
    """Processes that clear boards. Use it in a ``with`` block."""

    def __init__(self, bot: str, seed: str, book: RuleBook, jobs: int) -> None:
        self._given = (bot, seed, book)
        self._jobs = jobs
        self._workers: list[WorkerProcess] = []

    def __enter__(self) -> Clearers:
        return self

    def __exit__(self, *_: object) -> None:
        end_all(self._workers)

    def clear(self, boards: Sequence[int], look: Callable[[], object] | None = None) -> Iterator[Cleared]:
        """Clear board after board, in their order, on as many processes as there is work for.

        Args:
            look: called about ten times a second.

        Raises:
            BotError: of the first board that fails, as :func:`salvo_lab.solo.clear`; ``bad_bot``; ``bot_crashed``:
                the bot ended its process.
        """
        context = multiprocessing.get_context("spawn")
        while len(self._workers) < min(self._jobs, -(-len(boards) // _AT_ONCE)):
            self._workers.append(WorkerProcess(context, _work, *self._given))
        waiting = deque(boards)
        found: dict[int, Cleared | BotError] = {}
        for board in boards:
            while board not in found:
                if look is not None:
                    look()
                for worker in self._workers:
                    while waiting and len(worker.tasks) < _AT_ONCE:
                        worker.give(waiting.popleft())
                found.update(self._collected())
            cleared = found.pop(board)
            if isinstance(cleared, BotError):
                raise cleared
            yield cleared

    def _collected(self) -> Iterator[tuple[int, Cleared | BotError]]:
        """Wait for answers, and return them by board; a process that has ended is no longer one of the workers."""
        ready = wait([worker.pipe for worker in self._workers if worker.tasks], LOOK_SECONDS)
        for worker in [each for each in self._workers if each.pipe in ready]:
            board = worker.tasks[0]
            try:
                answer = worker.receive()
                yield board, answer if isinstance(answer, Cleared) else BotError(*answer)
            except EOFError:
                bot, seed, _ = self._given
                text = f"{bot}, board {board}, seed {seed}: ended the process: {how_it_ended(worker.kill())}"
                self._workers.remove(worker)
                yield board, BotError("bot_crashed", text)


def _clear_all(
    bot: str, boards: int, seed: str, book: RuleBook, jobs: int | None, cluster: Cluster | None
) -> Generator[Cleared, None, None]:
    if cluster is not None:
        from salvo_lab.commands.solo_on_hosts import Boards

        for cleared in cluster.play(Boards.shipped(bot, seed, book), range(1, boards + 1)):
            yield from cleared
        return
    with Clearers(bot, seed, book, jobs or cores()) as clearers:
        yield from clearers.clear(range(1, boards + 1))


def _work(pipe: Connection, bot: str, seed: str, book: RuleBook) -> None:
    """Clear the boards that are asked for; send an error as its code, text and trace."""
    with closing(ProgramPool()) as staying:
        kind = cache(partial(load, bot, staying=staying))
        while True:
            board = pipe.recv()
            try:
                pipe.send(clear(lambda: made(kind()), board, seed=seed, book=book))
            except BotError as error:
                pipe.send((error.code, error.text, error.trace))


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
    if has_terminal() and importlib.util.find_spec("rich") is not None:
        from rich.bar import Bar
        from rich.console import Console
        from rich.table import Table

        table = Table.grid(padding=(0, 1))
        for label, boards in lines:
            table.add_row(label, Bar(most, 0, boards, width=60, color="cyan"), str(boards))
        Console().print(table)
        return
    for label, boards in lines:
        click.echo(f"{label:>7} {boards:6} {'#' * round(50 * boards / most)}")
