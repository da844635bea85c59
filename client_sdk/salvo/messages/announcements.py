"""What a table publishes: to everybody, and to one player.

What only one player may know has types of its own, which name their reader in ``to``: what a type does not hold cannot
leak.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Annotated, Any, Final, NamedTuple, TypeVar

from salvo.errors import BotError
from salvo.messages.commands import MAX_CLOCK_SECONDS, HostAction, HostCommand, HostFields
from salvo.messages.values import PROTOCOL, Protocol, ShipPlace, State
from salvo.rules import Placement, RuleBook, Salvo
from salvo.wire.json_shape import UNLESS_EMPTY, UNWRITTEN, Base64, Composed, Count, Keyed, Strict, Via, named_schema

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class TableOpened(Strict):
    """A new game number begins at the table."""

    game: Count


@dataclass(frozen=True, slots=True)
class StateChanged(Strict):
    """The table changed its state."""

    state: State


@dataclass(frozen=True, slots=True)
class PlayersListed(Strict):
    """The players, in order of arrival; in play order once the game has begun."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlacementJudged(Strict):
    """Whether the latest placement of a ship is good."""

    player: str
    spelling: str
    approved: bool


@dataclass(frozen=True, slots=True)
class SpellingDropped(Strict):
    """A player now spells this ship's name in another way; the old answer is cleared."""

    player: str
    spelling: str


@dataclass(frozen=True, slots=True)
class _Turn(Strict):
    game: Count
    turn: Count
    player: str
    shots: Count
    now: Count
    deadline: Count


@dataclass(frozen=True, slots=True)
class TurnBegan(_Turn):
    """A player is to fire ``shots`` shots before ``deadline``."""


@dataclass(frozen=True, slots=True)
class TurnResumed(_Turn):
    """The turn's time starts again after an outage; the fields are those of :class:`TurnBegan`."""


@dataclass(frozen=True, slots=True)
class SunkShip(Composed):
    """A ship of a player, by the name in the ruleset.

    Attributes:
        spelling: how its owner wrote it, for the topics about it; ignored in comparisons.
    """

    player: str
    ship: str
    spelling: str = field(default="", compare=False, metadata=UNWRITTEN)


#: Where a shot fell: target, x, y.
Aim = Annotated[tuple[str, int, int], Keyed(to=str, x=Count, y=Count)]


def _announced(value: _Value | None, what: str) -> _Value:
    if value is None:
        raise BotError("not_told", f"these rules do not reveal {what}")
    return value


class Fate(StrEnum):
    """Why a player is out."""

    SUNK = "sunk"
    SILENT = "silent"  # turns in a row without a shot (SALVO-TURN-6)
    REMOVED = "removed"  # by a host (SALVO-HOST-6)


class SalvoResolved(NamedTuple):
    """The outcome of a turn: how many hits, which ships sank, which players are out.

    A tuple, because simulations make millions of them.

    Attributes:
        outcomes_if_announced: :attr:`outcomes`, or None where the ruleset does not announce them.
        aims_if_announced: :attr:`aims`, or None where the ruleset does not announce them.
    """

    game: Count
    turn: Count
    player: str
    shots: Count
    hits: Count
    sunk: tuple[SunkShip, ...]
    defeated: tuple[str, ...]
    outcomes_if_announced: tuple[bool, ...] | None = None
    aims_if_announced: tuple[Aim, ...] | None = None

    def fate(self, player: str, removed: Collection[str]) -> Fate:
        """Return why a player is out with this salvo.

        Args:
            removed: whom a host has removed from the game, as ``/game/hosted`` says.
        """
        if player in removed:
            return Fate.REMOVED
        return Fate.SILENT if player == self.player and not self.shots else Fate.SUNK

    @property
    def outcomes(self) -> tuple[bool, ...]:
        """Hit or miss of each shot.

        Raises:
            BotError: ``not_told``: these rules only tell the number of hits.
        """
        return _announced(self.outcomes_if_announced, "which shots of a salvo hit; result.hits is how many did")

    @property
    def aims(self) -> tuple[Aim, ...]:
        """(target, x, y) of each shot.

        Raises:
            BotError: ``not_told``: these rules don't tell where shots fell.
        """
        return _announced(self.aims_if_announced, "where the shots of a salvo fell; view.salvos has your own")

    @classmethod
    def of(
        cls,
        game: int,
        names: Sequence[str],
        book: RuleBook,
        salvo: Salvo,
        spellings: Sequence[Mapping[str, str]] | None = None,
    ) -> SalvoResolved:
        """Return what everybody learns of a turn.

        Args:
            game: the game's number.
            names: by seat.
            spellings: how each seat's player wrote the names of ships.
        """
        aims = salvo.announced_aims(book)
        sunk = [(seat, book.fleet[ship].name) for seat, ship in salvo.announced_sinkings(book)]
        return cls(
            game,
            salvo.turn,
            names[salvo.seat],
            salvo.shots,
            salvo.hits,
            tuple(
                [SunkShip(names[seat], ship, spellings[seat].get(ship, "") if spellings else "") for seat, ship in sunk]
            ),
            tuple([names[seat] for seat in salvo.defeated]),
            salvo.announced_outcomes(book),
            None if aims is None else tuple([(names[seat], *book.grid.xy(cell)) for seat, cell in aims]),
        )

    @classmethod
    def read(cls, **fields: Any) -> SalvoResolved:
        """Return the result that was read.

        Raises:
            ValueError: its parts do not fit together.
        """
        result = cls(**fields)
        for value in (result.outcomes_if_announced, result.aims_if_announced):
            if value is not None and len(value) != result.shots:
                raise ValueError(f"a result of {result.shots} shots has outcomes or aims of {len(value)}")
        return result

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        return named_schema(cls, handler)


