"""A host at the server's terminal, and one at another machine, in real processes."""

from __future__ import annotations

import json
import os
import signal
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.command_line import run
from kit.guarded import guarded, wait_for_users
from kit.players import join, send_all_home
from kit.processes import started
from kit.secured import Client
from kit.terminal import Terminal
from kit.waiting import until
from salvo.net.mqtt import BrokerUrl
from salvo.wire import topics
from salvo.wire.roles_and_rights import Role
from salvo_lab.bots.hunter import Hunter
from salvo_lab.bots.random_bot import RandomBot
from salvo_server.storage.register import Account

SALVO = str(Path(sysconfig.get_path("scripts")) / "salvo")
SERVE = ["serve", "--listen", "127.0.0.1:0", "--over-seconds", "600", "--placement-seconds", "600"]


@pytest.fixture(autouse=True)
def _no_team_stays() -> Iterator[None]:
    yield
    send_all_home()


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    clean = {key: value for key, value in os.environ.items() if not key.startswith("SALVO_")}
    return clean | {"XDG_STATE_HOME": str(tmp_path / "state"), "XDG_CONFIG_HOME": str(tmp_path / "config")}


def test_a_server_ends_in_order_when_its_terminal_is_closed(environment: dict[str, str]) -> None:
    """It ended with exit code 1 before it had published that it is offline."""
    words = [SALVO, *SERVE, "--profile", "open", "--journal", "none"]
    with Terminal(words, environment, hangs_up=True) as terminal:
        terminal.until_seen("p pause or resume")
        assert terminal.close() == 0


def test_single_keys_at_the_servers_terminal_act_as_the_host(environment: dict[str, str]) -> None:
    words = [SALVO, *SERVE, "--profile", "open", "--pace", "30", "--table", "two", "--journal", "none"]
    with Terminal(words, environment, lines=2000, columns=200) as terminal:
        url = next(
            line.split()[-1] for line in terminal.until_seen("lobby is open").splitlines() if "listening" in line
        )
        terminal.until_seen("p pause or resume")
        terminal.press("s")
        terminal.until_seen("the host cannot start: 0 fleets are complete")
        join(url, "ann", Hunter(), pin=False)
        join(url, "bob", RandomBot(), pin=False)
        join(url, "cyd", RandomBot(), pin=False)
        terminal.until(lambda text: all(name in text for name in ("ann", "bob", "cyd")))
        terminal.press("r", "cyd", "enter")
        terminal.until_seen("the host removes cyd from this game")
        for tried in range(2, 2000):
            terminal.press("s")  # until both fleets are there
            text = terminal.until(lambda text: text.count("cannot start") + text.count("starts the game") == tried)  # noqa: B023
            if "starts the game" in text:
                break
        terminal.press("p")
        terminal.until_seen("the host pauses the table")
        terminal.press("p")
        terminal.until_seen("the host resumes the table")
        terminal.press("t", "Lumch", "\x7f", "\x7f", "\x7f", "nch", "enter")
        terminal.until_seen("the host announces: Lunch")
        terminal.press("tab")
        terminal.until_seen("the keys act at table two")
        terminal.press("a", "a")
        terminal.until_seen("table two: game 1: the host cannot abort")
        terminal.press("tab", "a")
        terminal.until_seen("a again to abort the game at the default table")
        terminal.press("a")
        terminal.until_seen("no winner: the host has aborted it")
        terminal.press("n", "n")
        terminal.until_seen("game 2: lobby is open")
        terminal.signal(signal.SIGINT)
        assert terminal.end() == 0
        assert terminal.is_restored


