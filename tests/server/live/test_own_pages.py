"""Pages for one person, that of a player and that of a host: who gets in, and what strangers try."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest

from kit.own_page import HOST, PORT, Host, Opened, play_on_a_sitting
from salvo.wire.roles_and_rights import Role
from salvo_display.web_server.own_page import KEY_SECONDS, MAX_BODY, MAX_STREAMS, RATE
from salvo_server.contest import Contest
from salvo_server.settings import ServerSettings
from salvo_server.storage.roster import Roster

Play = Callable[[Callable[[Opened], Coroutine[Any, Any, None]]], None]


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    roster = Roster(tmp_path_factory.mktemp("contest") / "roster.json")
    secret = roster.add("desk", Role.HOST)
    contest = Contest(ServerSettings(listen="127.0.0.1:0", profile="contest", roster=roster.path, journal="none"))
    with contest.in_background():
        yield Host(contest.url, "desk", secret)


@pytest.fixture(params=["sitting", "console"])
def play(request: pytest.FixtureRequest) -> Play:
    return play_on_a_sitting if request.param == "sitting" else request.getfixturevalue("host").play


def test_the_key_lets_one_browser_in_once_and_its_cookie_has_the_port_in_its_name(play: Play) -> None:
    async def act(opened: Opened) -> None:
        ask, key = opened.visitor.ask, opened.page.key.encode()
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


def test_an_unused_entry_key_expires(play: Play) -> None:
    async def act(opened: Opened) -> None:
        opened.clock.now += KEY_SECONDS + 1
        assert (await opened.visitor.ask("POST", "/enter", opened.page.key.encode())).code == "used_key"

    play(act)


#: What another page of the browser, another program of the machine, or another user of it sends.
STRANGERS = [
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
]


def test_a_request_of_another_page_or_a_stranger_is_refused(play: Play) -> None:
    async def act(opened: Opened) -> None:
        await opened.visitor.enter()
        async with opened.visitor.tab() as picture:
            frame = await picture()
            body = json.dumps({"tab": frame["tab"], "n": frame["n"], **opened.command}).encode()
            for headers, code in STRANGERS:
                assert (await opened.visitor.ask("POST", "/do", body, **headers)).code == code, headers
            assert opened.page.number == frame["n"]
            assert (await opened.visitor.ask("POST", "/do", body)).status == 200

    play(act)


@pytest.mark.parametrize(
    "host_name", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", f"127.0.0.1:{PORT + 1}", ""]
)
def test_a_request_under_another_host_name_is_refused_by_an_own_page(play: Play, host_name: str) -> None:
    """A page of another site lets its own name lead to 127.0.0.1: then its requests would be of the same origin."""

    async def act(opened: Opened) -> None:
        await opened.visitor.enter()
        for path in ("/", "/events", "/static/own.js"):
            answer = await opened.visitor.ask("GET", path, host=host_name, origin=f"http://{host_name}")
            assert answer.status == 421
            assert b"script" not in answer.body

    play(act)


def test_a_stream_is_for_the_browser_with_the_cookie_and_its_own_page_alone(play: Play) -> None:
    async def act(opened: Opened) -> None:
        await opened.visitor.enter()
        assert (await opened.visitor.ask("GET", "/events", cookie="")).code == "no_cookie"
        assert (await opened.visitor.ask("GET", "/events", sec_fetch_site="cross-site")).code == "other_site"

    play(act)


def test_every_answer_has_the_policy_that_allows_nothing_of_another_host(play: Play) -> None:
    async def act(opened: Opened) -> None:
        for method, path in (("GET", "/"), ("GET", "/events"), ("POST", "/do"), ("GET", "/nothing")):
            headers = (await opened.visitor.ask(method, path)).headers
            assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
            assert headers["referrer-policy"] == "no-referrer"
            assert "access-control-allow-origin" not in headers
        page = (await opened.visitor.ask("GET", "/")).body.decode()
        assert opened.page.key not in page
        assert "http" not in page

    play(act)


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"x" * (MAX_BODY + 1), 413, "too_large"),
        (b"{" * MAX_BODY, 400, "bad_command"),
        (b"\xff", 400, "bad_command"),
        (b"[]", 400, "bad_command"),
        (b'{"tab": 1, "n": 1}', 400, "bad_command"),
        (b'{"tab": 1, "n": 1, "more": 1}', 400, "bad_command"),
        (b'{"tab": 1, "n": "1", "act": "random"}', 400, "bad_command"),
        (b'{"tab": 1, "n": "1", "do": "next"}', 400, "bad_command"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_command_that_cannot_be_read_changes_nothing(play: Play, body: bytes, status: int, code: str) -> None:
    async def act(opened: Opened) -> None:
        await opened.visitor.enter()
        async with opened.visitor.tab() as picture:
            frame = await picture()
            answer = await opened.visitor.ask("POST", "/do", body)
            assert (answer.status, answer.code) == (status, code)
            assert opened.page.number == frame["n"]

    play(act)


def test_more_commands_than_a_person_gives_are_refused_until_a_second_has_passed(play: Play) -> None:
    async def act(opened: Opened) -> None:
        await opened.visitor.enter()
        for _ in range(int(RATE.size)):
            assert (await opened.visitor.ask("POST", "/do", b"[]")).code == "bad_command"
        assert (await opened.visitor.ask("POST", "/do", b"[]")).code == "rate_limited"
        opened.clock.now += 1
        assert (await opened.visitor.ask("POST", "/do", b"[]")).code == "bad_command"

    play(act)


def test_the_tab_that_was_opened_last_acts_and_the_other_one_watches(play: Play) -> None:
    async def act(opened: Opened) -> None:
        await opened.visitor.enter()
        async with opened.visitor.tab() as first:
            mine = await first()
            async with opened.visitor.tab() as second:
                assert (await second())["plays"]
                watching = await first()
                assert not watching["plays"]
                assert (await opened.visitor.do(mine, **opened.command)).code == "other_tab"
            async with opened.visitor.tab() as again:  # its button reopens the stream
                frame = await again()
                assert frame["plays"]
                assert (await opened.visitor.do(frame, **opened.command)).status == 200

    play(act)


def test_so_many_tabs_are_open_at_once_and_no_more(play: Play) -> None:
    async def act(opened: Opened) -> None:
        await opened.visitor.enter()
        async with contextlib.AsyncExitStack() as tabs:
            for _ in range(MAX_STREAMS):
                await (await tabs.enter_async_context(opened.visitor.tab()))()
            assert (await opened.visitor.ask("GET", "/events")).code == "too_many_tabs"

    play(act)


# --- what a host sends ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        ({"do": "annex"}, "bad_command"),
        ({"table": "nowhere"}, "bad_command"),
        ({"means": "Everybody wins."}, "late"),
        ({"do": "start", "means": "Begin game 1 at once with nobody."}, "not_now"),
        ({"do": "extend", "argument": "soon", "means": "Give the lobby that many seconds more."}, "bad_command"),
        ({"do": "extend", "argument": "9" * 19, "means": "Give the lobby that many seconds more."}, "bad_command"),
        ({"argument": "\u202e"}, "bad_command"),
    ],
    ids=str,
)
def test_an_outdated_or_senseless_host_command_is_not_sent(host: Host, sent: dict[str, str], code: str) -> None:
    async def act(opened: Opened) -> None:
        await opened.visitor.enter()
        async with opened.visitor.tab() as picture:
            assert (await opened.visitor.do(await picture(), **opened.command | sent)).code == code

    host.play(act)
