"""Refuse options without effect, and suggest the command that was meant."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Final

import click
from click.core import ParameterSource

from salvo.errors import SalvoError

#: Where commands look for a broker when no URL is given.
DEFAULT_BROKER: Final = "mqtt://127.0.0.1:1883"


def refuse_unused(option: str, why: str) -> None:
    """Refuse an option that has no effect in this call of the command, if it was given.

    What counts is that it is on the command line, not its value: a default given explicitly is refused as well. A
    variable such as SALVO_CA applies to all commands, so it may have no effect on some.

    Args:
        option: the name of its parameter.
        why: the rest of the message after "does nothing": with which option, why, and what to do instead.

    Raises:
        SalvoError: ``unused_option``.
    """
    context = click.get_current_context(silent=True)  # None in a program that is not a command of salvo
    if context is not None and context.get_parameter_source(option) is ParameterSource.COMMANDLINE:
        spelled = next(parameter.opts[0] for parameter in context.command.params if parameter.name == option)
        raise SalvoError("unused_option", f"{spelled} does nothing {why}")


def refuse_unused_ca(*urls: str | None) -> None:
    """Refuse ``--ca`` where no connection is encrypted.

    Raises:
        SalvoError: ``unused_option``.
    """
    if not any(str(url).startswith(("mqtts://", "wss://")) for url in urls):
        refuse_unused("ca", "without TLS; say mqtts:// or wss://, or leave it out")


def refuse_unused_sandbox(bots: Sequence[str], guarded: Sequence[str]) -> None:
    """Refuse ``--sandbox`` where nobody would play in one who did not before.

    Args:
        bots: their sources as they were given.
        guarded: the same with the option.

    Raises:
        SalvoError: ``unused_option``.
    """
    if bots and tuple(bots) == tuple(guarded):
        refuse_unused("sandbox", f"without a file, a folder or exec:COMMAND among {', '.join(bots)}; leave it out")


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
            others = (
                "salvo --help lists the commands." if ctx.parent is None else f"The commands are {', '.join(names)}."
            )
            raise click.UsageError(f"{error.message} {f'Did you mean {near[0]!r}?' if near else others}", ctx) from None
