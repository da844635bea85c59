"""What the server publishes: the bodies, and reading them; :mod:`salvo.codec.announcement_writer` writes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, NamedTuple

from salvo import messages as m
from salvo import topics
from salvo.chat import check_text
from salvo.codec.json_codec import Codec
from salvo.codec.rules import Rules, check_playable
from salvo.codec.strict_json import read_text
from salvo.errors import ProtocolError, SealError, WireError
from salvo.seal import seal_for_server
from salvo.shape import UNLESS_EMPTY, Count, Strict, Via, unless
from salvo.topics import Address, Topic, check_name

#: The rules of a large fleet and a recap of a long game are bigger than any command.
MAX_ANNOUNCEMENT_BYTES: Final = 64 * 1024


class Publication(NamedTuple):
    """One MQTT message to publish; an empty retained payload clears the topic."""

    topic: str
    payload: bytes
    retain: bool


@dataclass(slots=True, kw_only=True)
class ServerBody(Strict):
    """What ``/game/server`` carries."""

    status: str | None = None
    status_topic: str = field(default="", metadata=UNLESS_EMPTY)
    version: str
    game: Count
    profile: str
    keys: m.ServerKeys | None = None
    #: Absent when it is on, so that clients without chat read the status as before.
    chat: bool = field(default=True, metadata=unless(True))
    #: Absent where a server is older than protocol 1.0, which is the same to its clients.
    protocol: m.Protocol = m.FIRST_PROTOCOL

    @classmethod
    def of(cls, a: m.ServerStatus) -> ServerBody:
        """Return a status as it is in JSON."""
        status = None if a.status_topic else "paused" if a.paused else "online" if a.online else "offline"
        names = ("status_topic", "version", "game", "profile", "keys", "chat", "protocol")
        return cls(status=status, **{name: getattr(a, name) for name in names})

    def value(self) -> m.ServerStatus:
        """Return the status.

        Raises:
            ValueError: nothing can be sealed for the server's key.
        """
        try:
            if self.keys is not None:
                seal_for_server(b"", self.keys.seal)
        except SealError as error:
            raise ValueError(error.text) from None
        online, paused = self.status in ("online", "paused"), self.status == "paused"
        told = (self.status_topic, paused, self.keys, self.chat, self.protocol)
        return m.ServerStatus(online, self.version, self.game, self.profile, *told)


@dataclass(frozen=True, slots=True)
class _ServerVersions(Strict):
    """What ``/game/server`` carries in every major version of the protocol."""

    protocol: m.Protocol = m.FIRST_PROTOCOL
    version: str = ""

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


def _codec(shape: Any, *given: str) -> Codec[Any]:
    return Codec(shape, *given, largest=MAX_ANNOUNCEMENT_BYTES, own=True, grows=True)


NAMES: Final[Codec[tuple[str, ...]]] = _codec(tuple[str, ...])
TURN: Final[Codec[m.TurnBegan]] = _codec(m.TurnBegan)
TURN_RESUMED: Final[Codec[m.TurnResumed]] = _codec(m.TurnResumed)
RESULT: Final[Codec[m.SalvoResolved]] = _codec(m.SalvoResolved)
FLEET: Final[Codec[m.FleetRevealed]] = _codec(m.FleetRevealed, "player")
STATS: Final[Codec[m.PlayerStats]] = _codec(m.PlayerStats, "player")
RULES: Final[Codec[m.RulesAnnounced]] = _codec(Rules)
SERVER: Final[Codec[m.ServerStatus]] = _codec(Annotated[m.ServerStatus, Via(ServerBody)])
REFEREE: Final[Codec[m.RefereeView]] = _codec(m.RefereeView)
STANDINGS: Final[Codec[m.StandingsShown]] = _codec(m.StandingsShown)
HOSTED: Final[Codec[m.HostActed]] = _codec(m.HostActed)
SEAT: Final[Codec[m.SeatGiven]] = _codec(m.SeatGiven)
CHAT: Final[Codec[m.ChatSaid]] = _codec(m.ChatSaid)
MESSAGE: Final[Codec[m.MessageSaid]] = _codec(m.MessageSaid, "to")
_SERVER_VERSIONS: Final[Codec[_ServerVersions]] = _codec(_ServerVersions)
#: Written as the specification prints it, with white space.
HIT: Final[Codec[m.ShotLanded]] = Codec(m.ShotLanded, "to", grows=True)


def read_announcement(address: Address, payload: bytes) -> m.Announcement | None:
    """Read what the server published.

    Returns:
        the announcement; None for a cleared topic, for the topics that only repeat, in the specification's form, what
        another one has in full (count, current, hits, sunk, defeated), and for a recap, which
        :func:`salvo.codec.recap.read_recap` reads once it is opened.

    Raises:
        WireError: the server at the other end is not one of ours.
        ProtocolError: ``other_protocol``: it speaks another major version (SALVO-VERSION-4).
    """
    reader = _READERS.get(address.topic)
    return reader(address, payload) if payload and reader is not None else None


def _state(text: str) -> m.StateChanged:
    if text not in {state.value for state in m.State}:
        raise WireError("wrong_shape", f"state {text[:40]!r}; it is one of {', '.join(m.State)}")
    return m.StateChanged(m.State(text))


def _winner(payload: bytes) -> m.GameWon:
    """Read one name or a list: no name begins with a bracket (SALVO-NAME-1)."""
    return m.GameWon("", NAMES.read(payload)) if payload.startswith(b"[") else m.GameWon(read_text(payload))


def _code_and_text(payload: bytes) -> tuple[str, str]:
    code, colon, text = read_text(payload).partition(": ")
    return (code, text) if colon else ("", code)


def _rules(payload: bytes) -> m.RulesAnnounced:
    """Read the rules of a table, and make sure that a fleet can be drawn, which is what their reader does next."""
    announced = RULES.read(payload)
    check_playable(announced.book)
    return announced


def _status(payload: bytes) -> m.ServerStatus:
    """Read the status; in another major version all but its versions may differ (SALVO-VERSION-4)."""
    try:
        status = SERVER.read(payload)
    except WireError:
        _SERVER_VERSIONS.read(payload).check()
        raise
    _ServerVersions(status.protocol, status.version).check()
    return status


def _referee(payload: bytes) -> m.RefereeView:
    view = REFEREE.read(payload)
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


def _line(line: m.ChatSaid | m.MessageSaid) -> m.ChatSaid | m.MessageSaid:
    """Check sender and text, which may reach a terminal: on an open broker, anyone can write them."""
    check_text(line.text)
    if line.sender:
        check_name(line.sender, "player")
    return line


_READERS: Final[dict[Topic, Callable[[Address, bytes], m.Announcement]]] = {
    topics.STATE: lambda address, payload: _state(read_text(payload)),
    topics.LIST: lambda address, payload: m.PlayersListed(NAMES.read(payload)),
    topics.TURN: lambda address, payload: TURN.read(payload),
    topics.RESULT: lambda address, payload: RESULT.read(payload),
    topics.STATS: lambda address, payload: STATS.read(payload, address.player),
    topics.WINNER: lambda address, payload: _winner(payload),
    topics.BOARD: lambda address, payload: m.BoardShown(address.player, read_text(payload)),
    topics.FLEET: lambda address, payload: FLEET.read(payload, address.player),
    topics.HIT: lambda address, payload: HIT.read(payload, address.player),
    topics.APPROVED: lambda address, payload: m.PlacementJudged(address.player, address.ship, payload == b"true"),
    topics.PLACEMENT_ERROR: lambda a, payload: m.PlacementRefused(a.player, a.ship, *_code_and_text(payload)),
    topics.ERROR: lambda address, payload: m.CommandRefused(address.player, *_code_and_text(payload)),
    topics.RULES: lambda address, payload: _rules(payload),
    topics.SERVER: lambda address, payload: _status(payload),
    topics.REFEREE: lambda address, payload: _referee(payload),
    topics.STANDINGS: lambda address, payload: STANDINGS.read(payload),
    topics.HOSTED: lambda address, payload: _hosted(HOSTED.read(payload)),
    topics.CHAT: lambda address, payload: _line(CHAT.read(payload)),
    topics.MESSAGE: lambda address, payload: _line(MESSAGE.read(payload, address.player)),
}
