"""The one command line, ``salvo``. Every command has its own module, imported when it is called (:mod:`.listing`).

An error is one line on standard error, ``error: <code>: <text>``. Exit codes: 0 done, 1 failed, 2 wrong usage,
3 another server serves instead, 130 interrupted, 141 nobody reads the output any more, 143 ended by SIGTERM or SIGHUP.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import importlib
import logging
import os
import signal
import sys
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import click

from salvo.cli import service_output
from salvo.cli.checked import Suggesting
from salvo.cli.listing import HEADINGS, MORE, Listed
from salvo.cli.logs import begin_log, error_line
from salvo.errors import MissingExtra, SalvoError, printable, quietly
from salvo.system import plugins
from salvo.system.distribution import HOME, PACKAGES, __version__
from salvo.system.interruption import end_as_by_ctrl_c, exit_code
from salvo.system.streams import escape_unprintable, let_go_of_terminal, open_closed, until_unread
from salvo.system.text_files import trim_variables

#: Codes of what was typed, or written into a file of settings.
_WRONG_USAGE = frozenset(
    {
        "bad_setting",
        "unknown_setting",
        "unused_option",
        "bad_address",
        "bad_url",
        "bad_lab_url",
        "lab_without_tls",
        "bad_rules",
        "bad_tournament",
        "bad_league",
        "bad_comparison",
        "bad_fleets",
        "bad_file",
    }
)

log = logging.getLogger(__name__)

#: Codes of a server whose place another one has; it may be started again, to wait.
_REPLACED = frozenset({"taken_over", "stood_down"})

#: Commands with ``--traceback``.
_SHOW_TRACES = frozenset({"play", "solo"})

#: What a package adds: one command, or several by name.
_ADDED = (click.Command, dict)

#: A disk that takes no more.
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})


class _Lazy(Suggesting):
    """The commands of all installed packages, each imported when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._all())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self._ours:
            return _imported(cmd_name, self._ours[cmd_name])
        if cmd_name in plugins.found(plugins.COMMANDS):
            loaded: object = plugins.load(plugins.COMMANDS, cmd_name, _ADDED)
            if isinstance(loaded, click.Command):
                return loaded
        command = self._all().get(cmd_name)
        return _imported(cmd_name, command) if isinstance(command, Listed) else command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        under: dict[str, list[tuple[str, str]]] = {heading: [] for heading in HEADINGS}
        for name, command in self._all().items():
            line = command if isinstance(command, Listed) else Listed(MORE, _help_of(command), "")
            under.get(line.heading, under[MORE]).append((name, line.text))
        width = max(len(name) for lines in under.values() for name, _ in lines)
        for heading, lines in under.items():
            if lines:
                with formatter.section(heading):
                    formatter.write_dl([(f"{name:{width}}", text) for name, text in lines])

    @cached_property
    def _ours(self) -> dict[str, Listed]:
        """Our own commands; those of other packages are not imported to find one of these."""
        commands: dict[str, Listed] = {}
        for package in filter(plugins.found(plugins.COMMANDS).__contains__, PACKAGES):
            commands |= plugins.load(plugins.COMMANDS, package, dict)
        return commands

    def _all(self) -> dict[str, Listed | click.Command]:
        commands: dict[str, Listed | click.Command] = {**self._ours}
        for point, loaded in plugins.load_all(plugins.COMMANDS, _ADDED):
            added = {point.name: loaded} if isinstance(loaded, click.Command) else _listed(loaded)
            if added is None:
                log.warning("%s maps something else than names to commands; skipped", plugins.described(point))
            commands |= {name: command for name, command in (added or {}).items() if name not in commands}
        return commands


def _listed(added: Any) -> dict[str, Listed | click.Command] | None:
    """Return the commands of a mapping by name; None for anything else."""

    def checked() -> dict[str, Listed | click.Command] | None:
        found = dict(added.items())
        kinds = (Listed, click.Command)
        return found if all(isinstance(key, str) and isinstance(found[key], kinds) for key in found) else None

    return quietly(checked, None)


def _help_of(command: click.Command) -> str:
    """Return the line about a command of another package."""
    return quietly(lambda: printable(command.get_short_help_str(100)), "")


