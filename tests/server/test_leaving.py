"""A team leaves the lobby by its own will, and its fleet with it (SALVO-JOIN-15)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kit.proofs import SMALL, Played, verify
from kit.stage import TEAMS, Stage, fleet
from salvo import messages as m
from salvo import topics
from salvo.codec.command_writer import write_leave, write_placement
from salvo.codec.log_reader import Fault
from salvo.fairness.proof import write_sent
from salvo.messages import State
from salvo.seal import Sealer

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
    said = dict(stage.heard)
    assert json.loads(said["/players/list"]) == [BOB, CY]
    assert said["/players/count"] == b"2"
    assert said[f"/players/{ANN}/ships/carrier/approved"] == b""
    assert ANN not in dict(stage.gate.keyring.teams(""))


@pytest.mark.parametrize("game", [1, None])
def test_a_complete_fleet_starts_no_game_any_more_and_another_one_takes_its_place(
    stage: Stage, game: int | None
) -> None:
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


def test_a_team_that_has_not_noted_that_it_left_is_told_of_it() -> None:
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