@dataclass(frozen=True, slots=True)
class BoardShown(Strict):
    """What everybody may know of a board, if the ruleset announces cells (SALVO-BOOK-4).

    Attributes:
        cells: a letter each, row by row: ``.`` not shot at, ``X`` hit, ``0`` miss.
    """

    player: str
    cells: str


@dataclass(frozen=True, slots=True)
class FleetRevealed(Strict):
    """A player's ships, shown to everybody after the game if the ruleset says so (SALVO-BOOK-11)."""

    player: str
    fleet: tuple[Annotated[Placement, Via(ShipPlace)], ...]


@dataclass(frozen=True, slots=True)
class PlayerStats(Strict):
    """A player's figures at the end of a game.

    Attributes:
        sunk: how many ships this player's shots sank.
        place: 1 for the winner; players that tie have the same one (SALVO-BOOK-8); 0 after an aborted game.
    """

    player: str
    shots: Count
    hits: Count
    sunk: Count
    turns: Count
    place: Count


@dataclass(frozen=True, slots=True)
class GameWon(Strict):
    """The game is over, without a winner if a host has aborted it (SALVO-HOST-5).

    Attributes:
        winner: empty after a tie.
        tied: the players that share the first place, in play order; empty without a tie.
    """

    winner: str
    tied: tuple[str, ...] = field(default=(), metadata=UNLESS_EMPTY)

    @property
    def winners(self) -> tuple[str, ...]:
        """All winners, one or several; none of an aborted game."""
        return self.tied or ((self.winner,) if self.winner else ())


@dataclass(frozen=True, slots=True)
class PlayerLeft(Strict):
    """A player left the list; everything retained about it is cleared."""

    player: str


@dataclass(frozen=True, slots=True)
class TableReset(Strict):
    """The old game is cleared: everything retained but state, rules and server (SALVO-END-4)."""


@dataclass(frozen=True, slots=True)
class RulesAnnounced(Strict):
    """The rules of a table, and its time limits in seconds."""

    book: RuleBook
    table: str
    placement_seconds: Count
    turn_seconds: Count
    over_seconds: Count
    empty_turns: Count
    bank_seconds: Count | None = None
    increment_seconds: Count | None = None

    @property
    def placing_clock_seconds(self) -> int | None:
        """How long a clock of the lobby runs; None for a time that nobody waits for, as where a league seats teams."""
        return self.placement_seconds if self.placement_seconds <= MAX_CLOCK_SECONDS else None


