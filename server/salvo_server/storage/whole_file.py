"""Files that appear whole or not at all, even to a concurrent reader and if the process is killed."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path


def create_private(path: Path, content: bytes, rights: int = 0o600) -> bool:
    """Make a file and its folder, to survive a loss of power; an existing file, of a quicker program, stays.

    Args:
        rights: wider than the owner's, for content that is not secret.

    Returns:
        Whether the file is this one.

    Raises:
        OSError: it cannot be made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with _part(path, content, 0o600, durable=True) as part:
        os.chmod(part, rights)
        try:
            os.link(part, path)
        except FileExistsError:
            return False
        sync_folder(path.parent)
        return True


def replace_file(path: Path, content: bytes, rights: int = 0o666, *, durable: bool = False) -> None:
    """Put new content in the place of a file, or make it.

    Args:
        rights: of the new file, less the umask.
        durable: whether the content is on the disk before it takes the old one's place.

    Raises:
        OSError: it cannot be written; the old file is as it was.
    """
    with _part(path, content, rights, durable=durable) as part:
        part.replace(path)


@contextlib.contextmanager
def _part(path: Path, content: bytes, rights: int, *, durable: bool) -> Iterator[Path]:
    """Write the content to a hidden file next to ``path``; what is left of it at the end is removed."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, rights)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        yield part
    finally:
        part.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Make the names of a folder's files survive a loss of power.

    Raises:
        OSError: the folder cannot be read.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
