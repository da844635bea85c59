"""Which user somebody looks on as, while others look on as well."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from salvo.errors import ConnectionLost
from salvo_server.screen_users import MAX_TRIES, ScreenUsers

IN_USE = ConnectionLost("account_in_use", "somebody else")
REFUSED = ConnectionLost("not_authorised", "no such user")


def look_for(free: set[int], screens: int, seed: int) -> str | None:
    """Return the user that is found to be free, of so many that there are."""
    users = ScreenUsers("hall", Random(seed))
    while int(str(users.user).partition(".")[2]) not in free:
        users.go_on(IN_USE if int(str(users.user).partition(".")[2]) <= screens else REFUSED, 1.0)
    return users.user


def test_the_last_free_user_is_found_however_many_there_are() -> None:
    for seed, screens in product(range(50), (1, 3, 4, 5, 11)):
        last = seed % screens + 1
        assert look_for({last}, screens, seed) == f"hall.{last}", seed


@pytest.mark.parametrize(("screens", "tried"), [(1, 1), (4, 4), (200, MAX_TRIES)])
def test_an_error_reports_that_all_viewer_users_are_in_use(screens: int, tried: int) -> None:
    with pytest.raises(ConnectionLost, match="account_in_use: all viewers of this account are in use") as caught:
        look_for(set(), screens, 1)
    assert caught.value.text.count("hall.") == tried


def test_a_viewer_whose_user_is_in_use_tries_users_further_out() -> None:
    for seed in range(20):
        users = ScreenUsers("hall", Random(seed))
        for above in (4, 8, 16):
            number = int(users.go_on(IN_USE, 1.0).partition(".")[2])
            assert above < number <= 2 * above, seed
