"""What teams send, as the server reads it, in two steps.

The content of a blob is unknown until its key is. So :func:`read_command` turns a topic and a payload into a request,
sealed or not, and :func:`read_opened` turns what a key has opened into a command. Anything unreadable is a
:class:`~salvo.errors.WireError` with a stable code; no bytes on any topic cause another exception.
"""

from __future__ import annotations

import base64
import string
from dataclasses import dataclass
from typing import Any, Final

from salvo import messages as m
from salvo.codec import commands
from salvo.codec.commands import Line, ParticipationRequest, ResendRequest, check_host, read_envelope, read_ship
from salvo.codec.log import message_digest
from salvo.codec.strict_json import parse_json, read_text, same_value
from salvo.errors import WireError
from salvo.rules import RuleBook
from salvo.wire import topics
from salvo.wire.chat_text import clean_text
from salvo.wire.seal import Blob, parse_blob, read_base64
from salvo.wire.topics import Address

#: First bytes of base64. The empty text is not among them: it is not a request at all.
_BASE64: Final = frozenset(bytes([letter]) for letter in f"{string.ascii_letters}{string.digits}+/".encode())


@dataclass(frozen=True, slots=True)
class SealedPlacement:
    """A placement whose blob has not been opened yet."""

    table: str
    player: str
    spelling: str
    ship: str
    blob: Blob


@dataclass(frozen=True, slots=True)
class SealedParticipation:
    """A request to take part, which only the server can open (SALVO-IDENT-4)."""

    table: str
    sealed: bytes


@dataclass(frozen=True, slots=True)
class _Signed:
    """A signed command.

    Attributes:
        player: the sender, as the topic says; of a shot, the player whose board it is aimed at.
        body: the open body.
        payload: as it came.
    """

    table: str
    player: str
    body: dict[str, Any]
    blob: Blob
    payload: bytes = b""


class SignedShot(_Signed):
    """A shot, whose signature has not been checked yet."""

    __slots__ = ()


class SignedLeave(_Signed):
    """A request to leave the lobby, whose signature has not been checked yet."""

    __slots__ = ()


class SignedSkip(_Signed):
    """A skip whose signature has not been checked yet."""

    __slots__ = ()


class SignedHost(_Signed):
    """What a host does, whose signature has not been checked yet; ``player`` is the host, as the body says."""

    __slots__ = ()


#: Requests that a team's or a host's key opens.
Sealed = SealedPlacement | SignedShot | SignedSkip | SignedLeave | SignedHost
Request = ParticipationRequest | SealedParticipation | ResendRequest | Sealed
#: What they say once they are open.
OpenedCommand = m.PlaceShip | m.Fire | m.Skip | m.Leave | m.HostCommand


def read_command(address: Address, payload: bytes, book: RuleBook) -> Request:
    """Read a command of the game; chat lines are none, see :func:`read_chat`.

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
        case topics.HOST:
            body, blob = _read_signed(payload)
            by = body.get("by")
            if not isinstance(by, str):
                raise WireError("wrong_shape", "by: the body of a host's command has the name of the host")
            return SignedHost(address.table, topics.check_name(by, "host"), body, blob, payload)
        case topics.RESEND:
            return commands.RESEND.read(payload, address.table, address.player)
    raise WireError("unknown_topic", f"no command of the game is sent on {address.topic.pattern}")


def read_participation(table: str, text: bytes) -> ParticipationRequest:
    """Read a request to take part, sent openly or unsealed; white space around it may be padding.

    Raises:
        WireError: any code of SALVO-WIRE, or ``bad_name``.
    """
    request = commands.PARTICIPATION.read(text, table)
    topics.check_name(request.name)
    return request


def _read_signed(payload: bytes) -> tuple[dict[str, Any], Blob]:
    body, signature = read_envelope(payload)
    return body, parse_blob(signature)


def read_opened(request: Sealed, sender: str, plaintext: bytes) -> OpenedCommand:
    """Turn what a key has opened into a command.

    Args:
        sender: the team or host whose key it is.

    Raises:
        WireError: a code of the reader of its kind.
    """
    if isinstance(request, SignedShot):
        return read_shot(request, sender, plaintext)
    if isinstance(request, SealedPlacement):
        return read_placement(request, plaintext)
    if isinstance(request, SignedSkip):
        return read_skip(request, plaintext)
    if isinstance(request, SignedHost):
        return read_host(request, plaintext)
    return read_leave(request, plaintext)


def read_placement(request: SealedPlacement, plaintext: bytes) -> m.PlaceShip:
    """Turn the opened body of a placement into a command, with what stands for its message in the log (SALVO-LOG-8).

    Raises:
        WireError: a code of SALVO-WIRE, ``bad_coordinates`` or ``bad_orientation``.
    """
    placement = commands.PLACE.read(plaintext, request.ship).value()
    blob, topic = request.blob, topics.PLACE.of(request.table, player=request.player, ship=request.spelling)
    payload = base64.b64encode(blob.salt + blob.nonce + blob.ciphertext)  # as it came: no other text is canonical
    return m.PlaceShip(request.player, request.spelling, placement, message_digest(topic, payload))


def read_shot(request: SignedShot, player: str, plaintext: bytes) -> m.Fire:
    """Turn a shot whose signature verified into a command of ``player``.

    Raises:
        WireError: a code of SALVO-WIRE, ``body_mismatch`` when the open body is not the signed one, or
            ``stale_context`` when only some of g, t, n, to are given.
    """
    _check_signed(request, plaintext)
    return commands.SHOT.validate(plaintext).value(player, request.player)


def _check_signed(request: _Signed, plaintext: bytes) -> None:
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
    return commands.SKIP.validate(plaintext).value(request.player)


def read_leave(request: SignedLeave, plaintext: bytes) -> m.Leave:
    """Turn a request to leave the lobby, whose signature verified, into a command.

    Raises:
        WireError: a code of SALVO-WIRE, or ``body_mismatch`` when the open body is not the signed one.
    """
    _check_signed(request, plaintext)
    return m.Leave(request.player, commands.LEAVE.validate(plaintext).g)


def read_host(request: SignedHost, plaintext: bytes) -> m.HostCommand:
    """Turn what a host does, whose signature verified, into a command.

    Raises:
        WireError: a code of SALVO-WIRE, ``body_mismatch``, or a code of :func:`~salvo.codec.commands.check_host`.
    """
    _check_signed(request, plaintext)
    return check_host(commands.HOST.validate(plaintext))


def read_chat(payload: bytes) -> Line:
    """Read a player's chat line, ready to be shown (SALVO-CHAT-1).

    Raises:
        WireError: a code of SALVO-WIRE, or ``bad_text``.
    """
    line = commands.SAY.read(payload)
    return Line(clean_text(line.text), line.to)
