"""What names no team, or one that does not play, is answered where its client reads it (SALVO-ERR-7, SALVO-ERR-8)."""

from __future__ import annotations

import json

import pytest

from kit.stage import Stage
from salvo import messages as m
from salvo.codec.command_writer import write_shot
from salvo.messages import Limits
from salvo.net.inbound import Inbound
from salvo.wire.roles_and_rights import Role
from salvo.wire.seal import Sealer
from salvo_game.rate_limit import REFUSALS
from salvo_server.core import authenticator
from salvo_server.storage.register import Account, Register

ASK, ANSWER = "/game/request_participation", "/game/error"
SECRET = "cockadoodledoo"
UNREADABLE = {
    "bad_name": {"name": "Team Rocket", "secret": SECRET},
    "wrong_shape": {"name": "rocket", "secrets": SECRET},
    "not_json": '{"name": rocket}',
    "sealed_unreadable": "AAAA",
}


@pytest.fixture
def stage() -> Stage:
    stage = Stage((), play=False, limits=Limits(players=2))
    stage.wait(0)  # until the server has heard what the broker retains
    stage.hush()
    return stage


def ask(stage: Stage, request: object, team: str | None = None) -> None:
    payload = (request if isinstance(request, str) else json.dumps(request)).encode()
    stage.publish(Inbound(ASK, payload, False, 1, 1, team=team))


@pytest.mark.parametrize(
    "request_",
    [
        {"name": SECRET + " !", "secret": "red"},  # the two were mistaken for each other
        {"name": "red", "secret": 1, SECRET: "x"},
        {"name": "red", SECRET: SECRET},
        f'{{"name": "red", "secret": "{SECRET}"',
    ],
)
def test_a_refused_request_is_answered_without_its_values(stage: Stage, request_: object) -> None:
    ask(stage, request_)
    [(_, text)] = stage.received
    assert SECRET.encode() not in text


def test_a_flood_of_bad_names_is_answered_twelve_times_and_takes_no_answer_from_another_code(stage: Stage) -> None:
    for number in range(1000):
        ask(stage, {"name": f"no name {number}", "secret": "x"})
    assert len(stage.received) == 12
    ask(stage, UNREADABLE["not_json"])
    assert len(stage.received) == 13


@pytest.mark.parametrize(
    ("sender", "answered"),
    [
        ("blue", ["/players/blue/error"]),
        ("red", ["/players/red/error"]),
        (None, [ANSWER, "/players/red/error"]),  # a broker that does not report who published it
    ],
)
def test_a_team_that_asks_under_another_name_is_answered_where_it_may_read(
    sender: str | None, answered: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    teams = Register(Account(name, name, Role.TEAM, f"secret of {name}") for name in ("red", "blue"))
    stage = Stage((), play=False, profile="contest", register=teams)
    request = json.dumps({"name": "red", "secret": SECRET})
    stage.wait(0)
    stage.hush()
    ask(stage, request, sender)
    assert [topic for topic, _ in stage.received] == answered
    assert {text.partition(b":")[0] for _, text in stage.received} == {b"not_in_roster"}
    [line] = [record.getMessage() for record in caplog.records]
    assert line == f"{sender or 'a client'} asks to take part as red and may not: not_in_roster"


def test_messages_that_do_not_open_are_reported_to_the_operator_once_a_game_and_to_nobody_else(
    caplog: pytest.LogCaptureFixture,
) -> None:
    stage = Stage(("ann", "bob"), play=False, limits=Limits(players=2, over_ms=0))
    stage.hush()

    def place_with_a_wrong_key() -> None:
        for number in range(3):
            blob = Sealer("another secret", bytes([number]) * 16).seal(b"{}").encode()
            stage.say("/players/ann/ships/carrier/place", blob)
            stage.say("/players/cy/ships/carrier/place", blob)  # of a team that is not listed

    place_with_a_wrong_key()
    assert {topic for topic, _ in stage.received} == {"/players/cy/error"}
    lines = [record.getMessage() for record in caplog.records if "do not open" in record.getMessage()]
    assert [line.partition(": another secret")[0] for line in lines] == [
        "the default table: messages under the name ann do not open"
    ]
    stage.place(("ann", "bob"))
    stage.service.act("", m.HostCommand(m.TERMINAL_HOST, m.HostAction.ABORT))
    stage.service.act("", m.HostCommand(m.TERMINAL_HOST, m.HostAction.NEXT))
    stage.wait(1)
    assert stage.gate.keyring.teams("") == []
    stage.join("ann")
    place_with_a_wrong_key()
    assert sum("do not open" in record.getMessage() for record in caplog.records) == 2


# --- a flood of a team's own commands (SALVO-FRESH-8) -------------------------------------------------------------


def flood(stage: Stage, team: str, count: int) -> int:
    """Fire out of turn; return how many steps the game has more."""
    before = stage.service.last_step
    for _ in range(count):
        stage.fire(stage.current, stage.shot(team))
    return stage.service.last_step - before


def learnt(stage: Stage) -> str:
    """Return a team that is not the current one, and whose salt is known."""
    team = stage.others()[0]
    stage.fire(stage.current, stage.shot(team))
    return team


def test_a_flood_of_refused_shots_is_recorded_only_up_to_a_bound() -> None:
    stage = Stage()
    team = learnt(stage)
    burned = stage.gate.counts["opened"]
    answers = 15  # each of them is a step, too (SALVO-ERR-4)
    assert flood(stage, team, 2000) <= REFUSALS.size + answers
    assert stage.gate.counts["opened"] - burned <= REFUSALS.size
    assert stage.gate.counts["rate_limited"] >= 2000 - REFUSALS.size
    stage.wait(1)
    assert flood(stage, team, 300) == REFUSALS.a_second


def test_a_flood_of_re_signed_copies_of_a_counted_shot_is_rate_limited() -> None:
    stage = Stage()
    team, target = stage.current, stage.others()[0]
    assert stage.referee.game is not None
    occasion = m.ShotContext(stage.referee.number, stage.referee.game.turn, 1, target)
    for _ in range(int(REFUSALS.size) + 100):
        stage.fire(target, write_shot(1, 1, occasion, stage.sealers[team]))
    assert stage.fired() == 1
    assert stage.gate.counts["rate_limited"] == 99  # the first one counted


def test_forgeries_and_repetitions_use_up_no_refusals_of_a_team(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither with what somebody made up, nor with what the team said before."""
    monkeypatch.setattr(authenticator, "MAX_RECENT", 0)  # as if much was said before each repetition
    stage = Stage()
    team = learnt(stage)
    old = stage.shot(team)
    stage.fire(stage.current, old)
    for number in range(1100):
        stage.fire(stage.current, old)
        stage.fire(stage.current, b'{"data":{"x":%d,"y":1},"signature":"x"}' % number)
    assert flood(stage, team, 50) == 50
