"""How SQLite is opened and written, decided once for everybody.

WAL with `synchronous=FULL`, write transactions that start IMMEDIATE, one writer at a time, reads that end at once.  The
library of Debian 12 (3.40.1) lies in the range whose WAL can be reset under a commit: there one lock file, shared by
all processes, is held around every commit and every checkpoint, and SQLite never checkpoints by itself.
See docs/adr/0003-sqlite.md.
"""

import contextlib
import os
import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from girdlebook import files
from girdlebook.errors import LockTimeout, StoreBusy, StoreCorrupt, StoreError, StoreForked, StoreFull
from girdlebook.filesystems import SHARED, type_of

PATIENCE_SECONDS = 30.0
"""How long a write waits for other writers, unless said otherwise."""

CHECKPOINT_EVERY = 500
"""Writes of one connection between two checkpoints, where SQLite does not make them itself."""

_COPIED_PAGES = 2_000
_MANNERS: dict[str, Any] = {"isolation_level": None, "check_same_thread": False, "timeout": 1.0}
_RETRY_SECONDS = (0.02, 0.15)
_WAL_LIMIT_BYTES = 16 * 1024 * 1024

Functions = Mapping[str, tuple[int, Callable[..., Any]]]


def has_wal_reset_fault(version: tuple[int, int, int]) -> bool:
    """Whether this SQLite may lose a commit that races with a checkpoint (fixed in 3.51.3, 3.50.7 and 3.44.6)."""
    if version[:2] in ((3, 50), (3, 44)):
        return version < {(3, 50): (3, 50, 7), (3, 44): (3, 44, 6)}[version[:2]]
    return (3, 7, 0) <= version < (3, 51, 3)


@dataclass(frozen=True, slots=True)
class Schema:
    """What a file of one kind holds.

    Parameters:
        steps: SQL scripts; step N takes the schema from version N to N + 1.
        columns: additive columns by table, as name and SQL type with default; a file without them gets them when it
            is opened, whatever its version says.
        backfills: by table and column, a statement that runs once after a missing column was added.
        functions: SQL functions by name, with their number of arguments; they must be deterministic.
    """

    steps: Sequence[str]
    columns: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    backfills: Mapping[tuple[str, str], str] = field(default_factory=dict)
    functions: Functions = field(default_factory=dict)


