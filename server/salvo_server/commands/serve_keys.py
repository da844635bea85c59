"""The keys with which a person at the terminal of ``salvo serve`` acts as the host (SALVO-HOST)."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, Final

import click

from salvo import messages as m
from salvo.errors import WireError
from salvo.wire.chat_text import clean_text
from salvo_server.contest import Contest

EXTENSION_SECONDS: Final = 60

_Do = m.HostAction
_KEYS: Final = {"s": _Do.START, "k": _Do.SKIP, "+": _Do.EXTEND, "a": _Do.ABORT, "n": _Do.NEXT}
_ASKED: Final = {"r": (_Do.REMOVE, "team", "remove which team"), "t": (_Do.ANNOUNCE, "text", "say")}
HELP: Final = (
    "keys: s start, p pause or resume, k skip the turn, + 60 s more, a abort, r remove a team, t say something, "
    "n next lobby, ? this help"
)
_ENTER: Final = ("\r", "\n")
_ERASE: Final = ("\x7f", "\b")
_ESCAPE: Final = "\x1b"


class HostKeys:
    """What the keys do: pure but for the two functions that it is given."""

    def __init__(self, contest: Contest, tell: Callable[[str], None], write: Callable[[str], None]) -> None:
        """Begin at the default table.

        Args:
            tell: prints a line.
            write: prints a text that the person is still typing.
        """
        self._contest = contest
        self._tell, self._write = tell, write
        self._tables = list(contest.service.tables)
        self._at = 0
        self._asked: tuple[m.HostAction, str] | None = None
        self._typed = ""
        self._sure = ""

    def help(self) -> None:
        """Say which keys there are."""
        more = "" if len(self._tables) == 1 else f", Tab another table (now {self._named()})"
        self._tell(HELP + more)

    def press(self, key: str) -> None:
        """Do what a key does; unknown ones do nothing."""
        if self._asked is not None:
            self._type(key)
            return
        sure, self._sure = self._sure, ""
        if key == "?":
            self.help()
        elif key == "\t" and len(self._tables) > 1:
            self._at = (self._at + 1) % len(self._tables)
            self._tell(f"the keys act at {self._named()}")
        elif key == "p":
            paused = self._contest.service.tables[self._table].referee.stage.paused
            self._act(_Do.RESUME if paused else _Do.PAUSE)
        elif key in "an" and sure != key:
            self._sure = key
            self._tell(f"{key} again to {'abort the game' if key == 'a' else 'open the next lobby'} at {self._named()}")
        elif key in _KEYS:
            do = _KEYS[key]
            self._act(do, **({"seconds": EXTENSION_SECONDS} if do is _Do.EXTEND else {}))
        elif key in _ASKED:
            do, name, question = _ASKED[key]
            self._asked = do, name
            self._write(f"{question}: ")

    def _type(self, key: str) -> None:
        assert self._asked is not None
        if key in _ENTER or key == _ESCAPE:
            (do, name), typed = self._asked, self._typed
            self._asked, self._typed = None, ""
            self._write("\n")
            if key in _ENTER and typed:
                self._act(do, **{name: typed})
        elif key in _ERASE:
            self._write("\b \b" * bool(self._typed))
            self._typed = self._typed[:-1]
        elif key.isprintable():
            self._typed += key
            self._write(key)

    @property
    def _table(self) -> str:
        return self._tables[self._at]

    def _named(self) -> str:
        return f"table {self._table}" if self._table else "the default table"

    def _act(self, do: m.HostAction, **argument: Any) -> None:
        try:
            if "text" in argument:
                argument["text"] = clean_text(argument["text"])
        except WireError as error:
            self._tell(error.text)
            return
        self._contest.service.act(self._table, m.HostCommand(m.TERMINAL_HOST, do, **argument))


@contextlib.contextmanager
def host_keys(contest: Contest, tell: Callable[[str], None]) -> Iterator[None]:
    """Act as the host on keys, if a person sits at this terminal."""
    if not _has_person():
        yield
        return
    import termios
    import tty

    keys = HostKeys(contest, tell, lambda text: click.echo(text, nl=False))
    before = termios.tcgetattr(sys.stdin)
    stop = threading.Event()
    thread = threading.Thread(target=_read, args=(keys, stop), name="keys", daemon=True)
    tty.setcbreak(sys.stdin)
    try:
        keys.help()
        thread.start()
        yield
    finally:
        stop.set()
        thread.join(1)
        if _in_foreground():
            with contextlib.suppress(termios.error):  # the terminal was closed
                termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _has_person() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty() and os.name == "posix" and _in_foreground()


def _in_foreground() -> bool:
    """Whether this process may use its terminal; one in the background that does is stopped by the system."""
    try:
        return os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except OSError as error:
        return error.errno == errno.ENOTTY  # a terminal without job control


def _read(keys: HostKeys, stop: threading.Event) -> None:
    file = sys.stdin.fileno()
    while not stop.is_set():
        ready = select.select([file], [], [], 0.2)[0]
        if not ready or not _in_foreground():
            stop.wait(0.2 * bool(ready))
            continue
        typed = os.read(file, 1024).decode(errors="ignore")
        if not typed:
            return
        if typed.startswith(_ESCAPE) and len(typed) > 1:
            continue  # an arrow or a function key
        for key in typed:
            keys.press(key)
