"""The JSON Schema of payloads comes from the published schema, and means the same to a validator that is not ours."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any, Final

import pytest

from kit.schema import validator_of

PROTO: Final = Path(__file__).parents[2] / "proto"
FILE: Final = PROTO / "payloads.schema.json"
SCHEMA: Final = json.loads(FILE.read_text())
VECTORS: Final = {
    "Participation": "participations",
    "SignedShot": "shots",
    "SignedSkip": "skips",
    "SignedLeave": "leaves",
    "Placement": "placements",
}


def _validator(name: str) -> Any:
    return validator_of({"$ref": f"#/$defs/{name}", "$defs": SCHEMA["$defs"]})


def test_the_json_schema_file_is_generated_from_the_descriptors() -> None:
    written = runpy.run_path(str(PROTO / "json_schema.py"))["written"]
    assert written() == FILE.read_text(), "python proto/json_schema.py"


def test_a_validator_that_is_not_ours_finds_it_and_its_examples_valid() -> None:
    _validator("Shot").check_schema(SCHEMA)
    for name, definition in SCHEMA["$defs"].items():
        for example in definition.get("examples", []):
            _validator(name).validate(example)


@pytest.mark.parametrize("name", VECTORS)
def test_the_json_schema_accepts_valid_vectors_and_refuses_wrong_shapes(name: str) -> None:
    seen = {True: 0, False: 0}
    for case in json.loads((PROTO / "vectors" / f"{VECTORS[name]}.json").read_text())["cases"]:
        text = case["input"].get("payload", case["input"].get("text"))
        wrong = case.get("error") == "wrong_shape"
        if text is None or not (wrong or "result" in case):
            continue
        valid = _validator(name).is_valid(json.loads(text))
        assert valid is not wrong or (wrong and valid and _is_about_length(case)), case["description"]
        seen[wrong] += 1
    assert seen[False]


def _is_about_length(case: dict[str, Any]) -> bool:
    """Whether a case is about the length of a text, which no schema of ours has."""
    return "secret" in case["description"]


def test_a_field_of_a_later_version_is_welcome_in_announcements_only() -> None:
    assert _validator("Hit").is_valid({"x": 1, "y": 2, "later": True})
    assert not _validator("Shot").is_valid({"x": 1, "y": 2, "later": True})
