"""Everything that reads what somebody else has written: one target for each parser, with seeds to begin from.

A target takes any bytes. It returns when they were read or refused by an error that its parser documents; whatever
else it raises is a finding. The seeds are the published vectors, the golden files and what our own writers write.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import gzip
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

from kit.raw import upgrade_request
from kit.services import serve
from kit.unbrokered import Wire
from salvo import messages as m
from salvo.codec import log, log_reader, strict_json
from salvo.codec.announcement_reader import read_announcement
from salvo.codec.announcement_writer import write_announcement
from salvo.codec.command_reader import (
    SealedPlacement,
    SignedHost,
    SignedLeave,
    SignedShot,
    read_chat,
    read_command,
    read_host,
    read_leave,
    read_placement,
    read_shot,
)
from salvo.codec.command_writer import write_chat, write_participation
from salvo.codec.commands import HOST, PLACE, read_ship
from salvo.codec.header import Header, read_first_line, read_header, write_header
from salvo.codec.program_lines import answered_fleet, read_answer, read_from_lab
from salvo.codec.recap_reader import read_recap
from salvo.codec.recap_writer import write_recap
from salvo.codec.steps import read_input, write_input
from salvo.codec.transcript import read_line
from salvo.errors import (
    CODES,
    ConnectionLost,
    IllegalCommand,
    ImpostorError,
    ProtocolError,
    SalvoError,
    UnfairGame,
    WireError,
)
from salvo.join.fairness.known_servers import KnownServers
from salvo.join.fairness.witness import Witness
from salvo.net.inbound import Inbound
from salvo.net.mqtt import BrokerUrl
from salvo.rules import SALVO, Fleet
from salvo.wire import topics
from salvo.wire.seal import MAX_RECAP_BLOB_BYTES, Blob, make_blob, parse_blob
from salvo.wire.topics import TOPICS, Publisher
from salvo_game.journal_interface import GameOpened, JournalError, SavedGame, StepTaken
from salvo_game.log import proof_lines
from salvo_game.log_verification import ProofError, compare_stories, verify_lines
from salvo_game.recovery import recover
from salvo_game.referee import Referee
from salvo_game.table import Table
from salvo_game.transcript import TranscriptError, execute, no_status, parse_transcript, read_transcript
from salvo_server.brokers.embedded import packets as p
from salvo_server.brokers.embedded.addresses import split_address
from salvo_server.brokers.embedded.broker import HardenedBroker
from salvo_server.brokers.embedded.dialects import read_properties
from salvo_server.brokers.embedded.limits import WEBSOCKET_READ_BYTES, Access, BrokerLimits
from salvo_server.brokers.embedded.peers import Peer
from salvo_server.brokers.embedded.plain_http import head_of, refusal
from salvo_server.brokers.embedded.tcp_and_websocket import WebSocketEdge
from salvo_server.core.authenticator import Authenticator
from salvo_server.storage.identity import Identity, IdentityError, load_identity
from salvo_server.storage.roster import Roster, RosterError

_ROOT = Path(__file__).parents[2]
_VECTORS = _ROOT / "proto" / "vectors"
_GOLDEN = _ROOT / "tests" / "golden" / "v1" / "2-players-small.jsonl.gz"
#: Where a target's first byte chooses one of several readers.
_COMMANDS = [topic for topic in TOPICS if topic.publisher is not Publisher.SERVER]
BLOB: Final = make_blob(b'{"x":1,"y":1}', bytes(32), bytes(16), bytes(24))


class Target(NamedTuple):
    """One parser.

    Attributes:
        seeds: inputs to begin from.
        longest: bytes of input that are worth trying.
        cost: gets so many times fewer inputs than the quick ones.
    """

    name: str
    read: Callable[[bytes], None]
    seeds: Callable[[], list[bytes]]
    longest: int = 4200
    cost: int = 1


@contextlib.contextmanager
def _refused(*errors: type[SalvoError]) -> Iterator[None]:
    """Let the documented errors pass, and see that they can be printed, sent and looked up."""
    refused: SalvoError | None = None
    try:
        yield
    except errors as error:
        refused = error
    if refused is None:
        return
    refused.text.encode()
    if isinstance(refused, (WireError, IllegalCommand)):  # these travel
        assert len(refused.text) < 1000, refused.text
        assert refused.code in CODES or refused.code in _ELSEWHERE, refused.code


#: Codes of errors that stay on one side: they never travel and are not in the table of those that do.
_ELSEWHERE: Final = {"fleet_incomplete", "unknown_version"}


# --- what teams and servers say -----------------------------------------------------------------------------------


def _topic(data: bytes) -> None:
    with _refused(WireError):
        address = topics.parse(data.decode(errors="surrogateescape"))
        assert address.topic.of(address.table, player=address.player, ship=address.ship)


def _name(data: bytes) -> None:
    with _refused(WireError):
        topics.check_name(data.decode(errors="surrogateescape"))


def _chosen(data: bytes, rows: Sequence[topics.Topic]) -> tuple[topics.Address, bytes]:
    row = rows[data[0] % len(rows)] if data else rows[0]
    return topics.parse(row.of(player="ann", ship="carrier")), data[1:]


def _command(data: bytes) -> None:
    address, payload = _chosen(data, TOPICS)
    with _refused(WireError):
        read_command(address, payload, SALVO)


def _line(data: bytes) -> None:
    with _refused(WireError):
        line = read_chat(data)
        assert read_chat(write_chat(line.text, line.to)) == line
        [announced] = write_announcement(m.ChatPublished("ann", line.text))
        assert read_announcement(topics.parse(announced.topic), announced.payload) == m.ChatPublished("ann", line.text)


def _program_line(data: bytes) -> None:
    with _refused(WireError):
        read_from_lab(data)
    with _refused(WireError, IllegalCommand):
        answer = read_answer(data, 65536)
        if answer.fleet is not None:
            answered_fleet(SALVO, answer.fleet)


def _opened(data: bytes) -> None:
    blob = Blob(bytes(16), bytes(24), b"")
    with _refused(WireError, IllegalCommand):
        read_placement(SealedPlacement("", "ann", "carrier", "carrier", blob), data).placement.cells(SALVO)
    with _refused(WireError, IllegalCommand):
        body = strict_json.parse_json(data)
        if isinstance(body, dict):
            shot = read_shot(SignedShot("", "bob", body, blob), "ann", data)
            SALVO.grid.cell(shot.x, shot.y)

    with _refused(WireError):
        body = strict_json.parse_json(data)
        if isinstance(body, dict):
            assert read_leave(SignedLeave("", "ann", body, blob), data).player == "ann"


def _host(data: bytes) -> None:
    """What a host has signed, in the journal, at tables and as everybody hears of it."""
    with _refused(WireError):
        body = strict_json.parse_json(data)
        if not isinstance(body, dict):
            return
        command = read_host(SignedHost("", "desk", body, Blob(bytes(16), bytes(24), b""), data), data)
        assert read_input(write_input(command)) == command
        if command.settings is not None:
            header = replace(_header(), limits=command.settings.limits(m.Limits(players=2)))
            assert read_header(write_header(header)) == header
        for table in _two_tables():
            for sent in table.carry_out(replace(command, by="desk", context=None), 2_000).publications:
                if sent.payload:
                    read_announcement(topics.parse(sent.topic), sent.payload)


def _two_tables() -> Iterator[Table]:
    """A lobby with two complete fleets, and a game."""
    for players in (3, 2):
        referee = Referee(1, limits=m.Limits(players=players))
        for name in ("ann", "bob"):
            referee.receive(m.Participate(name, b""), 1_000)
            for place in _fleet().placements:
                referee.receive(m.PlaceShip(name, place.ship, place), 1_000)
        yield Table(referee, no_status)


@cache
def _header() -> Header:
    return Table(Referee(1), no_status).header


def _strict(data: bytes) -> None:
    for largest, deepest in ((4096, 4), (64 * 1024, 8)):
        with _refused(WireError):
            value = strict_json.parse_json(data, largest, deepest)
            assert strict_json.same_value(value, json.loads(data))


def _blob(data: bytes) -> None:
    text = data.decode(errors="surrogateescape")
    for longest in (1024, MAX_RECAP_BLOB_BYTES):
        with _refused(WireError):
            assert len(parse_blob(text, longest).salt) == 16


def _ship(data: bytes) -> None:
    with _refused(WireError):
        assert read_ship(data.decode(errors="surrogateescape"), SALVO) in SALVO.ship_number


def _announcement(data: bytes) -> None:
    address, payload = _chosen(data, TOPICS)
    with _refused(ProtocolError, WireError):
        read_announcement(address, payload)


def _recap(data: bytes) -> None:
    with _refused(WireError):
        read_recap("ann", data)


def _broker_url(data: bytes) -> None:
    text = data.decode(errors="replace")
    with _refused(ConnectionLost):
        url = BrokerUrl.parse(text)
        assert BrokerUrl.parse(str(url)).address == url.address
        url.host.encode("idna")  # as a resolver begins
    with _refused(SalvoError):
        split_address(text)[0].encode("idna")


# --- files --------------------------------------------------------------------------------------------------------


def _transcript_line(data: bytes) -> None:
    text = data.decode(errors="replace")
    for read in (read_first_line, read_line):
        with _refused(WireError):
            read(text)


def _transcript(data: bytes) -> None:
    with _refused(TranscriptError):
        parse_transcript(data.splitlines(keepends=True), "fuzzed")


def _journal_record(data: bytes) -> None:
    text = data.decode(errors="replace")
    with _refused(WireError):
        read_header(text)
    with _refused(WireError):
        read_input(text)


def _journal(data: bytes) -> None:
    """A header and the steps of a journal that somebody has had in hand; the checks are not what stops them."""
    header, *records = data.decode(errors="replace").split("\n")[:30]
    steps = [StepTaken(number, 1, 1000 * number, text, b"") for number, text in enumerate(records, start=1)]
    with _refused(JournalError):
        recover(SavedGame(GameOpened(1, "", 1, 0, header), steps, ()), no_status, 0)


@cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="salvo-fuzz-"))


def _file(name: str, data: bytes) -> Path:
    path = _folder() / name
    path.write_bytes(data)
    path.chmod(0o600)
    return path


def _roster(data: bytes) -> None:
    with _refused(RosterError):
        assert len(_stored_roster().members()) >= 0
    path = _file("roster.json", data)
    with _refused(RosterError):
        Roster(path).accounts()


@cache
def _stored_roster() -> Roster:
    roster = Roster(_folder() / "kept.json")
    if not roster.members():
        roster.add("ann")
    return roster


def _keys(data: bytes) -> None:
    path = _file("keys", data)
    with _refused(IdentityError):
        assert len(load_identity(path).signing_key) == 32
    with _refused(SalvoError):
        KnownServers(path).key_of("mqtt://host:1883")


# --- the signed log -----------------------------------------------------------------------------------------------

_IDENTITY: Final = Identity(bytes(range(32)))


def _entry(data: bytes) -> None:
    with _refused(WireError):
        log_reader.take_apart(data)
    with _refused(WireError):
        assert log.write_entry(log_reader.read_entry(data))
    with _refused(WireError):
        log_reader.read_hidden(data.decode(errors="replace"))


def _proof(data: bytes) -> None:
    with _refused(ProofError):
        verify_lines(iter(data.splitlines(keepends=True)), "fuzzed")


def _signed_proof(data: bytes) -> None:
    """A server that signs whatever it likes, in an unbroken chain: its log is judged, and never breaks the judge."""
    lines: list[bytes] = []
    of, prev = "", ""
    for text in data.split(b"\n")[:400]:
        try:
            entry = json.loads(text)
        except (ValueError, RecursionError):
            entry = None
        if isinstance(entry, dict) and "n" in entry:
            entry["n"], entry["prev"] = len(lines), prev
            if of:
                entry["of"] = of
            text = json.dumps(entry, separators=(",", ":")).encode(errors="replace")
        prev = log.entry_digest(text).hex()
        of = of or prev[: 2 * log.OF_BYTES]
        lines.append(log.sign_entry(text, _IDENTITY.sign) + b"\n")
    with _refused(ProofError):
        assert str(verify_lines(iter(lines), "fuzzed").finding)


def _witness(data: bytes) -> None:
    """A server that signs whatever it likes, to a team that has missed some: it is believed, or it is not."""
    witness = Witness("ann")
    witness.key = _IDENTITY.signing_key
    for number, line in enumerate(data.split(b"\n")[:400]):
        payload = line if line.startswith(b'{"entry":') else log.sign_entry(line, _IDENTITY.sign)
        with _refused(WireError, ImpostorError, UnfairGame):
            witness.logged(payload, 0.0)
        first = witness.missed(float(number))
        assert first is None or first >= 0
        witness.follows(1)


def _unordered(data: bytes) -> None:
    """A proof whose lines somebody has cut, mixed, doubled and changed, of a whole game and what a team noted."""
    lines = [*_proof_lines(), *_notes()]
    for at, change in zip(data[::2], data[1::2], strict=False):
        line = lines.pop(at % len(lines))
        if change & 1:
            lines.insert(change % len(lines), line)
        if change & 2:
            lines.append(line)
        if change & 4:
            place = change * 7 % len(line)
            lines.append(line[:place] + bytes([change]) + line[place + 1 :])
        if not lines:
            return
    report = verify_lines(iter(lines), "fuzzed")
    assert report.finding is None or report.finding.fault is not log_reader.Fault.SERVER, report.finding
    compare_stories([report, verify_lines(iter(_proof_lines()), "whole")])


@cache
def _notes() -> list[bytes]:
    sent: list[dict[str, Any]] = [
        {"team": "ann", "topic": "/players/bob/fire", "body": {"x": 1, "y": "B"}},
        {"team": "ann", "topic": "/players/ann/skip", "body": {}},
        {"team": "ann", "topic": "/players/ann/leave", "body": {"g": 1}},
        {"team": "ann", "topic": "/players/ann/ships/carrier/place", "message": "00" * 16},
    ]
    return [json.dumps({"sent": each}, separators=(",", ":")).encode() + b"\n" for each in sent]


# --- the embedded broker ------------------------------------------------------------------------------------------


class _Edge:
    def write(self, packets: bytes) -> None: ...
    def pause_reading(self) -> None: ...
    def resume_reading(self) -> None: ...
    def close(self, reason: str = "") -> None: ...
    def abort(self) -> None: ...


@cache
def _loop() -> asyncio.AbstractEventLoop:
    return asyncio.new_event_loop()


_CONFIG: Final = {"listeners": {"default": {"type": "tcp", "bind": "127.0.0.1:0"}}, "plugins": {}}


@cache
def _broker() -> HardenedBroker:
    """One broker for all inputs: sessions and retained messages of some are there for others, up to its limits."""
    return HardenedBroker(_CONFIG, {}, BrokerLimits(), Access())


async def _connect(data: bytes) -> None:
    broker = _broker()
    peer = broker.welcome(_Edge(), "fuzz")
    assert isinstance(peer, Peer)
    half = len(data) // 2
    peer.feed(data[:half])
    peer.feed(data[half:])
    peer.lost()
    await asyncio.sleep(0)  # its will, if it has one
    assert not broker.peers


def _packets(data: bytes) -> None:
    """All that one connection sends, from its first byte on."""
    _loop().run_until_complete(_connect(data))


_GREETING: Final = b"\x10\x0d\0\4MQTT\4\2\0\x3c\0\1c"


def _packets_after_greeting(data: bytes) -> None:
    _loop().run_until_complete(_connect(_GREETING + data))


_GREETING_5: Final = b"\x10\x0e\0\4MQTT\5\2\0\x3c\0\0\1c"


def _packets_after_greeting_5(data: bytes) -> None:
    _loop().run_until_complete(_connect(_GREETING_5 + data))


class _Transport(asyncio.Transport):
    """Takes everything, until it is closed."""

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self if name == "socket" else "fuzz"

    def setsockopt(self, *_: int) -> None: ...
    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None: ...
    def write(self, data: bytes | bytearray | memoryview) -> None: ...
    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None: ...
    def pause_reading(self) -> None: ...
    def resume_reading(self) -> None: ...
    def abort(self) -> None: ...


_UPGRADE: Final = upgrade_request()


async def _speak(data: bytes) -> None:
    edge = _broker()._greet_websocket()
    assert isinstance(edge, WebSocketEdge)
    edge.connection_made(_Transport())
    at = 0
    while at < len(data):
        part = data[at : at + WEBSOCKET_READ_BYTES]
        edge.get_buffer(-1)[: len(part)] = part
        edge.buffer_updated(len(part))
        at += len(part)
    edge.connection_lost(None)
    await asyncio.sleep(0)
    assert not _broker().peers
    assert not _broker().web_edges


def _websocket(data: bytes) -> None:
    """All that one WebSocket sends, from the first byte of its request on."""
    _loop().run_until_complete(_speak(data))


def _frames(data: bytes) -> None:
    _loop().run_until_complete(_speak(_UPGRADE + data))


def _some_frames() -> list[bytes]:
    packets = (_GREETING + b"\xc0\0", _GREETING_5 + b"\xe0\0")
    whole = [b"\x82" + bytes((128 | len(packet),)) + bytes(4) + packet for packet in packets]
    return [*whole, whole[0] + b"\x89\x80\0\0\0\0\x88\x82\0\0\0\0\3\xe8", b"\x02\x81\0\0\0\0\x10\x80\x80\0\0\0\0"]


def _one_packet(data: bytes) -> None:
    with contextlib.suppress(p.ProtocolFault):
        found = p.cut(data, 0, 1024)
        if found is not None:
            start, end = found
            assert 2 <= start <= end <= len(data)
    with contextlib.suppress(p.ProtocolFault):
        assert read_properties(data, 0, p.PUBLISH).end <= len(data)


# --- the whole server ---------------------------------------------------------------------------------------------


class _Never(Executor):
    """Derives no key, so that an input costs microseconds."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        return Future()


