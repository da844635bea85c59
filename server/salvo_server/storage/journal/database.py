"""The journal in a database, through SQLAlchemy: SQLite in a file, or PostgreSQL by its URL."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import sqlite3
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from salvo import messages as m
from salvo.codec.announcements import EVENING
from salvo.codec.steps import line_codec
from salvo.errors import MissingExtra, WireError
from salvo.net.addresses import MAX_PORT, check_host
from salvo.system.user_folders import private_folder
from salvo_game.journal_interface import (
    MAX_RECENT,
    Batch,
    BurnedMessage,
    EveningChanged,
    GameClosed,
    GameConcluded,
    GameFiled,
    GameOpened,
    Holding,
    Journal,
    JournalError,
    JournalProgress,
    JournalReader,
    JournalUnavailable,
    KeyLearned,
    Record,
    Result,
    ResultAnnulled,
    Saved,
    SavedGame,
    SavedTeam,
    StepTaken,
    TeamAdmitted,
    when,
)
from salvo_server.storage.journal.losses import COPY, CUT, LogIndex, boot_id, why_behind
from salvo_server.storage.vault import Vault

try:
    import sqlalchemy as sql
    from sqlalchemy.exc import DBAPIError, IntegrityError, NoSuchModuleError

    from salvo_server.storage.journal.locks import (
        BEAT_SECONDS,
        KEEP_ALIVE,
        SERVER_KEEP_ALIVE,
        DatabaseLocks,
        FileLocks,
        Locks,
        in_use,
    )
    from salvo_server.storage.journal.schema import (
        HEAD,
        MIGRATIONS,
        VERSION_TABLE,
        filed,
        games,
        keys,
        progress,
        results,
        steps,
        teams,
    )
except ModuleNotFoundError:
    raise MissingExtra("the journal", "server") from None

log = logging.getLogger(__name__)

#: How many games a query asks for by their ids: SQLite takes 32,766 parameters, PostgreSQL 65,535.
_GAMES_A_QUERY: Final = 10_000
_NEW_ONE: Final = "restore it from a copy, or move it away to begin a new one"


class DatabaseJournal(Journal):
    """A journal in a database, which has one owner at a time.

    Each owner raises the journal's epoch, and every commit asks for it: an owner whose epoch is over writes nothing,
    whatever became of its lock. On PostgreSQL a thread lets the owner be heard while nothing is written.

    Attributes:
        name: where it is, without any password.
        pepper: makes the teams' credentials.
        epoch: this owner's.
    """

    def __init__(
        self,
        where: str,
        *,
        key_file: Path | None = None,
        power_safe: bool = True,
        standby: Callable[[], bool] | None = None,
    ) -> None:
        """Open a journal, or begin one.

        Args:
            where: a file's path, or ``postgresql://USER@HOST/DATABASE``.
            key_file: where the key to the teams' secrets is; next to the file by default.
            power_safe: whether a commit survives a loss of power, or only that of the process.
            standby: called again and again as long as another server has the journal, and waits a moment each time;
                whether this server could take over now. Without it, another owner is an error.

        Raises:
            JournalError: ``journal_in_use``, ``journal_corrupt``, ``journal_version``, ``journal_key`` or
                ``journal_unreachable``.
            MissingExtra: PostgreSQL's driver is not installed.
        """
        self._url = _database_url(where)
        self.name = self._url.render_as_string(hide_password=True) if self._server else str(self._url.database)
        self._standby = standby
        self._holding = Holding(standby=standby is not None)
        self._lost: JournalError | None = None
        self._using = threading.RLock()  # the connection
        self._closing = threading.Event()
        self._beats: threading.Thread | None = None
        self._locks: Locks | None = None
        self._cut = False
        self._after_connections = contextlib.ExitStack()
        self._last_step = 0  # of this server that the database has confirmed
        self._files: dict[str, tuple[int, int] | None] = {}  # what this server writes to, by name
        self._power_safe = power_safe
        self._engine = _make_engine(self._url, power_safe)
        try:
            with explained(self.name):
                self._open_alone()
                self.vault = self._open_vault(key_file or _key_file(self._url))
                self.epoch = self._take_over()
        except BaseException:
            self.close()
            raise
        self.pepper: bytes | None = self.vault.derive("credentials")
        if self._server:
            self._beats = threading.Thread(target=self._beat, name="journal", daemon=True)
            self._beats.start()

    @property
    def _server(self) -> bool:
        return self._url.get_backend_name() != "sqlite"

    def _open_alone(self) -> None:
        """Make sure that there is no other writer, that the file is sound and that its schema is today's."""
        if self._server:
            self._connection = self._engine.connect()
            self._locks = DatabaseLocks(self._connection)
            self._lock()
        else:
            path = Path(self.name)
            _make_folder(path)
            self._locks = FileLocks(path)
            self._lock()
            before = LogIndex.of(path, self._after_connections)
            self._connection = self._engine.connect()
            report = self._connection.scalar(sql.text("PRAGMA quick_check(1)"))
            if report != "ok":
                raise JournalError("journal_corrupt", f"{self.name}: {report}; {_NEW_ONE}")
            self._cut = before.is_cut(LogIndex.of(path, self._after_connections))
        self._connection.commit()
        migrate(self._connection, self.name)
        self._present = self._find_present()

    def _find_present(self) -> str | None:
        """Return with whose end a commit may be lost that is not safe against a loss of power."""
        if not self._server:
            return boot_id()
        started = self._connection.scalar(sql.text("SELECT pg_postmaster_start_time()"))
        self._connection.commit()
        return None if started is None else str(started.timestamp())

    def _open_vault(self, key_file: Path) -> Vault:
        """Return what opens the secrets in the journal; a key that opens none of them, or is lost, takes nothing over.

        Raises:
            JournalError: ``journal_key``.
        """
        sealed = self._connection.execute(sql.select(teams.c.name, teams.c.secret).limit(1)).first()
        self._connection.commit()
        if sealed is not None and not key_file.exists():
            text = f"{key_file} is gone, and the secrets in {self.name} open with nothing else: restore it from a copy"
            raise JournalError("journal_key", f"{text}, or begin a new journal with --journal FILE")
        vault = Vault.at(key_file, "journal", JournalError)
        if sealed is not None:
            vault.open(sealed.secret, f"the secret of team {sealed.name} in {self.name}")
        return vault

    def _take_over(self) -> int:
        """Begin this owner's epoch, and return it."""
        with self._connection.begin():
            self._connection.execute(_NEXT_EPOCH)
            if self._cut:  # known only now, and to be known until a server begins what follows from it
                self._connection.execute(sql.update(progress).values(relied_on=CUT))
            epoch = int(self._connection.execute(_EPOCH).scalar_one())
        if not self._server:
            self._files = {path: _inode(path) for path in (self.name, f"{self.name}-wal")}
        return epoch

    def _lock(self) -> None:
        """Keep every other server out; a standby waits until it can."""
        assert self._locks is not None
        if self._standby is None:
            if not self._locks.take():
                raise in_use(self.name)
            return
        while not ((ready := self._standby()) and self._locks.take()):
            self._locks.stand_by(ready)
        self._locks.stand_by(False)

    # --- its owner ------------------------------------------------------------------------------------------------

    def confirm(self, *, fresh: bool) -> Holding:
        """Return whether the journal is still this server's; see :class:`.Journal`."""
        if self._lost is not None:
            raise self._lost
        return self._ask() if fresh else self._holding

    def _ask(self) -> Holding:
        with self._using:
            for _ in range(2):  # the first may be what finds out that the connection is gone
                try:
                    self._revive()
                    with self._connection.begin():
                        self._check_epoch()
                        assert self._locks is not None
                        self._holding = Holding(standby=self._locks.has_standby())
                    return self._holding
                except (JournalUnavailable, DBAPIError) as error:
                    log.debug("%s", error)
            return Holding(sure=False, standby=self._holding.standby or self._standby is not None)

    def _beat(self) -> None:
        """Keep the lock of a server that writes nothing, and notice when it is gone; the loop says so."""
        while self._lost is None and not self._closing.wait(BEAT_SECONDS):
            try:
                self._ask()
            except JournalError as error:
                self._lost = error

    def _revive(self) -> None:
        """Connect again if the connection is gone, as the same owner.

        Raises:
            JournalUnavailable: ``journal_away``: the database keeps the lock of the connection that is gone.
            JournalError: ``taken_over``.
        """
        if not (self._connection.closed or self._connection.invalidated):
            return
        self._connection.close()
        self._connection = self._engine.connect()
        if not self._server:
            return
        try:
            self._locks = DatabaseLocks(self._connection)
            owned = self._locks.take()
            with self._connection.begin():
                self._check_epoch()
            self._check_last_step()
            if not owned:
                raise JournalUnavailable("journal_away", f"{self.name}: its lock is not free yet")
            self._locks.lease()
        except BaseException:
            self._connection.close()
            raise

    def check(self) -> None:
        """See :class:`salvo_game.journal_interface.Journal`."""
        for path, inode in self._files.items():
            if _inode(path) != inode:
                text = f"{path} was removed or replaced while this server writes to it: put it back, or end the server"
                raise JournalUnavailable("journal_gone", text)

    def _check_epoch(self) -> None:
        if self._connection.execute(_EPOCH).scalar_one() != self.epoch:
            raise _taken_over(self.name)

    def _check_last_step(self) -> None:
        """Make sure that a database that has started again has what it confirmed (``synchronous_commit = off``)."""
        last = self._find_last_step()
        self._connection.commit()
        if last < self._last_step:
            text = f"{self.name} has lost its last {self._last_step - last} steps; start the server again"
            raise JournalError("journal_corrupt", f"{text}, which gives up the games in play")
        self._present = self._find_present()

    # --- writing --------------------------------------------------------------------------------------------------

    def commit(self, batch: Batch) -> None:
        """Make a batch durable, all of it or nothing; see :class:`salvo_game.journal_interface.Journal`."""
        with self._using:
            self.check()
            try:
                self._revive()
                with self._connection.begin():
                    self._write(batch)
                taken = (record.id for record in batch if isinstance(record, StepTaken))
                self._last_step = max([self._last_step, *taken])
            except IntegrityError as error:
                if self._has(batch):
                    return  # committed before, and only the answer was lost
                raise JournalError(
                    "journal_in_use",
                    f"{self.name}: another program has written to it: {error.orig}; end the other server",
                ) from None
            except DBAPIError as error:
                raise explain(error, self.name) from None

    def _write(self, batch: Batch) -> None:
        records: dict[type[Record], list[Record]] = defaultdict(list)
        for record in batch:
            records[type(record)].append(record)
        # First, for it keeps the row until the commit: the next owner's new epoch waits for that.
        come = next((record for record in batch if isinstance(record, JournalProgress)), JournalProgress())
        relied_on = None if self._power_safe else self._present
        if self._execute(_UPDATE_PROGRESS, (*come, relied_on, self.epoch)).rowcount != 1:
            raise _taken_over(self.name)
        for kind, statement, row in _WRITTEN:
            if kind in records:
                self._execute_all(statement, [row(record, self.vault.seal) for record in records[kind]])
        for record in records[GameFiled]:
            assert isinstance(record, GameFiled)
            self._file(record)

    def _file(self, game: GameFiled) -> None:
        """Keep of a game's steps what they have burned; of a game that is filed, there are none."""
        taken = self._execute(_STEPS_TO_FILE, (game.game, game.game, game.file is not None, game.game)).all()
        if taken:
            nonces = b"".join(step.nonce for step in taken if step.nonce is not None)
            self._execute(_insert(filed), (*game, len(taken), taken[-1].id, nonces))
            self._execute("DELETE FROM steps WHERE game = ?", (game.game,))

    def _execute_all(self, statement: str, rows: list[tuple[Any, ...]]) -> None:
        """Execute a statement for each row.

        Psycopg sends several rows at once as a pipeline, after which PostgreSQL's timeout for idle transactions does
        not run: a server that froze there would never lose its lock.
        """
        for each in rows if self._server else [rows]:
            self._execute(statement, each)

    def _execute(self, statement: str, rows: tuple[Any, ...] | list[tuple[Any, ...]]) -> sql.CursorResult[Any]:
        """Execute a statement as plain text, which takes a third of the time of a compiled one."""
        return self._connection.exec_driver_sql(statement.replace("?", "%s") if self._server else statement, rows)

    def _has(self, batch: Batch) -> bool:
        """Whether a batch is in the journal already, as it is."""
        scalar = self._connection.scalar
        opened = [game for game in batch if isinstance(game, GameOpened)][-1:]
        taken = [step for step in batch if isinstance(step, StepTaken)][-1:]
        stored = [scalar(sql.select(games.c.header).where(games.c.id == game.id)) == game.header for game in opened]
        stored += [scalar(sql.select(steps.c.check).where(steps.c.id == step.id)) == step.check for step in taken]
        self._connection.commit()
        return bool(stored) and all(stored)

    # --- reading --------------------------------------------------------------------------------------------------

    def load(self) -> Saved:
        """Return what a restart needs; see :class:`salvo_game.journal_interface.Journal`."""
        with self._using, explained(self.name):
            read = self._connection.execute
            latest = sql.select(sql.func.max(games.c.id)).group_by(games.c.table_name)
            opened = [GameOpened(*row) for row in read(sql.select(games).where(games.c.id.in_(latest)))]
            known = sql.select(progress.c.sent_through, progress.c.ended, progress.c.relied_on, progress.c.evening)
            sent_through, ended, relied_on, evening = read(known).one()
            unsent = sql.select(steps.c.game).where(steps.c.id > sent_through)
            former = sql.select(games).where(games.c.id.in_(unsent), games.c.id.not_in(latest)).order_by(games.c.id)
            before = self._games([GameOpened(*row) for row in read(former)])
            saved = Saved(
                games=self._games(opened),
                last_game=read(sql.select(sql.func.max(games.c.id))).scalar() or 0,
                last_step=self._find_last_step(),
                sent_through=sent_through,
                ended=ended,
                burned=reversed([BurnedMessage(*row) for row in read(_RECENT)]),
                former=[game._replace(next_game=_next(self._connection, game.opened)) for game in before],
                behind=why_behind(relied_on, self._present, ended=ended),
                evening=evening,
                burned_before=[b"".join(read(_NONCES).scalars()), *read(sql.select(filed.c.nonces)).scalars()],
            )
            self._connection.commit()
            assert self._locks is not None
            self._locks.lease()  # not before: to read a long journal may take longer
            return saved

    def _find_last_step(self) -> int:
        """Return the highest id of a step that is or was stored; 0 if there is none."""
        last = (self._connection.scalar(sql.select(sql.func.max(each))) for each in (steps.c.id, filed.c.last_step))
        return max(each or 0 for each in last)

    def _games(self, opened: Sequence[GameOpened]) -> list[SavedGame]:
        taken: dict[int, list[StepTaken]] = defaultdict(list)
        sealed: dict[int, list[SavedTeam]] = defaultdict(list)
        for first in range(0, len(opened), _GAMES_A_QUERY):
            ids = [game.id for game in opened[first : first + _GAMES_A_QUERY]]
            for row in self._connection.execute(sql.select(steps).where(steps.c.game.in_(ids)).order_by(steps.c.id)):
                proof = None if row.nonce is None else BurnedMessage(row.nonce, row.message)
                taken[row.game].append(StepTaken(row.id, row.game, row.at, row.input, row.check, proof))
            for game, team in self._teams(ids):
                sealed[game].append(team)
        return [SavedGame(game, taken[game.id], sealed[game.id]) for game in opened]

    def _teams(self, ids: Sequence[int]) -> Iterator[tuple[int, SavedTeam]]:
        known: dict[tuple[int, str], list[tuple[bytes, bytes]]] = defaultdict(list)
        where = "the key of team {} in " + self.name
        for row in self._connection.execute(sql.select(keys).where(keys.c.game.in_(ids))):
            known[row.game, row.name].append((row.salt, self.vault.open(row.key, where.format(row.name))))
        where = "the secret of team {} in " + self.name
        for row in self._connection.execute(sql.select(teams).where(teams.c.game.in_(ids))):
            secret = self.vault.open(row.secret, where.format(row.name)).decode()
            yield row.game, SavedTeam(row.name, secret, known[row.game, row.name])

    def results(self) -> list[Result]:
        """Return all results; see :class:`salvo_game.journal_interface.Journal`."""
        with self._using, explained(self.name):
            found = _results(self._connection, self.name)
            self._connection.commit()
            return found

    # --- its end and its errors -----------------------------------------------------------------------------------

    def close(self) -> None:
        """Close the database and let the next server have it."""
        self._closing.set()
        if self._beats is not None:
            self._beats.join()
        if hasattr(self, "_connection"):
            self._connection.close()
        self._engine.dispose()
        self._after_connections.close()
        if self._locks is not None:
            self._locks.release()


