"""Atomic writes: a file appears whole or not at all, even to a concurrent reader or if the process is killed.

Whoever writes a file in one piece does it here, and never under the file's own name.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

#: What a file system without hard links, such as that of a memory stick, answers.
_NO_LINKS: Final = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)


def create_file(path: Path, content: bytes, mode: int = 0o600) -> bool:
    """Create a file, and its folder, durably; an existing file is left as it is.

    Args:
        mode: permission bits, less the umask; by default only the owner may read the file.

    Returns:
        Whether the file was created; False if there was one already.

    Raises:
        OSError: it cannot be created.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with _temporary_file(path, content, mode, durable=True) as temporary:
        try:
            os.link(temporary, path)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            if os.path.lexists(path):
                return False
            temporary.replace(path)
        sync_folder(path.parent)
        return True


def replace_file(path: Path, content: bytes, mode: int = 0o666, *, durable: bool = False) -> None:
    """Replace a file's content, or create the file; a device or a pipe, such as /dev/stdout, is written to.

    Args:
        path: a symbolic link stays one, and what it leads to is replaced.
        mode: permission bits of the new file, less the umask.
        durable: whether to flush the new content to the disk before it replaces the old one.

    Raises:
        OSError: it cannot be written; the old file is unchanged.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        path.write_bytes(content)
        return
    path = path.resolve()
    with _temporary_file(path, content, mode, durable=durable) as temporary:
        temporary.replace(path)


def replace_files(contents: Mapping[Path, bytes], gone: Iterable[Path] = ()) -> None:
    """Replace or create several files, only their owner's, durably, once the content of each is on the disk.

    Args:
        gone: files that must not be next to the new ones; they may be missing.

    Raises:
        OSError: one cannot be written, or is a folder; all files are unchanged.
    """
    with contextlib.ExitStack() as written:
        renames = []
        for path, content in contents.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
            renames.append((written.enter_context(_temporary_file(path, content, 0o600, durable=True)), path))
        for path in gone:
            path.unlink(missing_ok=True)
        for temporary, path in renames:
            temporary.replace(path)
    for folder in {path.parent for path in contents}:
        sync_folder(folder)


@contextlib.contextmanager
def _temporary_file(path: Path, content: bytes, mode: int, *, durable: bool) -> Iterator[Path]:
    """Write the content to a hidden file next to ``path``; it is removed at the end if it is still there."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Flush a folder's entries to the disk, so that new and renamed files survive a loss of power.

    Raises:
        OSError: the folder cannot be read.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
