"""The signed log of a game, `/game/log`: entries, signatures, the chain, commitments (SALVO-LOG).

    payload = {"entry":<text of an entry>,"sign":"<base64 of the signature>"}

Every entry has the digest of the one before, so that nothing once said can be taken back. What must stay hidden during
the game is committed by :func:`blind`, the only way for anything hidden to get into the log, and is revealed when the
game is won. Whether the game was fair is for a referee to find out (``salvo verify``); this module has what a client
needs to hold the server to its word during the game.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, Final

from salvo import messages as m
from salvo import seal
from salvo.codec.json_codec import Codec
from salvo.codec.rules import Rules
from salvo.codec.steps import INPUTS, SAID
from salvo.codec.strict_json import parse_json
from salvo.errors import SalvoError, SealError, WireError
from salvo.shape import REQUIRED, UNLESS_EMPTY, Base64, Bounds, Composed, Count, Hexadecimal, Inline, OneOf, Strict

#: The version of the format (SALVO-LOG-3).
LOG_VERSION: Final = 1
#: A last salvo with 64 players and their statistics has 12,000; this is the most that our brokers pass on.
MAX_ENTRY_BYTES: Final = 256 * 1024
#: A payload with revealed texts is no larger, unless one text alone is (SALVO-LOG-7).
MAX_REVEAL_BYTES: Final = 8 * 1024
#: Length of what surrounds an entry's text in a payload (SALVO-LOG-1).
HEAD_BYTES: Final = 9
TAIL_BYTES: Final = 99
DIGEST_BYTES: Final = 32
KEY_BYTES: Final = 32
SECRET_BYTES: Final = 32
SIGNATURE_BYTES: Final = 64
#: Bytes of the opening's digest that every later entry has.
OF_BYTES: Final = 8

_HEAD: Final = b'{"entry":'
_MIDDLE: Final = b',"sign":"'
_END: Final = b'"}'
_SIGNATURE: Final = Base64(SIGNATURE_BYTES)
_DOMAIN: Final = b"salvo log\0"
_MAX_ENTRY_DEPTH: Final = 8

#: Announcements to one player, which name their recipient; all others are public.
_TO_ONE: Final = frozenset({"given", "landed", "placement_refused", "refused"})
PublicSaid = Annotated[m.Announcement, OneOf({key: of for key, of in SAID.items() if key not in _TO_ONE})]
#: Inputs that everybody may know.
_OPEN: Final = ("participate", "host", "strike", "time", "resume", "delivered")
OpenInput = Annotated[m.Input, OneOf({key: INPUTS[key] for key in _OPEN})]


class Fault(StrEnum):
    """Which party is at fault when a log does not hold."""

    FILE = "file"  # altered on its way: the server has not signed this
    SERVER = "server"  # the server has signed something untrue
    INCOMPLETE = "incomplete"  # no lie; something is missing
    UNDECIDED = "undecided"  # unsigned evidence contradicts the log
    STRANGER = "stranger"  # not the server that was expected
    NO_PROOF = "no_proof"  # no log at all


class LogError(SalvoError):
    """A log that does not hold, and which party is at fault.

    Codes: ``unknown_version``, ``log_unreadable`` and ``log_forged`` (of unknown origin), ``log_foreign``
    (another game's), ``log_gap`` (entries are missing), ``log_wrong`` (signed, and no entry), ``log_broken`` (signed,
    and does not continue what was signed before), ``log_forked`` (signed, and so was another entry of this number).
    """

    def __init__(self, code: str, text: str, fault: Fault) -> None:
        super().__init__(code, text)
        self.fault = fault


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
        said: announcements to everybody.
        command: the input if it is public, else None.
        message: digest of the message of a placement (:func:`message_digest`); else empty.
        hidden: commitments to the hidden inputs that counted since the previous entry; the step's own is the last.
    """

    at: Count
    said: tuple[PublicSaid, ...]
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


ENTRY: Final[Codec[Entry]] = Codec(Entry, largest=MAX_ENTRY_BYTES, deepest=_MAX_ENTRY_DEPTH)


def write_entry(entry: Entry) -> bytes:
    """Return an entry's text, which is what is signed; every entry has exactly one."""
    return ENTRY.write(entry)


