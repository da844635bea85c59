"""Each ruleset, as the referee plays it, against a naive model: any commands and silences give the same game."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from conformance.naive_books import Alternate, NaiveGame, Smackdown, Spaced, Streak, Xbs
from salvo import messages as m
from salvo.messages import Limits, State
from salvo.rules import ALTERNATE, SMACKDOWN, SPACED, STANDARD, STREAK, XBS, Grid, RuleBook, ShipClass
from salvo_game.referee import Referee

#: Boards as small as that make games end, and repeated shots common.
GRID = Grid(5, 4)
FLEET = (ShipClass("long", 3), ShipClass("short", 2), ShipClass("dot", 1))
MODELS: list[tuple[RuleBook, type[NaiveGame]]] = [
    (SMACKDOWN, Smackdown),
    (XBS, Xbs),
    (STREAK, Streak),
    (ALTERNATE, Alternate),
    (SPACED, Spaced),
    (STANDARD, Alternate),
]
EMPTY_TURNS = 2


def small(book: RuleBook) -> RuleBook:
    return replace(book, name="small", grid=GRID, fleet=FLEET, goal=None)


class Pair:
    """The referee and the model of one game."""

    def __init__(self, book: RuleBook, model: type[NaiveGame], players: int, seed: int) -> None:
        self.random = Random(seed)
        self.now = 1_000_000
        self.book = small(book)
        self.names = [f"p{number}" for number in range(players)]
        limits = Limits(players=players, empty_turns=EMPTY_TURNS)
        self.referee = Referee(seed, book=self.book, limits=limits)
        self.announced: list[m.Announcement] = []
        ships = {name: self._seat(name) for name in self.names}
        [began] = [each for each in self.announced if isinstance(each, m.TurnBegan)]
        self.model = model((GRID.width, GRID.height), ships, began.player, EMPTY_TURNS)

    def _seat(self, name: str) -> dict[str, set[tuple[int, int]]]:
        self.give(m.Participate(name, name.encode()))
        fleet = self.book.random_fleet(self.random)
        for place in fleet.placements:
            self.give(m.PlaceShip(name, place.ship, place))
        return {place.ship: {GRID.xy(cell) for cell in place.cells(self.book)} for place in fleet.placements}

    def give(self, command: m.Command) -> list[m.Announcement]:
        announced = self.referee.receive(command, self.now)
        self.announced += announced
        return announced

    def refused(self, command: m.Command) -> str | None:
        """Give a command; return the code of its refusal, as far as one is still answered."""
        before = len(self.referee.results), self.referee.current
        announced = self.give(command)
        codes = [each.code for each in announced if isinstance(each, m.CommandRefused)]
        if codes:
            assert (len(self.referee.results), self.referee.current) == before
        # Who has just had its turn is told so in a code of its own.
        return codes[0].replace("too_many_shots", "not_your_turn") if codes else None

    def move(self) -> None:
        """Do one thing to both, and compare."""
        random, model = self.random, self.model
        act = random.random()
        name = random.choice(self.names) if act < 0.1 else model.current
        if act > 0.97 and not model.over:
            due = self.referee.deadline()
            assert due is not None
            self.now = due
            self.announced += self.referee.receive(m.TimePassed(), self.now)
            model.stop()
        elif act > 0.92:
            assert self.refused(m.Skip(name)) == model.skip(name)
        else:
            target = random.choice([*self.names, "nobody"] if act < 0.2 else [n for n in self.names if n != name])
            x, y = random.randint(0 if act < 0.2 else 1, GRID.width), random.randint(1, GRID.height)
            fresh = (
                [GRID.xy(c) for c in range(GRID.size) if not model.is_spent(target, GRID.xy(c))] if act > 0.3 else []
            )
            x, y = random.choice(fresh) if fresh and target != "nobody" else (x, y)
            assert self.refused(m.Fire(name, target, x, y)) == model.fire(name, target, x, y)
        self.compare()

    def compare(self) -> None:
        referee, model = self.referee, self.model
        assert (referee.state is State.OVER) == model.over
        if not model.over:
            assert referee.current is not None
            assert referee.current.name == model.current
            for player in referee.players.values():  # a model has no limit to answers
                player.answers = 100
        assert [r.player for r in referee.results] == [resolved.player for resolved in model.resolved]
        for result, resolved in zip(referee.results, model.resolved, strict=True):
            assert (list(result.outcomes), result.hits) == (resolved.outcomes, sum(resolved.outcomes))
            assert list(result.defeated) == resolved.defeated
            sunk = [(ship.player, ship.ship) for ship in result.sunk]
            assert sunk == resolved.sunk
        assert referee.game is not None
        defeated = [name for resolved in model.resolved for name in resolved.defeated]
        assert [self.names[seat] for seat in referee.game.fallen] == defeated
        afloat = [model.afloat(name) for name in self.names]
        if not isinstance(model, Smackdown) or not model.given.get(model.current):
            assert referee.game.afloat == afloat


@pytest.mark.long
@pytest.mark.parametrize(("book", "model"), MODELS, ids=[book.name for book, _ in MODELS])
@settings(max_examples=30)
@given(players=st.integers(2, 4), seed=st.integers(0, 10**9))
@example(players=4, seed=1146)  # spaced: silence ends the game, and then the last one to be asked fires
def test_a_game_by_each_rule_book_agrees_with_a_model_written_from_its_text(
    book: RuleBook, model: type[NaiveGame], players: int, seed: int
) -> None:
    pair = Pair(book, model, players, seed)
    for _ in range(2000):
        if pair.model.over:
            break
        pair.move()
    assert pair.model.over
    pair.move()
    places = pair.model.places()
    stats = {each.player: each.place for each in pair.announced if isinstance(each, m.PlayerStats)}
    [won] = [each for each in pair.announced if isinstance(each, m.GameWon)]
    assert stats == places
    assert won.winners == tuple(name for name in pair.names if places[name] == 1)
    revealed = [each.player for each in pair.announced if isinstance(each, m.FleetRevealed)]
    assert revealed == (pair.names if book.reveal else [])


@pytest.mark.parametrize(("book", "model"), [(SMACKDOWN, Smackdown), (XBS, Xbs)], ids=["smackdown", "xbs"])
def test_ties_are_among_the_games_where_the_rules_have_them(book: RuleBook, model: type[NaiveGame]) -> None:
    """The comparison above would be worth little without them."""
    for seed in range(150):
        pair = Pair(book, model, 2, seed)
        while not pair.model.over:
            pair.move()
        if list(pair.model.places().values()) == [1, 1]:
            return
    raise AssertionError("no game has ended in a tie")
