"""``salvo gateway classic``."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from salvo.bots.player import Bot
from salvo.cli.checked import refuse_unused
from salvo.rules import RuleBook
from salvo_gateways.classic import ClassicRole, check, door
from salvo_gateways.classic.bus import Bus
from salvo_gateways.classic.caller import call_repeatedly
from salvo_gateways.commands.shared import (
    ended_by_signals,
    opponent_option,
    rules_option,
    serve_clients,
    transcripts_option,
)
from salvo_gateways.listener import Listener
from salvo_gateways.transcripts import Transcripts
from salvo_lab.human import HUMAN
from salvo_server.brokers.embedded.addresses import split_address

if TYPE_CHECKING:
    from salvo_lab.human.places.at_gateway import GatewayPlace


class _Classic(click.Command):
    """The command; a server that runs it parses its options first, so that is when they are refused."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        rest = super().parse_args(ctx, args)
        if not ctx.resilient_parsing:
            _refuse_unused(**ctx.params)
        return rest


def _refuse_unused(*, bus: str | None, call: str | None, role: str, opponent: object, **_: object) -> None:
    if bus is not None:
        for option in ("listen", "call"):
            refuse_unused(option, "with --bus, on which programs find each other; leave one of them out")
    if call is not None:
        refuse_unused("listen", "with --call, which connects to a program; leave one of them out")
    if opponent != HUMAN:
        refuse_unused("browser", f"for a bot; name {HUMAN} as --opponent, too")
    if role != ClassicRole.CLIENT:
        refuse_unused("call", "as server, which is called; say --role client, too")


@click.command(cls=_Classic)
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
    help="The gateway's role: as server it leads and begins, and programs are clients; as client it calls a server.",
)
@opponent_option(
    f"The gateway's player: a built-in bot, a bot's file, or {HUMAN}: you, at this terminal.",
    other=HUMAN,
    default="hunter",
)
@click.option("--browser", is_flag=True, help=f"Play as {HUMAN} by clicking: print the address of a page, and open it.")
@rules_option("spaced", check)
@transcripts_option
def command(
    listen: str,
    call: str | None,
    bus: str | None,
    role: str,
    opponent: Callable[[], Bot] | str,
    browser: bool,
    book: RuleBook,
    transcripts: Path | None,
) -> None:
    """Play against programs of Battle Ship for two players, one at a time.

    The gateway plays with a built-in bot, or you do, at this terminal or with --browser by clicking. It is the system's
    own server or client, and needs no other one.
    """
    if role == ClassicRole.CLIENT and call is None and bus is None:
        raise click.UsageError("--role client calls a program that is a server: say where, --call HOST:PORT or --bus")
    person: GatewayPlace | None = None
    if isinstance(opponent, str):
        person = _person(role, browser=browser)
        opponent = person.player
    opening = door(
        book,
        opponent,
        role=ClassicRole(role),
        bus=bus is not None,
        parted=_ignore if person is None else person.is_alone,
        restarts=None if person is None else person.restarts,
        transcripts=Transcripts("classic", transcripts),
    )
    host = Listener(opening)
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


def _person(role: str, *, browser: bool) -> GatewayPlace:
    from salvo_lab.human.places.at_gateway import GatewayPlace  # which needs what draws the screen

    return GatewayPlace(role, browser=browser)


def _ignore() -> None:
    """A bot need not know whether there is a program."""
