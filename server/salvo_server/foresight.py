"""The threads that derive keys: one for messages that wait, and those that do it before a message needs a key.

The salt of a client of our SDK follows from its team's name and the server's key (SALVO-FRESH-6), so the server knows
what to derive as soon as it knows the secret: from the roster, while it has nothing else to derive, or from a request
to take part. A client with another salt waits for its key with its first message.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from threading import Lock, Timer
from typing import Final

from salvo.wire.seal import derive_key, salt_of

#: Derivations at once, whatever the number of cores: each takes 64 MiB.
MOST_LANES: Final = 4
#: Between a change of the roster and the first derivation for it: a server that starts has other things to do.
REST_SECONDS: Final = 5.0


class Expected:
    """The salt that a team will use if its client is one of our SDK, and its key once that is derived."""

    def __init__(self, name: str, secret: str, signing_key: bytes) -> None:
        self.salt = salt_of(name, signing_key)
        self._secret = secret
        self._key: Future[bytes] = Future()
        self._begun = Lock()

    def derive(self) -> bytes:
        """Return the key, derived here unless another thread has begun to."""
        if self._begun.acquire(blocking=False):
            try:
                self._key.set_result(derive_key(self._secret, self.salt))
            except Exception as error:  # too little memory; whoever waits must not wait for ever
                self._key.set_exception(error)
        return self._key.result()

    def settle(self, key: bytes) -> None:
        """Take a key that is known from elsewhere, such as the journal."""
        if self._begun.acquire(blocking=False):
            self._key.set_result(key)

    def key_of(self, salt: bytes) -> bytes | None:
        """Return the key if the salt is the one and it is there."""
        is_there = salt == self.salt and self._key.done() and self._key.exception() is None
        return self._key.result() if is_there else None


def derivations() -> Executor:
    """Return the thread that derives the keys of messages that wait, one at a time."""
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="derive")


class ForeseeingThreads:
    """The keys of teams that have come or may come; only those of the roster are kept here."""

    def __init__(
        self,
        signing_key: bytes,
        credential: Callable[[str, str], bytes],
        executor: Executor | None = None,
        rest_seconds: float = REST_SECONDS,
    ) -> None:
        """Expect nobody yet.

        Args:
            signing_key: the server's.
            credential: stands for a name and a secret.
            executor: does the derivations; by default a thread for each core but two, the server's and its worker's.
            rest_seconds: how long teams of the roster wait at least.
        """
        lanes = min(MOST_LANES, max(1, (os.cpu_count() or 1) - 2))
        self._executor = executor or ThreadPoolExecutor(lanes, thread_name_prefix="foresee")
        self._signing_key = signing_key
        self._credential = credential
        self._roster: dict[bytes, Expected] = {}
        self._left: Iterator[Expected] = iter(())
        self._rest_seconds = rest_seconds
        self._rest: Timer | None = None
        self._idling = False
        self._lock = Lock()

    def foresee(self, teams: Iterable[tuple[str, str]]) -> None:
        """Derive the keys of a roster's teams, given by name and secret, when there is nothing else to derive."""
        known = self._roster
        self._roster = {
            credential: known.get(credential) or Expected(name, secret, self._signing_key)
            for name, secret in teams
            for credential in [self._credential(name, secret)]
        }
        with self._lock:
            self._left = iter(list(self._roster.values()))
            begins, self._idling = not self._idling, True
        if begins:
            self._rest = Timer(self._rest_seconds, self._submit, [self._derive_next])
            self._rest.daemon = True
            self._rest.start()

    def expect(self, name: str, secret: str) -> Expected:
        """Derive the key of a team that has come, before those that may."""
        known = self._roster.get(self._credential(name, secret))
        expected = known or Expected(name, secret, self._signing_key)
        self._submit(expected.derive)
        return expected

    def _derive_next(self) -> None:
        """Derive one key, then queue up again behind those that have come meanwhile."""
        with self._lock:
            expected = next(self._left, None)
            self._idling = expected is not None
        if expected is not None:
            try:
                expected.derive()
            finally:
                self._submit(self._derive_next)

    def _submit(self, derive: Callable[[], object]) -> None:
        with contextlib.suppress(RuntimeError):  # closed
            self._executor.submit(derive)

    def close(self) -> None:
        """Stop; what has not begun is dropped."""
        if self._rest is not None:
            self._rest.cancel()
        self._executor.shutdown(wait=True, cancel_futures=True)
