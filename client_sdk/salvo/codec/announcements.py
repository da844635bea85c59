"""The JSON bodies of what the server publishes.

:mod:`salvo.codec.announcement_writer` writes them, and :mod:`salvo.codec.announcement_reader` reads them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Final, NamedTuple

from salvo import messages as m
from salvo.codec.json_codec import Codec
from salvo.codec.rules import Rules
from salvo.errors import SealError
from salvo.wire.json_shape import UNLESS_EMPTY, Count, Strict, Via, unless
from salvo.wire.seal import seal_for_server

#: More than for commands: the rules of a large fleet and the recap of a long game need it.
MAX_ANNOUNCEMENT_BYTES: Final = 64 * 1024
#: Of a league's report. The embedded broker reads packets of 16,384 bytes, topic included; the server adds what is on,
#: and badges.
MAX_REPORT_BYTES: Final = 11 * 1024


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
    #: Absent when it is on.
    chat: bool = field(default=True, metadata=unless(True))
    protocol: m.Protocol
    players: Count | None = None

    @classmethod
    def of(cls, a: m.ServerStatus) -> ServerBody:
        """Return the body of a status."""
        status = None if a.status_topic else "paused" if a.paused else "online" if a.online else "offline"
        names = ("status_topic", "version", "game", "profile", "keys", "chat", "protocol", "players")
        return cls(status=status, **{name: getattr(a, name) for name in names})

    def value(self) -> m.ServerStatus:
        """Return the status.

        Raises:
            ValueError: the server's sealing key is invalid.
        """
        try:
            if self.keys is not None:
                seal_for_server(b"", self.keys.seal)
        except SealError as error:
            raise ValueError(error.text) from None
        online, paused = self.status in ("online", "paused"), self.status == "paused"
        optional = (self.status_topic, paused, self.keys, self.chat, self.protocol, self.players)
        return m.ServerStatus(online, self.version, self.game, self.profile, *optional)


def announcement_codec(shape: Any, *given: str, largest: int = MAX_ANNOUNCEMENT_BYTES) -> Codec[Any]:
    """Return a codec with the limits of announcements; the arguments are those of :class:`Codec`."""
    return Codec(shape, *given, largest=largest, own=True, grows=True)


NAMES: Final[Codec[tuple[str, ...]]] = announcement_codec(tuple[str, ...])
TURN: Final[Codec[m.TurnBegan]] = announcement_codec(m.TurnBegan)
TURN_RESUMED: Final[Codec[m.TurnResumed]] = announcement_codec(m.TurnResumed)
RESULT: Final[Codec[m.SalvoResolved]] = announcement_codec(m.SalvoResolved)
FLEET: Final[Codec[m.FleetRevealed]] = announcement_codec(m.FleetRevealed, "player")
STATS: Final[Codec[m.PlayerStats]] = announcement_codec(m.PlayerStats, "player")
RULES: Final[Codec[m.RulesAnnounced]] = announcement_codec(Rules)
SERVER: Final[Codec[m.ServerStatus]] = announcement_codec(Annotated[m.ServerStatus, Via(ServerBody)])
REFEREE: Final[Codec[m.RefereeView]] = announcement_codec(m.RefereeView)
STANDINGS: Final[Codec[m.StandingsShown]] = announcement_codec(m.StandingsShown)
EVENING: Final[Codec[m.EveningShown]] = announcement_codec(m.EveningShown)
#: What a league's host sends to the server.
LEAGUE: Final[Codec[m.LeagueShown]] = announcement_codec(m.LeagueShown, largest=MAX_REPORT_BYTES)
HOSTED: Final[Codec[m.HostActed]] = announcement_codec(m.HostActed)
SEAT: Final[Codec[m.SeatGiven]] = announcement_codec(m.SeatGiven)
CHAT: Final[Codec[m.ChatPublished]] = announcement_codec(m.ChatPublished)
MESSAGE: Final[Codec[m.MessagePublished]] = announcement_codec(m.MessagePublished, "to")
#: For reading: :mod:`salvo.codec.announcement_writer` writes it as the specification prints it, with white space.
HIT: Final[Codec[m.ShotLanded]] = Codec(m.ShotLanded, "to", grows=True)
