"""`/game/headline`: one line for people, which says what the public topics say (SALVO-TOPIC-5)."""

from __future__ import annotations

from typing import Any

from salvo import messages as m
from salvo.messages import HostAction
from salvo.rules import SALVO, Fleet, Orientation, Placement
from salvo_game.referee import Referee
from salvo_game.table import Table
from salvo_game.transcript import no_status
from salvo_server.spectators.headlines import Headlines

FLEET = Fleet(SALVO, [Placement(ship.name, 1, row, Orientation.HORIZONTAL) for row, ship in enumerate(SALVO.fleet, 1)])
CELLS = [FLEET.book.grid.xy(cell) for cell in FLEET.cells]
SUBMARINE = [(x, 4) for x in (1, 2, 3)]


class Explorer:
    """Reads the headlines of a game at a table."""

    def __init__(self, **limits: Any) -> None:
        self.table = Table(Referee("3", "t1", SALVO, m.Limits(players=2, **limits)), no_status)
        self.headlines = Headlines()
        self.headlines.open(self.table)

    def begin(self) -> str:
        self.after(*(m.Participate(name, b"") for name in ("ann", "bob")))
        return self.after(
            *(m.PlaceShip(name, place.ship, place) for name in ("ann", "bob") for place in FLEET.placements)
        )

    @property
    def retained(self) -> str:
        return self.headlines.retained["/t1/game/headline"].decode()

    def after(self, *commands: m.Input) -> str:
        for command in commands:
            before = self.retained
            for publication in self.headlines.follow(self.table, self.table.carry_out(command, 1_000)):
                assert publication == ("/t1/game/headline", self.retained.encode(), True)
                assert self.retained != before
        return self.retained

    def fire(self, target: str, cells: list[tuple[int, int]]) -> str:
        current = self.table.referee.current
        assert current is not None
        return self.after(*(m.Fire(current.name, target, x, y) for x, y in cells))


def test_a_headline_follows_a_game_from_its_lobby_to_its_end_and_to_the_next_lobby() -> None:
    seen = Explorer()
    assert seen.retained == "game 1, lobby: 0 teams, 0 complete fleets"
    assert seen.after(m.Participate("cy", b""), m.Participate("dan", b"")).startswith("game 1, lobby: 2 teams, ")
    seen.after(m.Leave("cy"))
    assert seen.after(m.Leave("dan")) == "game 1, lobby: 0 teams, 0 complete fleets"
    assert seen.begin() == "game 1, turn 1: ann to fire 5 shots"
    assert seen.fire("bob", [*SUBMARINE, (9, 9)]) == "game 1, turn 1: ann to fire 5 shots"  # its shots are secret
    assert seen.fire("bob", [(9, 9)]) == (
        "game 1, turn 2: bob to fire 4 shots; ann fired 5 shots, 3 hits, sinks bob's submarine"
    )
    paused = seen.after(m.HostCommand("desk", HostAction.PAUSE))
    assert paused == (
        "game 1, turn 2: bob to fire 4 shots; ann fired 5 shots, 3 hits, sinks bob's submarine; paused by the host"
    )
    assert seen.after(m.HostCommand("desk", HostAction.RESUME)) == paused.removesuffix("; paused by the host")
    assert seen.fire("ann", [(9, 9)] * 4).endswith("; bob fired 4 shots, 0 hits")
    left = [cell for cell in CELLS if cell not in SUBMARINE]
    seen.fire("bob", left[:5])
    seen.after(m.Skip("bob"))
    seen.fire("bob", left[5:10])
    seen.after(m.Skip("bob"))
    assert seen.fire("bob", left[10:]) == "game 1 is over after turn 7: ann wins"
    assert seen.after(m.HostCommand("desk", HostAction.NEXT)) == "game 2, lobby: 0 teams, 0 complete fleets"


def test_in_the_pause_after_a_result_nobody_is_to_fire() -> None:
    seen = Explorer(pace_ms=500)
    seen.begin()
    assert seen.fire("bob", [(9, 9)] * 5) == "game 1, turn 1: ann fired 5 shots, 0 hits"


def test_the_headline_of_a_game_without_a_winner_gives_the_reason() -> None:
    seen = Explorer()
    seen.begin()
    aborted = seen.after(m.HostCommand("desk", HostAction.ABORT))
    assert aborted == "game 1 is over: aborted by the host"
