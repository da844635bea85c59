"""A hostile server writes what controls a terminal into every field: nothing of it reaches the one of a client."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from kit.hostile_server import EVIL, published
from kit.person_at_a_terminal import SALVO, clean_environment
from kit.terminal import Screen, Terminal
from salvo import messages as m
from salvo.codec.announcement_writer import write_announcement
from salvo.net.mqtt import Connection
from salvo_server.brokers.embedded import EmbeddedBroker

#: What each program does that reads what a server publishes, and shows it to a person.
PROGRAMS = {
    "a bot": ["join", "{url}", "hunter"],
    "a person": ["join", "{url}", "human"],
    "a watcher": ["watch", "{url}"],
}
LAST = "all is said"


class Recorded(Screen):
    """A screen that stores all that a program has written to it."""

    def __init__(self, lines: int, columns: int) -> None:
        super().__init__(lines, columns)
        self.written = b""

    def feed(self, data: bytes) -> None:
        self.written += data
        super().feed(data)


@pytest.fixture
def url() -> Iterator[str]:
    with EmbeddedBroker() as broker:
        yield broker.url


@pytest.mark.long
@pytest.mark.parametrize("program", PROGRAMS)
def test_nothing_that_a_server_says_controls_the_terminal_of_a_client(program: str, url: str, tmp_path: Path) -> None:
    environment = clean_environment(tmp_path) | {"SALVO_TEAM": "red", "SALVO_SECRET": "s"}
    command = [SALVO, *(word.format(url=url) for word in PROGRAMS[program])]
    with Terminal(command, environment, lines=50, columns=150) as terminal:
        terminal.screen = screen = Recorded(50, 150)
        with closing(Connection(url, "server", clean_session=True)) as server:
            server.connect(60)
            while LAST not in terminal.screen.text:
                for each in published(EVIL):
                    server.publish(each.topic, each.payload, retain=each.retain)
                [last] = write_announcement(m.ChatPublished("", LAST), "")
                server.publish(last.topic, last.payload)
                server.flush(10)
                terminal.until(lambda text: text)
                terminal._read(0.2)
    text = screen.written.decode(errors="replace")
    assert LAST in screen.text
    assert not re.search("\x1b\\]0;|[\x80-\x9f\u202a-\u202e]", text)
