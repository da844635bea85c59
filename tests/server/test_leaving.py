"""A team leaves the lobby with its fleet: by its own will (SALVO-JOIN-15), or off the roster (SALVO-ACCESS-8)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kit.deriver import Deriver
from kit.proofs import SMALL, Played, verify
from kit.services import serve
from kit.stage import TEAMS, Stage, fleet, secret
from kit.unbrokered import Wire
from salvo import messages as m
from salvo.codec.command_writer import write_leave, write_participation, write_placement
from salvo.codec.log_reader import Fault
from salvo.join.fairness.proof import write_sent
from salvo.messages import State
from salvo.wire import topics
from salvo.wire.roles_and_rights import Role
from salvo.wire.seal import Sealer, derive_key, key_to_team, open_blob, parse_blob
from salvo_server.core.authenticator import Authenticator
from salvo_server.core.recaps import Recaps
from salvo_server.service import Service
from salvo_server.storage.journal.database import DatabaseJournal
from salvo_server.storage.register import Account, Register

ANN, BOB, CY = TEAMS


@pytest.fixture
def stage() -> Stage:
    return Stage(TEAMS, play=False)


def leave(stage: Stage, name: str, game: int | None = 1) -> None:
    stage.say(topics.LEAVE.of(player=name), write_leave(game, stage.sealers[name]))


def place(stage: Stage, name: str, number: int) -> None:
    for placement in fleet(number).placements:
        topic = topics.PLACE.of(player=name, ship=placement.ship)
        stage.say(topic, write_placement(placement, stage.sealers[name]))


def test_a_team_that_leaves_is_off_the_list_with_all_that_was_retained_of_it(stage: Stage) -> None:
    place(stage, ANN, 1)
    stage.hush()
    leave(stage, ANN)
    announced = dict(stage.received)
    assert json.loads(announced["/players/list"]) == [BOB, CY]
    assert announced["/players/count"] == b"2"
    assert announced[f"/players/{ANN}/ships/carrier/approved"] == b""
    assert ANN not in dict(stage.gate.keyring.teams(""))


@pytest.mark.parametrize("game", [1, None])
def test_a_fleet_of_a_team_that_left_starts_no_game_until_it_is_placed_again(stage: Stage, game: int | None) -> None:
    place(stage, ANN, 1)
    place(stage, BOB, 2)
    leave(stage, ANN, game)
    place(stage, CY, 3)
    assert stage.referee.game is None
    stage.join(ANN)
    place(stage, ANN, 4)
    assert stage.referee.state is State.TURN
    assert list(stage.referee.players) == [BOB, CY, ANN]
    assert tuple(stage.referee.players[ANN].placements.values()) == fleet(4).placements


def left_and_came_back() -> Played:
    played = Played("left", SMALL)
    for name in played.names:
        played.do(m.Participate(name, b""))
    gone = played.names[0]
    for placement in SMALL.random_fleet(played.random).placements:
        played.place(gone, placement)
    played.do(m.Leave(gone, 1))
    played.do(m.Participate(gone, b""))
    for name in played.names:
        for placement in SMALL.random_fleet(played.random).placements:
            played.place(name, placement)
    return played.fight()


def test_a_proof_that_lacks_the_teams_own_leave_is_reported() -> None:
    played = left_and_came_back()
    gone = played.names[0]
    notes: list[dict[str, Any]] = []
    for step in played.steps:
        match step.command:
            case m.PlaceShip(player=player, spelling=ship, message=digest) if player == gone:
                topic = topics.PLACE.of(player=player, ship=ship)
                notes.append({"team": gone, "topic": topic, "message": digest.hex()})
            case m.Fire(player=player, target=target, x=x, y=y, context=c) if player == gone:
                body = {"x": x, "y": y} | ({"g": c.game, "t": c.turn, "n": c.shot, "to": c.target} if c else {})
                notes.append({"team": gone, "topic": topics.FIRE.of(player=target), "body": body})
    lines = [json.dumps({"sent": note}, separators=(",", ":")).encode() + b"\n" for note in notes]
    finding = verify([*played.proof(), *lines]).finding
    assert finding is not None
    assert (finding.fault, f"leaving the lobby of {gone} counted" in finding.text) == (Fault.UNDECIDED, True)
    noted = write_sent(gone, topics.LEAVE.of(player=gone), write_leave(1, Sealer("any")))
    assert noted is not None
    report = verify([*played.proof(), *lines, noted + b"\n"])
    assert report.finding is None
    assert any("1 leaves fit the log" in remark for remark in report.remarks)


# --- struck off the roster ------------------------------------------------------------------------------------------


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
    [recap] = [payload for topic, payload in stage.received if topic == f"/players/{name}/recap"]
    blob = parse_blob(recap.decode())
    assert b"fleet" in open_blob(blob, key_to_team(derive_key("rotated", blob.salt)))
    shots = stage.referee.match.players[name].shots
    before = len(shots)
    stage.fire(other, stage.shot(name))  # by someone who has found the previous one
    assert len(shots) == before
    stage.sealers[name] = Sealer("rotated")
    stage.fire(other, stage.shot(name))
    assert len(shots) == before + 1
    stage.join(name)
    assert "not_in_roster" in stage.codes()
    stage.hush()
    stage.fire(other, stage.shot(name, 2))
    assert len(shots) == before + 2


def test_a_team_that_is_struck_off_after_the_lobbys_time_is_in_the_game(register: Register) -> None:
    stage = Stage(TEAMS, play=False, register=register, limits=m.Limits(players=4))
    for number, name in enumerate((ANN, BOB)):
        place(stage, name, number)
    due = stage.referee.deadline()
    assert due is not None
    stage.now = due
    register.replace(accounts(ANN))
    stage.service.step()
    assert (stage.referee.state, set(stage.referee.players)) == (State.TURN, {ANN, BOB})
    assert not [payload for topic, payload in stage.received if topic == "/game/log" and b'"strike"' in payload]


def test_a_late_key_of_a_former_secret_is_not_stored() -> None:
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
