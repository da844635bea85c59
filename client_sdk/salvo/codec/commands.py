"""What teams send: reading it, in two steps, and writing it.

The content of a blob is unknown until its key is. So :func:`read_command` turns a topic and a payload into a request,
sealed or not, and :func:`read_placement` and :func:`read_shot` turn an opened body into a command. Anything unreadable
is a :class:`~salvo.errors.WireError` with a stable code; no bytes on any topic cause another exception.
"""

from __future__ import annotations

import base64
import json
import re
import string
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, TypeVar

from salvo import messages as m
from salvo import topics
from salvo.chat import clean_text
from salvo.codec.json_codec import Codec
from salvo.codec.strict_json import parse_json, read_text, same_value
from salvo.coordinates import read_row
from salvo.errors import WireError
from salvo.rules import Placement, RuleBook
from salvo.seal import Blob, Sealer, parse_blob, read_base64, seal_for_server
from salvo.shape import UNLESS_EMPTY, Bounds, Strict
from salvo.topics import Address

#: SALVO-NAME-5: long enough for ``p_a_t_r_o_l_b_o_a_t``, short enough for a topic.
MAX_SHIP_SPELLING: Final = 32
#: SALVO-JOIN-3. Long enough for any passphrase; argon2 takes the same time for all of them.
MAX_SECRET_CHARACTERS: Final = 256
#: Wire integers beyond this are nonsense in every field.
_LARGEST = 10**9

#: First bytes of base64. The empty text is not among them: it is no request at all.
_BASE64: Final = frozenset(bytes([letter]) for letter in f"{string.ascii_letters}{string.digits}+/".encode())

_T = TypeVar("_T")
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
        if (self.g is None) != (self.t is None):
            raise WireError("stale_context", "g and t (game, turn) come together or not at all")
        return m.Skip(player, None if self.g is None or self.t is None else m.TurnContext(self.g, self.t))


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
class SealedPlacement:
    """A placement whose blob has not been opened yet."""

    table: str
    player: str
    spelling: str
    ship: str
    blob: Blob


@dataclass(frozen=True, slots=True)
class SignedShot:
    """A shot whose signature has not been checked yet.

    Attributes:
        target: the player whose board it is aimed at, as the topic says.
        body: the open body.
        payload: as it came.
    """

    table: str
    target: str
    body: dict[str, Any]
    blob: Blob
    payload: bytes = b""


@dataclass(frozen=True, slots=True)
class SealedParticipation:
    """A request to take part, which only the server can open (SALVO-IDENT-4)."""

    table: str
    sealed: bytes


@dataclass(frozen=True, slots=True)
class _SignedByPlayer:
    """A signed command on a player's own topic.

    Attributes:
        player: the sender, as the topic says.
        body: the open body.
        payload: as it came.
    """

    table: str
    player: str
    body: dict[str, Any]
    blob: Blob
    payload: bytes = b""


class SignedLeave(_SignedByPlayer):
    """A request to leave the lobby, whose signature has not been checked yet."""

    __slots__ = ()


class SignedSkip(_SignedByPlayer):
    """A skip whose signature has not been checked yet."""

    __slots__ = ()


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
        first: number of the first entry that is wanted.
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

#: Requests that a team's key opens.
Sealed = SealedPlacement | SignedShot | SignedSkip | SignedLeave
Request = ParticipationRequest | SealedParticipation | ResendRequest | Sealed


def read_command(address: Address, payload: bytes, book: RuleBook) -> Request:
    """Read a command of the game; chat lines are none, see :func:`read_say`.

    Raises:
        WireError: any code of SALVO-WIRE, ``bad_name``, ``sealed_unreadable``, ``unknown_ship`` or
            ``unknown_topic``.
    """
    match address.topic:
        case topics.REQUEST_PARTICIPATION:
            if payload[:1] in _BASE64:
                return SealedParticipation(address.table, read_base64(read_text(payload), "sealed_unreadable"))
            return read_participation(address.table, payload)
        case topics.PLACE:
            ship = read_ship(address.ship, book)
            return SealedPlacement(address.table, address.player, address.ship, ship, parse_blob(read_text(payload)))
        case topics.FIRE:
            return SignedShot(address.table, address.player, *_read_signed(payload), payload)
        case topics.SKIP:
            return SignedSkip(address.table, address.player, *_read_signed(payload), payload)
        case topics.LEAVE:
            return SignedLeave(address.table, address.player, *_read_signed(payload), payload)
        case topics.RESEND:
            return RESEND.read(payload, address.table, address.player)
    raise WireError("unknown_topic", f"no command of the game is sent on {address.topic.pattern}")


def read_participation(table: str, text: bytes) -> ParticipationRequest:
    """Read a request to take part, sent openly or unsealed; white space around it may be padding.

    Raises:
        WireError: any code of SALVO-WIRE, or ``bad_name``.
    """
    request = PARTICIPATION.read(text, table)
    topics.check_name(request.name)
    return request


def _read_signed(payload: bytes) -> tuple[dict[str, Any], Blob]:
    body, signature = read_envelope(payload)
    return body, parse_blob(signature)


