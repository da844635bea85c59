"""Who sent a message, by what a broker reports of its connection (SALVO-FRESH-9, SALVO-ERR-3)."""

from __future__ import annotations

import json

import pytest

from kit.stage import TEAMS, Stage, secret
from salvo.errors import WireError
from salvo.net.inbound import Inbound
from salvo.wire import topics
from salvo.wire.roles_and_rights import Role
from salvo_server.core.senders import Sender, Senders
from salvo_server.storage.register import Account, Register

FIRE = topics.FIRE.of(player="bob")


@pytest.fixture
def stage() -> Stage:
    return Stage(reports=True)


def sender(stage: Stage, topic: str, team: str | None = None, client: str | None = None) -> Sender:
    message = Inbound(topic, b"", False, 1, 1, team=team, publisher=client)
    found = stage.service.inbox.senders.of(stage.service.tables[""], topics.parse(topic), message)
    return found._replace(others=())


def candidates(stage: Stage, team: str | None = None, client: str | None = None) -> list[str]:
    message = Inbound(FIRE, b"", False, 1, 1, team=team, publisher=client)
    return list(stage.service.inbox.senders.of(stage.service.tables[""], topics.parse(FIRE), message).candidates)


def test_a_shot_is_from_the_current_player_where_a_broker_reports_nothing(stage: Stage) -> None:
    assert sender(stage, FIRE) == Sender(stage.current)
    assert candidates(stage) == [stage.current, *stage.others()]


def test_a_shot_between_two_games_may_be_from_anybody_and_is_opened_as_a_courtesy() -> None:
    stage = Stage(play=False)
    assert sender(stage, FIRE) == Sender("", pays=False)
    assert set(candidates(stage)) - {""} == set(TEAMS)


def test_a_shot_is_from_the_account_that_the_broker_reports_and_from_no_other_one(stage: Stage) -> None:
    team = stage.others()[0]
    assert sender(stage, FIRE, team=team) == Sender(team, own=True)
    assert candidates(stage, team=team) == [team]


def test_a_shot_of_an_account_that_is_gone_is_from_nobody(stage: Stage) -> None:
    stage.hush()
    stage.publish(Inbound(FIRE, stage.shot(stage.current), False, 1, 1, team=""))
    assert (stage.fired(), stage.received) == (0, [])
    assert candidates(stage, team="") == [""]


def test_a_shot_is_from_the_team_whose_secret_its_client_has_shown(stage: Stage) -> None:
    """Each team of the stage has asked to take part over a connection of its name."""
    first, second = sorted(stage.others())
    assert sender(stage, FIRE, client=stage.current) == Sender(stage.current, own=True)
    assert sender(stage, FIRE, client=second) == Sender(second, own=True)
    assert candidates(stage, client=second) == [second, stage.current, first]


def ask(stage: Stage, name: str, given: str, client: str) -> None:
    request = json.dumps({"name": name, "secret": given}).encode()
    stage.say(topics.REQUEST_PARTICIPATION.of(), request, by=client)


def test_of_several_teams_of_one_client_the_first_by_name_is_answered_out_of_turn() -> None:
    stage = Stage(("cy", "bob", "ann"), reports=True)
    others = stage.others()
    for name in others:
        ask(stage, name, secret(name), "club")
    assert others != sorted(others)
    assert sender(stage, FIRE, client="club") == Sender(min(others), own=True)


def test_a_client_that_asks_with_a_wrong_secret_is_a_stranger_to_the_team(stage: Stage) -> None:
    ask(stage, "ann", "a guess", "stranger")
    assert sender(stage, topics.SKIP.of(player="ann"), client="stranger").own is False
    ask(stage, "ann", secret("ann"), "stranger")
    assert sender(stage, topics.SKIP.of(player="ann"), client="stranger").own


def test_a_shot_of_a_client_that_has_shown_no_secret_is_answered_to_the_current_player_who_does_not_pay(
    stage: Stage,
) -> None:
    assert sender(stage, FIRE, client="stranger") == Sender(stage.current, own=False, pays=False)


@pytest.mark.parametrize(("client", "own"), [(None, None), ("ann", True), ("bob", False)])
def test_a_placement_is_from_the_team_of_its_topic_which_pays_unless_the_client_is_a_strangers(
    client: str | None, own: bool | None
) -> None:
    stage = Stage(play=False, reports=True)
    topic = topics.PLACE.of(player="ann", ship="carrier")
    assert sender(stage, topic, client=client) == Sender("ann", own, pays=own is not False)


def test_only_a_skip_of_the_current_player_and_a_placement_in_the_lobby_are_paid_for(stage: Stage) -> None:
    other = stage.others()[0]
    assert sender(stage, topics.SKIP.of(player=stage.current)).pays
    assert not sender(stage, topics.SKIP.of(player=other)).pays
    assert not sender(stage, topics.PLACE.of(player=stage.current, ship="carrier")).pays


def test_a_team_is_answered_once_a_turn_what_anybody_may_have_sent(stage: Stage) -> None:
    senders, table = stage.service.inbox.senders, stage.service.tables[""]
    claimed = Sender(stage.current)
    assert [senders.may_answer(table, claimed, topics.FIRE) for _ in range(2)] == [True, False]
    assert senders.may_answer(table, claimed._replace(own=True), topics.FIRE)
    stage.until_turn_of(stage.others()[0])
    assert senders.may_answer(table, claimed, topics.FIRE)


def test_a_team_of_the_roster_is_always_answered_on_its_own_topics() -> None:
    register = Register(Account(name, name, Role.TEAM, secret(name)) for name in TEAMS)
    stage = Stage(register=register)
    senders, table = stage.service.inbox.senders, stage.service.tables[""]
    claimed = Sender(stage.current)
    assert [senders.may_answer(table, claimed, topics.SKIP) for _ in range(2)] == [True, True]
    assert [senders.may_answer(table, claimed, topics.FIRE) for _ in range(2)] == [True, False]


def test_only_a_host_of_the_roster_is_a_host(stage: Stage) -> None:
    register = Register([Account("desk", "desk", Role.HOST, secret("desk"))])
    senders = Senders(stage.gate.keyring, register)
    assert senders.host("desk", stage.now) == Sender("desk", host=True)
    for others in (senders, stage.service.inbox.senders):
        with pytest.raises(WireError, match="the roster has no host 'ann'"):
            others.host("ann", stage.now)