class DatabaseReader(JournalReader):
    """The games of a journal, read while a server may be writing it; secrets stay sealed.

    Every query has its own connection, so nothing is left open for the caller to close.
    """

    def __init__(self, where: str) -> None:
        """Open a journal for reading.

        Raises:
            JournalError: ``journal_missing``, or the codes of :class:`DatabaseJournal`.
        """
        url = _database_url(where)
        self.name = url.render_as_string(hide_password=True)
        if url.get_backend_name() == "sqlite":
            self.name = str(url.database)
            if not Path(self.name).is_file():
                raise JournalError("journal_missing", f"no journal at {self.name}")
        self._engine = _make_engine(url, power_safe=False, poolclass=sql.NullPool)
        with explained(self.name), self._engine.connect() as connection:
            if (_version(connection) or HEAD) > HEAD:
                raise _later(self.name)

    def games(self) -> list[tuple[GameOpened, int]]:
        """Return every game with the number of its steps, the oldest first.

        A lobby in which nothing had happened when its server was killed is opened again, with a record of its own; the
        former one is not a game, and neither is a lobby that is filed.
        """
        counted = sql.select(steps.c.game, sql.func.count().label("steps")).group_by(steps.c.game).subquery()
        known = sql.func.coalesce(counted.c.steps, filed.c.steps).label("steps")
        query = sql.select(games, known).outerjoin(counted, counted.c.game == games.c.id).outerjoin(filed)
        query = query.where(filed.c.game.is_(None) | filed.c.file.is_not(None))
        with explained(self.name), self._engine.connect() as connection:
            rows = connection.execute(query.order_by(games.c.id)).all()
        latest = {(row.table_name, row.number): row.id for row in rows}
        return [
            (GameOpened(*row[:5]), row.steps or 0)
            for row in rows
            if row.steps or latest[row.table_name, row.number] == row.id
        ]

    def results(self) -> list[Result]:
        """Return all results, in their order."""
        with explained(self.name), self._engine.connect() as connection:
            return _results(connection, self.name)

    def steps(self, game: GameOpened) -> list[StepTaken]:
        """Return the steps of a game."""
        with explained(self.name), self._engine.connect() as connection:
            rows = connection.execute(sql.select(steps).where(steps.c.game == game.id).order_by(steps.c.id)).all()
        return [StepTaken(row.id, row.game, row.at, row.input, row.check) for row in rows]

    def files(self) -> dict[int, Path]:
        """Return the transcripts of the games that are filed, by the game's ``id``."""
        with explained(self.name), self._engine.connect() as connection:
            rows = connection.execute(sql.select(filed.c.game, filed.c.file).where(filed.c.file.is_not(None)))
            return {row.game: Path(row.file) for row in rows}

    def saved(self, game: GameOpened) -> SavedGame:
        """Return a game as it can be executed again, without steps if it is filed."""
        taken = self.steps(game)  # first: a server that runs may forget the game between the two
        with explained(self.name), self._engine.connect() as connection:
            return SavedGame(game, taken, (), _next(connection, game))

    def evening(self) -> m.EveningShown:
        """Return what is on, and the badges of the teams that were listed."""
        with explained(self.name), self._engine.connect() as connection:
            evening = connection.execute(sql.select(progress.c.evening)).scalar()
        try:
            return EVENING.read(evening.encode()) if evening else m.EveningShown()
        except WireError as error:
            raise JournalError("journal_corrupt", f"{self.name}: what is on: {error}; {_NEW_ONE}") from None


