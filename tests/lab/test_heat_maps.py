"""Heat maps: what they take, how they read as text, and that they are right about where ships lie."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest

from salvo.errors import BotError
from salvo.messages import SalvoResolved
from salvo.rules import BOOKS, SALVO, Grid, RuleBook, ShipClass, generator
from salvo.view import Feed, Shot, View
from salvo_display.boards.marks import Mark
from salvo_lab import arena
from salvo_lab.bots.chances import heat_map
from salvo_lab.bots.hunter import Hunter
from salvo_lab.bots.random_bot import RandomBot


def view_of(book: RuleBook = SALVO) -> View:
    return View(book, "me", ("me", "you"), 1, book.random_fleet(generator(1)), generator(2))


def test_chances_are_those_of_all_fleets_counted_one_by_one() -> None:
    book = replace(SALVO, name="pond", grid=Grid(4, 3), fleet=(ShipClass("a", 3), ShipClass("b", 2)))
    view = view_of(book)
    fired = [Shot("you", 1, 1), Shot("you", 2, 2)]
    Feed(view).begin_turn(1, 2)
    Feed(view).fired(fired)
    Feed(view).resolved(SalvoResolved(1, 1, "me", 2, 1, (), ()))
    aimed_at = 1 << 0 | 1 << 5
    agreeing = [
        long | short
        for (_, _, long, _), (_, _, short, _) in itertools.product(*book.choices)
        if not long & short and ((long | short) & aimed_at).bit_count() == 1
    ]
    found = heat_map(view, "you", fleets=4000, random=Random(5))
    for cell, chance in enumerate(found.chances):
        assert chance == pytest.approx(sum(fleet >> cell & 1 for fleet in agreeing) / len(agreeing), abs=0.04)
    assert found.exact
    assert found.marks == {0: Mark.FIRED, 5: Mark.FIRED}


@pytest.mark.parametrize("book", BOOKS.values(), ids=BOOKS)
def test_maps_of_every_book_agree_with_what_is_known_and_change_no_game(book: RuleBook) -> None:
    class Looking(Hunter):
        def choose_salvo(self, view: View) -> Sequence[Shot]:
            shots = super().choose_salvo(view)
            if view.turn % 8 == 1:
                found = heat_map(view, "you", aimed=shots, fleets=20)
                assert found == heat_map(view, "you", aimed=shots, fleets=20)
                assert sum(found.chances) == pytest.approx(len(book.ship_of_cell))
                assert [book.grid.xy(cell) for cell in found.aimed] == [shot[1:] for shot in shots]
                for cell, mark in found.marks.items():
                    assert mark is Mark.FIRED or found.chances[cell] == (mark is Mark.HIT)
                seen.append(found.exact)
            return shots

    seen: list[bool] = []
    looked = arena.play({"me": Looking(), "you": RandomBot()}, seed=5, book=book)
    assert looked == arena.play({"me": Hunter(), "you": RandomBot()}, seed=5, book=book)
    assert len(seen) > 1
    assert all(seen)


@pytest.mark.parametrize("target", ["me", "nobody"])
def test_a_heat_map_of_an_unknown_players_board_is_refused(target: str) -> None:
    with pytest.raises(BotError, match=f"unknown_target: '{target}' is not an opponent in the game: you"):
        heat_map(view_of(), target)


def test_a_heat_map_is_in_colours_where_a_notebook_shows_it() -> None:
    found = replace(heat_map(view_of(), "you", aimed=[Shot("you", 3, 2)], fleets=20), title="<b>you")
    shown = found._repr_html_()
    assert len(re.findall(r'<td title="[A-J][0-9]+: [0-9.]+%[^"]*"[^>]* style="background:#[0-9a-f]{6}', shown)) == 100
    assert re.findall(r'title="([^"]*)" class="aimed"', shown) == [f"B3: {100 * found.chances[12]:.2f}%, aimed at"]
    assert "<caption>&lt;b&gt;you</caption>" in shown
    assert found.note in shown
