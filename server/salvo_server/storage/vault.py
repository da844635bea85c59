"""Seals what must not be readable in a file itself: teams' secrets and keys.

The key is in a separate file, readable by its owner only. So a journal or a roster that is copied, sent around or kept
on a database server gives no secret away.
"""

from __future__ import annotations

import base64
import hashlib
import os
from pathlib import Path
from typing import Final

import nacl.exceptions
import nacl.secret

from salvo.errors import SalvoError
from salvo.system.atomic_file import create_file
from salvo.system.user_folders import private_folder

#: Of a key's file.
KEY_BYTES: Final = nacl.secret.SecretBox.KEY_SIZE
_SECRET_BYTES = 16


class Vault:
    """Seals and opens with one key."""

    def __init__(self, key: bytes, place: str, what: str, error: type[SalvoError]) -> None:
        """Use a key.

        Args:
            what: what it keeps, ``journal`` or ``roster``; errors have the code ``<what>_key``.
            error: the class of every error of this vault.
        """
        self._key = key
        self._box = nacl.secret.SecretBox(key)
        self._place = place
        self._what = what
        self._error = error

    @classmethod
    def at(cls, path: Path, what: str, error: type[SalvoError]) -> Vault:
        """Return the vault whose key is in a file; the first call makes the file.

        Raises:
            SalvoError: of the class given, ``<what>_key``: the file is not a key, or cannot be read or made.
        """
        code = f"{what}_key"
        try:
            private_folder(path.parent)
            try:
                key = path.read_bytes()
            except FileNotFoundError:
                create_file(path, os.urandom(KEY_BYTES))
                key = path.read_bytes()  # perhaps that of another program, which was quicker
        except OSError as reason:
            cure = "let this user read and write it, or name a folder for all state with XDG_STATE_HOME"
            raise error(code, f"{path}: {reason.strerror or reason}; {cure}") from None
        if len(key) != KEY_BYTES:
            raise error(
                code,
                f"{path} has {len(key)} bytes; a {what}'s key has {KEY_BYTES}: put the right file there, or start a "
                f"new {what} under another name",
            )
        return cls(key, str(path), what, error)

    def derive(self, purpose: str) -> bytes:
        """Return another key, drawn from this one for a purpose; 32 bytes."""
        return hashlib.blake2b(purpose.encode(), key=self._key, digest_size=32).digest()

    def secret(self, purpose: str) -> str:
        """Return a secret of 128 bits, as text, drawn from this key for a purpose."""
        return base64.urlsafe_b64encode(self.derive(purpose)[:_SECRET_BYTES]).decode().rstrip("=")

    def seal(self, plaintext: bytes) -> bytes:
        """Return a box that only this key opens."""
        return bytes(self._box.encrypt(plaintext))

    def open(self, box: bytes, where: str) -> bytes:
        """Return what was sealed.

        Raises:
            SalvoError: of the class given, ``<what>_key``: this is another key than the one that sealed it.
        """
        try:
            return self._box.decrypt(box)
        except (nacl.exceptions.CryptoError, ValueError):
            raise self._error(
                f"{self._what}_key",
                f"{where} does not open with the key in {self._place}; put the {self._what}'s own key there",
            ) from None
