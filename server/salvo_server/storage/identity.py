"""The file with the server's keys (SALVO-IDENT).

It is made once, readable by its owner only, and never written again: clients remember the key, so another file is
another server to all of them.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import stat
from pathlib import Path
from typing import Final

import nacl.bindings
import nacl.public
import nacl.signing

from salvo.errors import SalvoError
from salvo.system.atomic_file import create_file
from salvo.system.text_files import text_of
from salvo.system.user_folders import private_folder
from salvo.wire.seal import fingerprint, open_sealed

#: First line of the file, with the version of its form.
TITLE: Final = "salvo identity 1"
_ANY_TITLE: Final = re.compile(rb"salvo identity (\d{1,9})\n")
#: Rights of the group and of others.
_NOT_THE_OWNERS: Final = stat.S_IRWXG | stat.S_IRWXO


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
        self.signing_key, self._signer = nacl.bindings.crypto_sign_seed_keypair(seed)
        self._unsealer = hashlib.blake2b(_SEALING, key=seed, digest_size=32).digest()
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
        return nacl.bindings.crypto_sign(message, self._signer)[: nacl.bindings.crypto_sign_BYTES]

    def open(self, sealed: bytes) -> bytes:
        """Return what was sealed for this server.

        Raises:
            SealError: ``sealed_unreadable``.
        """
        return open_sealed(sealed, self._unsealer)


class IdentityError(SalvoError):
    """The file with the server's keys cannot be used; the text says what to do."""

    def __init__(self, text: str) -> None:
        super().__init__("identity_key", text)


def load_identity(path: Path) -> Identity:
    """Return the identity in a file; the first call makes the file. It is never overwritten.

    Raises:
        IdentityError: ``identity_key`` when the file cannot be read or made, when others may read it, or when it is
            damaged or something else.
    """
    try:
        private_folder(path.parent)
        try:
            return Identity(_read(path))
        except FileNotFoundError:
            create_file(path, f"{_written(os.urandom(SEED_BYTES))}\n".encode())
            return Identity(_read(path))  # perhaps that of another server, which was quicker
    except OSError as error:
        cure = "name another file with SALVO_IDENTITY, or a folder for all state with XDG_STATE_HOME"
        raise IdentityError(f"{path}: {error.strerror or error}; {cure}") from None


def _read(path: Path) -> bytes:
    with open(path, "rb") as file:
        rights = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
        if os.name == "posix" and rights & _NOT_THE_OWNERS:
            raise IdentityError(
                f"{path} has the rights {rights:04o}: others could read the server's keys; chmod 600 {path}, and "
                "remove the file for a new identity if anyone may have read them"
            )
        return _seed_of(file.read(1024), path)


def _seed_of(content: bytes, path: Path) -> bytes:
    if (found := _ANY_TITLE.match(content)) and int(found[1]) > 1:
        text = f"{path} has form {int(found[1])}, of a later version of Salvo; use that one, or restore an earlier copy"
        raise IdentityError(text)
    try:
        text = text_of(content).rstrip(" \n")
        seed = base64.b64decode(text.splitlines()[1])
    except (ValueError, IndexError):  # no UTF-8 and no base64 are ValueErrors, too
        raise _damaged(path) from None
    if len(seed) != SEED_BYTES or text != _written(seed):
        raise _damaged(path)
    return seed


def _written(seed: bytes) -> str:
    """What the file has. The fingerprint of the public key finds damage, and an operator can read it there."""
    check = fingerprint(bytes(nacl.signing.SigningKey(seed).verify_key))
    return f"{TITLE}\n{base64.b64encode(seed).decode()}\n{check}"


def _damaged(path: Path) -> IdentityError:
    return IdentityError(
        f"{path} is not a server identity, or is damaged: put back a copy, or remove it for a new identity, which "
        "every client that remembers the old one refuses until it forgets it"
    )
