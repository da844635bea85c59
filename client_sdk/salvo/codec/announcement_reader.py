"""What the server publishes, as its clients read it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from salvo import messages as m
from salvo.codec import announcements as body
from salvo.codec.json_codec import Codec
from salvo.codec.rules import check_playable
from salvo.codec.strict_json import read_text
from salvo.errors import ProtocolError, WireError, printable
from salvo.wire import topics
from salvo.wire.chat_text import check_shown, check_text
from salvo.wire.json_shape import Strict
from salvo.wire.topics import Address, Topic, check_name


@dataclass(frozen=True, slots=True)
class _ServerVersions(Strict):
    """What ``/game/server`` carries in every major version of the protocol."""

    protocol: m.Protocol
    version: str

    def check(self) -> None:
        """Make sure that this client can understand the server.

        Raises:
            ProtocolError: ``other_protocol``.
        """
        if self.protocol.major != m.PROTOCOL.major:
            raise ProtocolError(
                "other_protocol",
                f"the server speaks protocol {self.protocol}, and this client {m.PROTOCOL}; install the server's "
                f"version of battleship-salvo, {self.version[:40]!a}, or one that speaks {self.protocol.major}.x",
            )


_SERVER_VERSIONS: Final[Codec[_ServerVersions]] = body.announcement_codec(_ServerVersions)


def read_announcement(address: Address, payload: bytes) -> m.Announcement | None:
    """Read what the server published.

    Returns:
        the announcement; None for a cleared topic, for the topics that only repeat, in the specification's form, what
        another one has in full (count, current, hits, sunk, defeated), and for a recap, which
        :func:`salvo.codec.recap_reader.read_recap` reads once it is opened.

    Raises:
        WireError: the server at the other end is not one of ours.
        ProtocolError: ``other_protocol``: it speaks another major version (SALVO-VERSION-4).
    """
    reader = _READERS.get(address.topic)
    if not payload or reader is None:
        return None
    announcement = reader(address, payload)
    if address.topic not in _CHECKED:
        is_list = address.topic is topics.WINNER and payload.startswith(b"[")
        check_shown(payload, is_json=is_list or address.topic not in _TEXTS)
    return announcement


def read_seat(payload: bytes) -> m.SeatGiven | None:
    """Read where a host gives a player its next game; None for nowhere.

    Raises:
        WireError: the host's program is not one of ours.
    """
    if not payload:
        return None
    seat: m.SeatGiven = body.SEAT.read(payload)
    check_shown(payload)
    return seat


def _state(text: str) -> m.StateChanged:
    if text not in {state.value for state in m.State}:
        raise WireError("wrong_shape", f"state {text[:40]!r}; it is one of {', '.join(m.State)}")
    return m.StateChanged(m.State(text))


def _winner(payload: bytes) -> m.GameWon:
    """Read one name or a list: no name begins with a bracket (SALVO-NAME-1)."""
    return m.GameWon("", body.NAMES.read(payload)) if payload.startswith(b"[") else m.GameWon(read_text(payload))


def _code_and_text(payload: bytes) -> tuple[str, str]:
    code, colon, text = printable(read_text(payload)).partition(": ")
    return (code, text) if colon else ("", code)


def _rules(payload: bytes) -> m.RulesAnnounced:
    """Read the rules of a table, and make sure that a fleet can be drawn, which is what their reader does next."""
    announced = body.RULES.read(payload)
    check_playable(announced.book)
    return announced


def _status(payload: bytes) -> m.ServerStatus:
    """Read the status; in another major version all but its versions may differ (SALVO-VERSION-4)."""
    try:
        status = body.SERVER.read(payload)
    except WireError:
        _SERVER_VERSIONS.read(payload).check()
        raise
    _ServerVersions(status.protocol, status.version).check()
    return status


def _referee(payload: bytes) -> m.RefereeView:
    view = body.REFEREE.read(payload)
    if len({len(row) for board in view.boards for row in board.rows}) > 1:
        raise WireError("wrong_shape", "the rows of the referee's boards differ in length")
    return view


def _hosted(acted: m.HostActed) -> m.HostActed:
    """Check text and names, which may reach a terminal: on an open broker, anyone can write them."""
    if acted.text:
        check_text(acted.text)
    if acted.by != m.TERMINAL_HOST:
        check_name(acted.by, "host")
    teams = acted.settings.teams if acted.settings is not None else None
    for team in (*([acted.team] if acted.team else ()), *(teams or ())):
        check_name(team)
    return acted


def _line(line: m.ChatPublished | m.MessagePublished) -> m.ChatPublished | m.MessagePublished:
    """Check sender and text, which may reach a terminal: on an open broker, anyone can write them."""
    check_text(line.text)
    if line.sender:
        check_name(line.sender, "player")
    return line


#: Topics whose payload is no JSON, but for a list of winners; and those with texts of people, which are checked apart.
_TEXTS: Final = frozenset({topics.STATE, topics.WINNER, topics.BOARD, topics.APPROVED})
_CHECKED: Final = frozenset({topics.ERROR, topics.PLACEMENT_ERROR, topics.CHAT, topics.MESSAGE, topics.HOSTED})

_READERS: Final[dict[Topic, Callable[[Address, bytes], m.Announcement]]] = {
    topics.STATE: lambda address, payload: _state(read_text(payload)),
    topics.LIST: lambda address, payload: m.PlayersListed(body.NAMES.read(payload)),
    topics.TURN: lambda address, payload: body.TURN.read(payload),
    topics.RESULT: lambda address, payload: body.RESULT.read(payload),
    topics.STATS: lambda address, payload: body.STATS.read(payload, address.player),
    topics.WINNER: lambda address, payload: _winner(payload),
    topics.BOARD: lambda address, payload: m.BoardShown(address.player, read_text(payload)),
    topics.FLEET: lambda address, payload: body.FLEET.read(payload, address.player),
    topics.HIT: lambda address, payload: body.HIT.read(payload, address.player),
    topics.APPROVED: lambda a, payload: m.PlacementJudged(a.player, a.ship, read_text(payload) == "true"),
    topics.PLACEMENT_ERROR: lambda a, payload: m.PlacementRefused(a.player, a.ship, *_code_and_text(payload)),
    topics.ERROR: lambda address, payload: m.CommandRefused(address.player, *_code_and_text(payload)),
    topics.RULES: lambda address, payload: _rules(payload),
    topics.SERVER: lambda address, payload: _status(payload),
    topics.REFEREE: lambda address, payload: _referee(payload),
    topics.STANDINGS: lambda address, payload: body.STANDINGS.read(payload),
    topics.LEAGUE: lambda address, payload: body.EVENING.read(payload),
    topics.HOSTED: lambda address, payload: _hosted(body.HOSTED.read(payload)),
    topics.CHAT: lambda address, payload: _line(body.CHAT.read(payload)),
    topics.MESSAGE: lambda address, payload: _line(body.MESSAGE.read(payload, address.player)),
}
