"""The published contract, the schema and the code say the same."""

from __future__ import annotations

import ast
import dataclasses
import json
import re
import runpy
import subprocess
import sysconfig
import tomllib
from pathlib import Path
from typing import Annotated, Any

import pytest
from google.protobuf import json_format
from google.protobuf.message import Message

from kit.schema import Pair, of_the_class, of_the_schema, schema_type
from salvo import messages as m
from salvo.codec import announcements, commands, recap, rules
from salvo.codec.announcement_writer import write_announcement
from salvo.codec.commands import ParticipationRequest, ResendRequest
from salvo.codec.recap_reader import read_recap
from salvo.codec.recap_writer import write_recap
from salvo.errors import CODES
from salvo.rules import BOOKS, SALVO, generator, random_fleet
from salvo.v1 import announcements_pb2, commands_pb2
from salvo.wire import topics
from salvo.wire.json_shape import Fields, members_of

ROOT = Path(__file__).parents[2]
README = (ROOT / "proto" / "README.md").read_text()
SOURCES = [path for folder in ("client_sdk", "server", "tests") for path in (ROOT / folder).rglob("*.py")]


@pytest.mark.parametrize(("topic", "message"), [(topics.TURN, m.TurnBegan), (topics.RESULT, m.SalvoResolved)])
def test_the_table_of_topics_names_every_field(topic: topics.Topic, message: Any) -> None:
    for member in members_of(message):
        assert re.search(rf"\b{member.key}\b", topic.payload), f"the row of {topic.pattern} lacks {member.key}"


def test_the_documents_print_the_tables_of_the_code() -> None:
    contract = runpy.run_path(str(ROOT / "proto" / "print_contract.py"))
    for document in contract["DOCUMENTS"]:
        text = document.read_text()
        assert contract["printed"](text) == text, "python proto/print_contract.py"


def test_every_example_stands_below_its_requirement() -> None:
    examples = runpy.run_path(str(ROOT / "proto" / "print_examples.py"))["EXAMPLES"]
    shown = re.findall(r"^- \*\*(SALVO-[A-Z]+-\d+)\*\*(?:(?!^- \*\*).)*?<!-- example (\S+) -->", README, re.M | re.S)
    assert shown == [(requirement, requirement) for requirement, _ in shown]
    assert {requirement for requirement, _ in shown} == set(examples)
    defining_bytes = {
        f"SALVO-{group}" for group in ("SEAL-1", "SEAL-2", "SEAL-4", "JOIN-12", "JOIN-13", "LOG-6", "LOG-8")
    }
    assert set(examples) >= defining_bytes


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
    of_the_sdk = {"fleet_incomplete", "unknown_version", "bad_signature", "bad_key"}
    for path in SOURCES:
        if not {"tests", "human"} & {*path.parts}:  # a person's mistakes at the keys never come to a server
            assert set(raised.findall(path.read_text())) - of_the_sdk <= set(CODES), path


# --- the schema and the classes -------------------------------------------------------------------------------

