"""Keys that cost little, for tests that derive many."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def cheap_keys() -> Iterator[None]:
    """Derive keys by the real function with the least work that it takes; the real one is tens of milliseconds."""
    import nacl.pwhash.argon2id as argon2id

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(argon2id, "OPSLIMIT_INTERACTIVE", argon2id.OPSLIMIT_MIN)
        patch.setattr(argon2id, "MEMLIMIT_INTERACTIVE", argon2id.MEMLIMIT_MIN)
        yield
