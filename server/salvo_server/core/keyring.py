"""The teams at the tables of a server, and its hosts: their secrets, proven keys, and what each may spend."""

from __future__ import annotations

import hashlib
import os
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

from salvo.errors import SealError
from salvo.wire.seal import Blob, derive_key, open_blob
from salvo_game.rate_limit import DERIVATIONS, REFUSALS, Bucket

#: Proven salts kept a team. Our SDK needs one; a client with a fresh salt a message needs none of them again.
MAX_SALTS: Final = 16
#: Publishers remembered a team: its bot, its explorers, and some that came before.
MAX_PUBLISHERS: Final = 16
#: Keys kept a team that have not been proven, so that a fleet under a fresh salt costs one derivation, not five; as
#: many as messages may wait.
MAX_DERIVED: Final = 64


class Expected(Protocol):
    """The salt that a team will use if its client is one of our SDK, and its key once that is derived."""

    salt: bytes

    def derive(self) -> bytes:
        """Return the key, derived here unless that has begun elsewhere."""

    def settle(self, key: bytes) -> None:
        """Take a key that is known from elsewhere, such as the journal."""

    def key_of(self, salt: bytes) -> bytes | None:
        """Return the key if the salt is the one and it is there."""


class Foresight(Protocol):
    """Derives keys before a message needs them: :class:`salvo_server.foresight.ForeseeingThreads`."""

    def foresee(self, teams: Iterable[tuple[str, str]]) -> None:
        """Derive the keys of a roster's teams, given by name and secret, when there is nothing else to derive."""

    def expect(self, name: str, secret: str) -> Expected:
        """Derive the key of a team that has come, before those that may."""

    def close(self) -> None:
        """Stop; what has not begun is dropped."""


@dataclass(slots=True, eq=False)
class KeyOwner:
    """A team at a table, or a host, with its secret and its known keys.

    Attributes:
        credential: stands for name and secret, at any table.
        bucket: for derivations.
        refused: for its own commands that were refused.
        keys: by salt, the one that was proven last at the end.
        derived: keys that need not be proven, by salt; the worker's own.
        expected: the salt that it will use if its client is one of our SDK; None where that is not foreseen.
        publishers: those that have shown its secret, the latest at the end.
        answered: the turn in which it was last answered what others may have sent.
        host: whether it is a host, which is at every table.
    """

    name: str
    secret: str = field(repr=False)
    credential: bytes = field(repr=False)
    bucket: Bucket
    refused: Bucket
    keys: OrderedDict[bytes, bytes] = field(default_factory=OrderedDict, repr=False)
    derived: OrderedDict[bytes, bytes] = field(default_factory=OrderedDict, repr=False)
    expected: Expected | None = field(default=None, repr=False)
    publishers: OrderedDict[str, None] = field(default_factory=OrderedDict, repr=False)
    answered: object = None
    host: bool = False

    def key_of(self, salt: bytes) -> bytes | None:
        """Return the key of a salt that has been proven or foreseen; None where it must be derived first."""
        return self.keys.get(salt) or (None if self.expected is None else self.expected.key_of(salt))

    def learn(self, salt: bytes, key: bytes) -> None:
        """Keep the key of a proven salt; the one that was proven first makes room for it."""
        self.keys[salt] = key
        self.keys.move_to_end(salt)
        if len(self.keys) > MAX_SALTS:
            self.keys.popitem(last=False)
        if self.expected is not None and self.expected.salt == salt:
            self.expected.settle(key)

    def shown_by(self, publisher: str) -> None:
        """Remember that a client has shown the secret: what it publishes may be the team's (SALVO-FRESH-9)."""
        self.publishers[publisher] = None
        self.publishers.move_to_end(publisher)
        if len(self.publishers) > MAX_PUBLISHERS:
            self.publishers.popitem(last=False)


class Learned(NamedTuple):
    """A salt of a team that has been proven, and its key."""

    table: str
    name: str
    salt: bytes
    key: bytes


