"""Plain HTTP on the WebSocket listener: one page for browsers, and a refusal for all else.

Input is hostile: a head is bounded, only its first line and the request for a WebSocket are read, no part of it is in
any answer, and each connection gets one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from salvo_server.core.rate_limit import Rate

#: As much as the WebSocket library reads of a line; browsers send less than 2 KiB here.
MAX_HEAD_BYTES: Final = 8192
#: Plain requests of one address: a hall of phones behind one router at once, then ten a second.
REQUESTS: Final = Rate(200.0, 10.0)
#: Addresses whose requests are counted.
MAX_ADDRESSES: Final = 1024
_END: Final = b"\r\n\r\n"
_FIRST_LINE: Final = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}) ([!-~]{1,4096}) HTTP/1\.[01]\r\n")
_WEBSOCKET: Final = re.compile(rb"\r\nupgrade:[^\r\n]*\bwebsocket\b", re.IGNORECASE)
_ALWAYS: Final = {
    "Connection": "close",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
_NOTHING_ALLOWED: Final = "default-src 'none'; frame-ancestors 'none'"


@dataclass(frozen=True, slots=True)
class FrontPage:
    """What is at ``/``: HTML, and what it may do (Content-Security-Policy)."""

    html: bytes
    policy: str


def head_of(received: bytes) -> bytes | None:
    """Return the head of a request with its empty line; None while it is not all there."""
    end = received.find(_END, 0, MAX_HEAD_BYTES)
    return None if end < 0 else received[: end + len(_END)]


def wants_websocket(head: bytes) -> bool:
    """Whether it is for the WebSocket library, which reads the request with all its rules."""
    return head.startswith(b"GET ") and _WEBSOCKET.search(head) is not None


def answer(head: bytes | None, page: FrontPage | None, *, too_many: bool = False) -> bytes:
    """Return the answer to a plain request.

    Args:
        head: None for one that is too long.
        too_many: whether its address has asked too often.
        page: what is served; None for nothing.
    """
    if too_many:
        return _refusal(HTTPStatus.TOO_MANY_REQUESTS, {"Retry-After": "1"}, with_body=False)
    if head is None:
        return _refusal(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
    first = _FIRST_LINE.match(head)
    if first is None:
        return _refusal(HTTPStatus.BAD_REQUEST)
    method, target = first.groups()
    if target != b"/" or page is None:
        return _refusal(HTTPStatus.NOT_FOUND, with_body=method != b"HEAD")
    if method not in (b"GET", b"HEAD"):
        return _refusal(HTTPStatus.METHOD_NOT_ALLOWED, {"Allow": "GET, HEAD"})
    headers = {
        "Content-Type": "text/html; charset=utf-8",
        "Cache-Control": "no-cache",
        "Content-Security-Policy": f"{page.policy}; frame-ancestors 'none'",
    }
    return _response(HTTPStatus.OK, headers, page.html, with_body=method == b"GET")


def _refusal(status: HTTPStatus, headers: Mapping[str, str] | None = None, *, with_body: bool = True) -> bytes:
    plain = {"Content-Type": "text/plain; charset=utf-8", "Content-Security-Policy": _NOTHING_ALLOWED}
    return _response(status, plain | dict(headers or {}), f"{status.phrase}\n".encode(), with_body=with_body)


def _response(status: HTTPStatus, headers: Mapping[str, str], body: bytes, *, with_body: bool) -> bytes:
    told = {**headers, **_ALWAYS, "Content-Length": str(len(body))}
    lines = [f"HTTP/1.1 {status.value} {status.phrase}", *(f"{name}: {value}" for name, value in told.items())]
    return "\r\n".join([*lines, "", ""]).encode() + (body if with_body else b"")
