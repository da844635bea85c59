"""A team's colour and emblem: from its name, and apart from those of the teams that it plays."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from salvo.badges import COLOURS, EMBLEMS, Badge, Badges, badge_of, badges_of

NAMES = st.sets(st.text(max_size=8), max_size=20)


@settings(max_examples=30)
@given(NAMES)
def test_teams_that_play_each_other_have_colours_and_emblems_of_their_own(names: set[str]) -> None:
    found = badges_of(names)
    assert found.keys() == names
    assert len({badge.colour for badge in found.values()}) == min(len(names), COLOURS)
    assert len({badge.emblem for badge in found.values()}) == min(len(names), EMBLEMS)
    assert found == badges_of(sorted(names, reverse=True))


def test_a_team_has_the_badge_of_its_name_unless_another_team_has_it() -> None:
    assert badges_of(["goat"]) == {"goat": badge_of("goat")}
    first, second = (f"team{number}" for number in (0, 16))
    assert badge_of(first).colour == badge_of(second).colour
    both = badges_of([second, first])
    assert both[first] == badge_of(first)
    assert both[second].colour != both[first].colour


def test_a_team_that_is_named_like_a_colour_has_that_colour() -> None:
    teams = badges_of(["Red", "blue", "goat", "amber", "green", "crasher"])
    assert [teams[name].colour for name in ("blue", "green", "Red")] == [0, 2, 6]


def test_no_team_changes_its_badge_when_others_come() -> None:
    contest = Badges()
    before = contest.of(["goat", "crasher", "amber"])
    everybody = contest.of([f"team{number}" for number in range(40)] + list(before))
    assert {name: everybody[name] for name in before} == before


def test_made_up_names_are_not_remembered_without_end() -> None:
    contest = Badges()
    crowd = [f"team{number}" for number in range(5000)]
    assert contest.of(crowd).keys() == set(crowd)
    assert contest.of(["late"]) == {"late": badge_of("late")}


def test_no_two_of_24_teams_are_alike_whatever_their_names() -> None:
    for first in range(0, 2400, 24):
        badges = Badges()
        for number in range(first, first + 24):  # one after the other, as they arrive
            badges.of([f"team-{number}"])
        given = list(badges.of(f"team-{number}" for number in range(first, first + 24)).values())
        assert len(set(given)) == 24
        assert max(Counter(badge.colour for badge in given).values()) == 2


def test_badges_that_were_given_elsewhere_replace_those_of_here() -> None:
    badges = Badges()
    badges.of(["goat", "red"])
    badges.take({"goat": Badge(3, 7).number, "red": Badge(6, 1).number})
    assert badges.of(["goat", "red"]) == {"goat": Badge(3, 7), "red": Badge(6, 1)}


def test_a_badge_of_an_earlier_evening_is_that_of_a_team_of_which_nobody_tells_one_now() -> None:
    badges = Badges()
    badges.of(["goat", "red"])
    badges.take({"red": Badge(6, 1).number})
    badges.remember({"goat": Badge(3, 7).number, "red": Badge(6, 2).number})
    assert badges.of(["goat", "red"]) == {"goat": Badge(3, 7), "red": Badge(6, 1)}
    badges.take({"goat": Badge(4, 4).number})
    assert badges.of(["goat"]) == {"goat": Badge(4, 4)}


def test_a_team_of_which_nobody_tells_a_badge_has_none_that_another_one_was_given() -> None:
    badges = Badges()
    own = badges.of(["goat"])["goat"]
    badges.take({"red": own.number})
    assert badges.of(["goat", "red"])["goat"] != own
