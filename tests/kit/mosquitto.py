"""A real mosquitto: one open to everybody, and one started from the configuration that is written for a contest."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Self

from kit.ports import Port
from kit.programs import path_of
from kit.waiting import until
from salvo_server.brokers.mosquitto.config import (
    MAX_CONNECTIONS,
    MAX_SERVER_CONNECTIONS,
    MosquittoListener,
    write,
)
from salvo_server.storage.register import Account
from salvo_server.storage.roster import Credentials

_OPEN = Path(__file__).with_name("open_mosquitto.conf")


def listens_elsewhere(config: Path, port: Port, web: Port) -> None:
    """Give teams other ports in what ``salvo mosquitto`` wrote, and let root read it, who else becomes mosquitto."""
    text = config.read_text()
    for usual, other in ((1883, port), (9001, web)):
        assert text.count(f"listener {usual}\n") == 1
        text = text.replace(f"listener {usual}\n", f"listener {other.number}\n")
    config.write_text(text + "user root\n" * (os.geteuid() == 0))


def start_mosquitto(config: Path) -> subprocess.Popen[bytes]:
    """Start a mosquitto; when this returns it listens on all ports of its configuration.

    It says so itself. That somebody answers at a port would not tell: it may be another one's server.
    """
    with config.open("a") as more:
        more.write("log_dest stderr\nlog_type error\nlog_type information\n")  # standard output is buffered
        more.write("log_type websockets\nwebsockets_log_level 1\n")  # else nothing says why a listener was not created
    log = config.with_suffix(".log")
    with log.open("wb") as output:
        process = subprocess.Popen([path_of("mosquitto"), "-c", str(config)], stdout=output, stderr=output)
    try:
        until(lambda: b" running\n" in log.read_bytes() or process.poll() is not None, log.read_text)
        assert process.poll() is None, f"mosquitto ended with {process.returncode}: {log.read_text()}"
    except BaseException:
        process.kill()
        process.wait()
        raise
    return process


class Mosquitto:
    """mosquitto on ports of its own, with the persistence folder of its own; it can be killed and started again."""

    def __init__(self, listen: str = "127.0.0.1") -> None:
        self._listen = listen
        self._ports: tuple[Port, ...] = (Port(), Port())
        self.port, self.websocket_port = (port.number for port in self._ports)
        self._folder = Path(tempfile.mkdtemp(prefix="mosquitto-"))
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"mqtt://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def websocket_url(self) -> str:
        return f"ws://127.0.0.1:{self.websocket_port}/mqtt"

    def start(self) -> Self:
        self._process = start_mosquitto(self.write_config())
        return self

    def write_config(self) -> Path:
        config = self._folder / "mosquitto.conf"
        config.write_text(
            f"{_OPEN.read_text()}\nuser root\npersistence_location {self._folder}/\n"
            f"listener {self.port} {self._listen}\nprotocol mqtt\n"
            f"listener {self.websocket_port} {self._listen}\nprotocol websockets\n"
        )
        return config

    def kill(self, number: int = signal.SIGKILL) -> None:
        assert self._process is not None
        self._process.send_signal(number)
        self._process.wait(60)

    def forget(self) -> None:
        """Lose everything: sessions and retained messages; not while it runs."""
        for file in self._folder.glob("*.db*"):
            file.unlink()

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self.kill(signal.SIGTERM)
        for port in self._ports:
            port.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.stop()
            raise

    def __exit__(self, *_: object) -> None:
        self.stop()


class ContestMosquitto(Mosquitto):
    """mosquitto with users and rights, from the configuration that is written for a contest."""

    def __init__(self, server: Account, keeper: Credentials, tables: tuple[str, ...] = ("",)) -> None:
        super().__init__()
        own = Port()
        self._ports = (*self._ports, own)
        self.server_port = own.number
        self.folder = self._folder
        self._given = (server, keeper, tables)

    @property
    def server_url(self) -> str:
        """The listener that silent sockets of others cannot fill."""
        return f"mqtt://127.0.0.1:{self.server_port}"

    def write_config(self) -> Path:
        listeners = (
            MosquittoListener(self.port, "127.0.0.1", max_connections=MAX_CONNECTIONS),
            MosquittoListener(self.websocket_port, "127.0.0.1", websocket=True, max_connections=MAX_CONNECTIONS),
            MosquittoListener(self.server_port, "127.0.0.1", max_connections=MAX_SERVER_CONNECTIONS),
        )
        config = write(self._folder, *self._given, listeners=listeners)
        config.write_text(config.read_text() + "user root\n")
        return config
