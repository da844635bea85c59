"""A team that the roster has no longer leaves the lobby, which it would hold up; in a game it stays (ACCESS-8)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from attacks.stage import TEAMS, Stage, secret
from proofs import SMALL, Played, entries_of, verify
from salvo import messages as m
from salvo import wire
from salvo.messages import Limits, State
from salvo.topics import Role
from salvo_server.journal.database import DatabaseJournal
from salvo_server.referee import Referee
from salvo_server.roster import Account, Register
from salvo_server.service import Service
from unbrokered import Wire


def accounts(*names: str, **secrets: str) -> list[Account]:
    return [Account(name, name, Role.TEAM, secrets.get(name, secret(name))) for name in names]


@pytest.fixture
def register() -> Register:
    return Register(accounts(*TEAMS))


@pytest.fixture
def stage(register: Register) -> Stage:
    return Stage(TEAMS, play=False, register=register)


def list_said(stage: Stage) -> list[Any]:
    return [json.loads(payload) for topic, payload in stage.heard if topic == "/players/list"]


def test_it_leaves_the_list_and_everybody_hears_of_it(stage: Stage, register: Register) -> None:
    stage.hush()
    register.replace(accounts(*TEAMS[1:]))
    stage.wait(0)
    assert list_said(stage) == [list(TEAMS[1:])]
    assert TEAMS[0] not in dict(stage.gate.teams(""))
    stage.hush()
    stage.wait(0)
    assert stage.heard == []  # nothing is new


def test_it_comes_back_with_another_secret(stage: Stage, register: Register) -> None:
    register.replace(accounts(*TEAMS, **{TEAMS[0]: "rotated"}))
    stage.wait(0)
    assert TEAMS[0] not in stage.referee.players
    stage.join(TEAMS[0])
    assert TEAMS[0] not in stage.referee.players
    stage.join(TEAMS[0], "rotated")
    assert list(stage.referee.players) == [*TEAMS[1:], TEAMS[0]]


def test_whoever_stays_is_not_touched(stage: Stage, register: Register) -> None:
    register.replace(accounts(*TEAMS))
    stage.hush()
    stage.wait(0)
    assert stage.heard == []


def test_in_a_game_it_stays(register: Register) -> None:
    stage = Stage(TEAMS, register=register)
    register.replace(accounts(*TEAMS[1:]))
    stage.hush()
    stage.wait(0)
    assert TEAMS[0] in stage.referee.players
    assert stage.heard == []


def test_a_complete_fleet_goes_with_it() -> None:
    referee = Referee(1, "", SMALL, Limits(players=2))
    for name in ("a", "b"):
        referee.receive(m.Participate(name, b""), 0)
    for placement in SMALL.random_fleet(Played(1).random).placements:
        referee.receive(m.PlaceShip("a", placement.ship, placement), 0)
    assert referee.receive(m.StruckOff("a"), 1) == [m.PlayerLeft("a"), m.PlayersListed(("b",))]
    for placement in SMALL.random_fleet(Played(2).random).placements:
        referee.receive(m.PlaceShip("b", placement.ship, placement), 2)
    assert referee.state is State.LOBBY  # one fleet, where two are wanted
    assert referee.receive(m.StruckOff("a"), 3) == []


def test_the_log_tells_of_it_and_is_fair() -> None:
    played = Played("struck off", SMALL)
    for name in ("gone", *played.names):
        played.do(m.Participate(name, b""))
    for placement in SMALL.random_fleet(played.random).placements:
        played.place("gone", placement)
    played.do(m.StruckOff("gone"))
    for name in played.names:
        for placement in SMALL.random_fleet(played.random).placements:
            played.place(name, placement)
    lines = played.fight().proof()
    assert {"strike": {"name": "gone"}} in [
        entry["step"].get("input") for entry in entries_of(lines) if "step" in entry
    ]
    report = verify(lines)
    assert report.finding is None
    assert any("gone" in remark for remark in report.remarks)


@pytest.mark.parametrize("while_away", [False, True])
def test_after_a_crash_it_is_gone_still(tmp_path: Path, register: Register, while_away: bool) -> None:
    def serve() -> tuple[Service, Wire, DatabaseJournal]:
        edge, journal = Wire(), DatabaseJournal(str(tmp_path / "a.journal"))
        service = Service(edge, [""], seed=1, clock=lambda: 1_000_000, journal=journal, register=register)
        edge.connect()
        service.step()
        service.step()
        return service, edge, journal

    service, edge, journal = serve()
    for name in TEAMS:
        edge.give("/game/request_participation", wire.write_participation(name, secret(name)))
    service.step()
    register.replace(accounts(*TEAMS[1:]))
    if not while_away:
        service.step()
    journal.close()
    service, edge, journal = serve()
    journal.close()
    assert list(service.tables[""].referee.players) == list(TEAMS[1:])
    assert json.loads(service.tables[""].retained["/players/list"]) == list(TEAMS[1:])
