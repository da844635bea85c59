"""Whatever has a class is read strictly and written as one text; that follows from the class alone."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.hostile_server import EVIL, published
from kit.proofs import SMALL, Played
from salvo import messages as m
from salvo.codec import announcements as a
from salvo.codec import commands as c
from salvo.codec import header, log, log_reader, program_lines, recap, recap_writer, steps, transcript
from salvo.codec.announcement_reader import read_announcement, read_seat
from salvo.codec.json_codec import Codec
from salvo.errors import WireError
from salvo.rules import BOOKS, SALVO, Orientation, Placement, generator, random_fleet
from salvo.view import Shot
from salvo.wire import topics

FLEET = random_fleet(SALVO, generator(1)).placements
PLACEMENT = Placement("carrier", 3, 2, Orientation.VERTICAL)
CONTEXT = m.ShotContext(1, 9, 2, "b")
RESULT = m.SalvoResolved(1, 9, "a", 2, 1, (m.SunkShip("b", "raft"),), ("b",), (True, False), (("b", 3, 4), ("b", 1, 2)))
PLAYED = Played("codec", SMALL, trouble=0.2).play()
ENTRIES = [log_reader.read_entry(log_reader.take_apart(line[:-1])[0]) for line in PLAYED.proof()]
RECEIVED = (program_lines.HeardBody("b", "Ahoy!", True),)
VIEW = m.RefereeView(
    1,
    9,
    1_760_000_000_000,
    "a",
    5,
    (m.RefereeBoard("a", ("aA.", "b.*"), 3, 1, False),),
    m.RefereeSalvo("b", (m.AimedShot("a", 2, 1, True),)),
    "a",
    ("a", "b"),
)
TURN = program_lines.TurnAsked(
    "turn",
    1,
    1,
    milliseconds=5,
    turn=2,
    shots=3,
    players=("a", "b"),
    opponents=("b",),
    fleet=FLEET,
    fired=(Shot("b", 1, 2),),
    boards={"b": ".X0"},
    afloat={"b": ["raft"]},
    results=(program_lines.ResultTold(RESULT, (Shot("b", 3, 4),)),),
    landed=((1, 2),),
    heard=RECEIVED,
)


class Case(NamedTuple):
    """A message with its codec, and what the topic tells of it."""

    codec: Codec[Any]
    value: Any
    given: tuple[str, ...] = ()

    @property
    def text(self) -> bytes:
        return self.codec.write(self.value)


def _recap() -> recap.RecapBody:
    shown = m.Recap("a", 1, 9, FLEET, (m.OwnShot(9, "b", 3, 4),), ((5, 6),), (RESULT._replace(sunk=()),), ("a", "b"))
    before = recap.RecapBefore(
        tallies=((1, 5, 2), (0, 0, 0)), sunk=((1, 3),), defeated=(1,), shots=5, aimed=("", "8"), hits=1, struck="1"
    )
    return recap.RECAP.read(
        recap.RECAP.write(recap_writer.body(shown, shown.results, shown.shots, shown.landed, before))
    )


CASES = {
    "list": Case(a.NAMES, ("a", "b")),
    "turn": Case(a.TURN, m.TurnBegan(1, 9, "a", 5, 1_760_000_000_000, 1_760_000_030_000)),
    "result": Case(a.RESULT, RESULT),
    "stats": Case(a.STATS, m.PlayerStats("a", 80, 19, 6, 18, 1), ("a",)),
    "fleet": Case(a.FLEET, m.FleetRevealed("a", FLEET), ("a",)),
    "hit": Case(a.HIT, m.ShotLanded("a", 3, 4), ("a",)),
    "server": Case(
        a.SERVER, m.ServerStatus(True, "1", 1, "open", keys=m.ServerKeys(bytes(32), bytes(range(32))), chat=False)
    ),
    "referee": Case(a.REFEREE, VIEW),
    "chat": Case(a.CHAT, m.ChatPublished("a", "Ahoy!")),
    "message": Case(a.MESSAGE, m.MessagePublished("b", "a", "Ahoy!"), ("b",)),
    **{
        f"rules of {name}": Case(a.RULES, m.RulesAnnounced(book, "t", 60, 30, 300, 3, 20, 1))
        for name, book in BOOKS.items()
    },
    "participation": Case(c.PARTICIPATION, c.ParticipationRequest("t", "a", "secret"), ("t",)),
    "placement": Case(c.PLACE, m.ShipPlace.of(PLACEMENT), ("carrier",)),
    "shot": Case(c.SHOT, c.Shot.of(3, 4, CONTEXT)),
    "skip": Case(c.SKIP, c.Skip.of(m.TurnContext(1, 9))),
    "signed": Case(c.WITH_DATA, c.SignedWithData({"x": 3}, "blob")),
    "leave": Case(c.LEAVE, c.Leave(9)),
    "say": Case(c.SAY, c.Line("Ahoy!", "b")),
    "resend": Case(c.RESEND, c.ResendRequest("t", "a", 7), ("t", "a")),
    **{
        f"input {type(each).__name__}": Case(steps.INPUT, each)
        for each in (
            m.Participate("a"),
            m.Leave("a", 9),
            m.PlaceShip("a", "Carrier", PLACEMENT, bytes(range(16))),
            m.Fire("a", "b", 3, 4, CONTEXT),
            m.Skip("a", m.TurnContext(1, 9)),
            m.Unreadable("a", "raft", "not_json", "text", True),
            m.StruckOff("a"),
            m.TimePassed(),
            m.Resumed(),
            m.TurnDelivered(9),
        )
    },
    "first line": Case(header.FIRST_LINE, header.FirstLine(PLAYED.header, "00")),
    "step line": Case(
        transcript.STEP_LINE, transcript.StepLine(1, 5, m.Fire("a", "b", 3, 4), (RESULT, m.GameWon("a")), "00")
    ),
    "end line": Case(transcript.END_LINE, transcript.EndOfGame(1, "00")),
    **{
        f"entry {type(each.body).__name__}": Case(log.ENTRY, each)
        for each in {type(each.body): each for each in ENTRIES}.values()
    },
    "hidden": Case(log_reader.HIDDEN, log_reader.Hidden(5, m.Fire("a", "b", 3, 4))),
    "recap": Case(recap.RECAP, _recap()),
    "game": Case(program_lines.FOR_PROGRAM["game"], program_lines.GameTold("game", 1, 1, "a", 7, "7", SALVO)),
    "fleet asked": Case(program_lines.FOR_PROGRAM["fleet"], program_lines.FleetAsked("fleet", 1, 1, 500)),
    "turn asked": Case(program_lines.FOR_PROGRAM["turn"], TURN),
    "answer": Case(
        program_lines.ANSWER,
        program_lines.Answer(id=1, shots=(Shot("b", 1, 2),), say=(program_lines.LineSaid("hi", "b"),)),
    ),
}
#: The kinds of messages that grow by optional fields (SALVO-VERSION-2).
RECEIVED_BY_CLIENTS = {"turn", "result", "stats", "fleet", "hit", "server", "referee", "chat", "message", "recap"} | {
    f"rules of {name}" for name in BOOKS
}
each_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)

#: Objects whose keys are names; a further one is another name.
MAPS = {"fleet", "boards", "afloat", "data"}
#: A shot's row may be a letter (SALVO-GAME-3); and pydantic takes true for the one version that there is.
OF_TWO_TYPES = {("shot", ("y",)), ("game", ("protocol",))}


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every value in a JSON value, with the way to it."""
    yield path, value
    for key, each in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from _places(each, (*path, key))


