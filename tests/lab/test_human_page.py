"""A person's page without a browser: who gets in, what a click means, and what strangers try."""

from __future__ import annotations

import contextlib
import json
from random import Random

import pytest

from kit.own_page import HOST, PORT, Table, play, words_in
from salvo.rules import BOOKS
from salvo_lab.human.channel import FleetAsked, Line, Notice, Salvo
from salvo_lab.human.sitting_page import ALONE_SECONDS
from salvo_server.own_page import KEY_SECONDS, MAX_BODY, MAX_STREAMS, RATE


def test_the_key_lets_one_browser_in_once_and_its_cookie_has_the_port_in_its_name() -> None:
    async def act(table: Table) -> None:
        ask, key = table.visitor.ask, table.page.key.encode()
        assert (await ask("POST", "/enter", b"guessed")).code == "used_key"
        first = await ask("POST", "/enter", key)
        assert first.status == 200
        assert first.headers["set-cookie"].startswith(f"salvo-{PORT}=")
        for word in ("HttpOnly", "SameSite=strict", "Path=/"):
            assert word in first.headers["set-cookie"]
        second = await ask("POST", "/enter", key)
        assert second.code == "used_key"
        assert "start it again" in json.loads(second.body)["text"]
        assert (await ask("POST", "/enter", b"", cookie=first.cookie)).status == 200  # the same browser's next tab

    play(act)


def test_a_key_that_nobody_has_used_in_time_is_used_up() -> None:
    async def act(table: Table) -> None:
        table.clock.now += KEY_SECONDS + 1
        assert (await table.visitor.ask("POST", "/enter", table.page.key.encode())).code == "used_key"

    play(act)


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"origin": "http://evil.example"}, "other_site"),
        ({"origin": f"https://{HOST}"}, "other_site"),
        ({"origin": "null"}, "other_site"),
        ({"origin": ""}, "other_site"),
        ({"origin": f"http://127.0.0.1:{PORT + 1}"}, "other_site"),
        ({"sec_fetch_site": "cross-site"}, "other_site"),
        ({"sec_fetch_site": "same-site"}, "other_site"),
        ({"cookie": ""}, "no_cookie"),
        ({"cookie": f"salvo-{PORT}=guessed"}, "no_cookie"),
        ({"cookie": f"salvo-{PORT + 1}=of-another-game"}, "no_cookie"),
    ],
    ids=str,
)
def test_what_another_page_or_a_stranger_sends_changes_nothing(headers: dict[str, str], code: str) -> None:
    async def act(table: Table) -> None:
        await table.visitor.enter()
        table.ask_for_fleet()
        async with table.visitor.tab() as picture:
            frame = await picture()
            body = json.dumps({"tab": frame["tab"], "n": frame["n"], "act": "random"}).encode()
            assert (await table.visitor.ask("POST", "/do", body, **headers)).code == code
            assert table.page.number == frame["n"]
            assert (await table.visitor.ask("POST", "/do", body)).status == 200

    play(act)


@pytest.mark.parametrize("host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", f"127.0.0.1:{PORT + 1}", ""])
@pytest.mark.parametrize("path", ["/", "/events", "/static/play.js"])
def test_a_name_that_is_not_the_page_s_own_is_answered_with_nothing(host: str, path: str) -> None:
    """A page of another site lets its own name lead to 127.0.0.1: then its requests would be of the same origin."""

    async def act(table: Table) -> None:
        await table.visitor.enter()
        answer = await table.visitor.ask("GET", path, host=host, origin=f"http://{host}")
        assert answer.status == 421
        assert b"script" not in answer.body

    play(act)


def test_a_stream_is_for_the_browser_with_the_cookie_and_its_own_page_alone() -> None:
    async def act(table: Table) -> None:
        await table.visitor.enter()
        assert (await table.visitor.ask("GET", "/events", cookie="")).code == "no_cookie"
        assert (await table.visitor.ask("GET", "/events", sec_fetch_site="cross-site")).code == "other_site"

    play(act)