class _Server:
    """A service with a game on, kept over all inputs; its clock ticks with each."""

    def __init__(self) -> None:
        self.now = 1_000_000
        self.edge = Wire()
        self.service = serve(
            self.edge,
            ["", "blue"],
            seed=1,
            clock=lambda: self.now,
            limits=m.Limits(players=2),
            gate=Authenticator(executor=_Never()),
            identity=_IDENTITY,
        )
        self.edge.connect()
        self.service.step()
        for name, salt in (("ann", bytes(16)), ("bob", bytes(range(16)))):
            self.edge.give("/game/request_participation", write_participation(name, name))
            self.service.step()
            self.service.gate.keyring.restore("", name, [(salt, bytes(32))])
            for placement in _fleet().placements:
                blob = make_blob(PLACE.write(m.ShipPlace.of(placement)), bytes(32), salt)
                self.edge.give(topics.PLACE.of(player=name, ship=placement.ship), blob.encode())
            self.service.step()
        assert self.service.tables[""].referee.state is m.State.TURN

    def hear(self, data: bytes) -> None:
        self.now += 7
        table, row, flags = (*data[:3], 0, 0, 0)[:3]
        topic = _COMMANDS[row % len(_COMMANDS)].of("blue" if table & 1 else "", player="bob", ship="Carrier")
        payload = data[3:]
        if flags & 2:
            raw, _, payload = payload.partition(b"\n")
            topic = raw.decode(errors="replace")
        self.edge.inbox.append(Inbound(topic, payload, bool(flags & 1), 1, 1))
        self.service.step()
        self.edge.announced.clear()
        self.edge.acknowledged.clear()