class Database:
    """One SQLite file: a connection that writes and one that reads, each used by one thread at a time.

    A file of a newer version is opened for reading only; `read_only` then says why.

    Parameters:
        path: the file; made with mode 0600 in a folder of mode 0700, whatever the umask.
        schema: what the file is to hold.
        patience: seconds that a write waits for other writers.
        filesystem: tells the type of the file system that a path lies on.

    Raises:
        StoreCorrupt: the file is no database, or damaged.
        StoreBusy: another process is opening it and does not finish.
        StoreError: it cannot be opened.
    """

    read_only: str | None
    _writer: sqlite3.Connection | None

    def __init__(
        self,
        path: Path,
        schema: Schema,
        *,
        patience: float = PATIENCE_SECONDS,
        filesystem: Callable[[Path], str | None] = type_of,
    ) -> None:
        self._prepare(path, schema, patience)
        self._is_shared = filesystem(path.parent) in SHARED
        with translated(path), files.lock(path, timeout=patience):
            files.create_private_file(path)
            writer = self._connect()
            version = _version(writer)
            if version > len(schema.steps):
                writer.close()
                self.read_only = _newer(version, len(schema.steps))
                self._reader = self._connect_read_only()
                return
            if 0 < version < len(schema.steps):
                _keep_copy(writer, path, version)
            self._writer = writer
            self._migrate(writer)
            self._reader = self._connect()

    @classmethod
    def open_read_only(cls, path: Path, schema: Schema) -> "Database":
        """Open a file that exists so that no byte of it can change (report CLI-03).

        A file of an older version is read through a copy in memory that is brought up to date (report L2-46).

        Raises:
            StoreCorrupt, StoreError
        """
        database = cls.__new__(cls)
        database._prepare(path, schema, PATIENCE_SECONDS)
        with translated(path):
            reader = database._connect_read_only()
            version = _version(reader)
            database.read_only = "it was opened for reading only"
            if version > len(schema.steps):
                database.read_only = _newer(version, len(schema.steps))
            elif not _is_current(reader, schema):
                reader = database._migrated_copy(reader)
            database._reader = reader
        return database

    def _prepare(self, path: Path, schema: Schema, patience: float) -> None:
        self.path = path
        self.read_only = None
        self._writer = None
        self._schema = schema
        self._patience = patience
        self._is_shared = False
        self._guarded = has_wal_reset_fault(sqlite3.sqlite_version_info)
        self._pid = os.getpid()
        self._write_lock = threading.RLock()
        self._read_lock = threading.Lock()
        self._writes = 0
        self._closed = False

    @contextlib.contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """One write transaction: committed at the end, rolled back by an error.

        Raises:
            StoreBusy: other writers kept it locked until the patience was at its end.
            StoreFull: no space is left.
            StoreForked: this process is a child of the one that opened it.
            StoreError: the file is open for reading only.
        """
        with self._write_lock, translated(self.path), self._commit_guard():
            writer = self._usable_writer()
            with self._transaction(writer):
                yield writer
            self._writes += 1
            if self._guarded and self._writes % CHECKPOINT_EVERY == 0:
                writer.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def read(self, sql: str, parameters: Sequence[object] | Mapping[str, object] = ()) -> list[sqlite3.Row]:
        """All rows of a query, read at once so that no reader ever holds the log open.

        Raises:
            StoreCorrupt, StoreForked, StoreError.
        """
        with self._read_lock, translated(self.path):
            self._check_usable()
            rows: list[sqlite3.Row] = self._reader.execute(sql, parameters).fetchall()
            return rows

    @property
    def journal_mode(self) -> str:
        """`wal`, or `delete` where the file system does not carry a write-ahead log."""
        return str(self.read("PRAGMA journal_mode")[0][0])

    def vacuum(self) -> None:
        """Write the file anew without free pages and empty the log, so that what was deleted is nowhere left.

        Raises:
            StoreBusy: others are at work.
            StoreFull: it needs as much space again as the file takes.
        """
        with self._write_lock, self._read_lock, translated(self.path), self._commit_guard():
            writer = self._usable_writer()
            writer.execute("VACUUM")
            writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def copy_to(self, target: Path, progress: Callable[[int, int], None] | None = None) -> None:
        """Make a consistent copy while others go on writing (report CLI-07).

        Parameters:
            target: a file that does not exist yet; made with mode 0600.
            progress: called with the pages left and the pages in all.

        Raises:
            StoreError: the copy failed; nothing is left of it.
        """
        files.create_private_file(target)
        try:
            with self._read_lock, translated(self.path), contextlib.closing(sqlite3.connect(target)) as copy:
                self._check_usable()
                # One snapshot for all pieces: without the transaction the copy starts anew whenever somebody writes.
                self._reader.execute("BEGIN")
                self._reader.execute("SELECT 1 FROM sqlite_master").fetchone()
                try:
                    self._reader.backup(copy, pages=_COPIED_PAGES, progress=_pages(progress))
                finally:
                    self._reader.execute("ROLLBACK")
                copy.execute("PRAGMA journal_mode=DELETE")
        except StoreError:
            target.unlink(missing_ok=True)
            raise

    def close(self) -> None:
        """Fold the log into the file and close.  Nothing happens a second time, nor in a forked child."""
        if self._closed or os.getpid() != self._pid:
            return
        if self._writer is None:
            self._closed = True
            self._reader.close()
            return
        with self._write_lock, self._read_lock, translated(self.path), self._commit_guard():
            self._closed = True
            self._reader.close()
            self._writer.execute("PRAGMA busy_timeout=100")
            with contextlib.suppress(sqlite3.OperationalError):  # others are at work: they will do it
                self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._writer.close()

    def _connect(self) -> sqlite3.Connection:
        connection = self._configured(sqlite3.connect(self.path, **_MANNERS))
        # A file system without shared memory refuses WAL; SQLite then stays with its rollback journal.  One that
        # machines share may take it and corrupt the file (report L2-35).
        connection.execute(f"PRAGMA journal_mode={'DELETE' if self._is_shared else 'WAL'}")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute(f"PRAGMA journal_size_limit={_WAL_LIMIT_BYTES}")
        if self._guarded:
            connection.execute("PRAGMA wal_autocheckpoint=0")
        return connection

    def _connect_read_only(self) -> sqlite3.Connection:
        uri = self.path.absolute().as_uri() + "?mode=ro"
        try:
            connection = self._configured(sqlite3.connect(uri, uri=True, **_MANNERS))
            connection.execute("SELECT 1 FROM sqlite_master").fetchone()
        except sqlite3.OperationalError:
            # In a folder that nobody may write to, SQLite cannot make the shared memory that a log needs.
            if Path(f"{self.path}-wal").exists() or os.access(self.path.parent, os.W_OK):
                raise
            connection = self._configured(sqlite3.connect(uri + "&immutable=1", uri=True, **_MANNERS))
        return connection

    def _configured(self, connection: sqlite3.Connection) -> sqlite3.Connection:
        connection.row_factory = sqlite3.Row
        for name, (arguments, function) in self._schema.functions.items():
            connection.create_function(name, arguments, function, deterministic=True)
        return connection

    def _migrated_copy(self, reader: sqlite3.Connection) -> sqlite3.Connection:
        copy = self._configured(sqlite3.connect(":memory:", **_MANNERS))
        with contextlib.closing(reader):
            reader.backup(copy)
        self._migrate(copy)
        return copy

    def _migrate(self, connection: sqlite3.Connection) -> None:
        """Bring a file up to date: the numbered steps that it lacks, then the columns that it lacks."""
        for number in range(_version(connection), len(self._schema.steps)):
            with self._transaction(connection):
                for statement in _statements(self._schema.steps[number]):
                    _execute(connection, statement)
                connection.execute(f"PRAGMA user_version={number + 1}")
        missing = list(_missing_columns(connection, self._schema))
        if missing:
            with self._transaction(connection):
                for table, name in missing:
                    connection.execute(f"ALTER TABLE {table} ADD COLUMN {name} {self._schema.columns[table][name]}")
                for place in missing:
                    if place in self._schema.backfills:
                        connection.execute(self._schema.backfills[place])

    @contextlib.contextmanager
    def _transaction(self, connection: sqlite3.Connection) -> Iterator[None]:
        self._begin(connection)
        try:
            yield
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")

    def _begin(self, connection: sqlite3.Connection) -> None:
        deadline = time.monotonic() + self._patience
        while True:
            try:
                connection.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as error:
                if not _is_busy(error) or time.monotonic() > deadline:
                    raise
            time.sleep(random.uniform(*_RETRY_SECONDS))

    def _commit_guard(self) -> contextlib.AbstractContextManager[None]:
        if self._guarded and self._writer is not None:
            return files.lock(self.path, timeout=self._patience)
        return contextlib.nullcontext()

    def _usable_writer(self) -> sqlite3.Connection:
        self._check_usable()
        if self._writer is None:
            raise StoreError(f"{self.path} cannot be written: {self.read_only}")
        return self._writer

    def _check_usable(self) -> None:
        if os.getpid() != self._pid:
            raise StoreForked(f"{self.path} was opened before the fork; open it again in the child process")
        if self._closed:
            raise StoreError(f"{self.path} is closed; open it again")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _execute(connection: sqlite3.Connection, statement: str) -> None:
    """Run a statement of a step; a table of a module that this SQLite lacks is left out (report L2-41)."""
    try:
        connection.execute(statement)
    except sqlite3.OperationalError as error:
        if not str(error).startswith("no such module"):
            raise


