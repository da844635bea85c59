"""A person at a real browser: whole games by mouse, by keyboard alone, and at a contest's table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kit import moved_clock, players
from kit.browser import ENTER, Browser, move_clock, text, until
from kit.page_of_a_command import faults, sitting
from kit.person import fleet_of_random
from kit.person_at_a_terminal import contest_on, pond_file
from kit.programs import needs
from salvo.rules import BOOKS, Fleet, RuleBook
from salvo.rules.files import load_book

pytestmark = [needs("chromium"), pytest.mark.long]


@pytest.fixture(scope="module")
def window(shared: Browser) -> Browser:
    return shared


def _cell(board: str, cell: int) -> str:
    return f"#{board} [data-cell='{cell}']"


def _message(window: Browser, words: str) -> None:
    until(window, f"document.querySelector('#message').innerText.includes({json.dumps(words)})")


def _book_and_rival(folder: Path, like: str, seed: str) -> tuple[str, RuleBook, Fleet]:
    rules = pond_file(folder, like)
    book = load_book(rules)
    return rules, book, fleet_of_random(book, seed)


def test_a_game_is_set_up_and_won_with_a_mouse_and_a_reload_shows_the_same_moment(
    window: Browser, tmp_path: Path
) -> None:
    rules, book, rival = _book_and_rival(tmp_path, "spaced", "7")
    with sitting(window, tmp_path, "play", "human", "random", "--rules", rules, "--seed", "7") as process:
        assert faults(window) == []
        window.click("[data-ship=cruiser]")
        until(window, "document.querySelector('[data-ship=raft]').getAttribute('aria-disabled') === 'true'")
        window.click(_cell("own", 0))
        until(window, "document.querySelectorAll('.offered').length === 2")
        window.run("location.reload()")
        until(window, "document.querySelectorAll('.offered').length === 2")
        window.click(_cell("own", 2))
        _message(window, "Cruiser placed at A1-A3")
        window.drag("[data-ship=raft]", _cell("own", 2))  # where the cruiser is
        _message(window, "overlaps")
        window.drag("[data-ship=raft]", _cell("own", book.grid.size - 1))
        _message(window, "Raft placed at F8")
        window.drag(_cell("own", 0), _cell("own", 16), "r")  # turned on the way
        _message(window, "Cruiser placed at C1-E1")
        window.click("[data-word=undo]")
        _message(window, "taken back")
        window.click("[data-word=done]")
        until(window, "document.title.startsWith('Your turn')")
        window.run("location.reload()")
        until(window, "document.title.startsWith('Your turn')")
        assert faults(window) == []
        _touch(window, _cell("target", 0))  # which only chooses: no touch fires by mistake
        _message(window, "1 of 1 shot chosen")
        window.click("[data-word=none]")
        for count, cell in enumerate(sorted(rival.cells), start=1):
            window.click(_cell("target", cell))
            until(window, f"{_hits('target')} === {count}")
            until(window, "/^(Your turn|End)/.test(document.title)")
        _message(window, "You win. human wins game 1")
        until(window, "document.title.startsWith('End')")
        assert faults(window) == []
        assert text(window, "#replay code").startswith("salvo play human random --seed 7 --rules ")
        window.run("fetch('/replay').then((answer) => answer.text()).then((page) => (window.page = page))")
        until(window, "window.page && window.page.includes('human wins after')")
        window.click("[data-word=restart]")
        until(window, "document.querySelector('#about').innerText.includes('game 2')")
        window.click("[data-word=leave]")
        _message(window, "the game is not over")
        window.click("[data-word=leave]")
        _message(window, "You have left")
        assert process.wait(60) == 0
        assert process.stdout is not None
        assert "winner: human after" in process.stdout.read()
        assert window.complaints() == []


def _touch(window: Browser, selector: str) -> None:
    """Tap with a finger, as a browser reports it."""
    script = """
        const there = document.querySelector(arguments[0]);
        there.dispatchEvent(new PointerEvent("pointerdown", {pointerType: "touch", bubbles: true}));
        there.click();"""
    window.run(script, selector)


def _hits(board: str) -> str:
    """How many squares of a board are read out as hit or sunk."""
    return (
        f"[...document.querySelectorAll('#{board} [data-cell]')]"
        ".filter(cell => /hit|sunk/.test(cell.getAttribute('aria-label'))).length"
    )


def test_a_game_is_set_up_and_won_by_keyboard_alone(window: Browser, tmp_path: Path) -> None:
    rules, book, rival = _book_and_rival(tmp_path, "salvo", "7")
    with sitting(window, tmp_path, "play", "human", "random", "--rules", rules, "--seed", "7") as process:
        until(window, "document.activeElement.dataset.ship")
        window.press("1")
        _message(window, "choose a square for one end")
        window.press("B", "2", ENTER)
        _message(window, "one end is B2")
        window.press("B", "4", ENTER)
        _message(window, "Cruiser placed at B2-B4")
        window.press("r")
        _message(window, "the rest placed at random")
        until(window, "document.activeElement.dataset.word === 'done'")
        window.press(ENTER)
        left = sorted(rival.cells)
        while left:
            until(window, "/^(Your turn|End)/.test(document.title) && document.querySelector('#message').innerText")
            until(window, "document.activeElement.closest('#target')")
            shots = int(window.run("return document.querySelector('#message').innerText.match(/[0-9]+/)[0]"))
            assert window.run("return document.querySelector('#call').innerText").startswith("your turn")
            salvo, left = left[:shots], left[shots:]
            for count, cell in enumerate(salvo, start=1):
                window.press(*book.grid.name(cell), ENTER if shots > 1 else " ")
                _message(window, f"{count} of {shots} shot")
            turn = text(window, "#about")
            window.press("f")
            changed = f"document.querySelector('#about').innerText !== {json.dumps(turn)}"
            until(window, f"document.title.startsWith('End') || ({changed} && document.title.startsWith('Your turn'))")
        _message(window, "You win. human wins game 1")
        window.run("document.querySelector('#news [data-turn]').focus()")
        until(window, "/^turn [0-9]+: [0-9] of [0-9] hit$/.test(document.querySelector('#target .lit').innerText)")
        assert window.run("return document.querySelector('#target .latest').getAttribute('d')")
        window.press("q")
        _message(window, "You have left")
        assert process.wait(60) == 0


@pytest.mark.slow
@pytest.mark.parametrize("like", list(BOOKS))
def test_a_game_by_every_ruleset_is_won_by_clicking(window: Browser, tmp_path: Path, like: str) -> None:
    rules, book, rival = _book_and_rival(tmp_path, like, "7")
    with sitting(window, tmp_path, "play", "human", "random", "--rules", rules, "--seed", "7") as process:
        window.click("[data-word=random]")
        until(window, "document.querySelector('[data-word=done][aria-disabled=false]')")
        window.click("[data-word=done]")
        left, fired = sorted(rival.cells), 0
        while left:
            until(window, "document.title.startsWith('Your turn') && document.querySelector('#message').innerText")
            shots, turn = 1, text(window, "#about")
            if book.longest_salvo > 1:
                shots = int(window.run("return document.querySelector('#message').innerText.match(/[0-9]+/)[0]"))
            salvo, left = left[:shots], left[shots:]
            for cell in salvo:
                window.click(_cell("target", cell))
            fired += len(salvo)
            if book.longest_salvo == 1:
                until(window, f"{_hits('target')} === {fired}")
            else:
                until(window, "document.querySelector('[data-word=fire][aria-disabled=false]')")
                window.click("[data-word=fire]")
                if len(salvo) < shots and book.skipping:
                    until(window, "document.querySelector('[data-word=skip][aria-disabled=false]')")
                    window.click("[data-word=skip]")
                changed = f"document.querySelector('#about').innerText !== {json.dumps(turn)}"
                until(window, f"document.title.startsWith('End') || {changed}")
        until(window, "document.title.startsWith('End')")
        assert "You win. human wins game 1" in text(window, "#message")
        assert window.complaints() == []
        window.click("[data-word=leave]")
        assert process.wait(60) == 0


def test_a_game_at_a_table_of_a_contest_is_played_by_clicking(window: Browser, tmp_path: Path) -> None:
    with contest_on(tmp_path, "spaced") as url:
        players.join(url, "random", seed="5", games=1)
        book = load_book(str(tmp_path / "pond.toml"))
        rival = fleet_of_random(book, "5")
        with sitting(window, tmp_path, "join", url, "human", "--games", "1") as process:
            window.click("[data-word=random]")
            until(window, "document.querySelector('[data-word=done]')")
            window.click("[data-word=done]")
            until(window, "/[0-9]+ s left/.test(document.querySelector('#clock').innerText)")
            for cell in sorted(rival.cells):
                until(window, "/^(Your turn|End)/.test(document.title)")
                window.click(_cell("target", cell))
                until(window, f"{_named('target', cell)}.match(/hit|sunk/)")
            _message(window, "You win. human wins game 1")
            window.click("#line")
            window.press(*"good game", ENTER)
            until(window, "document.querySelector('#news').innerText.includes('you say: good game')")
            until(window, "document.querySelector('#news').innerText.includes('agrees with the server')")
            until(window, "document.querySelector('#target').classList.contains('named')")
            assert faults(window) == []
            window.click("[data-word=leave]")
            assert process.wait(60) == 0
            assert process.stdout is not None
            assert "game 1: human wins, human is number 1" in process.stdout.read()


def test_a_turn_s_time_goes_on_at_a_person_who_sets_the_clock(window: Browser, tmp_path: Path) -> None:
    clock, left = tmp_path / "clock", "document.querySelector('#clock').innerText"
    own = {moved_clock.VARIABLE: str(clock)}
    moved_clock.move(clock)
    with contest_on(tmp_path, "spaced", placement_seconds=600) as url:
        players.join(url, "random", seed="5", games=1)
        with sitting(window, tmp_path, "join", url, "human", "--games", "1", **own):
            for hours in (0, -1, 2):
                moved_clock.move(clock, wall=3600.0 * hours)
                move_clock(window, wall_ms=3_600_000 * hours)
                until(window, f"window.former !== {left} && / s left$/.test(window.former = {left})")
                until(window, f"window.former !== {left}")
                assert 0 < int(text(window, "#clock").split()[-3]) < 600, f"{hours} hours forth"


def _named(board: str, cell: int) -> str:
    return f"document.querySelector({json.dumps(_cell(board, cell))}).getAttribute('aria-label')"
