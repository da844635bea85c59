"""Read text files as any editor saves them, and describe their errors.

An editor may put a byte order mark before the text, end lines with CR LF, add blank lines, and leave out the last line
feed; Windows' PowerShell writes UTF-16. The locale has no say.
"""

from __future__ import annotations

import codecs
import contextlib
import difflib
import json
import os
import re
from collections.abc import Callable, Iterator
from io import BufferedIOBase
from itertools import repeat
from pathlib import Path
from typing import IO, Any, BinaryIO, Final

#: What a secret of a roster is made of. It is typed from a card, so no letter has to be told from a capital, and none
#: is easily taken for another one: there is no i, l, o and u.
SECRET_LETTERS: Final = "0123456789abcdefghjkmnpqrstvwxyz"
SECRET_LENGTH: Final = 26
#: What is probably wrong where tomllib says so.
_MEANT: Final = {
    "Illegal character '\\n'": "a text has no closing quote",
    "Invalid value": "not a value; a value is a number, true, false, a list, or a text in quotes",
}
#: Of a TOML file: one line for each of 500 bots takes less than half of it.
MAX_TOML_BYTES: Final = 65_536
#: Of a line of one: tomllib's time grows with the square of a dotted key's parts.
MAX_TOML_DOTS: Final = 200
#: Tables and lists within each other; ours are at most three.
MAX_TOML_DEPTH: Final = 16
#: What TOML promises for an integer.
_INTEGERS: Final = range(-(2**63), 2**63)


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
    return without_gaps(secret)


def without_gaps(secret: str) -> str:
    """Return the secret of a card that was typed with blanks or hyphens between its groups; any other as it is."""
    typed = re.sub(r"[\s-]+", "", secret)
    return typed if re.fullmatch(f"[{SECRET_LETTERS}]{{{SECRET_LENGTH}}}", typed) else secret


def trim_variables() -> None:
    """Take what a line ends with off the variables that are ours, and its gaps off a secret.

    A shell or docker that sets them from a file made on Windows leaves a carriage return at the end of each.
    """
    for name, value in os.environ.items():
        meant = without_gaps(value.strip()) if name == "SALVO_SECRET" else value.strip()
        if name.startswith("SALVO_") and value != meant:
            os.environ[name] = meant


def read_toml(path: Path, error: Callable[[str], Exception]) -> tuple[str, dict[str, Any]]:
    """Return a file's text, in which :func:`line_of` finds its keys, and what is in it.

    Args:
        error: makes the error from a text.
    """
    import tomllib  # programs that only play need it not

    try:
        with path.open("rb") as file:
            content = file.read(MAX_TOML_BYTES + 1)
        if len(content) > MAX_TOML_BYTES:
            raise error(f"{path} is larger than {MAX_TOML_BYTES // 1024} kB; is it the right file?")
        text = text_of(content)
    except (OSError, UnicodeDecodeError) as reason:
        raise error(unread(path, reason)) from None
    for number, line in enumerate(text.split("\n"), start=1):
        if line.count(".") > MAX_TOML_DOTS:
            raise error(f"{path}, line {number}: more than {MAX_TOML_DOTS} dots; write a long list in several lines")
    try:
        values = tomllib.loads(text)
        _check_bounds(values)
    except tomllib.TOMLDecodeError as reason:
        raise error(unread(path, reason)) from None
    except RecursionError:
        raise error(f"{path}: lists or tables are nested more than {MAX_TOML_DEPTH} deep") from None
    except ValueError:  # of int, too, which reads no more than 4,300 digits
        raise error(f"{path}: an integer has more than 64 bits") from None
    return text, values


def _check_bounds(values: dict[str, Any]) -> None:
    """Check what was read, all of which an error may print.

    Raises:
        RecursionError: it is nested too deep.
        ValueError: an integer is too large.
    """
    rest: list[tuple[Any, int]] = [(values, 0)]
    while rest:
        value, depth = rest.pop()
        if depth > MAX_TOML_DEPTH:
            raise RecursionError
        if isinstance(value, int) and value not in _INTEGERS:
            raise ValueError
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        rest += ((each, depth + 1) for each in inner)


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
