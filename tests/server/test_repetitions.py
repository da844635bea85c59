"""What a team repeats, because no answer came, changes nothing and is not refused (SALVO-JOIN-16, SALVO-FIRE-13)."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace
from random import Random

import pytest

from kit.stage import Stage, secret
from salvo import messages as m
from salvo.codec.command_writer import write_participation, write_shot
from salvo.messages import Limits
from salvo.rules import SALVO, SMACKDOWN, RuleBook
from salvo.wire import topics
from salvo_game.referee import Referee
from salvo_game.transitions import RefereeEvent, event_of


def signed(stage: Stage, numbers: Iterable[int], *, turn: int = 1, x: int = 0) -> list[tuple[str, bytes]]:
    """Return target and payload of shots of the current player, at column x or at the column of their number."""
    sealer, target = stage.sealers[stage.current], stage.others()[0]
    contexts = [m.ShotContext(1, turn, number, target) for number in numbers]
    return [(target, write_shot(x or context.shot, 1, context, sealer)) for context in contexts]


def fire(stage: Stage, shots: Iterable[tuple[str, bytes]]) -> list[str]:
    """Publish shots; return the codes of all errors that follow."""
    stage.hush()
    for target, shot in shots:
        stage.fire(target, shot)
    return stage.codes()


@pytest.fixture
def stage() -> Stage:
    return Stage(("ann", "bob"))


def is_repetition(referee: Referee, command: m.Fire | m.Skip) -> bool:
    return event_of(command, referee.stage) is RefereeEvent.REPEATED


# --- shots --------------------------------------------------------------------------------------------------------


def test_shots_that_are_sent_again_count_once_and_are_answered_nothing(stage: Stage) -> None:
    assert fire(stage, signed(stage, (1, 2, 3))) == []
    steps, check = stage.service.last_step, stage.service.tables[""].check
    assert fire(stage, signed(stage, (1, 2, 3))) == []
    assert stage.received == []
    assert (stage.fired(), stage.service.last_step, stage.service.tables[""].check) == (3, steps, check)
    assert not stage.service.counts


def test_the_salvo_that_won_is_sent_again_without_an_answer(stage: Stage) -> None:
    """The last three of its shots were void, which is no mistake of whoever fired them (SALVO-FIRE-12)."""
    winner, target, game = stage.current, stage.others()[0], stage.referee.game
    assert game is not None
    cells = [SALVO.grid.xy(cell) for cell in game.fleets[stage.referee.match.players[target].seat].cells]
    for start in range(0, len(cells), 5):
        salvo = [*cells[start : start + 5], *[(1, 1)] * 5][:5]
        contexts = [m.ShotContext(1, game.turn, number, target) for number in range(1, 6)]
        for (x, y), context in zip(salvo, contexts, strict=True):
            stage.fire(target, write_shot(x, y, context, stage.sealers[winner]))
        if stage.referee.state is m.State.TURN:
            stage.fire(winner, stage.shot(target))
            stage.wait(0 if stage.current == winner else 31)
    assert stage.referee.state is m.State.OVER
    sealer = stage.sealers[winner]
    again = [(target, write_shot(*cell, of, sealer)) for cell, of in zip(salvo, contexts, strict=True)]
    assert fire(stage, again) == []
    assert stage.received == []


def test_a_shot_is_known_by_its_whole_occasion_and_its_cell() -> None:
    referee = playing(SALVO)
    shooter, target = ("ann", "bob") if referee.current is referee.players["ann"] else ("bob", "ann")
    of = m.ShotContext(1, 1, 1, target)
    shot = m.Fire(shooter, target, 1, 1, of)
    assert not is_repetition(referee, shot)
    referee.receive(shot, 0)
    assert is_repetition(referee, shot)
    others = [replace(shot, player=target), replace(shot, player="cy"), replace(shot, x=2), replace(shot, y=2)]
    changed = replace(of, game=2), replace(of, turn=2), replace(of, shot=2), replace(of, target=shooter), None
    others += [replace(shot, context=context) for context in changed]
    others += [replace(shot, target=shooter)]
    assert not any(is_repetition(referee, other) for other in others)


# --- skips --------------------------------------------------------------------------------------------------------


def playing(book: RuleBook) -> Referee:
    referee = Referee(7, book=book, limits=Limits(players=2))
    for name in ("ann", "bob"):
        referee.receive(m.Participate(name, name.encode()), 0)
        for placement in book.random_fleet(Random(name)).placements:
            referee.receive(m.PlaceShip(name, placement.ship, placement), 0)
    return referee


def test_a_skip_that_is_sent_again_is_known_until_its_player_skips_again() -> None:
    referee = playing(SMACKDOWN)
    skips = [m.Skip("ann", m.TurnContext(1, turn)) for turn in (1, 2, 3)]
    assert [is_repetition(referee, skip) for skip in skips] == [False, False, False]
    referee.receive(skips[0], 0)
    assert [is_repetition(referee, skip) for skip in skips] == [True, False, False]
    referee.receive(m.Skip("bob", m.TurnContext(1, 2)), 0)
    assert [is_repetition(referee, skip) for skip in skips] == [True, False, False]
    assert not is_repetition(referee, m.Skip("ann"))
    assert not is_repetition(referee, m.Skip("ann", m.TurnContext(2, 1)))
    assert not is_repetition(referee, m.Skip("cy", m.TurnContext(1, 1)))


# --- requests to take part ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("sealed", [False, True], ids=["open", "sealed in profile strict"])
def test_a_request_that_is_made_again_is_answered_by_a_recap_and_nothing_else(
    sealed: bool, caplog: pytest.LogCaptureFixture
) -> None:
    stage = Stage((), play=False, profile="strict" if sealed else "open", limits=m.Limits(players=2))
    keys = stage.identity.sealing_key if sealed else None
    for name in ("ann", "bob"):
        stage.say(topics.REQUEST_PARTICIPATION.of(), write_participation(name, secret(name), keys))
    stage.wait(20)
    before = stage.referee.deadline(), stage.service.last_step, stage.service.tables[""].check
    stage.hush()
    with caplog.at_level(logging.INFO):
        for _ in range(10):  # at the slowest: one in three seconds
            stage.say(topics.REQUEST_PARTICIPATION.of(), write_participation("ann", secret("ann"), keys))
            stage.wait(3)
    assert {topic for topic, _ in stage.received} == {"/players/ann/recap"}
    assert (stage.referee.deadline(), stage.service.last_step, stage.service.tables[""].check) == before
    assert stage.worker.waiting == []
    assert not stage.service.counts
    assert caplog.messages == []