@cache
def _fleet() -> Fleet:
    return SALVO.random_fleet(Random(1))


@cache
def _server() -> _Server:
    return _Server()


def _service(data: bytes) -> None:
    server = _server()
    server.hear(data)
    if server.service.tables[""].referee.state is not m.State.TURN:
        _server.cache_clear()  # time has passed, and nobody fired


# --- seeds --------------------------------------------------------------------------------------------------------


def _payload(given: Any, name: str = "payload") -> bytes:
    return bytes.fromhex(given[f"{name}_hex"]) if f"{name}_hex" in given else str(given[name]).encode()


@cache
def _vectors(name: str) -> list[Any]:
    return [case["input"] for case in json.loads((_VECTORS / f"{name}.json").read_text())["cases"]]


@cache
def _messages() -> list[Any]:
    """The messages of the published refusals, one of each payload and topic's row."""
    vectors = json.loads((_VECTORS / "refusals.json").read_text())
    given = [*vectors["states"].values(), *vectors["cases"]]
    return [message for each in given for message in each["messages"]]


def _of_rows(rows: Sequence[topics.Topic]) -> list[bytes]:
    """The published messages, each behind the number of its row."""
    seeds = []
    for message in _messages():
        with contextlib.suppress(WireError, ValueError):
            row = rows.index(topics.parse(message["topic"]).topic)
            seeds.append(bytes([row]) + _payload(message))
    for name, kind in (("shots", "fire"), ("participations", "request_participation")):
        row = [topic.name for topic in rows].index(kind)
        seeds += [bytes([row]) + _payload(given) for given in _vectors(name)]
    return sorted(set(seeds))


