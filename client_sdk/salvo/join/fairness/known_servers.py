"""The servers that this user's bots know: the key of each, by the broker's address (SALVO-IDENT-2).

One small JSON file for all bots of a user, ``known_servers.json``. The first meeting is taken on trust; after that,
another key at the same address is another server, and no command is sent to it. The password has been sent by then:
only TLS keeps that from a stranger in the place of the broker.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Annotated, Final

from salvo.codec.json_codec import Codec
from salvo.errors import ImpostorError, SalvoError, WireError
from salvo.system.text_files import read_text
from salvo.system.user_folders import NoHome, private_folder, user_folder
from salvo.wire.json_shape import Base64
from salvo.wire.seal import KEY_BYTES, fingerprint

log = logging.getLogger(__name__)

#: Room for thousands of servers; a longer file is something else.
_MAX_BYTES: Final = 1024 * 1024
#: Where the file cannot be used.
_CURE: Final = "name another file with SALVO_KNOWN_SERVERS, or none to check no server"
_KEYS: Final[Codec[dict[str, bytes]]] = Codec(dict[str, Annotated[bytes, Base64(KEY_BYTES)]], largest=_MAX_BYTES)


class KnownServers:
    """The file, read and written at every call, because other bots use it at the same time."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def of_user(cls) -> KnownServers | None:
        """Return this user's: the file in ``SALVO_KNOWN_SERVERS``, else one in the configuration folder.

        A user without a home has none, and plays without; so does who names ``none``.
        """
        if (named := os.environ.get("SALVO_KNOWN_SERVERS")) == "none":
            return None
        if named:
            return cls(Path(named))
        try:
            return cls(_configuration() / "known_servers.json")
        except NoHome as error:
            log.warning("the server's key is not remembered: %s, or %s", error.text, _CURE)
            return None

    def key_of(self, address: str) -> bytes | None:
        """Return the signing key of the server at a broker's address, ``host:port``; None for an unknown one.

        Raises:
            SalvoError: ``known_servers`` when the file cannot be read.
        """
        return self._read().get(address)

    def meet(self, address: str, key: bytes | None) -> None:
        """Remember a new server's signing key, or check a known server's.

        Args:
            key: None for a server without keys, which is not remembered.

        Raises:
            ImpostorError: ``server_changed``.
            SalvoError: ``known_servers`` when the file cannot be read.
        """
        known = self.key_of(address)
        if known is None and key is not None:
            known = self._note(address, key)
        if known is not None and known != key:
            raise self._changed(address, known, key)

    def _changed(self, address: str, known: bytes, key: bytes | None) -> ImpostorError:
        now = "one without a key" if key is None else fingerprint(key)
        return ImpostorError(
            "server_changed",
            f"the server at {address} was {fingerprint(known)} and now is {now}: this may be an impostor. "
            f"Ask the operator for its fingerprint; if it has a new identity, remove {address} from {self.path}",
        )

    def _note(self, address: str, key: bytes) -> bytes:
        """Write the key down, unless another bot was quicker; return the one in the file."""
        try:
            private_folder(self.path.parent)
            lock = self.path.with_name(self.path.name + ".lock")
            with open(lock, "a+b", opener=partial(os.open, mode=0o600)) as file:
                _lock(file.fileno())  # against other bots; the system releases it when a process dies
                servers = self._read()
                known = servers.setdefault(address, key)
                if known == key:
                    self._write(servers)
                return known
        except OSError as error:
            why = f"{fingerprint(key)} in {self.path}: {error.strerror}; {_CURE}"
            log.warning("cannot remember the server %s", why)
            return key

    def _read(self) -> dict[str, bytes]:
        try:
            return _KEYS.read(read_text(self.path).encode())
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except OSError as error:
            raise SalvoError("known_servers", f"{self.path}: {error.strerror}; {_CURE}") from None
        except (WireError, UnicodeDecodeError) as error:
            cure = "repair it, or remove it to meet all servers for the first time again"
            raise SalvoError("known_servers", f"{self.path} is damaged ({error}): {cure}") from None

    def _write(self, servers: dict[str, bytes]) -> None:
        """Replace the file atomically: readers see the old one or the new one."""
        text = json.dumps(_KEYS.value(dict(sorted(servers.items()))), indent=1)
        descriptor, part = tempfile.mkstemp(prefix=f".{self.path.name}.", dir=self.path.parent)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text + "\n")
            os.replace(part, self.path)
        except BaseException:
            os.unlink(part)
            raise


if sys.platform == "win32":
    import msvcrt

    def _configuration() -> Path:
        return user_folder("APPDATA", "", "the servers that it knows")

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)

else:

    def _configuration() -> Path:
        return user_folder("XDG_CONFIG_HOME", ".config", "the servers that it knows")

    def _lock(descriptor: int) -> None:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX)
