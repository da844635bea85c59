"""Any bytes on any topic give a command or a named error, and nothing else.

``SALVO_FUZZ_CASES=100000 pytest tests/sdk/test_any_bytes.py`` tries more than the everyday number.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from salvo import topics
from salvo.codec.announcement_reader import read_announcement
from salvo.codec.command_reader import Request, SealedPlacement, SignedShot, read_command, read_placement, read_shot
from salvo.codec.strict_json import same_value
from salvo.errors import CODES, IllegalCommand, WireError
from salvo.messages import Fire
from salvo.rules import SALVO
from salvo.seal import Blob, make_blob

CASES = settings(max_examples=int(os.environ.get("SALVO_FUZZ_CASES", "100")))
BLOB = make_blob(b"{}", bytes(32), bytes(16), bytes(24))

levels = st.one_of(st.sampled_from(sorted(topics.RESERVED)), st.text(max_size=8), st.just(""))
any_topic = st.one_of(
    st.text(max_size=60),
    st.lists(levels, max_size=7).map("/".join),
    st.sampled_from(topics.TOPICS).map(lambda t: t.of(player="a", ship="carrier")),
    st.sampled_from(topics.TOPICS).map(lambda t: t.of("blue", player="a", ship="carrier")),
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)
coordinate = st.one_of(st.integers(-5, 15), st.text(max_size=3), json_values)
bodies = st.fixed_dictionaries(
    {"x": coordinate, "y": coordinate},
    optional={"g": json_values, "t": json_values, "n": json_values, "to": json_values, "z": json_values},
)
signed = st.fixed_dictionaries(
    {"signature": st.one_of(st.just(BLOB), st.text(max_size=90))}, optional={"data": bodies, "payload": bodies}
)
asked = st.fixed_dictionaries({"name": st.text(max_size=40) | json_values, "secret": st.text() | json_values})
placed = st.fixed_dictionaries(
    {"coordinates": st.text(max_size=8) | json_values, "Orientation": st.sampled_from(("VERTICAL", "x", 1))}
)
texts = st.one_of(json_values, bodies, signed, asked, placed).map(json.dumps).map(str.encode)
any_payload = st.one_of(st.binary(max_size=200), texts, st.text(max_size=100).map(lambda t: t.encode(errors="replace")))


@CASES
@given(any_topic, any_payload)
def test_what_arrives_is_a_request_or_a_named_error(topic: str, payload: bytes) -> None:
    try:
        request = read_command(topics.parse(topic), payload, SALVO)
    except WireError as error:
        assert error.code in CODES
        error.text.encode()  # printable whatever was sent
        assert len(error.text) < 400
    else:
        assert isinstance(request, get_args(Request))


@pytest.mark.long
@CASES
@given(any_payload)
def test_what_a_blob_holds_is_a_command_or_a_named_error(plaintext: bytes) -> None:
    blob = Blob(bytes(16), bytes(24), b"")
    try:
        command = read_placement(SealedPlacement("", "a", "carrier", "carrier", blob), plaintext)
        command.placement.cells(SALVO)
    except (WireError, IllegalCommand) as error:
        assert error.code in CODES
        error.text.encode()


@pytest.mark.long
@CASES
@given(texts, texts)
def test_a_shot_is_a_command_or_a_named_error(open_body: bytes, plaintext: bytes) -> None:
    body = json.loads(open_body)
    request = SignedShot("", "b", body, Blob(bytes(16), bytes(24), b""))
    for signed_text in (plaintext, open_body):
        try:
            shot = read_shot(request, "a", signed_text)
            SALVO.grid.cell(shot.x, shot.y)
        except (WireError, IllegalCommand) as error:
            assert error.code in CODES
            error.text.encode()


def _shot(request: SignedShot, plaintext: bytes) -> Fire | str:
    try:
        return read_shot(request, "a", plaintext)
    except WireError as error:
        return str(error)


@pytest.mark.long
@CASES
@given(bodies.map(json.dumps).map(str.encode), st.sampled_from((b"", b" ", b"\n", b"x", b',"x":1', b"}")), st.data())
def test_a_shot_whose_open_body_is_the_signed_text_is_read_like_any_other(
    body: bytes, more: bytes, data: st.DataObject
) -> None:
    payload = b'{"data":%s,"signature":"%s"}' % (body + more, BLOB.encode())
    try:
        request = read_command(topics.parse("/players/b/fire"), payload, SALVO)
    except WireError:
        return
    assert isinstance(request, SignedShot)
    cut = data.draw(st.integers(0, len(body)))
    for plaintext in (body, body + more, body + b"  ", body[:cut], body[:cut] + more):
        assert _shot(request, plaintext) == _shot(replace(request, payload=b""), plaintext)


@pytest.mark.long
@CASES
@given(st.sampled_from(topics.TOPICS), any_payload)
def test_what_a_server_says_is_read_or_a_named_error(topic: topics.Topic, payload: bytes) -> None:
    try:
        read_announcement(topics.parse(topic.of(player="a", ship="carrier")), payload)
    except WireError as error:
        assert error.code in CODES


@CASES
@given(json_values)
def test_equality_of_values_is_equality_of_their_canonical_texts(value: object) -> None:
    text = json.dumps(value, sort_keys=True)
    again = json.loads(text)
    assert same_value(again, json.loads(text)) or "NaN" in text


def test_equality_tells_types_apart() -> None:
    for one, other in ((1, True), (1, 1.0), (0, False), ({"a": [1]}, {"a": [True]}), (None, 0), ("1", 1)):
        assert not same_value(one, other)
