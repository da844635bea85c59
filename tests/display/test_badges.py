"""A team's colour and emblem: from its name, and apart from those of the teams that it plays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salvo_display.web_page.badges import COLOURS, EMBLEMS, badge_of, badges_of

NAMES = st.sets(st.text(max_size=8), max_size=20)


@pytest.mark.long
@given(NAMES)
def test_teams_that_play_each_other_have_colours_and_emblems_of_their_own(names: set[str]) -> None:
    found = badges_of(names)
    assert found.keys() == names
    assert len({badge.colour for badge in found.values()}) == min(len(names), COLOURS)
    assert len({badge.emblem for badge in found.values()}) == min(len(names), EMBLEMS)
    assert found == badges_of(sorted(names, reverse=True))


def test_a_team_keeps_its_own_unless_another_one_has_it() -> None:
    assert badges_of(["red"]) == {"red": badge_of("red")}
    assert badge_of("blue").colour == badge_of("green").colour
    both = badges_of(["green", "blue"])
    assert both["blue"] == badge_of("blue")
    assert both["green"].colour != both["blue"].colour
    assert both["green"].emblem == badge_of("green").emblem
