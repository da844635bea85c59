"""The marks that the front puts in front of commands, and the server takes off."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from salvo.net.inbound import Inbound
from salvo_server.brokers.mosquitto.marks import COMMANDS, Marks

DEPLOY = Path(__file__).parents[2] / "deploy"
SHOT = "/players/blue/fire"
MARK = b"@0123456789abcdef "


def message(payload: bytes, topic: str = SHOT) -> Inbound:
    return Inbound(topic, payload, retain=False, mid=7, qos=1, connection=3)


def test_a_publisher_mark_is_removed_from_the_payload_and_recorded() -> None:
    marks = Marks()
    assert marks.take_off([message(MARK + b"{}")]) == [message(b"{}")._replace(publisher="0123456789abcdef")]


@pytest.mark.parametrize("payload", [b"", b"{}", MARK[:-1], b"@0123456789ABCDEF {}", b" " + MARK])
def test_a_command_without_a_mark_has_no_publisher_and_stays_as_it_is(payload: bytes) -> None:
    marks = Marks()
    assert marks.take_off([message(payload)]) == [message(payload)]


def test_commands_that_come_past_the_front_are_reported_once(caplog: pytest.LogCaptureFixture) -> None:
    marks = Marks()
    marks.take_off([message(MARK + b"{}"), message(b"lobby", "/game/state"), message(b"x", "elsewhere")])
    assert caplog.text == ""
    marks.take_off([message(b"{}"), message(b"{}")])
    assert caplog.text.count("without the front") == 1


def test_the_front_marks_the_servers_commands_and_its_buffer_sizes_agree() -> None:
    script, config = ((DEPLOY / name).read_text() for name in ("front.lua", "front.cfg"))
    listed = re.search(r"COMMANDS = {(.*)}", script)
    assert listed is not None
    assert set(re.findall(r"(\w+) = true", listed[1])) == {topic.levels[-1] for topic in COMMANDS}
    sizes = [re.search(pattern, text) for pattern, text in ((r"BUFFER = (\d+)", script), (r"bufsize (\d+)", config))]
    assert len({size[1] for size in sizes if size is not None}) == 1