def _commands() -> list[bytes]:
    resends = [bytes([TOPICS.index(topics.RESEND)]) + str(given).encode() for given in _vectors("resends")]
    return [*_of_rows(TOPICS), *(bytes([row]) + BLOB.encode() for row in range(len(TOPICS))), *resends]


def _service_seeds() -> list[bytes]:
    live = [b"\0" + seed[:1] + b"\0" + seed[1:] for seed in _of_rows(_COMMANDS)]
    named = [b"\0\0\2" + message["topic"].encode() + b"\n" + _payload(message) for message in _messages()[:40]]
    own = json.dumps({"data": {"x": 1, "y": 1}, "signature": BLOB}).encode()
    rows = [topic.name for topic in _COMMANDS]
    again = [bytes([0, rows.index("resend"), 0]) + str(given).encode() for given in _vectors("resends")]
    return [
        *live,
        *named,
        *again,
        bytes([0, rows.index("fire"), 0]) + own,
        bytes([0, rows.index("place"), 1]) + BLOB.encode(),
        bytes([0, rows.index("leave"), 0]) + json.dumps({"data": {"g": 1}, "signature": BLOB}).encode(),
    ]


def _announcements() -> list[bytes]:
    line = m.Standing(1, "ann", 1000, 1, 1, 0, 0, 0, 80, 19, 27_640, 11_860, 43_419)
    table = m.StandingsTable(1000, 2000, 1, 1, (line,), (m.Uncounted("blue", 2, 2000, "desk"),))
    announced: list[m.Announcement] = [
        m.StateChanged(m.State.TURN),
        m.PlayersListed(("ann", "bob")),
        m.PlacementJudged("ann", "carrier", True),
        m.TurnBegan(1, 2, "ann", 5, 1000, 31_000),
        _result(),
        m.PlayerStats("ann", 1, 1, 0, 1, 1),
        m.GameWon("ann"),
        m.GameWon(""),
        m.RulesAnnounced(SALVO, "", 60, 30, 300, 3),
        m.ServerStatus(True, "1", 1, "open"),
        m.ShotLanded("ann", 3, 4),
        m.PlacementRefused("ann", "carrier", "overlap", "carrier overlaps"),
        m.CommandRefused("ann", "off_grid", "x=0"),
        m.ChatPublished("ann", "Ahoy!"),
        m.MessagePublished("bob", "", "Ahoy!"),
        m.StandingsShown(table, table),
        *map(m.HostActed.of, _host_commands()),
    ]
    written = [publication for each in announced for publication in write_announcement(each)]
    return [bytes([TOPICS.index(topics.parse(topic).topic)]) + payload for topic, payload, _ in written]


