"""What teams send: reading it, in two steps, and writing it.

What a blob holds is unknown until its key is. So :func:`read_command` turns a topic and a payload into a request,
sealed or not, and :func:`read_placement` and :func:`read_shot` turn an opened body into a command. Whatever cannot
be read is a :class:`~salvo.errors.WireError` with a stable code; no bytes on any topic give anything else.
"""

from __future__ import annotations

import base64
import json
import re
import string
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, NamedTuple

from pydantic import Field

from salvo import messages as m
from salvo import topics
from salvo.chat import clean_text
from salvo.errors import WireError
from salvo.rules import Orientation, Placement, RuleBook
from salvo.seal import Blob, Sealer, parse_blob, read_base64, seal_for_server
from salvo.topics import Address
from salvo.wire.strict_json import Strict, parse_json, read_text, same_value, validate

#: SALVO-NAME-5: long enough for ``p_a_t_r_o_l_b_o_a_t``, short enough for a topic.
LONGEST_SHIP_SPELLING: Final = 32
#: SALVO-JOIN-3. Long enough for any pass phrase; argon2 takes the same time for all of them.
LONGEST_SECRET_CHARACTERS: Final = 256
#: Wire integers beyond this are nonsense in every field.
_LARGEST = 10**9

#: What base64 begins with. The empty text is no member: it is no request at all.
_BASE64: Final = frozenset(bytes([letter]) for letter in f"{string.ascii_letters}{string.digits}+/".encode())

_Integer = Annotated[int, Field(ge=-_LARGEST, le=_LARGEST)]


class ParticipationBody(Strict):
    """What ``/game/request_participation`` carries."""

    name: str
    secret: Annotated[str, Field(min_length=1, max_length=LONGEST_SECRET_CHARACTERS, repr=False)]


class PlacementBody(Strict):
    """What the blob on ``.../place`` holds."""

    coordinates: str
    orientation: Annotated[str, Field(alias="Orientation")]


class ShotBody(Strict):
    """The body of a shot; the four fields of its occasion come all or none (SALVO-FRESH-5)."""

    x: _Integer
    y: _Integer | str
    g: _Integer | None = None
    t: _Integer | None = None
    n: _Integer | None = None
    to: str | None = None


class LeaveBody(Strict):
    """The body of leaving the lobby; it may name the game (SALVO-JOIN-15)."""

    g: _Integer | None = None


class SkipBody(Strict):
    """The body of a skip; the two fields of its occasion come both or none (SALVO-BOOK-7)."""

    g: _Integer | None = None
    t: _Integer | None = None


class SayBody(Strict):
    """What ``/players/<p>/say`` carries."""

    text: str
    to: str = ""


class ResendBody(Strict):
    """What ``/players/<p>/resend`` carries (SALVO-LOG-12)."""

    log: Annotated[int, Field(ge=0, le=_LARGEST)]


class SignedWithData(Strict):
    """A signed message as the specification prints it for shots."""

    data: dict[str, Any]
    signature: str


class SignedWithPayload(Strict):
    """A signed message as the specification prints it in its general example."""

    payload: dict[str, Any]
    signature: str


@dataclass(frozen=True, slots=True)
class ParticipationRequest:
    """A readable request to take part."""

    table: str
    name: str
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class SealedPlacement:
    """A placement whose blob is not opened yet."""

    table: str
    player: str
    spelling: str
    ship: str
    blob: Blob


@dataclass(frozen=True, slots=True)
class SignedShot:
    """A shot whose signature is not checked yet.

    Attributes:
        target: the player whose board it is aimed at, as the topic says.
        body: the open body.
    """

    table: str
    target: str
    body: dict[str, Any]
    blob: Blob


@dataclass(frozen=True, slots=True)
class SealedParticipation:
    """A request to take part that only the server can open (SALVO-IDENT-4)."""

    table: str
    sealed: bytes


@dataclass(frozen=True, slots=True)
class SignedLeave:
    """Leaving the lobby, whose signature is not checked yet.

    Attributes:
        player: who leaves, as the topic says.
        body: the open body.
    """

    table: str
    player: str
    body: dict[str, Any]
    blob: Blob


@dataclass(frozen=True, slots=True)
class SignedSkip:
    """A skip whose signature is not checked yet.

    Attributes:
        player: who skips, as the topic says.
        body: the open body.
    """

    table: str
    player: str
    body: dict[str, Any]
    blob: Blob


class Line(NamedTuple):
    """What a player says, ready to be shown.

    Attributes:
        to: the one who is to hear it; empty for everybody.
    """

    text: str
    to: str = ""


