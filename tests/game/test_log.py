"""The log of a game as the server says it, and as a client follows it."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Annotated, Any

import nacl.signing
import pytest
from google.protobuf import json_format
from google.protobuf.message import Message

from kit.proofs import BOOKS, IDENTITY, SMALL, Entries, Played, cheated, entries_of, random_games
from kit.schema import Pair, of_the_class, of_the_schema
from salvo import messages as m
from salvo.codec import log as form
from salvo.codec import log_reader
from salvo.codec.log_reader import Fault, LogChain, LogError
from salvo.codec.rules import Rules
from salvo.codec.steps import ANNOUNCEMENT
from salvo.errors import WireError
from salvo.join.fairness import proof
from salvo.rules import SALVO
from salvo.v1 import announcements_pb2, log_pb2, transcript_pb2
from salvo_game.log import TableLog

PLAYED = Played("log", SMALL, trouble=0.2).play()
LINES = PLAYED.proof()
PAYLOADS = [line[:-1] for line in LINES]


def _announced(lines: list[bytes]) -> list[dict[str, Any]]:
    return [each for entry in entries_of(lines) for each in entry.get("step", {}).get("said", [])]


# --- what stands in it ------------------------------------------------------------------------------------------------


def test_the_log_has_all_public_announcements_and_nothing_else() -> None:
    for played in random_games(12):
        public = [each for step in played.steps for each in step.announcements if not hasattr(each, "to")]
        assert _announced(played.proof()) == [ANNOUNCEMENT.value(each) for each in public]


def test_what_is_revealed_comes_in_payloads_of_8_kib_at_most() -> None:
    sizes = [len(line) - 1 for line in Played("log", SALVO).play().proof() if b'"reveal":' in line]
    assert 7 * 1024 < max(sizes) <= 8 * 1024


def test_a_log_payload_is_framed_as_the_contract_requires() -> None:
    key = nacl.signing.VerifyKey(IDENTITY.signing_key)
    for payload in PAYLOADS:
        text = payload[9:-99]
        assert payload == b'{"entry":' + text + b',"sign":"' + payload[-90:-2] + b'"}'
        assert json.loads(payload) == {"entry": json.loads(text), "sign": payload[-90:-2].decode()}
        key.verify(b"salvo log\0" + text, base64.b64decode(payload[-90:-2]))
        assert form.write_entry(log_reader.read_entry(text)) == text


# --- saying it --------------------------------------------------------------------------------------------------------


def _all_announced(played: Played, skipped: int = 0) -> list[bytes]:
    log = TableLog(played.header, IDENTITY)
    received = [publication.payload for publication in log.opening()] if not skipped else []
    for step in played.steps[:skipped]:
        log.skip(step)
    for step in played.steps[skipped:]:
        for topic, payload, retain in log.take_in(step):
            assert (topic, retain) == ("/game/log", False)
            received.append(payload)
    return received


def test_the_log_of_the_lobby_is_published_again_when_the_game_begins() -> None:
    received = _all_announced(PLAYED)
    begun = next(n for n, payload in enumerate(PAYLOADS) if b'{"state":{"state":"turn"}}' in payload)
    assert received == [*PAYLOADS[:begun], *PAYLOADS]


def test_a_log_continues_after_any_step_as_if_nothing_had_happened() -> None:
    whole = _all_announced(PLAYED)
    for skipped in range(1, len(PLAYED.steps)):
        rest = _all_announced(PLAYED, skipped)
        assert rest == whole[len(whole) - len(rest) :]


# --- following it -----------------------------------------------------------------------------------------------------


def _followed(payloads: list[bytes], key: bytes | None = None) -> LogChain:
    chain = LogChain(key)
    for payload in payloads:
        chain.take_in(payload)
    return chain


def test_a_client_detects_a_server_that_replaces_a_signed_log_entry() -> None:
    def other(entries: Entries) -> None:
        entries[2]["step"]["at"] += 1

    forked = [line[:-1] for line in cheated(LINES, other)]
    with pytest.raises(LogError, match="log_forked: two histories were signed after entry 1"):
        _followed([*PAYLOADS[:4], forked[2]])
    with pytest.raises(LogError, match="log_broken: entry 3 does not continue the entry 2") as raised:
        _followed([*PAYLOADS[:3], forked[3]])
    assert raised.value.fault is Fault.FORKED


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace(b'"n":1', b'"n": 1'),
        lambda text: text.replace(b'"n":1', b'"n":01'),
        lambda text: text.replace(b'"n":1', b'"n":1.0'),
        lambda text: text.replace(b'"n":1', b'"n":-1'),
        lambda text: text.replace(b"team0", rb"team\u0030"),
        lambda text: text[:-1] + b',"more":1}',
        lambda text: text[:-1] + b',"end":{"steps":1,"hidden":1}}',
        lambda text: text.replace(b'"hidden":[]', b'"hidden":["AA"]'),
        lambda text: text.replace(b'"input":{"participate":{"name":"team0"}},', b""),
        lambda text: text.replace(b'{"players"', b'{"landed"'),
        lambda text: b'{"prev":"","n":1}',
    ],
)
def test_an_entry_has_one_text_only(change: Callable[[bytes], bytes]) -> None:
    text = PAYLOADS[1][9:-99]
    changed = change(text)
    assert changed != text
    if b'"input"' in text and b'"input"' not in changed and b"players" in changed:
        log_reader.read_entry(changed)  # readable; that nothing led to it is the referee's business
        return
    with pytest.raises(WireError):
        log_reader.read_entry(changed)


LATER = b'{"n":0,"open":{"log":%d}}' % (form.LOG_VERSION + 1)


@pytest.mark.parametrize(
    ("text", "key", "code", "fault"),
    [
        (LATER, None, "unknown_version", Fault.LATER),
        (LATER, IDENTITY.signing_key, "unknown_version", Fault.LATER),
        (b"{}", None, "log_unreadable", Fault.FILE),
        (b"{}", IDENTITY.signing_key, "log_wrong", Fault.SERVER),
        (b" " * (262_144 - 108), IDENTITY.signing_key, "log_wrong", Fault.SERVER),
        (b" " * (262_144 - 107), IDENTITY.signing_key, "log_unreadable", Fault.FILE),
    ],
    ids=["later", "later, signed", "none", "none, signed", "longest", "too long"],
)
def test_a_signed_non_entry_is_the_servers_fault_unless_of_a_later_version(
    text: bytes, key: bytes | None, code: str, fault: Fault
) -> None:
    with pytest.raises(LogError) as raised:
        log_reader.read_signed(form.sign_entry(text, IDENTITY.sign), key)
    assert (raised.value.code, raised.value.fault) == (code, fault)


# --- the schema -------------------------------------------------------------------------------------------------------


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(member) for key, member in value.items() if member != []}
    if isinstance(value, list):
        return [_plain(member) for member in value]
    return int(value) if isinstance(value, float) else value


@pytest.mark.parametrize("number", range(len(BOOKS)))
def test_every_payload_is_a_message_of_the_schema(number: int) -> None:
    for line in Played(number, BOOKS[number], trouble=0.3).play().proof():
        message = json_format.Parse(line, log_pb2.LogPayload())
        assert _plain(json_format.MessageToDict(message)) == _plain(json.loads(line))


SHAPES: list[Pair] = [
    (form.Entry, log_pb2.LogEntry),
    (form.Opening, log_pb2.LogOpening),
    (form.LogStep, log_pb2.LogStep),
    (form.OpenInput, log_pb2.LogInput),
    (form.Reveal, log_pb2.LogReveal),
    (form.LogEnd, log_pb2.LogEnd),
    (Annotated[proof.SentCommand, proof.SENT_COMMAND], log_pb2.SentLine),
    (proof.SentCommand, log_pb2.SentCommand),
    (proof.SentBody, log_pb2.SentBody),
]
#: What stands in them and is compared elsewhere.
OTHERS: list[Pair] = [
    (Rules, announcements_pb2.Rules),
    (m.Limits, transcript_pb2.TranscriptLimits),
    (form.PublicAnnouncement, transcript_pb2.Said),
    (m.Participate, transcript_pb2.ParticipateInput),
    (m.StruckOff, transcript_pb2.StrikeInput),
    (m.TimePassed, transcript_pb2.Nothing),
    (m.Resumed, transcript_pb2.Nothing),
    (m.TurnDelivered, transcript_pb2.DeliveredInput),
]


@pytest.mark.parametrize(("shape", "message"), SHAPES)
def test_schema_and_class_have_the_same_fields_types_and_presence(shape: Any, message: type[Message]) -> None:
    assert of_the_class(shape, [*SHAPES, *OTHERS]) == of_the_schema(message)


def test_every_message_of_the_schema_is_compared() -> None:
    compared = {message.DESCRIPTOR.name for _, message in SHAPES} | {"LogPayload"}
    assert compared == set(log_pb2.DESCRIPTOR.message_types_by_name)