def _imported(name: str, command: Listed) -> click.Command:
    if command.needs_linux and sys.platform != "linux":  # said first: what it imports may be missing there
        where = f"it was never tried on {sys.platform}; use a machine with Linux, Docker, or on Windows WSL"
        click.echo(f"warning: salvo {name} needs Linux: {where}", err=True)
    try:
        with _no_garbage():
            found: click.Command = getattr(importlib.import_module(command.module), name)
    except MissingExtra:  # of the first import that failed; the command may need more than that part
        if not command.extra:
            raise
        raise MissingExtra(f"salvo {name}", command.extra) from None
    return found


@contextlib.contextmanager
def _no_garbage() -> Iterator[None]:
    """Import with no garbage collection: what is made stays, and to look through it is a quarter of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.version_option(__version__, prog_name="salvo", message=f"%(prog)s %(version)s, from {HOME}")
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    default="warning",
    help="Level of the log on standard error; debug also shows where an error comes from.",
)
@click.pass_context
def cli(ctx: click.Context, log_level: str) -> None:
    """Battleship: Salvo over MQTT: the contest server and what a team needs."""
    ctx.color = False if os.environ.get("NO_COLOR") else None
    begin_log(log_level)


def main(arguments: list[str] | None = None) -> Any:
    """Run the command line and exit."""
    given = sys.argv[1:] if arguments is None else arguments
    open_closed()
    escape_unprintable()
    trim_variables()
    end_as_by_ctrl_c()
    if hasattr(signal, "SIGCHLD"):
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # where it is ignored, nobody learns how a process has ended
    with service_output.ended():
        code = _code_of(given, has_process=arguments is None)
    sys.exit(code if isinstance(code, int) else 0)


def _code_of(given: list[str], *, has_process: bool) -> Any:
    """Run a command; return its exit code, also of one that has lost a file or its output."""
    try:
        with until_unread():
            return _run(given, has_process=has_process)
    except OSError as error:
        let_go_of_terminal()
        if _is_debugged() or not (error.filename or error.errno in _FULL):
            raise
        if error.errno in _FULL:
            with contextlib.suppress(OSError):
                sys.stdout.close()  # else the interpreter tries once more, and shows a traceback
            text = f"{error.filename or 'standard output'}: {error.strerror}"
            reported = SalvoError("output_unwritable", text)
        else:
            text = f"{error.filename}: {error.strerror}; let this user use it, or name another one"
            reported = SalvoError("file_unusable", text)
        click.echo(error_line(reported, str(reported)), err=True)
        return 1


def _run(given: list[str], *, has_process: bool) -> Any:
    """Run a command.

    Args:
        has_process: whether all that is in this process is the command's.
    """
    output = sys.stdout
    try:
        return cli.main(args=given, prog_name="salvo", standalone_mode=False, obj={"has_process": has_process})
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except SystemExit:
        replaced = sys.stdout is not output and not isinstance(sys.stdout, service_output.ServiceStream)
        if replaced:  # by click, when nobody reads it; it exits with 1
            raise BrokenPipeError from None
        raise
    except (click.Abort, KeyboardInterrupt) as end:
        return exit_code(end if isinstance(end, KeyboardInterrupt) else end.__cause__)
    except SalvoError as error:
        if _is_debugged():
            raise
        trace = getattr(error, "trace", "")
        if trace and "--traceback" in given:
            click.echo(trace, nl=False, err=True)
        again = getattr(error, "again", "")
        more = "; nothing more is played" if again else ""
        more += "; --traceback shows it whole" if trace and _hides_traces(given) else ""
        first, line, source = str(error).partition("\n")
        repeat = f"\nagain: {again}" if again else ""
        click.echo(error_line(error, f"{first}{more}{line}{source}{repeat}"), err=True)
        return 2 if error.code in _WRONG_USAGE else 3 if error.code in _REPLACED else 1


def _is_debugged() -> bool:
    return logging.getLogger().isEnabledFor(logging.DEBUG)


def _hides_traces(given: list[str]) -> bool:
    return "--traceback" not in given and any(word in _SHOW_TRACES for word in given)