def _host_commands() -> list[m.HostCommand]:
    settings = m.NextGame(players=2, placement_seconds=9, turn_seconds=9, over_seconds=9, pace_ms=0)
    given: dict[m.HostAction, dict[str, Any]] = {
        m.HostAction.EXTEND: {"seconds": 60},
        m.HostAction.REMOVE: {"team": "ann"},
        m.HostAction.ANNOUNCE: {"text": "Ahoy!"},
        m.HostAction.SET: {"settings": replace(settings, teams=("ann", "bob"))},
        m.HostAction.ANNUL: {"game": 1},
    }
    return [m.HostCommand("desk", do, **given.get(do, {}), context=1) for do in m.HostAction]


def _program_lines() -> list[bytes]:
    example = (_VECTORS.parent / "exec" / "example.jsonl").read_bytes()
    return [*example.splitlines(), b'{"id":2,"skip":true,"say":[{"text":"Ahoy!","to":"b"}]}']


def _result() -> m.SalvoResolved:
    return m.SalvoResolved(1, 2, "ann", 5, 3, (m.SunkShip("bob", "carrier", "Carrier"),), ("bob",), (True, False))


def _recaps() -> list[bytes]:
    placements = _fleet().placements
    shots = (m.OwnShot(1, "bob", 2, 3),)
    results = (_result()._replace(turn=1, shots=2),)
    whole = write_recap(m.Recap("ann", 1, 2, placements, shots, ((1, 2),), results, ("ann", "bob")), SALVO.grid)
    before = {"tallies": [1, 5, 2, 0, 0, 0], "sunk": [1, 0], "defeated": [1], "shots": 1, "hits": 1, "struck": "1"}
    before |= {"aimed": ["", "08"], "met": ["", "08"]}
    shortened = json.loads(whole) | {"first": 2, "before": before, "outcomes": "10", "aims": [1, 2, 3, 1, 4, 5]}
    return [whole, json.dumps(shortened).encode()]


