"""A page that is opened in the person's browser, the one in ``BROWSER`` if it is set."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Final

OpenPage = Callable[[str], None]
_OPEN: Final = "import sys, webbrowser; address = sys.stdin.readline().strip(); address and webbrowser.open(address)"


def opener() -> OpenPage:
    """Return what opens an address.

    A process of its own waits for it: it has this one's environment and limits, which are others where bots play.
    """
    if not _has_window():
        return lambda address: None
    # What browsers write is not for this terminal, and one that plays in a terminal may not take it.
    nowhere = subprocess.DEVNULL
    waiting = subprocess.Popen([sys.executable, "-c", _OPEN], stdin=subprocess.PIPE, stdout=nowhere, stderr=nowhere)
    assert waiting.stdin is not None
    sink = waiting.stdin

    def open_page(address: str) -> None:
        with contextlib.suppress(OSError), sink:
            sink.write(f"{address}\n".encode())

    return open_page


def _has_window() -> bool:
    if os.environ.get("BROWSER") or sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
