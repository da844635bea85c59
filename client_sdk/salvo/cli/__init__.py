"""The one command line, ``salvo``. Every command has its own module, imported when it is called.

An error is one line on standard error, ``error: <code>: <text>``. Exit codes: 0 done, 1 failed, 2 wrong usage,
3 another server serves instead, 130 interrupted, 141 nobody reads the output any more, 143 ended by SIGTERM or SIGHUP.
"""

from __future__ import annotations

import contextlib
import errno
import importlib
import os
import signal
import sys
from typing import Any, NoReturn

import click

from salvo.cli.checked import Suggesting
from salvo.cli.logs import begin_log, error_line
from salvo.distribution import __version__
from salvo.errors import SalvoError
from salvo.script import until_unread

#: Command -> what it is for. The texts are here so that ``--help`` imports none of the modules.
COMMANDS = {
    "demo": "Watch built-in bots play a whole game over a real broker, in one process.",
    "new": "Create a starter bot, in Python or another language, or a small project.",
    "play": "Play bots against each other in this process, without a broker.",
    "compare": "Decide whether one bot is better than another, in as few games as possible.",
    "dev": "Play a bot every time its file is saved, and report whether it got better.",
    "solo": "Count the shots a bot needs to clear random boards.",
    "lab": "Play on several hosts: their scheduler and their workers.",
    "serve": "Run the contest server, with its own broker or on a given one.",
    "control": "Act as the host at a table: start, pause, extend, abort and more.",
    "teams": "Manage a contest's roster: add, list, rotate and remove accounts, and their viewers.",
    "backup": "Write one archive with roster, identity and journal, also while the server runs.",
    "restore": "Put a backup's files where a server on this machine looks for them.",
    "mosquitto": "Write the configuration that makes mosquitto a contest's broker.",
    "join": "Play a bot in a contest.",
    "gateway": "Accept clients of older Battleship protocols.",
    "watch": "Follow a table live.",
    "web": "Show a contest to browsers: the hall, phones, past games, and the SDK to install.",
    "replay": "Replay a game, list the games of a journal, or check that a record replays exactly.",
    "site": "Write games that are over as a small static site, to search and to watch.",
    "explain": "Analyse a game: what each bot knew, what its shots gained, luck versus skill.",
    "tls": "Create a test certificate, and the CA that signs it.",
    "verify": "Check offline, from signed logs, that games were fair.",
    "doctor": "Examine a contest's configuration, and report what to fix.",
    "health": "Report whether a server is online.",
    "bots": "List the built-in bots.",
    "tournament": "Play a tournament of bots, or resume one.",
    "league": "Play a league over the tables of a running contest server, or show its standings.",
}

#: Command -> the package that has it.
_HOMES = {
    command: package
    for package, commands in {
        "salvo": "join",
        "salvo_lab": "new play compare dev solo lab explain bots tournament",
        "salvo_server": "demo serve control teams backup restore mosquitto tls health",
        "salvo_watch": "watch web replay site",
        "salvo_league": "league",
        "salvo_gateways": "gateway",
        "salvo_audit": "verify doctor",
    }.items()
    for command in commands.split()
}

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

#: Codes of a server whose place another one has; it may be started again, to wait.
_REPLACED = frozenset({"taken_over", "stood_down"})

#: Commands with ``--traceback``.
_SHOW_TRACES = frozenset({"play", "compare", "dev", "solo"})

#: A disk that takes no more.
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})


class _Lazy(Suggesting):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"{_HOMES[cmd_name]}.commands.{cmd_name}")
        command: click.Command = getattr(module, cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.version_option(__version__, prog_name="salvo")
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    default="warning",
    help="Level of the log on standard error.",
)
@click.option("--debug", is_flag=True, help="Show where an error comes from.")
@click.pass_context
def cli(ctx: click.Context, log_level: str, debug: bool) -> None:
    """Battleship: Salvo over MQTT: the contest server and what a team needs."""
    ctx.ensure_object(dict)["debug"] = debug
    begin_log(log_level)


def main(arguments: list[str] | None = None) -> Any:
    """Run the command line and exit."""
    given = sys.argv[1:] if arguments is None else arguments
    _open_closed_streams()
    _end_as_by_ctrl_c()
    try:
        with until_unread():
            code = _run(given, has_process=arguments is None)
    except OSError as error:
        if "--debug" in given or not (error.filename or error.errno in _FULL):
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
        code = 1
    sys.exit(code if isinstance(code, int) else 0)


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
        if sys.stdout is not output:  # click replaces it when nobody reads it, and exits with 1
            raise BrokenPipeError from None
        raise
    except (click.Abort, KeyboardInterrupt) as end:
        return 128 + _signal_of(end if isinstance(end, KeyboardInterrupt) else end.__cause__)
    except SalvoError as error:
        if "--debug" in given:
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


def _end_as_by_ctrl_c() -> None:
    """Let SIGTERM and SIGHUP end every command as Ctrl-C does: what it has started is ended, too.

    A command that has its own way to end on SIGTERM ends so on SIGHUP. What is ignored stays so, as under nohup.
    """
    for name, handler in (("SIGTERM", _interrupt), ("SIGHUP", lambda *_: signal.raise_signal(signal.SIGTERM))):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


def _interrupt(number: int, _: object) -> NoReturn:
    raise KeyboardInterrupt(number)


def _signal_of(interruption: BaseException | None) -> int:
    """Return the signal that has interrupted a command; Python says none for Ctrl-C."""
    return int(interruption.args[0]) if interruption is not None and interruption.args else signal.SIGINT


def _hides_traces(given: list[str]) -> bool:
    return "--traceback" not in given and any(word in _SHOW_TRACES for word in given)


def _open_closed_streams() -> None:
    """Open what the caller has closed of the standard streams; the next file would get its number, and all output."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)
    sys.stdin = sys.stdin or os.fdopen(0, closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)