@cache
def _golden() -> list[bytes]:
    return gzip.decompress(_GOLDEN.read_bytes()).splitlines(keepends=True)


def _lines() -> list[bytes]:
    """One line of every kind of input."""
    kinds: dict[str, bytes] = {}
    for line in _golden():
        kinds.setdefault(",".join(json.loads(line)), line)
    return list(kinds.values())


def _inputs() -> list[str]:
    steps = [json.loads(line) for line in _golden()[1:-1]]
    return [json.dumps({k: v for k, v in step.items() if k not in ("n", "at", "says", "check")}) for step in steps]


def _journal_header() -> bytes:
    header = json.loads(_golden()[0])
    del header["check"]
    return json.dumps(header).encode()


@cache
def _proof_lines() -> list[bytes]:
    """The log of a whole game by the seed."""
    transcript = read_transcript(_GOLDEN)
    return proof_lines(transcript.header, list(execute(transcript)), _IDENTITY)


def _entries() -> list[bytes]:
    return [log_reader.take_apart(line.rstrip(b"\n"))[0] for line in _proof_lines()]


def _some_entries() -> list[bytes]:
    """The game's first entries with its last ones, and the last ones alone."""
    entries = _entries()
    return [b"\n".join(entries), b"\n".join(entries[:12] + entries[-3:]), b"\n".join(entries[-3:])]


