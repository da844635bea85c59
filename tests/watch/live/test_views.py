"""The three views over real brokers: each onlooker gets his, and nobody gets another's (SALVO-VIEW)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from kit.guarded import guarded, play, wait_for_users
from kit.processes import started, without_settings
from kit.programs import BROKERS
from salvo import messages as m
from salvo import topics
from salvo.codec.announcement_reader import read_announcement
from salvo.messages import State
from salvo.permissions import Role
from salvo.rules import SALVO, Fleet
from salvo_server.core.match import Player
from salvo_watch import live_views
from salvo_watch.live_views import RefereeWatcher, TeamWatcher
from watch.onlookers import onlooker, until

KINDS = BROKERS


@pytest.mark.parametrize("kind", KINDS)
def test_each_onlooker_of_a_real_game_sees_his_own_view(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_views, "PATIENCE_SECONDS", 0.5)
    with guarded(kind, tmp_path, referee_delay_ms=0) as contest:
        secrets = {name: contest.roster.add(name) for name in ("red", "blue")}
        judge = onlooker(contest, "judge.1", contest.roster.add("judge", Role.REFEREE), RefereeWatcher)
        hall = onlooker(contest, "hall.1", contest.roster.add("hall", Role.WATCHER), RefereeWatcher)
        red = onlooker(contest, "red.1", secrets["red"], TeamWatcher, "red", secrets["red"])
        spy = onlooker(contest, "blue.1", secrets["blue"], TeamWatcher, "red", secrets["blue"])
        play(contest, ["red", "blue"])
        assert isinstance(judge, RefereeWatcher)

        def over() -> bool:
            winner = judge.view is not None and judge.view.winner
            return bool(winner) and all(watcher.seen.state is State.OVER for watcher in (judge, hall, red, spy))

        heard = until(over, judge, hall, red, spy)
        until(lambda: any("role referee" in notice for notice in hall.noticed), hall)

        referee = contest.service.tables[""].referee
        assert referee.game is not None
        _equals_the_game(judge, referee.game.fleets, referee.match.players)
        turns = [news.record["turn"] for news in heard[judge] if news.record["event"] == "boards"]
        assert turns == sorted(set(turns))
        assert turns[-1] == len(referee.results)
        assert isinstance(hall, RefereeWatcher)
        assert hall.view is None
        hits = [(news.record["x"], news.record["y"]) for news in heard[red] if news.record["event"] == "hit"]
        assert hits == referee.match.players["red"].landed
        assert not any(news.record["event"] in ("hit", "error", "recap") for news in heard[spy])
        for watcher in (judge, hall, red, spy):
            watcher.close()


def _equals_the_game(judge: RefereeWatcher, fleets: Sequence[Fleet], players: Mapping[str, Player]) -> None:
    view = judge.view
    assert view is not None
    for seen, fleet in zip(view.boards, fleets, strict=True):
        letters = "".join(seen.rows)
        struck = {SALVO.grid.cell(x, y) for x, y in players[seen.player].landed}
        for cell, ship in enumerate(fleet.board):
            assert letters[cell] == (_letter(ship, cell in struck)), (seen.player, cell)


def _letter(ship: int, struck: bool) -> str:
    if not ship:
        return "*" if struck else "."
    letter = "abcde"[ship - 1]
    return letter.upper() if struck else letter


def _watch(*arguments: str, **environment: str) -> AbstractContextManager[subprocess.Popen[str]]:
    clean = without_settings()
    command = [sys.executable, "-m", "salvo", "watch", *arguments]
    return started(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean | environment)


def test_the_command_shows_a_referee_the_boards(tmp_path: Path) -> None:
    with guarded("embedded", tmp_path, referee_delay_ms=0) as contest:
        for name in ("red", "blue"):
            contest.roster.add(name)
        judge, secret = "judge", contest.roster.add("judge", Role.REFEREE)
        wait_for_users(contest.url, "judge.1", secret)
        words = (contest.url, "--view", "referee", "--json", "--games", "1")
        with _watch(*words, SALVO_TEAM=judge, SALVO_SECRET=secret) as running:
            assert running.stdout is not None
            first = json.loads(running.stdout.readline())
            play(contest, ["red", "blue"])
            out, err = running.communicate(timeout=60)
        records = [first, *map(json.loads, out.splitlines())]
        assert (running.returncode, err) == (0, "")
        boards = [record for record in records if record["event"] == "boards"]
        assert [each["turn"] for each in boards] == list(range(len(boards)))
        read = read_announcement(topics.parse("/game/referee"), json.dumps(_body(boards[-1])).encode())
        assert isinstance(read, m.RefereeView)
        assert read.winner


def _body(record: dict[str, object]) -> dict[str, object]:
    return {key: value for key, value in record.items() if key != "event"}
