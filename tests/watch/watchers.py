"""A watcher on a connection that a test feeds by hand.

held, watcher = connected(Watcher, "")
begin(held)
held.say(m.SalvoResolved(1, 1, "alice", 5, 0, (), ()))
assert lines(watcher)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from salvo import messages as m
from salvo.codec.announcement_writer import write_announcement
from salvo.messages import State
from salvo.net.inbound import Inbound
from salvo.rules import SALVO
from salvo_watch.live_views import Watcher


class Held:
    """A connection in a test's hands."""

    url = "mqtt://broker"

    def __init__(self) -> None:
        self.on_connect: Callable[[bool], None] | None = None
        self.filters: list[str] = []
        self.user = ""
        self.arriving: list[Inbound] = []

    def poll(self, timeout_seconds: float) -> Sequence[Inbound]:
        arrived, self.arriving = self.arriving, []
        return arrived

    def change_user(self, user: str) -> None:
        self.user = user

    def acknowledge(self, message: Inbound) -> None: ...
    def close(self) -> None: ...
    def subscribe(self, filters: Iterable[str]) -> None:
        self.filters += filters

    def say(self, *announcements: m.Announcement, table: str = "") -> None:
        for announcement in announcements:
            for topic, payload, _ in write_announcement(announcement, table):
                self.deliver(topic, payload)

    def deliver(self, topic: str, payload: bytes) -> None:
        self.arriving.append(Inbound(topic, payload, False, 1, 1))

    def connect(self, retained: Iterable[tuple[str, bytes]] = ()) -> None:
        """Let the connection stand again; the broker delivers what it keeps."""
        assert self.on_connect is not None
        self.on_connect(False)
        self.arriving += [Inbound(topic, payload, True, 1, 1) for topic, payload in retained]


def connected(kind: type[Watcher], *given: Any) -> tuple[Held, Any]:
    held = Held()
    watcher = kind(held, *given)  # type: ignore[arg-type]
    held.connect()
    return held, watcher


def begin(held: Held) -> None:
    held.say(m.RulesAnnounced(SALVO, "", 60, 30, 300, 3), m.ServerStatus(True, "1", 1, "contest"))
    held.say(m.PlayersListed(("alice", "bob")), m.StateChanged(State.TURN))
    held.say(m.TurnBegan(1, 1, "alice", 5, 0, 30_000))


def lines(watcher: Watcher) -> list[str]:
    return [news.line for news in watcher.poll(0)]
