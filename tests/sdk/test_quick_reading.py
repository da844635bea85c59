"""A shot that is read the quick way is what it is the slow way; that any bytes are read or refused, ``fuzz`` shows."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from salvo.codec.command_reader import SignedShot, read_command, read_shot
from salvo.codec.strict_json import same_value
from salvo.errors import WireError
from salvo.messages import Fire
from salvo.rules import SALVO
from salvo.wire import topics
from salvo.wire.seal import make_blob

BLOB = make_blob(b"{}", bytes(32), bytes(16), bytes(24))

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=4,
)
coordinate = st.one_of(st.integers(-5, 15), st.text(max_size=3), json_values)
bodies = st.fixed_dictionaries(
    {"x": coordinate, "y": coordinate},
    optional={"g": json_values, "t": json_values, "n": json_values, "to": json_values, "z": json_values},
)


def _shot(request: SignedShot, plaintext: bytes) -> Fire | str:
    try:
        return read_shot(request, "a", plaintext)
    except WireError as error:
        return str(error)


@pytest.mark.long
@settings(max_examples=50)
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


def test_equality_of_json_values_distinguishes_types() -> None:
    for one, other in ((1, True), (1, 1.0), (0, False), ({"a": [1]}, {"a": [True]}), (None, 0), ("1", 1)):
        assert not same_value(one, other)
