"""What moves a table: commands of teams and hosts, and what happens without one.

A command is authentic and readable; whether it is allowed is up to the referee.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Annotated, Any, Final

from salvo.messages.values import MESSAGE_BYTES, Limits
from salvo.rules import Placement
from salvo.wire.json_shape import (
    REQUIRED,
    UNLESS_EMPTY,
    UNWRITTEN,
    Bounds,
    Composed,
    Count,
    Fields,
    Hexadecimal,
    Inline,
    Strict,
)

#: An :class:`Unreadable` keeps no more of what was wrong.
MAX_REASON_CHARACTERS = 1000


@dataclass(frozen=True, slots=True)
class Participate(Composed):
    """A team wants to play, or is back.

    Attributes:
        credential: identifies the secret: equal secrets of one name have equal credentials. The secret itself never
            gets this far.
    """

    name: str
    credential: bytes = field(default=b"", repr=False, metadata=UNWRITTEN)


@dataclass(frozen=True, slots=True)
class PlaceShip(Composed):
    """A player places one ship.

    Attributes:
        spelling: how the player wrote the ship's name; answers use it (SALVO-PLACE-6).
        message: digest of the message as it came, 16 bytes (:func:`salvo.codec.log.message_digest`), for a fair draw
            (SALVO-LOG-8); else empty.
    """

    player: str
    spelling: str
    placement: Annotated[Placement, Inline(Fields(Placement))]
    message: Annotated[bytes, Hexadecimal(MESSAGE_BYTES)] = field(default=b"", metadata=UNLESS_EMPTY)


@dataclass(frozen=True, slots=True)
class Leave(Strict):
    """A player leaves the lobby, and its fleet with it (SALVO-JOIN-15).

    Attributes:
        game: the one that it was signed for; None when it names none.
    """

    player: str
    game: int | None = None


@dataclass(frozen=True, slots=True)
class ShotContext(Strict):
    """The context that a signed shot may carry; all four must match (SALVO-FRESH-5)."""

    game: int
    turn: int
    shot: int
    target: str


@dataclass(frozen=True, slots=True)
class Fire(Strict):
    """A player fires one shot at a board."""

    player: str
    target: str
    x: int
    y: int
    context: ShotContext | None = None


@dataclass(frozen=True, slots=True)
class TurnContext(Strict):
    """The context that a signed skip may carry; both must match (SALVO-BOOK-7)."""

    game: int
    turn: int


@dataclass(frozen=True, slots=True)
class Skip(Strict):
    """A player ends its turn, whether or not it has fired."""

    player: str
    context: TurnContext | None = None


@dataclass(frozen=True, slots=True)
class Unreadable(Composed):
    """A message under a player's name that is not a command; it changes nothing (SALVO-ERR-3).

    Attributes:
        spelling: the ship's name where the topic has one, else empty.
        proven: whether the player's own signature verified, so that only the player can have sent it.
    """

    player: str
    spelling: str
    code: str
    text: Annotated[str, Bounds(max_length=MAX_REASON_CHARACTERS)]
    proven: bool = field(default=False, metadata=REQUIRED)

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", self.text[:MAX_REASON_CHARACTERS])


Command = Participate | Leave | PlaceShip | Fire | Skip | Unreadable


#: The host who sits at the server's own terminal; no account has this name, since it is a word of the topic tree.
TERMINAL_HOST: Final = "host"


class HostAction(StrEnum):
    """What a host can do at a table (SALVO-HOST)."""

    START = "start"
    SKIP = "skip"
    PAUSE = "pause"
    RESUME = "resume"
    EXTEND = "extend"
    ABORT = "abort"
    REMOVE = "remove"
    ANNOUNCE = "announce"
    NEXT = "next"
    SET = "set"
    ANNUL = "annul"
    FINISH = "finish"


#: What a host can do at all tables at once; ``finish`` alone has no other sense (SALVO-EVENING-3).
EVERYWHERE: Final = frozenset(HostAction) - {HostAction.SKIP, HostAction.SET, HostAction.ANNUL}


#: A lobby that may stay open for longer has no clock.
MAX_CLOCK_SECONDS: Final = 3600


#: A longer look at each result (SALVO-PACE-1) calls for a game that waits for people, such as with longer turns.
MAX_PACE_SECONDS: Final = 60


#: Of a lobby, a turn or a result: a day.
MAX_SECONDS: Final = 86_400
_Seconds = Annotated[int, Bounds(ge=1, le=MAX_SECONDS)]


@dataclass(frozen=True, slots=True)
class NextGame(Strict):
    """What a host sets for the next game alone; None leaves what the operator has set (SALVO-HOST-7).

    Attributes:
        players: fleets that start the game; the number of ``teams`` if only those are set.
        pace_ms: the pause after a result; 0 for none.
        teams: the only ones that may take part.
    """

    players: Annotated[int, Bounds(ge=2, le=64)] | None = None
    placement_seconds: _Seconds | None = None
    turn_seconds: _Seconds | None = None
    over_seconds: _Seconds | None = None
    pace_ms: Annotated[int, Bounds(ge=0, le=1000 * MAX_PACE_SECONDS)] | None = None
    teams: Annotated[tuple[str, ...], Bounds(min_length=2, max_length=64)] | None = None

    def limits(self, limits: Limits) -> Limits:
        """Return the limits of the next game, which begins by itself (SALVO-EVENING-2)."""
        wanted: dict[str, Any] = {"by_host": True, "held": False}
        if self.teams is not None:
            wanted["players"] = len(self.teams)
        for name, value in ((each.name, getattr(self, each.name)) for each in fields(self)):
            if value is not None:
                wanted[name.replace("_seconds", "_ms")] = 1000 * value if name.endswith("_seconds") else value
        following = replace(limits, **wanted)
        if following.teams is None or following.players is None or following.players <= len(following.teams):
            return following
        return replace(following, players=len(following.teams))  # set one after the other, they may disagree


@dataclass(frozen=True, slots=True)
class HostFields(Strict):
    """What a host's command and its announcement have in common; :class:`HostCommand` says what the fields mean."""

    by: str
    do: HostAction
    seconds: Annotated[int, Bounds(ge=1, le=3600)] | None = None
    team: str = field(default="", metadata=UNLESS_EMPTY)
    text: str = field(default="", metadata=UNLESS_EMPTY)
    game: Annotated[int, Bounds(ge=1, le=10**9)] | None = None
    settings: NextGame | None = None
    everywhere: bool = field(default=False, metadata=UNLESS_EMPTY)

    @property
    def who(self) -> str:
        """The host, in words."""
        return "the host" if self.by == TERMINAL_HOST else f"host {self.by}"


