"""Who the server is: the key that it signs with, and the one that teams seal their secrets for (SALVO-IDENT)."""

from __future__ import annotations

import hashlib
import os
from typing import Final

import nacl.public
import nacl.signing

from salvo.seal import fingerprint, open_sealed

SEED_BYTES: Final = 32
#: Draws the sealing key from the seed, so that neither key tells the other.
_SEALING: Final = b"salvo seal"


class Identity:
    """Both key pairs of a server.

    Attributes:
        signing_key: the public Ed25519 key, 32 bytes.
        sealing_key: the public X25519 key, 32 bytes.
    """

    def __init__(self, seed: bytes) -> None:
        """Take 32 secret bytes; both pairs follow from them."""
        self._signer = nacl.signing.SigningKey(seed)
        self._unsealer = hashlib.blake2b(_SEALING, key=seed, digest_size=32).digest()
        self.signing_key = bytes(self._signer.verify_key)
        self.sealing_key = bytes(nacl.public.PrivateKey(self._unsealer).public_key)

    @classmethod
    def fresh(cls) -> Identity:
        """Return one that is in no file: for tests, for a demo, for a server whose address is never used again."""
        return cls(os.urandom(SEED_BYTES))

    @property
    def fingerprint(self) -> str:
        """What people compare (SALVO-IDENT-3)."""
        return fingerprint(self.signing_key)

    def sign(self, message: bytes) -> bytes:
        """Return the signature, 64 bytes."""
        return self._signer.sign(message).signature

    def open(self, sealed: bytes) -> bytes:
        """Return what was sealed for this server.

        Raises:
            SealError: ``sealed_unreadable``.
        """
        return open_sealed(sealed, self._unsealer)
