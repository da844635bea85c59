"""Addresses as people type them: each part is checked where an address is read, so that nothing later fails on it."""

from __future__ import annotations

import ipaddress
import re
from typing import Final
from urllib.parse import SplitResult, urlsplit

MAX_PORT: Final = 65_535
#: RFC 1035, 2.3.4; names of containers have underscores as well. A dot at the end is the root's.
_MAX_NAME: Final = 253
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,63}(?:\.[A-Za-z0-9_-]{1,63})*\.?")


def check_host(host: str) -> str:
    """Return a host's name or address, without brackets, as it was given.

    Raises:
        ValueError: no resolver could take it; Python's own raises what is not an ``OSError``.
    """
    try:
        if ":" in host:
            ipaddress.IPv6Address(host)
            return host
        name = host if host.isascii() else host.encode("idna").decode()
    except ValueError:  # a UnicodeError is one
        name = ""
    if len(name) > _MAX_NAME or _NAME.fullmatch(name) is None:
        rule = "it has letters, digits, - and _ in parts of 1 to 63, with a dot between two"
        raise ValueError(f"{host[:80]!r} is not a host's name or address; {rule}")
    return host


def split_url(text: str, *, least_port: int = 1) -> SplitResult:
    """Return the parts of a URL; host and port are checked where it has them.

    Args:
        least_port: 0 where the system may choose one.

    Raises:
        ValueError: the text repeats neither user nor password.
    """
    try:
        parts = urlsplit(text.strip())
    except ValueError:  # its text has all between :// and the path
        raise ValueError("its host cannot be read; an IPv6 address stands in brackets") from None
    try:
        port = parts.port
    except ValueError:  # its text has what stands behind the last colon, of a password perhaps
        port = -1
    if port is not None and port < least_port:
        raise ValueError(f"its port is not a number of {least_port}..{MAX_PORT}")
    if parts.hostname:
        check_host(parts.hostname)
    return parts


def split_web_url(text: str) -> SplitResult:
    """Return the parts of the address of a page, or of a folder of pages.

    Raises:
        ValueError: the text repeats neither user nor password.
    """
    parts = split_url(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("it is not http://HOST:PORT or https://HOST:PORT")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError("it has more than host, port and path")
    return parts