def _roster_files() -> list[bytes]:
    return [_stored_roster().path.read_bytes(), b'{"roster": 1, "members": []}']


def _key_files() -> list[bytes]:
    known = {"mqtt://host:1883": base64.b64encode(bytes(32)).decode()}
    path = _folder() / "identity"
    load_identity(path)
    return [path.read_bytes(), json.dumps(known).encode(), json.dumps({"servers": known}).encode()]


def _packet(first: int, body: bytes) -> bytes:
    return p.packet(first, body)


def _after_greeting() -> list[bytes]:
    topic = p.with_length("/game/state")
    return [
        _packet(0x82, b"\0\1" + topic + b"\1" + p.with_length("+/#") + b"\0"),
        _packet(0xA2, b"\0\2" + topic),
        _packet(0x32, topic + b"\0\3hello"),
        _packet(0x31, topic + b"kept"),
        _packet(0x34, topic + b"\0\4twice") + b"\x62\2\0\4",
        _packet(0x82, b"\0\1\0\1#\1") + _packet(0x32, topic + b"\0\3hello") + b"\x40\2\0\1",
        b"\xc0\0",
        b"\xe0\0",
    ]


def _after_greeting_5() -> list[bytes]:
    topic, user = p.with_length("/game/state"), b"\x26" + p.with_length("a") + p.with_length("b")
    about = b"\1\1\2\0\0\0\x3c" + b"\3" + p.with_length("text") + b"\x09" + p.with_length("x") + user
    return [
        _packet(0x82, b"\0\1" + bytes((len(user),)) + user + topic + b"\x11" + p.with_length("#") + b"\x24"),
        _packet(0x82, b"\0\1\2\x0b\1" + topic + b"\1"),
        _packet(0xA2, b"\0\2\0" + topic),
        _packet(0x33, topic + b"\0\3" + bytes((len(about),)) + about + b"hello"),
        _packet(0x34, topic + b"\0\4\0twice") + b"\x62\4\0\4\x92\0",
        _packet(0x30, b"\0\0\3\x23\0\1alias"),
        _packet(0x82, b"\0\1\0" + topic + b"\1") + _packet(0x32, topic + b"\0\3\0hello") + b"\x40\3\0\1\x10",
        b"\xe0\7\4\5\x11\0\0\0\0",
        b"\xf0\2\x18\0",
    ]


def _greetings() -> list[bytes]:
    head = b"\0\4MQTT\4"
    name = p.with_length("c")
    will = p.with_length("/game/state") + p.with_length("will")
    user = p.with_length("ann") + p.with_length("secret")
    greetings = [
        _GREETING,
        _packet(0x10, head + b"\x26\0\x3c" + name + will),
        _packet(0x10, head + b"\xc2\0\x3c" + name + user),
        _packet(0x10, head + b"\xee\0\0" + name + will + user),
        _packet(0x10, head + b"\2\0\0\0\0"),
        _packet(0x10, b"\0\4MQTT\5\2\0\x3c\0" + name),
        _packet(0x10, b"\0\6MQIsdp\3\2\0\x3c" + name),
    ]
    five = b"\0\4MQTT\5"
    properties = b"\x0e\x11\0\0\0\x3c\x21\0\x0a\x27\0\0\4\0\x17\1"[:15]
    greetings += [
        _GREETING_5,
        _packet(0x10, five + b"\0\0\x3c" + properties + name),
        _packet(0x10, five + b"\x2e\0\x3c\0" + name + b"\5\x18\0\0\0\0" + will),
        _packet(0x10, five + b"\2\0\x3c\7\x15" + p.with_length("SCRAM")[:6] + name),
    ]
    return [*greetings, *(_GREETING + rest for rest in _after_greeting())]


