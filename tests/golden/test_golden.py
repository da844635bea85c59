"""The golden games come out bit by bit as they were recorded, on every Python and with every later version.

When one of these tests fails, what a contest announces has changed. Is that meant? Then, from the first release on, the
game's ``messages.Limits`` or ``header.Header`` has it in a field that these games lack, and they come out as before
(CONTRIBUTING.md, habits). The files stay as they are.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import runpy
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import pytest
from google.protobuf import json_format
from google.protobuf.message import Message

from kit.schema import Pair, of_the_class, of_the_schema
from salvo import messages as m
from salvo.codec import steps as steps_form
from salvo.codec import transcript as form
from salvo.codec.announcement_writer import write_announcement
from salvo.codec.announcements import Publication
from salvo.codec.header import FirstLine
from salvo.codec.rules import Rules
from salvo.rules import BOOKS
from salvo.v1 import announcements_pb2, transcript_pb2
from salvo_game.transcript import TranscriptError, check, parse_transcript, read_transcript

FILES = sorted(Path(__file__).parent.glob("v*/*.jsonl.gz"))
#: By game, what :func:`_digest` returned of the file that was recorded first, before the form of protocol 1.0.
PLAYED = json.loads(Path(__file__).with_name("played.json").read_text())
NAMES = [f"{path.parent.name}/{path.name}" for path in FILES]


def _lines(path: Path) -> list[bytes]:
    return gzip.decompress(path.read_bytes()).splitlines(keepends=True)


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_a_golden_game_comes_out_bit_by_bit(path: Path) -> None:
    steps, announcements = check(read_transcript(path))
    assert steps == len(_lines(path)) - 2
    assert announcements >= steps / 2


def _digest(path: Path) -> dict[str, Any]:
    """Return how many steps a game has, and hashes of its moves, results, places and draws."""
    header, *steps, _ = map(json.loads, _lines(path))
    announced = [each for step in steps for each in step["says"]]

    def of(*kinds: str) -> list[Any]:
        return [[each[kind] for each in announced if kind in each] for kind in kinds]

    return {
        "steps": len(steps),
        "moves": _hash([{key: step[key] for key in step if key not in ("n", "says", "check")} for step in steps]),
        "results": _hash(of("landed", "given", "result", "shown", "revealed", "won")),
        "places": _hash(of("stats")),
        "draws": _hash([header["seed"], header["game"], header["rules"], *of("turn")]),
    }


def _hash(value: Any) -> str:
    return hashlib.blake2b(json.dumps(value).encode(), digest_size=16).hexdigest()


@pytest.mark.parametrize("name", PLAYED)
def test_a_golden_game_has_the_moves_results_places_and_draws_that_were_recorded_first(name: str) -> None:
    assert _digest(FILES[NAMES.index(f"v1/{name}.jsonl.gz")]) == PLAYED[name]


def test_the_corpus_is_as_large_and_as_eventful_as_promised() -> None:
    lines = [json.loads(line) for path in FILES for line in _lines(path)]
    assert len(lines) >= 10_000
    steps = [line for line in lines if "n" in line]
    kinds = Counter(key for line in steps for key in line if key in steps_form.INPUTS)
    assert set(kinds) == {"participate", "place", "fire", "skip", "unreadable", "time", "resume"}
    announced = [each for line in steps for each in line["says"]]
    shown = Counter(kind for each in announced for kind in each)
    assert {"left", "dropped", "turn_resumed", "refused", "placement_refused", "forgotten", "won"} <= set(shown)
    codes = {each["refused"]["code"] for each in announced if "refused" in each}
    assert {"not_your_turn", "turn_timeout", "stale_context", "unknown_target", "off_grid", "not_json"} <= codes
    assert {"given", "shown", "revealed"} <= set(shown)
    assert {"own_board", "shot_before"} <= codes
    assert {len(each["won"].get("tied", ())) for each in announced if "won" in each} == {0, 2}
    assert {line["rules"]["rules"] for line in lines if "rules" in line} == {*BOOKS, "small"}
    assert any("fire" in line and not line["says"] for line in steps), "a void shot"
    assert any(each["result"]["defeated"] and not each["result"]["shots"] for each in announced if "result" in each)
    assert {len(line["limits"]) for line in lines if "limits" in line} == {5, 6}, "with and without a number of players"


def test_making_the_games_again_touches_none_that_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in FILES}
    runpy.run_path(str(Path(__file__).with_name("make.py")))["main"]()
    assert capsys.readouterr().out.count("is there, and stays as it is") == len(before)
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in FILES} == before


@pytest.mark.long
@pytest.mark.parametrize("kind", [m.ShotLanded, m.SalvoResolved, m.TurnBegan, m.PlacementJudged, m.GameWon])
def test_one_more_byte_in_an_announcement_is_detected_by_the_transcript(
    kind: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(announcement: m.Announcement, table: str = "") -> list[Publication]:
        written = write_announcement(announcement, table)
        if isinstance(announcement, kind):
            written[-1] = written[-1]._replace(payload=written[-1].payload + b" ")
        return written

    monkeypatch.setattr("salvo_game.table.write_announcement", write)
    for path in FILES[::10]:
        with pytest.raises(TranscriptError, match=r"transcript_diverged: .*, line \d+: .* its check is"):
            check(read_transcript(path))


def test_a_referee_whose_announcements_differ_from_a_transcript_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("salvo_game.match.ANSWERS_PER_SHIP", 0)
    with pytest.raises(TranscriptError, match=r"transcript_diverged: .*, line \d+: the referee makes"):
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


SHAPES: list[Pair] = [
    (FirstLine, transcript_pb2.TranscriptHeader),
    (m.Limits, transcript_pb2.TranscriptLimits),
    (m.Participate, transcript_pb2.ParticipateInput),
    (m.Leave, transcript_pb2.LeaveInput),
    (m.StruckOff, transcript_pb2.StrikeInput),
    (m.PlaceShip, transcript_pb2.PlaceInput),
    (m.Fire, transcript_pb2.FireInput),
    (m.ShotContext, transcript_pb2.ShotOccasion),
    (m.Skip, transcript_pb2.SkipInput),
    (m.TurnContext, transcript_pb2.TurnOccasion),
    (m.Unreadable, transcript_pb2.UnreadableInput),
    (m.TurnDelivered, transcript_pb2.DeliveredInput),
    (m.TimePassed, transcript_pb2.Nothing),
    (m.Resumed, transcript_pb2.Nothing),
    (form.StepLine, transcript_pb2.TranscriptStep),
    (steps_form.PublicLine, transcript_pb2.Said),
    (m.TableOpened, transcript_pb2.SaidOpened),
    (m.StateChanged, transcript_pb2.SaidState),
    (m.PlayersListed, transcript_pb2.SaidPlayers),
    (m.PlacementJudged, transcript_pb2.SaidJudged),
    (m.SpellingDropped, transcript_pb2.SaidDropped),
    (m.TurnBegan, announcements_pb2.Turn),
    (m.TurnResumed, announcements_pb2.Turn),
    (m.SalvoResolved, announcements_pb2.Result),
    (m.PlayerStats, transcript_pb2.SaidStats),
    (m.GameWon, transcript_pb2.SaidWon),
    (m.BoardShown, transcript_pb2.SaidShown),
    (m.FleetRevealed, transcript_pb2.SaidRevealed),
    (m.ShipPlace, announcements_pb2.RecapShip),
    (m.ShotAccepted, transcript_pb2.SaidGiven),
    (m.PlayerLeft, transcript_pb2.SaidLeft),
    (m.TableReset, transcript_pb2.Nothing),
    (Rules, announcements_pb2.Rules),
    (m.ShotLanded, transcript_pb2.SaidLanded),
    (m.PlacementRefused, transcript_pb2.SaidPlacementRefused),
    (m.CommandRefused, transcript_pb2.SaidRefused),
    (Annotated[form.EndOfGame, form.END], transcript_pb2.TranscriptEnd),
    (form.EndOfGame, transcript_pb2.EndOfGame),
]


@pytest.mark.parametrize(
    ("shape", "message"), [pair for pair in SHAPES if pair[1].DESCRIPTOR.file.name.endswith("transcript.proto")]
)
def test_schema_and_class_have_the_same_fields_and_types(shape: Any, message: type[Message]) -> None:
    types = {key: of for key, (of, _) in of_the_class(shape, SHAPES).items()}
    assert types == {key: of for key, (of, _) in of_the_schema(message).items()}


def test_every_message_of_the_schema_is_compared() -> None:
    assert set(transcript_pb2.DESCRIPTOR.message_types_by_name) <= {message.DESCRIPTOR.name for _, message in SHAPES}
