"""Events from a :class:`~salvo.join.session.Session` to its driver: what to ask a bot, and what it may learn."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from salvo import messages as m
from salvo.rules import Placement, RuleBook
from salvo.view import View


class Event:
    """What a session tells its driver."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class FleetWanted(Event):
    """The team is listed and must place its fleet: answer with :meth:`Session.place`."""

    rules: RuleBook
    game: int


@dataclass(frozen=True, slots=True)
class GameTakenUp(Event):
    """The team is back in a game that this session did not start: prepare the player for it."""

    game: int


@dataclass(frozen=True, slots=True)
class SalvoWanted(Event):
    """It is this player's turn: answer with :meth:`Session.fire`, at most ``view.shots`` shots.

    If the rules allow skipping, :meth:`Session.skip` gives up the rest. After thinking, take :attr:`Session.view`
    again: after a recap it is another object, with the shots that are left.
    """

    view: View


@dataclass(frozen=True, slots=True)
class SalvoReported(Event):
    """A salvo was announced; the view already has it."""

    result: m.SalvoResolved


@dataclass(frozen=True, slots=True)
class GameEnded(Event):
    """A game in which this player took part is over.

    Attributes:
        winner: empty after a tie, and after a host has aborted the game.
        missed: whether it was over when this session came.
    """

    game: int
    winner: str
    stats: Mapping[str, m.PlayerStats]
    aborted: bool = False
    missed: bool = False


@dataclass(frozen=True, slots=True)
class HostSeen(Event):
    """A host did something at the table (SALVO-HOST); nothing is to be done about it."""

    acted: m.HostActed


@dataclass(frozen=True, slots=True)
class Seated(Event):
    """A host has given the player a seat for its next game, or taken it back (SALVO-SEAT).

    Attributes:
        seat: None for none.
    """

    seat: m.SeatGiven | None

    def __str__(self) -> str:
        """Return it as a line for people."""
        if self.seat is None:
            return "waits for its next seat"
        where = f"table {self.seat.table}" if self.seat.table else "the default table"
        return f"has a seat at {where}{f' of {self.seat.broker}' if self.seat.broker else ''}"


@dataclass(frozen=True, slots=True)
class LeagueSeen(Event):
    """Something has happened to the player in the league that it takes part in.

    Attributes:
        text: its round, table and rivals, when it plays next, or how it stands; a line for people.
    """

    text: str


@dataclass(frozen=True, slots=True)
class Refused(Event):
    """The server refused something, or explains why a turn was lost."""

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class ServerSeen(Event):
    """The server went online, went offline, or was paused by its journal.

    Attributes:
        online: whether it accepts commands.
        presence: the same for people, see :attr:`salvo.messages.ServerStatus.presence`.
    """

    online: bool
    presence: str


@dataclass(frozen=True, slots=True)
class ServerMet(Event):
    """The server's identity is known for the first time; everything sent after this event goes to that server.

    A program that remembers servers compares now, and stops using this session on a mismatch (SALVO-IDENT-2).

    Attributes:
        keys: None for a server that has none.
        profile: the access profile, as the server states it (SALVO-ACCESS).
    """

    keys: m.ServerKeys | None
    profile: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Waits(Event):
    """Why the team does not play yet, and what may be wrong; it keeps waiting.

    Attributes:
        code: ``game_on``: a game is on without it, reported once per game; ``no_server``: nothing arrives from this
            table; ``no_answer``: its request to take part is not answered; ``name_taken``: its name is listed
            with another secret.
    """

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class Said(Event):
    """A chat line; on an open broker it may come from anyone (SALVO-CHAT-6).

    Attributes:
        sender: a player, perhaps this one; empty when the server itself speaks.
        text: one line of printable text.
        private: whether it is for this player alone.
    """

    sender: str
    text: str
    private: bool


@dataclass(frozen=True, slots=True)
class LogDoubted(Event):
    """Something was heard that the log does not confirm, or its clock ran ahead: an impostor, or an unfair server."""

    text: str


@dataclass(frozen=True, slots=True)
class GameVerified(Event):
    """The log of a game has ended, and nothing in it contradicts what this team knows.

    Attributes:
        game: its number; 0 while the opening is missing.
        whole: whether all of it was heard, so that the commitments could be checked. If not, this event is repeated
            once the last missing entry is there.
        placed: the ships by player that the log has revealed, where this team played.
    """

    game: int
    whole: bool
    placed: Mapping[str, Collection[Placement]] = field(default_factory=dict, compare=False)