def _newer(version: int, known: int) -> str:
    return f"it has schema {version} and this girdlebook knows {known}; upgrade girdlebook"


def _is_current(connection: sqlite3.Connection, schema: Schema) -> bool:
    return _version(connection) == len(schema.steps) and not any(_missing_columns(connection, schema))


def _missing_columns(connection: sqlite3.Connection, schema: Schema) -> Iterator[tuple[str, str]]:
    for table, columns in schema.columns.items():
        there = {row["name"] for row in connection.execute(f"PRAGMA table_info({table})")}
        yield from ((table, name) for name in columns if name not in there)


def _keep_copy(connection: sqlite3.Connection, path: Path, version: int) -> None:
    """A copy of the file as it was, kept before the first numbered step (`state.db.schema-1`)."""
    copy = path.with_name(f"{path.name}.schema-{version}")
    if copy.exists():
        return
    files.create_private_file(copy)
    with contextlib.closing(sqlite3.connect(copy)) as target:
        connection.backup(target)


def _pages(progress: Callable[[int, int], None] | None) -> Callable[[int, int, int], None] | None:
    return None if progress is None else lambda _, left, total: progress(left, total)


@contextlib.contextmanager
def translated(path: Path) -> Iterator[None]:
    """SQLite's errors as ours, with the file's name and the next step."""
    try:
        yield
    except sqlite3.Error as error:
        raise _translate(path, error) from error
    except LockTimeout as error:
        raise StoreBusy(str(error)) from error
    except UnicodeEncodeError as error:
        raise StoreError(f"{error.object[:80]!r} is no text that can be stored or looked for") from error
    except OverflowError as error:
        raise StoreError("a number is too large to be stored or looked for") from error


def _translate(path: Path, error: sqlite3.Error) -> StoreError:
    name = getattr(error, "sqlite_errorname", "") or ""
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return StoreBusy(f"{path} is kept locked by other writers; try again when they are done")
    if name.startswith("SQLITE_FULL"):
        return StoreFull(f"no space left for {path}; free some and try again, nothing stored before is lost")
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return StoreCorrupt(f"{path} is damaged or no database ({error}); `girdle doctor` tells more")
    return StoreError(f"{path}: {error}")


def _is_busy(error: sqlite3.Error) -> bool:
    return (getattr(error, "sqlite_errorname", "") or "").startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


def _statements(script: str) -> Iterator[str]:
    """The statements of a script, one by one: `executescript` would commit in between."""
    statement = ""
    for line in script.splitlines():
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
