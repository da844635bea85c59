"""Who may do what: the filters that a broker is given, and the answer for one topic, say the same of every topic."""

from __future__ import annotations

import contextlib
from typing import Any, cast

from hypothesis import example, given
from hypothesis import strategies as st
from paho.mqtt.matcher import MQTTMatcher

from salvo.errors import WireError
from salvo.wire import roles_and_rights, topics
from salvo.wire.roles_and_rights import Action, Role
from salvo.wire.topics import Publisher, Reader

NAMES = ("red", "blue", "Red", "red2")
TABLES = ("", "final", "b")
words = [*sorted(topics.RESERVED), "red", "blue", "Red", "red2", "final", "b", "carrier", "$SYS", "", "+", "#"]
levels = st.one_of(st.sampled_from(words), st.text(max_size=4).filter(lambda text: "/" not in text))
any_topic = st.one_of(
    st.lists(levels, min_size=1, max_size=8).map("/".join),
    st.lists(levels, max_size=7).map(lambda found: "/" + "/".join(found)),
    st.builds(
        lambda row, table, player, ship, tail: row.of(table, player=player, ship=ship) + tail,
        st.sampled_from(topics.TOPICS),
        st.sampled_from(("", "final", "b", "c", "game", "red")),
        levels,
        levels,
        st.sampled_from(("", "", "", "/", "/x")),
    ),
)
some_tables = st.lists(st.sampled_from(TABLES), unique=True).map(tuple)


def matched(rights: tuple[roles_and_rights.Right, ...], action: Action, topic: str) -> bool:
    """What a broker makes of the filters (MQTT 3.1.1, 4.7)."""
    matcher: Any = cast(Any, MQTTMatcher)()
    for right in rights:
        if right.action is action:
            matcher[right.filter] = True
    return any(matcher.iter_match(topic))


@given(st.sampled_from(Role), st.sampled_from(NAMES), some_tables, st.sampled_from(Action), any_topic)
@example(Role.SERVER, "salvo-server", ("",), Action.PUBLISH, "/game")
@example(Role.SERVER, "salvo-server", ("",), Action.RECEIVE, "/games/x")
@example(Role.TEAM, "red", ("",), Action.PUBLISH, "/players/red/ships//place")
@example(Role.TEAM, "red", ("",), Action.RECEIVE, "/final/players/red/hit")
@example(Role.TEAM, "red", ("final",), Action.RECEIVE, "/final/players/red/hit")
@example(Role.TEAM, "red", ("",), Action.RECEIVE, "/game/stats/red/red")  # was a crash in the taking apart
@example(Role.REFEREE, "jo", ("",), Action.RECEIVE, "/game/referee")
def test_topic_filters_and_single_topic_checks_grant_the_same_rights(
    role: Role, name: str, tables: tuple[str, ...], action: Action, topic: str
) -> None:
    assert matched(roles_and_rights.rights(role, name, tables), action, topic) == roles_and_rights.may(
        role, name, tables, action, topic
    )


@given(st.sampled_from(Role), st.sampled_from(NAMES), any_topic)
@example(Role.TEAM, "red", "/game/host")
@example(Role.ANYBODY, "red", "/final/game/host")
@example(Role.HOST, "red", "/players/red/fire")
@example(Role.HOST, "red", "/players/blue/error")
def test_a_host_acts_and_reads_its_refusals_and_nobody_else_acts(role: Role, name: str, topic: str) -> None:
    address = None
    with contextlib.suppress(WireError):
        address = topics.parse(topic)
    is_act = address is not None and address.topic is topics.HOST and address.table in TABLES
    if roles_and_rights.may(role, name, TABLES, Action.PUBLISH, topic):
        assert is_act == (role is Role.HOST) or role is Role.SERVER
    if role is Role.HOST:
        assert roles_and_rights.may(role, name, TABLES, Action.PUBLISH, topic) == is_act
        if address is not None and roles_and_rights.may(role, name, TABLES, Action.RECEIVE, topic):
            own = address.topic is topics.ERROR and address.player == name
            assert own or address.topic.reader is Reader.EVERYBODY


@given(any_topic)
@example("/game/host")
@example("/final/game/host")
def test_anybody_publishes_what_some_team_may_and_reads_nothing_that_is_for_the_server(topic: str) -> None:
    published = received = False
    with contextlib.suppress(WireError):
        address = topics.parse(topic)
        published = address.table in TABLES and address.topic.publisher in (Publisher.TEAM, Publisher.OWNER)
        received = address.table in TABLES and address.topic.reader in (Reader.EVERYBODY, Reader.OWNER)
    assert roles_and_rights.may(Role.ANYBODY, "", TABLES, Action.PUBLISH, topic) == published
    assert roles_and_rights.may(Role.ANYBODY, "", TABLES, Action.RECEIVE, topic) == received


@given(st.sampled_from(Role), st.sampled_from(NAMES), any_topic)
def test_rights_limited_to_players_and_ships_grant_no_other_topics(role: Role, name: str, topic: str) -> None:
    narrow = roles_and_rights.rights(role, name, TABLES, players=("red", "blue"), ships=("carrier",))
    wide = roles_and_rights.rights(role, name, TABLES)
    for action in Action:
        allowed = matched(narrow, action, topic)
        assert not allowed or matched(wide, action, topic)
        if not allowed and matched(wide, action, topic):
            assert (role, action) == (Role.TEAM, Action.PUBLISH)
            address = topics.parse(topic)
            assert address.player not in ("red", "blue") or address.ship not in ("", "carrier")


def test_no_wildcard_is_left_in_what_a_team_may_publish_once_players_and_ships_are_named() -> None:
    rights = roles_and_rights.rights(Role.TEAM, "red", ("", "final"), players=("red", "blue"), ships=("carrier",))
    published = [right.filter for right in rights if right.action is Action.PUBLISH]
    assert {"/players/blue/fire", "/final/players/red/fire", "/players/red/ships/carrier/place"} <= set(published)
    assert not [each for each in published if "+" in each or "#" in each]


def test_a_team_and_its_screen_read_the_same() -> None:
    team, screen = (roles_and_rights.rights(role, "red", TABLES) for role in (Role.TEAM, Role.SCREEN))
    assert {right for right in team if right.action is Action.RECEIVE} == set(screen)