def _with(value: Any, path: tuple[Any, ...], other: Any) -> Any:
    """The value with another one at a place."""
    if not path:
        return other
    key, rest = path[0], path[1:]
    if isinstance(value, dict):
        return {**value, key: _with(value[key], rest, other)}
    return [*value[:key], _with(value[key], rest, other), *value[key + 1 :]]


def _of_other_types(value: Any) -> list[Any]:
    match value:
        case bool():
            return [int(value), str(value).lower(), [value]]
        case int():
            return [bool(value), str(value), [value]]
        case str():
            return [1, True, [value]]
        case list():
            return [{}, "", 1]
    return [[], "", 1]


@each_case
def test_a_written_message_is_read_back_unchanged(case: Case) -> None:
    assert case.codec.read(case.text, *case.given) == case.value


@each_case
def test_white_space_and_order_of_keys_do_not_change_a_message(case: Case) -> None:
    def turned(value: Any) -> Any:
        if isinstance(value, dict):  # a fleet is in the ruleset's order
            return {key: each if key == "fleet" else turned(each) for key, each in reversed(value.items())}
        return [turned(each) for each in value] if isinstance(value, list) else value

    other = json.dumps(turned(json.loads(case.text)), indent=1).encode()
    assert case.codec.read(other, *case.given) == case.value


