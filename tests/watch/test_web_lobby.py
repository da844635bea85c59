"""The hall between two games: the clock of the lobby, and the number of teams that it waits for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from kit.unconnected_front import Front
from salvo import messages as m
from salvo.codec.announcements import Publication
from salvo.messages import HostAction, Limits
from salvo.rules import SALVO
from salvo.wire import topics
from salvo_game.referee import Referee
from salvo_game.table import Table
from salvo_game.table_step import Step

NAMES = [f"team{number}" for number in range(8)]


class Contest:
    """A table whose news a front hears; both have one clock."""

    def __init__(self, limits: Limits) -> None:
        self.front = Front()
        self.table = Table(Referee(7, book=SALVO, limits=limits), self._status)
        self.publish(self.table.open()[1])

    def _status(self, referee: Referee) -> m.ServerStatus:
        return m.ServerStatus(True, "0", referee.number, "contest", players=referee.limits.players)

    @property
    def ms(self) -> int:
        return round(1000 * self.front.loop.now)

    def publish(self, publications: Sequence[Publication], *, retained: bool = False) -> None:
        for topic, payload, _ in publications:
            if topics.parse(topic).topic.reader is topics.Reader.EVERYBODY:
                self.front.receive(topic, payload, retained=retained)

    def do(self, command: m.Input) -> Step:
        step = self.table.carry_out(command, self.ms)
        self.publish(step.publications)
        return step

    def host(self, do: HostAction, **given: Any) -> None:
        self.do(m.HostCommand("desk", do, **given))

    def join(self, *names: str) -> None:
        for name in names:
            self.do(m.Participate(name, name.encode()))

    def pass_time(self, seconds: float) -> None:
        """Let time pass, a second at a time."""
        for _ in range(round(seconds)):
            self.front.loop.run_to(self.front.loop.now + 1)
            self.do(m.TimePassed())

    @property
    def picture(self) -> dict[str, Any]:
        return self.front.picture()

    def clock_is_right(self) -> bool:
        """Whether the page shows how long the server still waits, or nothing; returns whether it shows that."""
        left, due = self.picture["lobby"]["left_ms"], self.table.referee.deadline()
        if left is None:
            return False
        assert due is not None
        assert left == due - self.ms
        return True


@pytest.mark.parametrize("players", [None, 8, 64])
def test_the_clock_of_a_lobby_is_the_servers_whatever_a_host_does(players: int | None) -> None:
    contest = Contest(Limits(players=players, placement_ms=60_000))
    assert not contest.clock_is_right()
    contest.join("team0")
    assert contest.clock_is_right()
    contest.pass_time(20)
    contest.host(HostAction.EXTEND, seconds=100)
    assert contest.clock_is_right()
    contest.join("team1")
    assert contest.clock_is_right()
    contest.host(HostAction.PAUSE)
    contest.join("team2")
    assert not contest.clock_is_right()
    contest.host(HostAction.RESUME)
    assert contest.clock_is_right()
    for name in NAMES[3:]:
        contest.pass_time(50)
        contest.join(name)
        assert contest.clock_is_right()
    contest.pass_time(60)  # nobody has a whole fleet
    assert not contest.clock_is_right()
    contest.front.relay.forget(contest.front.source)
    payloads = contest.table.retained.items()
    contest.publish([Publication(topic, payload, True) for topic, payload in payloads], retained=True)
    assert not contest.clock_is_right()
    assert contest.picture["lobby"]["players"] == (players if players != 64 else None)


def test_a_lobby_in_which_no_game_begins_by_itself_has_no_clock() -> None:
    contest = Contest(Limits())
    contest.join("ann")
    assert contest.front.picture()["lobby"]["left_ms"] is not None
    contest.table.referee.configure(7, Limits(held=True))
    contest.host(HostAction.NEXT)
    contest.join("ann", "bob")
    assert contest.front.picture()["lobby"]["left_ms"] is None