_DONE: Final = {
    HostAction.START: "starts the game",
    HostAction.SKIP: "ends the turn",
    HostAction.PAUSE: "pauses the table",
    HostAction.RESUME: "resumes the table",
    HostAction.EXTEND: "gives {0.seconds} s more",
    HostAction.ABORT: "aborts the game",
    HostAction.REMOVE: "removes {0.team} from this game",
    HostAction.ANNOUNCE: "announces: {0.text}",
    HostAction.NEXT: "opens the next lobby",
    HostAction.SET: "changes the settings of the next game",
    HostAction.ANNUL: "annuls the result of game {0.game}",
    HostAction.FINISH: "ends the league or the evening after the games that are on",
}
_DONE_EVERYWHERE: Final = {
    **_DONE,
    HostAction.START: "begins at all tables",
    HostAction.PAUSE: "pauses everything",
    HostAction.RESUME: "resumes everything",
    HostAction.EXTEND: "gives {0.seconds} s more at all tables",
    HostAction.ABORT: "aborts all games",
    HostAction.REMOVE: "takes {0.team} out",
    HostAction.NEXT: "opens all tables",
}


@dataclass(frozen=True, slots=True)
class HostActed(HostFields):
    """A host did something at the table; most fields are those of :class:`HostCommand`.

    Attributes:
        paused: whether the table is paused from now on (SALVO-HOST-4).
    """

    paused: bool = field(default=False, metadata=UNLESS_EMPTY)

    @classmethod
    def of(cls, command: HostCommand, *, paused: bool = False) -> HostActed:
        """Return the announcement of a command."""
        given = {each.name: getattr(command, each.name) for each in fields(HostFields)}
        return cls(**given, paused=paused)

    def __str__(self) -> str:
        """Return one line for people."""
        done = _DONE_EVERYWHERE if self.everywhere else _DONE
        return f"{self.who} {done[self.do].format(self)}"


@dataclass(frozen=True, slots=True)
class ServerKeys(Strict):
    """A server's public keys, 32 bytes each (SALVO-IDENT-1).

    Attributes:
        sign: Ed25519: verifies what the server signed.
        seal: X25519: seals what only the server may read.
    """

    sign: Annotated[bytes, Base64(32)]
    seal: Annotated[bytes, Base64(32)]


@dataclass(frozen=True, slots=True)
class ServerStatus(Strict):
    """The server of a table.

    Attributes:
        keys: None for a server that has none.
        status_topic: where clients of an additional table find the status (a connection has only one last will), else
            empty.
        paused: whether the server is there but cannot accept anything for now (SALVO-BACK-3).
        chat: whether players may chat (SALVO-CHAT-7).
        protocol: what the server speaks.
        players: with how many complete fleets a game of this table begins at once (SALVO-JOIN-6); None where it begins
            when the placement time ends.
    """

    online: bool
    version: str
    game: Count
    profile: str
    status_topic: str = ""
    paused: bool = False
    keys: ServerKeys | None = None
    chat: bool = True
    protocol: Protocol = PROTOCOL
    players: Count | None = None

    @property
    def presence(self) -> str:
        """Whether the server is ``online``, ``offline``, or ``paused`` by its journal, in words for people."""
        if self.paused:
            return "paused: it cannot write to its disk"
        return "online" if self.online else "offline"


@dataclass(frozen=True, slots=True)
class ChatPublished(Strict):
    """A chat line to everybody (SALVO-CHAT-1); not part of any game.

    Attributes:
        sender: a player; empty when the server itself speaks.
    """

    sender: str = field(metadata={"alias": "from"})
    text: str


@dataclass(frozen=True, slots=True)
class ShotLanded(Strict):
    """A shot fell on the board of ``to``."""

    to: str
    x: Count
    y: Count


@dataclass(frozen=True, slots=True)
class ShotAccepted(Strict):
    """A shot of ``to`` counts, and waits for the end of its round (SALVO-BOOK-5)."""

    to: str
    target: str
    x: Count
    y: Count


@dataclass(frozen=True, slots=True)
class PlacementRefused(Strict):
    """Why the latest placement of ``to`` is not good."""

    to: str
    spelling: str
    code: str
    text: str


@dataclass(frozen=True, slots=True)
class CommandRefused(Strict):
    """Why a command of ``to`` was not carried out."""

    to: str
    code: str
    text: str


@dataclass(frozen=True, slots=True)
class MessagePublished(Strict):
    """A chat line to ``to`` alone (SALVO-CHAT-1); not part of any game.

    Attributes:
        sender: a player; empty when the server itself speaks.
    """

    to: str
    sender: str = field(metadata={"alias": "from"})
    text: str
