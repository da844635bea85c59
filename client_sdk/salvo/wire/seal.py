"""Blobs: how a secret keeps a message private or proves who sent it (SALVO-SEAL).

    blob = base64( salt[16] | nonce[24] | secretbox ciphertext )
    key  = argon2id13(secret, salt), 32 bytes, 2 passes, 64 MiB

Before they share a key, a team uses a sealed box for the server's public key; what the server signs for everybody has
an Ed25519 signature (SALVO-IDENT).

Only the cryptography lives here. Which keys a server tries, in which order and how often, is up to its authenticator;
what is inside a blob, to the codec.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import nacl.bindings
import nacl.exceptions
import nacl.public
import nacl.pwhash.argon2id
import nacl.signing
import nacl.utils

from salvo.errors import SealError, WireError

SALT_BYTES: Final = 16
NONCE_BYTES: Final = 24
TAG_BYTES: Final = 16
KEY_BYTES: Final = 32
#: The shortest blob holds two bytes of plaintext, ``{}`` (SALVO-SEAL-6).
SHORTEST_BLOB_BYTES: Final = SALT_BYTES + NONCE_BYTES + TAG_BYTES + 2
MAX_BLOB_BYTES: Final = 1024
#: A recap holds a whole game. In base64 it is the 64 KiB that clients read of any announcement (SALVO-JOIN-12).
MAX_RECAP_BLOB_BYTES: Final = 48 * 1024
#: Plaintexts are padded to a multiple of this, so that a blob's length reveals nothing (SALVO-SEAL-9).
PADDING_BYTES: Final = 96
#: Created once: with other separators, ``json.dumps`` creates an encoder at every call.
_ENCODER: Final = json.JSONEncoder(separators=(",", ":"))
#: Derives the key of blobs from server to team, so that they never pass for a team's signature (SALVO-SEAL-10).
_TO_TEAM: Final = b"salvo s2c"


@dataclass(frozen=True, slots=True)
class Blob:
    """A blob taken apart; nothing in it is verified yet."""

    salt: bytes
    nonce: bytes
    ciphertext: bytes


def derive_key(secret: str, salt: bytes) -> bytes:
    """Return the key of a secret: 32 bytes, after about 50 ms and 64 MiB of work (SALVO-SEAL-2).

    Releases the interpreter lock while it works.

    Args:
        secret: the team's secret, UTF-8 encoded for the derivation.
        salt: 16 bytes.
    """
    return nacl.pwhash.argon2id.kdf(
        KEY_BYTES,
        secret.encode(),
        salt,
        opslimit=nacl.pwhash.argon2id.OPSLIMIT_INTERACTIVE,
        memlimit=nacl.pwhash.argon2id.MEMLIMIT_INTERACTIVE,
    )


def key_to_team(key: bytes) -> bytes:
    """Return the sub-key for blobs from the server to the team that owns ``key``."""
    return hashlib.blake2b(_TO_TEAM, digest_size=KEY_BYTES, key=key).digest()


def parse_blob(text: str, longest: int = MAX_BLOB_BYTES) -> Blob:
    """Take a blob's base64 text apart.

    Raises:
        WireError: ``blob_not_base64`` if it is not canonical standard base64 with padding, ``blob_length`` if it
            decodes to fewer than 58 or more than ``longest`` bytes.
    """
    most_characters = (longest + 2) // 3 * 4
    if len(text) > most_characters:
        raise WireError("blob_length", f"{len(text)} characters; a blob has at most {most_characters}")
    sealed = read_base64(text, "blob_not_base64")
    if not SHORTEST_BLOB_BYTES <= len(sealed) <= longest:
        raise WireError("blob_length", f"{len(sealed)} bytes; a blob decodes to {SHORTEST_BLOB_BYTES}..{longest} bytes")
    nonce_end = SALT_BYTES + NONCE_BYTES
    return Blob(sealed[:SALT_BYTES], sealed[SALT_BYTES:nonce_end], sealed[nonce_end:])


def read_base64(text: str, code: str) -> bytes:
    """Decode canonical standard base64 with padding.

    Raises:
        WireError: the given code.
    """
    try:
        decoded = binascii.a2b_base64(text, strict_mode=True)
    except (binascii.Error, ValueError):
        raise WireError(code, "not standard base64 (A-Z a-z 0-9 + /) with padding") from None
    if binascii.b2a_base64(decoded, newline=False).decode() != text:
        raise WireError(code, "not the canonical base64 of its bytes; the last bits must be 0")
    return decoded


def open_blob(blob: Blob, key: bytes) -> bytes:
    """Return the plaintext.

    Raises:
        SealError: ``forged`` when the tag does not verify with this key.
    """
    try:
        return nacl.bindings.crypto_secretbox_open(blob.ciphertext, blob.nonce, key)
    except nacl.exceptions.CryptoError:
        raise SealError("forged", "the tag does not verify") from None


def salt_of(name: str, signing_key: bytes) -> bytes:
    """Return the salt of a team at a server that has a key: the same after a restart of the team (SALVO-FRESH-6).

    It tells nothing of the secret, and is another one at every server, so that no blob is good for two of them.
    """
    return hashlib.blake2b(b"salvo salt\0" + name.encode() + b"\0" + signing_key, digest_size=SALT_BYTES).digest()


class Sealer:
    """Makes blobs under one secret, with one salt per session, so that the receiver derives the key once."""

    def __init__(
        self, secret: str, salt: bytes | None = None, random_bytes: Callable[[int], bytes] = nacl.utils.random
    ) -> None:
        """Take a secret; a fresh salt is drawn when none is given.

        Args:
            random_bytes: source of the salt and of the nonces.
        """
        self._secret = secret
        self._random_bytes = random_bytes
        self.salt = random_bytes(SALT_BYTES) if salt is None else salt

    @cached_property
    def key(self) -> bytes:
        """The key; to derive it takes about 50 ms, the first time."""
        return derive_key(self._secret, self.salt)

    def seal(self, plaintext: bytes, nonce: bytes | None = None) -> str:
        """Return the blob of a plaintext, padded with spaces to a multiple of 96 bytes."""
        return make_blob(plaintext, self.key, self.salt, nonce or self._random_bytes(NONCE_BYTES))

    def sign(self, body: object, nonce: bytes | None = None) -> bytes:
        """Return the payload of a signed message, whose body is a JSON value (SALVO-SEAL-4)."""
        return self.sign_text(_ENCODER.encode(body).encode(), nonce)

    def sign_text(self, body: bytes, nonce: bytes | None = None) -> bytes:
        """Return the payload of a signed message, whose body is a JSON text: the open body and its blob (SALVO-SEAL-4).

        The whole is padded, too: under TLS, its length would reveal which coordinates have two digits.
        """
        return _padded(b'{"data":%s,"signature":"%s"}' % (body, self.seal(body, nonce).encode()))


def make_blob(plaintext: bytes, key: bytes, salt: bytes, nonce: bytes | None = None) -> str:
    """Return the blob of a plaintext; a fresh nonce is drawn when none is given."""
    nonce = nacl.utils.random(NONCE_BYTES) if nonce is None else nonce
    return base64.b64encode(salt + nonce + nacl.bindings.crypto_secretbox(_padded(plaintext), nonce, key)).decode()


def _padded(text: bytes) -> bytes:
    return text + b" " * (-len(text) % PADDING_BYTES)


# --- the server's keys ------------------------------------------------------------------------------------------


def fingerprint(signing_key: bytes) -> str:
    """Return the part of a server's key that people compare: ``9f3a 01c2 77de 4b10`` (SALVO-IDENT-3)."""
    digits = hashlib.blake2b(signing_key, digest_size=32).hexdigest()[:16]
    return " ".join(digits[start : start + 4] for start in range(0, 16, 4))


