"""What commands and announcements are made of: states, limits, places of ships."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from salvo.errors import WireError
from salvo.rules import Orientation, Placement
from salvo.wire.coordinates import read_coordinates
from salvo.wire.json_shape import UNLESS_EMPTY, Count, Strict


@dataclass(frozen=True, slots=True, order=True)
class Protocol(Strict):
    """A version of the protocol (SALVO-VERSION)."""

    major: Count
    minor: Count

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


#: What this package speaks.
PROTOCOL: Final = Protocol(1, 0)


#: What stands for a message (:func:`salvo.codec.log.message_digest`).
MESSAGE_BYTES = 16


class Draw(StrEnum):
    """Where a game's draws come from (SALVO-LOG-8).

    ``SEED``: from an explicit seed, which decides every game of a run: for development, and for repeating a game.
    ``FAIR``: from a fresh secret of the server for every game, and from all teams' messages.
    """

    SEED = "seed"
    FAIR = "fair"


class State(StrEnum):
    """What a table is doing (SALVO-GAME-6)."""

    LOBBY = "lobby"
    TURN = "turn"
    OVER = "over"


@dataclass(frozen=True, slots=True)
class Limits(Strict):
    """Every number of a table that an operator may set; times in milliseconds.

    Attributes:
        players: start as soon as that many fleets are complete; None waits for the placement time (SALVO-JOIN-6).
        placement_ms: time to place a fleet, since the newest player joined (SALVO-JOIN-4).
        turn_ms: time for a salvo (SALVO-TURN-5).
        over_ms: how long a result stands before the next lobby (SALVO-END-4).
        empty_turns: turns in a row without a shot that defeat a player (SALVO-TURN-6).
        most_players: seats at the table; a list of 64 names of 32 letters is still a small message.
        bank_ms: time for all salvos of a player in a game; None for no such limit (SALVO-TIME-1).
        increment_ms: what a player's bank gains at the start of each of its turns; None for nothing.
        absent_ms: time for a salvo of an absent player, in games where no one is ever out (SALVO-TURN-8); None for as
            much as the others have.
        pace_ms: pause after each result before the next turn begins (SALVO-PACE-1); None for none.
        teams: the only ones that may take part, as a host has set (SALVO-HOST-7); None for any.
        by_host: whether a host has set some of these, for this game alone.
        held: whether no game begins by itself, because a league runs or the evening is over (SALVO-EVENING-2).
    """

    players: Count | None = None
    placement_ms: Count = 60_000
    turn_ms: Count = 30_000
    over_ms: Count = 300_000
    empty_turns: Count = 3
    most_players: Count = 64
    bank_ms: Count | None = None
    increment_ms: Count | None = None
    absent_ms: Count | None = None
    pace_ms: Count | None = None
    teams: tuple[str, ...] | None = None
    by_host: bool = field(default=False, metadata=UNLESS_EMPTY)
    held: bool = field(default=False, metadata=UNLESS_EMPTY)


_ORIENTATIONS: Final = {each.value: each for each in Orientation}


@dataclass(slots=True)
class ShipPlace(Strict):
    """A placed ship as it is in JSON; without ``ship``, the body that places it (SALVO-PLACE-2)."""

    ship: str
    coordinates: str
    orientation: str = field(metadata={"alias": "Orientation"})

    @classmethod
    def of(cls, placement: Placement) -> ShipPlace:
        """Return a placement as it is in JSON."""
        return cls(placement.ship, f"{placement.x};{placement.y}", placement.orientation.value)

    def value(self) -> Placement:
        """Return the placement, which may still be off the board.

        Raises:
            WireError: ``bad_coordinates`` or ``bad_orientation``.
        """
        x, y = read_coordinates(self.coordinates)
        orientation = _ORIENTATIONS.get(self.orientation)
        if orientation is None:
            text = f"Orientation {self.orientation[:40]!r}; it is {' or '.join(Orientation)}"
            raise WireError("bad_orientation", text)
        return Placement(self.ship, x, y, orientation)