def _next(connection: sql.Connection, game: GameOpened) -> GameOpened | None:
    """Return the next game of the same table."""
    later = sql.select(games).where(games.c.table_name == game.table, games.c.id > game.id)
    row = connection.execute(later.order_by(games.c.id).limit(1)).first()
    return None if row is None else GameOpened(*row)


def journal_files(where: str) -> tuple[Path | None, Path]:
    """Return the file of a journal, None if it is on a database server, and where its key is by default.

    Raises:
        JournalError: ``bad_journal``.
    """
    url = _database_url(where)
    return None if url.get_backend_name() != "sqlite" else Path(str(url.database)), _key_file(url)


def copy_journal(path: Path) -> tuple[bytes, bool]:
    """Return a consistent copy of a journal's file, and whether a server was writing it, which is not held up.

    A running server goes on behind the copy's back and signs more than the copy knows. So the copy is marked as one, of
    a server that has ended: only ``--resume always`` takes up its games, which may contradict what teams have heard.

    Raises:
        JournalError: ``journal_missing``, ``journal_unreachable`` or ``journal_corrupt``; ``journal_full`` if another
            program keeps the file locked.
    """
    if not path.is_file():
        raise JournalError(
            "journal_missing", f"no journal at {path}; name it with --journal FILE, or the settings with --config FILE"
        )
    locks = FileLocks(path)
    running = not locks.take()
    locks.release()
    try:
        with (
            contextlib.ExitStack() as after_connections,
            contextlib.closing(sqlite3.connect(path)) as source,
            contextlib.closing(sqlite3.connect(":memory:")) as copy,
        ):
            before = LogIndex.of(path, after_connections)  # SQLite opens its files with its first statement
            source.backup(copy)
            [report] = copy.execute("PRAGMA quick_check(1)").fetchone()
            if report != "ok":
                raise JournalError("journal_corrupt", f"{path}: {report}; {_NEW_ONE}")
            copy.execute("UPDATE progress SET ended = ended OR ?", [running])
            cut = not running and before.is_cut(LogIndex.of(path, after_connections))
            lacks = COPY if running else CUT if cut else None
            # All that was committed on this boot is in the copy, which needs no boot any more.
            copy.execute("UPDATE progress SET relied_on = nullif(coalesce(?, relied_on), ?)", [lacks, boot_id()])
            copy.commit()
            return copy.serialize(), running
    except sqlite3.Error as error:
        raise _explain_sqlite(error, str(path)) from None