def _http_head(data: bytes) -> None:
    """A plain request: one whole refusal, which tells nothing of what was asked."""
    head = head_of(data)
    announced = refusal(head)
    first, _, body = announced.partition(b"\r\n\r\n")
    length = int(first.rpartition(b" ")[2])
    assert len(body) in ((0, length) if data.startswith(b"HEAD ") else (length,))
    assert int(first[9:12]) in ((431,) if head is None else (400, 426))


_TOPIC_SEEDS = [topic.of(table, player="ann", ship="carrier").encode() for topic in TOPICS for table in ("", "blue")]

TARGETS: Final = (
    Target("topic", _topic, lambda: _TOPIC_SEEDS, 300),
    Target("name", _name, lambda: [b"ann", b"players", "\u0430nn".encode(), b"a" * 33], 80),
    Target("ship", _ship, lambda: [str(given).encode() for given in _vectors("ships")], 80),
    Target("command", _command, _commands),
    Target("line", _line, lambda: [_payload(given) for given in _vectors("lines")]),
    Target(
        "opened body",
        _opened,
        lambda: (
            [_payload(given, "text") for given in _vectors("placements")]
            + [b'{"x":1,"y":"B"}', b'{"x":1,"y":2,"g":1,"t":2,"n":3,"to":"bob"}']
        ),
    ),
    Target("host", _host, lambda: [HOST.write(command) for command in _host_commands()], 1024, 4),
    Target(
        "strict JSON", _strict, lambda: [*_recaps(), b'{"a":[1,{"b":null}],"c":"\\ud800"}', b"[[[[1]]]]", b"-0", b"1e3"]
    ),
    Target("blob", _blob, lambda: [BLOB.encode(), *(str(given["blob"]).encode() for given in _vectors("blobs"))], 1500),
    Target("announcement", _announcement, _announcements),
    Target("recap", _recap, _recaps, 8000),
    Target(
        "broker URL", _broker_url, lambda: [b"mqtt://host:1883", b"wss://u:p@[::1]:9001/mqtt", b"host", b"h:99999"], 200
    ),
    Target("transcript line", _transcript_line, _lines, 8000),
    Target("transcript", _transcript, lambda: [b"".join(_golden()[:12] + _golden()[-1:])], 12_000),
    Target("journal record", _journal_record, lambda: [_journal_header(), *(text.encode() for text in _inputs()[:14])]),
    Target(
        "journal",
        _journal,
        lambda: [b"\n".join([_journal_header(), *(text.encode() for text in _inputs()[:20])])],
        6000,
    ),
    Target("roster", _roster, _roster_files, 2000, 4),
    Target("keys", _keys, _key_files, 500, 4),
    Target("log entry", _entry, lambda: [*_entries()[:20], *(line[:-1] for line in _proof_lines()[:5])], 6000),
    Target("proof", _proof, lambda: [b"".join(_proof_lines()[:6])], 8000),
    Target("signed proof", _signed_proof, _some_entries, 30_000, 20),
    Target("unordered proof", _unordered, lambda: [b"", bytes(range(40)), b"\1\4\2\1\3\2"], 400, 20),
    Target(
        "witness", _witness, lambda: [b"\n".join(_entries()), b"\n".join(_entries()[9:] + _entries()[:20])], 30_000, 20
    ),
    Target(
        "HTTP head",
        _http_head,
        lambda: [b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"HEAD /x HTTP/1.0\r\nUPGRADE: h2c, websocket\r\n\r\n"],
        9000,
    ),
    Target("WebSocket", _websocket, lambda: [_UPGRADE, *(_UPGRADE + frames for frames in _some_frames())], 9000, 4),
    Target("WebSocket frames", _frames, _some_frames, 600, 4),
    Target("packet cutter", _one_packet, _greetings, 1100),
    Target("greeting", _packets, _greetings, 600, 4),
    Target("packets", _packets_after_greeting, _after_greeting, 600, 4),
    Target("packets of MQTT 5", _packets_after_greeting_5, _after_greeting_5, 600, 4),
    Target("program's line", _program_line, _program_lines, 3000),
    Target("service", _service, _service_seeds),
)
