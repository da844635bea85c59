"""The golden games come out bit by bit as they were recorded, on every Python and with every later version.

When one of these tests fails, what a contest says has changed. Is that meant? Then the form of transcripts has a new
version, whose reader executes the old games as before. The files stay as they are.
"""

from __future__ import annotations

import gzip
import json
import runpy
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format
from google.protobuf.message import Message

from salvo import messages as m
from salvo import wire
from salvo.rules import BOOKS
from salvo.v1 import transcript_pb2
from salvo.wire import transcript as form
from salvo.wire.announcements import Publication
from salvo_server.records.transcript import TranscriptError, check, parse_transcript, read_transcript

FILES = sorted(Path(__file__).parent.glob("v*/*.jsonl.gz"))
NAMES = [f"{path.parent.name}/{path.name}" for path in FILES]


def _lines(path: Path) -> list[bytes]:
    return gzip.decompress(path.read_bytes()).splitlines(keepends=True)


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_a_golden_game_comes_out_bit_by_bit(path: Path) -> None:
    steps, announcements = check(read_transcript(path))
    assert steps == len(_lines(path)) - 2
    assert announcements >= steps / 2


def test_the_corpus_is_as_large_and_as_eventful_as_promised() -> None:
    lines = [json.loads(line) for path in FILES for line in _lines(path)]
    assert len(lines) >= 10_000
    steps = [line for line in lines if "n" in line]
    kinds = Counter(key for line in steps for key in line if key not in form.STEP_FIELDS)
    assert set(kinds) == {"participate", "place", "fire", "skip", "unreadable", "time", "resume"}
    said = [each for line in steps for each in line["says"]]
    told = Counter(kind for each in said for kind in each)
    assert {"left", "dropped", "turn_resumed", "refused", "placement_refused", "forgotten", "won"} <= set(told)
    codes = {each["refused"]["code"] for each in said if "refused" in each}
    assert {"not_your_turn", "turn_timeout", "stale_context", "unknown_target", "off_grid", "not_json"} <= codes
    assert {"given", "shown", "revealed"} <= set(told)
    assert {"own_board", "shot_before", "no_skipping"} <= codes
    assert {len(each["won"].get("tied", ())) for each in said if "won" in each} == {0, 2}
    assert {line["rules"]["rules"] for line in lines if "rules" in line} == {*BOOKS, "small"}
    assert any("fire" in line and not line["says"] for line in steps), "a void shot"
    assert any(each["result"]["defeated"] and not each["result"]["shots"] for each in said if "result" in each)
    assert {len(line["limits"]) for line in lines if "limits" in line} == {5, 6}, "with and without a number of players"


def test_making_the_games_again_touches_none_that_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in FILES}
    runpy.run_path(str(Path(__file__).with_name("make.py")))["main"]()
    assert capsys.readouterr().out.count("is there, and stays as it is") == len(before)
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in FILES} == before