def migrate(connection: sql.Connection, name: str) -> None:
    """Bring the schema to this version's.

    Raises:
        JournalError: ``journal_version`` when a later version has written it.
    """
    if _version(connection) == HEAD:
        return
    # Only now: it takes longer to import than all the rest of a restart.
    import alembic.command
    import alembic.config
    import alembic.util

    config = alembic.config.Config()
    config.set_main_option("script_location", MIGRATIONS)
    config.attributes["connection"] = connection
    if connection.dialect.name == "sqlite":  # whose driver begins nothing by itself before tables are made
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    try:
        alembic.command.upgrade(config, "head")
    except alembic.util.CommandError:
        raise _later(name) from None
    connection.commit()


def _version(connection: sql.Connection) -> str | None:
    """Return the version of the schema, which are in order as text; None before there is any."""
    if not sql.inspect(connection).has_table(VERSION_TABLE):
        return None
    found: str | None = connection.scalar(sql.text(f"SELECT version_num FROM {VERSION_TABLE}"))
    return found


def _later(name: str) -> JournalError:
    text = f"{name} was written by a later version of Salvo; use that one, or {_NEW_ONE}"
    return JournalError("journal_version", text)


def _results(connection: sql.Connection, name: str) -> list[Result]:
    found = []
    for game, *row in connection.execute(sql.select(results)):
        table, number, at, rules, players, *rest = row
        try:
            found.append(Result(table, number, at, rules, _PLAYERS.read(players.encode()), *rest))
        except WireError as error:
            raise JournalError("journal_corrupt", f"{name}: the result of record {game}: {error}; {_NEW_ONE}") from None
    return sorted(found, key=when)


