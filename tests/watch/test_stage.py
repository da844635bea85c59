"""Which tape a page of the hall runs, for how long, and when a game's end has been shown."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kit.signed_games import play
from salvo import messages as m
from salvo.badges import Badges
from salvo.messages import State
from salvo_watch.web.stage import END_SECONDS, LATEST_SECONDS, HallStage
from salvo_watch.web.tables import Arrived, ShownTable
from salvo_watch.web.tapes import Tape, tape_of_log


def a_tape(game: int, thrill: int = 0, table: str = "") -> Tape:
    tape = tape_of_log([payload for moment in play(1) for payload in moment.log])
    assert tape is not None
    return replace(tape, game=game, thrill=thrill, table=table)


class Page:
    """A stage of the default table, and the tapes that it has shown or left out."""

    def __init__(self) -> None:
        self.live = ShownTable("")
        self.shown: list[int] = []
        self.idle = False
        self.stage = HallStage(self.live, Badges(), lambda tape: self.shown.append(tape.game), lambda: self.idle)

    @property
    def game(self) -> int | None:
        return None if self.stage.playing is None else self.stage.playing.tape.game

    def runs(self, seconds: float, since: float) -> None:
        now = since
        while (due := self.stage.next_due(now)) is not None and due <= since + seconds:
            now = max(due, now + 0.01)
            self.stage.advance(now)
        self.stage.advance(since + seconds)


@pytest.fixture
def page() -> Page:
    return Page()


LENGTH = a_tape(1).ms / 1000


def test_a_tape_runs_at_once_to_its_end_and_then_the_page_is_live(page: Page) -> None:
    page.stage.offer(a_tape(1), 0.0)
    assert page.game == 1
    page.runs(LENGTH - 0.1, 0.0)
    assert (page.game, page.shown) == (1, [])
    page.runs(0.2, LENGTH - 0.1)
    assert (page.game, page.shown) == (1, [1])
    page.runs(END_SECONDS, LENGTH + 0.1)
    assert page.game is None


def test_the_end_of_a_tape_stays_while_the_table_shows_the_same_result(page: Page) -> None:
    page.live.receive(Arrived(m.StateChanged(State.OVER)), 0.0)
    page.live.shown.game.number = 1
    page.stage.offer(a_tape(1), 0.0)
    page.runs(LENGTH + END_SECONDS + 60.0, 0.0)
    assert page.game == 1
    page.live.receive(Arrived(m.StateChanged(State.LOBBY)), 0.0)
    page.stage.advance(LENGTH + END_SECONDS + 61.0)
    assert page.game is None


def test_at_a_table_only_the_newest_game_waits_and_those_before_are_left_out(page: Page) -> None:
    for game in (1, 2, 3):
        page.stage.offer(a_tape(game), float(game))
    assert (page.game, page.shown) == (1, [2])
    page.runs(LENGTH + END_SECONDS + 0.1, 1.0)
    assert (page.game, page.shown) == (3, [2, 1])


def test_of_a_round_the_game_in_which_most_happened_is_next(page: Page) -> None:
    for game, thrill in ((1, 0), (2, 3), (3, 9), (4, 1)):
        page.stage.offer(a_tape(game, thrill, f"t{game}"), 0.0, round_=1)
    page.runs(LENGTH + END_SECONDS + 0.1, 0.0)
    assert page.game == 3


def test_a_final_comes_before_all_other_games_of_its_round(page: Page) -> None:
    page.stage.offer(a_tape(1, 0, "t1"), 0.0, round_=1)
    page.stage.offer(a_tape(2, 9, "t2"), 0.0, round_=1)
    page.stage.offer(a_tape(3, 0, "t3"), 0.0, round_=1, final=True)
    page.runs(LENGTH + END_SECONDS + 0.1, 0.0)
    assert page.game == 3


def test_in_an_idle_lobby_the_last_tape_runs_again_until_something_happens(page: Page) -> None:
    page.live.receive(Arrived(m.StateChanged(State.LOBBY)), 0.0)
    page.idle = True
    page.stage.offer(a_tape(1), 0.0)
    now = 2.5 * (LENGTH + END_SECONDS)
    page.runs(now, 0.0)
    assert page.stage.playing is not None
    assert (page.game, page.stage.playing.again) == (1, True)
    page.stage.offer(a_tape(2), now)
    assert (page.game, page.stage.playing.again) == (2, False)
    page.runs(LENGTH + END_SECONDS + 1.0, now)
    page.live.receive(Arrived(m.StateChanged(State.TURN)), 0.0)
    page.stage.advance(now + LENGTH + END_SECONDS + 2.0)
    assert page.game is None


def test_a_game_of_a_later_round_ends_the_tape_of_an_earlier_one(page: Page) -> None:
    page.stage.offer(a_tape(1), 0.0, round_=1)
    page.stage.offer(a_tape(2), 0.0, round_=1)
    page.stage.offer(a_tape(3), 1.0, round_=2)
    assert page.game == 3
    assert sorted(page.shown) == [1, 2]


def test_a_tape_that_would_end_too_late_is_left_out(page: Page) -> None:
    for game in range(1, 20):
        page.stage.offer(a_tape(game, -game), 0.0, round_=1)
    page.runs(10 * LATEST_SECONDS, 0.0)
    assert page.game is None
    assert sorted(page.shown) == list(range(1, 20))
