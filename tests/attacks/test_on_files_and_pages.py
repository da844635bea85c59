"""Attacks by files, texts and pages of other sites: each achieves nothing, and succeeds without its defence.

How many connections an address holds at the web front is in ``watch/live/test_web_limits.py``, what strangers forge on
real brokers in ``server/live/test_forgeries.py``. A file of wrong lines is in ``game/test_log_verification.py``, a
journal that is gone in ``server/test_journal.py``.
"""

from __future__ import annotations

import json
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from kit import own_page
from kit.patches import Patch, without
from kit.raw import upgrade_request
from salvo import errors
from salvo.codec.published import read_published
from salvo.errors import SalvoError
from salvo.wire import topics
from salvo_display.web_server.own_page import OwnPage
from salvo_server.brokers.embedded import EmbeddedBroker, broker
from salvo_server.contest import check_start
from salvo_server.settings import ServerSettings
from salvo_server.storage.roster import Roster

HOSTILE = "\033]0;owned\007\033[2J\u202e"


def _control_the_terminal() -> bool:
    """A bot raises an error whose text begins a title, clears the screen, and turns lines around."""
    return not str(SalvoError("bot_raised", HOSTILE)).isprintable()


def _control_a_clients_terminal() -> bool:
    """A server calls the winner so, which teams, bots and watchers print."""
    won = read_published(topics.WINNER.of(), HOSTILE.encode())
    listed = read_published(topics.LIST.of(), json.dumps([HOSTILE]).encode())
    return won is not None or listed is not None


def _have_a_roster_trusted_that_others_can_write() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        roster = Roster(Path(folder) / "roster.json")
        roster.add("red")
        roster.path.chmod(0o666)
        try:
            check_start(ServerSettings(listen="127.0.0.1:0", roster=roster.path, journal="none"))
        except SalvoError as error:
            return error.code != "file_rights"
        return True


def _reach_a_broker_through_a_visitors_browser() -> bool:
    """A page of another site opens a WebSocket to the broker on the visitor's own machine."""
    with EmbeddedBroker(websocket="127.0.0.1:0") as running:
        assert running.websocket_url is not None
        port = int(running.websocket_url.rpartition(":")[2].partition("/")[0])
        with socket.create_connection(("127.0.0.1", port), 60) as page:
            page.sendall(upgrade_request(b"Origin: https://evil.example"))
            return page.recv(100).startswith(b"HTTP/1.1 101")


_print_whatever_comes = without(errors, "printable", lambda text, *given, **named: text)
_read_whatever_is_published = without("salvo.codec.announcement_reader.check_shown", lambda *given, **named: None)
_check_no_rights = without("salvo_server.contest.check_rights", lambda settings: None)
_admit_every_page = without(broker, "is_of_another_site", lambda *given: False)


def _click_in_a_persons_game_from_another_page() -> bool:
    """The visitor's browser sends the cookie along, as one without SameSite does, and names no Sec-Fetch-Site."""
    statuses: list[int] = []

    async def act(table: own_page.Table) -> None:
        await table.visitor.enter()
        table.begin_turn()
        async with table.visitor.tab() as picture:
            body = json.dumps({"tab": 1, "n": (await picture())["n"], "click": ["ann", 0]}).encode()
            answer = await table.visitor.ask("POST", "/do", body, origin="http://evil.example", sec_fetch_site="")
            statuses.append(answer.status)

    own_page.play(act)
    return statuses == [200]


def _read_a_persons_game_under_another_name() -> bool:
    """A page of another site lets its own name lead to this machine, and so is of the same origin."""
    statuses: list[int] = []

    async def act(table: own_page.Table) -> None:
        rebound = {"host": "evil.example", "origin": "http://evil.example"}
        statuses.append((await table.visitor.ask("POST", "/enter", table.page.key.encode(), **rebound)).status)

    own_page.play(act)
    return statuses == [200]


_take_clicks_from_every_page = without(OwnPage, "_check_origin", lambda *given: None)
_serve_a_persons_page_under_every_name = without(
    "salvo_display.web_server.own_page.Guarded", lambda app, knows, refusal: app
)


class Attack(NamedTuple):
    """Something a stranger may try; ``act`` returns whether it got what it wanted."""

    name: str
    act: Callable[[], bool]
    remove: Callable[[Patch], None]


ATTACKS = [
    Attack("a text that controls the terminal", _control_the_terminal, _print_whatever_comes),
    Attack("a server's text that controls the terminal", _control_a_clients_terminal, _read_whatever_is_published),
    Attack("a roster of everybody's", _have_a_roster_trusted_that_others_can_write, _check_no_rights),
    Attack("a page of another site", _reach_a_broker_through_a_visitors_browser, _admit_every_page),
    Attack("a click from another page", _click_in_a_persons_game_from_another_page, _take_clicks_from_every_page),
    Attack(
        "a page under another name", _read_a_persons_game_under_another_name, _serve_a_persons_page_under_every_name
    ),
]
each_attack = pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)


@each_attack
def test_an_attack_achieves_nothing(attack: Attack) -> None:
    assert not attack.act()


@each_attack
def test_an_attack_succeeds_without_its_defence(attack: Attack, monkeypatch: Patch) -> None:
    attack.remove(monkeypatch)
    assert attack.act()