def read_envelope(payload: bytes) -> tuple[dict[str, Any], str]:
    """Return the open body of a signed message, and its signature; neither is verified yet.

    Raises:
        WireError: a code of SALVO-WIRE.
    """
    value = parse_json(payload)
    if isinstance(value, dict) and "payload" in value:
        general = WITH_PAYLOAD.validate(payload)
        return general.payload, general.signature
    signed = WITH_DATA.validate(payload)
    return signed.data, signed.signature


def plain_ship(spelling: str) -> str:
    """Return a ship's name as rule books have it, however it is spelled (SALVO-NAME-5)."""
    return re.sub(r"[-_ ]", "", spelling).lower()


def read_ship(spelling: str, book: RuleBook) -> str:
    """Return the rule book's name of a ship, however it is spelled (SALVO-NAME-5).

    Raises:
        WireError: ``unknown_ship``.
    """
    plain = plain_ship(spelling)
    if plain in book.ship_number and len(spelling) <= MAX_SHIP_SPELLING:
        return plain
    ships = ", ".join(book.ship_number)
    raise WireError(
        "unknown_ship",
        f"{spelling[:40]!r} is no ship; the fleet is {ships} (any case; - _ and space ignored)",
    )


def read_placement(request: SealedPlacement, plaintext: bytes) -> m.PlaceShip:
    """Turn the opened body of a placement into a command.

    Raises:
        WireError: a code of SALVO-WIRE, ``bad_coordinates`` or ``bad_orientation``.
    """
    placement = PLACE.read(plaintext, request.ship).value()
    return m.PlaceShip(request.player, request.spelling, placement)


def read_shot(request: SignedShot, player: str, plaintext: bytes) -> m.Fire:
    """Turn a shot whose signature verified into a command of ``player``.

    Raises:
        WireError: a code of SALVO-WIRE, ``body_mismatch`` when the open body is not the signed one, or
            ``stale_context`` when only some of g, t, n, to are given.
    """
    _check_signed(request, plaintext)
    return SHOT.validate(plaintext).value(player, request.target)


def _check_signed(request: SignedShot | SignedSkip | SignedLeave, plaintext: bytes) -> None:
    # Our SDK sends the exact text that it signs, which has then been parsed already, as part of the payload.
    if request.payload.startswith(b'{"data":%s,"signature":' % plaintext.rstrip(b" ")):
        return
    if not same_value(parse_json(plaintext), request.body):
        raise WireError("body_mismatch", "the open body and the signed one differ; they must be equal values")


def read_skip(request: SignedSkip, plaintext: bytes) -> m.Skip:
    """Turn a skip whose signature verified into a command.

    Raises:
        WireError: a code of SALVO-WIRE, ``body_mismatch`` when the open body is not the signed one, or
            ``stale_context`` when only one of g and t is given.
    """
    _check_signed(request, plaintext)
    return SKIP.validate(plaintext).value(request.player)


def read_leave(request: SignedLeave, plaintext: bytes) -> m.Leave:
    """Turn a request to leave the lobby, whose signature verified, into a command.

    Raises:
        WireError: a code of SALVO-WIRE, or ``body_mismatch`` when the open body is not the signed one.
    """
    _check_signed(request, plaintext)
    return m.Leave(request.player, LEAVE.validate(plaintext).g)


def read_say(payload: bytes) -> Line:
    """Read a player's chat line, ready to be shown (SALVO-CHAT-1).

    Raises:
        WireError: a code of SALVO-WIRE, or ``bad_text``.
    """
    line = SAY.read(payload)
    return Line(clean_text(line.text), line.to)


# --- writing ----------------------------------------------------------------------------------------------------


def write_participation(name: str, secret: str, sealing_key: bytes | None = None) -> bytes:
    """Return the payload of a request to take part, sealed if the server has a key for that (SALVO-IDENT-4).

    Raises:
        SealError: ``bad_key``.
    """
    text = _printed(PARTICIPATION, ParticipationRequest("", name, secret))
    return text if sealing_key is None else base64.b64encode(seal_for_server(text, sealing_key))


def write_placement(placement: Placement, sealer: Sealer) -> bytes:
    """Return the payload that places a ship: the bare blob."""
    return sealer.seal(PLACE.write(m.ShipPlace.of(placement))).encode()


def write_shot(x: int, y: int, context: m.ShotContext | None, sealer: Sealer) -> bytes:
    """Return the payload of a signed shot."""
    return sealer.sign_text(SHOT.write(Shot.of(x, y, context)))


def write_skip(context: m.TurnContext | None, sealer: Sealer) -> bytes:
    """Return the payload of a signed skip."""
    return sealer.sign_text(SKIP.write(Skip.of(context)))


def write_leave(game: int | None, sealer: Sealer) -> bytes:
    """Return the payload that leaves the lobby, signed for one game or for any."""
    return sealer.sign_text(LEAVE.write(Leave(game)))


def write_say(text: str, to: str = "") -> bytes:
    """Return the payload of a player's chat line.

    Raises:
        WireError: ``bad_text``.
    """
    return _printed(SAY, Line(clean_text(text), to))


def write_resend(first: int) -> bytes:
    """Return the payload that asks for the log again, starting at an entry (SALVO-LOG-12)."""
    return _printed(RESEND, ResendRequest("", "", first))


def _printed(codec: Codec[_T], value: _T) -> bytes:
    """Return a message as the specification prints it: with white space and unescaped characters."""
    return json.dumps(codec.value(value), ensure_ascii=False).encode()
