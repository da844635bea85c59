"""What a :class:`~salvo.session.Session` tells whoever drives it: what a bot is asked, what it may learn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from salvo import messages as m
from salvo.rules import RuleBook
from salvo.view import View


@dataclass(frozen=True, slots=True)
class FleetWanted:
    """The team is listed and must place its fleet: answer with :meth:`Session.place`."""

    rules: RuleBook
    game: int


@dataclass(frozen=True, slots=True)
class GameTakenUp:
    """The team is back in a game that this session did not begin: prepare the player for it."""

    game: int


@dataclass(frozen=True, slots=True)
class SalvoWanted:
    """It is this player's turn: answer with :meth:`Session.fire`, at most ``view.shots`` shots.

    Where the rules have it, :meth:`Session.skip` gives the rest up. Whoever takes time to answer looks at
    :attr:`Session.view` again: after a recap it is another object, with the shots that are left.
    """

    view: View


@dataclass(frozen=True, slots=True)
class SalvoHeard:
    """A salvo was announced; the view knows it already."""

    result: m.SalvoResolved


@dataclass(frozen=True, slots=True)
class GameEnded:
    """A game in which this player took part is over.

    Attributes:
        winner: empty after a tie.
    """

    game: int
    winner: str
    stats: Mapping[str, m.PlayerStats]


@dataclass(frozen=True, slots=True)
class Refused:
    """The server refused something or tells why a turn was lost."""

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class ServerSeen:
    """The server went online or offline."""

    online: bool


@dataclass(frozen=True, slots=True)
class ServerMet:
    """The server has told for the first time who it is; what is sent after this event goes to that server.

    Whoever remembers servers compares now, and takes no more from this session if it is another one (SALVO-IDENT-2).

    Attributes:
        keys: None for a server that has none.
        profile: who may come there, as it says (SALVO-ACCESS).
    """

    keys: m.ServerKeys | None
    profile: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Waits:
    """Why the team does not play yet, and what may be wrong; it goes on waiting.

    Attributes:
        code: ``game_on``: a game is on without it, told once a game; ``no_server``: nothing is heard at this table;
            ``no_answer``: its request to take part is not answered.
    """

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class Said:
    """Somebody said something; on an open broker it may be anybody (SALVO-CHAT-6).

    Attributes:
        sender: a player, perhaps this one; empty when the server itself speaks.
        text: one line of printable text.
        private: whether it was said to this player alone.
    """

    sender: str
    text: str
    private: bool


@dataclass(frozen=True, slots=True)
class LogDoubted:
    """Something was heard that the log does not confirm: somebody may be playing the server."""

    text: str


@dataclass(frozen=True, slots=True)
class GameVerified:
    """The log of a game has ended, and nothing in it is against what this team knows.

    Attributes:
        game: its number; 0 while the opening is missing.
        whole: whether all of it was heard, so that what was revealed could be held against the commitments. If not,
            the same is said again with the last entry that was missing.
    """

    game: int
    whole: bool


Event = (
    FleetWanted
    | GameTakenUp
    | SalvoWanted
    | SalvoHeard
    | GameEnded
    | Refused
    | ServerSeen
    | ServerMet
    | Said
    | Waits
    | LogDoubted
    | GameVerified
)
