"""The interactive viewer, driven by its keys."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import OptionList, Static

from kit.proofs import SMALL
from salvo_display.replay import REFEREE, Replay, ReplayError
from salvo_lab.bots.random_bot import RandomBot
from salvo_lab.recording import play_at_table
from salvo_server.storage.transcript import execute, read_transcript
from salvo_watch.viewer import Viewer

GOLDEN = Path(__file__).parents[1] / "golden" / "v1"
Act = Callable[[Viewer, Pilot[None]], Coroutine[Any, Any, None]]


def _replay(name: str = "2-players-4") -> Replay:
    transcript = read_transcript(GOLDEN / f"{name}.jsonl.gz")
    return Replay(name, transcript.header, execute(transcript))


def _run(act: Act, viewer: Viewer | None = None, size: tuple[int, int] = (120, 40)) -> None:
    async def run() -> None:
        app = viewer or Viewer(_replay(), turn=0)
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            await act(app, pilot)

    asyncio.run(run())


def _text(app: Viewer, name: str) -> str:
    return str(app.query_one(f"#{name}", Static).render())


@pytest.mark.long
def test_arrows_go_one_turn_on_and_back_and_stop_at_both_ends() -> None:
    async def act(app: Viewer, pilot: Pilot[None]) -> None:
        await pilot.press("left")
        assert app.turn == 0
        await pilot.press("right", "right", "right", "left")
        assert app.turn == 2
        assert _text(app, "heading").startswith(f"game 3   turn 2 of {app.replay.turns}   ")
        await pilot.press("end")
        assert app.turn == app.replay.turns
        assert f"{app.frame.winner} wins" in _text(app, "heading")
        await pilot.press("right")
        assert app.turn == app.replay.turns
        await pilot.press("home")
        assert app.turn == 0
        assert app.query_one("#salvos", OptionList).highlighted == 0

    _run(act)


@pytest.mark.long
def test_g_and_a_number_jump_to_a_turn() -> None:
    async def act(app: Viewer, pilot: Pilot[None]) -> None:
        await pilot.press("g", "1", "7")
        assert _text(app, "state") == "jump to turn: 17_"
        await pilot.press("backspace", "2", "enter")
        assert app.turn == 12
        await pilot.press("g", "9", "9", "9", "enter")
        assert app.turn == 12
        assert _text(app, "state") == f"no turn 999; the last one is {app.replay.turns}"
        await pilot.press("g", "5", "escape", "enter")
        assert app.turn == 12

    _run(act)


def test_v_goes_round_the_views() -> None:
    async def act(app: Viewer, pilot: Pilot[None]) -> None:
        seen = []
        for _ in range(4):
            seen.append(app.view)
            await pilot.press("v")
        assert seen == [REFEREE, *app.replay.players, REFEREE]
        assert _text(app, "state").startswith(f"{app.replay.players[0]}'s view")
        await pilot.press("V")
        assert app.view == REFEREE

    _run(act)


def test_it_plays_to_the_end_by_itself_and_backwards() -> None:
    async def act(app: Viewer, pilot: Pilot[None]) -> None:
        while app.turn < app.replay.turns:
            await pilot.pause(0.02)
        assert app.direction == 0
        await pilot.press("b")
        while app.turn:
            await pilot.pause(0.02)
        assert app.direction == 0

    bots = {"ann": RandomBot(), "bob": RandomBot()}
    _, header, steps = play_at_table(bots, seed=1, game=1, book=SMALL, fleets={})
    _run(act, Viewer(Replay("small", header, steps), speed=200.0))


@pytest.mark.long
def test_space_plays_and_pauses_and_up_and_down_change_the_speed() -> None:
    async def act(app: Viewer, pilot: Pilot[None]) -> None:
        await pilot.press("space")
        assert _text(app, "state") == "the referee's view   ▶ playing, 2 a second"
        await pilot.press("up", "plus", "down")
        assert app.speed == 4.0
        await pilot.press("space")
        assert _text(app, "state") == "the referee's view   ‖ paused, 4 a second"
        await pilot.press(*["minus"] * 5)
        assert app.speed == 0.25
        await pilot.press("up", *["up"] * 8)
        assert app.speed == 64.0

    _run(act)


def test_a_click_on_a_salvo_jumps_there() -> None:
    async def act(app: Viewer, pilot: Pilot[None]) -> None:
        await pilot.click("#salvos", offset=(5, 6))
        assert app.turn == 6

    _run(act)


@pytest.mark.long
def test_help_shows_every_key_and_goes_away() -> None:
    async def act(app: Viewer, pilot: Pilot[None]) -> None:
        await pilot.press("question_mark")
        assert app.query_one("#help").display
        assert "g, number" in _text(app, "help")
        await pilot.press("escape")
        assert not app.query_one("#help").display
        await pilot.press("q")
        assert app.return_code == 0

    _run(act)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "size", "boards"),
    [
        ("2-players-4", (80, 24), 2),
        ("8-players-1", (200, 50), 8),
        ("8-players-1", (80, 24), 4),
    ],
)
def test_boards_fit_side_by_side(name: str, size: tuple[int, int], boards: int) -> None:
    """At the width that a terminal has, without one board covering another; what is below can be scrolled to."""

    async def act(app: Viewer, pilot: Pilot[None]) -> None:
        await pilot.press("3", "0", "enter")
        page = app.export_screenshot(simplify=True).replace("&#160;", " ")
        shown = [player for player in app.replay.players if re.search(rf"─ {player} [▮☠─]", page)]
        assert len(shown) == boards

    _run(act, Viewer(_replay(name), turn=0), size)


def test_a_view_or_turn_that_is_not_there_is_told_before_the_screen_is_taken() -> None:
    with pytest.raises(ReplayError, match="unknown_view"):
        Viewer(_replay(), view="nobody")
    with pytest.raises(ReplayError, match="unknown_turn"):
        Viewer(_replay(), turn=10_000)


def test_without_textual_the_error_says_what_to_install_and_what_does_without() -> None:
    missing = "import sys; sys.modules['textual'] = None; sys.modules['textual.app'] = None"
    code = f"{missing}; import salvo_watch.viewer"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "the replay viewer (--plain does without) needs an optional part" in done.stderr
    assert 'pip install "battleship-salvo[terminal]"' in done.stderr
