"""What programs of older systems may send, for :mod:`fuzz.run`."""

from __future__ import annotations

import contextlib
from random import Random
from typing import Final

from fuzz.targets import _ROOT, Target, _refused
from salvo.errors import (
    IllegalCommand,
    WireError,
)
from salvo.rules import SMACKDOWN, SPACED, STREAK, XBS
from salvo.wire import topics
from salvo_gateways.classic.bus import Frames, calls
from salvo_gateways.classic.protocol_text import NotUnderstood, Reply, Shoot, reply, shoot
from salvo_gateways.classic.protocol_text import read as read_classic
from salvo_gateways.errors import GatewayError
from salvo_gateways.jsonline.protocol_text import BadBody, Dialect, Values, Wording, read_request
from salvo_gateways.peer import Lines, PeerBroken
from salvo_gateways.smackdown import protocol_text as smackdown
from salvo_gateways.xbs import protocol_text as xbs
from salvo_server.brokers.embedded.addresses import BrokerError


def _smackdown(data: bytes) -> None:
    for message in Lines().feed(data):
        if isinstance(message, PeerBroken):
            continue
        line = message.decode(errors="replace")
        with _refused(smackdown.UnreadableAnswer, IllegalCommand):
            assert smackdown.read_fleet(line, SMACKDOWN).book is SMACKDOWN
        with _refused(smackdown.UnreadableAnswer):
            assert 1 <= len(smackdown.read_shots(line, 5)) <= 5


def _xbs(data: bytes) -> None:
    """Lines of a client of Xterm Boat Sinker: what is read is what is said again."""
    names = xbs.Names(XBS.grid.width, "ann", "ann")
    for line in Lines().feed(data):
        message = xbs.read(line.decode(errors="replace")) if isinstance(line, bytes) else None
        if message is None:
            continue
        assert "|" not in xbs.speakable(message.line)
        assert 0 <= message.number(2) <= 999
        name, board = message.value(1), message.value(2)
        fleet = xbs.read_board(board, XBS)
        assert fleet is None or xbs.complete(fleet) == board
        if not xbs.name_fault(name, XBS.grid.width):
            seated = topics.check_name(xbs.seated_name(name))
            assert names.meant(names.shown(seated)) == seated


def _xbs_lines() -> list[bytes]:
    board = xbs.complete(XBS.random_fleet(Random(1)))
    sent = ["G", "P|x", f"J|ann|{board}", f"J|dead meat|{board.lower()}", "S|ann|3|10", "K|", "M||hello", "T|hit|", "L"]
    return ["".join(f"{line}\r\n" for line in sent).encode(), *(line.encode() + b"\n" for line in sent)]


def _bus(data: bytes) -> None:
    """Messages on the bus of the two-player game, cut as they come, and what programs say of their addresses."""
    messages = list(Frames().feed(data))
    pieces = Frames()
    cut = [found for at in range(len(data)) for found in pieces.feed(data[at : at + 1])]
    assert cut == messages or any(isinstance(found, PeerBroken) for found in messages)
    with _refused(BrokerError):
        calls("192.0.2.7:4001", data.decode(errors="replace"))


def _json_lines(data: bytes) -> None:
    """Messages of the JSON lines gateway, cut as they come."""
    messages = list(Values().feed(data))
    pieces = Values()
    assert [found for at in range(len(data)) for found in pieces.feed(data[at : at + 1])] == messages
    for message in messages:
        if isinstance(message, PeerBroken):
            continue
        with _refused(WireError, GatewayError, IllegalCommand, BadBody), contextlib.suppress(UnicodeDecodeError):
            body = read_request(message.decode()).body
            for wording in (Wording(STREAK), Wording(STREAK, Dialect.XY, names=True)):
                for read in (wording.read_cell, wording.read_result, wording.read_board):
                    with contextlib.suppress(GatewayError, IllegalCommand, BadBody):
                        read(body)


def _two_player_message(data: bytes) -> None:
    """A message of the classic gateway: what is read is written as it was."""
    with _refused(NotUnderstood), contextlib.suppress(UnicodeDecodeError):
        match read_classic(data.decode(), SPACED):
            case Shoot(cell):
                assert shoot(cell, SPACED.grid).encode() == data
            case Reply(cell, word, kind, last):
                ship = next((ship.name for ship in SPACED.fleet if ship.name.startswith(kind) and kind), "")
                assert reply(cell, word, ship, last, SPACED.grid).encode() == data


def _json_line_seeds() -> list[bytes]:
    sent = (_ROOT / "tests" / "gateways" / "conversations" / "jsonline.txt").read_text().splitlines()
    lines = [line[2:] for line in sent if line.startswith("> ")]
    return [
        "\n".join(lines).encode(),
        b'{"type":"BOARD","body":[[{"x":0,"y":0},{"x":1,"y":0}],"B3-B6"]}',
        b"hello\n{}]",
    ]


TARGETS: Final = (
    Target("xbs lines", _xbs, _xbs_lines),
    Target(
        "Code Smackdown",
        _smackdown,
        lambda: [
            b"|RESPONSE|ship locations|0 0 H|0 1 H|0 2 V|9 7 V|4 4 H|END|\n",
            b"|RESPONSE|shots|0 0|-1 99|END|\r\n|RESPONSE|shots|END|\n",
        ],
    ),
    Target(
        "two-player message",
        _two_player_message,
        lambda: [b"C", b"SIa", b"RE5H", b"RIaM", b"RE6SAircraft carrier", b"RF7ECruiser"],
        80,
    ),
    Target(
        "bus", _bus, lambda: [Frames().write("C") * 2, Frames().write("P/192.0.2.9:4002")[:9], b"192.0.2.9:4002"], 200
    ),
    Target("JSON lines", _json_lines, _json_line_seeds),
)
