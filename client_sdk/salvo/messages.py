"""What players say (commands) and what the referee says (announcements), as values.

A command in this module is authentic and readable; whether it is allowed is up to the referee. What only one player
may know has separate announcement types, which name their reader in ``to``: what a type does not hold cannot leak.
Coordinates are x = column and y = row, from 1; times are epoch milliseconds of the server.

The classes are also the one definition of their JSON (:mod:`salvo.shape`), which :mod:`salvo.codec` reads and writes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Annotated, Any, Final, NamedTuple, TypeVar

from salvo.coordinates import read_coordinates
from salvo.errors import BotError, WireError
from salvo.rules import Orientation, Placement, RuleBook, Salvo
from salvo.rules.book import MAX_SIDE
from salvo.shape import (
    REQUIRED,
    UNLESS_EMPTY,
    UNWRITTEN,
    Base64,
    Bounds,
    Composed,
    Count,
    Fields,
    Hexadecimal,
    Inline,
    Keyed,
    Strict,
    Via,
    named_schema,
)

#: What stands for a message (:func:`salvo.codec.log.message_digest`).
MESSAGE_BYTES = 16
#: An :class:`Unreadable` keeps no more of what was wrong.
MAX_REASON_CHARACTERS = 1000
_Told = TypeVar("_Told")


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
            much as the others have, as in games recorded before this limit existed.
        pace_ms: pause after each result before the next turn begins (SALVO-PACE-1); None for none.
        restarts: how many teams' listing restarts the placement time, each team's once, until that time ends
            (SALVO-JOIN-17); None where every listing does, as in games recorded before this limit existed.
        teams: the only ones that may take part, as a host has set (SALVO-HOST-7); None for any.
        by_host: whether a host has set some of these, for this game alone.
        minor: the minor version of the protocol by which the game is refereed (SALVO-VERSION-6); None in games
            recorded before 1.2.
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
    restarts: Count | None = None
    teams: tuple[str, ...] | None = None
    by_host: bool = field(default=False, metadata=UNLESS_EMPTY)
    minor: Count | None = None

    def since(self, protocol: Protocol) -> bool:
        """Whether the game is refereed as from a version of the protocol on."""
        return (self.minor or 0) >= protocol.minor


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
        if self.orientation not in Orientation.__members__:
            text = f"Orientation {self.orientation[:40]!r}; it is {' or '.join(Orientation)}"
            raise WireError("bad_orientation", text)
        return Placement(self.ship, x, y, Orientation(self.orientation))


# --- commands ---------------------------------------------------------------------------------------------------


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
    """A message under a player's name that is no command; it changes nothing (SALVO-ERR-3).

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


#: A lobby that may stay open for longer has no clock.
MAX_CLOCK_SECONDS: Final = 3600
#: A longer look at each result (SALVO-PACE-1) calls for a game that waits for people, such as with longer turns.
MAX_PACE_SECONDS: Final = 60
_Seconds = Annotated[int, Bounds(ge=1, le=86_400)]


