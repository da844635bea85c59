"""The embedded broker in a process of its own: to be killed, started again on its port, and its memory looked at."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from salvo_server.brokers.embedded import EmbeddedBroker
from salvo_server.brokers.embedded.limits import BrokerLimits


class BrokerProcess:
    """An embedded broker as a child process."""

    def __init__(self, **limits: Any) -> None:
        """Take the limits that differ from the defaults."""
        self._limits = limits
        self._process: subprocess.Popen[str] | None = None
        from kit.ports import Port  # not when this file is the child's program

        self._ports = (Port(), Port())
        self._listen, self._websocket = (port.address for port in self._ports)
        self.url = ""
        self.websocket_url = ""

    @property
    def port(self) -> int:
        return int(self._listen.rpartition(":")[2])

    def start(self) -> BrokerProcess:
        """Start it, on the same ports as before."""
        command = [sys.executable, __file__, self._listen, self._websocket, json.dumps(self._limits)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the broker did not start"
        self.url, self.websocket_url, self._listen, self._websocket = json.loads(line)
        return self

    def kill(self) -> None:
        """End it with SIGKILL."""
        assert self._process is not None
        self._process.kill()
        self._process.wait(60)
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()

    def resident_bytes(self, *, peak: bool = False) -> int:
        """Its memory, now or at most so far."""
        assert self._process is not None
        field = "VmHWM:" if peak else "VmRSS:"
        lines = Path(f"/proc/{self._process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))

    def __enter__(self) -> BrokerProcess:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.kill()
        for port in self._ports:
            port.close()


def _serve(listen: str, websocket: str, limits: str) -> None:
    with EmbeddedBroker(listen, websocket, limits=BrokerLimits(**json.loads(limits))) as broker:
        ports = [f"{host}:{port}" for host, port in broker._bound.values()]
        print(json.dumps([broker.url, broker.websocket_url, *ports]), flush=True)
        sys.stdin.read()  # until the parent is gone


if __name__ == "__main__":
    _serve(*sys.argv[1:])
