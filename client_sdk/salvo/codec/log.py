"""The signed log of a game, `/game/log`: entries, signatures, the chain, commitments (SALVO-LOG).

    payload = {"entry":<text of an entry>,"sign":"<base64 of the signature>"}

Every entry has the digest of the one before, so that nothing once said can be taken back. What must stay hidden during
the game is committed by :func:`blind`, the only way for anything hidden to get into the log, and is revealed when the
game is won. Its readers' side is :mod:`salvo.codec.log_reader`.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from salvo import messages as m
from salvo.codec.json_codec import Codec
from salvo.codec.rules import Rules
from salvo.codec.steps import ANNOUNCEMENTS, INPUTS
from salvo.wire.json_shape import (
    REQUIRED,
    UNLESS_EMPTY,
    Base64,
    Bounds,
    Composed,
    Count,
    Hexadecimal,
    Inline,
    OneOf,
    Strict,
)

#: The version of the format (SALVO-LOG-3).
LOG_VERSION: Final = 1
#: A last salvo with 64 players and their statistics has 12,000; this is the most that our brokers pass on.
MAX_ENTRY_BYTES: Final = 256 * 1024
#: A payload with revealed texts is no larger, unless one text alone is (SALVO-LOG-7).
MAX_REVEAL_BYTES: Final = 8 * 1024
DIGEST_BYTES: Final = 32
KEY_BYTES: Final = 32
SECRET_BYTES: Final = 32
#: Bytes of the opening's digest that every later entry has.
OF_BYTES: Final = 8

HEAD: Final = b'{"entry":'
MIDDLE: Final = b',"sign":"'
END: Final = b'"}'
DOMAIN: Final = b"salvo log\0"
MAX_ENTRY_DEPTH: Final = 8

#: Announcements to one player, which name their recipient; all others are public.
_TO_ONE: Final = frozenset({"given", "landed", "placement_refused", "refused"})
PublicAnnouncement = Annotated[
    m.Announcement, OneOf({key: of for key, of in ANNOUNCEMENTS.items() if key not in _TO_ONE})
]
#: Inputs that everybody may know.
_OPEN: Final = ("participate", "host", "strike", "time", "resume", "delivered")
OpenInput = Annotated[m.Input, OneOf({key: INPUTS[key] for key in _OPEN})]


# --- what stands in an entry --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Opening(Composed):
    """A game's first entry: what it starts from, and what the server commits to before any team acts.

    Attributes:
        log: version of the format.
        key: the server's signing key.
        seed: commitment to the source of the draws.
    """

    log: Annotated[int, Bounds(ge=1, le=LOG_VERSION)] = field(default=LOG_VERSION, kw_only=True, metadata=REQUIRED)
    game: Count
    rules: Rules
    limits: m.Limits
    version: str
    key: Annotated[bytes, Base64(KEY_BYTES)]
    draw: m.Draw
    seed: Annotated[bytes, Hexadecimal(DIGEST_BYTES)]

    @property
    def table(self) -> str:
        """The table's name; empty for the default table."""
        return self.rules.table


@dataclass(frozen=True, slots=True)
class LogStep(Strict):
    """The public part of a step of the referee.

    Attributes:
        at: when, epoch ms.
        announcements: those to everybody.
        command: the input if it is public, else None.
        message: digest of the message of a placement (:func:`message_digest`); else empty.
        hidden: commitments to the hidden inputs that counted since the previous entry; the step's own is the last.
    """

    at: Count
    announcements: tuple[PublicAnnouncement, ...] = field(metadata={"alias": "said"})
    command: OpenInput | None = field(default=None, kw_only=True, metadata={"alias": "input"})
    message: Annotated[bytes, Hexadecimal(m.MESSAGE_BYTES)] = field(default=b"", kw_only=True, metadata=UNLESS_EMPTY)
    hidden: tuple[Annotated[bytes, Hexadecimal(DIGEST_BYTES)], ...]


