"""JSON at the border: how deep it may be."""

from __future__ import annotations

import pytest

from salvo.errors import WireError
from salvo.wire.strict_json import DEEPEST_JSON, LARGEST_PAYLOAD_BYTES, parse_json


@pytest.mark.parametrize("nested", ["[" * 4 + "]" * 4, '{"a":[{"b":[1]}]}', '["[[[[[["]', "7"])
def test_four_levels_are_read(nested: str) -> None:
    parse_json(nested.encode())


@pytest.mark.parametrize("levels", [DEEPEST_JSON + 1, *range(100, LARGEST_PAYLOAD_BYTES // 2, 50)])
def test_any_depth_beyond_is_refused_by_its_code(levels: int) -> None:
    """Five hundred to a thousand levels were decoded; counting them then ran out of stack, and the server ended."""
    for nested in ("[" * levels + "]" * levels, '{"":' * (levels - 1) + "[]" + "}" * (levels - 1)):
        if len(nested) <= LARGEST_PAYLOAD_BYTES:
            with pytest.raises(WireError) as refused:
                parse_json(nested.encode())
            assert refused.value.code == "too_deep"


def test_the_shallow_part_may_stand_beside_the_deep_one() -> None:
    with pytest.raises(WireError, match="too_deep"):
        parse_json(b'[1, {"a": 1}, [[[{}]]]]')
    parse_json(b'[1, {"a": {"b": {}}}, [[[2]]], [], []]')
