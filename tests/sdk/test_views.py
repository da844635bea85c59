"""Views in the arena read the news late; whatever a bot looks at, and whenever, is what it would have been told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from salvo.bots.player import Bot
from salvo.errors import BotError
from salvo.messages import SalvoResolved
from salvo.rules import (
    SALVO,
    SMACKDOWN,
    SPACED,
    STANDARD,
    STREAK,
    XBS,
    Announce,
    Grid,
    RuleBook,
    Shots,
    Sinkings,
    Targets,
    generator,
)
from salvo.view import Feed, Shot, Untouched, View
from salvo_lab import arena

BOOKS = [
    SALVO,
    replace(SALVO, name="again", shots=Shots.UNTIL_MISS, announce=Announce.EACH_SHOT),
    replace(SALVO, name="one", shots=Shots.ONE),
    SMACKDOWN,
    XBS,
    STREAK,
    SPACED,
]


def known(view: View) -> object:
    """All that a view says of the past."""
    boards = {player: set(view.untouched.of(player)) for player in view.players}
    public: tuple[object, ...] = (view.results, view.opponents, view.defeated, view.winners)
    if view.rules.sinkings is Sinkings.TOLD:
        public += (view.ships_afloat, view.sunk)
    if view.rules.announce is not Announce.COUNT:
        public += tuple(view.marks(player) for player in view.players if player != view.me)
    return public, (view.salvos, view.incoming, view.fired_this_turn, boards, len(view.untouched))


class AtOnce:
    """A view for every player that is told of each salvo at once, as a session's is."""

    def __init__(self, names: Sequence[str], book: RuleBook) -> None:
        self.names = names
        self.book = book
        self.views: dict[str, View] = {}

    def view(self, name: str, like: View) -> View:
        if name not in self.views:
            self.views = {who: View(self.book, who, self.names, 1, like.fleet, generator("told")) for who in self.names}
        return self.views[name]

    def listen(self, shots: Sequence[Shot], result: SalvoResolved) -> None:
        for number, shot in enumerate(shots):
            if number < result.shots:
                Feed(self.views[shot.player]).landed(shot)
        Feed(self.views[result.player]).fired(shots)
        for view in self.views.values():
            Feed(view).resolved(result)


class Odd(Bot):
    """Fires samples, chosen cells, own cells, too little and nothing, and now and then looks at what it knows."""

    def __init__(self, whims: Random, at_once: AtOnce) -> None:
        self.whims = whims
        self.at_once = at_once
        self.turn = 0

    def choose_salvo(self, view: View) -> Sequence[Any]:
        truth = self.at_once.view(view.me, view)
        first_part, self.turn = self.turn != view.turn, view.turn
        if first_part and self.whims.random() < 0.3:
            assert known(view) == known(truth)
            assert all(shot in view.untouched for shot in view.untouched)
        whim = self.whims.random()
        count = view.shots if whim < 0.5 else self.whims.randint(0, view.shots)
        shots: list[Any] = view.untouched.sample(count)
        if whim > 0.9:
            shots = [tuple(shot) for shot in shots]
        elif view.rules.targets is Targets.OTHERS:
            pass  # what follows may be at the own board, or at cells that were shot at
        elif whim > 0.8:
            shots = [(self.whims.choice(view.players), *self.whims.choice(((1, 1), (5, 5), (9, 2)))) for _ in shots]
        elif whim > 0.7:
            shots = view.untouched.of(view.opponents[0])[:count]
        return shots


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), players=st.integers(2, 4), book=st.sampled_from(BOOKS))
def test_a_view_computed_late_equals_one_updated_at_once(seed: int, players: int, book: RuleBook) -> None:
    names = "abcd"[:players]
    at_once = AtOnce(names, book)
    views: dict[str, View] = {}

    class Watching(Odd):
        def choose_salvo(self, view: View) -> Sequence[Any]:
            views[view.me] = view
            return super().choose_salvo(view)

    whims = Random(seed)
    arena.play({name: Watching(whims, at_once) for name in names}, seed=seed, book=book, listener=at_once.listen)
    for name, view in views.items():
        assert known(view) == known(at_once.views[name])


acts = st.lists(
    st.tuples(st.sampled_from(("draw", "draw and fire", "fire some drawn", "fire", "defeat")), st.integers(0, 7)),
    max_size=40,
)


@given(acts=acts, seed=st.integers(0, 99))
def test_untouched_is_a_set_that_samples_no_cell_twice(acts: list[tuple[str, int]], seed: int) -> None:
    grid = Grid(4, 3)
    untouched = Untouched("bcd", grid, generator(seed))
    left = {Shot(player, *grid.xy(cell)) for player in "bcd" for cell in range(grid.size)}
    for act, count in acts:
        gone: list[Shot] = []
        if act == "defeat":
            player = "bcd"[count % 3]
            untouched.discard_player(player)
            left = {shot for shot in left if shot.player != player}
        elif act == "fire":
            gone = [*sorted(left)[:count], Shot("b", 1, 1), Shot("nobody", 1, 1)]
            untouched.discard(gone)
        else:
            drawn = untouched.sample(count)
            assert len(drawn) == len(set(drawn)) == min(count, len(left))
            assert set(drawn) <= left
            gone = {"draw": [], "draw and fire": drawn, "fire some drawn": drawn[count // 2 :]}[act]
            untouched.discard(gone)
        left -= set(gone)
        if count % 2:
            assert set(untouched) == left
            assert [shot for player in "bcd" for shot in untouched.of(player)] == list(untouched)
            assert len(untouched) == len(left)
    assert all(shot in untouched for shot in left)


def test_every_pair_is_drawn_as_often_whatever_was_drawn_before() -> None:
    """Also where cards were shown and not fired: they may come again at once, no more and no less than others."""
    grid = Grid(2, 2)
    seen: Counter[tuple[Shot, ...]] = Counter()
    repeated = 0
    for seed in range(6000):
        untouched = Untouched("b", grid, generator("even", seed))
        [shown] = untouched.sample(1)
        drawn = untouched.sample(2)
        repeated += shown in drawn
        seen[tuple(drawn)] += 1
    assert len(seen) == 4 * 3
    assert all(abs(times - 500) < 5 * 500**0.5 for times in seen.values())
    assert abs(repeated - 3000) < 5 * 1500**0.5


def test_only_the_very_shots_that_were_dealt_are_taken_out_uncompared() -> None:
    untouched = Untouched("b", Grid(4, 3), generator(1))
    dealt = untouched.sample(3)
    for others in ([], dealt[::-1], [Shot(*shot) for shot in dealt], dealt * 5, untouched.of("b")):
        assert not untouched.discard_dealt(others)
    assert untouched.discard_dealt(dealt)
    assert not untouched.discard_dealt(dealt)
    assert set(untouched) == set(untouched.of("b"))
    assert len(untouched) == 9


def test_a_name_that_nobody_has_is_refused_and_a_player_who_is_out_has_no_cells() -> None:
    fleet = STANDARD.random_fleet(generator(1))
    view = View(STANDARD, "me", ("me", "you", "they"), 1, fleet, generator(1))
    for ask in (view.untouched.of, view.marks, view.afloat):
        names: list[Any] = ["You", "", ["you"], None]
        for name in names:
            with pytest.raises(BotError, match=r"unknown_player: no player .*; the players are me, you, they"):
                ask(name)
    view.untouched.discard_player("they")
    assert view.untouched.of("me") == view.untouched.of("they") == []
    assert len(view.untouched.of("you")) == STANDARD.grid.size
