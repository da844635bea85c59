"""A bot in a sandbox: no network, no other process, no file but those of its folder, which it cannot change.

``sandbox:SOURCE`` is a bot's source wherever a command takes one; ``--sandbox`` makes one of all but built-in bots. A
program is started by bubblewrap, in namespaces of its own, and a bot in Python becomes a program for that. Beside its
folder it sees what it needs to run: the system's programs, Python and what is installed for it. It may write to
``/tmp``, which is empty at its start and gone with it. Root, too, has no rights there: they would be enough to make
writable what it sees.

Two things differ where it does not work: something is missing (``sandbox_missing``), or the system forbids it
(``sandbox_forbidden``). No bot is ever played without a sandbox that should have one.
"""

from __future__ import annotations

import platform
import shutil
import site
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from salvo.bots.programs import linux
from salvo.errors import BotError

#: Bytes that a bot may have in ``/tmp``, and in shared memory; both are memory.
_SCRATCH: Final = 64 << 20
_SHARED: Final = 16 << 20
_SYSTEM: Final = ("/usr", "/bin", "/lib", "/lib64", "/etc/alternatives", "/etc/ld.so.cache")
_MACHINES: Final = ("x86_64", "aarch64")
_PATH: Final = "/usr/local/bin:/usr/bin:/bin"


def sandboxed(words: Sequence[str], folder: Path | None) -> list[str]:
    """Return the command that runs another one in a sandbox.

    Args:
        words: of the command; those that are files here are given as absolute paths.
        folder: what it may read, and where it is run; None for nothing.

    Raises:
        BotError: ``sandbox_missing`` or ``sandbox_forbidden``.
    """
    check()
    from salvo.bots.programs import confined

    here = [str(Path(word).absolute()) if Path(word).is_file() else word for word in words]
    limits = map(str, (linux.most_memory(), linux.MOST_IN_A_FILE))
    inside = [sys.executable, "-I", "-S", confined.__file__, *limits, *here]
    own = "/tmp" if folder is None else str(folder.absolute())
    return [*_bubble(_python() if folder is None else [*_python(), own]), "--chdir", own, *inside]


def _bubble(shown: Sequence[str]) -> Iterator[str]:
    """Yield the words of bubblewrap before those of the command."""
    # Bubblewrap itself is a process that the bot sees, with its environment.
    yield from (shutil.which("env") or "env", "-i", shutil.which("bwrap") or "bwrap")
    yield from ("--unshare-all", "--cap-drop", "ALL", "--die-with-parent", "--new-session")
    for name, value in {"PATH": _PATH, "HOME": "/tmp", "LANG": "C.UTF-8"}.items():
        yield from ("--setenv", name, value)
    yield from (
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        "--size",
        str(_SHARED),
        "--tmpfs",
        "/dev/shm",
        "--remount-ro",
        "/dev",
    )
    yield from ("--size", str(_SCRATCH), "--tmpfs", "/tmp")
    for path in (*_SYSTEM, *shown):
        yield from ("--ro-bind-try", path, path)
    yield from ("--remount-ro", "/")


def _python() -> list[str]:
    """Return the folders of this Python, of what is installed for it, and of Salvo where that is none of them."""
    folders = [sys.base_prefix, sys.prefix, str(Path(__file__).parents[3])]
    if site.ENABLE_USER_SITE:
        folders.append(site.getusersitepackages())
    return list(dict.fromkeys(folders))


@cache
def check() -> None:
    """Make a sandbox, to see that it can be done.

    Raises:
        BotError: ``sandbox_missing`` or ``sandbox_forbidden``.
    """
    if sys.platform != "linux" or platform.machine() not in _MACHINES:
        where = f"{sys.platform} on {platform.machine()}"
        fix = "play there without one only what you trust"
        raise BotError("sandbox_missing", f"{where} has no sandbox; Linux on {' or '.join(_MACHINES)} has; {fix}")
    if shutil.which("bwrap") is None:
        fix = "install bubblewrap, such as by apt-get install bubblewrap"
        raise BotError("sandbox_missing", f"no program 'bwrap' that may be executed; {fix}")
    tried = [*_bubble([]), "/usr/bin/env", "true"]
    done = subprocess.run(tried, capture_output=True, check=False)
    if done.returncode:
        why = " ".join(done.stderr.decode(errors="replace").split())[:200] or f"exit code {done.returncode}"
        fix = "allow user namespaces (kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns)"
        raise BotError("sandbox_forbidden", f"bubblewrap may not make one here ({why}); {fix}")
