"""The roster's file: what is in it, what is not, and what becomes of damage."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from salvo.errors import WireError
from salvo.wire.roles_and_rights import Role
from salvo_server.storage.register import MAX_SCREENS, SCREENS
from salvo_server.storage.roster import Roster, RosterEntry, RosterError, has_begun


@pytest.fixture
def roster(tmp_path: Path) -> Roster:
    return Roster(tmp_path / "roster.json")


def code(roster: Roster) -> str:
    with pytest.raises(RosterError) as caught:
        roster.accounts()
    assert str(roster.path) in caught.value.text
    return caught.value.code


def test_a_team_has_a_secret_to_type_and_nobody_reads_it_in_the_file(roster: Roster) -> None:
    secret = roster.add("red")
    assert re.fullmatch("[0-9a-hjkmnp-tv-z]{26}", secret)  # 130 bits, and no letter that looks like another one
    assert secret not in roster.path.read_text()
    assert {path.stat().st_mode & 0o777 for path in roster.path.parent.iterdir()} == {0o600}
    [member] = Roster(roster.path).members()
    assert (member.name, member.role, member.secret) == ("red", Role.TEAM, secret)


def test_every_account_of_a_team_has_its_secret_and_only_one_may_play(roster: Roster) -> None:
    secret = roster.add("red")
    roster.add("hall", Role.WATCHER)
    accounts = {account.user: account for account in roster.accounts()}
    assert accounts["red"].role is Role.TEAM
    for number in range(1, SCREENS + 1):
        screen = accounts[f"red.{number}"]
        assert (screen.name, screen.role, screen.secret) == ("red", Role.SCREEN, secret)
        assert accounts[f"hall.{number}"].role is Role.WATCHER
    assert accounts["salvo-server"].role is Role.SERVER
    assert accounts["salvo-server.1"].role is Role.WATCHER
    assert accounts["salvo-web.1"].role is Role.WATCHER
    assert accounts["salvo-league"].role is Role.HOST
    assert len({account.secret for account in accounts.values()}) == 5
    assert secret not in repr(accounts)


def test_the_accounts_of_services_have_the_same_secrets_as_long_as_the_key_stays(tmp_path: Path) -> None:
    """The broker knows them: a server of a later version would be refused."""
    (tmp_path / "roster.json.key").write_bytes(bytes(range(32)))
    roster = Roster(tmp_path / "roster.json")
    secrets = [account.secret for account in (roster.server, roster.web, roster.keeper)]
    assert secrets == ["QF7PwGGOEKVMaoEJ7QBMMw", "nZCOyugx_f2XS_HoCJdgSg", "bomYZuYUu4t9ODM5X0uBBw"]


@pytest.mark.parametrize("name", ["", "a/b", "a+", "#", "red.1", "réd", "players", "a" * 33, "-red", "red\0", "red\n"])
def test_a_name_that_is_no_level_of_a_topic_is_refused(roster: Roster, name: str) -> None:
    with pytest.raises(WireError, match="bad_name"):
        roster.add(name)
    assert roster.members() == ()


@pytest.mark.parametrize("name", ["Red", "RED", "red", "salvo-server", "Salvo-Roster"])
def test_a_name_that_is_there_in_any_spelling_is_refused(roster: Roster, name: str) -> None:
    secret = roster.add("red")
    with pytest.raises(RosterError, match="name_in_roster"):
        roster.add(name)
    assert [member.secret for member in roster.members()] == [secret]


def test_rotation_makes_a_new_secret_and_changes_the_revision(roster: Roster) -> None:
    before = roster.revision
    old = roster.add("red")
    added = roster.revision
    new = roster.rotate("red")
    assert old != new
    assert len({before, added, roster.revision}) == 3
    roster.remove("red")
    for change in (roster.remove, roster.rotate):
        with pytest.raises(RosterError, match="not_in_roster"):
            change("red")


def test_the_number_of_screens_changes_and_the_secret_stays(roster: Roster) -> None:
    """Anyone who needed more viewers read that the name is in the roster."""
    secret = roster.add("hall", Role.WATCHER)
    roster.give_screens("hall", MAX_SCREENS)
    users = [account for account in roster.accounts() if account.name == "hall"]
    assert [account.user for account in users] == ["hall", *(f"hall.{number}" for number in range(1, MAX_SCREENS + 1))]
    assert {account.secret for account in users} == {secret}
    roster.give_screens("hall", 1)
    assert roster.members()[0].screens == 1


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        ('{"roster": 1, "members": [', "roster_corrupt"),
        ('{"roster": 2, "members": []}', "roster_version"),
        ('{"roster": 1, "teams": []}', "roster_corrupt"),
        ('{"roster": 1, "members": [{"name": "a/b", "role": "team", "since": "", "sealed": ""}]}', "roster_corrupt"),
        ('{"roster": 1, "members": [{"name": "ann", "role": "king", "since": "", "sealed": ""}]}', "roster_corrupt"),
        ('{"roster": 1, "members": [{"name": "ann", "role": "team", "since": "", "sealed": "*"}]}', "roster_corrupt"),
        ('{"roster": 1, "members": [{"name": "ann", "role": "team", "since": "", "sealed": "AAAA"}]}', "roster_key"),
    ],
)
def test_damage_is_named_and_nothing_is_written_over_it(roster: Roster, damage: str, expected: str) -> None:
    roster.path.write_text(damage)
    assert code(roster) == expected
    if expected == "roster_corrupt" and '"sealed": "*"' not in damage:
        with pytest.raises(RosterError):
            roster.add("bob")
        assert roster.path.read_text() == damage


def test_a_lost_roster_is_not_replaced_by_a_new_one_without_the_option(roster: Roster) -> None:
    """One team that was added to a lost roster threw out all others, of the server that ran, too."""
    roster.add("red")
    stored = roster.path.rename(roster.path.with_name("away"))
    lost = Roster(roster.path)
    for change in (lost.add, lost.rotate, lost.remove):
        with pytest.raises(RosterError, match=r"roster_missing: .*restore it from a copy, or .* teams add --new"):
            change("green")
    assert lost.server == roster.server  # whoever only asks how the server is gets in
    assert not roster.path.exists()
    stored.rename(roster.path)
    lost.add("green")
    assert [member.name for member in roster.members()] == ["red", "green"]
    with pytest.raises(RosterError, match=r"roster_exists: .*with red, green;"):
        lost.begin_anew()
    roster.path.unlink()
    for _ in range(2):
        lost.begin_anew()
        assert lost.members() == ()


def test_a_roster_path_that_the_system_refuses_counts_as_not_begun(tmp_path: Path) -> None:
    assert not has_begun(tmp_path / ("x" * 300))  # which the system refuses to look for


def test_a_sealed_secret_that_is_moved_to_another_name_does_not_open(roster: Roster) -> None:
    """Who may write the file, but has no key, shall not give a team another team's secret."""
    roster.add("red")
    roster.add("blue")
    stored = json.loads(roster.path.read_text())
    stored["members"][1]["sealed"] = stored["members"][0]["sealed"]
    roster.path.write_text(json.dumps(stored))
    assert code(roster) == "roster_key"


def test_a_team_keeps_the_badge_that_it_got_with_its_account(roster: Roster) -> None:
    roster.add_all([RosterEntry(name) for name in ("goat", "red", "blue")])
    roster.add("desk", Role.HOST)
    before = {member.name: member.badge for member in roster.members()}
    assert before.pop("desk") is None
    assert len(set(before.values())) == 3
    roster.remove("goat")
    roster.add("zoe")
    roster.rotate("red")
    after = {member.name: member.badge for member in roster.members()}
    assert (after["red"], after["blue"]) == (before["red"], before["blue"])
    assert after["zoe"] not in (before["red"], before["blue"])