def read_entry(text: bytes) -> Entry:
    """Read an entry's text, which must be the one text of this entry.

    Raises:
        WireError: ``unknown_version`` for a later format than this reader's, else the codes of strict JSON.
    """
    try:
        entry = ENTRY.read_exact(text)
    except WireError:
        _check_form(parse_json(text, MAX_ENTRY_BYTES, _MAX_ENTRY_DEPTH))
        raise
    if isinstance(entry.body, Opening) != (entry.number == 0):
        raise WireError("wrong_shape", f"entry {entry.number}; the opening, and nothing else, is entry 0")
    return entry


def _check_form(value: Any) -> None:
    opening = value.get("open") if isinstance(value, dict) else None
    form = opening.get("log") if isinstance(opening, dict) else None
    if type(form) is int and form > LOG_VERSION:
        raise WireError("unknown_version", f"a log of form {form}; this one reads the forms 1..{LOG_VERSION}")


# --- hidden inputs ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Hidden(Composed):
    """A hidden input with its time."""

    at: int
    command: Annotated[m.Input, Inline(OneOf(INPUTS))]


HIDDEN: Final[Codec[Hidden]] = Codec(Hidden, largest=MAX_ENTRY_BYTES, deepest=_MAX_ENTRY_DEPTH)


def write_hidden(at: int, text: str) -> str:
    """Return the text of a hidden input, which is committed to.

    Args:
        text: the input, as :func:`~salvo.codec.steps.write_input` makes it.
    """
    return f'{{"at":{at},{text[1:]}'


def read_hidden(text: str) -> Hidden:
    """Read a revealed text.

    Raises:
        WireError: the codes of strict JSON.
    """
    return HIDDEN.read_exact(text.encode(errors="surrogatepass"))


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


class NotOpened(Exception):
    """What was revealed does not open what was committed to.

    Attributes:
        number: index of the text that does not, from 0; None for the seed.
    """

    def __init__(self, text: str, number: int | None = None) -> None:
        super().__init__(text)
        self.number = number


def open_commitments(
    opening: Opening, revealed: Reveal, commitments: Sequence[bytes], texts: Sequence[str]
) -> tuple[str, bytes]:
    """Compare what was revealed with the commitments; return seed and secret (SALVO-LOG-11).

    Args:
        revealed: the first entry that reveals anything.
        commitments: of all steps, in their order.
        texts: of all revealing entries, in their order; there may be fewer or more of them.

    Raises:
        NotOpened: the first mismatch.
    """
    seed, secret = revealed.seed, revealed.secret
    if seed is None or secret is None or revealed.first:
        raise NotOpened("the first entry that reveals anything has seed, secret, and the texts from 0 on")
    if seed_commitment(secret, seed) != opening.seed:
        raise NotOpened("seed and secret do not open the commitment")
    if opening.draw is m.Draw.FAIR and seed != secret.hex():
        raise NotOpened("with draw fair, the seed must be the secret")
    for number, (commitment, text) in enumerate(zip(commitments, texts, strict=False)):
        if blind(secret, number, text) != commitment:
            raise NotOpened(f"text {number}, {text[:120]}, does not open the commitment", number)
    return seed, secret


# --- signing ------------------------------------------------------------------------------------------------------


def sign_entry(text: bytes, sign: Callable[[bytes], bytes]) -> bytes:
    """Return the payload of an entry's text (SALVO-LOG-1, SALVO-LOG-2)."""
    return _HEAD + text + _MIDDLE + base64.b64encode(sign(_DOMAIN + text)) + _END


def entry_digest(text: bytes) -> bytes:
    """Return an entry's digest, which the next one has (SALVO-LOG-4)."""
    return hashlib.blake2b(text, digest_size=DIGEST_BYTES).digest()


def take_apart(payload: bytes) -> tuple[bytes, bytes]:
    """Return an entry's text and its signature; neither is verified yet.

    Raises:
        WireError: ``wrong_shape`` or ``too_large``.
    """
    if len(payload) > MAX_ENTRY_BYTES:
        raise WireError("too_large", f"{len(payload)} bytes; an entry has at most {MAX_ENTRY_BYTES}")
    text, tail = payload[HEAD_BYTES:-TAIL_BYTES], payload[-TAIL_BYTES:]
    signature = tail[len(_MIDDLE) : -len(_END)]
    framed = payload.startswith(_HEAD) and tail.startswith(_MIDDLE) and tail.endswith(_END)
    if not text or not framed:
        raise WireError("wrong_shape", 'a payload of the log is {"entry":...,"sign":"..."} and nothing else')
    try:
        return text, _SIGNATURE.value(signature.decode())
    except ValueError:
        raise WireError("wrong_shape", f"a signature is the canonical base64 of {SIGNATURE_BYTES} bytes") from None


