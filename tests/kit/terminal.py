"""A program at a terminal: a pseudo-terminal, what stands on its screen, and keys."""

from __future__ import annotations

import codecs
import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Sequence

KEYS = {"enter": "\r", "tab": "\t", "escape": "\x1b", "up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C"} | {
    "left": "\x1b[D",
    "delete": "\x1b[3~",
    "space": " ",
    "ctrl+c": "\x03",
}
#: A sequence to the terminal, a text that starts one and is not whole yet, or a letter.
_TOKEN = re.compile(
    r"\x1b\[(?P<args>[0-?]*)[ -/]*(?P<final>[@-~])|\x1b[\]P^_].*?(?:\x07|\x1b\\)|(?P<cut>\x1b(?:\[[0-?]*[ -/]*)?$)"
    r"|\x1b[ -/]*.|(?P<letter>[\s\S])"
)


class Screen:
    """Letters on a grid, as far as programs that place every line by itself need it."""

    def __init__(self, lines: int, columns: int) -> None:
        self._columns = columns
        self._rows = [[" "] * columns for _ in range(lines)]
        self._line = self._column = 0
        self._rest = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.is_other_screen = False

    @property
    def text(self) -> str:
        """All lines."""
        return "\n".join("".join(row).rstrip() for row in self._rows)

    def feed(self, data: bytes) -> None:
        """Take in what the program has written."""
        text, self._rest = self._rest + self._decoder.decode(data), ""
        for token in _TOKEN.finditer(text):
            if token["cut"] is not None:
                self._rest = token["cut"]
            elif token["final"] is not None:
                self._obey(token["args"], token["final"])
            elif token["letter"] is not None:
                self._write(token["letter"])

    def _obey(self, args: str, final: str) -> None:
        if final == "H":
            line, _, column = args.partition(";")
            self._line, self._column = int(line or 1) - 1, int(column or 1) - 1
        elif final == "J":
            self._rows = [[" "] * self._columns for _ in self._rows]
        elif args == "?1049":
            self.is_other_screen = final == "h"
            self._obey("", "J")
            self._obey("", "H")

    def _write(self, letter: str) -> None:
        if letter == "\r":
            self._column = 0
        elif letter == "\n":
            self._line = min(self._line + 1, len(self._rows) - 1)
        elif letter.isprintable() and self._line < len(self._rows) and self._column < self._columns:
            self._rows[self._line][self._column] = letter
            self._column += 1


def _control() -> None:
    """Make standard input the terminal of this process's session."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # ignored where the tests run under nohup
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Terminal:
    """A program that believes to be at a terminal."""

    def __init__(
        self,
        command: Sequence[str],
        environment: dict[str, str],
        *,
        lines: int = 40,
        columns: int = 110,
        hangs_up: bool = False,
    ) -> None:
        """Start a program.

        Args:
            hangs_up: whether the system sends it SIGHUP when the terminal is closed.
        """
        self.screen = Screen(lines, columns)
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.settings = termios.tcgetattr(theirs)
        sized = {name: value for name, value in environment.items() if name not in ("COLUMNS", "LINES")}
        self.process = subprocess.Popen(
            command,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=sized | {"TERM": "xterm-256color"},
            preexec_fn=_control if hangs_up else None,
            start_new_session=True,  # what it asks at its terminal must not reach the one of whoever runs the tests
        )
        self._theirs = theirs
        self._is_open = True

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait()
        self._close()

    def _close(self) -> None:
        if self._is_open:
            self._is_open = False
            os.close(self._ours)
            os.close(self._theirs)

    def press(self, *keys: str) -> None:
        """Press keys, in one go."""
        os.write(self._ours, "".join(KEYS.get(key, key) for key in keys).encode())

    def until(self, holds: Callable[[str], object], seconds: float = 60.0) -> str:
        """Return what stands on the screen as soon as it is what is awaited."""
        end = time.monotonic() + seconds
        while not holds(self.screen.text):
            assert time.monotonic() < end, f"not seen within {seconds} s:\n{self.screen.text}"
            self._read(0.2)
        return self.screen.text

    def until_seen(self, words: str) -> str:
        """Return what stands on the screen as soon as these words do."""
        return self.until(lambda text: words in text)

    def end(self, seconds: float = 60.0) -> int:
        """Return the exit code of a program that is to end by itself."""
        end = time.monotonic() + seconds
        while self.process.poll() is None:
            assert time.monotonic() < end, f"has not ended:\n{self.screen.text}"
            self._read(0.05)
        while self._read(0.05):
            pass
        return self.process.returncode

    def close(self, seconds: float = 60.0) -> int:
        """Close the terminal, as its window is closed; return the exit code of the program, which is to end."""
        self._close()
        return self.process.wait(seconds)

    @property
    def is_restored(self) -> bool:
        """Whether the terminal is as it was, and the program's own screen gone."""
        return termios.tcgetattr(self._theirs) == self.settings and not self.screen.is_other_screen

    def signal(self, number: signal.Signals) -> None:
        """Send a signal."""
        self.process.send_signal(number)

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._ours], [], [], seconds)
        if ready:
            self.screen.feed(os.read(self._ours, 65536))
        return bool(ready)
