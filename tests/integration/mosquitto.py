"""A real mosquitto: one open to everybody, and one started from the configuration that is written for a contest."""

from __future__ import annotations

import contextlib
import itertools
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from random import SystemRandom
from typing import Self

from programs import path_of
from salvo_server.broker.mosquitto_config import Listener, MosquittoTls, write
from salvo_server.trust.roster import Account, Credentials

_OPEN = Path(__file__).with_name("open_mosquitto.conf")
_START_SECONDS = 60.0


#: Below those that the system gives out by itself, on Linux from 32768 on. One of those may be given to somebody else
#: before it is listened on, or while who listened is killed and started again; even to a client that calls there.
_PORTS = range(20_000, 32_000)
_tried = itertools.count(SystemRandom().randrange(len(_PORTS)))


def free_port() -> int:
    """Return a port that nobody has, and that nobody gets by chance."""
    while True:
        port = _PORTS[next(_tried) % len(_PORTS)]
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port


class Mosquitto:
    """mosquitto on ports of its own, with the persistence folder of its own; it can be killed and started again."""

    def __init__(self) -> None:
        self.port = free_port()
        self.websocket_port = free_port()
        self._folder = Path(tempfile.mkdtemp(prefix="mosquitto-"))
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"mqtt://127.0.0.1:{self.port}"

    @property
    def websocket_url(self) -> str:
        return f"ws://127.0.0.1:{self.websocket_port}/mqtt"

    def start(self) -> Self:
        self._process = subprocess.Popen(
            [path_of("mosquitto"), "-c", str(self._write_config())],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        end = time.monotonic() + _START_SECONDS
        while True:
            try:
                for port in (self.port, self.websocket_port):
                    socket.create_connection(("127.0.0.1", port), 1).close()
                return self
            except OSError:
                assert self._process.poll() is None, f"mosquitto ended with {self._process.returncode}"
                assert time.monotonic() < end, "mosquitto does not listen"
                time.sleep(0.005)

    def _write_config(self) -> Path:
        config = self._folder / "mosquitto.conf"
        config.write_text(
            f"{_OPEN.read_text()}\nuser root\npersistence_location {self._folder}/\n"
            f"listener {self.port} 127.0.0.1\nprotocol mqtt\n"
            f"listener {self.websocket_port} 127.0.0.1\nprotocol websockets\n"
        )
        return config

    def kill(self, number: int = signal.SIGKILL) -> None:
        assert self._process is not None
        self._process.send_signal(number)
        self._process.wait(60)

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self.kill(signal.SIGTERM)
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()


class ContestMosquitto(Mosquitto):
    """mosquitto with users and rights, from the configuration that is written for a contest."""

    def __init__(
        self,
        server: Account,
        keeper: Credentials,
        tables: tuple[str, ...] = ("",),
        *,
        tls: MosquittoTls | None = None,
    ) -> None:
        super().__init__()
        self.folder = self._folder
        self._given = (server, keeper, tables)
        self._tls = tls

    @property
    def url(self) -> str:
        return f"mqtt{'' if self._tls is None else 's'}://127.0.0.1:{self.port}"

    def _write_config(self) -> Path:
        listeners = (Listener(self.port, "127.0.0.1"), Listener(self.websocket_port, "127.0.0.1", websocket=True))
        config = write(self._folder, *self._given, listeners=listeners, tls=self._tls)
        config.write_text(config.read_text() + "user root\n")
        return config