def read_signed(payload: bytes, key: bytes | None) -> tuple[bytes, Entry]:
    """Check a payload's signature, and return its entry with the text that was signed.

    Args:
        key: the server's; None takes the one that an opening names.

    Raises:
        LogError: ``log_unreadable``, ``unknown_version``, ``log_forged`` or ``log_wrong``; without a key ``log_gap``
            for anything but an opening.
    """
    try:
        text, signature = take_apart(payload)
        key = key or _key_of(read_entry(text))
    except WireError as error:
        code = error.code if error.code == "unknown_version" else "log_unreadable"
        raise LogError(code, error.text, Fault.FILE) from None
    try:
        seal.verify(key, _DOMAIN + text, signature)
    except SealError as error:
        raise LogError("log_forged", error.text, Fault.FILE) from None
    try:
        entry = read_entry(text)
    except WireError as error:
        if error.code == "unknown_version":
            raise LogError(error.code, error.text, Fault.FILE) from None
        raise LogError("log_wrong", f"signed by the server, and no entry: {error.text}", Fault.SERVER) from None
    if isinstance(entry.body, Opening) and entry.body.key != key:
        raise LogError("log_wrong", "the opening names another key than the one that signed it", Fault.SERVER)
    return text, entry


def _key_of(entry: Entry) -> bytes:
    if not isinstance(entry.body, Opening):
        missing = f"begins with entry {entry.number}; a log begins with its opening, entry 0"
        raise LogError("log_gap", missing, Fault.INCOMPLETE)
    return entry.body.key


def game_of(text: bytes, entry: Entry) -> str:
    """Return what identifies an entry's game (SALVO-LOG-4): 8 bytes in hexadecimal."""
    return entry.of or entry_digest(text)[:OF_BYTES].hex()


# --- the chain ----------------------------------------------------------------------------------------------------


class LogChain:
    """A table's log as it comes in: signatures, numbers and links, entry by entry.

    A listener that joins in mid-game starts there. When a game begins, its log so far is published once more, so a
    listener that is there by then has all of it (SALVO-LOG-9).

    Attributes:
        key: the signer's; taken from the first opening if none was given.
        opening: of the current game; None until it is heard.
        next_number: number of the next entry.
    """

    def __init__(self, key: bytes | None = None) -> None:
        """Begin; without a key, trust the signer of the first opening."""
        self.key = key
        self.opening: Opening | None = None
        self.next_number = 0
        self._of = ""
        self._digests: dict[int, bytes] = {}

    def take_in(self, payload: bytes) -> Entry | None:
        """Check the next payload.

        Returns:
            the entry; None for a repeated one.

        Raises:
            LogError: it does not hold; nothing of it was taken in.
        """
        text, entry = read_signed(payload, self.key)
        return entry if self.link(text, entry) else None

    def link(self, text: bytes, entry: Entry) -> bool:
        """Check the next entry, as :func:`read_signed` returns it; return whether it is new.

        Raises:
            LogError: it does not continue the log; nothing of it was taken in.
        """
        if isinstance(entry.body, Opening) and entry_digest(text) != self._digests.get(0):
            self._begin(entry.body, text)
            return True
        if not self._digests:
            self._of = entry.of  # in the middle of a game
        elif not self._continues(entry, text):
            return False
        self._digests[entry.number] = entry_digest(text)
        self.next_number = entry.number + 1
        return True

    def _begin(self, opening: Opening, text: bytes) -> None:
        self.key, self.opening, self.next_number = opening.key, opening, 1
        self._digests = {0: entry_digest(text)}
        self._of = entry_digest(text)[:OF_BYTES].hex()

    def _continues(self, entry: Entry, text: bytes) -> bool:
        """Whether the entry is new."""
        number = entry.number
        if entry.of != self._of and entry.number:
            raise LogError("log_foreign", f"entry {number} belongs to another game", Fault.FILE)
        if number < self.next_number:
            if self._digests.get(number, entry_digest(text)) != entry_digest(text):
                raise LogError("log_forked", f"the server signed two entries {number} of this game", Fault.SERVER)
            return False
        if number > self.next_number:
            missing = f"entry {number} where entry {self.next_number} belongs"
            raise LogError("log_gap", missing, Fault.INCOMPLETE)
        if entry.prev != self._digests[number - 1].hex():
            text_ = f"entry {number} does not continue the entry {number - 1} that the server signed"
            raise LogError("log_broken", text_, Fault.SERVER)
        return True


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