@dataclass(frozen=True, slots=True)
class NextGame(Strict):
    """What a host sets for the next game alone; None leaves what the operator has set (SALVO-HOST-7).

    Attributes:
        players: fleets that start the game; the number of ``teams`` if only those are set.
        pace_ms: a pace that is no whole number of seconds, in place of ``pace_seconds`` (:meth:`pace`).
        teams: the only ones that may take part.
    """

    players: Annotated[int, Bounds(ge=2, le=64)] | None = None
    placement_seconds: _Seconds | None = None
    turn_seconds: _Seconds | None = None
    over_seconds: _Seconds | None = None
    pace_seconds: Annotated[int, Bounds(ge=0, le=MAX_PACE_SECONDS)] | None = None
    pace_ms: Annotated[int, Bounds(ge=0, le=1000 * MAX_PACE_SECONDS)] | None = None
    teams: Annotated[tuple[str, ...], Bounds(min_length=2, max_length=64)] | None = None

    @staticmethod
    def pace(seconds: float) -> dict[str, int]:
        """Return a pace as the field that can have it; servers of protocol 1.1 know whole seconds alone."""
        ms = round(1000 * seconds)
        return {"pace_ms": ms} if ms % 1000 else {"pace_seconds": ms // 1000}

    def limits(self, limits: Limits) -> Limits:
        """Return the limits of the next game."""
        wanted: dict[str, Any] = {"by_host": True}
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
class _HostAction(Strict):
    by: str
    do: HostAction
    seconds: Annotated[int, Bounds(ge=1, le=3600)] | None = None
    team: str = field(default="", metadata=UNLESS_EMPTY)
    text: str = field(default="", metadata=UNLESS_EMPTY)
    game: Annotated[int, Bounds(ge=1, le=10**9)] | None = None
    settings: NextGame | None = None

    @property
    def who(self) -> str:
        """The host, in words."""
        return "the host" if self.by == TERMINAL_HOST else f"host {self.by}"


@dataclass(frozen=True, slots=True)
class HostCommand(_HostAction):
    """A host does something at a table.

    Attributes:
        by: the host's name.
        seconds: for ``extend``.
        team: for ``remove``.
        text: for ``announce``.
        game: whose result no longer counts, for ``annul``.
        settings: for ``set``.
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


# --- announcements to everybody -------------------------------------------------------------------------------


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


def _told(told: _Told | None, what: str) -> _Told:
    if told is None:
        raise BotError("not_told", f"these rules don't tell {what}")
    return told


class Fate(StrEnum):
    """Why a player is out."""

    SUNK = "sunk"
    SILENT = "silent"  # turns in a row without a shot (SALVO-TURN-6)
    REMOVED = "removed"  # by a host (SALVO-HOST-6)


class SalvoResolved(NamedTuple):
    """The outcome of a turn: how many hits, which ships sank, which players are out.

    A tuple, because simulations make millions of them.

    Attributes:
        outcomes_if_told: :attr:`outcomes`, or None where the ruleset does not announce them.
        aims_if_told: :attr:`aims`, or None where the ruleset does not announce them.
    """

    game: Count
    turn: Count
    player: str
    shots: Count
    hits: Count
    sunk: tuple[SunkShip, ...]
    defeated: tuple[str, ...]
    outcomes_if_told: tuple[bool, ...] | None = None
    aims_if_told: tuple[Aim, ...] | None = None

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
        return _told(self.outcomes_if_told, "which shots of a salvo hit; result.hits is how many did")

    @property
    def aims(self) -> tuple[Aim, ...]:
        """(target, x, y) of each shot.

        Raises:
            BotError: ``not_told``: these rules don't tell where shots fell.
        """
        return _told(self.aims_if_told, "where the shots of a salvo fell; view.salvos has your own")

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
        for told in (result.outcomes_if_told, result.aims_if_told):
            if told is not None and len(told) != result.shots:
                raise ValueError(f"a result of {result.shots} shots tells of {len(told)}")
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
    HostAction.ANNOUNCE: "says: {0.text}",
    HostAction.NEXT: "opens the next lobby",
    HostAction.SET: "changes the settings of the next game",
    HostAction.ANNUL: "annuls the result of game {0.game}",
}


@dataclass(frozen=True, slots=True)
class HostActed(_HostAction):
    """A host did something at the table; most fields are those of :class:`HostCommand`.

    Attributes:
        paused: whether the table is paused from now on (SALVO-HOST-4).
    """

    paused: bool = field(default=False, metadata=UNLESS_EMPTY)

    @classmethod
    def of(cls, command: HostCommand, *, paused: bool = False) -> HostActed:
        """Return the announcement of a command."""
        told = (command.by, command.do, command.seconds, command.team, command.text, command.game, command.settings)
        return cls(*told, paused)

    def __str__(self) -> str:
        """Return one line for people."""
        return f"{self.who} {_DONE[self.do].format(self)}"


@dataclass(frozen=True, slots=True)
class ServerKeys(Strict):
    """A server's public keys, 32 bytes each (SALVO-IDENT-1).

    Attributes:
        sign: Ed25519: verifies what the server signed.
        seal: X25519: seals what only the server may read.
    """

    sign: Annotated[bytes, Base64(32)]
    seal: Annotated[bytes, Base64(32)]


@dataclass(frozen=True, slots=True, order=True)
class Protocol(Strict):
    """A version of the protocol (SALVO-VERSION)."""

    major: Count
    minor: Count

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


#: What a server speaks that does not say.
FIRST_PROTOCOL: Final = Protocol(1, 0)
#: Since when players may skip by any ruleset and hosts between two turns, an aborted game has no places, new names
#: cannot restart the placement time for ever, and a refusal by the table's state calls the command by words.
V1_2: Final = Protocol(1, 2)
#: What this package speaks.
PROTOCOL: Final = Protocol(1, 2)


@dataclass(frozen=True, slots=True)
class ServerStatus(Strict):
    """The server of a table.

    Attributes:
        keys: None for a server that has none.
        status_topic: where clients of an additional table find the status (a connection has only one last will), else
            empty.
        paused: whether the server is there but cannot accept anything for now (SALVO-BACK-3).
        chat: whether players may chat (SALVO-CHAT-7).
        protocol: what the server speaks; 1.0 for a server that does not say.
        players: with how many complete fleets a game of this table begins at once (SALVO-JOIN-6); None where it begins
            when the placement time ends, and before protocol 1.2.
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


@dataclass(frozen=True, slots=True)
class ChatSaid(Strict):
    """A chat line to everybody (SALVO-CHAT-1); not part of any game.

    Attributes:
        sender: a player; empty when the server itself speaks.
    """

    sender: str = field(metadata={"alias": "from"})
    text: str


# --- announcements to one player ------------------------------------------------------------------------------


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
class MessageSaid(Strict):
    """A chat line to ``to`` alone (SALVO-CHAT-1); not part of any game.

    Attributes:
        sender: a player; empty when the server itself speaks.
    """

    to: str
    sender: str = field(metadata={"alias": "from"})
    text: str


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


# --- announcements to the referee's screens ----------------------------------------------------------------------


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


# --- standings ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Standing(Strict):
    """A team's line in the standings (SALVO-STAND-2, SALVO-STAND-3); no number on the wire has a point.

    Attributes:
        points, opposition: thousandths of a point.
        rating, low, high: of skill, and the ends of its 95 % interval; thousandths.
    """

    place: Count
    team: str
    points: Count
    games: Count
    wins: Count
    ties: Count
    losses: Count
    opposition: Count
    shots: Count
    hits: Count
    rating: int
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Uncounted(Strict):
    """A game that the standings do not count (SALVO-STAND-4).

    Attributes:
        at: when it ended, epoch ms.
        by: the host that annulled it; empty for a game without a winner.
    """

    table: str
    game: Count
    at: Count
    by: str = field(default="", metadata=UNLESS_EMPTY)


@dataclass(frozen=True, slots=True)
class StandingsTable(Strict):
    """The standings after some games.

    Attributes:
        since, until: when the first and the last of them ended, epoch ms.
        games: how many count.
        teams: how many have a line, of which ``rows`` has the best.
        uncounted: the latest games that do not count.
    """

    since: Count
    until: Count
    games: Count
    teams: Count
    rows: tuple[Standing, ...]
    uncounted: tuple[Uncounted, ...] = ()


@dataclass(frozen=True, slots=True)
class StandingsShown(Strict):
    """The standings of the latest evening, and over all games of the journal (SALVO-STAND-5)."""

    evening: StandingsTable
    overall: StandingsTable


Announcement = (
    TableOpened
    | StateChanged
    | PlayersListed
    | PlacementJudged
    | SpellingDropped
    | TurnBegan
    | TurnResumed
    | SalvoResolved
    | BoardShown
    | FleetRevealed
    | PlayerStats
    | GameWon
    | PlayerLeft
    | TableReset
    | RulesAnnounced
    | HostActed
    | ServerStatus
    | ShotLanded
    | ShotAccepted
    | PlacementRefused
    | CommandRefused
    | Recap
    | RefereeView
    | StandingsShown
    | ChatSaid
    | MessageSaid
)
