"""The log on standard error: lines for people, or JSON records for programs, as the events of a server have them."""

from __future__ import annotations

import json
import logging
import os
import sys
from datetime import datetime
from typing import Final

from salvo.errors import SalvoError
from salvo.system.log_throttle import LogThrottle

#: The setting's variable, which the programs beside a server get from it, and which every command understands.
VARIABLE: Final = "SALVO_LOG_FORMAT"


class _Records(logging.Formatter):
    """One JSON object a line, with a traceback inside its text."""

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created).astimezone().isoformat(timespec="milliseconds")
        level, text = record.levelname.lower(), super().format(record)
        return json.dumps({"event": "log", "level": level, "logger": record.name, "text": text, "at": at})


def begin_log(level: str) -> None:
    """Write the log to standard error, unless the program that calls has a log of its own.

    No stranger fills it, whichever library writes about what was sent.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(LogThrottle())
    logging.basicConfig(
        level=level.upper(), handlers=[handler], format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    set_log_format(os.environ.get(VARIABLE, "text"))


def set_log_format(log_format: str) -> None:
    """Let the log that was begun be ``json``; anything else leaves it as it is."""
    if log_format == "json":
        for handler in logging.getLogger().handlers:
            handler.setFormatter(_Records())


def is_json() -> bool:
    """Whether the log's lines are JSON."""
    return any(isinstance(handler.formatter, _Records) for handler in logging.getLogger().handlers)


def error_line(error: SalvoError, text: str) -> str:
    """Return what ended a command, in the format of the log.

    Args:
        text: the error with its code, as people read it.
    """
    if not is_json():
        return f"error: {text}"
    at = datetime.now().astimezone().isoformat(timespec="milliseconds")
    return json.dumps({"event": "error", "code": error.code, "text": text, "at": at})
