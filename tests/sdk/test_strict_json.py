"""JSON at the border: how deep it may be."""

from __future__ import annotations

import pytest

from salvo.codec.strict_json import MAX_JSON_DEPTH, MAX_PAYLOAD_BYTES, parse_json
from salvo.errors import WireError


@pytest.mark.parametrize("nested", ["[" * 4 + "]" * 4, '{"a":[{"b":[1]}]}', '["[[[[[["]', '"[[[[[["', "7"])
def test_four_levels_of_nested_json_are_read(nested: str) -> None:
    parse_json(nested.encode())


def test_any_depth_beyond_is_refused_by_its_code() -> None:
    """Five hundred to a thousand levels were decoded; counting them then ran out of stack, and the server ended."""
    for levels in (MAX_JSON_DEPTH + 1, *range(100, MAX_PAYLOAD_BYTES // 2, 50)):
        for nested in ("[" * levels + "]" * levels, '{"":' * (levels - 1) + "[]" + "}" * (levels - 1)):
            if len(nested) <= MAX_PAYLOAD_BYTES:
                with pytest.raises(WireError, match=r"^too_deep: "):
                    parse_json(nested.encode())


@pytest.mark.parametrize("levels", [MAX_JSON_DEPTH + 1, 1000, MAX_PAYLOAD_BYTES - 9])
@pytest.mark.parametrize("end", ["", "}", "1.5", '{"a', "]["])
def test_json_too_deep_is_refused_as_such_on_every_python(levels: int, end: str) -> None:
    """What has no end was ``too_deep`` from 1,000 levels on with Python 3.11, and ``not_json`` with 3.13."""
    with pytest.raises(WireError, match="too_deep"):
        parse_json(b"[" * levels + end.encode())


@pytest.mark.parametrize("text", ['["\\"[[[[[[", ', '["[[[[[[', "[[[[x", "]]]]]]", '{"a": "[[[[[[" "'])
def test_json_depth_counts_no_brackets_in_strings_and_no_closing_ones(text: str) -> None:
    with pytest.raises(WireError, match="not_json"):
        parse_json(text.encode())


def test_json_depth_is_measured_at_the_deepest_part() -> None:
    with pytest.raises(WireError, match="too_deep"):
        parse_json(b'[1, {"a": 1}, [[[{}]]]]')
    parse_json(b'[1, {"a": {"b": {}}}, [[[2]]], [], []]')


@pytest.mark.parametrize("text", [rb'{"a": "\ud800"}', rb'["\udc00\ud800"]', rb'{"\uD83D": 1}'])
def test_half_of_a_surrogate_pair_is_no_text(text: bytes) -> None:
    """A ship of that name in forged rules was read, and could not even be named in the refusal of the rules."""
    with pytest.raises(WireError, match="not_utf8"):
        parse_json(text)


def test_a_whole_surrogate_pair_is_read_as_one_character() -> None:
    assert parse_json(rb'["\ud83d\ude00", "\u0041"]') == ["\U0001f600", "A"]