def test_a_host_of_the_roster_acts_from_another_machine_and_a_team_cannot(environment: dict[str, str]) -> None:
    def printed(*words: str, code: int = 0, account: dict[str, str] | None = None) -> str:
        done = run(*words, environment=environment | (account or {}))
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + (done.stderr if code else "")  # beside which teams of this process log

    def added_account(name: str, role: str) -> dict[str, str]:
        added = json.loads(printed("teams", "add", name, "--role", role, "--json"))
        assert added["role"] == role
        return {"SALVO_TEAM": name, "SALVO_SECRET": added["secret"]}

    desk, red, blue = added_account("desk", "host"), added_account("red", "team"), added_account("blue", "team")
    serve = [SALVO, *SERVE, "--pace", "30", "--json", "--table", "two"]
    with started(serve, env=environment, stdout=-1) as server:
        assert server.stdout is not None
        url = json.loads(server.stdout.readline())["url"]
        assert (
            printed("control", "announce", url, "Lunch", "is", "ready", account=desk)
            == "host desk announces: Lunch is ready\n"
        )
        paused = printed("control", "pause", url, "--table", "two", account=desk)
        assert paused == "table two: host desk pauses the table\n"
        assert printed("control", "pause", url, "--table", "two", code=1, account=desk) == (
            "error: clock_stopped: the table is paused already\n"
        )
        assert "too_few_fleets" in printed("control", "start", url, code=1, account=desk)
        assert "seconds" in printed("control", "extend", url, "4000", code=1, account=desk)
        assert "not_in_roster" in printed("control", "set", url, "teams=red,green", code=1, account=desk)
        settings = printed("control", "set", url, "teams=red,blue", "turn_seconds=7", account=desk)
        assert settings == "host desk changes the settings of the next game\n"
        assert printed("control", "next", url, account=desk) == "host desk opens the next lobby\n"
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("salvo_server.commands.control._ANSWER_SECONDS", 3.0)
            assert "no answer" in printed("control", "pause", url, code=1, account=red)
        assert "not_authorised" in printed("control", "pause", url, code=1, account=desk | {"SALVO_SECRET": "another"})
        for wrong in (("extend", url), ("pause", url, "5"), ("set", url, "seed=1"), ("annul", url, "-3")):
            printed("control", *wrong, code=2, account=desk)
        assert printed("control", "pause", url, "--all", account=desk) == "host desk pauses everything\n"
        assert "everything is paused already" in printed("control", "pause", url, "--all", code=1, account=desk)
        assert printed("control", "resume", url, "--all", account=desk) == "host desk resumes everything\n"
        assert "skip is for one table" in printed("control", "skip", url, "--all", code=2, account=desk)
        unused = printed("control", "finish", url, "--table", "two", code=2, account=desk)
        assert "unused_option: --table does nothing with finish" in unused
        for team in (red, blue):
            join(url, team["SALVO_TEAM"], RandomBot(), team["SALVO_SECRET"], table="two", pin=False)
        started_at_two = ("control", "start", url, "--table", "two")
        until(lambda: run(*started_at_two, environment=environment | desk).returncode == 0)
        extended = printed("control", "extend", url, "60", "--table", "two", account=desk)
        assert extended == "table two: host desk gives 60 s more\n"
        refused = printed("control", "extend", url, "60", code=2, account=desk)
        assert "nobody plays at the default table, but there is 1 game at two" in refused
        assert f"salvo control extend {url} 60 --all\n" in refused
        assert f"salvo control extend {url} 60 --table two\n" in refused
        assert printed("control", "announce", url, "Lunch", account=desk) == "host desk announces: Lunch\n"
        assert (
            printed("control", "finish", url, account=desk)
            == "host desk ends the league or the evening after the games that are on\n"
        )
        server.terminate()
        lines = [json.loads(line) for line in server.stdout]
    done = [line["do"] for line in lines if line["event"] == "host"]
    assert done[:5] == ["announce"] * 3 + ["pause", "set"]  # to everybody, at each table
    assert [line["code"] for line in lines if line["event"] == "host_refused"][:2] == [
        "clock_stopped",
        "too_few_fleets",
    ]


def test_a_host_receives_why_its_report_of_a_league_is_refused(tmp_path: Path) -> None:
    with guarded("embedded", tmp_path) as contest:
        secret = contest.roster.add("desk", Role.HOST)
        desk = Account("desk", "desk", Role.HOST, secret)
        wait_for_users(contest.url, desk.user, secret)
        with Client(BrokerUrl.parse(contest.url).port, desk) as host:
            host.subscribe(["/players/desk/error"])
            host.publish([topics.LEAGUE_REPORT.of()], " " * 12_000)
            host.wait_for("/players/desk/error", "too_large: 12000 bytes; at most 11264 are read")
