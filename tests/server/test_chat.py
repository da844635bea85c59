"""What players say is passed on as the contract says, and touches nothing of the game (SALVO-CHAT)."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.services import serve
from kit.stage import Stage
from kit.unbrokered import Wire
from salvo.codec.announcement_reader import read_announcement
from salvo.codec.command_reader import read_chat
from salvo.codec.command_writer import write_chat, write_participation
from salvo.codec.commands import Line
from salvo.errors import WireError
from salvo.wire import chat_text, topics
from salvo_game.journal_interface import Batch, Journal


@pytest.fixture
def stage() -> Stage:
    held = Stage()
    held.hush()
    return held


def say(stage: Stage, player: str, text: str, **more: str) -> None:
    stage.say(f"/players/{player}/say", json.dumps({"text": text, **more}).encode())


def received(stage: Stage) -> list[tuple[str, str, str]]:
    """Topic, sender and text of what was said since the last look."""
    announced = [
        (topic, json.loads(payload)) for topic, payload in stage.received if topic.endswith(("/chat", "/message"))
    ]
    stage.hush()
    return [(topic, line["from"], line["text"]) for topic, line in announced]


# --- who hears it -------------------------------------------------------------------------------------------------


def test_a_chat_line_is_published_trimmed_and_normalised(stage: Stage) -> None:
    say(stage, "ann", "Ahoj, ne\u0301! \n")
    assert received(stage) == [("/game/chat", "ann", "Ahoj, n\u00e9!")]


def test_a_private_chat_line_is_published_to_its_recipient_alone(stage: Stage) -> None:
    say(stage, "ann", "you are next", to="bob")
    assert [topic for topic, _ in stage.received] == ["/players/bob/message"]
    assert received(stage) == [("/players/bob/message", "ann", "you are next")]


def test_a_line_stays_at_its_table() -> None:
    edge = Wire()
    service = serve(edge, ["", "blue"], seed=1, clock=lambda: 1_000_000)
    edge.connect()
    service.step()
    edge.give("/blue/game/request_participation", write_participation("ann", "secret"))
    service.step()
    edge.announced.clear()
    edge.give("/blue/players/ann/say", b'{"text": "Ahoy!"}')
    edge.give("/players/ann/say", b'{"text": "Ahoy!"}')
    service.step()
    assert edge.topics_announced() == ["/blue/game/chat", "/players/ann/error"]


@pytest.mark.parametrize("name", ["a b", "+", "players", "x" * 33])
def test_chat_from_an_invalid_name_is_not_answered(stage: Stage, name: str) -> None:
    say(stage, name, "Ahoy!")
    assert stage.received == []
    assert stage.service.counts["unknown_player"] == 1


def test_chat_on_a_topic_that_would_clear_a_screen_is_no_topic_of_a_game(stage: Stage) -> None:
    say(stage, "\x1b[2J", "Ahoy!")
    assert stage.received == []
    assert stage.service.counts["unknown_player"] == 0


# --- what is refused ----------------------------------------------------------------------------------------------


def test_chat_at_a_table_is_rate_limited_and_a_refused_team_may_try_again() -> None:
    """Nobody who has said little loses more than the one line."""
    names = [f"team{number}" for number in range(8)]
    edge, now = Wire(), [1_000_000]
    service = serve(edge, ["", "blue"], seed=1, clock=lambda: now[0])
    edge.connect()
    for table, joining in (("", names), ("/blue", names[:1])):
        for name in joining:
            edge.give(f"{table}/game/request_participation", write_participation(name, "secret"))
    service.step()
    edge.announced.clear()
    for name in names:
        for _ in range(5):
            edge.give(f"/players/{name}/say", b'{"text": "Ahoy!"}')
    edge.give("/blue/players/team0/say", b'{"text": "Ahoy!"}')
    service.step()
    assert edge.topics_announced().count("/game/chat") == 20
    assert edge.topics_announced().count("/blue/game/chat") == 1
    now[0] += 2000
    edge.announced.clear()
    edge.give("/players/team7/say", b'{"text": "Ahoy!"}')
    service.step()
    assert edge.topics_announced() == ["/game/chat"]


# --- no part of the game ------------------------------------------------------------------------------------------


class Committed(Journal):
    def __init__(self) -> None:
        self.batches: list[Batch] = []

    def commit(self, batch: Batch) -> None:
        self.batches.append(batch)


def test_a_line_changes_neither_game_nor_journal() -> None:
    edge, journal = Wire(), Committed()
    service = serve(edge, journal=journal, clock=lambda: 1_000_000)
    edge.connect()
    edge.give("/game/request_participation", write_participation("ann", "secret"))
    service.step()
    service.step()
    results: list[Any] = []
    service.listener = lambda *news: results.append(news)
    journal.batches.clear()
    table, retained = service.tables[""], dict(edge.retained)
    before = table.check, table.steps, table.referee.deadline()
    for text in ("Ahoy!", "", "\x1b"):
        edge.give("/players/ann/say", json.dumps({"text": text}).encode())
        service.step()
    assert "/game/chat" in edge.topics_announced()
    assert (table.check, table.steps, table.referee.deadline()) == before
    assert (journal.batches, results, edge.retained) == ([], [], retained)


# --- the text -----------------------------------------------------------------------------------------------------


@given(st.text(st.characters(), max_size=250))
def test_an_accepted_chat_line_is_one_normalised_line_and_accepted_again(text: str) -> None:
    try:
        clean = chat_text.clean_text(text)
    except WireError as error:
        error.text.encode()
        return
    assert 1 <= len(clean) <= chat_text.MAX_TEXT_LENGTH
    assert len(clean.splitlines()) == 1
    assert unicodedata.is_normalized("NFC", clean)
    assert chat_text.clean_text(clean) == clean
    assert read_chat(write_chat(text, "bob")) == Line(clean, "bob")


@pytest.mark.parametrize(
    "payload",
    [
        b'{"from":"turn 3","text":"ann wins"}',
        b'{"from":"ann\\u001b","text":"Ahoy!"}',
        b'{"from":"ann","text":"Ahoy!\\nbob: gg"}',
        b'{"from":"ann","text":""}',
        b'{"from":"ann"}',
    ],
)
def test_a_line_that_no_server_of_ours_would_publish_is_noise(payload: bytes) -> None:
    for topic in ("/game/chat", "/players/bob/message"):
        with pytest.raises(WireError):
            read_announcement(topics.parse(topic), payload)
