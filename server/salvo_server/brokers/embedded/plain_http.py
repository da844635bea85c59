"""Plain HTTP on the WebSocket listener: one refusal for all but requests for a WebSocket of this site.

Input is hostile: a head is bounded, only its first line and the headers named here are read, no part of it is in any
answer, and each connection gets one.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from http import HTTPStatus
from typing import Final

from salvo_server.brokers.embedded.addresses import is_known_host, is_known_origin

#: As much as the WebSocket library reads of a line; browsers send less than 2 KiB here.
MAX_HEAD_BYTES: Final = 8192
_END: Final = b"\r\n\r\n"
_FIRST_LINE: Final = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,32} [!-~]{1,4096} HTTP/1\.[01]\r\n")
_HOST: Final = re.compile(rb"\r\nhost:[ \t]*([!-~]{0,300})[ \t]*\r\n", re.IGNORECASE)
_ORIGIN: Final = re.compile(rb"\r\norigin:[ \t]*([!-~]{0,300})[ \t]*\r\n", re.IGNORECASE)
_WEBSOCKET: Final = re.compile(rb"\r\nupgrade:[^\r\n]*\bwebsocket\b", re.IGNORECASE)


def head_of(received: bytes) -> bytes | None:
    """Return the head of a request with its empty line; None while it is not all there."""
    end = received.find(_END, 0, MAX_HEAD_BYTES)
    return None if end < 0 else received[: end + len(_END)]


def wants_websocket(head: bytes) -> bool:
    """Whether it is for the WebSocket library, which reads the request with all its rules."""
    return head.startswith(b"GET ") and _WEBSOCKET.search(head) is not None


def is_of_another_site(head: bytes, names: Collection[str]) -> bool:
    """Whether a page that is not from here wants a WebSocket, as a browser says.

    Args:
        names: other names of this server.
    """
    origin = _ORIGIN.search(head)
    found = _HOST.search(head)
    host = "" if found is None else found[1].decode("ascii")
    if origin is None:
        return b"\r\norigin:" in head.lower()
    return not (is_known_host(host, names) and is_known_origin(origin[1].decode("ascii"), host, names))


def refusal(head: bytes | None, *, of_another_site: bool = False) -> bytes:
    """Return the answer to a plain request; None is one that is too long."""
    if of_another_site:
        status, text = HTTPStatus.FORBIDDEN, "; a page of another site may not connect, unless its host is in `hosts`"
    elif head is None:
        status, text = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, ""
    elif _FIRST_LINE.match(head) is None:
        status, text = HTTPStatus.BAD_REQUEST, ""
    else:
        status, text = HTTPStatus.UPGRADE_REQUIRED, "; MQTT over WebSocket is here, pages are at salvo serve --web"
    body = f"{status.phrase}{text}\n".encode()
    lines = [
        f"HTTP/1.1 {status.value} {status.phrase}",
        "Content-Type: text/plain; charset=utf-8",
        "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'",
        "X-Content-Type-Options: nosniff",
        *(["Upgrade: websocket"] if status is HTTPStatus.UPGRADE_REQUIRED else []),
        f"Connection: {'Upgrade, ' if status is HTTPStatus.UPGRADE_REQUIRED else ''}close",
        f"Content-Length: {len(body)}",
    ]
    return "\r\n".join([*lines, "", ""]).encode() + (b"" if head is not None and head.startswith(b"HEAD ") else body)
