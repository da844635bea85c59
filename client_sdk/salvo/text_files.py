"""Text files that people write or send around: reading them as any editor saves them, and what an error says of one.

An editor may put a byte order mark before the text, end lines with CR LF, add blank lines, and leave out the last line
feed; Windows' PowerShell writes UTF-16. The locale has no say.
"""

from __future__ import annotations

import codecs
import contextlib
import difflib
import json
import re
from collections.abc import Callable, Iterator
from io import BufferedIOBase
from itertools import repeat
from pathlib import Path
from typing import IO, Any, BinaryIO, Final

#: What is probably wrong where tomllib says so.
_MEANT: Final = {
    "Illegal character '\\n'": "a text has no closing quote",
    "Invalid value": "not a value; a value is a number, true, false, a list, or a text in quotes",
}


def read_text(path: Path) -> str:
    """Return a file's text, whose lines end with line feeds.

    Raises:
        OSError, UnicodeDecodeError: see :func:`unread`.
    """
    return text_of(path.read_bytes())


def text_of(content: bytes) -> str:
    """Return the text of a file's content, as :func:`read_text` does.

    Raises:
        UnicodeDecodeError: it is neither UTF-8 nor marked as UTF-16.
    """
    wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return re.sub(r"\r*\n|\r", "\n", content.decode("utf-16" if wide else "utf-8-sig"))


def read_secret(path: Path, error: Callable[[str], Exception]) -> str:
    """Return the secret that a file has in one line.

    Args:
        error: makes the error from a text.
    """
    try:
        secret = read_text(path).strip()
    except (OSError, UnicodeDecodeError) as reason:
        raise error(unread(path, reason)) from None
    if not secret:
        raise error(f"{path} is empty; it has the secret in one line")
    return secret


def read_toml(path: Path, error: Callable[[str], Exception]) -> tuple[str, dict[str, Any]]:
    """Return a file's text, in which :func:`line_of` finds its keys, and what is in it.

    Args:
        error: makes the error from a text.
    """
    import tomllib  # programs that only play need it not

    try:
        text = read_text(path)
        return text, tomllib.loads(text)
    except (OSError, ValueError) as reason:  # no UTF-8 and no TOML are ValueErrors, too
        raise error(unread(path, reason)) from None


def lines_of(file: IO[bytes] | BufferedIOBase, longest: int = -1) -> Iterator[bytes]:
    """Return the lines of a file of JSON lines as the program wrote them, each with its line feed.

    Blank lines at the end are left out; a last line without a line feed was cut off.

    Args:
        longest: what is longer comes in pieces of as many bytes.
    """
    mark, blank = codecs.BOM_UTF8, 0
    while line := file.readline(longest):
        line, mark = line.removeprefix(mark), b""
        if line.isspace() or not line:
            blank += 1
            continue
        yield from repeat(b"\n", blank)
        blank = 0
        yield line.rstrip(b"\r\n") + b"\n" if line.endswith(b"\r\n") else _ended(line)


def end_last_line(file: BinaryIO) -> None:
    """Give the last line of such a file, opened for appending, its line feed; cut it off if it is not whole."""
    file.seek(0)
    lines, line_feed, last = file.read().rpartition(b"\n")
    file.truncate(len(lines + line_feed))
    file.seek(0, 2)
    if _ended(last) != last:
        file.write(_ended(last))
        file.flush()


def _ended(line: bytes) -> bytes:
    """Return the last line with a line feed, unless it is not whole: no part of a JSON object is one."""
    if line.endswith(b"}"):
        with contextlib.suppress(ValueError, RecursionError):
            json.loads(line)
            return line + b"\n"
    return line


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
    found = re.compile(rf"^\s*(?:{word}\s*[.=]|\[\s*{word}\s*\])", re.MULTILINE).search(text, first, last)
    inline = re.compile(rf"[{{,]\s*{word}\s*=").search(text, first, last)
    return _line_at(text, found or inline)


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
