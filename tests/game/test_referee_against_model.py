"""The referee against a naive model: any sequence of commands and times gives the same game."""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from conformance.naive_model import LENGTHS, NaiveTable
from kit.board_states import board_state
from salvo import messages as m
from salvo.messages import Limits
from salvo.rules import SALVO, Orientation, Placement
from salvo_game.referee import Referee

NAMES = ("ann", "Bob", "cy")
names = st.sampled_from(NAMES)
anybody = st.sampled_from((*NAMES, "ANN", "dee"))
coordinates = st.integers(-1, 12)
#: Enough shots on the cells that have ships for games to end.
rows = st.sampled_from((1, 1, 3, 3, 5, 7, 9, 2, 0, 11))


class Table(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.now = 1_000_000

    @initialize(
        players=st.sampled_from((None, 2, 3)),
        seated=st.sampled_from((0, 2, 3, 3)),
        seed=st.integers(0, 99),
        pace=st.sampled_from((None, None, 800)),
    )
    def open(self, players: int | None, seated: int, seed: int, pace: int | None) -> None:
        limits = Limits(players, 60_000, 30_000, 300_000, empty_turns=2, pace_ms=pace)
        self.referee = Referee(seed, limits=limits)
        self.model = NaiveTable(players, 60_000, 30_000, 300_000, 2, pace or 0)
        for name in NAMES[:seated]:
            self.participate(name, "s")
        for name in NAMES[:seated]:
            self.place_a_fleet(name, [1, 2, 3, 4, 5])
        if seated and players is None:
            self.wait(60)

    def _follow(self, announcements: list[m.Announcement]) -> None:
        """Tell the model the drawn starter, and compare what was announced."""
        for announcement in announcements:
            if isinstance(announcement, m.TurnBegan) and self.model.starter_wanted:
                self.model.set_starter(announcement.player)
        results = [a for a in announcements if isinstance(a, m.SalvoResolved)]
        if results:
            assert self.model.last_salvo == (results[-1].player, results[-1].shots, results[-1].hits)
        stats = {a.player: a for a in announcements if isinstance(a, m.PlayerStats)}
        for name, found in stats.items():
            team = self.model.teams[name]
            expected = (team.shots, team.hits, team.sank, team.turns, self.model.places()[name])
            assert (found.shots, found.hits, found.sunk, found.turns, found.place) == expected
        won = [a.winner for a in announcements if isinstance(a, m.GameWon)]
        assert won in ([], [self.model.winner])

    def _give(self, command: m.Command, expected: str | None) -> None:
        due = self.referee.deadline()
        timer_runs = due is not None and due <= self.now
        before = board_state(self.referee)
        announcements = self.referee.receive(command, self.now)
        refusals = [a.code for a in announcements if isinstance(a, (m.CommandRefused, m.PlacementRefused))]
        announced_by_timers = {"turn_timeout", "placement_timeout"}
        refused = [code for code in refusals if code not in announced_by_timers]
        if expected is None:
            assert refused == []
        else:
            assert refused in ([expected], [])  # answers are limited; refusals are not
            if not timer_runs:
                assert board_state(self.referee) == before
        self._follow(announcements)

    @rule(name=anybody, secret=st.sampled_from(("s", "t")))
    def participate(self, name: str, secret: str) -> None:
        expected = self.model.participate(name, secret, self.now)
        self._give(m.Participate(name, secret.encode()), expected)

    @rule(
        name=names, ship=st.sampled_from(sorted(LENGTHS)), x=coordinates, y=coordinates, o=st.sampled_from(Orientation)
    )
    def place_anywhere(self, name: str, ship: str, x: int, y: int, o: Orientation) -> None:
        expected = self.model.place(name, ship, x, y, o.value, self.now)
        self._give(m.PlaceShip(name, ship, Placement(ship, x, y, o)), expected)

    @rule(name=names, columns=st.lists(st.integers(1, 6), min_size=5, max_size=5))
    def place_a_fleet(self, name: str, columns: list[int]) -> None:
        for number, (ship, x) in enumerate(zip(LENGTHS, columns, strict=True)):
            y = 2 * number + 1
            expected = self.model.place(name, ship, x, y, "HORIZONTAL", self.now)
            self._give(m.PlaceShip(name, ship.upper(), Placement(ship, x, y, Orientation.HORIZONTAL)), expected)

    @rule(name=names, victim=anybody, x=coordinates, y=coordinates)
    def fire_anywhere(self, name: str, victim: str, x: int, y: int) -> None:
        expected = self.model.fire(name, victim, x, y, self.now)
        self._give(m.Fire(name, victim, x, y), expected)

    @rule(victim=names, x=st.integers(1, 10), y=rows)
    def fire_in_turn(self, victim: str, x: int, y: int) -> None:
        name = self.model.current or "ann"
        expected = self.model.fire(name, victim, x, y, self.now)
        self._give(m.Fire(name, victim, x, y), expected)

    @rule(victim=names, y=st.sampled_from((1, 3, 5, 7, 9)))
    def rake_a_row(self, victim: str, y: int) -> None:
        for x in range(1, 11):
            self.wait(int(self.model.paused))
            self.fire_in_turn(victim, x, y)

    @rule(victim=names)
    def rake_a_board(self, victim: str) -> None:
        for y in (1, 3, 5, 7, 9):
            self.rake_a_row(victim, y)

    @rule(count=st.integers(1, 3))
    def stay_silent(self, count: int) -> None:
        for _ in range(count):
            self.wait(30)

    @rule(seconds=st.sampled_from((0, 1, 29, 30, 60, 299, 300)))
    def wait(self, seconds: int) -> None:
        self.now += seconds * 1000
        self.model.tick(self.now)
        self._follow(self.referee.handle_timer(self.now))

    @rule(do=st.sampled_from(("start", "skip", "extend", "remove", "next")), team=anybody)
    def act_as_host(self, do: str, team: str) -> None:
        expected = self.model.host(do, team, self.now)
        arguments: dict[str, dict[str, Any]] = {"extend": {"seconds": 60}, "remove": {"team": team}}
        before, due = board_state(self.referee), self.referee.deadline()
        announcements = self.referee.receive(m.HostCommand("desk", m.HostAction(do), **arguments.get(do, {})), self.now)
        refused = [each.code for each in announcements if isinstance(each, m.CommandRefused) and each.to == "desk"]
        assert refused == ([] if expected is None else [expected])
        assert any(isinstance(each, m.HostActed) for each in announcements) == (expected is None)
        if expected is not None and (due is None or due > self.now):
            assert board_state(self.referee) == before
        self._follow(announcements)

    @rule(name=anybody, proven=st.booleans())
    def send_rubbish(self, name: str, proven: bool) -> None:
        before = board_state(self.referee)
        self.model.tick(self.now)
        due = self.referee.deadline()
        announcements = self.referee.receive(m.Unreadable(name, "", "not_json", "no", proven), self.now)
        if due is None or due > self.now:
            assert board_state(self.referee) == before
            assert announcements in ([], [m.CommandRefused(name, "not_json", "no")])
        self._follow(announcements)

    @invariant()
    def same_table(self) -> None:
        if not hasattr(self, "referee"):
            return
        referee, model = self.referee, self.model
        assert referee.state.value == model.state
        assert referee.number == model.game
        assert list(referee.players) == list(model.teams)
        assert referee.deadline() == model.deadline
        current = referee.current
        on = model.state == "turn" and not model.paused
        assert (current.name if current else None) == (model.current if on else None)
        if referee.game is not None and on:
            assert referee.game.shots_left == model.shots_allowed - model.shots_fired
            assert referee.game.afloat == [model.teams[name].afloat() for name in model.order]
        placed = {name: set(player.placements) for name, player in referee.players.items()}
        assert placed == {name: set(team.ships) for name, team in model.teams.items()}


TestTable = Table.TestCase
TestTable.settings = settings(max_examples=20, stateful_step_count=30)
assert {ship.name: ship.length for ship in SALVO.fleet} == LENGTHS
