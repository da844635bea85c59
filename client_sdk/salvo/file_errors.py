"""What an error says of a file: the line of a key in TOML, which tomllib does not tell, or a name that is near."""

from __future__ import annotations

import difflib
import re
from pathlib import Path


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


def missing_file(path: Path) -> str:
    """Return that there is no such file, and the one next to it with nearly that name."""
    beside = [each.name for each in path.parent.iterdir() if each.is_file()] if path.parent.is_dir() else []
    near = difflib.get_close_matches(path.name, beside, n=1)
    return f"no file {path}" + (f"; did you mean {path.with_name(near[0])}?" if near else "")