class Keyring:
    """The teams of all tables.

    Attributes:
        learned: what has been proven since the journal took it last.
        random_bytes: source of salts and nonces.
        foresight: derives the keys of teams ahead of their first message; None for a server without a key.
    """

    def __init__(self, pepper: bytes | None = None, random_bytes: Callable[[int], bytes] = os.urandom) -> None:
        """Start empty.

        Args:
            pepper: keys the credentials; the same one after a restart keeps them comparable.
        """
        self.learned: list[Learned] = []
        self.random_bytes = random_bytes
        self.foresight: Foresight | None = None
        self._pepper = pepper or random_bytes(32)
        self._members: dict[str, dict[str, KeyOwner]] = {}
        self._hosts: dict[str, KeyOwner] = {}

    def credential(self, name: str, secret: str) -> bytes:
        """Return what stands for a secret elsewhere: equal for equal secrets, useless for anything else."""
        return hashlib.blake2b(f"{name}\0{secret}".encode(), digest_size=16, key=self._pepper).digest()

    def admit(self, table: str, name: str, secret: str, now: int) -> None:
        """Add a team that the referee has listed; nothing changes for one that is known with this secret.

        A new secret replaces the former one, none of whose keys opens anything any more (SALVO-ACCESS-8).
        """
        known = self.member(table, name)
        member = self._renewed(known, name, secret, now)
        if member is not known:
            self._unlearn(table, {name})
            self._members.setdefault(table, {})[name] = member

    def admit_host(self, name: str, secret: str, now: int) -> None:
        """Let a host act at every table; its former secret, if it had another one, opens nothing any more."""
        self._hosts[name] = self._renewed(self._hosts.get(name), name, secret, now, host=True)

    def renew_hosts(self, secret_of: Callable[[str], str | None], now: int) -> None:
        """Go by another state of the roster, which may have other secrets of hosts, or lack some."""
        for name in list(self._hosts):
            secret = secret_of(name)
            if secret is None:
                del self._hosts[name]
            else:
                self.admit_host(name, secret, now)

    def _renewed(self, known: KeyOwner | None, name: str, secret: str, now: int, *, host: bool = False) -> KeyOwner:
        credential = self.credential(name, secret)
        if known is None:
            member = KeyOwner(name, secret, credential, Bucket(DERIVATIONS, now), Bucket(REFUSALS, now), host=host)
        elif known.credential == credential:
            return known
        else:
            member = KeyOwner(name, secret, credential, known.bucket, known.refused, host=host)
        if self.foresight is not None and not host:
            member.expected = self.foresight.expect(name, secret)
        return member

    def member(self, table: str, name: str, *, host: bool = False) -> KeyOwner | None:
        """Return a team at a table, or a host; None when there is none."""
        return self._hosts.get(name) if host else self._members.get(table, {}).get(name)

    def teams(self, table: str) -> list[tuple[str, str]]:
        """Return name and secret of every team at a table."""
        return [(member.name, member.secret) for member in self._members.get(table, {}).values()]

    def retain(self, table: str, names: Iterable[str]) -> None:
        """Forget the secrets and keys of every team at a table but these (SALVO-END-4)."""
        members = self._members.get(table, {})
        gone = set(members) - set(names)
        for name in gone:
            del members[name]
        self._unlearn(table, gone)

    def restore(self, table: str, name: str, keys: Iterable[tuple[bytes, bytes]]) -> None:
        """Give a team the (salt, key) pairs back that were proven before a restart."""
        for salt, key in keys:
            self._members[table][name].learn(salt, key)

    def learn(self, table: str, member: KeyOwner, salt: bytes, key: bytes) -> bool:
        """Add a proven salt of a team; False if it has left since, or has another secret.

        The first few of a team are worth keeping beyond a restart.
        """
        known = self.member(table, member.name, host=member.host)
        if known is None or known.credential != member.credential:
            return False
        if salt not in known.keys and len(known.keys) < MAX_SALTS and not known.host:
            self.learned.append(Learned(table, known.name, salt, key))
        known.learn(salt, key)
        return True

    def take_learned(self) -> list[Learned]:
        """Return what has been proven since the last call, for the journal."""
        learned, self.learned = self.learned, []
        return learned

    def _unlearn(self, table: str, names: set[str]) -> None:
        self.learned = [each for each in self.learned if each.table != table or each.name not in names]


class Found(NamedTuple):
    """Whose key opens a blob, and what it says."""

    member: KeyOwner
    key: bytes
    plaintext: bytes


class KeyWorker:
    """Derives keys one at a time."""

    def __init__(self, executor: Executor, wake: Callable[[], None] = lambda: None) -> None:
        """Start idle.

        Args:
            executor: does the derivations, one at a time.
            wake: called from the executor's thread when something is done.
        """
        self._executor = executor
        self._wake = wake

    def find(self, blob: Blob, members: Sequence[KeyOwner]) -> Future[Found | None]:
        """Derive the key of one team after another until one opens the blob."""
        return self._woken(self._executor.submit(_find_key, blob, members))

    def derive(self, secret: str, salt: bytes) -> Future[bytes]:
        """Derive one key."""
        return self._woken(self._executor.submit(derive_key, secret, salt))

    def _woken(self, result: Future) -> Future:  # type: ignore[type-arg]
        result.add_done_callback(lambda _: self._wake())
        return result

    def close(self) -> None:
        """Stop; derivations that wait are dropped, and so is every key."""
        self._executor.shutdown(wait=True, cancel_futures=True)


def try_key(blob: Blob, member: KeyOwner, key: bytes) -> Found | None:
    """Return what a blob says if this key of a team opens it."""
    try:
        return Found(member, key, open_blob(blob, key))
    except SealError:
        return None


def _derive(member: KeyOwner, salt: bytes) -> bytes:
    expected = member.expected
    return expected.derive() if expected is not None and expected.salt == salt else derive_key(member.secret, salt)


def _find_key(blob: Blob, members: Sequence[KeyOwner]) -> Found | None:
    for member in members:
        key = member.derived.get(blob.salt)
        if key is None:
            key = member.derived[blob.salt] = _derive(member, blob.salt)
            if len(member.derived) > MAX_DERIVED:
                member.derived.popitem(last=False)
        found = try_key(blob, member, key)
        if found is not None:
            return found
    return None
