"""A real PostgreSQL server in a folder of its own; it can be killed and started again, stand still and be full."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kit.ports import Port
from kit.programs import path_of

_START_SECONDS = 60.0


class PostgreSQL:
    """One cluster with one database, trusting whoever reaches it."""

    def __init__(self, listen: str = "127.0.0.1") -> None:
        self._listen = listen
        self._port = Port()
        self.port = self._port.number
        self._folder = Path(tempfile.mkdtemp(prefix="postgresql-"))
        self._data = self._folder / "data"
        self._process: subprocess.Popen[bytes] | None = None
        # PostgreSQL refuses to run as root.
        self._as: dict[str, Any] = {}
        if os.getuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(self._folder, user.pw_uid, user.pw_gid)
            self._as = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}

    @property
    def url(self) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def __enter__(self) -> PostgreSQL:
        command = [path_of("postgresql", "initdb"), "-D", str(self._data), "-A", "trust", "-U", "postgres", "--no-sync"]
        subprocess.run(command, check=True, capture_output=True, cwd="/", **self._as)
        with (self._data / "pg_hba.conf").open("a") as more:
            more.write("host all all all trust\n")
        self.start()
        return self

    def start(self) -> None:
        settings = {"port": self.port, "listen_addresses": self._listen, "unix_socket_directories": self._folder}
        command = [path_of("postgresql", "postgres"), "-D", str(self._data)]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        self._process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/", **self._as
        )
        ready = [
            path_of("postgresql", "pg_isready"),
            "-q",
            "-h",
            str(self._folder),
            "-p",
            str(self.port),
        ]  # its own socket
        end = time.monotonic() + _START_SECONDS
        while subprocess.run(ready, check=False).returncode:
            assert self._process.poll() is None, f"postgres ended with {self._process.returncode}"
            assert time.monotonic() < end, "postgres does not listen"

    def kill(self) -> None:
        """End it at once, as a crash does."""
        assert self._process is not None
        self._process.send_signal(signal.SIGQUIT)
        self._process.wait(60)

    @contextlib.contextmanager
    def standing_still(self) -> Iterator[None]:
        """Let none of its processes do anything; connections to it stay, and the system still takes what is sent."""
        assert self._process is not None
        below = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children")
        self._process.send_signal(signal.SIGSTOP)  # first, so that it starts no other one
        processes = [*map(int, below.read_text().split()), self._process.pid]
        for process in processes:
            os.kill(process, signal.SIGSTOP)
        try:
            yield
        finally:
            for process in processes:
                os.kill(process, signal.SIGCONT)

    @contextlib.contextmanager
    def on_a_small_disk(self, megabytes: int = 24) -> Iterator[tuple[str, Path]]:
        """Return the URL of a further database on a disk of its own, and that disk's folder; only for root."""
        disk = self._folder / "small"
        disk.mkdir()
        disk.chmod(0o755)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(disk)], check=True)
        try:
            tables = disk / "tables"
            tables.mkdir()
            os.chown(tables, self._as["user"], self._as["group"])
            for statement in (f"CREATE TABLESPACE small LOCATION '{tables}'", "CREATE DATABASE small TABLESPACE small"):
                command = [
                    path_of("postgresql", "psql"),
                    "-h",
                    str(self._folder),
                    "-p",
                    str(self.port),
                    "-U",
                    "postgres",
                ]
                subprocess.run([*command, "-c", statement], check=True, capture_output=True)
            yield self.url.removesuffix("postgres") + "small", disk
        finally:
            subprocess.run(["umount", "-l", str(disk)], check=True)

    def __exit__(self, *_: object) -> None:
        self.kill()
        self._port.close()
        shutil.rmtree(self._folder)
