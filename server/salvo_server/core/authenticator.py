"""Finds out which team sent a sealed message, whether it is fresh, and what it says.

The broker does not tell the server who published a message; only a key does, and a key costs a derivation of 50 ms and
64 MiB. So the authenticator works in two lanes. A message under a salt that has proven itself is opened at once. One
under a fresh salt waits for one bounded worker, after a token bucket of the team that it may come from. A flood of
forged messages fills the slow lane only; a team whose salt is known never waits behind it (SALVO-FRESH-7).

Freshness (SALVO-FRESH-1..3): a team's nonce is burned as soon as its tag verifies, whatever becomes of the command. The
very same message again is a duplicate of MQTT's and ignored. A message that was turned away unopened is remembered too,
so that it cannot be replayed at a better moment.

Not thread-safe: one service calls it. The worker thread derives keys and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import logging
import os
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final, Generic, NamedTuple, TypeVar

from salvo import messages as m
from salvo import topics
from salvo.codec import (
    Sealed,
    SealedPlacement,
    SignedLeave,
    SignedSkip,
    read_leave,
    read_placement,
    read_shot,
    read_skip,
)
from salvo.codec.log import message_digest
from salvo.errors import SealError, WireError
from salvo.seal import NONCE_BYTES, SALT_BYTES, Blob, derive_key, key_to_team, make_blob, open_blob

log = logging.getLogger(__name__)

#: SALVO-FRESH-6. Five placements and a salvo of five under fresh salts, and some to spare.
BUCKET_SIZE: Final = 12.0
#: SALVO-FRESH-6. Keys a second a team: one tenth of a core.
BUCKET_REFILL_A_SECOND: Final = 2.0
#: SALVO-FRESH-8. Each costs a line of the journal and a burned nonce for ever: a hundred a second are 100 MB an hour.
#: Even a bot whose every command is refused sends fewer in the fastest games.
REFUSED_SIZE: Final = 1000.0
REFUSED_REFILL_A_SECOND: Final = 100.0
#: SALVO-FRESH-6. Three seconds of derivations; what comes on top is refused at once.
MAX_QUEUE_LENGTH: Final = 64
#: Proven salts kept a team. Our SDK needs one; a client with a fresh salt a message needs none of them again.
MAX_SALTS: Final = 16
#: Messages remembered to tell a re-delivery from a replay; MQTT re-delivers within seconds.
MAX_RECENT: Final = 4096
#: Messages turned away unopened that are remembered: about an hour of a heavy flood, 6 MB.
MAX_TURNED_AWAY: Final = 65_536


@dataclass(slots=True)
class Bucket:
    """A token bucket on the caller's clock, in milliseconds."""

    tokens: float = BUCKET_SIZE
    filled_ms: int = 0
    size: float = BUCKET_SIZE
    refill_a_second: float = BUCKET_REFILL_A_SECOND

    def has_one(self, now: int) -> bool:
        """Whether there is a token."""
        self.tokens = min(self.size, self.tokens + (now - self.filled_ms) / 1000 * self.refill_a_second)
        self.filled_ms = now
        return self.tokens >= 1

    def take(self, now: int) -> bool:
        """Take one token if there is one."""
        if not self.has_one(now):
            return False
        self.tokens -= 1
        return True

    def give_back(self) -> None:
        """Return a token that was well spent."""
        self.tokens = min(self.size, self.tokens + 1)


_Key = TypeVar("_Key")


class Buckets(Generic[_Key]):
    """A bucket for each of many keys, created full on first use; the least recently used one is forgotten.

    Only a full bucket is forgotten without loss, so ``most`` must exceed the number of keys that matter at one time.
    """

    def __init__(self, most: int, size: float, refill_a_second: float) -> None:
        self._most = most
        self._size = size
        self._refill_a_second = refill_a_second
        self._buckets: OrderedDict[_Key, Bucket] = OrderedDict()

    def take(self, key: _Key, now: int) -> bool:
        """Take one token of ``key`` if there is one."""
        bucket = self._buckets.pop(key, None) or Bucket(self._size, now, self._size, self._refill_a_second)
        self._buckets[key] = bucket
        if len(self._buckets) > self._most:
            self._buckets.popitem(last=False)
        return bucket.take(now)


