"""Why a player is out, or has not fired, is said alike wherever a game is shown, and in the third person."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from kit.proofs import SMALL, Played
from salvo import messages as m
from salvo.messages import Fate
from salvo_display import replay_text
from salvo_display.replay import REFEREE, Replay
from salvo_display.web_page import html_page
from salvo_game.table_step import Step
from salvo_server.commands.serve_report import ServeReport
from salvo_watch.live_views import Watcher
from salvo_watch.web.tables import ShownTable
from watch.receiving import tell
from watch.watchers import connected, lines

Do = m.HostAction


def current(played: Played) -> str:
    assert played.table.referee.current is not None
    return played.table.referee.current.name


def run_out(played: Played) -> None:
    played.do(m.TimePassed(), played.table.referee.deadline())


def host(played: Played, do: m.HostAction, team: str = "") -> None:
    played.do(m.HostCommand("desk", do, team=team))


def removed_in_its_turn(played: Played) -> str:
    team = current(played)
    host(played, Do.REMOVE, team)
    return team


def removed_in_anothers_turn(played: Played) -> str:
    team = next(name for name in played.names if name != current(played))
    host(played, Do.REMOVE, team)
    for x in range(1, len(SMALL.fleet) + 1):
        played.shot(team, x, 3)
    return team


def silent(played: Played) -> str:
    team = current(played)
    while team in played.table.referee.players and not any(
        team in result.defeated for result in played.table.referee.results
    ):
        run_out(played)
    return team


def shown_in_the_terminal_of_the_server(played: Played, capsys: pytest.CaptureFixture[str]) -> Iterable[str]:
    report = ServeReport(False, None)
    for step in played.steps:
        report("", step.at, step.command, step.announcements)
    return [line for line in capsys.readouterr().out.splitlines() if " is out" in line or "defeated" in line]


def shown_by_watch(played: Played, capsys: pytest.CaptureFixture[str]) -> Iterable[str]:
    held, watcher = connected(Watcher, "")
    for publication in publications(played.steps):
        held.deliver(*publication)
    return [line for line in lines(watcher) if " is out" in line or "defeated" in line]


def shown_by_a_replay(played: Played, capsys: pytest.CaptureFixture[str]) -> Iterable[str]:
    replay = Replay("game", played.header, played.steps)
    for frame in replay.frames(REFEREE):
        if frame.result is not None and frame.result.defeated:
            yield ", ".join(replay_text.news(frame))
    assert "the host has removed you" not in html_page(replay)


def shown_by_the_hall(played: Played, capsys: pytest.CaptureFixture[str]) -> Iterable[str]:
    return [f"{item['player']} is out: {item['fate']}" for item in hall(played)["feed"] if item["kind"] == "defeated"]


def publications(steps: Iterable[Step]) -> list[tuple[str, bytes]]:
    return [(topic, payload) for step in steps for topic, payload, _ in step.publications]


def hall(played: Played) -> dict[str, Any]:
    table = ShownTable("")
    begun = played.steps[0].at
    for step in played.steps:
        now = (step.at - begun) / 1000
        for topic, payload, _ in step.publications:
            tell(table, topic, payload, retained=False, now=now)
    return json.loads(json.dumps(table.picture(0.0)))  # type: ignore[no-any-return]


SHOWN = {
    shown_in_the_terminal_of_the_server: {Fate.SILENT: "after turns without a shot", Fate.REMOVED: "by the host"},
    shown_by_watch: {Fate.SILENT: "after turns without a shot", Fate.REMOVED: "by the host"},
    shown_by_a_replay: {Fate.SILENT: "after turns without a shot", Fate.REMOVED: "by the host"},
    shown_by_the_hall: {Fate.SILENT: "silent", Fate.REMOVED: "removed"},
}


@pytest.mark.parametrize("shown", SHOWN)
@pytest.mark.parametrize(
    ("leave", "fate"),
    [(removed_in_its_turn, Fate.REMOVED), (removed_in_anothers_turn, Fate.REMOVED), (silent, Fate.SILENT)],
)
def test_a_team_that_leaves_or_is_removed_is_not_shown_as_defeated_by_another(
    shown: Callable[..., Iterable[str]],
    leave: Callable[[Played], str],
    fate: Fate,
    capsys: pytest.CaptureFixture[str],
) -> None:
    played = Played("out", SMALL, players=3).lobby()
    team = leave(played)
    [line] = shown(played, capsys)
    assert f"{team} is out" in line
    assert SHOWN[shown][fate] in line
    assert not re.search(r"defeat|\byou", line)
