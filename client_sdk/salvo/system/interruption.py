"""Ctrl-C and the signals that end a process as it does: what the process has begun is ended in order, too."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any, NoReturn

from salvo.system.streams import let_go_of_terminal


def end_as_by_ctrl_c() -> None:
    """Let SIGTERM and SIGHUP raise ``KeyboardInterrupt`` in this process from now on.

    What has its own way to end on SIGTERM ends so on SIGHUP. What is ignored stays so, as under nohup. Whatever raises
    ``KeyboardInterrupt``, Ctrl-C too, does so again where Python has dropped it.
    """
    if threading.current_thread() is not threading.main_thread():
        return  # signals are the main thread's
    if getattr(sys.unraisablehook, "func", None) is not _raise_again:
        sys.unraisablehook = partial(_raise_again, sys.unraisablehook)
    for name, handler in (("SIGTERM", _interrupt), ("SIGHUP", _hang_up)):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


def exit_code(interruption: BaseException | None) -> int:
    """Return the exit code after an interruption: 128 and its signal, which is Ctrl-C's where Python names none."""
    return 128 + int(interruption.args[0] if interruption is not None and interruption.args else signal.SIGINT)


def _hang_up(*_: object) -> None:
    let_go_of_terminal()
    signal.raise_signal(signal.SIGTERM)


def _interrupt(number: int, _: object) -> NoReturn:
    raise KeyboardInterrupt(number)


def _raise_again(former: Callable[[Any], object], dropped: Any) -> None:
    """Raise an interruption again in the code that was interrupted.

    Python drops what is raised in code that it calls by itself, such as a weak reference's callback, of which each
    import has one.
    """
    own = sys._getframe()
    if own.f_back is None or not issubclass(dropped.exc_type, KeyboardInterrupt):  # without it, nothing is left to end
        former(dropped)
        return
    number = getattr(dropped.exc_value, "args", ())

    def interrupt(frame: FrameType, *_: object) -> None:
        if frame is not own:
            sys.setprofile(None)
            raise KeyboardInterrupt(*number)

    sys.setprofile(interrupt)
