"""Bytes to messages and back: the one strict parser, and the one encoder, of both sides."""

from salvo.wire.announcements import (
    Publication,
    read_announcement,
    write_announcement,
)
from salvo.wire.commands import (
    ParticipationRequest,
    Request,
    Sealed,
    SealedParticipation,
    SealedPlacement,
    SignedShot,
    SignedSkip,
    read_command,
    read_coordinates,
    read_participation,
    read_placement,
    read_ship,
    read_shot,
    read_skip,
    write_participation,
    write_placement,
    write_shot,
    write_skip,
)
from salvo.wire.recap import read_recap, write_recap
from salvo.wire.strict_json import LARGEST_PAYLOAD_BYTES, parse_json, same_value

__all__ = [
    "LARGEST_PAYLOAD_BYTES",
    "ParticipationRequest",
    "Publication",
    "Request",
    "Sealed",
    "SealedParticipation",
    "SealedPlacement",
    "SignedShot",
    "SignedSkip",
    "parse_json",
    "read_announcement",
    "read_command",
    "read_coordinates",
    "read_participation",
    "read_placement",
    "read_recap",
    "read_ship",
    "read_shot",
    "read_skip",
    "same_value",
    "write_announcement",
    "write_participation",
    "write_placement",
    "write_recap",
    "write_shot",
    "write_skip",
]
