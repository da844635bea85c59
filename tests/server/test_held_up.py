"""A server that stands still for a while, by its machine or its disk: nobody loses time that nobody could use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kit.recovery import World
from salvo.messages import Limits, State
from salvo_server.service import Service

TURN_MS = 10_000


class HeldUpWorld(World):
    """A world whose polls and commits take as long as a test says, on its clock.

    Attributes:
        poll_ms: what the next poll takes beyond the time that it was given; nothing after it.
        commit_ms: what every commit takes.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.poll_ms = self.commit_ms = 0
        self.service = self.restart(limits=Limits(players=2, turn_ms=TURN_MS))

    def restart(self, *given: Any, **named: Any) -> Service:
        service = super().restart(*given, **named)
        poll, commit = self.wire.poll, self.journal.commit

        def slow_poll(timeout_seconds: float) -> Any:
            self.now += self.poll_ms
            self.poll_ms = 0
            return poll(timeout_seconds)

        def slow_commit(batch: Any) -> None:
            self.now += self.commit_ms
            commit(batch)

        self.wire.poll, self.journal.commit = slow_poll, slow_commit  # type: ignore[method-assign]
        return service

    @property
    def left_ms(self) -> int:
        due = self.table.referee.deadline()
        assert due is not None
        return due - self.now

    @property
    def turn(self) -> int:
        game = self.table.referee.game
        assert game is not None
        return game.turn

    def turns_announced(self) -> int:
        announced = [topic for topic, _ in self.wire.announced if topic == "/game/turn"]
        self.wire.announced.clear()
        return len(announced)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[HeldUpWorld]:
    world = HeldUpWorld(tmp_path / "a.journal")
    world.join()
    assert world.table.referee.state is State.TURN
    world.turns_announced()
    yield world
    world.journal.close()


def test_a_shot_that_came_while_the_server_stood_still_is_not_late(world: HeldUpWorld) -> None:
    world.poll_ms = 2 * TURN_MS
    world.fire(1)
    assert world.turn == 1
    assert world.table.referee.game is not None
    assert world.table.referee.game.shots_fired == 1
    assert world.left_ms == TURN_MS
    assert world.turns_announced() == 1


def test_a_turn_whose_begin_a_slow_disk_held_back_has_its_whole_time(world: HeldUpWorld) -> None:
    world.fire(4)
    world.turns_announced()
    world.commit_ms = TURN_MS - 1
    world.wire.give(*world.shot(5, 10))
    world.service.step()
    world.commit_ms = 0
    assert world.left_ms == 1
    world.run()
    assert world.turn == 2
    assert world.left_ms == TURN_MS
