"""The page of a host: what it shows of real teams, and what its commands do."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from kit import moved_clock
from kit.browser import Browser, move_clock, text, until
from kit.own_page import Host, Visitor, run
from kit.page_of_a_command import faults, sitting
from kit.players import join
from kit.programs import needs
from kit.waiting import until as until_true
from salvo.bots.player import Answer, Bot
from salvo.net.mqtt import Connection
from salvo.view import Shot, View
from salvo.wire import topics
from salvo.wire.roles_and_rights import Role
from salvo_lab.bots.random_bot import RandomBot
from salvo_server.contest import Contest
from salvo_server.settings import ServerSettings
from salvo_server.storage.roster import Roster

TEAMS = ("ann", "bob", "cy")


class Patient(RandomBot):
    """Fires when it may."""

    def __init__(self) -> None:
        super().__init__()
        self.may_fire = threading.Event()

    def choose_salvo(self, view: View) -> Sequence[Shot]:
        self.may_fire.wait(240)
        return super().choose_salvo(view)


class Broken(Bot):
    """Fails in every turn."""

    def choose_salvo(self, view: View) -> Answer:
        raise RuntimeError("no shot today")


class Evening:
    """A contest with a host and three teams."""

    def __init__(self, folder: Path) -> None:
        roster = Roster(folder / "roster.json")
        self.secrets = {name: roster.add(name) for name in TEAMS} | {"desk": roster.add("desk", Role.HOST)}
        self.contest = Contest(
            ServerSettings(
                listen="127.0.0.1:0",
                profile="contest",
                roster=roster.path,
                journal="none",
                tables=("t1",),
                seed="7",
                placement_seconds=600,
                turn_seconds=600,
                over_seconds=600,
            )
        )
        self.host = Host(self.contest.url, "desk", self.secrets["desk"])

    def come(self, name: str, bot: Bot) -> None:
        join(self.contest.url, name, bot, self.secrets[name], pin=False, strict=False)

    def ask(self, name: str) -> None:
        """Ask to take part, and place nothing."""
        asking = Connection(self.contest.url, name, username=name, password=self.secrets[name], clean_session=True)
        with contextlib.closing(asking):
            asking.connect(60)
            request = json.dumps({"name": name, "secret": self.secrets[name]}).encode()
            asking.publish(topics.REQUEST_PARTICIPATION.of(), request)
            assert asking.flush(60)


@pytest.fixture
def evening(tmp_path: Path) -> Iterator[Evening]:
    evening = Evening(tmp_path)
    with evening.contest.in_background():
        yield evening


@pytest.mark.long
def test_a_host_reads_who_is_late_thinks_and_fails_and_what_each_command_would_do_now(evening: Evening) -> None:
    ann = Patient()
    with evening.host.page() as (page, _):

        def shown(*states: str) -> dict[str, Any]:
            page.look()
            table = page.picture()["tables"][0]
            teams = {team["name"]: f"{team['what']}: {team['text']}" for team in table["teams"]}
            return dict(table) if set(states) <= {f"{name} {state}" for name, state in teams.items()} else {}

        def means(table: dict[str, Any], do: str) -> str:
            return next(str(offer["means"]) for offer in table["commands"] if offer["do"] == do)

        def ready(table: dict[str, Any]) -> set[str]:
            return {offer["do"] for offer in table["commands"] if offer["ready"]}

        evening.come("ann", ann)
        until_true(lambda: shown("ann here: all ships placed"))
        evening.ask("cy")
        table = until_true(lambda: shown("ann here: all ships placed", "cy late: 0 of 5 ships placed"))
        assert ready(table) == {"pause", "extend", "remove", "announce", "next", "set", "annul"}
        evening.come("bob", Broken())
        table = until_true(lambda: shown("bob here: all ships placed", "cy late: 0 of 5 ships placed"))
        assert means(table, "start") == "Begin game 1 at once with ann and bob. cy would leave the list."
        assert means(table, "next") == "Clear this lobby with ann, cy and bob, and open the lobby of game 2."

        async def start() -> None:
            visitor = Visitor(page)
            await visitor.enter()
            async with visitor.tab() as picture:
                assert (await visitor.do(await picture(), do="start", means=means(table, "start"))).status == 200

        run(start())
        failing = (
            "bob failing: 1 turn in a row without a shot, given up at once: its program has failed; 3 are a defeat"
        )
        table = until_true(lambda: shown("ann thinking: turn 2", failing))
        assert {"skip", "abort", "remove", "pause"} <= ready(table)
        assert "start" not in ready(table)
        assert means(table, "skip") == "End the turn that is on, as if its time had run out."
        assert means(table, "abort").startswith("End game 1 without a winner.")
        assert [need["text"] for need in page.picture()["needs"]] == [failing.replace(" failing", "", 1)]
        assert page.picture()["trouble"] == ""
        ann.may_fire.set()
        until_true(lambda: shown("bob out: is out, after turns without a shot"))


@needs("chromium")
@pytest.mark.long
def test_a_host_pauses_a_game_by_clicking_after_reading_what_it_does(
    evening: Evening, shared: Browser, tmp_path: Path
) -> None:
    for name in ("ann", "bob"):
        evening.come(name, Patient())
    account = {"SALVO_TEAM": "desk", "SALVO_SECRET": evening.secrets["desk"]}
    with sitting(shared, tmp_path, "control", evening.contest.url, title="Host", **account) as process:
        until(shared, "document.querySelectorAll('.what.here').length === 2")
        assert faults(shared) == []
        shared.click("#tables [data-word=start]")
        assert "Begin game 1 at once with" in text(shared, "#means")
        shared.click("#order .main")
        until(shared, "document.querySelector('.what.thinking')")
        until(shared, "/^[0-9]+ s left for this turn$/.test(document.querySelector('#tables .turn').innerText)")
        shared.click("#tables [data-word=pause]")
        assert "Stop the clock of game 1." in text(shared, "#means")
        assert faults(shared) == []
        shared.click("#order .main")
        until(shared, "document.querySelector('#lines').innerText.includes('host desk pauses the table')")
        until(shared, "document.querySelector('#tables [data-word=pause]').getAttribute('aria-disabled') === 'true'")
        assert "paused by the host" in text(shared, "#tables .line")
        until(shared, "document.querySelector('#needs').innerText.includes('Main table: is paused')")
        shared.click("#everywhere [data-word=pause]")
        assert text(shared, "#means").startswith("Pause all: Begin a break: all clocks stop.")
        shared.click("#order .main")
        until(shared, "document.querySelector('#phase').innerText.startsWith('break')")
        assert shared.run("return document.querySelector('#needs').hidden")
        shared.resize(390, 844)
        shared.click("#everywhere [data-word=remove]")
        until(shared, "document.querySelector('#order-box').getBoundingClientRect().bottom <= innerHeight")
        assert text(shared, "#means").startswith("Take a team out: Take ann out of its game.")
        assert shared.complaints() == []
        process.terminate()
        assert process.wait(60) != 0


@needs("chromium")
@pytest.mark.long
def test_a_turn_s_time_goes_on_at_a_host_who_sets_the_clock(evening: Evening, shared: Browser, tmp_path: Path) -> None:
    for name in ("ann", "bob"):
        evening.come(name, Patient())
    clock, left = tmp_path / "clock", "document.querySelector('#tables .turn').innerText"
    moved_clock.move(clock)
    own = {"SALVO_TEAM": "desk", "SALVO_SECRET": evening.secrets["desk"], moved_clock.VARIABLE: str(clock)}
    with sitting(shared, tmp_path, "control", evening.contest.url, title="Host", **own):
        until(shared, "document.querySelectorAll('.what.here').length === 2")
        shared.click("#tables [data-word=start]")
        shared.click("#order .main")
        for hours in (0, -1, 2):
            moved_clock.move(clock, wall=3600.0 * hours)
            move_clock(shared, wall_ms=3_600_000 * hours)
            until(shared, f"window.former !== {left} && / s left for this turn$/.test(window.former = {left})")
            until(shared, f"window.former !== {left}")
            assert 0 < int(text(shared, "#tables .turn").split()[0]) < 600, f"{hours} hours forth"
