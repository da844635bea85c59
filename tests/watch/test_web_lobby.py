"""The hall between two games: the clock of the lobby, whom it waits for, and the end of the game before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from salvo import messages as m
from salvo import topics
from salvo.codec.announcements import Publication
from salvo.messages import HostAction, Limits, State
from salvo.rules import SALVO, generator, random_fleet
from salvo.table_step import Step
from salvo_server.core.referee import Referee
from salvo_server.core.table import Table
from salvo_server.referee_view import RefereeViews
from salvo_watch.web.tables import BOARDS_SECONDS, END_SECONDS, PLAY_OUT_SECONDS
from watch.standings_front import DELAY, Front

NAMES = [f"team{number}" for number in range(8)]


class Contest:
    """A table whose news a front hears; both have one clock."""

    def __init__(self, limits: Limits, front: Front | None = None) -> None:
        self.winner = ""
        self.front = front or Front(delay=0, boards=False)
        self.table = Table(Referee(7, book=SALVO, limits=limits), self._status)
        self.views = RefereeViews(round(1000 * DELAY))
        self.publish(self.table.open()[1])

    def _status(self, referee: Referee) -> m.ServerStatus:
        return m.ServerStatus(True, "0", referee.number, "contest", players=referee.limits.players)

    @property
    def ms(self) -> int:
        return round(1000 * self.front.loop.now)

    def publish(self, publications: Sequence[Publication], *, retained: bool = False) -> None:
        for topic, payload, _ in publications:
            if topics.parse(topic).topic.reader in (topics.Reader.EVERYBODY, topics.Reader.REFEREE):
                self.front.hear(topic, payload, retained=retained)

    def do(self, command: m.Input) -> Step:
        step = self.table.carry_out(command, self.ms)
        self.winner = next((each.winner for each in step.announcements if isinstance(each, m.GameWon)), self.winner)
        self.publish(self.table.published(step))
        if self.front.relay._boards:
            self.publish([*self.views.follow(self.table, step), *self.views.take_due(self.ms)])
        return step

    def host(self, do: HostAction, **given: Any) -> None:
        self.do(m.HostCommand("desk", do, **given))

    def join(self, *names: str) -> None:
        for name in names:
            self.do(m.Participate(name, name.encode()))

    def place(self, *names: str) -> None:
        for name in names:
            for placement in random_fleet(SALVO, generator(name)).placements:
                self.do(m.PlaceShip(name, placement.ship, placement))

    def fire(self) -> None:
        """Let whose turn it is fire all its shots at the first rival that is not out."""
        referee = self.table.referee
        current, game = referee.current, referee.game
        assert current is not None
        assert game is not None
        rival = next(name for name in referee.players if name != current.name)
        fired = len(referee.match.players[current.name].shots)
        for shot in range(fired, fired + game.shots_left):
            if referee.state is State.TURN:
                self.do(m.Fire(current.name, rival, shot % 10 + 1, shot // 10 + 1))

    def pass_time(self, seconds: float) -> None:
        """Let time pass, a second at a time."""
        for _ in range(round(seconds)):
            self.front.loop.run_to(self.front.loop.now + 1)
            self.do(m.TimePassed())

    @property
    def picture(self) -> dict[str, Any]:
        return self.front.relay.picture("")

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
    contest = Contest(Limits(players=players, placement_ms=60_000, restarts=64, minor=m.PROTOCOL.minor))
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
    payloads = contest.table.last_payloads.items()
    contest.publish([Publication(topic, payload, True) for topic, payload in payloads], retained=True)
    assert not contest.clock_is_right()
    assert contest.picture["lobby"]["players"] == (players if players != 64 else None)


@pytest.mark.parametrize(("delay", "again"), [(0.0, False), (DELAY, True)], ids=["lobby", "next game"])
def test_the_end_of_a_game_is_shown_although_the_next_lobby_opens_at_once(delay: float, again: bool) -> None:
    contest = Contest(Limits(players=2), Front(delay=delay, boards=delay > 0))
    names = NAMES[:2]
    contest.join(*names)
    contest.place(*names)
    while contest.table.referee.state is State.TURN:
        contest.fire()
        contest.pass_time(1)
    contest.host(HostAction.NEXT)
    if again:
        contest.join(*names)
        contest.place(*names)
        contest.fire()
    shown = 0
    for _ in range(round(delay + BOARDS_SECONDS + PLAY_OUT_SECONDS + END_SECONDS) + 5):
        picture = contest.picture
        if picture["state"] == State.OVER:
            shown += 1
            assert picture["winners"] == [contest.winner]
            assert sorted(player["place"] for player in picture["players"]) == [1, 2]
            assert picture["game"] == 1
        contest.pass_time(1)
    assert shown >= END_SECONDS - 1
    assert contest.picture["state"] == (State.TURN if again else State.LOBBY)
    if again:
        assert contest.picture["game"] == 2
