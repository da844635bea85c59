"""What a notebook shows: pictures with the right content, readable, safe, and of nothing that a player may not know."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from salvo.messages import PlayerStats
from salvo.rules import BOOKS, SALVO, Fleet, Grid, RuleBook, Sinkings, generator
from salvo.view import Feed, Shot, View
from salvo_display.boards import HeatMap
from salvo_display.boards.marks import Mark
from salvo_display.boards.notebook_html import COLOURS, ink, luminance, shade
from salvo_lab import arena
from salvo_lab.arena import Failure, Outcome
from salvo_lab.bots.chances import heat_map
from salvo_lab.bots.hunter import Hunter
from salvo_lab.bots.random_bot import RandomBot
from salvo_lab.comparison import compare
from salvo_lab.simulation import Played, Seats, simulate
from salvo_lab.solo import Summary, summary
from salvo_lab.testing import board

HOSTILE = "<script>alert('\"&')</script>"
FLEET = board("""
    A A A A A . . . . .
    . . . . . . . . . .
    B B B B . . . . . .
    . . . . . . . . . .
    D D D . . . . . . .
    . . . . . . . . . .
    S S S . . . . . . .
    . . . . . . . . . .
    P P . . . . . . . .
    . . . . . . . . . .
""")


class Page(HTMLParser):
    """The parts of a page; raises for elements that are not closed in order, or that are none of ours.

    Attributes:
        boards: by title, what stands in each cell and what is told when it is pointed at.
        rows: of all tables, the texts of their cells.
        text: all of it, lines by element.
    """

    ALLOWED = frozenset(["div", "table", "caption", "thead", "tbody", "tr", "th", "td", "svg", "rect"])

    def __init__(self, page: str) -> None:
        super().__init__()
        self.boards: dict[str, list[tuple[str, str]]] = {}
        self.rows: list[list[str]] = []
        self.text: list[str] = []
        self._open: list[str] = []
        self._hover = ""
        self._title = ""
        self.feed(page)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in self.ALLOWED
        assert not any(key.startswith("on") or key in ("src", "href") for key, _ in attrs)
        assert "url(" not in str(attrs)
        self._open.append(tag)
        self._hover = dict(attrs).get("title") or ""
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag == "td" and self._hover:
            self.boards.setdefault(self._title, []).append(("", self._hover))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)
        if self._open[-1] == "caption":
            self._title = data
        elif self._open[-1] in ("td", "th"):
            self.rows[-1][-1] = data
            if self._hover:
                self.boards[self._title][-1] = (data, self._hover)


def page_of(shown: View | Fleet | Outcome | Summary | HeatMap | Played) -> Page:
    return Page(shown._repr_html_())


def view_of(players: Sequence[str] = ("me", "you"), book: RuleBook = SALVO) -> View:
    fleet = FLEET if book is SALVO else book.random_fleet(generator(1))
    return View(book, players[0], players, 1, fleet, generator(2))


def test_a_fleet_shows_a_letter_for_each_cell_and_names_the_ships() -> None:
    page = page_of(FLEET)
    [squares] = page.boards.values()
    assert squares[:6] == [("A", f"A{x}: carrier") for x in range(1, 6)] + [("·", "A6")]
    assert "A carrier 5, B battleship 4, D destroyer 3, S submarine 3, P patrolboat 2" in page.text
    assert page.rows[0] == ["", *map(str, range(1, 11))]
    assert page.rows[10][0] == "J"


def test_a_view_shows_the_own_fleet_with_hits_and_of_others_where_shots_fell() -> None:
    view = view_of()
    Feed(view).landed(Shot("me", 1, 1))
    Feed(view).landed(Shot("me", 1, 2))
    Feed(view).begin_turn(1, 5)
    Feed(view).fired([Shot("you", 10, 10)])
    page = page_of(view)
    own, other = page.boards["me (you)"], page.boards["you"]
    assert (own[0], own[1], own[10]) == (("✖", "A1: carrier, hit"), ("A", "A2: carrier"), ("○", "B1: miss"))
    assert [square for square in other if square[0] != "·"] == [("●", "J10: fired at, result unknown")]
    assert "salvo, game 1, turn 1, 5 to fire; ✖ hit, ○ miss, ● fired at, result unknown" in page.text
    assert page.text.count("afloat: carrier, battleship, destroyer, submarine, patrolboat") == 2
    assert page.text.count("sunk: none") == 2


@pytest.mark.long
@pytest.mark.parametrize("book", BOOKS.values(), ids=BOOKS)
def test_a_view_shows_the_same_whatever_lies_where_nobody_looked_and_changes_no_game(book: RuleBook) -> None:
    """What stands on another's board is decided by what the view tells, never by its fleet."""

    class Looking(Hunter):
        def choose_salvo(self, view: View) -> Sequence[Shot]:
            if view.turn % 5 == 1:
                for player, squares in page_of(view).boards.items():
                    if player == "me (you)":
                        continue
                    known = {} if book.announce is SALVO.announce else view.marks(player)
                    marks = {book.grid.cell(*cell): Mark.HIT if hit else Mark.MISS for cell, hit in known.items()}
                    fired = {book.grid.cell(s.x, s.y) for own in view.salvos for s in own.shots if s.player == player}
                    expected = [marks.get(c, Mark.FIRED if c in fired else Mark.BLANK) for c in range(book.grid.size)]
                    assert [text for text, _ in squares] == expected
                    pages.append(player)
            return super().choose_salvo(view)

    pages: list[str] = []
    looked = arena.play({"me": Looking(), "you": RandomBot(), "they": RandomBot()}, seed=3, book=book)
    assert looked == arena.play({"me": Hunter(), "you": RandomBot(), "they": RandomBot()}, seed=3, book=book)
    assert {"you", "they"} == set(pages)


