"""The web front's connections: so many of an address, none that says nothing for long, no error in the log."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import struct
import time
from collections.abc import AsyncIterator, Iterator

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from kit.web_front import in_this_process
from salvo_display.web_server.own_page import MAX_CONNECTIONS, OwnDoor
from salvo_display.web_server.web_limits import Door

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
        answers = [answer(sock, HEAD + b"\r\n") for sock in reversed(held)]  # the eldest silent ones have made room
        assert [bool(each) for each in answers] == [True] * served + [False] * (8 - served)
        assert bool(answer(stack.enter_context(caller(port)), HEAD + b"\r\n")) == (most == NEVER)
        assert answer(stack.enter_context(caller(port, OTHER)), HEAD + b"\r\n")
        held[-1].close()
        end = time.monotonic() + SECONDS
        while not answer(stack.enter_context(caller(port)), HEAD + b"\r\n"):
            assert time.monotonic() < end


@pytest.mark.parametrize(
    ("address", "header", "served"),
    [
        pytest.param("127.0.0.1", b"X-Forwarded-For: 203.0.113.9\r\n", 8, id="a proxy that names its visitors"),
        pytest.param("127.0.0.1", b"", 3, id="a program on this machine"),
        pytest.param(STRANGER, b"X-Forwarded-For: 203.0.113.9\r\n", 3, id="a stranger that names another"),
    ],
)
def test_only_connections_of_a_proxy_that_names_its_visitors_are_any_number(
    address: str, header: bytes, served: int
) -> None:
    with front(most=3) as port, contextlib.ExitStack() as stack:
        held = (stack.enter_context(caller(port, address)) for _ in range(8))
        assert sum(bool(answer(sock, HEAD + header + b"\r\n")) for sock in held) == served


def test_silent_connections_of_another_account_keep_nobody_from_an_own_page() -> None:
    with (
        in_this_process(PlainTextResponse("here"), OwnDoor, 2 * MAX_CONNECTIONS) as port,
        contextlib.ExitStack() as stack,
    ):
        for _ in range(4 * MAX_CONNECTIONS):
            stack.enter_context(caller(port, "127.0.0.1"))
        with caller(port, "127.0.0.1") as browser:
            assert answer(browser, HEAD + b"\r\n").startswith(b"HTTP/1.1 200")


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


async def _body(request: Request) -> Response:
    return PlainTextResponse(await request.body())


async def _stream(request: Request) -> Response:
    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b"data:" + bytes(100_000)
            await asyncio.sleep(0)

    return StreamingResponse(endless(), media_type="text/event-stream")


async def _reckoned(request: Request) -> Response:
    await asyncio.Event().wait()
    raise AssertionError


async def _channel(socket: WebSocket) -> None:
    await socket.accept()
    while (await socket.receive())["type"] != "websocket.disconnect":
        pass


#: Answers of each kind: what a client sends, one that takes no end, one that takes long, and a WebSocket.
PAGES = Starlette(
    routes=[
        Route("/body", _body, methods=["POST"]),
        Route("/stream", _stream),
        Route("/reckoned", _reckoned),
        WebSocketRoute("/channel", _channel),
    ]
)
UPGRADE = b"Host: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
CHANNEL = (
    b"GET /channel HTTP/1.1\r\n"
    + UPGRADE
    + b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)
CHUNKS = b"POST /body HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"


def is_handled(port: int) -> None:
    """Wait until the server has handled what was sent before."""
    with caller(port) as sock:
        assert answer(sock, HEAD + b"\r\n")


@pytest.mark.parametrize(
    ("sent", "then"),
    [
        pytest.param(CHUNKS.replace(b"POST /body", b"GET /stream"), b"ZZ\r\n", id="garbage during a stream"),
        pytest.param(CHUNKS.replace(b"/body", b"/nothing"), b"ZZ\r\n", id="garbage after an answer"),
        pytest.param(CHUNKS + b"3\r\nabc\r\n", b"", id="gone in the midst of what it sends"),
        pytest.param(CHANNEL + b"\r\n", b"\x81\x82\0\0\0\0\xff\xfe", id="text that is no text"),
    ],
)
def test_nothing_that_a_stranger_sends_is_an_error_in_the_log(
    sent: bytes, then: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with in_this_process(PAGES) as port:
        with caller(port) as sock:
            sock.sendall(sent)
            if then:
                answer(sock, b"")
                answer(sock, then)
            is_handled(port)
        is_handled(port)
    assert [record.getMessage() for record in caplog.records if record.levelno > logging.WARNING] == []


@pytest.mark.parametrize("request_", [CHANNEL.replace(b"GET", b"POST"), CHANNEL + b"X: 1\r\n" * 200])
def test_a_request_for_a_websocket_that_is_none_is_refused_and_its_connection_closed(request_: bytes) -> None:
    with in_this_process(PAGES) as port, caller(port) as sock:
        assert answer(sock, request_ + b"\r\n").startswith(b"HTTP/1.1 400 ")
        assert sock.recv(1) == b""


def test_what_is_open_ends_with_the_server_without_a_word(caplog: pytest.LogCaptureFixture) -> None:
    with contextlib.ExitStack() as stack, in_this_process(PAGES) as port:
        for request in (b"GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n", CHANNEL + b"\r\n"):
            assert answer(stack.enter_context(caller(port)), request)
        stack.enter_context(caller(port)).sendall(b"GET /reckoned HTTP/1.1\r\nHost: localhost\r\n\r\n")
        stack.enter_context(caller(port)).sendall(HEAD)
        is_handled(port)
    assert caplog.messages == []
