"""Teams on threads, and ears for what the referee says to them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from kit.waiting import until
from salvo import messages as m
from salvo.bots.player import Answer, Bot
from salvo.join import client
from salvo.net.mqtt import Connection
from salvo.view import View
from salvo.wire import topics
from salvo_lab.bots.random_bot import RandomBot
from salvo_server.operations.status import ask_status

#: Patience with a busy machine, and never what is shown.
SECONDS = 240.0


class Announced:
    """Keeps what the referee announced, and wakes who waits for it.

    Attributes:
        once: what is awaited, and what is then done on the server's own thread: nothing happens at the table meanwhile.
    """

    def __init__(self) -> None:
        self.all: list[m.Announcement] = []
        self.once: tuple[Callable[[list[m.Announcement]], bool], Callable[[], object]] | None = None
        self._news = threading.Condition()

    def __call__(self, table: str, now: int, command: m.Input | None, announcements: Any) -> None:
        with self._news:
            self.all += announcements
            if self.once is not None and self.once[0](self.all):
                act, self.once = self.once[1], None
                act()
            self._news.notify_all()

    def until(self, holds: Callable[[list[m.Announcement]], bool]) -> None:
        with self._news:
            assert self._news.wait_for(lambda: holds(self.all), SECONDS), self.all[-10:]

    def of(self, kind: type) -> list[Any]:
        return [announcement for announcement in self.all if isinstance(announcement, kind)]


_stops: list[threading.Event] = []


def join(url: str, name: str, bot: Bot | None = None, secret: str = "", **given: Any) -> threading.Thread:
    _stops.append(threading.Event())
    given = {"stop": _stops[-1]} | given
    thread = threading.Thread(
        target=client.play, args=(bot or RandomBot(), url, name, secret or f"secret {name}"), kwargs=given, daemon=True
    )
    thread.start()
    return thread


def send_all_home() -> None:
    """End whoever is still there, or still calls a broker that is gone: its port may be another test's next."""
    while _stops:
        _stops.pop().set()


def over(announcements: list[m.Announcement]) -> bool:
    return any(isinstance(announcement, m.GameWon) for announcement in announcements)


def salvos(count: int) -> Callable[[list[m.Announcement]], bool]:
    return lambda announcements: sum(isinstance(a, m.SalvoResolved) for a in announcements) >= count


class Slower(Bot):
    """Leaves time to kill a process between two of its first salvos; the rest of the game is quick.

    Attributes:
        slow_turns: in how many of its own turns it waits.
    """

    slow_turns = 1000

    def choose_salvo(self, view: View) -> Answer:
        if self.slow_turns:
            self.slow_turns -= 1
            threading.Event().wait(0.03)
        return view.untouched.sample(view.shots)


def until_online(url: str) -> None:
    """Return when the server has subscribed: it announces itself after that."""

    def is_online() -> bool:
        answer = ask_status(url, "", 5)
        return answer is not None and answer.status.online

    until(is_online, seconds=SECONDS)


#: No topic of the game: what a listener publishes here arrives after everything that its subscription brings.
_MARKER = "/looker/end"


def retained_of(url: str, awaited: dict[str, bytes], *more: str) -> dict[str, bytes]:
    """Return what is retained, once it holds all that is awaited.

    Args:
        awaited: topics with their payloads. What comes live is the same said again.
        more: further topics to wait for, whatever their payloads.
    """
    found: dict[str, bytes] = {}
    connection = Connection(url, "looker", clean_session=True)
    connection.on_connect = lambda _: connection.subscribe(["/#"])
    end = time.monotonic() + SECONDS
    while not (awaited.items() <= found.items() and found.keys() >= {*more}):
        assert time.monotonic() < end, found
        _take_in(connection, found)
    connection.publish(_MARKER, b"")
    while not _take_in(connection, found):
        assert time.monotonic() < end, found
    connection.close()
    return found


def _take_in(connection: Connection, found: dict[str, bytes]) -> bool:
    """Take in what has arrived; return whether the marker is among it."""
    arrived = connection.poll(0.2)
    for message in arrived:
        connection.acknowledge(message)
        if message.topic != _MARKER and topics.parse(message.topic).topic.retained:  # hits may still be on their way
            found[message.topic] = message.payload
    return any(message.topic == _MARKER for message in arrived)