@pytest.mark.parametrize("name", CASES)
def test_a_value_of_another_type_is_refused_everywhere(name: str) -> None:
    case, value = CASES[name], json.loads(CASES[name].text)
    for path, each in _places(value):
        if (name, path) in OF_TWO_TYPES or "data" in path[:-1]:
            continue
        for other in _of_other_types(each):
            if path[-1:] == ("winner",) and isinstance(other, list):
                continue  # several that tie
            with pytest.raises(WireError):
                case.codec.read(json.dumps(_with(value, path, other)).encode(), *case.given)


def _with_one_field_more(case: Case) -> Iterator[bytes]:
    value = json.loads(case.text)
    for path, each in _places(value):
        if isinstance(each, dict) and path[-1:] not in {(name,) for name in MAPS}:
            yield json.dumps(_with(value, path, {**each, "strange": 1})).encode()


@pytest.mark.parametrize("name", sorted(RECEIVED_BY_CLIENTS))
def test_a_client_ignores_a_field_of_a_later_version_in_any_object(name: str) -> None:
    case = CASES[name]
    for more in _with_one_field_more(case):
        assert case.codec.read(more, *case.given) == case.value


@pytest.mark.parametrize("name", sorted(RECEIVED_BY_CLIENTS))
def test_a_client_does_not_ignore_that_a_field_is_missing(name: str) -> None:
    case, value = CASES[name], json.loads(CASES[name].text)
    if isinstance(value, dict):
        key = "version" if "version" in value else next(iter(value))
        less = {other: each for other, each in value.items() if other != key}
        with pytest.raises(WireError, match=r"^wrong_shape: "):
            case.codec.read(json.dumps({**less, "later": 1}).encode(), *case.given)


@pytest.mark.parametrize("name", sorted(CASES.keys() - RECEIVED_BY_CLIENTS))
def test_an_unknown_field_in_a_command_or_file_is_refused_by_name(name: str) -> None:
    case = CASES[name]
    for more in _with_one_field_more(case):
        with pytest.raises(WireError, match=r"^wrong_shape: .*strange.*: extra inputs are not permitted"):
            case.codec.read(more, *case.given)


@each_case
def test_a_key_stands_once_however_the_message_was_written(case: Case) -> None:
    value = json.loads(case.text)
    if not isinstance(value, dict) or not value:
        return
    members = [f"{json.dumps(key)}:{json.dumps(each, separators=(',', ':'))}" for key, each in value.items()]
    for key, member in zip(value, members, strict=True):
        with pytest.raises(WireError, match=rf"^duplicate_key: key {re.escape(repr(key))} appears twice"):
            case.codec.read(f"{{{','.join([*members, member])}}}".encode(), *case.given)


