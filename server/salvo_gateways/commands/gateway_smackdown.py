"""``salvo gateway smackdown``."""

from __future__ import annotations

import contextlib
import secrets
import shlex
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import click

from salvo.bots.player import Bot
from salvo.cli.output import Integer
from salvo.rules import RuleBook
from salvo.wire.topics import check_name
from salvo_gateways.bot_clients.smackdown import SmackdownBotClient
from salvo_gateways.children import Child
from salvo_gateways.commands.shared import (
    ended_by_signals,
    opponent_option,
    rules_option,
    serve_clients,
    transcripts_option,
    wait_until_set,
)
from salvo_gateways.listener import Listener
from salvo_gateways.smackdown import ANYBODY, SmackdownLobby, check, door
from salvo_gateways.smackdown.match import HOUSE
from salvo_gateways.transcripts import Transcripts

_PLAYERS: Final = 2
#: The opponent's name for a program where it cannot be known.
_UNKNOWN: Final = "opponent"


@click.command()
@click.option("--exec", "commands", multiple=True, metavar="COMMAND", help="A program to start; may be repeated.")
@click.option("--name", "names", multiple=True, help="A program's name, in the order of --exec.")
@click.option("--listen", metavar="HOST:PORT", help="Accept TCP clients.")
@opponent_option("Let every program play against this bot instead of another program.")
@click.option(
    "--opponent-first",
    is_flag=True,
    help="Show player 2 the shots on its board before its own, as the system's own server does.",
)
@click.option("--games", type=Integer(min=1), help="End when started programs have played this many.")
@rules_option("smackdown", check)
@transcripts_option
def command(
    commands: tuple[str, ...],
    names: tuple[str, ...],
    listen: str | None,
    opponent: Callable[[], Bot] | None,
    opponent_first: bool,
    games: int | None,
    book: RuleBook,
    transcripts: Path | None,
) -> None:
    """Referee Code Smackdown between two programs: child processes, started as COMMAND NAME OPPONENT, or over TCP.

    A program plays one game; for the next one it is started again. The gateway is the system's server, and needs no
    other one.
    """
    _check_names(names, len(commands), listen, has_bot=opponent is not None)
    if games is not None and not commands:
        raise click.UsageError("--games counts the games of --exec")
    programs = [_split(text) for text in commands]
    places = [*names, *[ANYBODY] * (listen is not None)] if opponent or names else [ANYBODY] * _PLAYERS
    lobby = SmackdownLobby(
        book,
        places,
        bot=None if opponent is None else partial(_house, opponent),
        opponent_first=opponent_first,
        transcripts=Transcripts("smackdown", transcripts),
    )
    stop = ended_by_signals()

    def wants_more(name: str) -> bool:
        return not stop.is_set() and (games is None or lobby.games_of(name) < games)

    with contextlib.ExitStack() as stack:
        children = []
        for program, name in zip(programs, names, strict=True):
            host = Listener(door(lobby, name))
            other = HOUSE if opponent else next((other for other in names if other != name), _UNKNOWN)
            finished = partial(lobby.finished_by, name)
            children.append(Child([*program, name, other], name, host.admit, partial(wants_more, name), finished))
            stack.callback(children[-1].close)
            stack.callback(host.close)  # before the child is killed, which would else have forfeited
        for child in children:
            child.start()
        if games is not None:
            threading.Thread(target=_stop_after, args=(children, stop), daemon=True).start()
        if listen:
            serve_clients(Listener(door(lobby)), listen, "Code Smackdown", stop)
        else:
            click.echo(f"Code Smackdown: {', '.join(names)}")
            wait_until_set(stop)
    for name in names if games is not None else ():
        click.echo(f"{name}: {lobby.record_of(name)}")


def _house(make: Callable[[], Bot], opponent: str) -> SmackdownBotClient:
    return SmackdownBotClient(make(), HOUSE, opponent, secrets.token_hex(16))


def _check_names(names: Sequence[str], programs: int, listen: str | None, *, has_bot: bool) -> None:
    if not programs and not listen:
        raise click.UsageError("give --exec, or --listen, or both")
    if len(names) != programs:
        raise click.UsageError(f"{programs} times --exec, but {len(names)} times --name")
    most = 1 if has_bot else _PLAYERS
    if programs + bool(listen) > most:
        raise click.UsageError(f"{most} programs at most: --exec twice, or once with --listen; once with --opponent")
    if not has_bot and programs == 1 and not listen:
        raise click.UsageError("one program alone: give another --exec, --listen, or --opponent")
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


def _stop_after(children: Sequence[Child], stop: threading.Event) -> None:
    for child in children:
        child.join()
    stop.set()
