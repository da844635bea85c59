"""All fleets that agree with the answers: against every fleet of a small board, one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest

from kit.layouts import layouts
from salvo.messages import SalvoResolved, SunkShip
from salvo.rules import SALVO, Announce, Grid, RuleBook, ShipClass, Sinkings, Spacing, generator
from salvo.view import Feed, View
from salvo_lab.bots.clues import Clue, chart, clues, hit_by_others, mask_of
from salvo_lab.bots.posterior import Candidates, draw_by_keys, draw_in_turn, learned

SMALL = replace(SALVO, name="small", grid=Grid(4, 4), fleet=(ShipClass("c", 3), ShipClass("b", 2), ShipClass("a", 2)))
TWO_ROWS = replace(SALVO, name="rows", grid=Grid(4, 3), fleet=(ShipClass("c", 3), ShipClass("a", 1), ShipClass("b", 1)))
TWO = replace(SMALL, name="pair", fleet=SMALL.fleet[:2])
PUDDLES = replace(
    SALVO, name="puddles", grid=Grid(4, 3), fleet=(ShipClass("c", 3), ShipClass("a", 2)), sinkings=Sinkings.UNTOLD
)
TELLING_PUDDLES = replace(PUDDLES, sinkings=Sinkings.TOLD)
BOOKS = [replace(book, spacing=spacing) for book in (TWO, TWO_ROWS) for spacing in Spacing]
EVERY_BOOK = pytest.mark.parametrize("book", BOOKS, ids=lambda book: f"{book.name}-{book.spacing}")


def clues_of(ships: Sequence[int], salvos: Sequence[Sequence[int]], *, counts: bool, named: bool) -> list[Clue]:
    """What the owner of these ships would answer, told anew here and not by the bots' own reckoning."""
    answers, shot = [], 0
    for cells in salvos:
        aimed = mask_of(cells)
        met = sum(ships) & aimed
        sunk = tuple(n for n, ship in enumerate(ships) if named and not ship & ~(shot | aimed) and ship & ~shot)
        shot |= aimed
        if counts:
            hits = met.bit_count()
            answers.append(Clue((aimed,), hits or None, 0, 0 if hits else aimed, sunk))
        else:
            answers.append(Clue((aimed,), None, met, aimed & ~met, sunk))
    return answers


@EVERY_BOOK
@pytest.mark.parametrize("counts", [True, False])
@pytest.mark.parametrize("named", [True, False])
def test_draws_are_even_over_all_fleets_that_agree(book: RuleBook, counts: bool, named: bool) -> None:
    sinkings = Sinkings.TOLD if named else Sinkings.UNTOLD
    book = replace(book, sinkings=sinkings, announce=Announce.COUNT if counts else Announce.EACH_SHOT)
    sea, random = chart(book), generator("posterior", book.name)
    every = list(layouts(sea))
    truth = every[int(random.random() * len(every))]
    salvos = [(0, 5, 10), (1, 6, 11), (2, 7, 4)]
    for turns in range(len(salvos) + 1):
        answers = clues_of(truth, salvos[:turns], counts=counts, named=named)
        agreeing = Counter(
            sum(ships) for ships in every if clues_of(ships, salvos[:turns], counts=counts, named=named) == answers
        )
        candidates = Candidates(book, alone=True)
        for clue in answers:
            candidates.learn(clue)
        for draws in (draw_by_keys, draw_in_turn) if not counts else (draw_by_keys,):
            drawn = draws(candidates, random, 2000)
            assert set(drawn) <= agreeing.keys()
            assert len(drawn) == 2000 or Counter(drawn) == agreeing  # where there are few, each of them once
            for cell in range(sea.size):
                exact = sum(n for fleet, n in agreeing.items() if fleet >> cell & 1) / agreeing.total()
                share = sum(fleet >> cell & 1 for fleet in drawn) / len(drawn)
                assert share == pytest.approx(exact, abs=0.02 + 2 / len(drawn) ** 0.5)


def test_a_ship_sunk_by_others_may_lie_on_cells_not_fired_at() -> None:
    candidates = Candidates(SMALL, alone=False)
    candidates.learn(Clue((mask_of([0, 1]),), 1, 0, 0, ()))
    candidates.learn(Clue(sunk=(1,)))
    places = {mask for mask, _ in candidates.places[1]}
    assert mask_of([14, 15]) in places
    assert mask_of([0, 1]) not in places  # it was afloat after both were shot at
    candidates.learn(Clue((mask_of([10]),), 1, 0, 0, (2,)))
    assert all(mask >> 10 & 1 for mask, _ in candidates.places[2])
    assert mask_of([10, 11]) in {mask for mask, _ in candidates.places[2]}


def test_a_cell_that_was_hit_twice_counts_twice() -> None:
    candidates = Candidates(SMALL, alone=True)
    candidates.learn(Clue((1, 1), 2, 0, 0, ()))
    assert all(fleet & 1 for fleet in draw_by_keys(candidates, generator("twice"), 50))


def test_the_weights_of_ship_places_account_for_likely_hits_of_others() -> None:
    """Against others who have hit each cell of a ship with a share, before and after the turn in which it sank."""
    clues_of = [
        Clue((0b11,), 1, turn=1),
        Clue(sunk=(0,), turn=2, others=0.3),
        Clue((1 << 4,), 1, turn=3, sunk=(1,), others=0.4),
    ]
    every: dict[int, float] = {}
    for long, short in list(layouts(chart(PUDDLES))):
        missing, free = (long & ~0b11).bit_count(), (short & ~0b10011).bit_count()
        likely = missing * 0.3 ** (missing - 1) if missing else 0.0
        likely *= 0.4**free * (1 - 0.4) if short >> 4 & 1 else 0.0
        agrees = ((long | short) & 0b11).bit_count() == 1 and (long | short) >> 4 & 1
        every[long | short] = every.get(long | short, 0.0) + (likely if agrees else 0.0)
    candidates = learned(TELLING_PUDDLES, clues_of, alone=False)
    drawn = draw_by_keys(candidates, generator("weights"), 4000, candidates.weights())
    for cell in range(12):
        exact = sum(likely for fleet, likely in every.items() if fleet >> cell & 1) / sum(every.values())
        assert sum(fleet >> cell & 1 for fleet in drawn) / len(drawn) == pytest.approx(exact, abs=0.03)


def test_hits_of_other_players_are_spread_evenly_over_the_boards() -> None:
    view = View(SALVO, "me", ("me", "you", "he", "she"), 1, SALVO.random_fleet(generator(1)), generator(2))
    sunk = (SunkShip("you", "carrier", "carrier"),)
    for turn, (player, hits, defeated) in enumerate(
        [("he", 3, ()), ("you", 4, ()), ("she", 1, ("he",)), ("she", 2, ())]
    ):
        Feed(view).resolved(SalvoResolved(1, turn + 1, player, 5, hits, sunk if turn == 3 else (), defeated))
    after = [0.0, 1 / 17, 1 / 17, 1 - 16 / 17 * (1 - 1 / 51), 1 - 16 / 17 * (1 - 4 / 51)]
    assert hit_by_others(view, "you") == pytest.approx(after)
    (clue,) = clues(view, "you")
    assert (clue.turn, clue.sunk) == (4, (0,))
    assert clue.others == pytest.approx(after[4])
    cells = replace(SALVO, announce=Announce.CELLS)
    assert hit_by_others(View(cells, "me", view.players, 1, view.fleet, generator(2)), "you") == [0.0]
