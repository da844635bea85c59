"""The JSON bodies of what teams send.

:mod:`salvo.codec.command_writer` writes them, and :mod:`salvo.codec.command_reader` reads them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Final

from salvo import messages as m
from salvo.codec.json_codec import Codec
from salvo.codec.strict_json import parse_json
from salvo.errors import WireError
from salvo.rules import RuleBook
from salvo.wire.chat_text import clean_text
from salvo.wire.coordinates import read_row
from salvo.wire.json_shape import UNLESS_EMPTY, Bounds, Strict
from salvo.wire.topics import check_name

#: SALVO-JOIN-3. Long enough for any passphrase; argon2 takes the same time for all of them.
MAX_SECRET_CHARACTERS: Final = 256
#: SALVO-NAME-5: long enough for ``p_a_t_r_o_l_b_o_a_t``, short enough for a topic.
MAX_SHIP_SPELLING: Final = 32
#: No field has a meaningful integer beyond this.
_LARGEST = 10**9
_Integer = Annotated[int, Bounds(ge=-_LARGEST, le=_LARGEST)]


@dataclass(slots=True)
class Shot(Strict):
    """The body of a shot, with all four fields of its context or none (SALVO-FRESH-5)."""

    x: _Integer
    y: _Integer | str
    g: _Integer | None = None
    t: _Integer | None = None
    n: _Integer | None = None
    to: str | None = None

    @classmethod
    def of(cls, x: int, y: int, context: m.ShotContext | None) -> Shot:
        """Return the body of a shot."""
        return cls(x, y, *(() if context is None else (context.game, context.turn, context.shot, context.target)))

    def value(self, player: str, target: str) -> m.Fire:
        """Return the command of ``player``.

        Raises:
            WireError: ``bad_coordinates`` or ``stale_context``.
        """
        y = read_row(self.y)
        if self.g is not None and self.t is not None and self.n is not None and self.to is not None:
            return m.Fire(player, target, self.x, y, m.ShotContext(self.g, self.t, self.n, self.to))
        if (self.g, self.t, self.n, self.to) != (None, None, None, None):
            text = "g, t, n and to (game, turn, shot, target) come all together or not at all"
            raise WireError("stale_context", text)
        return m.Fire(player, target, self.x, y)


@dataclass(slots=True)
class Leave(Strict):
    """The body that leaves the lobby; it may name the game (SALVO-JOIN-15)."""

    g: _Integer | None = None


@dataclass(slots=True)
class Skip(Strict):
    """The body of a skip, with both fields of its context or none (SALVO-BOOK-7)."""

    g: _Integer | None = None
    t: _Integer | None = None

    @classmethod
    def of(cls, context: m.TurnContext | None) -> Skip:
        """Return the body of a skip."""
        return cls() if context is None else cls(context.game, context.turn)

    def value(self, player: str) -> m.Skip:
        """Return the command of ``player``.

        Raises:
            WireError: ``stale_context``.
        """
        if self.g is not None and self.t is not None:
            return m.Skip(player, m.TurnContext(self.g, self.t))
        if (self.g, self.t) != (None, None):
            raise WireError("stale_context", "g and t (game, turn) come together or not at all")
        return m.Skip(player)


@dataclass(frozen=True, slots=True)
class SignedWithData(Strict):
    """A signed message as the specification prints it for shots."""

    data: dict[str, Any]
    signature: str


@dataclass(frozen=True, slots=True)
class SignedWithPayload(Strict):
    """A signed message as the specification prints it in its general example."""

    payload: dict[str, Any]
    signature: str


@dataclass(frozen=True, slots=True)
class ParticipationRequest(Strict):
    """A readable request to take part."""

    table: str
    name: str
    secret: Annotated[str, Bounds(min_length=1, max_length=MAX_SECRET_CHARACTERS)] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Line(Strict):
    """A chat line from a player.

    Attributes:
        to: its only recipient; empty for everybody.
    """

    text: str
    to: str = field(default="", metadata=UNLESS_EMPTY)


@dataclass(frozen=True, slots=True)
class ResendRequest(Strict):
    """A request to send the log of the game again; nothing proves its sender (SALVO-LOG-12).

    Attributes:
        first: number of the first wanted entry, from 0.
    """

    table: str
    player: str
    first: Annotated[int, Bounds(ge=0, le=_LARGEST)] = field(metadata={"alias": "log"})


PARTICIPATION: Final[Codec[ParticipationRequest]] = Codec(ParticipationRequest, "table")
PLACE: Final[Codec[m.ShipPlace]] = Codec(m.ShipPlace, "ship")
WITH_DATA: Final[Codec[SignedWithData]] = Codec(SignedWithData)
WITH_PAYLOAD: Final[Codec[SignedWithPayload]] = Codec(SignedWithPayload)
SHOT: Final[Codec[Shot]] = Codec(Shot)
SKIP: Final[Codec[Skip]] = Codec(Skip)
LEAVE: Final[Codec[Leave]] = Codec(Leave)
SAY: Final[Codec[Line]] = Codec(Line)
RESEND: Final[Codec[ResendRequest]] = Codec(ResendRequest, "table", "player")
HOST: Final[Codec[m.HostCommand]] = Codec(m.HostCommand)
#: The one argument that an action of a host has; the others have none.
HOST_ARGUMENTS: Final = {
    m.HostAction.EXTEND: "seconds",
    m.HostAction.REMOVE: "team",
    m.HostAction.ANNOUNCE: "text",
    m.HostAction.SET: "settings",
    m.HostAction.ANNUL: "game",
}


def read_envelope(payload: bytes) -> tuple[dict[str, Any], str]:
    """Return the open body of a signed message and its signature, in either form; nothing is verified yet.

    Raises:
        WireError: a code of SALVO-WIRE.
    """
    value = parse_json(payload)
    match value:  # as in nearly all messages, which need not be read twice
        case {"data": dict(body), "signature": str(signature)} if len(value) == 2:
            return body, signature
    if isinstance(value, dict) and "payload" in value:
        general = WITH_PAYLOAD.validate(payload)
        return general.payload, general.signature
    signed = WITH_DATA.validate(payload)
    return signed.data, signed.signature


def check_host(command: m.HostCommand) -> m.HostCommand:
    """Check a host's command; return it with its text cleaned, as it is announced.

    Raises:
        WireError: ``wrong_shape`` for a missing or superfluous argument or unusable settings, ``bad_name`` or
            ``bad_text``.
    """
    needed = HOST_ARGUMENTS.get(command.do, "")
    given = [name for name in HOST_ARGUMENTS.values() if getattr(command, name)]
    if given != [needed] * bool(needed):
        text = f"{command.do} takes {needed or 'no argument'}, and got {', '.join(given) or 'none'}"
        raise WireError("wrong_shape", text)
    if command.everywhere and command.do not in m.EVERYWHERE:
        allowed = ", ".join(sorted(m.EVERYWHERE))
        raise WireError("wrong_shape", f"everywhere: {command.do} is for one table; for all tables are {allowed}")
    if command.do is m.HostAction.FINISH and not command.everywhere:
        raise WireError("wrong_shape", "finish is for all tables: everywhere must be true")
    settings = command.settings
    if settings == m.NextGame():
        raise WireError("wrong_shape", "settings: nothing is set")
    if settings is not None and settings.teams is not None:
        names = [check_name(name) for name in settings.teams]
        if len({name.lower() for name in names}) < len(names):
            raise WireError("wrong_shape", f"settings.teams: a name twice in {', '.join(names)[:200]}")
        if settings.players is not None and settings.players > len(names):
            raise WireError("wrong_shape", f"settings: {settings.players} players of only {len(names)} teams")
    return replace(command, text=clean_text(command.text)) if command.text else command


_BETWEEN_WORDS: Final = str.maketrans("", "", "-_ ")


def plain_ship(spelling: str) -> str:
    """Return a ship's name as rulesets have it, however it is spelled (SALVO-NAME-5)."""
    return spelling.translate(_BETWEEN_WORDS).lower()


def read_ship(spelling: str, book: RuleBook) -> str:
    """Return the ruleset's name of a ship, however it is spelled (SALVO-NAME-5).

    Raises:
        WireError: ``unknown_ship``.
    """
    plain = plain_ship(spelling)
    if plain in book.ship_number and len(spelling) <= MAX_SHIP_SPELLING:
        return plain
    ships = ", ".join(book.ship_number)
    raise WireError(
        "unknown_ship",
        f"{spelling[:40]!r} is not a ship; the fleet is {ships} (any case; - _ and space ignored)",
    )
