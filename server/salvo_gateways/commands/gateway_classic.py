"""``salvo gateway classic``."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from salvo.cli.checked import Checked
from salvo.cli.output import Integer, Number
from salvo.player import Bot
from salvo.rules import RuleBook
from salvo.unused_options import Unused, is_set
from salvo_gateways.classic import END_SECONDS, ClassicRole, check, door
from salvo_gateways.classic.bus import Bus
from salvo_gateways.classic.caller import call_repeatedly
from salvo_gateways.commands.shared import (
    ended_by_signals,
    opponent_option,
    rules_option,
    serve_clients,
    transcripts_option,
)
from salvo_gateways.host import Host
from salvo_gateways.transcripts import Transcripts
from salvo_lab.human import HUMAN
from salvo_server.brokers.embedded.addresses import split_address

if TYPE_CHECKING:
    from salvo_lab.human.at_gateway import Place


@click.command(
    cls=Checked,
    unused=[
        Unused("listen", is_set("bus"), "with --bus, on which programs find each other; leave one of them out"),
        Unused("listen", is_set("call"), "with --call, which connects to a program; leave one of them out"),
        Unused("call", is_set("bus"), "with --bus, on which programs find each other; leave one of them out"),
        Unused(
            "call",
            lambda given: given["role"] != ClassicRole.CLIENT,
            "as server, which is called; say --role client, too",
        ),
        Unused("browser", lambda given: given["opponent"] != HUMAN, f"for a bot; name {HUMAN} as --opponent, too"),
        Unused(
            "end_seconds",
            lambda given: given["opponent"] == HUMAN and given["rounds"] is None,
            f"with --opponent {HUMAN}, who decides about the next game; leave it out",
        ),
        Unused("rounds", lambda given: given["role"] == ClassicRole.CLIENT, "as client: the server ends; leave it out"),
        Unused(
            "end_seconds",
            lambda given: given["role"] == ClassicRole.CLIENT,
            "as client: the server continues; leave it out",
        ),
    ],
)
@click.option("--listen", metavar="HOST:PORT", default="127.0.0.1:4000", help="Where programs connect.")
@click.option("--call", metavar="HOST:PORT", help="As client: where the program is that is a server.")
@click.option(
    "--bus",
    metavar="GROUP:PORT[@ADDRESS]",
    help="Find programs by multicast instead, as the original ones do; on the network of an address of this machine.",
)
@click.option(
    "--role",
    type=click.Choice([role.value for role in ClassicRole]),
    default=ClassicRole.SERVER.value,
    help="The gateway's: as server it leads and begins, and programs are clients; as client it calls a server.",
)
@opponent_option(
    f"The gateway's player: a bot that ships, a bot's file, or {HUMAN}: you, at this terminal.",
    other=HUMAN,
    default="hunter",
)
@click.option("--browser", is_flag=True, help=f"Play as {HUMAN} by clicking: print the address of a page, and open it.")
@click.option("--rounds", type=Integer(min=1), help="As server, games before it exits.  [default: no limit]")
@click.option(
    "--end-seconds",
    type=Number(0),
    default=END_SECONDS,
    show_default=True,
    help=f"As server, from the end of a game, which people want to see, to the next set-up; {HUMAN} decides instead.",
)
@rules_option("spaced", check)
@transcripts_option
def command(
    listen: str,
    call: str | None,
    bus: str | None,
    role: str,
    opponent: Callable[[], Bot] | str,
    browser: bool,
    rounds: int | None,
    end_seconds: float,
    book: RuleBook,
    transcripts: Path | None,
) -> None:
    """Play against programs of Battle Ship for two players, one at a time.

    The gateway plays with a built-in bot, or you do, at this terminal or with --browser by clicking. It is the system's
    own server or client, and needs no other one.
    """
    if role == ClassicRole.CLIENT and call is None and bus is None:
        raise click.UsageError("--role client calls a program that is a server: say where, --call HOST:PORT or --bus")
    person: Place | None = None
    if isinstance(opponent, str):
        person = _person(role, browser=browser)
        opponent = person.player
    opening = door(
        book,
        opponent,
        role=ClassicRole(role),
        rounds=rounds,
        end_seconds=end_seconds,
        bus=bus is not None,
        parted=_ignore if person is None else person.is_alone,
        restarts=None if person is None else person.restarts,
        transcripts=Transcripts("classic", transcripts),
    )
    host = Host(opening)
    what = f"programs of the two-player game play{' against you' if person else ''}"

    def serve(stop: threading.Event, report: Callable[[str], object]) -> None:
        if call is not None:
            with contextlib.closing(host):
                report(f"{what}, called at {call}")
                call_repeatedly(host, split_address(call, least_port=1), stop)
        elif bus is None:
            serve_clients(host, listen, what, stop, report)
        else:
            group, _, interface = bus.partition("@")
            with contextlib.closing(host):
                programs = Bus(split_address(group, least_port=1), host, interface)
                report(f"{what} on the bus {bus}")
                programs.run(stop)

    if person is None:
        serve(ended_by_signals(), click.echo)
    else:
        person.serve(serve)


def _person(role: str, *, browser: bool) -> Place:
    from salvo_lab.human.at_gateway import Place  # which needs what draws the screen

    return Place(role, browser=browser)


def _ignore() -> None:
    """A bot need not know whether there is a program."""
