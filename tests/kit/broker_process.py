"""The embedded broker in a process of its own, whose memory can be looked at."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

from salvo_server.brokers.embedded import EmbeddedBroker
from salvo_server.brokers.embedded.limits import BrokerLimits


class BrokerProcess:
    """An embedded broker as a child process, with limits that differ from the defaults."""

    def __init__(self, **limits: Any) -> None:
        self._command = [sys.executable, __file__, json.dumps(limits)]

    def resident_bytes(self, *, peak: bool = False) -> int:
        """Its memory, now or at most so far."""
        field = "VmHWM:" if peak else "VmRSS:"
        lines = Path(f"/proc/{self._process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the broker did not start"
        self.port, self.websocket_url = json.loads(line)
        return self

    def __exit__(self, *_: object) -> None:
        with self._process:
            self._process.kill()


def _serve(limits: str) -> None:
    with EmbeddedBroker(websocket="127.0.0.1:0", limits=BrokerLimits(**json.loads(limits))) as broker:
        print(json.dumps([broker.port, broker.websocket_url]), flush=True)
        sys.stdin.read()  # until the parent is gone


if __name__ == "__main__":
    _serve(*sys.argv[1:])
