"""``salvo gateway smackdown``."""

from __future__ import annotations

import contextlib
import shlex
import threading
from collections.abc import Sequence
from functools import partial
from typing import Any

import click

from salvo.cli.checked import Checked
from salvo.cli.output import Integer
from salvo.topics import check_name
from salvo.unused import Unused, is_unset
from salvo_gateways.children import Child
from salvo_gateways.commands.gateway_guests import (
    TABLE_RULES,
    ended_by_signals,
    serve_guests,
    table_options,
    table_watch,
    wait_until_set,
)
from salvo_gateways.host import Host
from salvo_gateways.smackdown import Names, check, child_door, door

#: The opponent's name for a program where it cannot be known.
_SOMEBODY = "opponent"


@click.command(
    cls=Checked,
    unused=[
        Unused(
            "opponent",
            is_unset("commands"),
            "without --exec: TCP clients get the name of the player there; leave it out",
        ),
        *TABLE_RULES,
    ],
)
@click.option("--exec", "commands", multiple=True, metavar="COMMAND", help="A program to start; may be repeated.")
@click.option(
    "--name",
    "names",
    multiple=True,
    help="A program's name, in the order of --exec; those after them are given to TCP clients as they come.",
)
@click.option("--opponent", help="The opponent's name, for programs that are started.  [default: the other name]")
@click.option("--listen", metavar="HOST:PORT", help="Also accept TCP clients.")
@click.option(
    "--opponent-first",
    is_flag=True,
    help="Show player 2 the shots on its board before its own, as the system's own server does.",
)
@click.option("--games", type=Integer(min=1), help="End when started programs have played this many.")
@table_options
def command(
    commands: tuple[str, ...],
    names: tuple[str, ...],
    opponent: str | None,
    listen: str | None,
    opponent_first: bool,
    games: int | None,
    **table: Any,
) -> None:
    """Accept programs of Code Smackdown: child processes, started as COMMAND NAME OPPONENT, or over TCP.

    A program plays one game; for the next one it is started again.
    """
    _check_names(names, len(commands), listen)
    if games is not None and not commands:
        raise click.UsageError("--games counts the games of --exec")
    programs = [_split(text) for text in commands]
    mine, listed = names[: len(commands)], names[len(commands) :]
    known = Names(listed, mine)
    with table_watch("smackdown", **table) as watch:
        book = watch.open()
        check(book)
        stop = ended_by_signals()

        def wants_more(name: str) -> bool:
            return not stop.is_set() and (games is None or known.games_of(name) < games)

        with contextlib.ExitStack() as stack:
            children = []
            for program, name in zip(programs, mine, strict=True):
                host = Host(watch, child_door(book, name, known, opponent_first=opponent_first))
                whole = [*program, name, opponent or _other(name, names)]
                finished = partial(known.finished_by, name)
                children.append(Child(whole, name, host.admit, partial(wants_more, name), finished))
                stack.callback(children[-1].close)
                stack.callback(host.close)  # before the child is killed, which would else have forfeited
            for child in children:
                child.start()
            if games is not None:
                threading.Thread(target=_stop_after, args=(children, stop), daemon=True).start()
            if listen:
                tcp = Host(watch, door(book, names=known, opponent_first=opponent_first))
                serve_guests(tcp, listen, "Code Smackdown", stop)
            else:
                click.echo(f"Code Smackdown: {', '.join(mine)}")
                wait_until_set(stop)
        for name in mine if games is not None else ():
            click.echo(f"{name}: {known.record_of(name)}")


def _check_names(names: Sequence[str], programs: int, listen: str | None) -> None:
    if not programs and not listen:
        raise click.UsageError("give --exec, or --listen, or both")
    if len(names) < programs:
        raise click.UsageError(f"{programs} times --exec, but {len(names)} times --name")
    if len(names) > programs and not listen:
        raise click.UsageError(f"{len(names)} times --name, but {programs} times --exec, and no --listen")
    for name in names:
        check_name(name)
    if len({name.lower() for name in names}) < len(names):
        raise click.UsageError("a name stands twice")


def _split(text: str) -> list[str]:
    """Take a command apart as a shell would; no shell runs it."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise click.UsageError(f"--exec {text!r}: {error}") from None
    if not words:
        raise click.UsageError("--exec is empty")
    return words


def _other(name: str, names: Sequence[str]) -> str:
    return next((other for other in names if other != name), _SOMEBODY)


def _stop_after(children: Sequence[Child], stop: threading.Event) -> None:
    for child in children:
        child.join()
    stop.set()
