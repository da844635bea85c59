"""Line numbers of keys in a TOML file, which tomllib does not provide."""

from __future__ import annotations

import re


def line_of(text: str, key: str, table: str = "") -> int:
    """Return the line, from 1, that has a key or begins its table; 0 if none does.

    Args:
        table: look only there, whether it is written under ``[table]``, inline or dotted; anywhere when empty.
    """
    first, last = 0, len(text)
    word = rf"[\"']?{re.escape(key)}[\"']?"
    if table:
        name = rf"[\"']?{re.escape(table)}[\"']?"
        dotted = re.search(rf"^\s*{name}\s*\.\s*{word}\s*=", text, re.MULTILINE)
        begins = re.search(rf"^\s*(?:\[\s*{name}\s*\]|{name}\s*=)", text, re.MULTILINE)
        if dotted or not begins:
            return _line_at(text, dotted)
        first = begins.end()
        following = re.compile(r"^\s*\[", re.MULTILINE).search(text, first)
        last = following.start() if following else last
    said = re.compile(rf"^\s*(?:{word}\s*[.=]|\[\s*{word}\s*\])", re.MULTILINE).search(text, first, last)
    inline = re.compile(rf"[{{,]\s*{word}\s*=").search(text, first, last)
    return _line_at(text, said or inline)


def _line_at(text: str, found: re.Match[str] | None) -> int:
    return text.count("\n", 0, found.end()) + 1 if found else 0
