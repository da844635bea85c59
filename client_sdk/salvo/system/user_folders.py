"""The folders of a user's own files, which nobody else may replace."""

from __future__ import annotations

import errno
import logging
import os
import stat
from pathlib import Path
from typing import Final

from salvo.errors import SalvoError

log = logging.getLogger(__name__)

#: What our folder is called in those for configuration, cache and state.
OURS: Final = "salvo"


class NoHome(SalvoError):
    """This user has no home folder: no HOME, and no entry in the user database, as in many containers."""

    def __init__(self, what: str, variables: str) -> None:
        super().__init__("no_home", f"this user has no home folder for {what}: set {variables}")


def user_folder(variable: str, beside: str, what: str) -> Path:
    """Return our folder in the one that an XDG variable names, else in the user's home.

    Args:
        beside: in the home, such as ``.cache``; empty for the home itself.
        what: what is in it.

    Raises:
        NoHome: ``no_home``.
    """
    try:
        return Path(os.environ.get(variable) or Path.home() / beside) / OURS
    except RuntimeError:
        raise NoHome(what, f"HOME or {variable} to a folder") from None


def private_folder(folder: Path) -> None:
    """Make a folder, and those above it, for their owner alone, whatever the umask.

    One that is there may be anyone's to read, but not to write to: who writes to a folder replaces the files in it. It
    is closed with one line where that is up to us.

    Raises:
        OSError: it cannot be made, or not be closed.
    """
    if not folder.is_dir():
        if folder.parent != folder and not folder.parent.exists():
            private_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
    if not hasattr(os, "geteuid"):  # Windows has rights of another kind
        return
    found = folder.stat()
    own = found.st_uid == os.geteuid()
    # Elsewhere a group may be meant to write: an orchestrator gives a volume to the group of the container's user.
    open_to = found.st_mode & (stat.S_IWOTH | (stat.S_IWGRP if own and folder.name == OURS else 0))
    if not open_to or found.st_mode & stat.S_ISVTX:
        return
    if own:
        folder.chmod(stat.S_IMODE(found.st_mode) & ~open_to)
    if not own or folder.stat().st_mode & open_to:
        cure = f"chmod o-w {folder}, or use a folder of its own, such as {folder / OURS}"
        raise PermissionError(errno.EPERM, f"anyone may replace the files in {folder}: {cure}", str(folder))
    log.warning("%s: others could replace the files in it; it is closed to them now", folder)
