"""When the process may open no more files: connections wait in the system, and one line reports it.

Without this, each attempt to accept one leaves a traceback, or none at all.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
from collections.abc import Callable
from typing import Any, Final

import pydantic.dataclasses

from salvo.system.log_throttle import Throttle

#: For a listener that is not an asyncio server, before it accepts again; asyncio's own is one second, too.
PAUSE_SECONDS: Final = 1.0
_SCARCE: Final = frozenset((errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM))
_CURE: Final = "raise the limit of open files (ulimit -n, LimitNOFILE of systemd)"
#: Pydantic loads this, its parsers and its plugins with the first message, when no file may be left for that.
_LOADED: Final = (pydantic.dataclasses, pydantic.TypeAdapter(int))
log = logging.getLogger(__name__)
_seldom = Throttle(log)


def allow(connections: int) -> None:
    """Let this process have files open for so many connections, as far as the system allows that.

    Of a limit with which they are never reached a line of the log reports: with very few files nobody gets in.
    """
    count = 2 * connections
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # not everywhere

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = count if hard == resource.RLIM_INFINITY else min(count, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
        if most < connections:
            log.warning("at most %d files may be open, too few for %d connections; %s", most, connections, _CURE)


def report(error: object) -> bool:
    """Report an error of a listener if it means that no more files can be opened; return whether it does."""
    if not isinstance(error, OSError) or error.errno not in _SCARCE:
        return False
    _seldom.warn("files", f"new connections wait: {error.strerror}; {_CURE}")
    return True


def report_in(loop: asyncio.AbstractEventLoop, then: Callable[[], None] = lambda: None) -> None:
    """Report such errors of a loop's listeners, which asyncio pauses for a second; ``then`` may make room."""

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if report(context.get("exception")):
            then()
        elif "_start_serving" not in context["message"]:  # of a listener that was closed while it was paused
            loop.default_exception_handler(context)

    loop.set_exception_handler(handle)
