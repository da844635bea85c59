"""A whole game in one message: the recap of a player that reconnects, and the boards for the referee's screens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple

from salvo.messages.announcements import SalvoResolved, SunkShip
from salvo.rules import Placement
from salvo.rules.board import MAX_SIDE
from salvo.wire.json_shape import UNLESS_EMPTY, Bounds, Count, Strict


@dataclass(frozen=True, slots=True)
class OwnShot(Strict):
    """One of a player's own shots, as its recap has it."""

    turn: int
    target: str
    x: int
    y: int


class Tally(NamedTuple):
    """Totals of a player's salvos."""

    turns: int
    shots: int
    hits: int


@dataclass(frozen=True, slots=True)
class Earlier(Strict):
    """A summary of the turns for which a recap has no room (SALVO-JOIN-13).

    Cells are numbered row by row from 0.

    Attributes:
        turns: how many results are left out, the oldest ones.
        tallies: by player.
        sunk: ships that sank in those turns, in order.
        defeated: players that were defeated in those turns, in order.
        shots: how many own shots are left out.
        aimed: their cells, by target; if cells are announced (SALVO-BOOK-4), those of everybody's shots.
        hits: how many shots on the own board are left out.
        struck: their cells.
        met: the cells of ``aimed`` that were hits; None if the ruleset does not announce outcomes.
    """

    turns: int
    tallies: Mapping[str, Tally]
    sunk: tuple[SunkShip, ...]
    defeated: tuple[str, ...]
    shots: int
    aimed: Mapping[str, tuple[int, ...]]
    hits: int
    struck: tuple[int, ...]
    met: Mapping[str, tuple[int, ...]] | None = None


@dataclass(frozen=True, slots=True)
class Recap(Strict):
    """Everything that ``to`` may know of the game so far, for a team that is back (SALVO-JOIN-7).

    Attributes:
        landed: shots on the own board, (x, y), in order.
        results: every salvo so far, in order; like ``shots`` and ``landed``, without those summed up in ``earlier``.
        players: in play order once the game has begun; a broker that was killed may have an older list.
        earlier: a summary of what a long game leaves out, so that its recap still fits into a message.
    """

    to: str
    game: int
    turn: int
    fleet: tuple[Placement, ...]
    shots: tuple[OwnShot, ...]
    landed: tuple[tuple[int, int], ...]
    results: tuple[SalvoResolved, ...]
    players: tuple[str, ...] = ()
    earlier: Earlier | None = None

    @property
    def resolved_turn(self) -> int:
        """The last turn that has ended; 0 before the first has."""
        if self.results:
            return self.results[-1].turn
        return 0 if self.earlier is None else self.earlier.turns

    @property
    def progress(self) -> tuple[int, int, int, int]:
        """How far the game was: of two recaps of one server, the lesser is the older (SALVO-JOIN-14)."""
        shots, landed = len(self.shots), len(self.landed)
        if self.earlier is not None:
            shots, landed = shots + self.earlier.shots, landed + self.earlier.hits
        return self.game, self.turn, shots, landed


@dataclass(frozen=True, slots=True)
class SeatGiven(Strict):
    """Where a player has its next game, as a host says it (SALVO-SEAT-1); no part of any game.

    Attributes:
        table: empty for the default one.
        broker: where the table is; empty for the one on which this was said.
        brokers: all on which the host says seats, the next one to try first if this one is lost; empty where it is one.
    """

    table: str = ""
    broker: Annotated[str, Bounds(max_length=300)] = field(default="", metadata=UNLESS_EMPTY)
    brokers: Annotated[tuple[str, ...], Bounds(max_length=64)] = field(default=(), metadata=UNLESS_EMPTY)


@dataclass(frozen=True, slots=True)
class AimedShot(Strict):
    """A shot of a salvo with its target, and whether it was a hit."""

    target: str = field(metadata={"alias": "to"})
    x: Annotated[int, Bounds(ge=1, le=MAX_SIDE)]
    y: Annotated[int, Bounds(ge=1, le=MAX_SIDE)]
    hit: bool


@dataclass(frozen=True, slots=True)
class RefereeSalvo(Strict):
    """A salvo as it was fired: the player, and the shots in order."""

    player: str
    shots: tuple[AimedShot, ...]


_Row = Annotated[str, Bounds(pattern=r"^[.*A-Za-z]+$", max_length=MAX_SIDE)]


@dataclass(frozen=True, slots=True)
class RefereeBoard(Strict):
    """One player's board and figures.

    Attributes:
        rows: from row A on, one letter a cell (SALVO-VIEW-5): ``.`` water, ``*`` water that was shot at, ``a`` a cell
            of the fleet's first ship, ``b`` of the second and so on, a capital where it was struck.
        shots: how many the player has fired so far.
        hits: how many of them were hits.
        out: whether the player is defeated.
    """

    player: str
    rows: Annotated[tuple[_Row, ...], Bounds(min_length=1, max_length=MAX_SIDE)]
    shots: Count
    hits: Count
    out: bool


@dataclass(frozen=True, slots=True)
class RefereeView(Strict):
    """All boards as they were at the end of a salvo (SALVO-VIEW-4).

    Attributes:
        turn: the last turn that had ended; 0 before the first.
        at: when that was.
        player: the next to fire; empty once the game was over, and between the salvos of a round.
        shots: how many shots that player had.
        boards: in play order.
        last: the salvo of that turn; None before the first.
        winner: empty until the game was over, and after a tie.
        tied: the players that share the first place then, in play order; empty without a tie.
    """

    game: Count
    turn: Count
    at: Count
    player: str
    shots: Count
    boards: tuple[RefereeBoard, ...]
    last: RefereeSalvo | None = None
    winner: str = field(default="", metadata=UNLESS_EMPTY)
    tied: tuple[str, ...] = field(default=(), metadata=UNLESS_EMPTY)

    @property
    def winners(self) -> tuple[str, ...]:
        """All winners, one or several; none while the game was on."""
        return self.tied or ((self.winner,) if self.winner else ())