@dataclass(frozen=True, slots=True)
class HostCommand(HostFields):
    """A host does something at a table.

    Attributes:
        by: the host's name.
        seconds: for ``extend``.
        team: for ``remove``.
        text: for ``announce``.
        game: whose result no longer counts, for ``annul``.
        settings: for ``set``.
        everywhere: whether it is for all tables and the evening, given at the first table (SALVO-EVENING-3).
        context: the game that it was signed for; None when it names none.
    """

    context: int | None = field(default=None, metadata={"alias": "g"})


@dataclass(frozen=True, slots=True)
class TimePassed(Strict):
    """The table's clock reached its deadline."""


@dataclass(frozen=True, slots=True)
class Resumed(Strict):
    """The server or the broker was away and is back: the time to act starts again (SALVO-BACK-2)."""


@dataclass(frozen=True, slots=True)
class TurnDelivered(Strict):
    """The broker has confirmed the start of a turn: its player's bank runs from now on (SALVO-TIME-2)."""

    turn: Count


@dataclass(frozen=True, slots=True)
class StruckOff(Strict):
    """The roster no longer has a team, or no longer with the secret that it used (SALVO-ACCESS-8)."""

    name: str


#: Everything that can move a table; a game is its header and the inputs after it, each with its time.
Input = Command | HostCommand | StruckOff | TimePassed | Resumed | TurnDelivered
