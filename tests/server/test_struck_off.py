"""A team that the roster has no longer leaves the lobby, which it would hold up; in a game it stays (ACCESS-8)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kit.deriver import Deriver
from kit.services import serve
from kit.stage import TEAMS, Stage, secret
from kit.unbrokered import Wire
from salvo.codec.command_writer import write_participation
from salvo.permissions import Role
from salvo.seal import Sealer, derive_key, key_to_team, open_blob, parse_blob
from salvo_server.core.authenticator import Authenticator
from salvo_server.core.recaps import Recaps
from salvo_server.service import Service
from salvo_server.storage.journal.database import DatabaseJournal
from salvo_server.storage.register import Account, Register


def accounts(*names: str, **secrets: str) -> list[Account]:
    return [Account(name, name, Role.TEAM, secrets.get(name, secret(name))) for name in names]


@pytest.fixture
def register() -> Register:
    return Register(accounts(*TEAMS))


def test_a_team_whose_secret_changed_in_a_game_plays_on_with_the_new_one_alone(register: Register) -> None:
    """It was refused as somebody else who takes its name, heard nothing, and lost turn after turn."""
    stage = Stage(TEAMS, register=register)
    name = stage.current
    other = next(team for team in TEAMS if team != name)
    register.replace(accounts(*TEAMS, **{name: "rotated"}))
    stage.hush()
    stage.join(name, "rotated")
    stage.wait(0)
    [recap] = [payload for topic, payload in stage.heard if topic == f"/players/{name}/recap"]
    blob = parse_blob(recap.decode())
    assert b"fleet" in open_blob(blob, key_to_team(derive_key("rotated", blob.salt)))
    shots = stage.referee.match.players[name].shots
    before = len(shots)
    stage.fire(other, stage.shot(name))  # by whoever has found the former one
    assert len(shots) == before
    stage.sealers[name] = Sealer("rotated")
    stage.fire(other, stage.shot(name))
    assert len(shots) == before + 1
    stage.join(name)
    assert "not_in_roster" in stage.codes()
    stage.hush()
    stage.fire(other, stage.shot(name, 2))
    assert len(shots) == before + 2


def test_a_key_of_the_former_secret_that_comes_late_is_not_learned() -> None:
    """The recap's key was being derived when the team came back with another secret."""
    name = TEAMS[0]
    gate = Authenticator(executor=(worker := Deriver()))
    worker.held = True
    recaps = Recaps(Stage((), play=False).service.tables, gate.keyring, gate.worker)
    gate.keyring.admit("", name, "former", 0)
    assert recaps.seal("", name, b"{}") is None
    gate.keyring.admit("", name, "rotated", 0)
    worker.release()
    assert recaps.take_due() == []
    assert gate.keyring.learned == []
    assert recaps.seal("", name, b"{}") is None  # its own key is to be derived yet


@pytest.mark.parametrize("while_away", [False, True])
def test_a_team_struck_off_is_gone_after_a_crash(tmp_path: Path, register: Register, while_away: bool) -> None:
    def start() -> tuple[Service, Wire, DatabaseJournal]:
        edge, journal = Wire(), DatabaseJournal(str(tmp_path / "a.journal"))
        service = serve(edge, [""], seed=1, clock=lambda: 1_000_000, journal=journal, register=register)
        edge.connect()
        service.step()
        service.step()
        return service, edge, journal

    service, edge, journal = start()
    for name in TEAMS:
        edge.give("/game/request_participation", write_participation(name, secret(name)))
    service.step()
    register.replace(accounts(*TEAMS[1:]))
    if not while_away:
        service.step()
    journal.close()
    service, edge, journal = start()
    journal.close()
    assert list(service.tables[""].referee.players) == list(TEAMS[1:])
    assert json.loads(service.tables[""].retained["/players/list"]) == list(TEAMS[1:])
