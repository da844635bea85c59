"""Accounts from a spreadsheet: a CSV file (RFC 4180) with a header, to be added to the roster."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Final

from salvo.system.text_files import read_text
from salvo.wire.roles_and_rights import Role
from salvo_server.storage.register import SCREENS
from salvo_server.storage.roster import ROLES, RosterEntry, RosterError

_COLUMNS: Final = ("name", "role", "screens")


def read_entries(path: Path, role: Role) -> list[RosterEntry]:
    """Return the accounts in a file: the column ``name``, and if there are such columns ``role`` and ``screens``.

    A line that is not an account is an entry with its fault, so that all of them are reported at once. Columns are
    separated by commas, or by the semicolons or tabs of a spreadsheet that writes decimals with commas. Blanks around a
    value and lines without any are ignored.

    Args:
        role: of lines that name none.

    Raises:
        RosterError: ``bad_csv``, with the line, from 1: the file or its header is none.
    """
    try:
        lines = _lines(path, read_text(path))
    except OSError as error:
        raise RosterError("bad_csv", f"{path}: {error.strerror}; name another file") from None
    except UnicodeDecodeError:
        raise RosterError("bad_csv", f"{path} is not UTF-8; export it as CSV UTF-8") from None
    header = _header(path, *next(lines, (1, [])))
    entries = []
    try:
        for number, values in lines:
            entries.append(_entry(f"{path}, line {number}: ", header, values, role))
    except RosterError as fault:  # nobody knows where its next line begins
        entries.append(RosterEntry("", fault=fault))
    if not entries:
        raise RosterError("bad_csv", f"{path} has no names below its header; write one a line")
    return entries


def _lines(path: Path, text: str) -> Iterator[tuple[int, list[str]]]:
    """Return the lines that have values, and where each begins; empty values at its end are left out."""
    header = text.strip().partition("\n")[0]
    rows, number = csv.reader(StringIO(text, newline=""), delimiter=max(",;\t", key=header.count), strict=True), 1
    try:
        for row in rows:
            values = [value.strip() for value in row]
            while values and not values[-1]:
                values.pop()
            if values:
                yield number, values
            number = rows.line_num + 1
    except csv.Error as error:
        raise RosterError(
            "bad_csv", f"{path}, line {number}: {error}; a value is in quotes whole, and a quote in it is doubled"
        ) from None


def _header(path: Path, number: int, columns: list[str]) -> list[str]:
    known = f"the columns are {', '.join(_COLUMNS)}, with commas between them"
    for column in columns:
        if column not in _COLUMNS:
            raise RosterError("bad_csv", f"{path}, line {number}: column {column[:40]!r} is unknown; {known}")
        if columns.count(column) > 1:
            raise RosterError("bad_csv", f"{path}, line {number}: column {column!r} is given twice; leave one out")
    if "name" not in columns:
        raise RosterError("bad_csv", f"{path}, line {number}: a header with the column name is missing; {known}")
    return columns


def _entry(place: str, header: list[str], values: list[str], role: Role) -> RosterEntry:
    try:
        return _read(place, header, values, role)
    except RosterError as fault:
        return RosterEntry("", fault=fault)


def _read(place: str, header: list[str], values: list[str], role: Role) -> RosterEntry:
    if len(values) > len(header):
        raise RosterError("bad_csv", f"{place}{len(values)} values under {len(header)} columns; leave out what is more")
    given = {column: value for column, value in zip(header, values, strict=False) if value}
    if "name" not in given:
        raise RosterError("bad_csv", f"{place}the name is missing; write it, or leave the line out")
    if given.get("role", role) not in ROLES:
        known = ", ".join(ROLES)
        raise RosterError("bad_role", f"{place}{given['role'][:40]!r} is not a role; write one of {known}")
    number = given.get("screens", f"{SCREENS}")
    if not (number.isascii() and number.isdecimal() and len(number) <= 4):
        raise RosterError("bad_csv", f"{place}screens {number[:40]!r} is not a number; write how many, such as 4")
    return RosterEntry(given["name"], Role(given.get("role", role)), int(number), place=place)
