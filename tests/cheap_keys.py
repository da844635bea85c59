"""Keys that cost little, for tests that derive many."""

from __future__ import annotations

from collections.abc import Iterator

import nacl.pwhash.argon2id as argon2id
import pytest


@pytest.fixture(scope="module", autouse=True)
def keys_cost_little() -> Iterator[None]:
    """Derive keys by the real function with the least work that it takes; the real one is tens of milliseconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(argon2id, "OPSLIMIT_INTERACTIVE", argon2id.OPSLIMIT_MIN)
        patch.setattr(argon2id, "MEMLIMIT_INTERACTIVE", argon2id.MEMLIMIT_MIN)
        yield
