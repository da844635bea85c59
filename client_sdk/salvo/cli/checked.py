"""Commands that refuse an option which has no effect with the others, and groups that name the command meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any, Final

import click
from click.core import ParameterSource

from salvo.unused_options import Unused, refuse_unused, unencrypted

#: Where commands look for a broker when no URL is given.
DEFAULT_BROKER: Final = "mqtt://127.0.0.1:1883"

NO_TLS: Final = "without TLS; say mqtts:// or wss://, or leave it out"


def ca_rule(url: str) -> Unused:
    """Return the rule for ``--ca`` with an unencrypted URL; ``url`` names the option or argument that has it."""
    return Unused("ca", unencrypted(url), NO_TLS)


class Checked(click.Command):
    """A command that checks its options against rules.

    Only the command line counts: a variable such as SALVO_CA applies to all commands, so it may have no effect on some.
    """

    def __init__(self, *arguments: Any, unused: Iterable[Unused] = (), **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.unused = tuple(unused)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line, and check it against the rules.

        Raises:
            UnusedOption: ``unused_option``.
        """
        rest = super().parse_args(ctx, args)
        if not ctx.resilient_parsing:
            refuse_unused(self.unused, given(ctx), ctx.params, lambda name: option_of(ctx, name))
        return rest


class Suggesting(click.Group):
    """A group that names the command that was probably meant."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            names = self.list_commands(ctx)
            near = difflib.get_close_matches(args[0], names, n=1)
            others = "salvo --help lists the commands." if ctx.parent is None else f"There are {', '.join(names)}."
            raise click.UsageError(f"{error.message} {f'Did you mean {near[0]!r}?' if near else others}", ctx) from None


def given(ctx: click.Context) -> set[str]:
    """Return the names of the parameters given on the command line."""
    return {name for name in ctx.params if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE}


def option_of(ctx: click.Context, name: str) -> str:
    """Return an option as it is spelled on the command line."""
    return next(parameter.opts[0] for parameter in ctx.command.params if parameter.name == name)