@pytest.mark.long
@pytest.mark.parametrize("kind", [m.ShotLanded, m.SalvoResolved, m.TurnBegan, m.PlacementJudged, m.GameWon])
def test_one_byte_more_in_what_follows_is_found(kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(announcement: m.Announcement, table: str = "") -> list[Publication]:
        written = wire.announcements.write_announcement(announcement, table)
        if isinstance(announcement, kind):
            written[-1] = written[-1]._replace(payload=written[-1].payload + b" ")
        return written

    monkeypatch.setattr(wire, "write_announcement", write)
    for path in FILES:
        with pytest.raises(TranscriptError, match=r"transcript_diverged: .*, line \d+: .* comes to"):
            check(read_transcript(path))


def test_a_referee_that_says_something_else_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("salvo_server.referee.ANSWERS_PER_SHIP", 0)
    with pytest.raises(TranscriptError, match=r"transcript_diverged: .*, line \d+: the referee says"):
        check(read_transcript(FILES[NAMES.index("v1/4-players-4.jsonl.gz")]))


def test_a_file_of_a_later_form_is_refused_with_what_to_do() -> None:
    first, *rest = _lines(FILES[0])
    later = json.dumps({**json.loads(first), "transcript": 2, "version": "9.1", "more": []}).encode() + b"\n"
    with pytest.raises(TranscriptError) as caught:
        parse_transcript([later, *rest], "game.jsonl")
    assert caught.value.code == "unknown_version"
    assert caught.value.text == (
        "game.jsonl, line 1: a transcript of form 2, written by Salvo 9.1; this one reads the forms 1..1; "
        "install that version or a later one to look at it"
    )


# --- the schema ---------------------------------------------------------------------------------------------------


def _plain(value: Any) -> Any:
    """The JSON mapping prints a double without a fraction as 1.0, and a 64-bit number as a text."""
    if isinstance(value, dict):
        return {key: _plain(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_plain(member) for member in value]
    return int(value) if isinstance(value, float) else value


def _without_empty(value: Any) -> Any:
    """The JSON mapping leaves empty lists away."""
    if isinstance(value, dict):
        return {key: _without_empty(member) for key, member in value.items() if member != []}
    return [_without_empty(member) for member in value] if isinstance(value, list) else value


def _message_for(line: dict[str, Any]) -> Message:
    if "transcript" in line:
        return transcript_pb2.TranscriptHeader()
    return transcript_pb2.TranscriptEnd() if "end" in line else transcript_pb2.TranscriptStep()


@pytest.mark.parametrize(
    "name",
    [
        "v1/2-players-clock.jsonl.gz",
        "v1/2-players-small.jsonl.gz",
        "v1/4-players-4.jsonl.gz",
        "v1/smackdown-2-tie.jsonl.gz",
        "v1/streak-2-1.jsonl.gz",
        "v1/xbs-2-tie.jsonl.gz",
    ],
)
def test_every_line_is_a_message_of_the_schema(name: str) -> None:
    for text in _lines(FILES[NAMES.index(name)]):
        line = json.loads(text)
        message = json_format.Parse(text, _message_for(line))
        assert _plain(json_format.MessageToDict(message)) == _without_empty(line)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (form.HeaderBody, transcript_pb2.TranscriptHeader),
        (form.LimitsBody, transcript_pb2.TranscriptLimits),
        (form.ParticipateBody, transcript_pb2.ParticipateInput),
        (form.StrikeBody, transcript_pb2.StrikeInput),
        (form.LeaveInputBody, transcript_pb2.LeaveInput),
        (form.PlaceBody, transcript_pb2.PlaceInput),
        (form.ContextBody, transcript_pb2.ShotOccasion),
        (form.FireBody, transcript_pb2.FireInput),
        (form.TurnContextBody, transcript_pb2.TurnOccasion),
        (form.SkipInputBody, transcript_pb2.SkipInput),
        (form.UnreadableBody, transcript_pb2.UnreadableInput),
        (form.NothingBody, transcript_pb2.Nothing),
        (form.EndBody, transcript_pb2.EndOfGame),
        (form.EndLine, transcript_pb2.TranscriptEnd),
    ],
)
def test_schema_and_strict_model_have_the_same_fields(model: Any, message: Any) -> None:
    assert set(model.model_fields) == {field.json_name for field in message.DESCRIPTOR.fields}


def test_schema_and_reader_know_the_same_inputs_and_announcements() -> None:
    step = {field.json_name for field in transcript_pb2.TranscriptStep.DESCRIPTOR.fields}
    assert step == {*form.STEP_FIELDS, *form._INPUT_READERS}
    examples: list[m.Announcement] = [
        m.TableOpened(1),
        m.StateChanged(m.State.OVER),
        m.PlayersListed(("a",)),
        m.PlacementJudged("a", "raft", True),
        m.SpellingDropped("a", "raft"),
        m.TurnBegan(1, 1, "a", 1, 0, 1),
        m.TurnResumed(1, 1, "a", 1, 0, 1),
        m.SalvoResolved(1, 1, "a", 1, 1, (), ()),
        m.PlayerStats("a", 1, 1, 1, 1, 1),
        m.GameWon("a"),
        m.PlayerLeft("a"),
        m.GameForgotten(),
        m.ShotLanded("a", 1, 1),
        m.ShotGiven("a", "b", 1, 1),
        m.BoardShown("a", ".X0"),
        m.FleetRevealed("a", ()),
        m.PlacementRefused("a", "raft", "overlap", ""),
        m.CommandRefused("a", "off_grid", ""),
    ]
    kinds = {key for each in form.said(examples) for key in each} | {"rules"}
    assert kinds == {field.json_name for field in transcript_pb2.Said.DESCRIPTOR.fields}
    assert len(examples) + 1 == len(form._SAID)
