"""The output of a service, which never waits for a reader.

A service is a command that runs until somebody ends it, and that others depend on. A pipe that nobody reads is full
some time, and a ``print`` then waits for ever. So each standard stream of a service has a thread that writes it, from a
queue with a bound. What does not fit, and what cannot be written, is dropped and counted.
"""

from __future__ import annotations

import io
import json
import logging
import select
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any, Final, TextIO

from salvo.cli.logs import is_json

log = logging.getLogger(__name__)

#: What waits to be written, at most: thousands of lines, which a reader catches up with after a pause.
MOST_BYTES: Final = 1 << 20
#: At the end of the process, how long a reader may take nothing, and how long it may take in all.
STILL_SECONDS: Final = 0.5
END_SECONDS: Final = 3.0
_NAMES: Final = ("stdout", "stderr")


def print_without_waiting(*, as_json: bool = False) -> None:
    """Let this process's standard output and standard error never wait; what :func:`ended` has around it ends that.

    Args:
        as_json: whether the lines on standard output are JSON.
    """
    for name in _NAMES:
        stream = getattr(sys, name)
        with suppress(io.UnsupportedOperation):  # it is in memory, as in tests
            _replace(name, stream, ServiceStream(stream, name, as_json=as_json or None))


@contextmanager
def ended() -> Iterator[None]:
    """Write what a service has printed at the end of a ``with`` block, as far as somebody reads it."""
    try:
        yield
    finally:
        for name in _NAMES:
            if isinstance(stream := getattr(sys, name), ServiceStream):
                stream.end()
                _replace(name, stream, stream.below)


def _replace(name: str, stream: Any, by: Any) -> None:
    setattr(sys, name, by)
    for handler in logging.getLogger().handlers:
        if isinstance(handler, logging.StreamHandler) and handler.stream is stream:
            handler.setStream(by)


class ServiceStream(io.TextIOBase):
    """A standard stream that takes every text at once.

    Attributes:
        below: the one that it stands for.
    """

    def __init__(self, below: TextIO, name: str, *, as_json: bool | None = None) -> None:
        """Begin to write.

        Args:
            name: ``stdout`` or ``stderr``.
            as_json: whether its lines are JSON; None if they are where the log's are.

        Raises:
            io.UnsupportedOperation: it is in memory.
        """
        below.fileno()
        below.flush()
        self.below = below
        buffer: Any = below.buffer
        self._raw: io.RawIOBase = getattr(buffer, "raw", buffer)  # it has no lock that a write could hold at the end
        self._is_output = name == "stdout"
        self._as_json = as_json
        self._line = ""
        self._changed = threading.Condition()
        self._waiting: deque[bytes] = deque()
        self._bytes = 0  # waiting, or being written
        self._is_full = False  # until all that waits is written
        self._dropped_behind = 0  # lines that did not fit behind those that wait
        self._dropped = 0  # lines since the last one that was written
        self._is_cut = False  # the last line that was written has no end
        self._fails = False
        self._is_ended = False
        threading.Thread(target=self._write_all, name=name, daemon=True).start()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self.below.encoding

    @property
    def errors(self) -> str | None:  # type: ignore[override]
        return self.below.errors

    def fileno(self) -> int:
        return self.below.fileno()

    def isatty(self) -> bool:
        return self.below.isatty()

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        """Take in a text; it waits for the end of its line, or for :meth:`flush`."""
        with self._changed:
            lines, end, self._line = (self._line + text).rpartition("\n")
            begins = self._queue(lines + end)
        if begins:
            self._report("nobody reads it")
        return len(text)

    def flush(self) -> None:
        """Take in what is begun of a line."""
        with self._changed:
            text, self._line = self._line, ""
            begins = self._queue(text)
        if begins:
            self._report("nobody reads it")

    def end(self) -> None:
        """Wait for what is queued to be written, as long as it goes on, but not for a reader that has stopped."""
        self.flush()
        end = time.monotonic() + END_SECONDS
        with self._changed:
            self._is_ended = True
            self._changed.notify_all()
            while self._bytes and not self._is_full and time.monotonic() < end:
                before = self._bytes
                if not self._changed.wait_for(lambda: self._bytes < before, STILL_SECONDS):  # noqa: B023
                    break

    def _queue(self, text: str) -> bool:
        """Queue a text, or drop it; return whether that begins now."""
        data = text.encode(self.encoding, self.errors or "strict")
        if not data:
            return False
        if not self._is_full and self._bytes + len(data) <= MOST_BYTES:
            self._waiting.append(data)
            self._bytes += len(data)
            self._changed.notify_all()
            return False
        begins, self._is_full = not self._is_full, True
        self._dropped_behind += data.count(b"\n")
        return begins

    def _report(self, why: str) -> None:
        """Log once that lines are dropped; on standard error itself there is nowhere to."""
        if self._is_output:
            log.warning("standard output: %s; what is printed now is dropped, and counted", why)

    # --- the thread that writes ---------------------------------------------------------------------------------

    def _write_all(self) -> None:
        while (data := self._next()) is not None:
            text = self._notice() if self._dropped and (self._fails or not data) else b""
            error = self._try(text + data)
            with self._changed:
                begins = error is not None and not self._fails
                self._fails = error is not None
                self._dropped = self._dropped + data.count(b"\n") if self._fails else 0 if text else self._dropped
                self._bytes -= len(data)
                self._changed.notify_all()
            if begins:
                self._report(getattr(error, "strerror", None) or str(error))

    def _next(self) -> bytes | None:
        """Return what is to be written; nothing where only the number of dropped lines is; None at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_full or self._is_ended)
            if self._waiting:
                return self._waiting.popleft()
            if not self._is_full:
                return None
            self._dropped += self._dropped_behind
            self._dropped_behind, self._is_full = 0, False
            return b""

    def _try(self, data: bytes) -> Exception | None:
        """Write; return what is in the way."""
        try:
            while data:
                written = self._raw.write(data)
                if written is None:  # whoever has the same file open does not want to wait
                    select.select([], [self._raw], [], 1.0)
                    continue
                self._is_cut = data[written - 1 : written] != b"\n"
                data = data[written:]
        except (OSError, ValueError) as error:
            return error
        return None

    def _notice(self) -> bytes:
        """Return the line in place of those that were dropped."""
        record = {"event": "dropped", "lines": self._dropped}
        at = datetime.now().astimezone().isoformat(timespec="milliseconds")
        in_json = is_json() if self._as_json is None else self._as_json
        line = f"dropped: {self._dropped} line{'s' * (self._dropped != 1)} that could not be written"
        text = json.dumps(record | {"at": at}) if in_json else line
        return ("\n" * self._is_cut + text + "\n").encode(self.encoding, self.errors or "strict")
