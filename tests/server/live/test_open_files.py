"""Whatever listens, in a process that may open few files: strangers wait, nothing breaks, and one line says why."""

from __future__ import annotations

import contextlib
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterable

import pytest

from kit.brokers import StartServer
from kit.processes import started
from kit.raw import connect_packet
from salvo_server.brokers.embedded import EmbeddedBroker

#: As few as a server needs, and some connections.
_FILES = 48
_STRANGERS = 120
_SERVE = ("serve", "--players", "2", "--journal", "none", "--listen", "127.0.0.1:0")


def _wait_for(pattern: str, lines: Iterable[str], log: list[str]) -> re.Match[str]:
    for line in lines:
        log.append(line)
        if found := re.search(pattern, line):
            return found
    raise AssertionError(log)


def _answer(port: int, request: bytes) -> bytes:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 60) as client:
        client.sendall(request)
        return client.recv(100)
    return b""


@pytest.mark.long
@pytest.mark.parametrize(
    ("command", "address", "request_", "answer"),
    [
        pytest.param(_SERVE, r"mqtt://127.0.0.1:(\d+)", connect_packet("a team"), b"\x20\2\0\0", id="mqtt"),
        pytest.param(
            ("web", "BROKER", "--listen", "127.0.0.1:0"),
            r"watch: http://127.0.0.1:(\d+)",
            b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
            b"HTTP/1.1 200",
            id="web",
        ),
        pytest.param(
            ("gateway", "xbs", "--roster", "none", "--listen", "127.0.0.1:0", "--broker", "BROKER"),
            r"127.0.0.1:(\d+)",
            b"",
            b"G|",
            id="gateway",
        ),
    ],
)
def test_connections_beyond_the_limit_of_open_files_wait(
    broker: EmbeddedBroker,
    start_server: StartServer,
    command: tuple[str, ...],
    address: str,
    request_: bytes,
    answer: bytes,
) -> None:
    words = [broker.url if word == "BROKER" else word for word in command]
    shell = ["sh", "-c", f'ulimit -n {_FILES}; exec "$@"', "sh", sys.executable, "-m", "salvo", *words]
    with (
        start_server(rules="xbs"),
        started(shell, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process,
        contextlib.ExitStack() as limit,
        contextlib.ExitStack() as strangers,
    ):
        timer = threading.Timer(300, process.kill)
        limit.callback(timer.cancel)
        timer.start()
        assert process.stdout is not None
        log: list[str] = []
        port = int(_wait_for(address, process.stdout, log)[1])
        for _ in range(_STRANGERS):
            stranger = strangers.enter_context(socket.socket())
            stranger.setblocking(False)
            stranger.connect_ex(("127.0.0.1", port))
        _wait_for("new connections wait: Too many open files", process.stdout, log)
        strangers.close()
        while not _answer(port, request_).startswith(answer):
            assert process.poll() is None, log
        process.send_signal(signal.SIGTERM)
        log += process.communicate(timeout=300)[0].splitlines()
    assert not [line for line in log if "Traceback" in line or "asyncio" in line]
    if "gateway" not in words:
        assert [line for line in log if f"at most {_FILES} files may be open, too few for" in line]
