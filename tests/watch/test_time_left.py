"""How long a game still takes, as screens show it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from kit.lengths import mixed_game
from salvo import messages as m
from salvo.badges import Badges
from salvo.messages import State
from salvo.table_state import TableState
from salvo_server.host.console.evening import HostedTable
from salvo_server.spectators.game_lengths import time_left_at
from salvo_watch.web.tables import Arrived, ShownTable

TURN_MS = 12_000
HOUR_MS = 3_600_000


def a_game() -> Iterator[m.Announcement]:
    """Yield what a table announces of a game until its last turn."""
    game = mixed_game(2, seed=1)
    yield m.PlayersListed(game.names)
    yield m.StateChanged(State.TURN)
    for result in game.results:
        began = TURN_MS * result.turn
        yield m.TurnBegan(1, result.turn, result.player, result.shots, began, began + 30_000)
        if result is not game.results[-1]:
            yield result


def test_the_hall_and_the_console_show_the_same_words_throughout_a_game() -> None:
    console, hall, shown = HostedTable(""), ShownTable("", boards=False, badges=Badges()), []
    for now, news in enumerate(a_game()):
        console.receive(news, float(now), retained=False)
        hall.receive(Arrived(news), float(now))
        words = console.picture()["left"]
        assert hall.picture(float(now))["left"] == words
        shown.append(words)
    first = next(place for place, words in enumerate(shown) if words)
    assert (shown[first], shown[-1]) == ("about 8 minutes left", "less than 3 minutes left")
    assert all(shown[first:])


@pytest.mark.parametrize("by", ["host", "outage"])
def test_a_pause_does_not_lengthen_what_is_left(by: str) -> None:
    table = TableState()
    for news in a_game():
        if isinstance(news, m.TurnBegan) and news.turn > 6:
            if news.turn == 7 and by == "outage":
                table.apply(m.TurnResumed(1, 6, table.names[1], 5, HOUR_MS, HOUR_MS + 30_000))
            if news.turn == 7 and by == "host":
                table.apply(m.HostActed("host", m.HostAction.PAUSE, paused=True))
                table.apply(m.HostActed("host", m.HostAction.RESUME))
            news = replace(news, now=news.now + HOUR_MS, deadline=news.deadline + HOUR_MS)
        table.apply(news)
    assert table.game.turn_seconds(table.names) == TURN_MS / 1000


def test_how_long_a_game_lasts_is_shown_once_every_team_that_is_in_has_had_a_turn() -> None:
    table = TableState()
    news = a_game()
    for _ in range(5):  # the players, the state, a turn with its salvo, and the next turn
        assert time_left_at(table) is None
        table.apply(next(news))
    assert time_left_at(table) is None
    table.apply(next(news))
    table.apply(next(news))
    assert str(time_left_at(table)) == "about 8 minutes left"