class _Remembered:
    """A bounded set that forgets its oldest members."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._marks: OrderedDict[bytes, None] = OrderedDict()

    def __contains__(self, mark: bytes) -> bool:
        return mark in self._marks

    def __len__(self) -> int:
        return len(self._marks)

    def add(self, mark: bytes) -> None:
        self._marks[mark] = None
        if len(self._marks) > self._most:
            self._marks.popitem(last=False)


@dataclass(slots=True)
class _Member:
    """A team at a table, its secret and its known keys.

    Attributes:
        credential: stands for name and secret, at whatever table.
        bucket: for derivations.
        refused: for its own commands that were refused.
    """

    name: str
    secret: str = field(repr=False)
    credential: bytes = field(repr=False)
    keys: OrderedDict[bytes, bytes] = field(default_factory=OrderedDict, repr=False)
    bucket: Bucket = field(default_factory=Bucket)
    refused: Bucket = field(default_factory=Bucket)

    def learn(self, salt: bytes, key: bytes) -> None:
        self.keys[salt] = key
        self.keys.move_to_end(salt)
        if len(self.keys) > MAX_SALTS:
            self.keys.popitem(last=False)


class Proof(NamedTuple):
    """What is burned with a message, 16 bytes each (SALVO-FRESH-1, SALVO-FRESH-2).

    Attributes:
        nonce: stands for the team, by name and secret, and its nonce.
        message: stands for the whole message, to tell a re-delivery from a replay.
    """

    nonce: bytes
    message: bytes


#: What a message says once it is open.
Command = m.PlaceShip | m.Fire | m.Skip | m.Leave | m.Unreadable


class Opened(NamedTuple):
    """A message that got through, at once or after a derivation.

    Attributes:
        spent: whether it cost a derivation; :meth:`Authenticator.refund` gives that back once the command is accepted.
        proof: what was burned; None when nothing was.
    """

    table: str
    command: Command
    spent: bool
    proof: Proof | None = None


class Waiting(Enum):
    """A message that waits for a derivation; :meth:`Authenticator.finished` will have it."""

    WAITING = "waiting"


WAITING: Final = Waiting.WAITING


class Learned(NamedTuple):
    """A salt of a team that has been proven, and its key."""

    table: str
    name: str
    salt: bytes
    key: bytes


class _Found(NamedTuple):
    name: str
    credential: bytes
    key: bytes
    plaintext: bytes


class _Job(NamedTuple):
    """A message that waits; ``receipts`` has one for every time that the broker has sent it."""

    request: Sealed
    mark: bytes
    receipts: list[object]
    result: Future[_Found | None]


class _Sealing(NamedTuple):
    table: str
    member: _Member
    salt: bytes
    key: Future[bytes]


class SealedRecap(NamedTuple):
    """A blob for one team, ready to publish."""

    table: str
    player: str
    payload: bytes


class Authenticator:
    """The keys of all tables of a server.

    Attributes:
        counts: what became of messages, by outcome, for logs and metrics: ``opened``, ``forged``, ``duplicate``,
            ``nonce_reused``, ``rate_limited``.
    """

    def __init__(
        self,
        wake: Callable[[], None] = lambda: None,
        executor: Executor | None = None,
        pepper: bytes | None = None,
        random_bytes: Callable[[int], bytes] = os.urandom,
    ) -> None:
        """Start empty.

        Args:
            wake: called from the worker when :meth:`finished` has something new.
            executor: does the derivations, one at a time; a separate thread by default.
            pepper: keys the credentials; the same one after a restart keeps them comparable.
            random_bytes: source of salts and nonces.
        """
        self.learned: list[Learned] = []
        self.counts: Counter[str] = Counter()
        self._wake = wake
        self._executor = executor or ThreadPoolExecutor(max_workers=1, thread_name_prefix="derive")
        self._members: dict[str, dict[str, _Member]] = {}
        self._shared_bucket = Bucket()
        self._jobs: deque[_Job] = deque()
        self._deriving: set[tuple[str, bytes]] = set()  # (name, salt) in the queue: paid for already
        self._derived: _Derived = OrderedDict()  # the worker's own
        self._sealings: deque[_Sealing] = deque()
        self._burned: set[bytes] = set()
        self._recent = _Remembered(MAX_RECENT)
        self._turned_away = _Remembered(MAX_TURNED_AWAY)
        self._random_bytes = random_bytes
        self._pepper = pepper or random_bytes(32)

    # --- who is at the tables ---------------------------------------------------------------------------------

    def credential(self, name: str, secret: str) -> bytes:
        """Return what stands for a secret elsewhere: equal for equal secrets, useless for anything else."""
        return hashlib.blake2b(f"{name}\0{secret}".encode(), digest_size=16, key=self._pepper).digest()

    def admit(self, table: str, name: str, secret: str, now: int) -> None:
        """Add a team that the referee has listed; nothing changes for one that is known with this secret.

        A new secret replaces the former one, none of whose keys opens anything any more (SALVO-ACCESS-8).
        """
        members = self._members.setdefault(table, {})
        known = members.get(name)
        credential = self.credential(name, secret)
        if known is None:
            members[name] = _Member(name, secret, credential, bucket=Bucket(filled_ms=now))
            members[name].refused = Bucket(REFUSED_SIZE, now, REFUSED_SIZE, REFUSED_REFILL_A_SECOND)
        elif known.credential != credential:
            members[name] = _Member(name, secret, credential, bucket=known.bucket, refused=known.refused)
            self.learned = [key for key in self.learned if (key.table, key.name) != (table, name)]

    def teams(self, table: str) -> list[tuple[str, str]]:
        """Return name and secret of every team at a table."""
        return [(member.name, member.secret) for member in self._members.get(table, {}).values()]

    def restore(self, table: str, name: str, keys: Iterable[tuple[bytes, bytes]]) -> None:
        """Give a team the (salt, key) pairs back that were proven before a restart."""
        member = self._members[table][name]
        for salt, key in keys:
            member.learn(salt, key)

    def burn(self, proofs: Iterable[Proof]) -> None:
        """Remember what was burned before a restart, the oldest first."""
        for nonce, message in proofs:
            self._burned.add(nonce)
            self._recent.add(message)

    def retain(self, table: str, names: Iterable[str]) -> None:
        """Forget the secrets and keys of every team at a table but these (SALVO-END-4)."""
        members = self._members.get(table, {})
        gone = set(members) - set(names)
        for name in gone:
            del members[name]
        if gone:
            self._derived = OrderedDict()  # a new one: the worker may be using the old one for what waits

    # --- opening --------------------------------------------------------------------------------------------------

    def open(
        self,
        request: Sealed,
        likely: Sequence[str],
        now: int,
        *,
        expected: bool = True,
        receipt: object = None,
    ) -> Opened | Waiting | None:
        """Open a message, or start to.

        Args:
            receipt: what :meth:`finished` gives back with the message if it has to wait.
            likely: who may have sent it, the likeliest first.
            now: epoch ms.
            expected: whether the likeliest sender was to send such a message now. An unexpected message is opened as a
                courtesy, so that noise does not use up what a team needs for its fleet.

        Returns:
            what it says; ``WAITING`` when a key must be derived first; None when it is forged, a duplicate or turned
            away.
        """
        mark = _digest(request)
        if mark in self._recent or (self._turned_away and _blob_mark(request.blob) in self._turned_away):
            self.counts["duplicate"] += 1
            return self._wait_with_it(mark, receipt)
        members = self._members.get(request.table, {})
        candidates = [members[name] for name in likely if name in members]
        for member in candidates:
            key = member.keys.get(request.blob.salt)
            if key is not None:
                found = _try_key(request.blob, member.name, member.credential, key)
                if found is not None and not member.refused.has_one(now):
                    return self._turn_away_as_refused(request, member)
                if found is not None:
                    return self._let_in(request, found, mark, spent=False)
        unknown = [member for member in candidates if request.blob.salt not in member.keys]
        if not unknown:
            self._turn_away(request, "forged")
            return None
        return self._queue(request, unknown, mark, now, expected, receipt)

    def _wait_with_it(self, mark: bytes, receipt: object) -> Waiting | None:
        """Let a repetition wait while the first one does: acknowledged by itself, it would be lost in a crash."""
        for job in self._jobs:
            if job.mark == mark:
                job.receipts.append(receipt)
                return WAITING
        return None

    def _queue(
        self,
        request: Sealed,
        unknown: Sequence[_Member],
        mark: bytes,
        now: int,
        expected: bool,
        receipt: object,
    ) -> Opened | Waiting:
        """Give a message under a fresh salt to the worker, as far as the buckets allow.

        The likeliest sender pays from its own bucket. Finding out that it was another team, whose shot will only be
        refused, is a courtesy, paid for from one bucket that all the others share.
        """
        room = len(self._jobs) < MAX_QUEUE_LENGTH
        payable = [
            member
            for number, member in enumerate(unknown)
            if room
            and (
                (member.name, request.blob.salt) in self._deriving
                or (member.bucket if expected and number == 0 else self._shared_bucket).take(now)
            )
        ]
        if not payable:
            self._turn_away(request, "rate_limited")
            text = f"too many fresh salts; {BUCKET_SIZE:g}, then {BUCKET_REFILL_A_SECOND:g} a second; keep to one salt"
            return Opened(request.table, _unreadable(request, unknown[0].name, "rate_limited", text, False), False)
        self._recent.add(mark)
        secrets = [(member.name, member.credential, member.secret) for member in payable]
        self._deriving.update((member.name, request.blob.salt) for member in payable)
        result = self._executor.submit(_find_key, request.blob, secrets, self._derived)
        self._jobs.append(_Job(request, mark, [receipt], result))
        result.add_done_callback(lambda _: self._wake())
        return WAITING

    def finished(self) -> list[tuple[object, Opened | None]]:
        """Return receipt and message of every derivation that is done, in the order in which they came."""
        done: list[tuple[object, Opened | None]] = []
        while self._jobs and self._jobs[0].result.done():
            job = self._jobs.popleft()
            found = job.result.result()
            done += self._close(job, found, spent=True)
            if found is not None:
                done += self._drain_salt(job.request, found)
        if not self._jobs:
            self._deriving.clear()
        return done

    def _close(self, job: _Job, found: _Found | None, *, spent: bool) -> list[tuple[object, Opened | None]]:
        """Return all receipts of a message that has waited, the first one with what it says."""
        first, *again = job.receipts
        return [(first, self._read(job.request, found, spent=spent)), *((receipt, None) for receipt in again)]

    def _read(self, request: Sealed, found: _Found | None, *, spent: bool) -> Opened | None:
        if found is None:
            self._turn_away(request, "forged")
            return None
        message = self._let_in(request, found, _digest(request), spent=spent)
        member = self._members.get(request.table, {}).get(found.name)
        if member is None or member.credential != found.credential:
            return None  # it left, or has another secret, since the worker began; its nonce is burned all the same
        self._learn(request.table, member, request.blob.salt, found.key)
        return message

    def _drain_salt(self, proven: Sealed, found: _Found) -> list[tuple[object, Opened | None]]:
        """Open what else waits under a salt that was just proven, before a younger message overtakes it."""
        called: list[tuple[object, Opened | None]] = []
        waiting, self._jobs = self._jobs, deque()
        for job in waiting:
            same = (job.request.table, job.request.blob.salt) == (proven.table, proven.blob.salt)
            opened = _try_key(job.request.blob, found.name, found.credential, found.key) if same else None
            if opened is None:
                self._jobs.append(job)
            else:
                job.result.cancel()
                called += self._close(job, opened, spent=False)
        return called

    def _learn(self, table: str, member: _Member, salt: bytes, key: bytes) -> None:
        """Take in a proven salt; the first few of a team are worth keeping beyond a restart."""
        if salt not in member.keys and len(member.keys) < MAX_SALTS:
            self.learned.append(Learned(table, member.name, salt, key))
        member.learn(salt, key)

    def _turn_away(self, request: Sealed, outcome: str) -> None:
        self.counts[outcome] += 1
        self._turned_away.add(_blob_mark(request.blob))

    def _turn_away_as_refused(self, request: Sealed, member: _Member) -> Opened:
        """Burn no nonce, which would be kept for ever; that it was turned away is remembered like that of others."""
        self._turn_away(request, "rate_limited")
        text = f"too many refused commands; {REFUSED_SIZE:g}, then {REFUSED_REFILL_A_SECOND:g} a second"
        return Opened(request.table, _unreadable(request, member.name, "rate_limited", text, False), False)

    def penalize(self, table: str, name: str, now: int) -> None:
        """Count a command that was refused to a team, which itself has sent it (SALVO-FRESH-8)."""
        member = self._members.get(table, {}).get(name)
        if member is not None:
            member.refused.take(now)

    def refund(self, table: str, name: str) -> None:
        """Give a derivation back to a team whose command was accepted: only what is refused or forged is limited."""
        member = self._members.get(table, {}).get(name)
        if member is not None:
            member.bucket.give_back()

    def _let_in(self, request: Sealed, found: _Found, digest: bytes, *, spent: bool) -> Opened:
        """The tag verified: burn the nonce, then read what the message says.

        It is burned for the secret that proved it, not for the name alone: a stranger who takes the name at another
        table could copy the nonce of a message that waits for its derivation. Nor is it burned for the table: who
        plays at two tables with one secret would have its message carried from one to the other.
        """
        self._recent.add(digest)
        nonce = request.blob.nonce
        burned = _mark(found.credential, nonce)
        if burned in self._burned or _mark(found.name.encode(), nonce) in self._burned:  # as older journals have it
            self.counts["nonce_reused"] += 1
            text = "this nonce was used before; every message needs a fresh one of 24 random bytes"
            return Opened(request.table, _unreadable(request, found.name, "nonce_reused", text, False), spent)
        self._burned.add(burned)
        proof = Proof(burned, digest)
        self.counts["opened"] += 1
        command: Command
        try:
            if isinstance(request, SealedPlacement):
                command = replace(read_placement(request, found.plaintext), message=_message_digest(request))
            elif isinstance(request, SignedSkip):
                command = read_skip(request, found.plaintext)
            elif isinstance(request, SignedLeave):
                command = read_leave(request, found.plaintext)
            else:
                command = read_shot(request, found.name, found.plaintext)
        except WireError as error:
            command = _unreadable(request, found.name, error.code, error.text, True)
        return Opened(request.table, command, spent, proof)

    # --- sealing for a team -----------------------------------------------------------------------------------

    def seal_recap(self, table: str, name: str, plaintext: bytes) -> SealedRecap | None:
        """Seal a text for a team, or start to derive a key; :meth:`keyed` tells when to try again."""
        member = self._members.get(table, {}).get(name)
        if member is None:
            return None
        if member.keys:
            salt = next(reversed(member.keys))
            blob = make_blob(plaintext, key_to_team(member.keys[salt]), salt, self._random_bytes(NONCE_BYTES))
            return SealedRecap(table, name, blob.encode())
        if not any(waiting.member is member for waiting in self._sealings):
            salt = self._random_bytes(SALT_BYTES)
            key = self._executor.submit(derive_key, member.secret, salt)
            self._sealings.append(_Sealing(table, member, salt, key))
            key.add_done_callback(lambda _: self._wake())
        return None

    def keyed(self) -> list[tuple[str, str]]:
        """Return table and name of the teams whose recap waited for a key that is there now.

        The text is asked for again, because news may have gone out while the worker was busy.
        """
        ready = []
        while self._sealings and self._sealings[0].key.done():
            table, member, salt, future = self._sealings.popleft()
            if self._members.get(table, {}).get(member.name) is member:
                self._learn(table, member, salt, future.result())
            ready.append((table, member.name))
        return ready

    def close(self) -> None:
        """Stop the worker; derivations that wait are dropped, and so is every key."""
        self._executor.shutdown(wait=True, cancel_futures=True)


def _try_key(blob: Blob, name: str, credential: bytes, key: bytes) -> _Found | None:
    try:
        return _Found(name, credential, key, open_blob(blob, key))
    except SealError:
        return None


_Derived = OrderedDict[tuple[str, bytes], bytes]


def _find_key(blob: Blob, secrets: Sequence[tuple[str, bytes, str]], derived: _Derived) -> _Found | None:
    """Derive key after key until one opens the blob; this is what the worker does.

    Args:
        secrets: name, credential and secret of each possible sender.
        derived: the latest keys by secret and salt, so that a fleet under a fresh salt costs one derivation, not five.
    """
    for name, credential, secret in secrets:
        key = derived.get((secret, blob.salt))
        if key is None:
            key = derived[secret, blob.salt] = derive_key(secret, blob.salt)
            if len(derived) > MAX_QUEUE_LENGTH:
                derived.popitem(last=False)
        found = _try_key(blob, name, credential, key)
        if found is not None:
            return found
    return None


def _mark(*parts: bytes) -> bytes:
    """16 bytes that stand for the parts; a set of them costs half of a set of the parts.

    The parts are levels of a topic, which hold no NUL, and pieces of fixed length; only the last one may be of any
    length and content. So no two lists of parts look alike.
    """
    return hashlib.blake2b(b"\0".join(parts), digest_size=16).digest()


def _digest(request: Sealed) -> bytes:
    blob = request.blob
    match request:
        case SealedPlacement():
            where = f"{request.player}/{request.ship}"
        case SignedSkip():
            where = f"{request.player}/skip/"  # no ship has a name with a slash
        case SignedLeave():
            where = f"{request.player}/leave/"
        case _:
            where = request.target
    return _mark(request.table.encode(), where.encode(), blob.salt, blob.nonce, blob.ciphertext)


def _message_digest(request: SealedPlacement) -> bytes:
    """What stands for the message in the log, the same for every sender (SALVO-LOG-8)."""
    topic = topics.PLACE.of(request.table, player=request.player, ship=request.spelling)
    blob = request.blob
    return message_digest(topic, base64.b64encode(blob.salt + blob.nonce + blob.ciphertext))


def _blob_mark(blob: Blob) -> bytes:
    return _mark(blob.salt, blob.nonce, blob.ciphertext)


def _unreadable(request: Sealed, player: str, code: str, text: str, proven: bool) -> m.Unreadable:
    spelling = request.spelling if isinstance(request, SealedPlacement) else ""
    return m.Unreadable(player, spelling, code, text, proven)
