"""Output that several commands share."""

from __future__ import annotations

import math
import os
import shlex
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import click

from salvo.errors import SalvoError
from salvo.system.atomic_file import replace_file
from salvo.system.text_files import read_secret, without_gaps
from salvo.wire.topics import check_name

if TYPE_CHECKING:
    from salvo.net.mqtt import BrokerUrl


class Integer(click.IntRange):
    """An integer within bounds; an error calls it an integer, not an integer range."""

    name = "integer"


def table_name(text: str) -> str:
    """Return a table's name, empty for the default table, as it was given.

    Raises:
        WireError: ``bad_name``.
    """
    return text and check_name(text, "table")


class Number(click.FloatRange):
    """Within bounds, and a number: what is neither nan nor infinite."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        converted: float = super().convert(value, param, ctx)
        if not math.isfinite(converted):
            self.fail(f"{value} is not a number in the range {self._describe_range()}.", param, ctx)
        return converted


#: How long a bot may think.
SECONDS: Final = Number(0, min_open=True)
#: The variable of a process that ends with its standard input.
WITH_INPUT: Final = "SALVO_ENDS_WITH_INPUT"
#: How a page begins.
_PAGE: Final = b"<!doctype html>"
#: Between two lines that say how far it is.
PROGRESS_SECONDS: Final = 10.0


class Progress(Protocol):
    """Shows how much is done, and how it stands; called with nothing, that there is no news yet."""

    def __call__(self, done: int | None = None, standing: str = "", /) -> None: ...


def end_with_input() -> bool:
    """End this process at the end of its standard input if a server has started it, and ends it so; return whether."""
    if not os.environ.pop(WITH_INPUT, ""):  # for this process, not for those that it starts
        return False
    # Not as by Ctrl-C, after which click prints the end of a line.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    threading.Thread(target=_wait_for_end, daemon=True).start()
    return True


def _wait_for_end() -> None:
    while os.read(0, 4096):  # not sys.stdin, whose lock a thread that reads would keep at the end
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def given_secret() -> str | None:
    """Return the secret from the file that SALVO_SECRET_FILE names, else SALVO_SECRET."""
    named = os.environ.get("SALVO_SECRET_FILE")
    if not named:
        return os.environ.get("SALVO_SECRET") or None
    return read_secret(Path(named), partial(SalvoError, "secret_file"))


def with_secret(url: BrokerUrl) -> BrokerUrl:
    """Return an address with the secret of the user in it: its own, else the environment's, else asked for."""
    if not url.username or url.password:
        return url
    secret = given_secret()
    if not secret and may_ask():
        secret = ask_secret(url.username)
    return url._replace(password=secret)


def host_account(url: str) -> tuple[str, str]:
    """Return the name and secret to act as a host: those in the URL, else in the environment, else asked for.

    Raises:
        click.UsageError: one of them is missing, and nobody is there to ask.
    """
    from salvo.net.mqtt import BrokerUrl  # most commands connect to nobody

    there = BrokerUrl.parse(url)
    there = with_secret(there._replace(username=there.username or os.environ.get("SALVO_TEAM")))
    if not there.username or not there.password:
        raise click.UsageError(
            "a host needs a name and a secret: mqtt://NAME@HOST or SALVO_TEAM, and SALVO_SECRET or SALVO_SECRET_FILE"
        )
    return there.username, there.password


def may_ask() -> bool:
    """Whether a person is there to answer."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask_secret(name: str) -> str:
    """Ask the person at the terminal for an account's secret, which is not shown."""
    return without_gaps(str(click.prompt(f"secret of {name}", hide_input=True, err=True)).strip())


def watch_line(urls: Sequence[str]) -> str:
    """Return where a web front is, the likeliest address for other machines first."""
    more = f", or at {', '.join(urls[1:])}" if urls[1:] else ""
    return f"watch: {urls[0]}{more}"


