"""Who may write to a journal, and who waits to: locks of and beside the file, or an advisory lock of the database.

All are let go by the system when its process ends, however that ends. PostgreSQL also lets go of one whose host is
gone or frozen: the connection ends by itself when nothing comes from there for :data:`LEASE_SECONDS`.
"""

from __future__ import annotations

import contextlib
import errno
import os
import struct
from pathlib import Path
from typing import Any, Final, Protocol

import filelock
import sqlalchemy as sql

from salvo_game.journal_interface import JournalError

try:
    import fcntl
except ModuleNotFoundError:  # this system has no such locks
    fcntl = None  # type: ignore[assignment]

#: How long PostgreSQL keeps the lock of a server that it hears nothing of, and how long either waits for an answer.
LEASE_SECONDS: Final = 2.5
#: How often the owner lets itself be heard.
BEAT_SECONDS: Final = 0.5
#: Since this version PostgreSQL ends sessions that are silent.
_ENDS_SILENT_SESSIONS: Final = (14,)
#: Marks our advisory lock on a PostgreSQL server. The next number is a standby's.
_OWNER: Final = int.from_bytes(b"salv")
_STANDBY: Final = _OWNER + 1
_STANDBY_SUFFIX: Final = "standby.lock"
#: The byte of a journal's file that its owner locks: none that SQLite locks, or that will ever be there.
_LOCKED_BYTE: Final = 1 << 62
#: Where the system's ``struct flock`` is laid out as it is packed here.
_POINTER_BYTES: Final = 8

_LEASE_MS: Final = round(1000 * LEASE_SECONDS)
#: libpq's, for the client's side of the connection; what the journal's URL says comes before.
KEEP_ALIVE: Final = {
    "connect_timeout": 5,
    "keepalives_idle": 1,
    "keepalives_interval": 1,
    "keepalives_count": 2,
    "tcp_user_timeout": _LEASE_MS,
}
#: The same for the database's side.
SERVER_KEEP_ALIVE: Final = {
    "tcp_keepalives_idle": 1,
    "tcp_keepalives_interval": 1,
    "tcp_keepalives_count": 2,
    "tcp_user_timeout": _LEASE_MS,
}


class Locks(Protocol):
    """The owner's lock, and the standby's, by which the owner knows that one is ready."""

    def take(self) -> bool:
        """Take the owner's lock; False while another server has it."""

    def stand_by(self, ready: bool) -> None:
        """Let the owner know whether this server could take over now; it may take another call until it is known."""

    def has_standby(self) -> bool:
        """Whether another server could take over now."""

    def lease(self) -> None:
        """Keep the owner's lock only as long as the database hears of this server from now on."""

    def release(self) -> None:
        """Let go of everything."""


class FileLocks:
    """Locks of a journal's file and beside it, for servers of one machine.

    Those beside it go by its name, and there need be no file yet. The one of the file itself keeps out a server that
    reaches it by another name.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._held: dict[str, filelock.BaseFileLock] = {}
        self._file: int | None = None

    def take(self) -> bool:
        """See :class:`Locks`.

        Raises:
            JournalError: ``journal_unreachable``.
        """
        if not self._hold("lock"):
            return False
        if self._file is None and not self._hold_file():
            self._free("lock")
            return False
        return True

    def _hold_file(self) -> bool:
        """Lock the file whatever it is called; True also where that cannot be done.

        The lock is not one of the process, of which SQLite's would be a part: those end when the process closes any
        descriptor of the file. Closed after SQLite's, this one ends none.
        """
        set_lock = getattr(fcntl, "F_OFD_SETLK", None)
        if set_lock is None or struct.calcsize("P") != _POINTER_BYTES:
            return True
        try:
            self._file = os.open(self._path, os.O_RDWR)
        except OSError:  # SQLite will say why
            return True
        try:
            fcntl.fcntl(self._file, set_lock, struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, _LOCKED_BYTE, 1, 0))
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.EACCES):
                os.close(self._file)
                self._file = None
                return False
        return True

    def stand_by(self, ready: bool) -> None:
        """See :class:`Locks`."""
        if ready:
            self._hold(_STANDBY_SUFFIX)
        else:
            self._free(_STANDBY_SUFFIX)

    def has_standby(self) -> bool:
        """See :class:`Locks`."""
        free = self._hold(_STANDBY_SUFFIX)
        self._free(_STANDBY_SUFFIX)
        return not free

    def lease(self) -> None:
        """See :class:`Locks`; a file's lock is kept even by a frozen process."""

    def release(self) -> None:
        """See :class:`Locks`."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
        for suffix in list(self._held):
            self._free(suffix)

    def _hold(self, suffix: str) -> bool:
        if suffix not in self._held:
            try:
                self._held[suffix] = lock_file(self._path, suffix)
            except JournalError as error:
                if error.code != "journal_in_use":
                    raise
                return False
        return True

    def _free(self, suffix: str) -> None:
        if (held := self._held.pop(suffix, None)) is not None:
            held.release()


def lock_file(path: Path, suffix: str = "lock") -> filelock.BaseFileLock:
    """Keep every other server from a journal's file until the lock is released.

    Raises:
        JournalError: ``journal_in_use``, ``journal_unreachable``.
    """
    lock = filelock.FileLock(f"{path}.{suffix}", mode=0o600, thread_local=False)
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        raise in_use(str(path)) from None
    except OSError as error:
        raise JournalError("journal_unreachable", f"{path}.{suffix}: {error.strerror}") from None
    return lock


def in_use(name: str) -> JournalError:
    """Return what a server is told whose journal has another owner."""
    return JournalError(
        "journal_in_use",
        f"another server is writing to {name}; end it, wait for its end with --standby, or name another journal with "
        "--journal FILE",
    )


class DatabaseLocks:
    """Advisory locks of a PostgreSQL database, which live as long as a connection."""

    def __init__(self, connection: sql.Connection) -> None:
        self._connection = connection
        self._standing_by = False

    def take(self) -> bool:
        """See :class:`Locks`."""
        return self._call("pg_try_advisory_lock", _OWNER)

    def stand_by(self, ready: bool) -> None:
        """See :class:`Locks`."""
        if ready and not self._standing_by:
            self._standing_by = self._call("pg_try_advisory_lock_shared", _STANDBY)
        elif self._standing_by and not ready:
            self._standing_by = not self._call("pg_advisory_unlock_shared", _STANDBY)

    def has_standby(self) -> bool:
        """See :class:`Locks`."""
        return not self._call("pg_try_advisory_xact_lock", _STANDBY)

    def lease(self) -> None:
        """See :class:`Locks`; from now on this server, too, waits for an answer only so long."""
        timeouts = ["idle_in_transaction_session_timeout"]
        if (self._connection.dialect.server_version_info or ()) >= _ENDS_SILENT_SESSIONS:
            timeouts += ["idle_session_timeout", "client_connection_check_interval"]
        for timeout in timeouts:
            self._execute(f"SET {timeout} = {_LEASE_MS}")
        from salvo_server.storage.journal.bounded_connection import ANSWER_SECONDS, BoundedConnection

        link = self._connection.connection.driver_connection
        assert isinstance(link, BoundedConnection)
        link.patience_seconds = ANSWER_SECONDS

    def release(self) -> None:
        """See :class:`Locks`; the connection's end does it."""

    def _call(self, function: str, number: int) -> bool:
        return bool(self._execute(f"SELECT {function}({number})").scalar())

    def _execute(self, statement: str) -> sql.CursorResult[Any]:
        with contextlib.nullcontext() if self._connection.in_transaction() else self._connection.begin():
            return self._connection.exec_driver_sql(statement)
