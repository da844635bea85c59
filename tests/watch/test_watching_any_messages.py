"""A watcher shows what is so, at whatever moment it connects and in whatever order retained messages arrive.

A table plays random games, with silent players, and its server restarts now and then, with its journal and without.
What is retained is what a broker would keep. What a new watcher makes of that alone, and an old one of it after a cut,
is compared with the referee's own state as far as it is public.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from watch.any_messages import SMALL_BOOKS, Contest


@pytest.mark.long
@settings(max_examples=30)
@given(
    seed=st.integers(0, 10**6),
    players=st.integers(2, 4),
    name=st.sampled_from(sorted(SMALL_BOOKS)),
    pace_ms=st.sampled_from((None, 800)),
)
def test_a_watcher_that_joins_at_any_time_knows_the_present_state(
    seed: int, players: int, name: str, pace_ms: int | None
) -> None:
    contest = Contest(SMALL_BOOKS[name], players, seed, pace_ms)
    contest.live()
