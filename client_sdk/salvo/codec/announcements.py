"""What the server publishes: writing it, and reading it on a team's side.

One announcement becomes one or more publications, in the order of SALVO-TOPIC-4. Announcements to one player go to
topics that only this player may read.
"""

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
from salvo.errors import SealError, WireError
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

    @classmethod
    def of(cls, a: m.ServerStatus) -> ServerBody:
        """Return a status as it is in JSON."""
        status = None if a.status_topic else "paused" if a.paused else "online" if a.online else "offline"
        told = {name: getattr(a, name) for name in ("status_topic", "version", "game", "profile", "keys", "chat")}
        return cls(status=status, **told)

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
        told = (self.status_topic, paused, self.keys, self.chat)
        return m.ServerStatus(online, self.version, self.game, self.profile, *told)


def _codec(shape: Any, *given: str) -> Codec[Any]:
    return Codec(shape, *given, largest=MAX_ANNOUNCEMENT_BYTES, own=True)


NAMES: Final[Codec[tuple[str, ...]]] = _codec(tuple[str, ...])
TURN: Final[Codec[m.TurnBegan]] = _codec(m.TurnBegan)
TURN_RESUMED: Final[Codec[m.TurnResumed]] = _codec(m.TurnResumed)
RESULT: Final[Codec[m.SalvoResolved]] = _codec(m.SalvoResolved)
FLEET: Final[Codec[m.FleetRevealed]] = _codec(m.FleetRevealed, "player")
STATS: Final[Codec[m.PlayerStats]] = _codec(m.PlayerStats, "player")
RULES: Final[Codec[m.RulesAnnounced]] = _codec(Rules)
SERVER: Final[Codec[m.ServerStatus]] = _codec(Annotated[m.ServerStatus, Via(ServerBody)])
REFEREE: Final[Codec[m.RefereeView]] = _codec(m.RefereeView)
CHAT: Final[Codec[m.ChatSaid]] = _codec(m.ChatSaid)
MESSAGE: Final[Codec[m.MessageSaid]] = _codec(m.MessageSaid, "to")
#: Written as the specification prints it, with white space.
HIT: Final[Codec[m.ShotLanded]] = Codec(m.ShotLanded, "to")


# --- writing ------------------------------------------------------------------------------------------------------


def write_announcement(announcement: m.Announcement, table: str = "") -> list[Publication]:
    """Return the publications of an announcement.

    A :class:`~salvo.messages.Recap` is sealed for its reader and therefore written by :func:`salvo.codec.write_recap`.
    What ``PlayerLeft`` and ``TableReset`` clear depends on what is retained, which only the publisher knows.
    """
    return [
        Publication(topic.of(table, player=player, ship=ship), payload, topic.retained)
        for topic, player, ship, payload in _WRITERS[type(announcement)](announcement)
    ]


_Part = tuple[Topic, str, str, bytes]  # topic, player, ship, payload


def _salvo(a: m.SalvoResolved) -> list[_Part]:
    parts = [(topics.HITS, "", "", b"%d" % a.hits), (topics.RESULT, "", "", RESULT.write(a))]
    for ship in a.sunk:
        parts += [
            (topic, ship.player, ship.spelling or ship.ship, b"true") for topic in (topics.SUNK, topics.SUNK_AS_PRINTED)
        ]
    for player in a.defeated:
        parts += [(topic, player, "", b"true") for topic in (topics.DEFEATED, topics.DEFEATED_AS_PRINTED)]
    return parts


def _refusal(a: m.PlacementRefused | m.CommandRefused) -> bytes:
    return f"{a.code}: {a.text}".encode()


_WRITERS: Final[dict[type, Callable[[Any], list[_Part]]]] = {
    m.StateChanged: lambda a: [(topics.STATE, "", "", a.state.encode())],
    m.PlayersListed: lambda a: [
        (topics.COUNT, "", "", b"%d" % len(a.names)),
        (topics.LIST, "", "", NAMES.write(a.names)),
    ],
    m.PlacementJudged: lambda a: [(topics.APPROVED, a.player, a.spelling, b"true" if a.approved else b"false")],
    m.SpellingDropped: lambda a: [(topics.APPROVED, a.player, a.spelling, b"")],
    m.TurnBegan: lambda a: [(topics.TURN, "", "", TURN.write(a)), (topics.CURRENT, "", "", a.player.encode())],
    # Not ``current``: a client of the plain specification would answer it with another salvo.
    m.TurnResumed: lambda a: [(topics.TURN, "", "", TURN_RESUMED.write(a))],
    m.SalvoResolved: _salvo,
    m.BoardShown: lambda a: [(topics.BOARD, a.player, "", a.cells.encode())],
    m.FleetRevealed: lambda a: [(topics.FLEET, a.player, "", FLEET.write(a))],
    m.PlayerStats: lambda a: [(topics.STATS, a.player, "", STATS.write(a))],
    m.GameWon: lambda a: [(topics.WINNER, "", "", NAMES.write(a.tied) if a.tied else a.winner.encode())],
    m.ShotLanded: lambda a: [(topics.HIT, a.to, "", b'{"x": %d, "y": %d}' % (a.x, a.y))],
    m.ShotAccepted: lambda a: [],  # nothing is published before the end of the round
    m.PlacementRefused: lambda a: [(topics.PLACEMENT_ERROR, a.to, a.spelling, _refusal(a))],
    m.CommandRefused: lambda a: [(topics.ERROR, a.to, "", _refusal(a))],
    m.RulesAnnounced: lambda a: [(topics.RULES, "", "", RULES.write(a))],
    m.ServerStatus: lambda a: [(topics.SERVER, "", "", SERVER.write(a))],
    m.RefereeView: lambda a: [(topics.REFEREE, "", "", REFEREE.write(a))],
    m.ChatSaid: lambda a: [(topics.CHAT, "", "", CHAT.write(a))],
    m.MessageSaid: lambda a: [(topics.MESSAGE, a.to, "", MESSAGE.write(a))],
}


# --- reading ------------------------------------------------------------------------------------------------------


def read_announcement(address: Address, payload: bytes) -> m.Announcement | None:
    """Read what the server published.

    Returns:
        the announcement; None for a cleared topic, for the topics that only repeat, in the specification's form, what
        another one has in full (count, current, hits, sunk, defeated), and for a recap, which
        :func:`salvo.codec.read_recap` reads once it is opened.

    Raises:
        WireError: the server at the other end is not one of ours.
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


def _referee(payload: bytes) -> m.RefereeView:
    view = REFEREE.read(payload)
    if len({len(row) for board in view.boards for row in board.rows}) > 1:
        raise WireError("wrong_shape", "the rows of the referee's boards differ in length")
    return view


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
    topics.SERVER: lambda address, payload: SERVER.read(payload),
    topics.REFEREE: lambda address, payload: _referee(payload),
    topics.CHAT: lambda address, payload: _line(CHAT.read(payload)),
    topics.MESSAGE: lambda address, payload: _line(MESSAGE.read(payload, address.player)),
}
