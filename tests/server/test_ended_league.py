"""`/game/league` is cleared when a game begins that is no league's (SALVO-LEAGUE-1)."""

from __future__ import annotations

from salvo import messages as m
from salvo.codec.announcements import Publication
from salvo.messages import HostAction
from salvo.rules import SALVO, generator, random_fleet
from salvo_game.referee import Referee
from salvo_game.table import Table
from salvo_game.transcript import no_status
from salvo_server.ended_league import EndedLeague

CLEARED = [Publication("/game/league", b"", True)]
NAMES = ("ann", "bob")


class Evening:
    """Games at a table, and what is published of the league that was played there."""

    def __init__(self, name: str = "") -> None:
        self.table = Table(Referee("3", name, SALVO, m.Limits(players=2)), no_status)
        self.follower = EndedLeague("")

    def do(self, *commands: m.Input) -> list[Publication]:
        published = []
        for command in commands:
            published += self.follower.follow(self.table, self.table.carry_out(command, 1_000))
        return published

    def host(self, do: HostAction, settings: m.NextGame | None = None) -> list[Publication]:
        return self.do(m.HostCommand("desk", do, settings=settings))

    def play(self) -> list[Publication]:
        """Begin a game; return what is published, and abort it."""
        published = self.do(*(m.Participate(name, b"") for name in NAMES))
        for name in NAMES:
            fleet = random_fleet(SALVO, generator(name))
            published += self.do(*(m.PlaceShip(name, place.ship, place) for place in fleet.placements))
        assert self.table.referee.state is m.State.TURN
        self.host(HostAction.ABORT)
        return published

    def next(self, settings: m.NextGame | None = None) -> list[Publication]:
        set_ = [] if settings is None else self.host(HostAction.SET, settings)
        return [*set_, *self.host(HostAction.NEXT)]


def test_the_final_table_stands_in_the_lobby_after_the_league_and_is_cleared_by_the_game_there() -> None:
    evening = Evening()
    assert evening.play() == []
    assert evening.next(m.NextGame(placement_seconds=86_400)) == []
    assert evening.play() == []
    assert evening.next() == []
    assert evening.play() == CLEARED
    assert evening.next() == []
    assert evening.play() == []


def test_a_game_at_another_table_clears_no_league() -> None:
    evening = Evening("t1")
    evening.play()
    evening.next(m.NextGame(placement_seconds=86_400))
    evening.play()
    evening.next()
    assert evening.play() == []
