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
from pathlib import Path
from typing import Any

from girdlebook import files
from girdlebook.errors import LockTimeout, StoreBusy, StoreCorrupt, StoreError, StoreForked, StoreFull

PATIENCE_SECONDS = 30.0
"""How long a write waits for other writers, unless said otherwise."""

CHECKPOINT_EVERY = 500
"""Writes of one connection between two checkpoints, where SQLite does not make them itself."""

_RETRY_SECONDS = (0.02, 0.15)
_WAL_LIMIT_BYTES = 16 * 1024 * 1024

Functions = Mapping[str, tuple[int, Callable[..., Any]]]


def has_wal_reset_fault(version: tuple[int, int, int]) -> bool:
    """Whether this SQLite may lose a commit that races with a checkpoint (fixed in 3.51.3, 3.50.7 and 3.44.6)."""
    if version[:2] in ((3, 50), (3, 44)):
        return version < {(3, 50): (3, 50, 7), (3, 44): (3, 44, 6)}[version[:2]]
    return (3, 7, 0) <= version < (3, 51, 3)


class Database:
    """One SQLite file: a connection that writes and one that reads, each used by one thread at a time.

    Parameters:
        path: the file; made with mode 0600 in a folder of mode 0700, whatever the umask.
        steps: SQL scripts; step N takes the schema from version N to N + 1.
        functions: SQL functions by name, with their number of arguments; they must be deterministic.
        patience: seconds that a write waits for other writers.

    Raises:
        StoreCorrupt: the file is no database, or damaged.
        StoreBusy: another process is opening it and does not finish.
        StoreError: it was made by a newer version, or cannot be opened.
    """

    def __init__(
        self, path: Path, *, steps: Sequence[str], functions: Functions, patience: float = PATIENCE_SECONDS
    ) -> None:
        self.path = path
        self._patience = patience
        self._functions = functions
        self._guarded = has_wal_reset_fault(sqlite3.sqlite_version_info)
        self._pid = os.getpid()
        self._write_lock = threading.RLock()
        self._read_lock = threading.Lock()
        self._writes = 0
        self._closed = False
        with translated(path), files.lock(path, timeout=patience):
            files.create_private_file(path)
            self._writer = self._connect()
            self._migrate(steps)
            self._reader = self._connect()

    @contextlib.contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """One write transaction: committed at the end, rolled back by an error.

        Raises:
            StoreBusy: other writers kept it locked until the patience was at its end.
            StoreFull: no space is left.
            StoreForked: this process is a child of the one that opened it.
        """
        with self._write_lock, translated(self.path), self._commit_guard():
            self._check_usable()
            self._begin()
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            finally:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
            self._writes += 1
            if self._guarded and self._writes % CHECKPOINT_EVERY == 0:
                self._writer.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def read(self, sql: str, parameters: Sequence[object] | Mapping[str, object] = ()) -> list[sqlite3.Row]:
        """All rows of a query, read at once so that no reader ever holds the log open.

        Raises:
            StoreCorrupt, StoreForked, StoreError.
        """
        with self._read_lock, translated(self.path):
            self._check_usable()
            rows: list[sqlite3.Row] = self._reader.execute(sql, parameters).fetchall()
            return rows

    def close(self) -> None:
        """Fold the log into the file and close.  Nothing happens a second time, nor in a forked child."""
        if self._closed or os.getpid() != self._pid:
            return
        with self._write_lock, self._read_lock, translated(self.path), self._commit_guard():
            self._closed = True
            self._reader.close()
            self._writer.execute("PRAGMA busy_timeout=100")
            with contextlib.suppress(sqlite3.OperationalError):  # others are at work: they will do it
                self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._writer.close()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False, timeout=1.0)
        connection.row_factory = sqlite3.Row
        for name, (arguments, function) in self._functions.items():
            connection.create_function(name, arguments, function, deterministic=True)
        # A file system without shared memory refuses WAL; SQLite then stays with its rollback journal.
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute(f"PRAGMA journal_size_limit={_WAL_LIMIT_BYTES}")
        if self._guarded:
            connection.execute("PRAGMA wal_autocheckpoint=0")
        return connection

    def _migrate(self, steps: Sequence[str]) -> None:
        version = self._writer.execute("PRAGMA user_version").fetchone()[0]
        if version > len(steps):
            raise StoreError(
                f"{self.path} has schema {version}, this girdlebook knows {len(steps)}; upgrade girdlebook"
            )
        for number in range(version, len(steps)):
            self._begin()
            try:
                for statement in _statements(steps[number]):
                    self._writer.execute(statement)
                self._writer.execute(f"PRAGMA user_version={number + 1}")
                self._writer.execute("COMMIT")
            finally:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")

    def _begin(self) -> None:
        deadline = time.monotonic() + self._patience
        while True:
            try:
                self._writer.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as error:
                if not _is_busy(error) or time.monotonic() > deadline:
                    raise
            time.sleep(random.uniform(*_RETRY_SECONDS))

    def _commit_guard(self) -> contextlib.AbstractContextManager[None]:
        return files.lock(self.path, timeout=self._patience) if self._guarded else contextlib.nullcontext()

    def _check_usable(self) -> None:
        if os.getpid() != self._pid:
            raise StoreForked(f"{self.path} was opened before the fork; open it again in the child process")
        if self._closed:
            raise StoreError(f"{self.path} is closed; open it again")


@contextlib.contextmanager
def translated(path: Path) -> Iterator[None]:
    """SQLite's errors as ours, with the file's name and the next step."""
    try:
        yield
    except sqlite3.Error as error:
        raise _translate(path, error) from error
    except LockTimeout as error:
        raise StoreBusy(str(error)) from error


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