SHIP = m.SunkShip("b", "carrier", "Carrier")
RESULT = m.SalvoResolved(1, 9, "a", 5, 2, (SHIP,), ("b",))
SEEN = m.RefereeBoard("a", ("aA.", "b.*"), 3, 1, False)
LINE = m.Standing(1, "a", 1500, 3, 1, 1, 1, 3000, 80, 19, 25_120, -1_000, 51_240)
LEAGUE = m.EveningShown(
    "desk",
    "cup",
    2,
    3,
    teams=3,
    left=60,
    matches=(m.LeagueMatch(("a", "b"), "t1"), m.LeagueMatch(("a", "b"), None, (1, 2)), m.LeagueMatch(("c",))),
    rows=(m.LeagueStanding(1, "a", 1_500, 2, 1),),
)
PLACES = m.StandingsTable(
    1_760_000_000_000, 1_760_000_900_000, 3, 1, (LINE,), (m.Uncounted("blue", 2, 1_760_000_000_000),)
)
AIMED = m.RefereeSalvo("b", (m.AimedShot("a", 2, 1, True), m.AimedShot("a", 3, 2, False)))
JSON_ANNOUNCEMENTS: list[tuple[m.Announcement, str, Message]] = [
    (m.TurnBegan(1, 9, "a", 5, 1_760_000_000_000, 1_760_000_030_000), "turn", announcements_pb2.Turn()),
    (RESULT, "result", announcements_pb2.Result()),
    (
        RESULT._replace(sunk=(), defeated=(), hits=0, outcomes_if_announced=(True, False)),
        "result",
        announcements_pb2.Result(),
    ),
    (m.PlayerStats("a", 80, 19, 6, 18, 1), "stats", announcements_pb2.Stats()),
    (m.PlayerStats("a", 0, 0, 0, 0, 2), "stats", announcements_pb2.Stats()),
    (m.ShotLanded("a", 3, 4), "hit", announcements_pb2.Hit()),
    (
        RESULT._replace(shots=2, outcomes_if_announced=(True, False), aims_if_announced=(("b", 3, 4), ("c", 1, 10))),
        "result",
        announcements_pb2.Result(),
    ),
    (
        m.FleetRevealed("a", random_fleet(SALVO, generator(1)).placements),
        "fleet",
        announcements_pb2.Fleet(),
    ),
    *((m.RulesAnnounced(book, "", 60, 30, 300, 3), "rules", announcements_pb2.Rules()) for book in BOOKS.values()),
    (m.RulesAnnounced(SALVO, "blue", 60, 30, 300, 3), "rules", announcements_pb2.Rules()),
    (m.RulesAnnounced(SALVO, "blue", 60, 30, 300, 3, 20, 1), "rules", announcements_pb2.Rules()),
    (m.ServerStatus(True, "0.1.0", 1, "open"), "server", announcements_pb2.Server()),
    (m.ServerStatus(True, "0.1.0", 1, "open", "/game/server"), "server", announcements_pb2.Server()),
    (m.ServerStatus(True, "0.1.0", 1, "open", chat=False), "server", announcements_pb2.Server()),
    (m.ServerStatus(True, "0.1.0", 1, "open", protocol=m.Protocol(1, 7)), "server", announcements_pb2.Server()),
    (m.ServerStatus(True, "0.1.0", 1, "open", players=5), "server", announcements_pb2.Server()),
    (m.ChatPublished("a", "Ahoy!"), "chat", announcements_pb2.ChatLine()),
    (m.MessagePublished("b", "", "Ahoy!"), "message", announcements_pb2.ChatLine()),
    (m.RefereeView(1, 0, 1_760_000_000_000, "a", 5, (SEEN,)), "referee", announcements_pb2.RefereeView()),
    (m.RefereeView(1, 9, 1_760_000_000_000, "", 0, (SEEN,), AIMED, "a"), "referee", announcements_pb2.RefereeView()),
    (m.StandingsShown(PLACES, PLACES), "standings", announcements_pb2.Standings()),
    (LEAGUE, "league", announcements_pb2.Evening()),
    (
        m.ServerStatus(True, "0.1.0", 1, "open", keys=m.ServerKeys(bytes(32), bytes(range(32)))),
        "server",
        announcements_pb2.Server(),
    ),
]


@pytest.mark.parametrize(("announcement", "topic", "message"), JSON_ANNOUNCEMENTS)
def test_an_announcement_is_a_message_of_the_schema(announcement: m.Announcement, topic: str, message: Message) -> None:
    [payload] = [p.payload for p in write_announcement(announcement) if topic in p.topic.split("/")]
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


