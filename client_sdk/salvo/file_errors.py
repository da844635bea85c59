"""What an error says of a file: why it cannot be read, a name that is near, or the line of a key in TOML."""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from typing import Final

#: What is probably wrong where tomllib says so.
_MEANT: Final = {
    "Illegal character '\\n'": "a text has no closing quote",
    "Invalid value": "not a value; a value is a number, true, false, a list, or a text in quotes",
}


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
    beside = [each for each in path.parent.iterdir() if each.is_file()] if path.parent.is_dir() else []
    stems = {each.stem: each for each in beside if each.suffix == path.suffix}
    near = difflib.get_close_matches(path.stem, stems, n=1)  # names alike only in their suffix are not near
    return f"no file {path}" + (f"; did you mean {path.with_name(stems[near[0]].name)}?" if near else "")


def unread(path: Path, error: Exception) -> str:
    """Return why a file cannot be read, and what to do: what the system said, or tomllib."""
    match error:
        case FileNotFoundError():
            return missing_file(path)
        case OSError():
            fix = "name a file in it" if isinstance(error, IsADirectoryError) else "let this user read it"
            return f"{path}: {error.strerror}; {fix}"
        case UnicodeDecodeError():
            return f"{path}: it is not UTF-8 text; save it as UTF-8"
    what, _, where = str(error).partition(" (at ")
    line = where.partition(",")[0] if where.startswith("line") else ""
    return f"{path}{', ' * bool(line)}{line}: {_MEANT.get(what, what)}"