def has_terminal() -> bool:
    """Whether a person looks at the output."""
    return sys.stdout.isatty() and sys.stderr.isatty()


def print_table(headings: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    """Print a table of standings; its second column has names."""
    widths = [max(map(len, column)) for column in zip(headings, *lines, strict=True)]
    for line in (headings, *lines):
        cells = [
            f"{cell:<{width}}" if column == 1 else f"{cell:>{width}}"
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        click.echo("  ".join(cells).rstrip())


def winner_line(winner: str, places: Mapping[str, int]) -> str:
    """Return who has won, or who ties, in words."""
    if winner:
        return f"winner: {winner}"
    return f"tie: {', '.join(name for name, place in places.items() if place == 1)}"


def places_line(places: Mapping[str, int]) -> str:
    """Return the places as text, best first; empty after an aborted game."""
    there = sorted((place, number, name) for number, (name, place) in enumerate(places.items()) if place)
    return ", ".join(f"{place}. {name}" for place, _, name in there)


def look_again(file: Path) -> str:
    """Return a line with the command that shows a transcript."""
    return f"show:   salvo replay {shlex.quote(str(file))}"


def keep_recorded(path: Path) -> None:
    """Keep a recorded game from being overwritten by another one.

    Raises:
        SalvoError: ``transcript_exists``.
    """
    if path.is_file():
        raise SalvoError("transcript_exists", f"{path} exists already; name another file, or remove it")


def write_page(path: Path, page: str, *, private: bool = False) -> None:
    """Write a page for the browser. One that is there is replaced, since a command makes another; nothing else is.

    Args:
        private: whether only the owner may read it, also if others could read the one that is replaced.

    Raises:
        SalvoError: ``html_unwritable``.
    """
    check_page(path, private=private)
    try:
        replace_file(path, page.encode(), 0o600 if private else 0o666)
    except OSError as error:
        raise _unwritable(path, error) from None


def check_page(path: Path, *, private: bool = False) -> None:
    """Keep what is not a page from being replaced by one.

    Args:
        private: whether it shall be a file that only its owner may read, which a device or a pipe is not.

    Raises:
        SalvoError: ``html_unwritable``.
    """
    try:
        if path.is_file():
            is_page = path.read_bytes()[: len(_PAGE)].lower() in (b"", _PAGE)
        else:
            is_page = not (private and path.exists())
        if private:
            path.parent.stat()
    except OSError as error:
        raise _unwritable(path, error) from None
    if not is_page:
        raise SalvoError("html_unwritable", f"{path} exists and is not a page; name another file, or remove it")


def _unwritable(path: Path, error: OSError) -> SalvoError:
    return SalvoError("html_unwritable", f"{path}: {error.strerror}; name another file")


@contextmanager
def progress_bar(length: int, label: str, *, plain: bool = False) -> Iterator[Progress]:
    """Show on standard error how far it is; what is given is called with how much is done, or with nothing if no more.

    On a terminal it is a bar, at once; elsewhere, and where ``plain``, a line now and then of what takes long.
    """
    if plain or not has_terminal():
        yield _lines_now_and_then(length, label)
        return
    with click.progressbar(length=length, label=label, file=sys.stderr) as bar:

        def show(done: int | None = None, standing: str = "") -> None:
            if done is not None:
                bar.label = f"{label}, {standing}" if standing else label
                bar.update(done - bar.pos)

        yield show


def _lines_now_and_then(length: int, label: str) -> Progress:
    start = last = time.monotonic()
    done, stands = 0, ""

    def show(more: int | None = None, standing: str = "") -> None:
        nonlocal last, done, stands
        now = time.monotonic()
        if more is not None:
            done, stands = more, f"; {standing}" if standing else ""
        if now - last >= PROGRESS_SECONDS:
            last = now
            click.echo(f"{label}: {done:,} of {length:,} after {now - start:.0f} s{stands}", err=True)

    return show
