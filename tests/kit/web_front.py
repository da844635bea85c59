"""The web front as a process of its own, before a broker of the test's, or its parts in this one."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from email.message import Message
from typing import Any, NamedTuple

from starlette.types import ASGIApp

from kit.processes import started
from salvo_display.web_server.web_limits import Door, behind_a_door
from salvo_watch.web.hatch import Hatch
from salvo_watch.web.relay import Relay

_SALVO = (sys.executable, "-m", "salvo")
_SECONDS = 60.0
#: Beyond any test.
_NEVER = 1_000_000


class WebFront(NamedTuple):
    """A running web front."""

    url: str
    pid: int = 0

    @property
    def port(self) -> int:
        return int(self.url.rstrip("/").rpartition(":")[2])

    def get(self, path: str, **headers: str) -> tuple[int, Message, bytes]:
        """Return status, headers and body."""
        request = urllib.request.Request(self.url.rstrip("/") + path, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers, error.read()

    @contextlib.contextmanager
    def pictures(self, table: str = "") -> Iterator[Iterator[dict[str, Any]]]:
        """Yield the pictures of a table as a browser gets them."""
        request = urllib.request.urlopen(f"{self.url}events?table={table}", timeout=_SECONDS)
        with request as stream:
            yield (json.loads(line[6:]) for line in stream if line.startswith(b"data: "))


@contextlib.contextmanager
def web_front(broker: str, *words: str, account: tuple[str, str] | None = None) -> Iterator[WebFront]:
    """Run ``salvo web`` before a broker.

    Args:
        words: further options.
        account: user and secret.
    """
    given = {} if account is None else {"SALVO_TEAM": account[0], "SALVO_SECRET": account[1]}
    command = [*_SALVO, "web", broker, "--listen", "127.0.0.1:0", "--json", *words]
    with started(command, env=os.environ | given, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        yield WebFront(json.loads(process.stdout.readline())["urls"][-1], process.pid)


@contextlib.contextmanager
def in_this_process(
    app: ASGIApp, door: type[Door] = Door, connections: int = _NEVER, relay: Relay | None = None
) -> Iterator[int]:
    """Run uvicorn with an app and a door, and so many connections at once, and a relay on the same loop; its port."""
    server = behind_a_door(app, door, connections, ws=Hatch, ws_max_size=1000, timeout_keep_alive=_NEVER)

    async def serve(sock: socket.socket) -> None:
        following = None if relay is None else asyncio.create_task(relay.run())
        await server.serve([sock])
        if relay is not None and following is not None:
            relay.stop()
            await following

    with socket.create_server(("127.0.0.1", 0)) as sock:
        thread = threading.Thread(target=lambda: asyncio.run(serve(sock)), daemon=True)
        thread.start()
        try:
            yield sock.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(_SECONDS)
            assert not thread.is_alive()