#: The players of a result, as JSON.
_PLAYERS: Final = line_codec(tuple[m.PlayerStats, ...])


def _insert(table: sql.Table) -> str:
    columns = ", ".join(f'"{name}"' for name in table.columns.keys())  # noqa: SIM118
    return f"INSERT INTO {table.name} ({columns}) VALUES ({', '.join('?' * len(table.columns))})"


def _result_row(ended: GameConcluded, seal: _Seal) -> tuple[Any, ...]:
    table, number, at, rules, players, *rest = ended.result
    return (ended.id, table, number, at, rules, _PLAYERS.write(players).decode(), *rest)


_Seal = Callable[[bytes], bytes]

#: What is executed for the records of each type, and with which values. A batch is written type by type, in this order,
#: as if everything in a game came after its opening and before its end.
_WRITTEN: Final[tuple[tuple[type[Record], str, Callable[[Any, _Seal], tuple[Any, ...]]], ...]] = (
    (GameOpened, _insert(games), lambda game, seal: game),
    (StepTaken, _insert(steps), lambda step, seal: (*step[:5], *(step.proof or (None, None)))),
    (TeamAdmitted, "DELETE FROM keys WHERE game = ? AND name = ?", lambda team, seal: team[:2]),
    (
        TeamAdmitted,
        f"{_insert(teams)} ON CONFLICT (game, name) DO UPDATE SET secret = excluded.secret",
        lambda team, seal: (*team[:2], seal(team.secret.encode())),
    ),
    (KeyLearned, _insert(keys), lambda learned, seal: (*learned[:3], seal(learned.key))),
    (GameClosed, "DELETE FROM keys WHERE game = ?", lambda closed, seal: closed),
    (GameClosed, "DELETE FROM teams WHERE game = ?", lambda closed, seal: closed),
    (GameConcluded, _insert(results), _result_row),
    (
        ResultAnnulled,
        "UPDATE results SET annulled_at = ?, annulled_by = ? "
        "WHERE table_name = ? AND number = ? AND at <= ? AND annulled_at IS NULL",
        lambda annulled, seal: (annulled.at, annulled.by, annulled.table, annulled.number, annulled.at),
    ),
    (EveningChanged, "UPDATE progress SET evening = ?", lambda changed, seal: changed),
)
#: The steps of a game that is over, or that has no result, if the broker has received the last one.
_STEPS_TO_FILE: Final = (
    "SELECT id, nonce FROM steps WHERE game = ? AND EXISTS (SELECT game FROM results WHERE game = ?) = ? AND "
    "(SELECT sent_through FROM progress) >= (SELECT max(id) FROM steps WHERE game = ?) ORDER BY id"
)
_UPDATE_PROGRESS: Final = (
    "UPDATE progress SET sent_through = coalesce(?, sent_through), ended = coalesce(?, ended), relied_on = ? "
    "WHERE epoch = ?"
)
_NEXT_EPOCH = sql.update(progress).values(epoch=progress.c.epoch + 1)
_EPOCH = sql.select(progress.c.epoch)
_NONCES = sql.select(steps.c.nonce).where(steps.c.nonce.is_not(None))
_RECENT = _NONCES.add_columns(steps.c.message).order_by(steps.c.id.desc()).limit(MAX_RECENT)