def test_a_recap_is_a_message_of_the_schema() -> None:
    fleet = random_fleet(SALVO, generator(1)).placements
    recap = m.Recap("a", 1, 2, fleet, (m.OwnShot(1, "b", 3, 4),), ((5, 6),), (RESULT,), ("a", "b"))
    body = json.loads(write_recap(recap, SALVO.grid))
    parsed = json_format.ParseDict(body, announcements_pb2.Recap())
    assert json_format.MessageToDict(parsed) == body
    before = {
        "tallies": [1, 5, 2, 0, 0, 0],
        "sunk": [1, 3],
        "defeated": [1],
        "shots": 5,
        "aimed": ["", "8"],
        "met": ["", "8"],
        "hits": 1,
        "struck": "1",
    }
    short = body | {"aims": [1, 3, 4] * RESULT.shots, "before": before}
    assert json_format.MessageToDict(json_format.ParseDict(short, announcements_pb2.Recap())) == short
    assert read_recap("a", json.dumps(short).encode()).earlier is not None
    known = m.SunkShip("b", "carrier", "carrier")  # the spelling is the owner's business and does not travel
    expected = dataclasses.replace(recap, results=(RESULT._replace(sunk=(known,)),))
    assert read_recap("a", write_recap(recap, SALVO.grid)) == expected


def _payload(shape: Any, *given: str) -> Any:
    """What stands in a payload, without the fields that the topic tells."""
    return Annotated[Any, Fields(shape, *given)]


SHAPES: list[Pair] = [
    (_payload(ParticipationRequest, "table"), commands_pb2.Participation),
    (_payload(m.ShipPlace, "ship"), commands_pb2.Placement),
    (commands.Shot, commands_pb2.Shot),
    (commands.Skip, commands_pb2.Skip),
    (commands.Leave, commands_pb2.Leave),
    (m.HostCommand, commands_pb2.HostCommand),
    (m.NextGame, commands_pb2.NextGame),
    (commands.Line, commands_pb2.Say),
    (_payload(ResendRequest, "table", "player"), commands_pb2.Resend),
    (m.TurnBegan, announcements_pb2.Turn),
    (m.TurnResumed, announcements_pb2.Turn),
    (m.SalvoResolved, announcements_pb2.Result),
    (m.SunkShip, announcements_pb2.SunkShip),
    (m.Aim, announcements_pb2.Aim),
    (_payload(m.PlayerStats, "player"), announcements_pb2.Stats),
    (_payload(m.ShotLanded, "to"), announcements_pb2.Hit),
    (_payload(m.FleetRevealed, "player"), announcements_pb2.Fleet),
    (m.ShipPlace, announcements_pb2.RecapShip),
    (rules.Rules, announcements_pb2.Rules),
    (announcements.ServerBody, announcements_pb2.Server),
    (m.ServerKeys, announcements_pb2.ServerKeys),
    (m.Protocol, announcements_pb2.Protocol),
    (m.RefereeView, announcements_pb2.RefereeView),
    (m.RefereeBoard, announcements_pb2.RefereeBoard),
    (m.RefereeSalvo, announcements_pb2.RefereeSalvo),
    (m.AimedShot, announcements_pb2.AimedShot),
    (m.StandingsShown, announcements_pb2.Standings),
    (m.StandingsTable, announcements_pb2.StandingsTable),
    (m.Standing, announcements_pb2.Standing),
    (m.Uncounted, announcements_pb2.UncountedGame),
    (m.EveningShown, announcements_pb2.Evening),
    (m.LeagueShown, announcements_pb2.League),
    (m.LeagueMatch, announcements_pb2.LeagueMatch),
    (m.LeagueStanding, announcements_pb2.LeagueStanding),
    (m.HostActed, announcements_pb2.HostActed),
    (m.ChatPublished, announcements_pb2.ChatLine),
    (_payload(m.MessagePublished, "to"), announcements_pb2.ChatLine),
    (recap.RecapBody, announcements_pb2.Recap),
    (recap.RecapBefore, announcements_pb2.RecapBefore),
]


@pytest.mark.parametrize(("shape", "message"), SHAPES)
def test_schema_and_class_have_the_same_fields_types_and_presence(shape: Any, message: type[Message]) -> None:
    assert of_the_class(shape, SHAPES) == of_the_schema(message)


