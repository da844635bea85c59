"""A gateway as a process, to be killed."""

from __future__ import annotations

import os
import subprocess
import sys

#: Servers of tests have a new key each time.
UNPINNED = os.environ | {"SALVO_KNOWN_SERVERS": "none"}


class GatewayProcess:
    """``salvo gateway``, started when it listens.

    Attributes:
        address: where.
    """

    def __init__(self, *arguments: str) -> None:
        self._arguments = arguments
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "salvo", "gateway", *self._arguments, "--listen", "127.0.0.1:0"]
        self._process = subprocess.Popen(command, env=UNPINNED, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the gateway has ended"
        host, _, port = line.rpartition(" ")[2].strip().partition(":")
        self.address = host, int(port)

    def kill(self) -> None:
        """End it without a warning."""
        self._process.kill()
        self._process.wait(60)
        assert self._process.stdout is not None
        self._process.stdout.close()

    def __enter__(self) -> GatewayProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
