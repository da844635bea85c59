"""Accounts from a CSV file: what spreadsheets write is read, and a bad line adds nobody."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit import command_line
from salvo.roles_and_rights import Role
from salvo_server.storage.roster import SCREENS, Roster, RosterEntry
from salvo_server.storage.roster_csv import read_entries


def entries(tmp_path: Path, content: bytes, role: Role = Role.TEAM) -> list[RosterEntry]:
    file = tmp_path / "teams.csv"
    file.write_bytes(content)
    return read_entries(file, role)


def test_a_file_that_a_spreadsheet_exports_is_read(tmp_path: Path) -> None:
    content = b'\xef\xbb\xbfrole,name,screens,,\r\n,red,,,\r\n,,,,\r\nwatcher,"hall",60,,\r\n\r\nreferee, booth ,,,\r\n'
    hall = RosterEntry("hall", Role.WATCHER, 60, place=f"{tmp_path / 'teams.csv'}, line 4: ")
    red, found, booth = entries(tmp_path, content)
    assert found == hall
    assert (red.name, red.role, red.screens) == ("red", Role.TEAM, SCREENS)
    assert (booth.name, booth.role, booth.screens) == ("booth", Role.REFEREE, SCREENS)


@pytest.mark.parametrize(
    ("content", "code", "line", "text"),
    [
        (b"name\nred\na/b\n", "bad_name", 3, "'a/b' is not 1..32"),
        (b"name\nred\nplayers\n", "bad_name", 3, "topic tree"),
        (b"name\nred\n\nRed\n", "name_in_roster", 4, "twice"),
        (b"name\nred\nOLD\n", "name_in_roster", 3, "salvo teams rotate"),
        (b"name\nSalvo-Server\n", "name_in_roster", 2, "take another one"),
        (b"name,role\nred,king\n", "bad_role", 2, "write one of team, watcher, referee"),
        (b"name,role\nred,server\n", "bad_role", 2, "write one of team, watcher, referee"),
        (b"name,screens\nred,5\n", "bad_screens", 2, "a team; it has 4"),
        (b"name,role,screens\nhall,watcher,201\n", "bad_screens", 2, "there are 1 to 200"),
        (b"name,role,screens\nhall,watcher,9999\n", "bad_screens", 2, "there are 1 to 200"),
        (b"name,screens\nred,four\n", "bad_csv", 2, "write how many"),
        (b"name,colour\nred,blue\n", "bad_csv", 1, "'colour' is unknown; there are name, role, screens"),
        (b"name:role\nred:team\n", "bad_csv", 1, "with commas"),
        (b"name,name\nred,blue\n", "bad_csv", 1, "leave one out"),
        (b"role\nteam\n", "bad_csv", 1, "a header with the column name is missing"),
        (b"", "bad_csv", 1, "a header with the column name is missing"),
        (b"name,role\nred,team,blue\n", "bad_csv", 2, "3 values under 2 columns"),
        (b"name,role\n,team\n", "bad_csv", 2, "the name is missing; write it"),
        (b'name\nred\n"blue\n', "bad_csv", 3, "in quotes whole"),
        (b'name\n"red" 2\n', "bad_csv", 2, "in quotes whole"),
        (b'name\n"red\nblue"\ngreen\n', "bad_name", 2, "is not 1..32"),
        (b'name,role\n"red","\nteam\n"\nblue,king\n', "bad_role", 5, "king"),
    ],
)
def test_a_bad_line_is_named_and_nobody_is_added(
    tmp_path: Path, content: bytes, code: str, line: int, text: str
) -> None:
    roster = Roster(tmp_path / "roster.json")
    roster.add("old")
    before = roster.path.read_bytes()
    file = tmp_path / "teams.csv"
    file.write_bytes(content)
    done = command_line.run("teams", "--roster", str(roster.path), "add", "first", "--csv", str(file))
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: {code}: {file}, line {line}: ")
    assert text in done.stderr
    assert done.stdout == ""
    assert roster.path.read_bytes() == before


def test_names_of_the_command_line_and_of_the_file_are_added_together(tmp_path: Path) -> None:
    roster = Roster(tmp_path / "roster.json")
    (tmp_path / "teams.csv").write_text("name,role\nblue,\nhall,watcher\n")
    done = command_line.run("teams", "--roster", str(roster.path), "add", "red", "--csv", "teams.csv", cwd=tmp_path)
    assert done.returncode == 0
    for member in roster.members():
        assert f"{member.role.value} {member.name}, secret {member.secret} (not shown again)\n" in done.stdout
    assert [member.name for member in roster.members()] == ["red", "blue", "hall"]
