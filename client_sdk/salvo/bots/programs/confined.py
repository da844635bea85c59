"""Runs a program that may start no other one: ``python confined.py DATA FILE PROGRAM ARGUMENTS...``.

Within a sandbox it is what becomes the bot: it limits itself, and executes the program in its place. It imports nothing
of Salvo, so that it starts quickly.

DATA and FILE are the bytes of memory that the program may have for itself, and those of a file that it writes.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys
from typing import Final, NamedTuple

try:
    import resource
except ModuleNotFoundError:  # Windows, which has no sandbox either
    resource = None  # type: ignore[assignment]


class Architecture(NamedTuple):
    """Numbers of a processor's system calls.

    Attributes:
        audit: the one of the architecture itself.
        forks: calls that always make a process.
        clone: the one that makes a process or a thread.
    """

    audit: int
    forks: tuple[int, ...]
    clone: int


ARCHITECTURES: Final = {
    "x86_64": Architecture(0xC000003E, (57, 58), 56),
    "aarch64": Architecture(0xC00000B7, (), 220),
}
_CLONE3: Final = 435  # its flags are in memory, where no filter sees them; without it, programs take clone
_CLONE_THREAD: Final = 0x10000
#: From this number on, calls of x86_64 are those of another interface.
_X32: Final = 0x40000000
#: Operations of the filter: load a word, compare, return.
_LOAD, _EQUAL, _AT_LEAST, _HAS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _REFUSE, _IS_MISSING, _KILL = 0x7FFF0000, 0x00050001, 0x00050026, 0x80000000  # with EPERM and ENOSYS
_NUMBER, _AUDIT, _FLAGS = 0, 4, 16
_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _FILTER = 22, 38, 2


def filter_of(machine: Architecture) -> bytes:
    """Return the filter that lets a program make threads, and no process."""
    forks = [(_EQUAL, number) for number in machine.forks]
    tests = [(_AT_LEAST, _X32), *forks]  # refused
    program = [(_LOAD, 0, 0, _AUDIT), (_EQUAL, 1, 0, machine.audit), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, _NUMBER)]
    for code, value in tests:
        program += [(code, 0, 1, value), (_RETURN, 0, 0, _REFUSE)]
    program += [(_EQUAL, 0, 1, _CLONE3), (_RETURN, 0, 0, _IS_MISSING)]
    program += [(_EQUAL, 1, 0, machine.clone), (_RETURN, 0, 0, _ALLOW)]
    program += [(_LOAD, 0, 0, _FLAGS), (_HAS, 1, 0, _CLONE_THREAD), (_RETURN, 0, 0, _REFUSE), (_RETURN, 0, 0, _ALLOW)]
    return b"".join(struct.pack("=HBBI", *line) for line in program)


def forbid_processes() -> None:
    """Let this process, and the program that it becomes, start no other one.

    Raises:
        OSError: the kernel has no filters.
    """
    code = ctypes.create_string_buffer(filter_of(ARCHITECTURES[platform.machine()]))
    whole = ctypes.create_string_buffer(struct.pack("@HP", (len(code) - 1) // 8, ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    wanted: tuple[tuple[int, int, object], ...] = (
        (_PR_SET_NO_NEW_PRIVS, 1, 0),
        (_PR_SET_SECCOMP, _FILTER, ctypes.byref(whole)),
    )
    for option, value, more in wanted:
        if libc.prctl(option, value, more, 0, 0):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def main() -> None:
    """Execute the program that the arguments name."""
    data, file, *words = sys.argv[1:]
    for what, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_DATA, int(data)),
        (resource.RLIMIT_FSIZE, int(file)),
    ):
        hard = resource.getrlimit(what)[1]
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (least, least))
    forbid_processes()
    os.execvp(words[0], words)


if __name__ == "__main__":
    main()