@pytest.mark.parametrize(
    ("signed", "name"),
    [
        (commands_pb2.SignedShot, "Shot"),
        (commands_pb2.SignedSkip, "Skip"),
        (commands_pb2.SignedLeave, "Leave"),
        (commands_pb2.SignedHostCommand, "HostCommand"),
    ],
)
def test_a_signed_message_has_one_of_two_bodies_in_the_schema_as_in_the_reader(
    signed: type[Message], name: str
) -> None:
    schema: Any = signed.DESCRIPTOR
    [either] = [oneof for oneof in schema.oneofs if not oneof.name.startswith("_")]
    bodies = {field.name: schema_type(field) for field in either.fields}
    readers = {"data": commands.SignedWithData, "payload": commands.SignedWithPayload}
    assert bodies == dict.fromkeys(readers, name)
    for body, reader in readers.items():
        fields = {each.key: (each.hint, each.required) for each in members_of(reader)}
        # The body is read once it equals the signed one.
        assert fields == {body: (dict[str, Any], True), "signature": (str, True)}
    assert {field.name for field in schema.fields} == {*bodies, "signature"}
    assert schema_type(schema.fields_by_name["signature"]) == "str"


def test_every_schema_message_is_compared_and_distinguishes_0_from_missing() -> None:
    signed = {"SignedShot", "SignedSkip", "SignedLeave", "SignedHostCommand"}
    compared = {message.DESCRIPTOR.name for _, message in SHAPES} | signed
    for file in (commands_pb2.DESCRIPTOR, announcements_pb2.DESCRIPTOR):
        for message in file.message_types_by_name.values():
            assert message.name in compared
            assert all(field.has_presence or field.is_repeated for field in message.fields), message.name


# --- the table of errors --------------------------------------------------------------------------------------------


def test_every_error_text_is_a_sentence_of_the_contract() -> None:
    for name, code in CODES.items():
        assert f"**{code.sentence}**" in README, name
        assert re.search(
            rf"^\| `{name}` \| {re.escape(code.meaning)} \| .+ \| {code.answered} \| {code.sentence} \|$", README, re.M
        )


def _codes_raised() -> set[str]:
    """Return the codes that errors are made with, in the SDK and in the server."""
    bases: dict[str, set[str]] = {}
    calls, codes = [], []
    for path in SOURCES:
        if {"tests", "v1"} & {*path.relative_to(ROOT).parts}:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                bases[node.name] = {_name(base) for base in node.bases}
            elif isinstance(node, ast.Call) and node.args:
                calls.append(node)
            elif isinstance(node, ast.Assign) and _name(node.targets[0]) == "code":
                codes.append(node.value)
    errors = {"SalvoError"}
    while more := {name for name, above in bases.items() if above & errors} - errors:
        errors |= more
    made = [call.args[0] for call in calls if _name(call.func) in errors or _is_of_parent(call.func)]
    either = [each for node in (*made, *codes) for each in (getattr(node, "body", node), getattr(node, "orelse", node))]
    values = [node.value for node in either if isinstance(node, ast.Constant)]
    return {value for value in values if isinstance(value, str) and re.fullmatch(r"[a-z]+(_[a-z]+)*", value)}


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _is_of_parent(node: ast.expr) -> bool:
    return _name(node) == "__init__" and ast.unparse(node) == "super().__init__"


@pytest.mark.long
def test_the_table_of_errors_has_the_cause_and_the_fix_of_every_code() -> None:
    documented = tomllib.loads((ROOT / "proto" / "error_codes.toml").read_text())
    assert documented["fixes"].keys() == CODES.keys()
    assert not documented["local"].keys() & CODES.keys()
    assert _codes_raised() - CODES.keys() - documented["local"].keys() == set()
    sources = "".join(path.read_text() for path in SOURCES if not {"tests", "v1"} & {*path.relative_to(ROOT).parts})
    assert [code for code in documented["local"] if f'"{code}"' not in sources and f" {code}: " not in sources] == []
    assert all(cause and fix for cause, fix in documented["local"].values())
    assert all(documented["fixes"].values())
    assert [*documented["local"]] == sorted(documented["local"])
