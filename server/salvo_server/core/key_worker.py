"""The one thread beside the loop: it derives keys, which cost 50 ms and 64 MiB each, and does nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Final, NamedTuple

from salvo.errors import SealError
from salvo.seal import Blob, derive_key, open_blob
from salvo_server.core.keyring import Member

#: Keys kept a team that have not been proven, so that a fleet under a fresh salt costs one derivation, not five; as
#: many as messages may wait.
MAX_DERIVED: Final = 64


class Found(NamedTuple):
    """Whose key opens a blob, and what it says."""

    member: Member
    key: bytes
    plaintext: bytes


class KeyWorker:
    """Derives keys one at a time."""

    def __init__(self, wake: Callable[[], None] = lambda: None, executor: Executor | None = None) -> None:
        """Start idle.

        Args:
            wake: called from the worker when something is done.
            executor: does the derivations, one at a time; a separate thread by default.
        """
        self._wake = wake
        self._executor = executor or ThreadPoolExecutor(max_workers=1, thread_name_prefix="derive")

    def find(self, blob: Blob, members: Sequence[Member]) -> Future[Found | None]:
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


def try_key(blob: Blob, member: Member, key: bytes) -> Found | None:
    """Return what a blob says if this key of a team opens it."""
    try:
        return Found(member, key, open_blob(blob, key))
    except SealError:
        return None


def _find_key(blob: Blob, members: Sequence[Member]) -> Found | None:
    for member in members:
        key = member.derived.get(blob.salt)
        if key is None:
            key = member.derived[blob.salt] = derive_key(member.secret, blob.salt)
            if len(member.derived) > MAX_DERIVED:
                member.derived.popitem(last=False)
        found = try_key(blob, member, key)
        if found is not None:
            return found
    return None
