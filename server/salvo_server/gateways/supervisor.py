"""Gateways that run alongside a server: a process each, restarted when it dies.

So a gateway that fails takes no game with it, and its guests come back to where they were. A gateway ends with its
server, however that ends: it holds the other end of a pipe, and the system closes it.
"""

from __future__ import annotations

import contextlib
import logging
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final

log = logging.getLogger(__name__)

#: How long a gateway may take to say goodbye to its guests.
END_SECONDS: Final = 10.0
#: Pause before a gateway is started again; longer each time that it ends at once.
AGAIN_SECONDS: Final = 0.5
MAX_PAUSE_SECONDS: Final = 30.0
_AT_ONCE_SECONDS: Final = 10.0

#: Told the protocol, and a line that its gateway has printed.
Say = Callable[[str, str], None]


@contextlib.contextmanager
def gateways_beside(commands: Sequence[Sequence[str]], say: Say) -> Iterator[None]:
    """Run gateways for the length of a ``with`` block.

    Args:
        commands: for each the words behind ``salvo gateway``, the protocol first.
        say: called on other threads.
    """
    with contextlib.ExitStack() as running:
        for words in commands:
            gateway = _Gateway(words, say)
            gateway.start()
            running.callback(gateway.join)
            running.callback(gateway.end)
        yield


class _Gateway:
    def __init__(self, words: Sequence[str], say: Say) -> None:
        self._words = list(words)
        self._say = say
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._thread = threading.Thread(target=self._run, name=f"gateway {words[0]}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        """Tell it to end; the pipe tells one that is only just starting."""
        with self._lock:
            self._stop.set()
            if self._process is not None and self._process.stdin is not None:
                self._process.stdin.close()

    def join(self) -> None:
        self._thread.join(END_SECONDS)
        with self._lock:
            if self._thread.is_alive() and self._process is not None:
                self._process.kill()
        self._thread.join(END_SECONDS)

    def _run(self) -> None:
        pause = AGAIN_SECONDS
        while True:
            began = time.monotonic()
            code = self._once()
            if self._stop.is_set():
                return
            lasted = time.monotonic() - began > _AT_ONCE_SECONDS
            pause = AGAIN_SECONDS if lasted else min(2 * pause, MAX_PAUSE_SECONDS)
            log.error("the gateway %s has ended with exit code %d; it is started again", self._words[0], code)
            if self._stop.wait(pause):
                return

    def _once(self) -> int:
        """Run it until it ends."""
        with self._lock:
            if self._stop.is_set():
                return 0
            # With -P it does not import what lies in this folder, such as a bot that is called salvo.py.
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "salvo_server", "gateway", "--until-eof", *self._words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                start_new_session=True,  # Ctrl-C is the server's, which then ends it
            )
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self._say(self._words[0], line.rstrip())
        return self._process.wait()
