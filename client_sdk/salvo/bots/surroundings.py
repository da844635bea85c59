"""Undo what a bot's code does to its process, after every call: copies of it, other working directories.

A bot may fork and forget to end the copy, which would then play the rest of the game, too. And it may change the
working directory, in which others have their files: each module of a bot has one of its own, in which it is called.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable
from typing import Any, Final


class _ThreadChanges(threading.local):
    """What has happened on each thread: one may call a bot while another changes the directory for its own reasons."""

    def __init__(self) -> None:
        self.events: list[str | None] = []


_noted: Final = _ThreadChanges()

_directories: dict[str, str] = {}
_watching = False


def events() -> list[str | None]:
    """Return what has happened on this thread: the directory that was left, or None in a copy of this process.

    :func:`settle` removes entries.
    """
    return _noted.events


def watch() -> None:
    """Note from now on what happens."""
    global _watching
    if _watching:
        return
    _watching = True
    sys.addaudithook(_note)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: events().append(None))


def call(module: str, method: Callable[..., Any], *given: Any) -> Any:
    """Return what code of a module returns that is called in the module's own working directory."""
    noted = events()
    seen = len(noted)
    if module in _directories:
        with contextlib.suppress(OSError):  # it is gone
            os.chdir(_directories[module])
    try:
        return method(*given)
    finally:
        if len(noted) != seen:
            settle(module, seen)


def settle(module: str, seen: int) -> None:
    """After code of a module was called, end a copy of this process, or go back to where the process was.

    Args:
        seen: how many events there were before the call.
    """
    noted = events()
    left = noted[seen:]
    if not left:
        return
    if None in left:
        os._exit(0)
    with contextlib.suppress(OSError):
        _directories[module] = os.getcwd()
    with contextlib.suppress(OSError):
        os.chdir(left[0] or "")
    if _directories.get(module) == left[0]:
        del _directories[module]
    del noted[seen:]


def has_moved(module: str) -> bool:
    """Whether a module's code has to be called by :func:`call`, since it has a working directory of its own."""
    return module in _directories


def _note(event: str, _: object) -> None:
    if event == "os.chdir":
        try:
            events().append(os.getcwd())
        except OSError:  # it was removed
            events().append("")
