"""A game as a page: all that a view shows is in it, turn by turn, and nothing else, whatever somebody calls himself."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jinja2 import UndefinedError

from kit.golden_games import ALICE, AT_BOB, BOB, hidden_from_alice, play
from kit.page_games import golden_replay
from kit.pages import RUDE, Read, large_game, rude_game
from salvo.rules import SALVO, SMACKDOWN, Announce, Fleet, RuleBook
from salvo_display.boards.marks import Mark
from salvo_display.replay import REFEREE, Replay, ReplayError
from salvo_display.web_page import html_page
from salvo_display.web_page.moves import CODES
from salvo_display.web_page.rendering import render

GAMES = (
    "2-players-clock",
    "4-players-silent",
    "smackdown-2-tie",
    "xbs-3-silent",
    "streak-4-1",
    "spaced-3-silent",
)


#: Which there are depends on the names: emblems, and the parts of a long one.
_OF_NAMES = re.compile(r'<symbol .*?</symbol>|<span class="heard">', re.DOTALL)


def _numbers(page: str) -> dict[str, Any]:
    [text] = re.findall(r'<script type="application/json" id="game">(.*?)</script>', page)
    assert re.fullmatch(r'[\[\]{}0-9,:"a-z.]*', text)
    found: dict[str, Any] = json.loads(text)
    return found


def _parts(page: str, tag: str) -> list[str]:
    return re.findall(rf"<{tag}(?: type=.module.)?>(.*?)</{tag}>", page, re.DOTALL)


# --- what is in it ------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("name", GAMES)
def test_the_numbers_of_a_page_come_to_what_its_view_sees_after_every_turn(name: str) -> None:
    replay = golden_replay(name)
    for view in replay.views:
        frames, numbers = replay.frames(view), _numbers(html_page(replay, view))
        assert len(numbers["turns"]) == replay.turns
        size = numbers["width"] * numbers["height"]
        marks = [0] * size * numbers["players"]
        shots, hits, out = [0] * numbers["players"], [0] * numbers["players"], set()
        for frame, (seat, fired, met, aims, landed, sunk, fell) in zip(frames[1:], numbers["turns"], strict=True):
            shots[seat] += fired
            hits[seat] += met
            out.update(fell)
            for aim in aims:
                marks[aim >> 2] = marks[aim >> 2] if marks[aim >> 2] == CODES[Mark.HIT] else aim & 3
            for aim in landed:
                marks[aim >> 2] = aim & 3
            latest = {aim >> 2 for aim in (*aims, *landed)}
            for number, sea in enumerate(frame.seas.values()):
                board = range(number * size, (number + 1) * size)
                assert marks[board.start : board.stop] == [CODES[mark] for mark in sea.marks]
                assert {place - board.start for place in latest if place in board} == sea.latest
                assert (shots[number], hits[number], number in out) == (sea.shots, sea.hits, sea.out)
            assert all(ship // numbers["ships"] < numbers["players"] for ship in sunk)


@pytest.mark.parametrize("name", ["4-players-silent", "streak-4-1", "spaced-3-silent"])
def test_publicly_announced_sinkings_appear_on_a_page_when_announced(name: str) -> None:
    replay = golden_replay(name)
    for view in replay.views:
        numbers = _numbers(html_page(replay, view))
        for frame, turn in zip(replay.frames(view)[1:], numbers["turns"], strict=True):
            assert frame.result is not None
            names, fleet = list(frame.seas), [ship.name for ship in replay.header.rules.book.fleet]
            sunk = [(names[ship // len(fleet)], fleet[ship % len(fleet)]) for ship in turn[5]]
            assert sorted(sunk) == sorted((ship.player, ship.ship) for ship in frame.result.sunk)


def test_a_game_before_its_first_salvo_has_a_page_and_one_that_has_not_begun_has_none() -> None:
    begun = play({"alice": ALICE, "bob": BOB}, ())
    assert _numbers(html_page(begun))["turns"] == []
    with pytest.raises(ReplayError, match="not_begun"):
        html_page(Replay("test", begun.header, begun.steps[:1]))


@pytest.mark.long
def test_an_ordinary_page_is_small_and_the_largest_game_still_is_one() -> None:
    assert len(html_page(golden_replay("2-players-1"))) < 64_000
    page = html_page(large_game())
    assert page.count('<figure class="player') == 8
    assert len(page) < 200_000


# --- nothing leaks ------------------------------------------------------------------------------------------------


@given(seed=st.integers(0, 10**6), other_seed=st.integers(0, 10**6), shots=st.integers(1, 40))
@settings(max_examples=20)
def test_pages_of_games_that_differ_only_in_hidden_cells_are_the_same_byte_for_byte(
    seed: int, other_seed: int, shots: int
) -> None:
    one, other = hidden_from_alice(seed, other_seed, shots)
    for view in ("alice", "carol"):
        assert html_page(one, view) == html_page(other, view)
    for view in (REFEREE, "bob"):
        assert html_page(one, view) != html_page(other, view)


@pytest.mark.parametrize("book", [SMACKDOWN, replace(SALVO, name="told", announce=Announce.CELLS)])
def test_a_ship_that_nobody_struck_is_on_no_rivals_page(book: RuleBook) -> None:
    moved = Fleet(SALVO, [*BOB.placements[1:], replace(BOB.placements[0], x=6)])
    script = [*AT_BOB, *((*shot, 1) for shot in (("bob", "alice", x) for x in (5, 6, 7, 8, 9)))]
    one, other = (
        play({name: Fleet(book, fleet.placements) for name, fleet in (("alice", ALICE), ("bob", bob))}, script, book)
        for bob in (BOB, moved)
    )
    assert one.turns
    assert html_page(one, "alice") == html_page(other, "alice")
    assert html_page(one) != html_page(other)


def test_a_game_page_contains_neither_the_seed_nor_the_path_of_the_file() -> None:
    replay = play({"alice": ALICE, "bob": BOB}, AT_BOB, seed="a-seed-that-tells-all-fleets")
    replay.name = "/home/somebody/game.jsonl"
    for view in replay.views:
        page = html_page(replay, view)
        assert "a-seed-that-tells-all-fleets" not in page
        assert "somebody" not in page


# --- strangers' names, and what a browser lets a page do -----------------------------------------------------------


@pytest.mark.parametrize("view", [REFEREE, RUDE, "bob"])
def test_a_name_is_text_wherever_it_stands(view: str) -> None:
    page = html_page(rude_game(), view)
    polite = html_page(play({"alice": ALICE, "bob": BOB}, AT_BOB), "alice" if view == RUDE else view)
    tags, expected = ([tag for tag, _ in Read(_OF_NAMES.sub("", text)).tags] for text in (page, polite))
    assert tags == expected
    assert page.count("<script") == page.count("</script") == 2
    assert RUDE in "".join(text for _, text in Read(page).texts)


def test_a_template_that_names_what_it_is_not_given_makes_no_page() -> None:
    with pytest.raises(UndefinedError, match="'policy' is undefined"):
        render("salvo_display/web_page/base.html.j2", style="")


def test_a_page_has_nothing_from_elsewhere_and_runs_its_own_script_only() -> None:
    page = html_page(golden_replay("2-players-clock"))
    read = Read(page)
    [policy] = [attributes["content"] for _, attributes in read.tags if "http-equiv" in attributes]
    style, script = (
        "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"
        for [text] in (_parts(page, "style"), _parts(page, "script"))
    )
    rest = "base-uri 'none'; form-action 'none'"
    assert policy == f"default-src 'none'; style-src {style}; script-src {script}; {rest}"
    for tag, attributes in read.tags:
        assert not {"style", "src", "srcset", "action"} & set(attributes)
        assert not any(name.startswith("on") for name in attributes)
        assert attributes.get("href", "#").startswith("#")
        assert tag not in ("link", "iframe", "object", "embed", "img", "base")
    assert "http:" not in page.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")
    assert "https:" not in page
    assert not re.search(r"@import|url\((?!#)", page)