def test_a_printed_view_shows_all_boards_and_who_has_which_ships() -> None:
    view = view_of()
    Feed(view).begin_turn(1, 5)
    text = str(view).splitlines()
    assert text[0] == "salvo, game 1, turn 1, 5 to fire; X hit, o miss, * fired at, result unknown"
    assert text[1].split() == ["me", "(you)", "you"]
    assert sum(line.count("#") for line in text) == len(view.fleet.cells)
    assert text[-1] == "you: afloat: carrier, battleship, destroyer, submarine, patrolboat; sunk: none"


def test_a_view_of_rules_with_points_and_untold_sinkings_shows_points_only() -> None:
    told = page_of(view_of(book=BOOKS["xbs"])).text
    assert "points: 0 of 17" in told
    assert BOOKS["xbs"].sinkings is Sinkings.UNTOLD
    assert not any(text.startswith(("afloat", "sunk")) for text in told)


def test_fleets_that_are_shown_after_the_game_are_in_the_view() -> None:
    view = view_of()
    view.revealed["you"] = FLEET
    assert page_of(view).boards["you"][0] == ("A", "A1: carrier")


def test_a_heat_map_tells_each_chance_as_text_and_exactly_when_pointed_at() -> None:
    chances = (0.25, 0.0, 0.0012, 1.0, 0.0, 0.5)
    shown = HeatMap(Grid(3, 2), chances, "pond", {0: Mark.FIRED, 3: Mark.HIT}, aimed=(5,), note="a guess")
    page = page_of(shown)
    assert page.boards["pond"] == [
        ("●25", "A1: 25.00%, fired at"),
        ("0", "A2: 0.00%"),
        ("<1", "A3: 0.12%"),
        ("✖", "B1: 100.00%, hit"),
        ("0", "B2: 0.00%"),
        ("[50]", "B3: 50.00%, aimed at"),
    ]
    legend = "[ ] aimed at, ✖ hit, ● fired at before, and not told"
    assert page.text[-3:] == ["darker is likelier, up to 50%", legend, "a guess"]
    assert shown._repr_html_().count("outline:") == 1


