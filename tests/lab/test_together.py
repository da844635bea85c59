"""Boards that share answers: against every pair of fleets of two small boards, one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import pytest

from kit.layouts import layouts
from salvo.messages import SalvoResolved, SunkShip
from salvo.rules import SALVO, Announce, Grid, ShipClass, Sinkings, generator
from salvo.view import Feed, Shot, View
from salvo_lab.bots.clues import Clue, chart, clues, hit_by_others, mask_of
from salvo_lab.bots.posterior import draw_by_keys, learned
from salvo_lab.bots.together import Together, Turn, turns

FLEET = (ShipClass("c", 3), ShipClass("a", 2))
BOOK = replace(SALVO, name="puddles", grid=Grid(4, 3), fleet=FLEET, sinkings=Sinkings.UNTOLD)
TELLING = replace(BOOK, sinkings=Sinkings.TOLD)
EVERY = list(layouts(chart(BOOK)))
Ships = tuple[int, ...]


def answer(ships: Ships, cells: Sequence[int]) -> int:
    return (sum(ships) & mask_of(cells)).bit_count()


def shared(number: int, hits: int, **shots: Sequence[int]) -> Turn:
    """A salvo at several boards."""
    told = {player: Clue((mask_of(cells),), turn=number, shared=hits) for player, cells in shots.items()}
    return Turn(number, told, hits)


def test_draws_are_spread_as_all_pairs_of_fleets_that_agree_are() -> None:
    salvos = [((0, 5), (1, 6)), ((1, 4), (0, 10)), ((2,), (2, 3)), ((8, 9), (4, 5)), ((10, 11, 3), ()), ((6,), (7, 8))]
    random = generator("truth")
    truth = [EVERY[int(random.random() * len(EVERY))] for _ in range(2)]
    found, count = Together(BOOK, random, 2000), 2000
    pairs = list(product(EVERY, EVERY))
    assert len(pairs) > 10_000
    for number, (one, other) in enumerate(salvos, 1):
        hits = answer(truth[0], one) + answer(truth[1], other)
        alone = Turn(number, {"you": Clue((mask_of(one),), hits, turn=number)}, None)
        found.learn(shared(number, hits, you=one, they=other) if other else alone)
        pairs = [pair for pair in pairs if answer(pair[0], one) + answer(pair[1], other) == hits]
        assert found.boards == ["you", "they"]
        joint = list(zip(found.fleets("you"), found.fleets("they"), strict=True))
        assert len(joint) == count
        assert set(joint) <= {(sum(ships), sum(others)) for ships, others in pairs}
        for board, cell in product(range(2), range(12)):
            exact = sum(sum(pair[board]) >> cell & 1 for pair in pairs) / len(pairs)
            share = sum(fleets[board] >> cell & 1 for fleets in joint) / count
            assert share == pytest.approx(exact, abs=0.05)
        met = Counter((fleets[0] & mask_of(one)).bit_count() for fleets in joint)
        for hits_on_one, many in Counter(answer(pair[0], one) for pair in pairs).items():
            assert met[hits_on_one] / count == pytest.approx(many / len(pairs), abs=0.05)
    assert 1 < len(pairs) < 500
    assert not found.left_out


def test_a_number_that_no_two_boards_can_have_given_is_left_out() -> None:
    found = Together(BOOK, generator("none"), 200)
    found.learn(shared(1, 1, you=[0], they=[0]))
    found.learn(shared(2, 1, you=[0], they=[0]))
    found.learn(shared(3, 2, you=[0], they=[0]))
    found.learn(shared(4, 1, you=[5], we=[5]))
    assert found.left_out == {3}
    assert [found.unused(player) for player in ("you", "they", "we")] == [{3}, {3}, set()]
    assert found.boards == ["you", "they", "we"]
    for fleets in zip(*map(found.fleets, found.boards), strict=True):
        assert (fleets[0] & 1) + (fleets[1] & 1) == 1
        assert (fleets[0] >> 5 & 1) + (fleets[2] >> 5 & 1) == 1


def test_what_hardly_any_draw_agreed_with_is_drawn_anew() -> None:
    found = Together(TELLING, generator("anew"), 10)
    found.learn(shared(1, 1, you=[0], they=[0]))
    found.learn(Turn(2, {"you": Clue((1 << 1,), 1, turn=2)}, None))
    found.learn(Turn(3, {"you": Clue((1 << 2,), 1, turn=3, sunk=(0,), others=0.2)}, None))
    assert len(found.draws) == 10
    for fleet in found.fleets("you"):
        assert fleet & 0b110 == 0b110


def test_more_ships_than_can_be_put_together_are_not_drawn() -> None:
    found = Together(replace(SALVO, fleet=(*SALVO.fleet, ShipClass("raft", 1))), generator("six"), 10)
    found.learn(shared(1, 1, you=[0], they=[0]))
    assert found.draws == []


# --- where others fire, too ---------------------------------------------------------------------------------------


def test_places_of_ships_weigh_what_others_are_likely_to_have_hit() -> None:
    """Against others who have hit each cell of a ship with a share, before and after the turn in which it sank."""
    told = [
        Clue((0b11,), 1, turn=1),
        Clue(sunk=(0,), turn=2, others=0.3),
        Clue((1 << 4,), 1, turn=3, sunk=(1,), others=0.4),
    ]
    every: dict[int, float] = {}
    for long, short in EVERY:
        missing, free = (long & ~0b11).bit_count(), (short & ~0b10011).bit_count()
        likely = missing * 0.3 ** (missing - 1) if missing else 0.0
        likely *= 0.4**free * (1 - 0.4) if short >> 4 & 1 else 0.0
        agrees = ((long | short) & 0b11).bit_count() == 1 and (long | short) >> 4 & 1
        every[long | short] = every.get(long | short, 0.0) + (likely if agrees else 0.0)
    candidates = learned(TELLING, told, alone=False)
    drawn = draw_by_keys(candidates, generator("weights"), 4000, candidates.weights())
    for cell in range(12):
        exact = sum(likely for fleet, likely in every.items() if fleet >> cell & 1) / sum(every.values())
        assert sum(fleet >> cell & 1 for fleet in drawn) / len(drawn) == pytest.approx(exact, abs=0.03)


def test_a_ship_afloat_lies_rather_where_one_has_not_fired() -> None:
    told = [Clue((0b1,), 1, turn=1, others=0.5)]
    weights = learned(TELLING, told, alone=False).weights()
    assert weights is not None
    assert weights[1][0b11] == 0.5
    assert weights[1][0b110] == 0.75
    assert learned(TELLING, told, alone=True).weights() is None
    assert learned(BOOK, told, alone=False).weights() is None


def test_all_others_hits_are_taken_to_be_on_equally_many_boards() -> None:
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


def test_who_is_out_was_not_shot_at_everywhere() -> None:
    view = View(SALVO, "me", ("me", "you", "they"), 1, SALVO.random_fleet(generator(1)), generator(2))
    Feed(view).begin_turn(1, 2)
    Feed(view).fired([Shot("you", 1, 1), Shot("they", 2, 1)])
    sunk = tuple([SunkShip("you", ship.name, ship.name) for ship in SALVO.fleet])
    Feed(view).resolved(SalvoResolved(1, 1, "me", 2, 1, (), ()))
    Feed(view).resolved(SalvoResolved(1, 2, "they", 5, 5, sunk, ("you",)))
    told = {player: clues(view, player) for player in ("you", "they")}
    assert [clue.shots for clue in told["you"]] == [(1,), ()]
    assert turns(told) == [
        Turn(1, {"you": told["you"][0], "they": told["they"][0]}, 1),
        Turn(2, {"you": told["you"][1]}, None),
    ]
