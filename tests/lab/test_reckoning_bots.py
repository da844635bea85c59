"""Density, mean field and admiral, by every ruleset and by odd ones: legal, and right about what they exclude."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pytest

from salvo.bots.player import Bot
from salvo.rules import (
    BOOKS,
    SALVO,
    SMACKDOWN,
    STREAK,
    XBS,
    Announce,
    Fleet,
    Grid,
    Repeats,
    RuleBook,
    ShipClass,
    Shots,
    Sinkings,
    Spacing,
    generator,
)
from salvo.view import Shot, View
from salvo_lab import arena
from salvo_lab.bots import admiral
from salvo_lab.bots.admiral import Admiral
from salvo_lab.bots.clues import clues, is_alone, mask_of
from salvo_lab.bots.density import Density
from salvo_lab.bots.hunter import Hunter
from salvo_lab.bots.meanfield import MeanField
from salvo_lab.bots.posterior import Candidates
from salvo_lab.bots.random_bot import RandomBot
from salvo_lab.solo import clear, summary


def ships(*lengths: int) -> tuple[ShipClass, ...]:
    return tuple(ShipClass(f"s{number}", length) for number, length in enumerate(lengths))


ODD_BOOKS = [
    replace(SALVO, name="untold", sinkings=Sinkings.UNTOLD),
    replace(SALVO, name="once", repeats=Repeats.MISS),
    replace(SALVO, name="line", grid=Grid(7, 1), fleet=ships(2)),
    replace(SALVO, name="many", grid=Grid(12, 8), fleet=ships(3, 3, 2, 2, 1, 1), spacing=Spacing.APART),
    replace(SALVO, name="single", shots=Shots.ONE, spacing=Spacing.NO_COMMON_EDGE),
    replace(SALVO, name="seen", announce=Announce.CELLS, repeats=Repeats.MISS),
    replace(SMACKDOWN, name="named", sinkings=Sinkings.TOLD, repeats=Repeats.MISS),
    replace(SMACKDOWN, name="blind", announce=Announce.COUNT),
    replace(SMACKDOWN, name="swarm", grid=Grid(9, 11), fleet=ships(2, 2, 2, 2, 1, 1, 1)),
    replace(STREAK, name="pond", grid=Grid(8, 6), fleet=ships(3, 1)),
    replace(XBS, name="race", grid=Grid(6, 8), goal=9),
]
#: From weak to strong, by what they need to clear a board.
RUNGS = {"random": RandomBot, "hunter": Hunter, "density": Density, "admiral": Admiral}


def small(book: RuleBook) -> RuleBook:
    """A book for few ships on a board of 7 x 7, unless its own board is the point."""
    if book is SALVO or book.grid != SALVO.grid:
        return book
    return replace(book, grid=Grid(7, 7), fleet=ships(3, 2, 2), goal=book.goal and 5)


EVERY_BOOK = pytest.mark.parametrize("book", [*map(small, [*BOOKS.values(), *ODD_BOOKS])], ids=lambda book: book.name)


class Sworn(Admiral):
    """Knows all fleets, and raises when it excludes one, or knows less or more than one that was just started."""

    def __init__(self, fleets: dict[str, Fleet]) -> None:
        self.fleets = fleets

    def choose_at(self, view: View, target: str) -> Sequence[Shot]:
        shots = super().choose_at(view, target)
        known = self._known.get((target, is_alone(view)))
        shown = clues(view, target)
        if known is None or known.clues != shown:  # the last cells are fired at without a thought
            return shots
        for ship, placement in enumerate(self.fleets[target].placements):
            assert mask_of(placement.cells(view.rules)) in [mask for mask, _ in known.places[ship]]
        anew = Candidates(view.rules, alone=is_alone(view))
        for clue in shown:
            anew.learn(clue)
        assert (anew.places, anew.total, anew.struck) == (known.places, known.total, known.struck)
        return shots


class Open(RandomBot):
    """Shows its fleet to those it plays against."""

    def __init__(self, fleets: dict[str, Fleet]) -> None:
        self.fleets = fleets

    def place_fleet(self, rules: RuleBook) -> Fleet:
        self.fleets[self.name] = super().place_fleet(rules)
        return self.fleets[self.name]


class Foolish(Open):
    """Fires at cells again and again."""

    def choose_salvo(self, view: View) -> Sequence[Shot]:
        if view.rules.repeats is Repeats.REFUSED:
            return super().choose_salvo(view)
        cells = [Shot(player, x, 1) for player in view.opponents for x in (1, 1, 2, 2, 3)]
        return cells[: view.shots] if self.random.random() < 0.5 else super().choose_salvo(view)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admiral, "FLEETS", 20)
    monkeypatch.setattr(admiral, "LAYOUTS", 2)


@pytest.mark.long
@EVERY_BOOK
def test_density_and_mean_field_play_every_book_to_its_end(book: RuleBook) -> None:
    """The arena refuses what is not legal; what the admiral fires is seen below."""
    bots = {"density": Density(), "meanfield": MeanField()}
    assert arena.play(bots, seed=4, book=book).turns > 0


def shots_of(rung: str, book: RuleBook, boards: int) -> list[int]:
    """Return the shots that a rung needs for each of the same boards."""
    return [clear(RUNGS[rung], board, seed="rungs", book=book).shots for board in range(1, boards + 1)]


def check_rungs(book: RuleBook, rungs: Sequence[str], boards: int) -> None:
    """No rung needs more shots than a weaker one: by twice the error of the mean difference on the same boards."""
    shots = {rung: shots_of(rung, book, boards) for rung in rungs}
    for weaker, stronger in pairwise(rungs):
        more = [one - other for one, other in zip(shots[stronger], shots[weaker], strict=True)]
        found = summary(more)
        assert found.mean <= 2 * found.error, (weaker, stronger, book.name, found.mean, found.error)


@pytest.mark.long
@pytest.mark.parametrize("book", [*BOOKS.values(), *ODD_BOOKS], ids=lambda book: book.name)
def test_density_is_no_worse_than_the_hunter_and_the_hunter_than_random(book: RuleBook) -> None:
    check_rungs(book, ["random", "hunter", "density"], 10)


@pytest.mark.slow
@pytest.mark.parametrize("book", [*BOOKS.values(), *ODD_BOOKS], ids=lambda book: book.name)
def test_no_rung_is_worse_than_a_weaker_one_by_any_rules(book: RuleBook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    check_rungs(book, list(RUNGS), 60)


@EVERY_BOOK
def test_the_admiral_never_excludes_the_truth(book: RuleBook) -> None:
    fleets: dict[str, Fleet] = {}
    bots: dict[str, Bot] = {"admiral": Sworn(fleets), "a": Open(fleets), "b": Foolish(fleets)}
    arena.play(bots, seed=9, book=book)
    arena.play({"admiral": Sworn(fleets), "b": Foolish(fleets)}, seed=9, book=book)


def test_the_admiral_prefers_the_salvo_with_the_most_informative_answer() -> None:
    """Each cell is as likely as the others; what tells the two fleets apart are two cells of one of them."""
    fleets = [mask_of([0, 2, 4])] * 10 + [mask_of([1, 3, 5])] * 10
    for seed in range(5):
        one, other = admiral.choose(fleets, 6, range(6), 2, generator(seed))
        assert one % 2 == other % 2
