"""One archive with what makes a server the same one on another machine: roster, identity and journal, with their keys.

It is a gzipped tar file: first a manifest, then the files, each under a fixed name. Nothing in it says where a file
belongs: that is for the settings of the machine on which it is restored, and no name in an archive becomes a path.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import math
import os
import tarfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal, NamedTuple

from salvo.errors import MissingExtra, SalvoError
from salvo.system.atomic_file import create_file, replace_files
from salvo.system.user_folders import private_folder
from salvo_server.storage.identity import TITLE
from salvo_server.storage.journal.locks import lock_file
from salvo_server.storage.vault import KEY_BYTES

try:
    from pydantic import BaseModel, ConfigDict, Field, ValidationError
except ModuleNotFoundError:
    raise MissingExtra("a backup", "server") from None

#: The version of the archive's form.
FORM: Final = 1
MANIFEST: Final = "manifest.json"
#: The files, by the name of each in the archive.
ROSTER, ROSTER_KEY, IDENTITY = "roster.json", "roster.json.key", "identity.key"
JOURNAL, JOURNAL_KEY = "server.journal", "server.journal.key"
#: How each begins, and how many bytes it may have: a roster of ten thousand teams has three million.
_FORMS: Final[Mapping[str, tuple[bytes, float]]] = {
    ROSTER: (b"{", 2**24),
    ROSTER_KEY: (b"", KEY_BYTES),
    IDENTITY: (TITLE.encode(), 1024),
    JOURNAL: (b"SQLite format 3\0", math.inf),
    JOURNAL_KEY: (b"", KEY_BYTES),
}
_NAMES: Final = frozenset(_FORMS)
_MAX_MANIFEST_BYTES: Final = 65536
#: What SQLite keeps next to its file. Left over from another journal, it would be taken for this one's latest commits.
_BESIDE_JOURNAL: Final = ("-wal", "-shm")


class BackupError(SalvoError):
    """A backup cannot be made, read or restored."""


class _StoredFile(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    name: str
    size: int = Field(ge=0)
    sha256: str


class Manifest(BaseModel):
    """What an archive says of itself.

    Attributes:
        backup: the version of its form.
        version: of the Salvo that made it.
        at: when, ISO 8601 in UTC.
        running: whether a server was writing the journal, and so may have accepted more behind the copy.
        listen, broker, profile, tables: the server's, to start it again; the URL without user and password.
    """

    model_config = ConfigDict(strict=True, extra="forbid")

    backup: Literal[1] = 1
    version: str
    at: str
    running: bool
    listen: str
    broker: str | None
    profile: str
    tables: list[str]
    files: list[_StoredFile] = Field(default_factory=list)


class Backup(NamedTuple):
    """An archive that was read, and found sound; the contents of its files are by name."""

    manifest: Manifest
    contents: Mapping[str, bytes]


def write_backup(archive: Path, backup: Backup) -> None:
    """Write an archive that only its owner may read, whole or not at all.

    Raises:
        BackupError: ``backup_exists``, ``backup_unwritable``.
    """
    entry = [
        _StoredFile(name=name, size=len(content), sha256=_digest(content)) for name, content in backup.contents.items()
    ]
    manifest = backup.manifest.model_copy(update={"files": entry})
    files = {MANIFEST: (manifest.model_dump_json(indent=1) + "\n").encode(), **backup.contents}
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(content), 0o600
            tar.addfile(member, io.BytesIO(content))
    try:
        if not create_file(archive, packed.getvalue()):
            raise BackupError("backup_exists", f"{archive} exists already; name another file, or remove it")
    except OSError as error:
        raise _unwritable(error, archive) from None


def read_backup(archive: Path) -> Backup:
    """Read an archive and compare it with its manifest; nothing is unpacked.

    Raises:
        BackupError: ``backup_unreadable``, ``backup_damaged``: it is damaged or something else, ``backup_version``.
    """
    try:
        with tarfile.open(archive, "r:gz") as tar:
            return _read(archive, tar)
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise _damaged(archive, str(error)) from None
    except OSError as error:
        if error.errno is None:  # not of the system: gzip's own
            raise _damaged(archive, str(error)) from None
        raise BackupError("backup_unreadable", f"{archive}: {error.strerror}") from None


def _read(archive: Path, tar: tarfile.TarFile) -> Backup:
    first = tar.next()
    if first is None or first.name != MANIFEST or not first.isreg() or first.size > _MAX_MANIFEST_BYTES:
        raise _damaged(archive, f"it does not begin with {MANIFEST}")
    manifest = _manifest(archive, _content(tar, first))
    contents: dict[str, bytes] = {}
    for entry in manifest.files:
        member = tar.next()
        if (
            member is None
            or member.name != entry.name
            or not member.isreg()
            or entry.name not in _NAMES - set(contents)
        ):
            raise _damaged(archive, f"{entry.name!r} of the manifest is not the next file")
        begins, most = _FORMS[entry.name]
        if _content(tar, member, len(begins)) != begins or member.size > most:
            raise _damaged(archive, f"its {entry.name} of {member.size} bytes cannot be one")
        if member.size != entry.size or _digest(content := _content(tar, member)) != entry.sha256:
            raise _damaged(archive, f"{entry.name} does not match the manifest")
        contents[entry.name] = content
    if (more := tar.next()) is not None:
        raise _damaged(archive, f"{more.name!r} is not in the manifest")
    return Backup(manifest, contents)


def _manifest(archive: Path, text: bytes) -> Manifest:
    try:
        form = json.loads(text).get("backup")
        if isinstance(form, int) and form > FORM:
            raise BackupError(
                "backup_version", f"{archive} has form {form}, of a later version of Salvo; restore it with that one"
            )
        return Manifest.model_validate_json(text)
    except (ValueError, AttributeError) as error:  # neither UTF-8, nor JSON, nor an object, nor a manifest
        why = error.errors(include_url=False)[0]["msg"] if isinstance(error, ValidationError) else str(error)
        raise _damaged(archive, f"{MANIFEST}: {why}") from None


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo, most: int = -1) -> bytes:
    file = tar.extractfile(member)
    assert file is not None  # it is a regular file
    return file.read(most)


def restore(contents: Mapping[str, bytes], places: Mapping[str, Path], *, force: bool) -> None:
    """Put files where they belong, all of them or none.

    Args:
        places: where each file belongs, by its name.
        force: whether to replace what is there.

    Raises:
        BackupError: ``restore_exists``, ``backup_unwritable``.
        JournalError: ``journal_in_use``, ``journal_unreachable``.
    """
    beside = [Path(f"{places[JOURNAL]}{suffix}") for suffix in _BESIDE_JOURNAL if JOURNAL in contents]
    wanted = {places[name]: content for name, content in contents.items()}
    there = [str(path) for path in (*wanted, *beside) if os.path.lexists(path)]
    if there and not force:
        raise BackupError(
            "restore_exists", f"{', '.join(there)}: exists already; move it away, or replace it with --force"
        )
    try:
        with contextlib.ExitStack() as held:
            for path in wanted:
                private_folder(path.parent)
            if JOURNAL in contents:
                held.callback(lock_file(places[JOURNAL]).release)
            replace_files(wanted, beside)
    except OSError as error:
        raise _unwritable(error, error.filename or "what is restored") from None


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _unwritable(error: OSError, path: object) -> BackupError:
    return BackupError("backup_unwritable", f"{path}: {error.strerror}; nothing was written")


def _damaged(archive: Path, why: str) -> BackupError:
    return BackupError("backup_damaged", f"{archive} is not a backup, or is damaged: {why}")
