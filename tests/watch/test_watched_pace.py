"""The pace of a game, as spectators see it."""

from __future__ import annotations

from salvo import messages as m
from salvo_watch.terminal_views import Watcher
from watch.watchers import begin, connected


def test_a_screen_shows_in_a_pause_whose_turn_has_ended() -> None:
    held, watcher = connected(Watcher, "")
    begin(held)
    held.say(m.SalvoResolved(1, 1, "alice", 5, 2, (), ()))
    watcher.poll(0)
    assert watcher.heading().endswith("game 1, turn 1: alice has had its turn")
    held.say(m.TurnBegan(1, 2, "bob", 5, 1_000, 31_000))
    watcher.poll(0)
    assert watcher.heading().endswith(("bob has 30 s", "bob has 29 s"))
