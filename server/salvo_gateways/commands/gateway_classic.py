"""``salvo gateway classic``."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from salvo.cli.checked import Checked
from salvo.cli.output import Integer, Number
from salvo.unused import Unused, is_set
from salvo_gateways.classic import END_SECONDS, Role, door
from salvo_gateways.classic.bus import Bus
from salvo_gateways.classic.caller import call_again_and_again
from salvo_gateways.commands.gateway_guests import (
    TABLE_RULES,
    ended_by_signals,
    opponent_option,
    serve_guests,
    table_options,
    table_watch,
)
from salvo_gateways.host import Host
from salvo_lab.human import HUMAN
from salvo_server.brokers.embedded.addresses import split_address

if TYPE_CHECKING:
    from salvo_lab.human.facing import Place


@click.command(
    cls=Checked,
    unused=[
        Unused("listen", is_set("bus"), "with --bus, on which programs find each other; leave one of them out"),
        Unused("listen", is_set("call"), "with --call, which connects to a program; leave one of them out"),
        Unused("call", is_set("bus"), "with --bus, on which programs find each other; leave one of them out"),
        Unused(
            "call", lambda given: given["role"] != Role.CLIENT, "as server, which is called; say --role client, too"
        ),
        Unused("rounds", lambda given: given["role"] == Role.CLIENT, "as client: the server ends; leave it out"),
        Unused(
            "end_seconds", lambda given: given["role"] == Role.CLIENT, "as client: the server goes on; leave it out"
        ),
        *TABLE_RULES,
    ],
)
@click.option("--listen", metavar="HOST:PORT", default="127.0.0.1:4000", help="Where programs connect.")
@click.option("--call", metavar="HOST:PORT", help="As client: where the program is that is a server.")
@click.option("--bus", metavar="GROUP:PORT", help="Find programs by multicast instead, as the original ones do.")
@click.option(
    "--role",
    type=click.Choice([role.value for role in Role]),
    default=Role.SERVER.value,
    help="The gateway's: as server it leads and begins, and programs are clients; as client it calls a server.",
)
@opponent_option(
    f"The gateway's player: a bot that ships, a bot's file, or {HUMAN}: you, at this terminal.", other=HUMAN
)
@click.option("--rounds", type=Integer(min=1), help="As server, games before it exits.  [default: no limit]")
@click.option(
    "--end-seconds",
    type=Number(0),
    default=END_SECONDS,
    show_default=True,
    help="As server, from the end of a game, which people want to see, to the next set-up.",
)
@click.option("--name", default="classic-guest", help="The program's name at the table.")
@click.option("--games", type=click.Path(path_type=Path), help="The file that keeps games.  [default: one per table]")
@table_options
def command(
    listen: str,
    call: str | None,
    bus: str | None,
    role: str,
    opponent: str,
    rounds: int | None,
    end_seconds: float,
    name: str,
    games: Path | None,
    **table: Any,
) -> None:
    """Accept clients of Battle Ship for two players, one at a time, at a table with the rules spaced.

    The gateway plays with a built-in bot, or you do. A finished game is played again at the table, as the program's
    fleet is not known before.
    """
    if role == Role.CLIENT and call is None and bus is None:
        raise click.UsageError("--role client calls a program that is a server: say where, --call HOST:PORT or --bus")
    person = _person(role) if opponent == HUMAN else None
    with table_watch("classic", **table) as watch:
        opening = door(
            watch.open(),
            role=role,
            opponent=opponent if person is None else person.player,
            rounds=rounds,
            end_seconds=end_seconds,
            name=name,
            games=games,
            bus=bus is not None,
            parted=_ignore if person is None else person.is_alone,
        )
        host = Host(watch, opening)
        what = f"programs of the two-player game play against {'you' if person else opponent}"

        def serve(stop: threading.Event, say: Callable[[str], object]) -> None:
            if call is not None:
                with contextlib.closing(host):
                    say(f"{what}, called at {call}")
                    call_again_and_again(host, split_address(call, least_port=1), stop)
            elif bus is None:
                serve_guests(host, listen, what, stop, say)
            else:
                with contextlib.closing(host):
                    met = Bus(split_address(bus, least_port=1), host)
                    say(f"{what} on the bus {bus}")
                    met.run(stop)

        if person is None:
            serve(ended_by_signals(), click.echo)
        else:
            person.serve(serve)


def _person(role: str) -> Place:
    from salvo_lab.human.facing import Place  # which needs what draws the screen

    return Place(role)


def _ignore() -> None:
    """A bot need not know whether there is a program."""
