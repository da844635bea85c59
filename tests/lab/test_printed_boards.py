"""Boards as text and in colour: right, readable, and of nothing that a player may not know."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

import pytest

from salvo.rules import BOOKS, SALVO, RuleBook, Sinkings, generator
from salvo.view import Feed, Shot, View
from salvo_display.boards.colours import COLOURS, ink, luminance, shade
from salvo_display.boards.marks import PLAIN, Mark
from salvo_lab import arena
from salvo_lab.bots.hunter import Hunter
from salvo_lab.bots.random_bot import RandomBot


def view_of(book: RuleBook = SALVO) -> View:
    return View(book, "me", ("me", "you"), 1, book.random_fleet(generator(1)), generator(2))


def test_a_printed_view_shows_all_boards_and_who_has_which_ships() -> None:
    view = view_of()
    Feed(view).begin_turn(1, 5)
    text = str(view).splitlines()
    assert text[0] == "salvo, game 1, turn 1, 5 to fire; X hit, o miss, * fired at, result unknown"
    assert text[1].split() == ["me", "(you)", "you"]
    assert sum(line.count("#") for line in text) == len(view.fleet.cells)
    assert text[-1] == "you: afloat: carrier, battleship, destroyer, submarine, patrolboat; sunk: none"


def test_a_printed_view_of_rules_with_points_and_untold_sinkings_shows_points_only() -> None:
    text = str(view_of(BOOKS["xbs"]))
    assert "points: 0 of 17" in text
    assert BOOKS["xbs"].sinkings is Sinkings.UNTOLD
    assert "afloat" not in text
    assert "sunk" not in text


@pytest.mark.long
@pytest.mark.parametrize("book", BOOKS.values(), ids=BOOKS)
def test_a_printed_view_shows_of_a_rival_only_its_own_shots_and_their_announced_results(book: RuleBook) -> None:
    class Looking(Hunter):
        def choose_salvo(self, view: View) -> Sequence[Shot]:
            if view.turn % 5 == 1:
                known = {} if book.announce is SALVO.announce else view.marks("you")
                marks = {book.grid.cell(*cell): Mark.HIT if hit else Mark.MISS for cell, hit in known.items()}
                fired = {book.grid.cell(s.x, s.y) for own in view.salvos for s in own.shots}
                expected = [marks.get(c, Mark.FIRED if c in fired else Mark.BLANK) for c in range(book.grid.size)]
                rows = str(view).splitlines()[3:][: book.grid.height]
                seen = [square for row in rows for square in row.split()[-book.grid.width :]]
                assert seen == [mark.translate(PLAIN) for mark in expected]
                looks.append(view.turn)
            return super().choose_salvo(view)

    looks: list[int] = []
    looked = arena.play({"me": Looking(), "you": RandomBot()}, seed=3, book=book)
    assert looked == arena.play({"me": Hunter(), "you": RandomBot()}, seed=3, book=book)
    assert looks


def test_ink_is_readable_on_every_colour() -> None:
    """WCAG 2.2 wants a contrast of 4.5 for text."""
    for colour in [*COLOURS.values(), *(shade(step / 100) for step in range(101))]:
        light, dark = sorted((luminance(colour), luminance(ink(colour))), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_a_likelier_cell_is_printed_darker() -> None:
    bright = [luminance(shade(step / 20)) for step in range(21)]
    assert bright == sorted(bright, reverse=True)


def test_boards_are_not_imported_before_one_is_shown() -> None:
    code = "import salvo, sys; salvo.View, salvo.Fleet; print('salvo_display.boards' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"