@dataclass(frozen=True, slots=True)
class Reveal(Strict):
    """Hidden inputs, once the game is won.

    Attributes:
        first: number of the first text, from 0.
        seed: the source of the draws; None in all but the first of these entries.
        secret: the key of the commitments; likewise.
        texts: inputs with their times, as :func:`write_hidden` makes them.
    """

    first: Count
    seed: str | None = field(default=None, kw_only=True)
    secret: Annotated[bytes, Hexadecimal(SECRET_BYTES)] | None = field(default=None, kw_only=True)
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LogEnd(Strict):
    """The last entry.

    Attributes:
        steps: how many steps the log has.
        hidden: how many commitments, and texts.
    """

    steps: Count
    hidden: Count


#: Bodies of entries, by their keys.
KINDS: Final[dict[str, Any]] = {"open": Opening, "step": LogStep, "reveal": Reveal, "end": LogEnd}


@dataclass(frozen=True, slots=True)
class Entry(Composed):
    """One entry of a game's log.

    Attributes:
        number: from 0, without a gap.
        of: identifies the game: the start of its opening's digest, hexadecimal. Empty in the opening itself.
        prev: digest of the previous entry, hexadecimal; empty in the opening.
    """

    number: Count = field(metadata={"alias": "n"})
    of: str = field(default="", kw_only=True, metadata=UNLESS_EMPTY)
    prev: str
    body: Annotated[Opening | LogStep | Reveal | LogEnd, Inline(OneOf(KINDS))]


ENTRY: Final[Codec[Entry]] = Codec(Entry, largest=MAX_ENTRY_BYTES, deepest=MAX_ENTRY_DEPTH)


def write_entry(entry: Entry) -> bytes:
    """Return an entry's text, which is what is signed; every entry has exactly one."""
    return ENTRY.write(entry)


# --- hidden inputs ------------------------------------------------------------------------------------------------


def write_hidden(at: int, text: str) -> str:
    """Return the text of a hidden input, which is committed to.

    Args:
        text: the input, as :func:`~salvo.codec.steps.write_input` makes it.
    """
    return f'{{"at":{at},{text[1:]}'


def blind(secret: bytes, number: int, text: str) -> bytes:
    """Return the commitment to a game's hidden input (SALVO-LOG-6).

    Args:
        secret: of this game, 32 bytes; without it, the commitment reveals nothing.
        number: index of the input among the hidden ones, from 0, so that equal inputs have different commitments.
        text: as :func:`write_hidden` makes it.
    """
    key = hashlib.blake2b(b"salvo blind" + number.to_bytes(8, "big"), digest_size=DIGEST_BYTES, key=secret).digest()
    return hashlib.blake2b(text.encode(), digest_size=DIGEST_BYTES, key=key).digest()


def seed_commitment(secret: bytes, seed: str) -> bytes:
    """Return the commitment to the source of a game's draws (SALVO-LOG-5)."""
    return hashlib.blake2b(b"salvo seed\0" + seed.encode(), digest_size=DIGEST_BYTES, key=secret).digest()


def message_digest(topic: str, payload: bytes) -> bytes:
    """Return a message's digest: 16 bytes, over topic and payload as they were published (SALVO-LOG-8)."""
    return hashlib.blake2b(topic.encode() + b"\0" + payload, digest_size=m.MESSAGE_BYTES).digest()


# --- signing ------------------------------------------------------------------------------------------------------


def sign_entry(text: bytes, sign: Callable[[bytes], bytes]) -> bytes:
    """Return the payload of an entry's text (SALVO-LOG-1, SALVO-LOG-2)."""
    return HEAD + text + MIDDLE + base64.b64encode(sign(DOMAIN + text)) + END


def entry_digest(text: bytes) -> bytes:
    """Return an entry's digest, which the next one has (SALVO-LOG-4)."""
    return hashlib.blake2b(text, digest_size=DIGEST_BYTES).digest()


# --- the chain ----------------------------------------------------------------------------------------------------


def chunks(texts: Sequence[str], most_bytes: int) -> list[tuple[str, ...]]:
    """Return texts in groups whose JSON has at most this many bytes; a longer text gets its own group."""
    groups: list[list[str]] = [[]]
    size = 0
    for text in texts:
        cost = len(json.dumps(text)) + 1
        if groups[-1] and size + cost > most_bytes:
            groups.append([])
            size = 0
        groups[-1].append(text)
        size += cost
    return [tuple(group) for group in groups]
