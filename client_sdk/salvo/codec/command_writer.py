"""Writes what teams send; :mod:`salvo.codec.command_reader` reads it."""

from __future__ import annotations

import base64
import json
from typing import TypeVar

from salvo import messages as m
from salvo.codec import commands as body
from salvo.codec.commands import Line, ParticipationRequest, ResendRequest, check_host
from salvo.codec.json_codec import Codec
from salvo.rules import Placement
from salvo.wire.chat_text import clean_text
from salvo.wire.seal import Sealer, seal_for_server

_T = TypeVar("_T")


def write_participation(name: str, secret: str, sealing_key: bytes | None = None) -> bytes:
    """Return the payload of a request to take part, sealed if the server has a key for that (SALVO-IDENT-4).

    Raises:
        SealError: ``bad_key``.
    """
    text = _as_specified(body.PARTICIPATION, ParticipationRequest("", name, secret))
    return text if sealing_key is None else base64.b64encode(seal_for_server(text, sealing_key))


def write_placement(placement: Placement, sealer: Sealer) -> bytes:
    """Return the payload that places a ship: the blob alone, without JSON around it."""
    return sealer.seal(body.PLACE.write(m.ShipPlace.of(placement))).encode()


def write_shot(x: int, y: int, context: m.ShotContext | None, sealer: Sealer) -> bytes:
    """Return the payload of a signed shot, valid for one place in one game if it has a context (SALVO-FRESH-5)."""
    return sealer.sign_text(body.SHOT.write(body.Shot.of(x, y, context)))


def write_skip(context: m.TurnContext | None, sealer: Sealer) -> bytes:
    """Return the payload of a signed skip, valid for one turn if it has a context (SALVO-BOOK-7)."""
    return sealer.sign_text(body.SKIP.write(body.Skip.of(context)))


def write_leave(game: int | None, sealer: Sealer) -> bytes:
    """Return the signed payload that leaves the lobby, valid for one game or, if None, for any."""
    return sealer.sign_text(body.LEAVE.write(body.Leave(game)))


def write_host(command: m.HostCommand, sealer: Sealer) -> bytes:
    """Return the payload of a host's command, signed with the host's secret.

    Raises:
        WireError: see :func:`check_host`.
    """
    return sealer.sign_text(body.HOST.write(check_host(command)))


def write_chat(text: str, to: str = "") -> bytes:
    """Return the payload of a player's chat line.

    Args:
        to: its only recipient; empty for everybody.

    Raises:
        WireError: ``bad_text``.
    """
    return _as_specified(body.SAY, Line(clean_text(text), to))


def write_resend(first: int) -> bytes:
    """Return the payload that asks for the log again, from the entry with this number on (SALVO-LOG-12)."""
    return _as_specified(body.RESEND, ResendRequest("", "", first))


def _as_specified(codec: Codec[_T], value: _T) -> bytes:
    """Return a message byte for byte as the specification prints it: with white space and unescaped characters."""
    return json.dumps(codec.value(value), ensure_ascii=False).encode()
