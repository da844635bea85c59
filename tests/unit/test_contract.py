"""The published contract, the schema and the code say the same."""

from __future__ import annotations

import dataclasses
import json
import re
import runpy
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format
from google.protobuf.message import Message

from salvo import messages as m
from salvo import wire
from salvo.errors import CODES
from salvo.rules import SALVO, Orientation, Placement, generator, random_fleet
from salvo.seal import Sealer
from salvo.v1 import announcements_pb2, commands_pb2

ROOT = Path(__file__).parents[2]
README = (ROOT / "proto" / "README.md").read_text()
SOURCES = [path for folder in ("client_sdk", "server", "tests") for path in (ROOT / folder).rglob("*.py")]


def test_the_readme_prints_the_tables_of_the_code() -> None:
    printed = runpy.run_path(str(ROOT / "proto" / "print_contract.py"))["printed"]
    assert printed(README) == README, "python proto/print_contract.py"


def test_generated_python_is_fresh(tmp_path: Path) -> None:
    generate = runpy.run_path(str(ROOT / "proto" / "generate.py"))["generate"]
    for path in generate(tmp_path):
        committed = ROOT / "client_sdk" / path.relative_to(tmp_path)
        assert path.read_text() == committed.read_text(), "python proto/generate.py"


def test_buf_finds_nothing_to_complain_of() -> None:
    buf = Path(sysconfig.get_path("scripts")) / "buf"
    for command in (["lint"], ["build"]):
        subprocess.run([buf, *command], cwd=ROOT / "proto", check=True)


def test_sentences_are_numbered_without_gaps_or_doubles() -> None:
    numbers: dict[str, list[int]] = {}
    for group, number in re.findall(r"^- \*\*SALVO-([A-Z]+)-(\d+)\*\*", README, re.MULTILINE):
        numbers.setdefault(group, []).append(int(number))
    for found in numbers.values():
        assert found == list(range(1, len(found) + 1))


def test_every_sentence_that_is_cited_exists() -> None:
    existing = set(re.findall(r"\*\*(SALVO-[A-Z]+-\d+)\*\*", README))
    for path in [*SOURCES, *(ROOT / "proto").rglob("*.proto"), *(ROOT / "proto" / "vectors").glob("*.json")]:
        for sentence in re.findall(r"SALVO-[A-Z]+-\d+", path.read_text()):
            assert sentence in existing, f"{path} cites {sentence}"


def test_every_code_that_players_meet_is_published() -> None:
    raised = re.compile(
        r"(?:WireError|IllegalCommand|SealError|CommandRefused)\(\s*(?:player\.name,|name,)?\s*\"([a-z_]+)\""
    )
    of_the_sdk = {"fleet_incomplete", "unknown_version"}
    for path in SOURCES:
        if "tests" not in path.parts:
            assert set(raised.findall(path.read_text())) - of_the_sdk <= set(CODES), path


# --- the schema and the strict reader -------------------------------------------------------------------------------

SHIP = m.SunkShip("b", "carrier", "Carrier")
RESULT = m.SalvoResolved(1, 9, "a", 5, 2, (SHIP,), ("b",))
JSON_ANNOUNCEMENTS: list[tuple[m.Announcement, str, Message]] = [
    (m.TurnBegan(1, 9, "a", 5, 1_760_000_000_000, 1_760_000_030_000), "turn", announcements_pb2.Turn()),
    (RESULT, "result", announcements_pb2.Result()),
    (RESULT._replace(sunk=(), defeated=(), hits=0, outcomes=(True, False)), "result", announcements_pb2.Result()),
    (m.PlayerStats("a", 80, 19, 6, 18, 1), "stats", announcements_pb2.Stats()),
    (m.PlayerStats("a", 0, 0, 0, 0, 2), "stats", announcements_pb2.Stats()),
    (m.ShotLanded("a", 3, 4), "hit", announcements_pb2.Hit()),
    (m.RulesAnnounced(SALVO, "blue", 60, 30, 300, 3), "rules", announcements_pb2.Rules()),
    (m.ServerStatus(True, "0.1.0", 1, "literal"), "server", announcements_pb2.Server()),
    (m.ServerStatus(True, "0.1.0", 1, "literal", "/game/server"), "server", announcements_pb2.Server()),
]


@pytest.mark.parametrize(("announcement", "topic", "message"), JSON_ANNOUNCEMENTS)
def test_an_announcement_is_a_message_of_the_schema(announcement: m.Announcement, topic: str, message: Message) -> None:
    [payload] = [p.payload for p in wire.write_announcement(announcement) if topic in p.topic.split("/")]
    json_format.Parse(payload, message)
    assert _plain(json_format.MessageToDict(message)) == _without_empty(json.loads(payload))


def _plain(value: Any) -> Any:
    """The JSON mapping prints a double without a fraction as 1.0."""
    if isinstance(value, dict):
        return {key: _plain(member) for key, member in value.items()}
    return int(value) if isinstance(value, float) else value


def _without_empty(body: dict[str, Any]) -> dict[str, Any]:
    """The JSON mapping leaves empty lists away."""
    return {key: value for key, value in body.items() if value != []}


def test_what_our_side_sends_is_a_message_of_the_schema() -> None:
    sealer = Sealer("secret", bytes(16))
    shot = json.loads(wire.write_shot(3, 4, m.ShotContext(1, 2, 3, "b"), sealer))
    parsed = json_format.ParseDict(shot, commands_pb2.SignedShot())
    assert json_format.MessageToDict(parsed) == shot
    place = wire.commands.placement_body(Placement("carrier", 3, 2, Orientation.VERTICAL))
    assert json_format.MessageToDict(json_format.ParseDict(place, commands_pb2.Placement())) == place
    asked = json.loads(wire.write_participation("a", "b"))
    assert json_format.MessageToDict(json_format.ParseDict(asked, commands_pb2.Participation())) == asked


def test_a_recap_is_a_message_of_the_schema() -> None:
    fleet = random_fleet(SALVO, generator(1)).placements
    recap = m.Recap("a", 1, 2, fleet, (m.OwnShot(1, "b", 3, 4),), ((5, 6),), (RESULT,))
    body = json.loads(wire.write_recap(recap))
    parsed = json_format.ParseDict(body, announcements_pb2.Recap())
    assert json_format.MessageToDict(parsed) == body
    known = m.SunkShip("b", "carrier", "carrier")  # the spelling is the owner's business and does not travel
    expected = dataclasses.replace(recap, results=(RESULT._replace(sunk=(known,)),))
    assert wire.read_recap("a", wire.write_recap(recap)) == expected


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (wire.commands.ParticipationBody, commands_pb2.Participation),
        (wire.commands.PlacementBody, commands_pb2.Placement),
        (wire.commands.ShotBody, commands_pb2.Shot),
        (wire.announcements._TurnBody, announcements_pb2.Turn),
        (wire.announcements._ResultBody, announcements_pb2.Result),
        (wire.announcements._StatsBody, announcements_pb2.Stats),
        (wire.announcements._HitBody, announcements_pb2.Hit),
        (wire.announcements.RulesBody, announcements_pb2.Rules),
        (wire.announcements._ServerBody, announcements_pb2.Server),
        (wire.announcements._RecapBody, announcements_pb2.Recap),
        (wire.announcements._RecapShip, announcements_pb2.RecapShip),
        (wire.announcements._RecapShot, announcements_pb2.RecapShot),
    ],
)
def test_schema_and_strict_model_have_the_same_fields(model: Any, message: Any) -> None:
    strict = {info.alias or name for name, info in model.model_fields.items()}
    assert strict == {field.json_name for field in message.DESCRIPTOR.fields}
