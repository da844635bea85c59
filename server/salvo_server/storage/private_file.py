"""Files with secrets, and what belongs to them: made once, whole at once, and readable by their owner only."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def create_private(path: Path, content: bytes, rights: int = 0o600) -> bool:
    """Make a file and its folder; a file that is there already, of a program that was quicker, stays.

    Nobody ever reads half of it, and it survives a loss of power.

    Args:
        rights: others than the owner's, for what is no secret.

    Returns:
        Whether the file is this one.

    Raises:
        OSError: it cannot be made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, part = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # with the rights 0600
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(part, rights)
        try:
            os.link(part, path)
        except FileExistsError:
            return False
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
        return True
    finally:
        os.unlink(part)
