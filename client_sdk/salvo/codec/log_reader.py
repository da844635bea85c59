"""The signed log of a game as its readers check it: signatures, the chain, what was revealed (SALVO-LOG).

Whether the game was fair is for a referee to find out (``salvo verify``); this module has what a client needs to hold
the server to its word during the game.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Final

from salvo import messages as m
from salvo.codec import log as form
from salvo.codec.json_codec import Codec
from salvo.codec.log import Entry, Opening, Reveal, blind, entry_digest, seed_commitment
from salvo.codec.steps import INPUTS
from salvo.codec.strict_json import parse_json
from salvo.errors import SalvoError, SealError, WireError
from salvo.wire import seal
from salvo.wire.json_shape import Base64, Composed, Inline, OneOf

#: Length of what surrounds an entry's text in a payload (SALVO-LOG-1).
HEAD_BYTES: Final = 9
TAIL_BYTES: Final = 99
SIGNATURE_BYTES: Final = 64
_SIGNATURE: Final = Base64(SIGNATURE_BYTES)


class Fault(StrEnum):
    """Which party is at fault when a log does not hold."""

    FILE = "file"  # altered on its way: the server has not signed this
    SERVER = "server"  # the server has signed something untrue
    FORKED = "forked"  # the server has signed two histories of a game, whyever
    INCOMPLETE = "incomplete"  # no lie; something is missing
    UNDECIDED = "undecided"  # unsigned evidence contradicts the log
    STRANGER = "stranger"  # not the server that was expected
    LATER = "later"  # written by a later version, which this one cannot judge
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


#: A server that has lost the end of its journal signs another end, and so does one that takes a game back.
_CANNOT_TELL: Final = "by a lost journal or on purpose, the log cannot show"


def two_histories(number: int) -> str:
    """Return what two signed entries of one number mean."""
    return f"two histories were signed after entry {number - 1}: {_CANNOT_TELL}"


def not_continued(number: int) -> str:
    """Return what it means that an entry does not follow from the signed one before."""
    return f"entry {number} does not continue the entry {number - 1}, so two histories were signed: {_CANNOT_TELL}"


def forked(number: int) -> LogError:
    """Return the error of two signed entries of one number."""
    return LogError("log_forked", two_histories(number), Fault.FORKED)


def read_entry(text: bytes) -> Entry:
    """Read an entry's text, which must be the one text of this entry.

    Raises:
        WireError: ``unknown_version`` for a later format than this reader's, else the codes of strict JSON.
    """
    try:
        entry = form.ENTRY.read_exact(text)
    except WireError:
        _check_form(parse_json(text, form.MAX_ENTRY_BYTES, form.MAX_ENTRY_DEPTH))
        raise
    if isinstance(entry.body, Opening) != (entry.number == 0):
        raise WireError("wrong_shape", f"entry {entry.number}; the opening, and nothing else, is entry 0")
    return entry


def _check_form(value: Any) -> None:
    opening = value.get("open") if isinstance(value, dict) else None
    version = opening.get("log") if isinstance(opening, dict) else None
    if type(version) is int and version > form.LOG_VERSION:
        known = f"this version reads the forms 1..{form.LOG_VERSION}"
        text = f"a log of form {str(version)[:40]}; {known}; install a later one to check it"
        raise WireError("unknown_version", text)


@dataclass(frozen=True, slots=True)
class Hidden(Composed):
    """A hidden input with its time."""

    at: int
    command: Annotated[m.Input, Inline(OneOf(INPUTS))]


HIDDEN: Final[Codec[Hidden]] = Codec(Hidden, largest=form.MAX_ENTRY_BYTES, deepest=form.MAX_ENTRY_DEPTH)


def read_hidden(text: str) -> Hidden:
    """Read a revealed text.

    Raises:
        WireError: the codes of strict JSON.
    """
    return HIDDEN.read_exact(text.encode(errors="surrogatepass"))


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


def take_apart(payload: bytes) -> tuple[bytes, bytes]:
    """Return an entry's text and its signature; neither is verified yet.

    Raises:
        WireError: ``wrong_shape`` or ``too_large``.
    """
    if len(payload) > form.MAX_ENTRY_BYTES:
        raise WireError("too_large", f"{len(payload)} bytes; an entry has at most {form.MAX_ENTRY_BYTES}")
    text, tail = payload[HEAD_BYTES:-TAIL_BYTES], payload[-TAIL_BYTES:]
    signature = tail[len(form.MIDDLE) : -len(form.END)]
    framed = payload.startswith(form.HEAD) and tail.startswith(form.MIDDLE) and tail.endswith(form.END)
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
        if error.code == "unknown_version":
            raise LogError(error.code, error.text, Fault.LATER) from None
        raise LogError("log_unreadable", error.text, Fault.FILE) from None
    try:
        seal.verify(key, form.DOMAIN + text, signature)
    except SealError as error:
        raise LogError("log_forged", error.text, Fault.FILE) from None
    try:
        entry = read_entry(text)
    except WireError as error:
        if error.code == "unknown_version":
            raise LogError(error.code, error.text, Fault.LATER) from None
        raise LogError("log_wrong", f"signed by the server, but not an entry: {error.text}", Fault.SERVER) from None
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
    return entry.of or entry_digest(text)[: form.OF_BYTES].hex()


class LogChain:
    """A table's log as it comes in: signatures, numbers and links, entry by entry.

    A listener that joins in mid-game starts there. When a game begins, its log so far is published once more, so a
    listener that is there by then has all of it (SALVO-LOG-9). An earlier game's end that comes again (SALVO-BACK-4) is
    refused as foreign: who follows several games has a chain for each.

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
        self._of = entry_digest(text)[: form.OF_BYTES].hex()

    def _continues(self, entry: Entry, text: bytes) -> bool:
        """Whether the entry is new."""
        number = entry.number
        if entry.of != self._of and entry.number:
            raise LogError("log_foreign", f"entry {number} belongs to another game", Fault.FILE)
        if number < self.next_number:
            if self._digests.get(number, entry_digest(text)) != entry_digest(text):
                raise forked(number)
            return False
        if number > self.next_number:
            missing = f"entry {number} where entry {self.next_number} belongs"
            raise LogError("log_gap", missing, Fault.INCOMPLETE)
        if entry.prev != self._digests[number - 1].hex():
            raise LogError("log_broken", not_continued(number), Fault.FORKED)
        return True