def test_every_answer_has_the_policy_that_allows_nothing_of_another_host() -> None:
    async def act(table: Table) -> None:
        for method, path in (("GET", "/"), ("GET", "/events"), ("POST", "/do"), ("GET", "/nothing")):
            headers = (await table.visitor.ask(method, path)).headers
            assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
            assert headers["referrer-policy"] == "no-referrer"
            assert "access-control-allow-origin" not in headers
        page = (await table.visitor.ask("GET", "/")).body.decode()
        assert table.page.key not in page
        assert "http" not in page

    play(act)


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"x" * (MAX_BODY + 1), 413, "too_large"),
        (b"{" * MAX_BODY, 400, "bad_command"),
        (b"\xff", 400, "bad_command"),
        (b"[]", 400, "bad_command"),
        (b'{"tab": 1, "n": 2}', 400, "bad_command"),
        (b'{"tab": 1, "n": 2, "act": "random", "write": "x"}', 400, "bad_command"),
        (b'{"tab": 1, "n": 2, "act": "random", "more": 1}', 400, "bad_command"),
        (b'{"tab": 1, "n": "2", "act": "random"}', 400, "bad_command"),
        (b'{"tab": 1, "n": 2, "click": ["me", 100]}', 400, "off_grid"),
        (b'{"tab": 1, "n": 2, "click": ["me", -1]}', 400, "off_grid"),
        (b'{"tab": 1, "n": 2, "put": ["cruiser", 1000000000000, true]}', 400, "off_grid"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_command_that_cannot_be_read_changes_nothing(body: bytes, status: int, code: str) -> None:
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
def test_a_word_that_means_nothing_now_places_nothing_and_fires_nothing(word: str) -> None:
    async def act(table: Table) -> None:
        await table.visitor.enter()
        table.ask_for_fleet()
        async with table.visitor.tab() as picture:
            assert (await table.visitor.do(await picture(), act=word)).status == 200
        assert table.desk.answers() == []
        assert table.page.sitting.mode == "Setup"
        assert table.page.sitting.setup is not None
        assert not table.page.sitting.setup.placed

    play(act)


def test_more_commands_than_a_person_gives_are_refused_until_a_second_has_passed() -> None:
    async def act(table: Table) -> None:
        await table.visitor.enter()
        table.ask_for_fleet()
        async with table.visitor.tab() as picture:
            frame = await picture()
            for _ in range(int(RATE.size)):
                assert (await table.visitor.do(frame, act="nothing")).status == 200
            assert (await table.visitor.do(frame, act="nothing")).code == "rate_limited"
            table.clock.now += 1
            assert (await table.visitor.do(frame, act="nothing")).status == 200

    play(act)


def test_a_click_on_a_picture_that_has_passed_does_nothing() -> None:
    """A double click, a replayed request, and a click that was on its way when the turn ended."""

    async def act(table: Table) -> None:
        await table.visitor.enter()
        table.ask_for_fleet()
        table.begin_turn("spaced")
        async with table.visitor.tab() as picture:
            frame = await picture()
            assert (await table.visitor.do(frame, click=["ann", 0])).status == 200
            assert [type(answer) for answer in table.desk.answers()] == [Salvo]
            assert (await table.visitor.do(frame, click=["ann", 0])).code == "late"
            assert (await table.visitor.do(frame | {"n": frame["n"] + 1000}, click=["ann", 0])).code == "late"
            assert table.desk.answers() == []

    play(act)


def test_what_others_write_meanwhile_does_not_make_a_click_late() -> None:
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


def test_the_tab_that_was_opened_last_plays_and_the_other_one_watches() -> None:
    async def act(table: Table) -> None:
        await table.visitor.enter()
        table.ask_for_fleet()
        async with table.visitor.tab() as first:
            mine = await first()
            async with table.visitor.tab() as second:
                assert (await second())["plays"]
                watching = await first()
                assert not watching["plays"]
                assert (await table.visitor.do(mine, act="random")).code == "other_tab"
            async with table.visitor.tab() as again:  # "Play here" opens the stream anew
                frame = await again()
                assert frame["plays"]
                assert (await table.visitor.do(frame, act="random")).status == 200

    play(act)


def test_so_many_tabs_are_open_at_once_and_no_more() -> None:
    async def act(table: Table) -> None:
        await table.visitor.enter()
        async with contextlib.AsyncExitStack() as tabs:
            for _ in range(MAX_STREAMS):
                await (await tabs.enter_async_context(table.visitor.tab()))()
            assert (await table.visitor.ask("GET", "/events")).code == "too_many_tabs"

    play(act)


def test_who_has_closed_all_tabs_is_gone_after_a_while_but_not_from_a_game() -> None:
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


def test_a_chat_line_and_a_taunt_go_out_and_hostile_text_stays_text() -> None:
    async def act(table: Table) -> None:
        table.desk.chat = True
        await table.visitor.enter()
        table.receive(
            FleetAsked(BOOKS["salvo"], "me", 1, Random(1)), Notice("<img src=x onerror=alert(1)>\u202e", "ann")
        )
        async with table.visitor.tab() as picture:
            frame = await picture()
            assert frame["news"] == [
                "ann: <img src=x onerror=alert(1)>\u202e"
            ]  # which play.js makes the text of a node
            await table.visitor.do(frame, write="@ann good luck")
            assert table.desk.answers() == [Line("good luck", "ann")]

    play(act)