@dataclass(frozen=True, slots=True)
class ResendRequest:
    """A request to say the log of the game again; nothing proves who sent it (SALVO-LOG-12).

    Attributes:
        first: number of the first entry that is wanted.
    """

    table: str
    player: str
    first: int


#: What a key of a team opens.
Sealed = SealedPlacement | SignedShot | SignedSkip | SignedLeave
Request = ParticipationRequest | SealedParticipation | ResendRequest | Sealed


def read_command(address: Address, payload: bytes, book: RuleBook) -> Request:
    """Read a command of the game; what is said in the chat is none, and :func:`read_say` reads it.

    Raises:
        WireError: any code of SALVO-WIRE, ``bad_name``, ``sealed_unreadable``, ``unknown_ship`` or
            ``unknown_topic``.
    """
    match address.topic.name:
        case "request_participation":
            if payload[:1] in _BASE64:
                return SealedParticipation(address.table, read_base64(read_text(payload), "sealed_unreadable"))
            return read_participation(address.table, payload)
        case "place":
            ship = read_ship(address.ship, book)
            return SealedPlacement(address.table, address.player, address.ship, ship, parse_blob(read_text(payload)))
        case "fire":
            return SignedShot(address.table, address.player, *_read_signed(parse_json(payload)))
        case "skip":
            return SignedSkip(address.table, address.player, *_read_signed(parse_json(payload)))
        case "leave":
            return SignedLeave(address.table, address.player, *_read_signed(parse_json(payload)))
        case "resend":
            return ResendRequest(address.table, address.player, validate(ResendBody, parse_json(payload)).log)
    raise WireError("unknown_topic", f"no command of the game is sent on {address.topic.pattern}")


def read_participation(table: str, text: bytes) -> ParticipationRequest:
    """Read a request to take part, open or opened; white space around it may be padding.

    Raises:
        WireError: any code of SALVO-WIRE, or ``bad_name``.
    """
    body = validate(ParticipationBody, parse_json(text))
    topics.check_name(body.name)
    return ParticipationRequest(table, body.name, body.secret)


def _read_signed(value: Any) -> tuple[dict[str, Any], Blob]:
    """Return the open body of a signed message, and its signature."""
    if isinstance(value, dict) and "payload" in value:
        general = validate(SignedWithPayload, value)
        return general.payload, parse_blob(general.signature)
    signed = validate(SignedWithData, value)
    return signed.data, parse_blob(signed.signature)


def plain_ship(spelling: str) -> str:
    """Return a ship's name as rule books have it, however it is spelled (SALVO-NAME-5)."""
    return re.sub(r"[-_ ]", "", spelling).lower()


def read_ship(spelling: str, book: RuleBook) -> str:
    """Return the rule book's name of a ship, however it is spelled (SALVO-NAME-5).

    Raises:
        WireError: ``unknown_ship``.
    """
    plain = plain_ship(spelling)
    if plain in book.ship_number and len(spelling) <= LONGEST_SHIP_SPELLING:
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
    body = validate(PlacementBody, parse_json(plaintext))
    x, y = read_coordinates(body.coordinates)
    try:
        orientation = Orientation(body.orientation)
    except ValueError:
        raise WireError(
            "bad_orientation", f"Orientation {body.orientation[:40]!r}; it is HORIZONTAL or VERTICAL"
        ) from None
    return m.PlaceShip(request.player, request.spelling, Placement(request.ship, x, y, orientation))


_COORDINATES = re.compile(r"\s*(-?[0-9]{1,9})\s*;\s*(-?[0-9]{1,9}|[A-Za-z])\s*")


def read_coordinates(text: str) -> tuple[int, int]:
    """Read ``"<x>;<y>"``, with a letter for y if the sender likes (SALVO-GAME-3).

    Raises:
        WireError: ``bad_coordinates``.
    """
    found = _COORDINATES.fullmatch(text)
    if found is None:
        raise WireError("bad_coordinates", f'{text[:40]!r} is not "<x>;<y>", such as "3;4" or "3;D"')
    return int(found[1]), _row_number(found[2])


def _row_number(y: int | str) -> int:
    if isinstance(y, int):
        return y
    if len(y) == 1 and y.isascii() and y.isalpha():
        return ord(y.upper()) - ord("A") + 1
    if re.fullmatch(r"-?[0-9]{1,9}", y):
        return int(y)
    raise WireError("bad_coordinates", f"y={y[:40]!r} is neither a row number nor a row letter")


