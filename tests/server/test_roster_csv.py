"""Accounts from a CSV file: what spreadsheets write is read, and a bad line adds nobody."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit import command_line
from salvo.wire.roles_and_rights import Role
from salvo_server.storage.register import SCREENS
from salvo_server.storage.roster import Roster, RosterEntry
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
        (b"name,role,screens\nhall,watcher,201\n", "bad_screens", 2, "1 to 200 are allowed"),
        (b"name,role,screens\nhall,watcher,9999\n", "bad_screens", 2, "1 to 200 are allowed"),
        (b"name,screens\nred,four\n", "bad_csv", 2, "write how many"),
        (b"name,colour\nred,blue\n", "bad_csv", 1, "'colour' is unknown; the columns are name, role, screens"),
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


def test_all_bad_lines_are_named_at_once_each_with_its_value_and_a_cure(tmp_path: Path) -> None:
    roster = Roster(tmp_path / "roster.json")
    roster.add("old")
    before = roster.path.read_bytes()
    lines = ["name,role", "red", "Zo\u00e9 L.,", "players", "Red", "old", "blue,king", "\u2603", "1,2,3", 'a"b', '"cut']
    (tmp_path / "teams.csv").write_text("\n".join(lines) + "\n")
    done = command_line.run("teams", "--roster", str(roster.path), "add", "my team", "--csv", "teams.csv", cwd=tmp_path)
    assert done.returncode == 1
    form = "is not 1..32 of A-Z a-z 0-9 _ - that begin with a letter or digit"
    expected = [
        f"error: bad_name: team name 'my team' {form}; write my-team, for example",
        f"bad_name: teams.csv, line 3: team name 'Zo\u00e9 L.' {form}; write Zoe-L, for example",
        "bad_name: teams.csv, line 4: team name 'players' is a word of the topic tree: ",
        "name_in_roster: teams.csv, line 5: 'Red' is given twice; leave one of them out",
        f"name_in_roster: teams.csv, line 6: {roster.path} has 'old' already",
        "bad_role: teams.csv, line 7: 'king' is not a role; write one of team, ",
        f"bad_name: teams.csv, line 8: team name '\u2603' {form}; write it in these letters",
        "bad_csv: teams.csv, line 9: 3 values under 2 columns; leave out what is more",
        "bad_name: teams.csv, line 10: team name 'a\"b' ",
        "bad_csv: teams.csv, line 11: ",
    ]
    reported = done.stderr.splitlines()
    assert len(reported) == len(expected), done.stderr
    for line, wanted in zip(reported, expected, strict=True):
        assert line.startswith(wanted)
    assert reported[2].endswith("; write team-players, for example")
    assert (done.stdout, roster.path.read_bytes()) == ("", before)


def test_of_very_many_bad_lines_the_first_are_named_and_the_others_counted(tmp_path: Path) -> None:
    (tmp_path / "teams.csv").write_text("name\n" + "".join(f"a.{number}\n" for number in range(100)))
    roster = str(tmp_path / "roster.json")
    done = command_line.run("teams", "--roster", roster, "add", "--csv", "teams.csv", cwd=tmp_path)
    reported = done.stderr.splitlines()
    assert (len(reported), reported[-1]) == (21, "and 80 more")


def test_all_names_that_are_not_there_are_named_at_once(tmp_path: Path) -> None:
    roster = Roster(tmp_path / "roster.json")
    roster.add("old")
    before = roster.path.read_bytes()
    done = command_line.run("teams", "--roster", str(roster.path), "rotate", "old", "a", "b")
    assert done.stderr == f"error: not_in_roster: {roster.path} has no 'a' and no 'b'; it has old\n"
    assert roster.path.read_bytes() == before


def test_names_of_the_command_line_and_of_the_file_are_added_together(tmp_path: Path) -> None:
    roster = Roster(tmp_path / "roster.json")
    (tmp_path / "teams.csv").write_text("name,role\nblue,\nhall,watcher\n")
    done = command_line.run("teams", "--roster", str(roster.path), "add", "red", "--csv", "teams.csv", cwd=tmp_path)
    assert done.returncode == 0
    for member in roster.members():
        assert f"{member.role.value} {member.name}, secret {member.secret} (not shown again)\n" in done.stdout
    assert [member.name for member in roster.members()] == ["red", "blue", "hall"]
