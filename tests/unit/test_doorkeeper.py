"""The doorkeeper takes over a roster that changes, and lets nothing slip when that fails."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from salvo.errors import ConnectionLost
from salvo_server.doorkeeper import Doorkeeper
from salvo_server.roster import Account, Register, Roster, RosterError


@pytest.fixture
def roster(tmp_path: Path) -> Roster:
    return Roster(tmp_path / "roster.json")


def test_a_team_that_is_added_or_struck_off_is_known_at_the_next_look(roster: Roster) -> None:
    furnished: list[set[str]] = []
    register = Register()
    keeper = Doorkeeper(roster, register, lambda accounts: furnished.append({a.user for a in accounts}))
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


def test_a_broker_that_is_away_is_furnished_later(roster: Roster) -> None:
    answers = [ConnectionLost("broker_away", "nobody answers"), None]
    furnished: list[Sequence[Account]] = []

    def furnish(accounts: Sequence[Account]) -> None:
        answer = answers.pop(0)
        if answer is not None:
            raise answer
        furnished.append(accounts)

    keeper = Doorkeeper(roster, Register(), furnish)
    with pytest.raises(ConnectionLost):
        keeper.look()
    keeper.look()
    assert len(furnished) == 1


def test_a_roster_that_cannot_be_read_changes_nothing(roster: Roster) -> None:
    register = Register()
    furnished: list[int] = []
    keeper = Doorkeeper(roster, register, lambda accounts: furnished.append(len(accounts)))
    secret = roster.add("red")
    keeper.look()
    kept = roster.path.read_text()
    roster.path.write_text("{")
    with pytest.raises(RosterError, match="roster_corrupt"):
        keeper.look()
    assert register.has("red", secret)
    assert len(furnished) == 1
    roster.path.write_text(kept)
    keeper.look()
    assert len(furnished) == 2
