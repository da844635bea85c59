"""Opens the client's blobs, and finds out what is wrong with one that does not open.

It shares no code with the server's: libsodium is called as the protocol's text says (SALVO-SEAL-1 to 3).
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import json
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Final, NamedTuple

import nacl.bindings as sodium
import nacl.exceptions
import nacl.pwhash
import nacl.utils

SALT, NONCE, TAG = 16, 24, 16
SHORTEST, LONGEST = SALT + NONCE + TAG + 2, 1024
_MIB: Final = 1 << 20


class Cut(NamedTuple):
    """A blob taken apart."""

    salt: bytes
    nonce: bytes
    sealed: bytes


def decode(text: bytes) -> bytes:
    """Return what canonical standard base64 with padding says.

    Raises:
        ValueError: it is something else; the text says what.
    """
    try:
        decoded = base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(_fault_of_base64(text) or str(error)) from None
    if base64.b64encode(decoded) != text:
        raise ValueError(_fault_of_base64(text) or "the last bits of the last character are not 0")
    return decoded


def _fault_of_base64(text: bytes) -> str:
    if set(text) & set(b"\r\n\t "):
        return "white space or line breaks"
    if text[:1] in (b'"', b"{"):
        return "quotes or JSON around it"
    if set(text) & set(b"-_"):
        return "the alphabet for URLs, with - and _"
    if len(text) % 4:
        return "no padding with ="
    return ""


def cut(blob: bytes) -> Cut:
    """Take the bytes of a blob apart."""
    return Cut(blob[:SALT], blob[SALT : SALT + NONCE], blob[SALT + NONCE :])


@lru_cache(maxsize=4096)
def key_of(secret: bytes, salt: bytes, passes: int = 2, memory: int = 64 * _MIB) -> bytes:
    """Return the key of a secret: Argon2id, version 1.3, 32 bytes."""
    return nacl.pwhash.argon2id.kdf(32, secret, salt, opslimit=passes, memlimit=memory)


async def derive(secret: str, salt: bytes) -> bytes:
    """The same, on another thread: it takes 50 ms."""
    return await asyncio.to_thread(key_of, secret.encode(), salt)


def open_with(key: bytes, blob: Cut) -> bytes | None:
    """Return the text inside; None if this key does not open it."""
    try:
        return sodium.crypto_secretbox_open(blob.sealed, blob.nonce, key)
    except (nacl.exceptions.CryptoError, nacl.exceptions.ValueError):
        return None


def key_to_team(key: bytes) -> bytes:
    """Return the key of blobs from the server to a team (SALVO-SEAL-10)."""
    return hashlib.blake2b(b"salvo s2c", digest_size=32, key=key).digest()


def seal(value: object, key: bytes, salt: bytes) -> str:
    """Return the blob of a JSON value, padded to a multiple of 96 bytes (SALVO-SEAL-9)."""
    text = json.dumps(value, separators=(",", ":")).encode()
    return make_blob(text + b" " * (-len(text) % 96), key, salt, nacl.utils.random(NONCE))


def make_blob(text: bytes, key: bytes, salt: bytes, nonce: bytes) -> str:
    """Return the blob of a text."""
    return base64.b64encode(salt + nonce + sodium.crypto_secretbox(text, nonce, key)).decode()


# --- what authors get wrong -----------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def diagnose(blob: bytes, secret: str, name: str) -> str:
    """Return what a blob was made with that does not open as it should; empty if nothing fits.

    It tries what authors get wrong, for some seconds: other layouts, parameters, secrets and ciphers.
    """
    for layout, parts in _layouts(blob):
        for how, key in _keys(parts.salt, secret, name):
            for cipher, opens in _CIPHERS.items():
                if _opens(opens, parts, key):
                    faults = [each for each in (layout, how, cipher) if each]
                    return "; ".join(faults)
    return ""


def _opens(opens: Callable[[bytes, bytes, bytes], bytes], parts: Cut, key: bytes) -> bool:
    try:
        opens(parts.sealed, parts.nonce, key)
    except (nacl.exceptions.CryptoError, nacl.exceptions.ValueError, nacl.exceptions.TypeError, ValueError):
        return False
    return True


def _layouts(blob: bytes) -> Iterator[tuple[str, Cut]]:
    yield "", cut(blob)
    yield "its parts are nonce, salt, ciphertext", Cut(blob[24:40], blob[:24], blob[40:])
    yield "its parts are salt, ciphertext, nonce", Cut(blob[:16], blob[-24:], blob[16:-24])
    yield "its parts are nonce, ciphertext, salt", Cut(blob[-16:], blob[:24], blob[24:-16])
    rest = blob[40:]
    yield "its tag is behind the ciphertext, not before it", Cut(blob[:16], blob[16:40], rest[-16:] + rest[:-16])


def _keys(salt: bytes, secret: str, name: str) -> Iterator[tuple[str, bytes]]:
    given = secret.encode()
    yield "", key_of(given, salt)
    for passes, memory in ((1, 64), (3, 64), (4, 64), (2, 32), (2, 128), (3, 256), (2, 19), (3, 12)):
        yield (
            f"its key was derived with opslimit {passes} and memlimit {memory} MiB",
            key_of(given, salt, passes, memory * _MIB),
        )
    yield (
        "its key was derived with Argon2i, not Argon2id",
        nacl.pwhash.argon2i.kdf(32, given, salt, opslimit=4, memlimit=64 * _MIB),
    )
    others = {
        "the team's name": name.encode(),
        "the secret and a line break": given + b"\n",
        "the secret between quotes": b'"%s"' % given,
        "the secret in NFD": unicodedata.normalize("NFD", secret).encode(),
        "the secret in NFC": unicodedata.normalize("NFC", secret).encode(),
        "the secret in UTF-16": secret.encode("utf-16-le"),
        "the secret in Latin-1": secret.encode("latin-1", "ignore"),
        "the first 32 characters of the secret": secret[:32].encode(),
        "the first 64 characters of the secret": secret[:64].encode(),
        "the secret in small letters": secret.lower().encode(),
        "the secret's SHA-256": hashlib.sha256(given).digest(),
    }
    for how, other in others.items():
        if other != given:
            yield f"its key was derived from {how}", key_of(other, salt)
    yield "its salt was hashed first", key_of(given, hashlib.blake2b(salt, digest_size=16).digest())
    yield "its key is the secret's SHA-256, not Argon2id", hashlib.sha256(given).digest()
    yield "its key is the secret's BLAKE2b, not Argon2id", hashlib.blake2b(given, digest_size=32).digest()
    yield "its key is the secret itself, filled with zeros", given[:32].ljust(32, b"\0")
    if len(given) >= 16:
        yield "its key has 16 bytes, filled with zeros", key_of(given, salt)[:16].ljust(32, b"\0")


_CIPHERS: Final[dict[str, Callable[[bytes, bytes, bytes], bytes]]] = {
    "": sodium.crypto_secretbox_open,
    "its cipher is XChaCha20-Poly1305 (AEAD), not XSalsa20-Poly1305": lambda sealed, nonce, key: (
        sodium.crypto_aead_xchacha20poly1305_ietf_decrypt(sealed, b"", nonce, key)
    ),
}
