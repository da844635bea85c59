"""Gateways for Code Smackdown in this process, and programs on sockets."""

from __future__ import annotations

import contextlib
import socket
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from gateways.smackdown_client import Program
from salvo_gateways.accounts import OpenAccounts
from salvo_gateways.children import Child
from salvo_gateways.host import Host
from salvo_gateways.smackdown import Names, child_door, door
from salvo_gateways.table_watch import TableWatch

CLIENT = Path(__file__).with_name("smackdown_client.py")
COMMAND = [sys.executable, str(CLIENT)]
SECONDS = 60.0


@contextlib.contextmanager
def house(url: str, folder: Path, table: str = "") -> Iterator[TableWatch]:
    where = TableWatch(url, table, OpenAccounts(folder / "gateway.key", "smackdown"), pin=False)
    with contextlib.closing(where):
        yield where


@contextlib.contextmanager
def tcp_gateway(url: str, folder: Path, table: str = "", **options: Any) -> Iterator[Host]:
    """Let TCP clients in at ``host.address``."""
    with house(url, folder, table) as where:
        host = Host(where, door(where.open(), **options))
        host.open("127.0.0.1", 0)
        with contextlib.closing(host):
            yield host


@contextlib.contextmanager
def children(url: str, folder: Path, commands: Mapping[str, Sequence[str]], **options: Any) -> Iterator[Names]:
    """Start a program for each name; the last word of its command is its opponent."""
    with house(url, folder) as where, contextlib.ExitStack() as stack:
        book, names, ending = where.open(), Names(children=list(commands)), threading.Event()
        for name, command in commands.items():
            host = Host(where, child_door(book, name, names, **options))
            finished = partial(names.finished_by, name)
            child = Child(command, name, host.admit, lambda: not ending.is_set(), finished)
            stack.callback(child.close)
            stack.callback(host.close)
            child.start()
        stack.callback(ending.set)
        yield names


class Socket:
    """A TCP client's end."""

    def __init__(self, address: tuple[str, int]) -> None:
        self.socket = socket.create_connection(address, timeout=SECONDS)
        self._lines = self.socket.makefile("rb")

    def read(self) -> bytes:
        try:
            return self._lines.readline()
        except ConnectionResetError:
            return b""

    def write(self, data: bytes) -> None:
        self.socket.sendall(data)

    def say(self, line: str) -> None:
        self.write(f"{line}\n".encode())

    def hear(self) -> str:
        return self.read().decode().rstrip("\n")

    def until(self, beginning: str) -> str:
        while line := self.hear():
            if line.startswith(beginning):
                return line
        raise AssertionError(f"no {beginning!r} before the end")

    def close(self) -> None:
        self._lines.close()
        self.socket.close()


class Player(threading.Thread):
    """Plays one game over TCP."""

    def __init__(self, address: tuple[str, int], seed: object, **given: Any) -> None:
        super().__init__(daemon=True)
        self._end = Socket(address)
        self.program = Program(self._end.read, self._end.write, Random(str(seed)), **given)
        self.failed: BaseException | None = None

    def run(self) -> None:
        try:
            self.program.play()
            after = self._end.read()
            assert after == b"", f"{after!r} comes after the end, where the gateway hangs up"
        except BaseException as error:
            self.failed = error
        finally:
            self._end.close()

    def result(self) -> str:
        self.join(SECONDS)
        if self.failed is not None:
            raise self.failed
        assert not self.is_alive(), self.program.told_of[-5:]
        return self.program.result