def read_shot(request: SignedShot, player: str, plaintext: bytes) -> m.Fire:
    """Turn a shot whose signature verified into a command of ``player``.

    Raises:
        WireError: a code of SALVO-WIRE, ``body_mismatch`` when the open body is not the signed one, or
            ``stale_context`` when only some of g, t, n, to are given.
    """
    body = validate(ShotBody, _signed_body(request.body, plaintext))
    if isinstance(body.y, str) and not body.y.isalpha():
        raise WireError("bad_coordinates", f"y={body.y[:40]!r} is neither a row number nor a row letter")
    return m.Fire(player, request.target, body.x, _row_number(body.y), _context(body))


def _signed_body(body: dict[str, Any], plaintext: bytes) -> Any:
    signed = parse_json(plaintext)
    if not same_value(signed, body):
        raise WireError("body_mismatch", "the open body and the signed one differ; they must be equal values")
    return signed


def read_skip(request: SignedSkip, plaintext: bytes) -> m.Skip:
    """Turn a skip whose signature verified into a command.

    Raises:
        WireError: a code of SALVO-WIRE, ``body_mismatch`` when the open body is not the signed one, or
            ``stale_context`` when only one of g and t is given.
    """
    body = validate(SkipBody, _signed_body(request.body, plaintext))
    if (body.g is None) != (body.t is None):
        raise WireError("stale_context", "g and t (game, turn) come together or not at all")
    context = None if body.g is None or body.t is None else m.TurnContext(body.g, body.t)
    return m.Skip(request.player, context)


def read_leave(request: SignedLeave, plaintext: bytes) -> m.Leave:
    """Turn leaving the lobby, whose signature verified, into a command.

    Raises:
        WireError: a code of SALVO-WIRE, or ``body_mismatch`` when the open body is not the signed one.
    """
    return m.Leave(request.player, validate(LeaveBody, _signed_body(request.body, plaintext)).g)


def read_say(payload: bytes) -> Line:
    """Read what a player says (SALVO-CHAT-1).

    Raises:
        WireError: a code of SALVO-WIRE, or ``bad_text``.
    """
    body = validate(SayBody, parse_json(payload))
    return Line(clean_text(body.text), body.to)


def _context(body: ShotBody) -> m.ShotContext | None:
    occasion = (body.g, body.t, body.n, body.to)
    if occasion == (None, None, None, None):
        return None
    if body.g is None or body.t is None or body.n is None or body.to is None:
        raise WireError("stale_context", "g, t, n and to (game, turn, shot, target) come all together or not at all")
    return m.ShotContext(body.g, body.t, body.n, body.to)


# --- writing ----------------------------------------------------------------------------------------------------


def write_participation(name: str, secret: str, sealing_key: bytes | None = None) -> bytes:
    """Return the payload of a request to take part, sealed where the server has a key for that (SALVO-IDENT-4).

    Raises:
        SealError: ``bad_key``.
    """
    text = json.dumps({"name": name, "secret": secret}, ensure_ascii=False).encode()
    return text if sealing_key is None else base64.b64encode(seal_for_server(text, sealing_key))


def write_placement(placement: Placement, sealer: Sealer) -> bytes:
    """Return the payload that places a ship: the bare blob."""
    return sealer.seal_json(placement_body(placement)).encode()


def placement_body(placement: Placement) -> dict[str, str]:
    """Return a placement as JSON has it."""
    return {"coordinates": f"{placement.x};{placement.y}", "Orientation": placement.orientation.value}


def write_shot(x: int, y: int, context: m.ShotContext | None, sealer: Sealer) -> bytes:
    """Return the payload of a signed shot."""
    body: dict[str, int | str] = {"x": x, "y": y}
    if context is not None:
        body |= {"g": context.game, "t": context.turn, "n": context.shot, "to": context.target}
    return sealer.sign(body)


def write_skip(context: m.TurnContext | None, sealer: Sealer) -> bytes:
    """Return the payload of a signed skip."""
    return sealer.sign({} if context is None else {"g": context.game, "t": context.turn})


def write_leave(game: int | None, sealer: Sealer) -> bytes:
    """Return the payload of leaving the lobby, signed for a game or for none in particular."""
    return sealer.sign({} if game is None else {"g": game})


def write_say(text: str, to: str = "") -> bytes:
    """Return the payload of what a player says.

    Raises:
        WireError: ``bad_text``.
    """
    body = {"text": clean_text(text)} | ({"to": to} if to else {})
    return json.dumps(body, ensure_ascii=False).encode()


def write_resend(first: int) -> bytes:
    """Return the payload that asks for the log again, from an entry on (SALVO-LOG-12)."""
    return json.dumps({"log": first}).encode()
