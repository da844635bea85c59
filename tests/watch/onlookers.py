"""Onlookers of a contest with rights."""

from __future__ import annotations

import time
from collections.abc import Callable

from kit.guarded import Guarded, wait_for_users
from salvo.fairness.proof import ProofConnection
from salvo_watch import live_views
from salvo_watch.live_views import Watcher

SECONDS = 60.0


def onlooker(contest: Guarded, user: str, secret: str) -> Watcher:
    """Somebody who looks on, subscribed."""
    wait_for_users(contest.url, user, secret)
    connection = ProofConnection(contest.url_of(user, secret), user, clean_session=True)
    watcher = Watcher(connection, "")
    connection.connect(60)
    assert connection.flush(60)
    return watcher


def until(holds: Callable[[], bool], *watchers: Watcher) -> dict[Watcher, list[live_views.News]]:
    """Let everybody look on until something holds; return what was news to each."""
    heard: dict[Watcher, list[live_views.News]] = {watcher: [] for watcher in watchers}
    end = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < end
        for watcher in watchers:
            heard[watcher] += watcher.poll(0.05)
    return heard