def test_ink_is_readable_on_every_colour() -> None:
    """WCAG 2.2 wants a contrast of 4.5 for text."""
    for colour in [*COLOURS.values(), *(shade(step / 100) for step in range(101))]:
        light, dark = sorted((luminance(colour), luminance(ink(colour))), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_darker_is_likelier() -> None:
    bright = [luminance(shade(step / 20)) for step in range(21)]
    assert bright == sorted(bright, reverse=True)


def test_names_that_are_html_are_shown_as_text() -> None:
    view = view_of(("me", HOSTILE))
    stats = {name: PlayerStats(name, 1, 1, 1, 1, place) for place, name in enumerate((HOSTILE, "b"), start=1)}
    failed = (Failure(HOSTILE, 1, 1, "bot_raised", HOSTILE),)
    simulated = simulate({"a": RandomBot, HOSTILE: RandomBot}, games=2, jobs=0)
    simulated.failures += failed
    compared = replace(compare("random", "random", games=2, jobs=0), bots=(HOSTILE, "b"), failures=failed)
    for shown in (
        view,
        heat_map(view, HOSTILE, fleets=1),
        Outcome(HOSTILE, HOSTILE, 1, 1, stats, {HOSTILE: FLEET}),
        Played(HOSTILE, HOSTILE, 1, 1, stats, failed),
        simulated,
        compared,
    ):
        assert HOSTILE in "\n".join(Page(shown._repr_html_()).text)


def test_a_game_shows_who_came_where_and_all_fleets() -> None:
    outcome = arena.play({"a": RandomBot(), "b": RandomBot()}, seed=4, game=2)
    page = page_of(outcome)
    assert set(page.boards) == {"a", "b"}
    assert f"game 2, seed 4: won by {outcome.winner} after {outcome.turns} salvos" in page.text
    assert [row[:2] for row in page.rows[1:3]] == [[str(n), name] for name, n in outcome.places.items()]
    tie = {name: replace(one, place=1) for name, one in outcome.stats.items()}
    assert "game 2, seed 4: a tie of a and b after 9 salvos" in page_of(Played("", 4, 2, 9, tie)).text


def test_a_simulation_shows_wins_with_an_error_and_how_fast_it_was() -> None:
    simulated = simulate({"weak": RandomBot, "strong": Hunter}, games=10, jobs=0, seed=1, seats="paired")
    page = Page(simulated._repr_html_())
    assert page.rows[0] == ["bot", "wins", "win rate", ""]
    rate, error = simulated.rate("strong"), simulated.error("strong")
    assert page.rows[1][:3] == ["strong", str(simulated.wins["strong"]), f"{rate:.1%} ± {error:.1%}"]
    assert page.rows[2][0] == "weak"
    assert "10 games of salvo, seats paired, seed 1" in page.text
    assert any(text.endswith(" games a second") for text in page.text)
    [first] = simulated[:1]
    assert page_of(first).rows[1][1] == first.winner


def test_games_with_the_same_fleets_count_as_one_in_the_error() -> None:
    paired = simulate({"a": "hunter", "b": "hunter"}, games=40, jobs=0, seats="paired")
    apart = replace(paired, seats=Seats.ROTATED)
    assert paired.error("a") != apart.error("a")
    assert paired.error("a") == pytest.approx(paired.error("b"))


def test_a_simulation_of_no_game_says_so() -> None:
    assert Page(simulate(["random", "random"], games=0, jobs=0)._repr_html_()).text == ["no game was played"]


def test_a_comparison_shows_verdict_rate_and_interval() -> None:
    found = compare("hunter", "random", games=40, jobs=0, seed=3)
    page = Page(found._repr_html_())
    assert page.rows[1][:2] == ["hunter against random", f"{found.rate:.1%}, {found.low:.1%} to {found.high:.1%}"]
    assert found.in_words in page.text
    assert found._repr_html_().count("<rect") == 3


def test_a_summary_shows_mean_error_and_histogram() -> None:
    page = page_of(summary([3, 3, 5]))
    assert "3.667 ± 0.667 (standard error), median 3" in page.text
    assert [row[:2] for row in page.rows[1:]] == [["3", "2"], ["4", "0"], ["5", "1"]]
    assert len(summary(range(100)).lines()) <= 24


def test_nothing_of_it_is_imported_before_somebody_looks() -> None:
    code = "import salvo, sys; salvo.View, salvo.Fleet; print('salvo_display.boards' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"