def _inode(path: str) -> tuple[int, int] | None:
    """Return what a file is, whatever it is called; None if there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _database_url(where: str) -> sql.URL:
    # Locks, key and SQLite's own files are beside the file itself, whatever leads to it.
    # No message repeats what was given, which may have a password in it, and no file is named after it.
    if "://" not in where and not where.startswith(("postgres:", "postgresql:", "postgresql+")):
        return sql.URL.create("sqlite", database=os.path.realpath(where) if os.path.islink(where) else where)
    try:
        url = sql.make_url(where)
    except (sql.exc.ArgumentError, ValueError):
        text = "an address that cannot be read: a journal is a file's path or postgresql://USER@HOST:PORT/DATABASE"
        raise JournalError("bad_journal", text) from None
    if url.drivername == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() not in ("sqlite", "postgresql"):
        raise JournalError("bad_journal", f"{url.drivername}: a journal is a file's path or postgresql://HOST/DATABASE")
    if url.port is not None and not 0 < url.port <= MAX_PORT:
        raise JournalError("bad_journal", f"the journal's port is {url.port}; a port is 1..{MAX_PORT}")
    try:
        for host in filter(None, (url.host or "").split(",")):
            check_host(host)
    except ValueError as error:
        raise JournalError("bad_journal", f"the journal's address: {error}") from None
    return url


def _make_engine(url: sql.URL, power_safe: bool, poolclass: type[sql.Pool] | None = None) -> sql.Engine:
    try:
        # A database in SQL_ASCII, as initdb makes it without a locale, would answer in bytes.
        server = {"client_encoding": "utf8", **{key: KEEP_ALIVE[key] for key in KEEP_ALIVE.keys() - url.query.keys()}}
        given = {} if url.get_backend_name() == "sqlite" else server
        engine = sql.create_engine(url, poolclass=poolclass, connect_args=given)
        if given:
            _bound(engine)
    except NoSuchModuleError as error:
        raise JournalError("bad_journal", str(error)) from None
    except ModuleNotFoundError:
        raise MissingExtra("a journal on PostgreSQL", "postgresql") from None
    if url.get_backend_name() == "sqlite":
        # WAL: readers never wait for the server. NORMAL syncs at checkpoints only, FULL with every commit.
        pragmas = ("journal_mode = WAL", f"synchronous = {'FULL' if power_safe else 'NORMAL'}", "busy_timeout = 5000")
        settings = [f"PRAGMA {pragma}" for pragma in pragmas]
    else:
        wanted = {"synchronous_commit": "on" if power_safe else "off", **SERVER_KEEP_ALIVE}
        settings = [f"SET {name} = {value}" for name, value in wanted.items()]

    def prepare(raw: Any, record: Any) -> None:
        cursor = raw.cursor()
        for setting in settings:
            cursor.execute(setting)
        cursor.close()
        raw.commit()

    sql.event.listen(engine, "connect", prepare)
    return engine


def _bound(engine: sql.Engine) -> None:
    """Open connections to PostgreSQL that can limit how long they wait."""
    from salvo_server.storage.journal.bounded_connection import BoundedConnection  # needs the extra

    def connect(dialect: Any, record: Any, words: Any, named: Any) -> BoundedConnection:
        return BoundedConnection.connect(*words, **named)

    sql.event.listen(engine, "do_connect", connect)


def _make_folder(path: Path) -> None:
    try:
        private_folder(path.parent)
        if not path.exists():
            path.touch(mode=0o600)
        if not path.is_file():
            raise OSError(errno.EINVAL, "not a regular file")
    except OSError as error:
        raise JournalError(
            "journal_unreachable", f"{path}: {error.strerror}; name another place with --journal FILE, or none"
        ) from None


def _key_file(url: sql.URL) -> Path:
    if url.get_backend_name() == "sqlite":
        return Path(f"{url.database}.key")
    return Path(f"{url.database}-journal.key")


def _taken_over(name: str) -> JournalError:
    return JournalError(
        "taken_over", f"another server has taken over {name}, and this one has ended; start it again with --standby"
    )


#: How the codes of PostgreSQL begin for what passes: connections, a database that only reads (25006) or has ended a
#: transaction, a deadlock, a lock, an operator who ends something, its files' disk.
_PASSING: Final = ("08", "25", "40", "55", "57", "58")


_NO_RIGHT: Final = "42501"


@contextlib.contextmanager
def explained(name: str) -> Iterator[None]:
    """Turn the database's errors into the journal's."""
    try:
        yield
    except DBAPIError as error:
        raise explain(error, name) from None


def explain(error: DBAPIError, name: str) -> JournalError:
    """Return what a database's error means for a journal."""
    cause = error.orig
    if isinstance(cause, sqlite3.Error):
        return _explain_sqlite(cause, name)
    state = getattr(cause, "sqlstate", None) or ""
    if state.startswith("53"):  # insufficient resources; 53100 is the full disk
        return JournalUnavailable("journal_full", f"{name}: {cause}")
    if error.connection_invalidated or state.startswith(_PASSING) or not state:
        return JournalUnavailable("journal_away", f"{name}: {' '.join(str(cause).split())}")
    if state == _NO_RIGHT:
        return JournalError("journal_unreachable", f"{name}: {cause}; let the URL's user read and write its tables")
    return JournalError("journal_corrupt", f"{name}: {cause}; {_NEW_ONE}")


def _explain_sqlite(cause: sqlite3.Error, name: str) -> JournalError:
    code = getattr(cause, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return JournalUnavailable("journal_full", f"{name}: {cause}")
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return JournalError("journal_unreachable", f"{name}: {cause}; name another place with --journal FILE, or none")
    return JournalError("journal_corrupt", f"{name}: {cause}; {_NEW_ONE}")
