"""A person's page without a browser: who gets in, what a click means, and what strangers try."""

from __future__ import annotations

from random import Random

import pytest

from kit.own_page import Table, play, words_in
from kit.person import view_of
from salvo.messages import SalvoResolved
from salvo.rules import BOOKS
from salvo.view import Feed, Shot
from salvo_lab.human.browser.page import ALONE_SECONDS
from salvo_lab.human.channel import FiredSalvo, GameOver, Line, Notice, PlaceFleet, Seen
from salvo_lab.human.snapshot import Snapshot


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b'{"tab": 1, "n": 2, "act": "random", "write": "x"}', 400, "bad_command"),
        (b'{"tab": 1, "n": 2, "act": "random", "more": 1}', 400, "bad_command"),
        (b'{"tab": 1, "n": 2, "click": ["me", 100]}', 400, "off_grid"),
        (b'{"tab": 1, "n": 2, "click": ["me", -1]}', 400, "off_grid"),
        (b'{"tab": 1, "n": 2, "put": ["cruiser", 1000000000000, true]}', 400, "off_grid"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_command_that_means_two_things_or_no_square_changes_nothing(body: bytes, status: int, code: str) -> None:
    async def act(table: Table) -> None:
        await table.visitor.enter()
        table.ask_for_fleet()
        async with table.visitor.tab() as picture:
            frame = await picture()
            assert (frame["tab"], frame["n"]) == (1, 2)
            answer = await table.visitor.ask("POST", "/do", body)
            assert (answer.status, answer.code) == (status, code)
            assert table.page.number == 2

    play(act)


@pytest.mark.parametrize(
    "word", ["nothing", "ship", "ship nautilus", "aim nobody", "fire", "skip", "restart", "", "done"]
)
def test_an_action_that_is_impossible_now_places_and_fires_nothing(word: str) -> None:
    async def act(table: Table) -> None:
        await table.visitor.enter()
        table.ask_for_fleet()
        async with table.visitor.tab() as picture:
            assert (await table.visitor.do(await picture(), act=word)).status == 200
        assert table.desk.answers() == []
        assert table.page.sitting.mode == "Setup"
        assert table.page.sitting.setting_up is not None
        assert not table.page.sitting.setting_up.setup.placed

    play(act)


def test_a_person_whose_fleet_is_set_sees_it_until_the_game_begins() -> None:
    async def act(table: Table) -> None:
        await table.visitor.enter()
        table.ask_for_fleet()
        async with table.visitor.tab() as picture:
            assert (await table.visitor.do(await picture(), act="random")).status == 200
            placed = await picture()
            assert (await table.visitor.do(placed, act="done")).status == 200
            waiting = await picture()
        assert (waiting["mode"], waiting["setup"]) == ("Waiting", None)
        assert waiting["boards"][0]["cells"] == placed["boards"][0]["cells"]
        assert set(waiting["boards"][0]["cells"]) == set("abcde.")

    play(act)


def test_a_click_on_an_outdated_page_does_nothing() -> None:
    """A double click, a replayed request, and a click that was on its way when the turn ended."""

    async def act(table: Table) -> None:
        await table.visitor.enter()
        table.ask_for_fleet()
        table.begin_turn("spaced")
        async with table.visitor.tab() as picture:
            frame = await picture()
            assert (await table.visitor.do(frame, click=["ann", 0])).status == 200
            assert [type(answer) for answer in table.desk.answers()] == [FiredSalvo]
            assert (await table.visitor.do(frame, click=["ann", 0])).code == "late"
            assert (await table.visitor.do(frame | {"n": frame["n"] + 1000}, click=["ann", 0])).code == "late"
            assert table.desk.answers() == []

    play(act)


def test_a_message_of_another_player_does_not_invalidate_a_click() -> None:
    async def act(table: Table) -> None:
        await table.visitor.enter()
        table.begin_turn("spaced")
        async with table.visitor.tab() as picture:
            frame = await picture()
            table.receive(Notice("ann says: hurry up"))
            assert table.page.number > frame["n"]
            assert (await table.visitor.do(frame, click=["ann", 0])).status == 200
            assert len(table.desk.answers()) == 1

    play(act)


def test_a_person_without_open_tabs_leaves_after_a_while_but_not_in_a_game() -> None:
    async def act(table: Table) -> None:
        table.clock.now += ALONE_SECONDS + 1
        table.page.look()
        assert table.page.sitting.ended == "left"

    async def act_in_game(table: Table) -> None:
        table.begin_turn()
        table.clock.now += ALONE_SECONDS + 1
        table.page.look()
        assert not table.page.sitting.ended

    play(act)
    play(act_in_game)


# --- what a picture shows -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", list(BOOKS))
def test_a_picture_has_neither_a_rival_s_cell_nor_a_key(rules: str) -> None:
    """Whatever a rival's fleet is, the picture is the same: nothing in it depends on what the person may not know."""

    async def act(table: Table) -> None:
        await table.visitor.enter()
        table.begin_turn(rules, "ann", "bob")
        async with table.visitor.tab() as picture:
            frame = await picture()
        for board in frame["boards"]:
            if not board["own"]:
                assert set(board["cells"]) == {"."}
        words = " ".join(words_in(frame))
        assert table.page.key not in words
        assert table.visitor.headers["cookie"].partition("=")[2] not in words

    play(act)


def test_a_salvo_whose_hits_are_only_counted_is_known_by_its_squares() -> None:
    async def act(table: Table) -> None:
        await table.visitor.enter()
        view = view_of("salvo", "ann", "bob")
        Feed(view).fired([Shot("ann", 1, 1), Shot("bob", 2, 1)])
        result = SalvoResolved(1, 1, "me", 2, 1, (), (), None, None)
        Feed(view).resolved(result)
        table.receive(Seen(Snapshot.of(view)), Notice("2 shots: 1 hit", "me", 1))
        async with table.visitor.tab() as picture:
            frame = await picture()
        assert frame["news"] == [["me: 2 shots: 1 hit", 1]]
        assert frame["volleys"] == {"1": {"number": 0, "hits": "1 of 2", "shots": [["ann", 0], ["bob", 1]]}}
        assert [board["fired"] for board in frame["boards"]] == [[], [0], [1]]

    play(act)


def test_only_a_game_that_is_over_is_replayed_and_only_to_its_person() -> None:
    policy = "default-src 'none'"
    page = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'

    async def act(table: Table) -> None:
        await table.visitor.enter()
        table.begin_turn("salvo")
        assert (await table.visitor.ask("GET", "/replay")).status == 404
        table.receive(GameOver(1, "ann", {"ann": 1, "me": 2}, page=lambda: page))
        answer = await table.visitor.ask("GET", "/replay")
        assert (answer.status, answer.body.decode()) == (200, page)
        assert answer.headers["content-security-policy"] == policy
        assert (await table.visitor.ask("GET", "/replay", cookie="")).code == "no_cookie"

    play(act)


def test_a_chat_line_and_a_taunt_go_out_and_hostile_text_stays_text() -> None:
    async def act(table: Table) -> None:
        table.desk.chat = True
        await table.visitor.enter()
        table.receive(
            PlaceFleet(BOOKS["salvo"], "me", 1, Random(1)), Notice("<img src=x onerror=alert(1)>\u202e", "ann")
        )
        async with table.visitor.tab() as picture:
            frame = await picture()
            # Which play.js makes the text of a node.
            assert frame["news"] == [["ann: <img src=x onerror=alert(1)>\u202e", 0]]
            await table.visitor.do(frame, write="@ann good luck")
            assert table.desk.answers() == [Line("good luck", "ann")]

    play(act)
