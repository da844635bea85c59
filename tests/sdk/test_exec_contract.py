"""The published schema and example of a program's lines are what our side says and reads."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

from kit.schema import validator_of
from salvo.codec.program_lines import read_answer, read_from_lab
from salvo.errors import WireError

FOLDER = Path(__file__).parents[2] / "proto" / "exec"
MAKE = runpy.run_path(str(FOLDER / "make.py"))
SCHEMA = json.loads((FOLDER / "schema.json").read_text())
EXAMPLE = (FOLDER / "example.jsonl").read_text().splitlines(keepends=True)


def validator(part: str) -> Any:
    return validator_of(SCHEMA | {"anyOf": [{"$ref": f"#/$defs/{part}"}]})


def test_the_files_are_what_their_maker_writes() -> None:
    assert MAKE["schema"]() == SCHEMA, "python proto/exec/make.py"
    assert MAKE["example"]() == EXAMPLE, "python proto/exec/make.py"


def test_the_example_is_a_whole_game_of_lines_that_the_schema_and_our_reader_know() -> None:
    kinds = []
    for line in EXAMPLE:
        kind = json.loads(line).get("type", "answer")
        kinds.append(kind)
        validator("answer" if kind == "answer" else "told").validate(json.loads(line))
        if kind == "answer":
            read_answer(line.encode(), len(line))
        else:
            read_from_lab(line.encode())
    assert kinds == ["game", "fleet", "answer", *["turn", "answer"] * 9, "end"]


@pytest.mark.parametrize(
    "line",
    [
        '{"skip":true}',
        '{"id":0,"skip":true}',
        '{"id":1,"skip":false}',
        '{"id":1,"skip":true,"shot":[]}',
        '{"id":1,"shots":[{"player":"b","x":1}]}',
        '{"id":1,"shots":[["b",1,1]]}',
        '{"id":1,"shots":[{"player":"b","x":"1","y":1}]}',
        '{"id":1,"skip":true,"say":[{"text":"' + "x" * 201 + '"}]}',
        '{"id":1,"skip":true,"say":[' + ",".join(['{"text":"x"}'] * 6) + "]}",
        "[]",
        "null",
    ],
)
def test_what_the_schema_refuses_our_reader_refuses(line: str) -> None:
    assert not validator("answer").is_valid(json.loads(line))
    with pytest.raises(WireError, match=r"^wrong_shape: "):
        read_answer(line.encode(), 65536)


@pytest.mark.parametrize("line", ['{"id":1}', '{"id":1,"skip":true,"shots":[]}', '{"id":1,"fleet":[],"shots":[]}'])
def test_a_program_answer_with_several_parts_is_refused(line: str) -> None:
    with pytest.raises(WireError, match=r"^wrong_shape: .*fleet, shots and skip; give exactly one"):
        read_answer(line.encode(), 65536)
