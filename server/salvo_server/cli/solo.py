"""``salvo solo``."""

from __future__ import annotations

import atexit
import importlib.util
import json
import multiprocessing
import os
import shlex
import signal
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, replace
from functools import partial
from multiprocessing.process import BaseProcess
from typing import Any

import click

from salvo.errors import BotError
from salvo.laboratory.simulation.pool import cores, end_of
from salvo.laboratory.simulation.worker import hush
from salvo.laboratory.solo import Cleared, Summary, clear, summary
from salvo.programs.staying import Staying
from salvo.rules import Grid, RuleBook, Shots, UnplayableBook, check_room, generator
from salvo.rules.files import RuleFileError, load_book
from salvo.sources import make
from salvo_server.cli.output import JOBS, TRACEBACK, has_terminal, progress_bar

#: Boards that a process is given at a time.
_AT_ONCE = 8


@click.command()
@click.argument("bot")
@click.option("--boards", type=click.IntRange(min=1), default=200, help="How many boards.")
@click.option("--seed", default="0", help="Decides the boards, and what the bot draws.")
@click.option("--rules", default="salvo", help="Rule book: a name, or a TOML file.")
@click.option("--width", type=int, help="Columns, in place of the rule book's.")
@click.option("--height", type=int, help="Rows, in place of the rule book's.")
@click.option(
    "--shots",
    type=click.Choice([Shots.AFLOAT.value, Shots.ONE.value]),
    help="Shots of a turn, in place of the rule book's.",
)
@click.option("--jobs", type=JOBS, help="Processes; one a core when not given.")
@TRACEBACK
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def solo(
    bot: str,
    boards: int,
    seed: str,
    rules: str,
    width: int | None,
    height: int | None,
    shots: str | None,
    jobs: int | None,
    traceback: bool,
    as_json: bool,
) -> None:
    """Count the shots and salvos that BOT needs to clear random boards, which never shoot back.

    What it prints goes nowhere.
    """
    book = _changed(load_book(rules), width, height, shots)
    cleared = list(_with_progress(_clear_all(bot, boards, seed, book, jobs), boards, plain=as_json))
    salvos, fired = summary([each.salvos for each in cleared]), summary([each.shots for each in cleared])
    seconds = [each for one in cleared for each in one.seconds]
    mean_ms, worst_ms = 1000 * sum(seconds) / len(seconds), 1000 * max(seconds)
    if as_json:
        record = {"bot": bot, "boards": boards, "seed": seed, "rules": book.name}
        figures = {"salvos": asdict(salvos), "shots": asdict(fired)}
        click.echo(json.dumps({**record, **figures, "ms": {"mean": round(mean_ms, 3), "worst": round(worst_ms, 3)}}))
        return
    options = {"--rules": rules if rules != "salvo" else None, "--width": width, "--height": height, "--shots": shots}
    more = [word for option, value in options.items() if value is not None for word in (option, str(value))]
    again = shlex.join(["salvo", "solo", bot, "--boards", str(boards), "--seed", seed, *more])
    shown = salvos if book.longest_salvo > 1 else fired
    _show_histogram(shown)
    click.echo(_line("salvos", salvos))
    click.echo(_line("shots", fired))
    click.echo(f"time:   {mean_ms:.2f} ms a salvo, at worst {worst_ms:.1f} ms")
    click.echo(f"again:  {again}")


def _changed(book: RuleBook, width: int | None, height: int | None, shots: str | None) -> RuleBook:
    """Return the book with what the options say in its place."""
    if (width, height, shots) == (None, None, None):
        return book
    try:
        grid = Grid(book.grid.width if width is None else width, book.grid.height if height is None else height)
        book = replace(book, grid=grid, shots=book.shots if shots is None else Shots(shots))
        check_room(book, generator("room"))
    except UnplayableBook as error:
        raise RuleFileError(f"{error.field}: {error.text}") from None
    except ValueError as error:
        raise RuleFileError(str(error)) from None
    return book


def _clear_all(bot: str, boards: int, seed: str, book: RuleBook, jobs: int | None) -> Iterator[Cleared]:
    """Clear board after board, in their order, on as many processes as there is work for.

    Raises:
        BotError: as :func:`salvo.laboratory.solo.clear`; ``bad_bot``; ``bot_crashed``: it ended its process.
    """
    workers = min(jobs or cores(), -(-boards // _AT_ONCE))
    context = multiprocessing.get_context("spawn")
    clearing = context.RawArray("q", boards + 1)
    processes: list[BaseProcess] = []
    try:
        with ProcessPoolExecutor(workers, context, _begin, (clearing,)) as pool:
            try:
                found = pool.map(partial(_clear, bot, seed, book), range(1, boards + 1), chunksize=_AT_ONCE)
                processes = multiprocessing.active_children()
                yield from map(_unwrapped, found)
            finally:
                pool.shutdown(cancel_futures=True)
    except BrokenProcessPool:
        # The pool ends all others by SIGTERM when one is gone.
        ended = next((each for each in processes if each.exitcode != -signal.SIGTERM), processes[0])
        at = next((f"board {board}, " for board, pid in enumerate(clearing) if pid == ended.pid), "")
        text = f"{bot}, {at}seed {seed}: ended the process: {end_of(ended.exitcode)}"
        raise BotError("bot_crashed", text) from None


#: Programs of this process that wait for further boards.
_staying = Staying()

#: By board, the number of the process that is clearing it; 0 for none. Shared by all of them.
_clearing: Any = None


def _begin(clearing: Any) -> None:
    """Prepare a process that clears boards."""
    global _clearing
    _clearing = clearing
    atexit.register(_staying.close)
    hush()


def _clear(bot: str, seed: str, book: RuleBook, board: int) -> Cleared | tuple[str, str, str]:
    """Clear one board, in a process of its own; return an error as its code, text and trace, which travel."""
    _clearing[board] = os.getpid()
    try:
        return clear(partial(make, bot, staying=_staying), board, seed=seed, book=book)
    except BotError as error:
        return error.code, error.text, error.trace
    finally:
        _clearing[board] = 0


def _unwrapped(found: Cleared | tuple[str, str, str]) -> Cleared:
    if not isinstance(found, Cleared):
        raise BotError(*found)
    return found


def _with_progress(cleared: Iterator[Cleared], count: int, *, plain: bool) -> Iterator[Cleared]:
    with progress_bar(count, "boards", plain=plain) as show:
        for done, board in enumerate(cleared, start=1):
            show(done)
            yield board


def _line(what: str, found: Summary) -> str:
    return f"{what + ':':7} {found.mean:.3f} +- {found.error:.3f}, median {found.median:g}"


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
