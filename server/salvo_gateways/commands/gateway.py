"""``salvo gateway``: one command a system, each behind an entry point of ``salvo.gateways``."""

from __future__ import annotations

import click

from salvo.cli.output import end_with_input
from salvo.cli.service_output import print_without_waiting
from salvo.gateway import Gateway
from salvo.system import plugins


class _Doors(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(plugins.found(plugins.GATEWAYS))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in plugins.found(plugins.GATEWAYS):
            return None
        found: Gateway = plugins.load(plugins.GATEWAYS, cmd_name, Gateway)
        command: click.Command = plugins.imported(found.command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Protocols"):
            lines = plugins.load_all(plugins.GATEWAYS, Gateway)
            formatter.write_dl([(point.name, found.text) for point, found in lines])


@click.group(cls=_Doors)
def gateway() -> None:
    """Accept clients of older Battleship systems.

    Those of xbs are players at a table, like any others. For the other systems the gateway is the system's own server.
    """
    end_with_input()
    print_without_waiting()
