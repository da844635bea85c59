"""Commands that refuse options that do nothing in combination with others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import click
from click.core import ParameterSource

from salvo_server.unused import Unused, refuse_unused, unencrypted, without

NO_TLS: Final = "without TLS; say mqtts:// or wss://, or leave it out"


def force_rule(record: str) -> Unused:
    """Return the rule for ``--force`` without the option that names a file to record to."""
    return Unused("force", without(record), f"without --{record} FILE, which it is about; leave it out")


def ca_rule(url: str) -> Unused:
    """Return the rule for ``--ca`` and the option or argument that has the broker's URL."""
    return Unused("ca", unencrypted(url), NO_TLS)


class Checked(click.Command):
    """A command with rules for its options.

    Only the command line counts: variables such as SALVO_CA are for all commands, and order none of them anything.
    """

    def __init__(self, *arguments: Any, unused: Iterable[Unused] = (), **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.unused = tuple(unused)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line.

        Raises:
            UnusedOption: ``unused_option``.
        """
        rest = super().parse_args(ctx, args)
        if not ctx.resilient_parsing:
            refuse_unused(self.unused, given(ctx), ctx.params, lambda name: option_of(ctx, name))
        return rest


def given(ctx: click.Context) -> set[str]:
    """Return the parameters given on the command line."""
    return {name for name in ctx.params if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE}


def option_of(ctx: click.Context, name: str) -> str:
    """Return an option as people write it."""
    return next(parameter.opts[0] for parameter in ctx.command.params if parameter.name == name)
