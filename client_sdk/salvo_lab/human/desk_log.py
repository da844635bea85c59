"""The log at a desk: on standard error it would be written over the boards, or be read by nobody."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator

from salvo_lab.human.channel import Channel, Notice


class _DeskLog(logging.Handler):
    def __init__(self, desk: Channel) -> None:
        super().__init__()
        self._desk = desk

    def emit(self, record: logging.LogRecord) -> None:
        self._desk.show(Notice(record.getMessage()))


@contextlib.contextmanager
def log_at(desk: Channel) -> Iterator[None]:
    """Show the log to the person as news."""
    root = logging.getLogger()
    handlers, root.handlers = root.handlers, [_DeskLog(desk)]
    try:
        yield
    finally:
        root.handlers = handlers
