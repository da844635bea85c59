"""Finds out which team sent a sealed message, and whether it is fresh.

The broker does not tell the server who published a message; only a key does, and a key costs a derivation of 50 ms and
64 MiB. So the authenticator works in two lanes. A message under a salt that has proven itself is opened at once. One
under a fresh salt waits for one bounded worker, after a token bucket of the team that it may come from. A flood of
forged messages fills the slow lane only; a team whose salt is known never waits behind it (SALVO-FRESH-7).

Freshness (SALVO-FRESH-1..3): a team's nonce is burned as soon as its tag verifies, whatever becomes of the command. The
very same message again is a duplicate of MQTT's and ignored. A message that was turned away unopened is remembered too,
so that it cannot be replayed at a better moment. A restart remembers the nonces of recorded steps; a repetition has no
step, and could only repeat itself again.

Not thread-safe: one service calls it.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future
from enum import Enum
from typing import Final, NamedTuple

from salvo.codec.command_reader import Sealed, SealedPlacement, SignedHost, SignedLeave, SignedShot, SignedSkip
from salvo.errors import WireError
from salvo.wire.seal import Blob
from salvo_game.journal_interface import MAX_RECENT, BurnedMessage
from salvo_game.rate_limit import COURTESIES, DERIVATIONS, REFUSALS, Bucket
from salvo_server.core.keyring import Found, KeyOwner, Keyring, KeyWorker, try_key
from salvo_server.core.senders import Sender

#: SALVO-FRESH-6. Messages that wait under one salt, and all those under salts that are not their team's first one:
#: three seconds of derivations. What comes on top is refused at once.
MAX_QUEUE_LENGTH: Final = 64
#: Messages turned away unopened that are remembered: about an hour of a heavy flood, 6 MB.
MAX_TURNED_AWAY: Final = 65_536
#: Of what stands for a nonce or a message.
_MARK_BYTES: Final = 16
#: In which marks are looked up, so that each search is through a few kilobytes.
_GROUPS: Final = 4096
_TOO_MANY_SALTS: Final = f"too many fresh salts; {DERIVATIONS}; keep to one salt"
_TOO_MANY_REFUSED: Final = f"too many refused commands; {REFUSALS}"


class Opened(NamedTuple):
    """A message whose sender is known, at once or after a derivation: a key has opened it, or it is refused unread.

    Attributes:
        owner: whose key has opened it; of one that is refused because of too many, who is likely to have sent it.
        plaintext: what it says; empty if it is refused.
        proof: what was burned; None when nothing was: then it is refused, and may be somebody else's noise.
        refusal: why it is refused; None for one that is to be read.
        spent: what a derivation was paid from, which gets it back once the command is accepted: only what is refused
            or forged is limited. None if it cost none.
    """

    request: Sealed
    owner: KeyOwner
    plaintext: bytes
    proof: BurnedMessage | None
    refusal: WireError | None = None
    spent: Bucket | None = None


class Waiting(Enum):
    """A message that waits for a derivation; :meth:`Authenticator.finished` will have it."""

    WAITING = "waiting"


WAITING: Final = Waiting.WAITING


class _Job(NamedTuple):
    """A message that waits.

    Attributes:
        payers: who may have sent it, and what the derivation is paid from for each.
        further: whether its salt is not the first one that its team waits for.
        receipts: one for every time that the broker has sent it.
    """

    request: Sealed
    sender: Sender
    mark: bytes
    payers: Mapping[KeyOwner, Bucket]
    further: bool
    receipts: list[object]
    result: Future[Found | None]


class Burned:
    """The marks of all nonces that were ever burned (SALVO-FRESH-1), in 18 bytes each; a set takes 80.

    A mark looks random without the credential in it, so each group gets its share.
    """

    def __init__(self) -> None:
        self._groups = [bytearray() for _ in range(_GROUPS)]

    def __len__(self) -> int:
        return sum(map(len, self._groups)) // _MARK_BYTES

    def __contains__(self, mark: bytes) -> bool:
        group = self._group(mark)
        at = group.find(mark)
        while at >= 0 and at % _MARK_BYTES:  # the end of a mark and the beginning of the next look like this one
            at = group.find(mark, at + 1)
        return at >= 0

    def add(self, mark: bytes) -> None:
        """Add a mark; nothing happens if it is there."""
        if mark not in self:
            self.extend(mark)

    def extend(self, marks: bytes) -> None:
        """Add marks, any number in one piece, none of which is there."""
        for at in range(0, len(marks), _MARK_BYTES):
            mark = marks[at : at + _MARK_BYTES]
            self._group(mark).extend(mark)

    def _group(self, mark: bytes) -> bytearray:
        return self._groups[(mark[0] << 8 | mark[1]) % _GROUPS]


class Authenticator:
    """Who sent the messages at all tables of a server, and whether they are fresh.

    Attributes:
        keyring: the teams that may have sent them.
        worker: derives their keys.
        counts: what became of messages, by outcome, for logs and metrics: ``opened``, ``forged``, ``duplicate``,
            ``nonce_reused``, ``rate_limited``.
        on_forged: called with each message that no key opens, and its likely sender.
    """

    def __init__(
        self,
        executor: Executor,
        wake: Callable[[], None] = lambda: None,
        pepper: bytes | None = None,
        random_bytes: Callable[[int], bytes] = os.urandom,
    ) -> None:
        """Start without teams.

        Args:
            executor: does the derivations, one at a time.
            wake: called from the executor's thread when :meth:`finished` has something new.
            pepper: keys the credentials; the same one after a restart keeps them comparable.
            random_bytes: source of salts and nonces.
        """
        self.keyring = Keyring(pepper, random_bytes)
        self.worker = KeyWorker(executor, wake)
        self.counts: Counter[str] = Counter()
        self.on_forged: Callable[[Sealed, Sender], None] = lambda request, sender: None
        self._shared_bucket = Bucket(COURTESIES, 0)
        self._jobs: OrderedDict[bytes, _Job] = OrderedDict()
        self._under: defaultdict[bytes, list[_Job]] = defaultdict(list)  # the same, by salt
        self._first: dict[KeyOwner, bytes] = {}  # the salt that a team without a proven one waits for
        self._further = 0
        self._burned = Burned()
        self._recent: OrderedDict[bytes, None] = OrderedDict()
        self._turned_away: OrderedDict[bytes, None] = OrderedDict()

    @property
    def waiting(self) -> int:
        """How many messages wait for a derivation; from any thread."""
        return len(self._jobs)

    def burn(self, proofs: Iterable[BurnedMessage], before: Iterable[bytes] = ()) -> None:
        """Remember what was burned before a restart.

        Args:
            proofs: the latest, the oldest first.
            before: digests of nonces alone, any number in one piece.
        """
        for nonces in before:
            self._burned.extend(nonces)
        for nonce, message in proofs:
            self._burned.add(nonce)
            _remember(self._recent, message, MAX_RECENT)

    def open(self, request: Sealed, sender: Sender, now: int, *, receipt: object = None) -> Opened | Waiting | None:
        """Open a message, or start to.

        Args:
            sender: who may have sent it, and whether the likeliest one pays. What that one was not to send now is
                opened as a courtesy, so that noise does not use up what a team needs for its fleet.
            now: epoch ms.
            receipt: what :meth:`finished` gives back with the message if it must wait.

        Returns:
            what it says, or why its team is refused; ``WAITING`` when a key must be derived first; None when it is
            forged or a duplicate, which nobody is answered.
        """
        mark = _digest(request)
        if mark in self._jobs:
            self.counts["duplicate"] += 1
            self._jobs[mark].receipts.append(receipt)  # acknowledged by itself, it would be lost in a crash
            return WAITING
        if mark in self._recent or (self._turned_away and _blob_mark(request.blob) in self._turned_away):
            self.counts["duplicate"] += 1
            return None
        unknown: list[KeyOwner] = []
        for name in sender.candidates:
            member = self.keyring.member(request.table, name, host=sender.host)
            if member is None:
                continue
            key = member.key_of(request.blob.salt)
            if key is None:
                unknown.append(member)
            elif found := try_key(request.blob, member, key):
                if not member.refused.has_one(now):  # a burned nonce would be kept for ever
                    return self._limit(request, member, _TOO_MANY_REFUSED)
                if request.blob.salt not in member.keys:  # it was foreseen, and is proven now
                    self.keyring.learn(request.table, member, request.blob.salt, key)
                return self._let_in(request, found, mark)
        if not unknown:
            self._forged(request, sender)
            return None
        return self._queue(request, sender, unknown, mark, now, receipt)

    def _queue(
        self, request: Sealed, sender: Sender, unknown: Sequence[KeyOwner], mark: bytes, now: int, receipt: object
    ) -> Opened | Waiting:
        """Give a message under a fresh salt to the worker, as far as the buckets allow.

        The likeliest sender pays from its own bucket, unless its key of this salt has failed. Finding out that it was
        another team, whose shot will only be refused, is a courtesy, paid for from one bucket that all the others
        share. A key that is being derived for another message has been paid for. The first salt of a team always has
        its place: hundreds of teams may come at once.
        """
        salt, pays = request.blob.salt, sender.pays and unknown[0].name == sender.name
        paid = {member for job in self._under.get(salt, ()) for member in job.payers}
        newcomer = pays and not unknown[0].keys and self._first.get(unknown[0], salt) == salt
        room = len(self._under.get(salt, ())) if newcomer else self._further
        payers: dict[KeyOwner, Bucket] = {}
        for number, member in enumerate(unknown if room < MAX_QUEUE_LENGTH else ()):
            bucket = member.bucket if pays and number == 0 else self._shared_bucket
            if member in paid or bucket.take(now):
                payers[member] = bucket
        if not payers:
            return self._limit(request, unknown[0], _TOO_MANY_SALTS)
        if newcomer:
            self._first[unknown[0]] = salt
        self._further += not newcomer
        found = self.worker.find(request.blob, list(payers))
        job = _Job(request, sender, mark, payers, not newcomer, [receipt], found)
        self._jobs[mark] = job
        self._under[salt].append(job)
        return WAITING

    def finished(self) -> list[tuple[object, Opened | None]]:
        """Return receipt and message of every derivation that is done, in the order in which they came."""
        done: list[tuple[object, Opened | None]] = []
        while self._jobs:
            job = next(iter(self._jobs.values()))
            if not job.result.done():
                break
            found = job.result.result()
            done += self._close(job, found, paid=True)
            if found is not None:
                done += self._drain_salt(job.request, found)
        return done

    def _close(self, job: _Job, found: Found | None, *, paid: bool) -> list[tuple[object, Opened | None]]:
        """Return all receipts of a message that has waited, the first one with what it says."""
        salt = job.request.blob.salt
        del self._jobs[job.mark]
        self._further -= job.further
        self._under[salt].remove(job)
        if not self._under[salt]:
            del self._under[salt]
            self._first = {member: waits for member, waits in self._first.items() if waits != salt}
        first, *again = job.receipts
        return [(first, self._opened(job, found, paid=paid)), *((receipt, None) for receipt in again)]

    def _opened(self, job: _Job, found: Found | None, *, paid: bool) -> Opened | None:
        request = job.request
        if found is None:
            self._forged(request, job.sender)
            return None
        opened = self._let_in(request, found, job.mark)
        if not self.keyring.learn(request.table, found.member, request.blob.salt, found.key):
            return None  # it left, or has another secret, since the worker began; its nonce is burned all the same
        return opened._replace(spent=job.payers[found.member]) if paid else opened

    def _drain_salt(self, proven: Sealed, found: Found) -> list[tuple[object, Opened | None]]:
        """Open what else waits under a salt that was just proven, before a younger message overtakes it."""
        done: list[tuple[object, Opened | None]] = []
        for job in list(self._under.get(proven.blob.salt, ())):
            same = job.request.table == proven.table and _may_be_from(job.request, found.member)
            opened = try_key(job.request.blob, found.member, found.key) if same else None
            if opened is not None:
                job.result.cancel()
                done += self._close(job, opened, paid=False)
        return done

    def _turn_away(self, request: Sealed, outcome: str) -> None:
        self.counts[outcome] += 1
        _remember(self._turned_away, _blob_mark(request.blob), MAX_TURNED_AWAY)

    def _forged(self, request: Sealed, sender: Sender) -> None:
        self._turn_away(request, "forged")
        self.on_forged(request, sender)

    def _limit(self, request: Sealed, member: KeyOwner, text: str) -> Opened:
        """Refuse a message of a team that sends too many."""
        self._turn_away(request, "rate_limited")
        return Opened(request, member, b"", None, WireError("rate_limited", text))

    def _let_in(self, request: Sealed, found: Found, digest: bytes) -> Opened:
        """Burn the nonce of a message whose tag has verified; one whose nonce is burned already is refused.

        It is burned for the secret that proved it, not for the name alone: a stranger who takes the name at another
        table could copy the nonce of a message that waits for its derivation. Nor is it burned for the table: who
        plays at two tables with one secret would have its message carried from one to the other.
        """
        _remember(self._recent, digest, MAX_RECENT)
        burned = _mark(found.member.credential, request.blob.nonce)
        if burned in self._burned:
            self.counts["nonce_reused"] += 1
            text = "this nonce was used before; every message needs a fresh one of 24 random bytes"
            return Opened(request, found.member, b"", None, WireError("nonce_reused", text))
        self._burned.add(burned)
        self.counts["opened"] += 1
        return Opened(request, found.member, found.plaintext, BurnedMessage(burned, digest))

    def close(self) -> None:
        """Stop all derivations; those that wait are dropped, and so is every key."""
        self.worker.close()
        if self.keyring.foresight is not None:
            self.keyring.foresight.close()


def _remember(marks: OrderedDict[bytes, None], mark: bytes, most: int) -> None:
    """Add a mark to a bounded set, which forgets its oldest members."""
    marks[mark] = None
    if len(marks) > most:
        marks.popitem(last=False)


def _may_be_from(request: Sealed, member: KeyOwner) -> bool:
    """Whether somebody could have sent a message: its topic or body names the sender, but for a shot, which any may."""
    if isinstance(request, SignedShot):
        return not member.host
    return (request.player, isinstance(request, SignedHost)) == (member.name, member.host)


def _mark(*parts: bytes) -> bytes:
    """16 bytes that stand for the parts; a set of them costs half of a set of the parts.

    The parts are levels of a topic, which hold no NUL, and pieces of fixed length; only the last one may be of any
    length and content. So no two lists of parts look alike.
    """
    return hashlib.blake2b(b"\0".join(parts), digest_size=_MARK_BYTES).digest()


#: No ship has a name with a slash.
_WHERE: Final = {SignedShot: "", SignedSkip: "/skip/", SignedHost: "/host/", SignedLeave: "/leave/"}


def _digest(request: Sealed) -> bytes:
    blob = request.blob
    if isinstance(request, SealedPlacement):
        where = f"{request.player}/{request.ship}"
    else:
        where = request.player + _WHERE[type(request)]
    return _mark(request.table.encode(), where.encode(), blob.salt, blob.nonce, blob.ciphertext)


def _blob_mark(blob: Blob) -> bytes:
    return _mark(blob.salt, blob.nonce, blob.ciphertext)
