"""Who asks to take part in a way that names no team is answered where every client reads it (SALVO-ERR-7)."""

from __future__ import annotations

import json

import pytest

from attacks.stage import Stage
from salvo import permissions
from salvo.messages import Limits
from salvo.permissions import Action, Role

ASK, ANSWER = "/game/request_participation", "/game/error"
SECRET = "cockadoodledoo"
UNREADABLE = {
    "bad_name": {"name": "Team Rocket", "secret": SECRET},
    "wrong_shape": {"name": "rocket", "secrets": SECRET},
    "not_json": '{"name": rocket}',
}


@pytest.fixture
def stage() -> Stage:
    stage = Stage((), play=False, limits=Limits(players=2))
    stage.wait(0)  # until the server has heard what the broker retains
    stage.hush()
    return stage


def ask(stage: Stage, request: object) -> None:
    stage.say(ASK, (request if isinstance(request, str) else json.dumps(request)).encode())


@pytest.mark.parametrize("code", UNREADABLE)
def test_a_request_that_names_no_team_is_answered_by_its_code(stage: Stage, code: str) -> None:
    ask(stage, UNREADABLE[code])
    [(topic, text)] = stage.heard
    assert topic == ANSWER
    assert text.startswith(f"{code}: ".encode())
    assert ANSWER not in stage.edge.retained


@pytest.mark.parametrize(
    "request_",
    [
        {"name": SECRET + " !", "secret": "red"},  # the two were mistaken for each other
        {"name": "red", "secret": 1, SECRET: "x"},
        {"name": "red", SECRET: SECRET},
        f'{{"name": "red", "secret": "{SECRET}"',
    ],
)
def test_the_answer_has_no_value_as_it_might_be_a_secret(stage: Stage, request_: object) -> None:
    ask(stage, request_)
    [(_, text)] = stage.heard
    assert SECRET.encode() not in text


def test_a_flood_of_bad_names_is_answered_twelve_times_and_takes_no_answer_from_another_code(stage: Stage) -> None:
    for number in range(1000):
        ask(stage, {"name": f"no name {number}", "secret": "x"})
    assert len(stage.heard) == 12
    ask(stage, UNREADABLE["not_json"])
    assert len(stage.heard) == 13


def test_every_kind_of_user_reads_the_answer_and_only_the_server_gives_it() -> None:
    for role in Role:
        assert permissions.may(role, "red", ("",), Action.RECEIVE, ANSWER)
        assert permissions.may(role, "red", ("",), Action.PUBLISH, ANSWER) == (role is Role.SERVER)


@pytest.mark.parametrize("request_", ["AAAA", "name=rocket"])
def test_what_passes_for_a_sealed_request_and_does_not_open_is_not_answered(stage: Stage, request_: str) -> None:
    ask(stage, request_)
    assert stage.heard == []
