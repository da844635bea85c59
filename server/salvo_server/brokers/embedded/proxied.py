"""Whom a connection is made for: the PROXY protocol, version 1, as the web front and HAProxy speak it.

Its line comes before anything else, and no packet of MQTT begins like it.
"""

from __future__ import annotations

import re
from typing import Final

#: The longest line there may be.
MAX_BYTES: Final = 107
_BEGINS: Final = b"PROXY "
_END: Final = b"\r\n"
_LINE: Final = re.compile(rb"PROXY (?:UNKNOWN|TCP[46] ([0-9A-Fa-f.:]{2,45}) [^\r\n]*)\r\n")


def is_cut_off(data: bytes) -> bool:
    """Whether this may be the beginning of a line whose end has not come yet."""
    begins = data.startswith(_BEGINS) or _BEGINS.startswith(data)
    return begins and _END not in data and len(data) < MAX_BYTES


def read_visitor(data: bytes) -> tuple[str, bytes]:
    """Return the address that a connection is made for, empty if none is told, and what follows the line."""
    found = _LINE.match(data)
    return ("", data) if found is None else ((found[1] or b"").decode(), data[found.end() :])