def verify(signing_key: bytes, message: bytes, signature: bytes) -> None:
    """Check that the owner of the key signed exactly these bytes.

    Raises:
        SealError: ``bad_signature``.
    """
    try:
        nacl.signing.VerifyKey(signing_key).verify(message, signature)
    except (nacl.exceptions.CryptoError, nacl.exceptions.ValueError, nacl.exceptions.TypeError):
        raise SealError("bad_signature", f"not signed by the server {fingerprint(signing_key)}") from None


def seal_for_server(plaintext: bytes, sealing_key: bytes) -> bytes:
    """Return a box that only the server can open, around the text padded to a multiple of 96 bytes (SALVO-IDENT-4).

    Raises:
        SealError: ``bad_key``: a point of the curve that gives every sender the same key, such as 32 zeros.
    """
    try:
        return nacl.public.SealedBox(nacl.public.PublicKey(sealing_key)).encrypt(_padded(plaintext))
    except nacl.exceptions.CryptoError:
        raise SealError("bad_key", f"nothing can be sealed for the key {sealing_key.hex()}") from None


def open_sealed(sealed: bytes, private_key: bytes) -> bytes:
    """Return what was sealed for the owner of a private X25519 key.

    Raises:
        SealError: ``sealed_unreadable``.
    """
    try:
        return nacl.public.SealedBox(nacl.public.PrivateKey(private_key)).decrypt(sealed)
    except (nacl.exceptions.CryptoError, nacl.exceptions.TypeError):
        raise SealError(
            "sealed_unreadable", "does not open with this server's key; seal for the key in /game/server"
        ) from None