@each_case
def test_an_integer_written_with_a_decimal_point_is_refused(case: Case) -> None:
    value = json.loads(case.text)
    for path, each in _places(value):
        if type(each) is int:
            with pytest.raises(WireError, match=r"^not_integer: "):
                case.codec.read(json.dumps(_with(value, path, float(each))).encode(), *case.given)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_text_is_written_in_ascii_as_games_on_record_have_it(text: str) -> None:
    announced = m.ChatPublished("a", text)
    assert a.CHAT.write(announced) == json.dumps({"from": "a", "text": text}, separators=(",", ":")).encode()
    assert a.CHAT.read(a.CHAT.write(announced)) == announced


def test_a_transcripts_last_line_is_read_with_any_white_space_and_key_order() -> None:
    assert transcript.read_line(' { "end" : {"check": "00", "steps": 1} }') == transcript.EndOfGame(1, "00")


def test_fields_that_only_python_has_are_neither_written_nor_read() -> None:
    shown = RESULT._replace(sunk=(m.SunkShip("b", "raft", "R-a-f-t"),))
    assert a.RESULT.write(shown) == a.RESULT.write(RESULT)
    assert a.RESULT.read(a.RESULT.write(shown)) == shown == RESULT
    spelled = a.RESULT.write(shown).replace(b'"ship":"raft"', b'"ship":"raft","spelling":"raft"')
    assert a.RESULT.read(spelled) == RESULT
    with pytest.raises(WireError, match=r"credential: extra inputs are not permitted"):
        steps.read_input('{"participate":{"name":"a","credential":"x"}}')


def test_a_refusal_reason_too_long_for_a_record_is_cut_before_it_is_published() -> None:
    """The story: what the record had cut, a server that took the game up again said otherwise than the first one."""
    unreadable = m.Unreadable("a", "", "not_json", "x" * 1001)
    assert steps.read_input(steps.write_input(unreadable)) == unreadable


def test_messages_and_codec_are_imported_without_pydantic() -> None:
    """It takes longer than everything else; a bot in the arena needs no codec, and `--help` needs none."""
    code = (
        "import sys, salvo.messages, salvo.codec, salvo.codec.log, salvo.codec.program_lines; "
        "print('pydantic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize("topic", ["/players/red/error", "/players/red/ships/carrier/error"])
def test_a_refusal_by_a_hostile_server_does_not_control_the_terminal(topic: str) -> None:
    refused = read_announcement(topics.parse(topic), "bad\033]0;x\007: \033[2J\u202etext".encode())
    assert isinstance(refused, m.CommandRefused | m.PlacementRefused)
    assert (refused.code + refused.text).isprintable()
    assert "text" in refused.text


@pytest.mark.parametrize("text", [EVIL, "\u2028owned", "owned" * 3000], ids=["controls", "a line's end", "very long"])
def test_no_text_of_a_hostile_server_reaches_who_reads_its_announcements(text: str) -> None:
    """Not even a bot, which prints names of its own accord."""
    refused = 0
    for publication in published(text):
        try:
            address = topics.parse(publication.topic)
            read = read_seat if address.topic is topics.SEAT else partial(read_announcement, address)
            assert repr(text)[1:-1] not in repr(read(publication.payload))
        except WireError:
            refused += 1
    assert refused >= 18


@pytest.mark.parametrize("payload", [b"\xa3", b"[\x12[]"], ids=["no text", "no JSON"])
@pytest.mark.parametrize("topic", topics.TOPICS, ids=lambda topic: topic.name)
def test_an_announcement_that_cannot_be_shown_is_refused_or_empty(topic: topics.Topic, payload: bytes) -> None:
    address = topics.parse(topic.of(player="red", ship="carrier"))
    with contextlib.suppress(WireError):
        read = read_announcement(address, payload)
        if isinstance(read, m.CommandRefused | m.PlacementRefused):
            assert read.text.isprintable()
        else:
            assert read in (None, m.PlacementJudged("red", "carrier", approved=False))
