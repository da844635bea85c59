"""Real cryptography with two economies: keys are derived once, and salts come from a small stock.

And with nothing that the seed does not decide: boxes for the server are made with a key that follows from the text.

A derivation costs 45 ms and a game 100. So every team's secret and salts are the same in all games of a process, and
derived keys are kept; nonces are fresh, and a gate forgets what it knew at every restart.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from hashlib import blake2b
from random import Random

from nacl.public import Box, PrivateKey, PublicKey

import salvo.codec.command_writer
import salvo.join.session.returning
import salvo.wire.seal
import salvo_server.core.keyring
from salvo.wire.seal import PADDING_BYTES, SALT_BYTES

_derive = salvo.wire.seal.derive_key
#: How many salts a process draws from: more than a gate keeps of a team, so that some are always new to it.
STOCK = 18


_cached = cache(_derive)
#: How often a key was asked for, so that somebody can charge time for it.
asked = 0


def derive_key(secret: str, salt: bytes) -> bytes:
    """Return what the real function returns, at once from the second time on."""
    global asked
    asked += 1
    return _cached(secret, salt)


#: Where the real function is asked for.
DERIVING = (salvo.wire.seal, salvo.join.session.returning, salvo_server.core.keyring)


def seal_for_server(plaintext: bytes, sealing_key: bytes) -> bytes:
    """Return a box as the real function makes it, of a sender who is not drawn."""
    padded = plaintext + b" " * (-len(plaintext) % PADDING_BYTES)
    own = PrivateKey(blake2b(padded, digest_size=32).digest())
    sender = bytes(own.public_key)
    nonce = blake2b(sender + sealing_key, digest_size=24).digest()
    return sender + Box(own, PublicKey(sealing_key)).encrypt(padded, nonce).ciphertext


#: Where the real function is asked for.
SEALING = (salvo.codec.command_writer,)


def economise() -> None:
    """Let everything in this process derive keys once, and draw nothing."""
    for module in DERIVING:
        module.derive_key = derive_key  # type: ignore[attr-defined]
    for module in SEALING:
        module.seal_for_server = seal_for_server  # type: ignore[attr-defined]


def salt(owner: str, number: int) -> bytes:
    """Return a salt of the stock."""
    return f"{owner}/{number % STOCK}".encode().ljust(SALT_BYTES, b".")[:SALT_BYTES]


def random_bytes(owner: str, random: Random) -> Callable[[int], bytes]:
    """Return a source of salts from the stock, and of nonces that never come twice."""
    salts = 0

    def draw(count: int) -> bytes:
        nonlocal salts
        if count != SALT_BYTES:
            return random.randbytes(count)
        salts += 1
        return salt(owner, salts)

    return draw
