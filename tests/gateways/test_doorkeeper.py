"""The doorkeeper takes over a roster that changes, and lets nothing slip when that fails."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from salvo.errors import ConnectionLost
from salvo_gateways.accounts import RosterAccounts
from salvo_gateways.errors import GatewayError
from salvo_server.storage import roster_watcher
from salvo_server.storage.register import Account, Register
from salvo_server.storage.roster import Roster, RosterError
from salvo_server.storage.roster_watcher import RosterWatcher


@pytest.fixture
def roster(tmp_path: Path) -> Roster:
    return Roster(tmp_path / "roster.json")


def test_a_team_that_is_added_or_struck_off_is_known_at_the_next_look(roster: Roster) -> None:
    furnished: list[set[str]] = []
    register = Register()
    keeper = RosterWatcher(roster, register, lambda accounts: furnished.append({a.user for a in accounts}))
    keeper.look()
    secret = roster.add("red")
    keeper.look()
    keeper.look()
    assert register.has("red", secret)
    assert ["red" in users for users in furnished] == [False, True]  # nothing new, nothing done
    roster.remove("red")
    keeper.look()
    assert not register.has("red", secret)
    assert "red" not in furnished[-1]


def test_a_gateways_guest_waits_for_the_next_look_when_it_first_comes(roster: Roster) -> None:
    """The story: every gateway's first attempt was logged by the broker as a stranger's, which looked like a fault."""
    slept: list[float] = []
    accounts = RosterAccounts(roster, "xbs", slept.append)
    first = accounts.secret_of("ann"), accounts.onlooker("")
    assert len(slept) == 2
    assert min(slept) > roster_watcher.LOOK_SECONDS
    assert (accounts.secret_of("ann"), accounts.onlooker("")) == first
    assert len(slept) == 2


def guests(roster: Roster) -> list[str]:
    return [member.name for member in roster.members() if member.door]


def test_guest_accounts_are_bounded_and_the_oldest_absent_guest_is_replaced(
    roster: Roster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Anyone who reached the port wrote 240 names into the roster for good, in twelve seconds."""
    monkeypatch.setattr("salvo_gateways.accounts.MAX_GUEST_ACCOUNTS", 3)
    roster.add("red")
    accounts = RosterAccounts(roster, "xbs", lambda seconds: None)
    accounts.onlooker("")
    for name in ("ann", "bob", "cat"):
        accounts.secret_of(name)
    accounts.release("bob")
    accounts.release("cat")
    accounts.secret_of("dan")
    assert guests(roster) == ["xbs-gateway", "ann", "cat", "dan"]
    accounts.secret_of("cat")
    with pytest.raises(GatewayError, match="gateway_full: 3 guests play through this gateway; it takes no more"):
        accounts.secret_of("eve")
    with pytest.raises(GatewayError, match="name_taken"):
        accounts.secret_of("red")
    accounts.release("ann")
    accounts.secret_of("eve")
    assert guests(roster) == ["xbs-gateway", "cat", "dan", "eve"]


def test_a_missing_broker_gets_its_accounts_later(roster: Roster) -> None:
    answers = [ConnectionLost("broker_away", "nobody answers"), None]
    furnished: list[Sequence[Account]] = []

    def furnish(accounts: Sequence[Account]) -> None:
        answer = answers.pop(0)
        if answer is not None:
            raise answer
        furnished.append(accounts)

    keeper = RosterWatcher(roster, Register(), furnish)
    with pytest.raises(ConnectionLost):
        keeper.look()
    keeper.look()
    assert len(furnished) == 1


def test_a_roster_that_cannot_be_read_changes_nothing(roster: Roster) -> None:
    register = Register()
    furnished: list[int] = []
    keeper = RosterWatcher(roster, register, lambda accounts: furnished.append(len(accounts)))
    secret = roster.add("red")
    keeper.look()
    stored = roster.path.read_text()
    roster.path.write_text("{")
    with pytest.raises(RosterError, match="roster_corrupt"):
        keeper.look()
    assert register.has("red", secret)
    assert len(furnished) == 1
    roster.path.write_text(stored)
    keeper.look()
    assert len(furnished) == 2


def test_a_roster_whose_file_is_gone_strikes_nobody_off(roster: Roster, tmp_path: Path) -> None:
    """An operator who tidied up the folder ended everybody's contest with it."""
    register = Register()
    keeper = RosterWatcher(roster, register, lambda accounts: None)
    keeper.look()  # nobody yet, and no complaint
    secret = roster.add("red")
    keeper.look()
    stored = roster.path.rename(tmp_path / "away")
    with pytest.raises(RosterError, match=r"roster_missing: .*roster.json is gone"):
        keeper.look()
    assert register.has("red", secret)
    stored.rename(roster.path)
    keeper.look()
    roster.remove("red")
    keeper.look()
    assert not register.has("red", secret)
