"""Seals what must not be readable in the journal itself: the teams' secrets and keys.

The key lies in a file of its own, readable by its owner only. So a journal that is copied, sent around or kept on a
database server tells nobody's secret.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import nacl.exceptions
import nacl.secret

from salvo_server.journal import JournalError

_KEY_BYTES = nacl.secret.SecretBox.KEY_SIZE


class Vault:
    """Seals and opens with one key.

    Attributes:
        pepper: a second key, drawn from the first, for the teams' credentials.
    """

    def __init__(self, key: bytes, place: str) -> None:
        self.pepper = hashlib.blake2b(b"credentials", key=key, digest_size=32).digest()
        self._box = nacl.secret.SecretBox(key)
        self._place = place

    @classmethod
    def at(cls, path: Path) -> Vault:
        """Return the vault whose key is in a file; the first call makes the file.

        Raises:
            JournalError: ``journal_key`` when the file is no key, or cannot be read or made.
        """
        try:
            try:
                key = path.read_bytes()
            except FileNotFoundError:
                key = _create(path)
        except OSError as error:
            raise JournalError("journal_key", f"{path}: {error.strerror or error}") from None
        if len(key) != _KEY_BYTES:
            raise JournalError(
                "journal_key",
                f"{path} has {len(key)} bytes; a journal's key has {_KEY_BYTES}: put the right file there, or start a "
                "new journal under another name",
            )
        return cls(key, str(path))

    def seal(self, plaintext: bytes) -> bytes:
        """Return a box that only this key opens."""
        return bytes(self._box.encrypt(plaintext))

    def open(self, box: bytes, where: str) -> bytes:
        """Return what was sealed.

        Raises:
            JournalError: ``journal_key`` when this is another key than the one that sealed it.
        """
        try:
            return self._box.decrypt(box)
        except nacl.exceptions.CryptoError:
            raise JournalError(
                "journal_key", f"{where} does not open with the key in {self._place}; put the journal's own key there"
            ) from None


def _create(path: Path) -> bytes:
    key = os.urandom(_KEY_BYTES)
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(key)
        file.flush()
        os.fsync(file.fileno())
    return key
