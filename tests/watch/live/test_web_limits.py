"""The web front's connections: so many of an address, and none that says nothing for long."""

from __future__ import annotations

import contextlib
import socket
import struct
import time
from collections.abc import Iterator

import pytest
from starlette.responses import PlainTextResponse

from kit.web_front import in_this_process
from salvo_server.web_limits import Door

SECONDS = 60.0
#: Other addresses of this machine than the one that proxies have.
STRANGER, OTHER = "127.0.0.9", "127.0.0.8"
HEAD = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
#: Beyond any test.
NEVER = 1_000_000


@contextlib.contextmanager
def front(most: int = NEVER, patience_seconds: float = NEVER) -> Iterator[int]:
    """Run uvicorn with such a door; its port."""
    kind = type("Small", (Door,), {"most": most, "patience_seconds": patience_seconds})
    with in_this_process(PlainTextResponse("here"), kind) as port:
        yield port


@contextlib.contextmanager
def caller(port: int, address: str = STRANGER) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", port), SECONDS, source_address=(address, 0)) as sock:
        # No port stays taken for a minute, which other tests could be given.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        yield sock


def answer(sock: socket.socket, request: bytes) -> bytes:
    """What comes; empty when the other side hangs up."""
    with contextlib.suppress(ConnectionError):
        sock.sendall(request)
        return sock.recv(100)
    return b""


@pytest.mark.parametrize(("most", "served"), [(3, 3), (NEVER, 8)], ids=["bounded", "without the bound"])
def test_an_address_has_so_many_connections_whatever_others_have(most: int, served: int) -> None:
    with front(most) as port, contextlib.ExitStack() as stack:
        held = [stack.enter_context(caller(port)) for _ in range(8)]
        answers = [answer(sock, HEAD + b"\r\n") for sock in held]
        assert [bool(each) for each in answers] == [True] * served + [False] * (8 - served)
        assert answer(stack.enter_context(caller(port, OTHER)), HEAD + b"\r\n")
        held[0].close()
        end = time.monotonic() + SECONDS
        while not answer(stack.enter_context(caller(port)), HEAD + b"\r\n"):
            assert time.monotonic() < end


def test_connections_of_a_proxy_that_names_its_visitors_are_any_number() -> None:
    with front(most=3) as port, contextlib.ExitStack() as stack:
        held = [stack.enter_context(caller(port, "127.0.0.1")) for _ in range(8)]
        assert all(answer(sock, HEAD + b"\r\n") for sock in held)


@pytest.mark.parametrize("sent", [b"", HEAD, HEAD + b"\r\n" + HEAD], ids=["nothing", "half a head", "half of another"])
def test_a_connection_without_a_whole_request_is_closed_after_a_time_limit(sent: bytes) -> None:
    with front(patience_seconds=0.2) as port, caller(port) as sock:
        sock.sendall(sent)
        with contextlib.suppress(ConnectionError):
            while sock.recv(1000):
                pass
    with front() as port, caller(port) as slow, front(patience_seconds=0.2) as other, caller(other) as watch:
        slow.sendall(sent)
        with contextlib.suppress(ConnectionError):
            assert watch.recv(1) == b""  # by now it would be closed
        slow.sendall(b"\r\n" if sent else HEAD + b"\r\n")
        got = b""
        while got.count(b"here") < max(1, sent.count(b"GET")):
            chunk = slow.recv(1000)
            assert chunk
            got += chunk
