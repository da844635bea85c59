"""Whole salvos at once, as simulations fire them, and shots one by one, as they reach the referee, are one game."""

from __future__ import annotations

import dataclasses

from hypothesis import given, settings
from hypothesis import strategies as st

from salvo.rules import (
    Announce,
    Ending,
    Grid,
    Order,
    RuleBook,
    ShipClass,
    Shots,
    Spacing,
    Starter,
    generator,
    random_fleet,
)
from salvo.rules.game import Game, Tally

PLAYERS = 4
BOOK = RuleBook(
    "tiny",
    Grid(4, 3),
    (ShipClass("one", 1), ShipClass("two", 2), ShipClass("three", 3)),
    Spacing.TOUCH,
    Shots.AFLOAT,
    Order.ROTATION,
    Announce.EACH_SHOT,
    Ending.LAST_AFLOAT,
    Starter.RANDOM,
)
Shot = tuple[int, int]
#: Also shots at the own board and twice at one cell: the rules allow both. Silence comes once in ten turns.
shots = st.tuples(st.integers(0, PLAYERS - 1), st.integers(0, BOOK.grid.size - 1))
salvos = st.lists(shots, min_size=len(BOOK.fleet), max_size=len(BOOK.fleet))
turns = st.lists(st.one_of(*[salvos] * 9, st.just([])), max_size=60)


def truth(game: Game) -> object:
    """Everything that can be asked of a game whose turn has just ended."""
    asked = (game.tally(), game.places(), game.salvos, game.afloat, game.out, game.fallen, game.shots_fired)
    return asked, (game.over, game.winners, game.turn, game.current, None if game.over else game.shots_left)


@settings(max_examples=200)
@given(
    book=st.sampled_from([BOOK, dataclasses.replace(BOOK, shots=Shots.ONE)]),
    turns=turns,
    seed=st.integers(0, 9),
    starter=st.integers(0, PLAYERS - 1),
)
def test_a_whole_salvo_has_the_effect_of_its_shots_one_by_one(
    book: RuleBook, turns: list[list[Shot]], seed: int, starter: int
) -> None:
    random = generator(seed)
    fleets = [random_fleet(book, random) for _ in range(PLAYERS)]
    whole, single = Game(book, fleets, starter), Game(book, fleets, starter)
    boards = [fleet.board for fleet in fleets]
    struck: set[Shot] = set()
    figures = [Tally(0, 0, 0, 0)] * PLAYERS
    seats = [(starter + step) % PLAYERS for step in range(PLAYERS)]
    for salvo in turns:
        if whole.over:
            break
        assert whole.current == seats[0]
        salvo = salvo[: whole.shots_left]
        before = single.places()
        if not salvo:
            whole.defeat(whole.current)
            single.defeat(single.current)
            whole.end_turn()
        else:
            whole.fire_salvo(salvo)
        # Who falls in a turn that goes on has no place yet (SALVO-HOST-5).
        assert single.over or single.places() == before
        for number, shot in enumerate(salvo):
            if not single.over:
                single.fire([shot])
                struck.add(shot)
            else:
                assert number >= whole.salvos[-1].shots  # void
        single.end_turn()
        assert truth(whole) == truth(single)
        # And both are right, by a count that knows nothing of how they do it.
        last = whole.salvos[-1]
        assert last.outcomes == [boards[seat][cell] > 0 for seat, cell in salvo[: last.shots]]
        assert last.hits == sum(last.outcomes)
        now = Tally(1, last.shots, last.hits, len(last.sunk))
        figures[seats[0]] = Tally(*map(sum, zip(figures[seats[0]], now, strict=True)))
        assert whole.tally() == figures
        for seat, board in enumerate(boards):
            standing = {ship for cell, ship in enumerate(board) if ship and (seat, cell) not in struck}
            assert whole.afloat[seat] == len(standing)
            assert standing or whole.out[seat]
        seats = [seat for seat in [*seats[1:], seats[0]] if not whole.out[seat]]
