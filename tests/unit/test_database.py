"""How SQLite is opened and written."""

import multiprocessing
import sqlite3
import threading

import pytest

from girdlebook.database import Database, Schema, has_wal_reset_fault
from girdlebook.errors import StoreBusy, StoreError, StoreForked, StoreFull

STEPS = ("CREATE TABLE t(x TEXT);",)


@pytest.fixture
def database(tmp_path):
    opened = Database(tmp_path / "state.db", Schema(STEPS))
    yield opened
    opened.close()


def rows(database):
    return [row["x"] for row in database.read("SELECT x FROM t ORDER BY rowid")]


def test_writes_are_durable_and_the_log_is_used(database):
    with database.write() as connection:
        connection.execute("INSERT INTO t VALUES ('a')")
        assert connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        assert connection.execute("PRAGMA synchronous").fetchone()[0] == 2
    assert rows(database) == ["a"]


def test_an_error_rolls_the_transaction_back(database):
    statements = ("INSERT INTO t VALUES ('a')", "INSERT INTO nowhere VALUES ('a')")
    with pytest.raises(StoreError), database.write() as connection:
        _ = [connection.execute(statement) for statement in statements]
    assert rows(database) == []
    with database.write() as connection:
        connection.execute("INSERT INTO t VALUES ('b')")
    assert rows(database) == ["b"]


@pytest.mark.parametrize(
    ("version", "faulty"),
    [
        ((3, 40, 1), True),
        ((3, 44, 5), True),
        ((3, 44, 6), False),
        ((3, 50, 6), True),
        ((3, 50, 7), False),
        ((3, 51, 2), True),
        ((3, 51, 3), False),
        ((3, 53, 0), False),
        ((3, 6, 23), False),
    ],
)
def test_versions_whose_log_can_be_reset_under_a_commit_are_known(version, faulty):
    assert has_wal_reset_fault(version) is faulty


def test_on_a_faulty_version_sqlite_makes_no_checkpoint_itself(database):
    if has_wal_reset_fault(sqlite3.sqlite_version_info):
        with database.write() as connection:
            assert connection.execute("PRAGMA wal_autocheckpoint").fetchone()[0] == 0


def test_L2_29_the_log_shrinks_at_close(tmp_path):
    database = Database(tmp_path / "state.db", Schema(STEPS))
    for _ in range(50):
        with database.write() as connection:
            connection.execute("INSERT INTO t VALUES (?)", ["x" * 1000])
    log = tmp_path / "state.db-wal"
    assert log.stat().st_size > 50_000
    database.close()
    assert not log.exists() or log.stat().st_size == 0


def test_L2_36_a_full_disk_is_a_typed_error_and_passes(database):
    with database.write() as connection:
        connection.execute("INSERT INTO t VALUES ('kept')")
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
    database._writer.execute(f"PRAGMA max_page_count={pages}")
    with pytest.raises(StoreFull, match="space"), database.write() as connection:
        connection.execute("INSERT INTO t VALUES (?)", ["x" * 100_000])
    assert rows(database) == ["kept"]
    database._writer.execute("PRAGMA max_page_count=100000")
    with database.write() as connection:
        connection.execute("INSERT INTO t VALUES ('after')")
    assert rows(database) == ["kept", "after"]


def child(database, answer):
    try:
        database.read("SELECT 1")
        answer.send("used")
    except StoreForked as error:
        answer.send(str(error))


def test_a_connection_carried_over_a_fork_is_refused(database):
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    process = context.Process(target=child, args=(database, there))
    process.start()
    assert here.poll(10)
    assert "fork" in here.recv()
    process.join(10)


def test_threads_take_turns(database):
    def write():
        for _ in range(10):
            with database.write() as connection:
                connection.execute("INSERT INTO t VALUES ('x')")

    threads = [threading.Thread(target=write) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(rows(database)) == 80


def test_a_writer_that_never_ends_is_reported(tmp_path):
    database = Database(tmp_path / "state.db", Schema(STEPS), patience=0.3)
    other = sqlite3.connect(tmp_path / "state.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreBusy, match="locked"), database.write():
        pass
    other.execute("ROLLBACK")
    other.close()
    database.close()


def test_a_step_that_fails_leaves_the_old_schema(tmp_path):
    with pytest.raises(StoreError):
        Database(tmp_path / "state.db", Schema((*STEPS, "CREATE TABLE u(x); CREATE TABLE t(x);")))
    raw = sqlite3.connect(tmp_path / "state.db")
    assert raw.execute("PRAGMA user_version").fetchone() == (1,)
    assert raw.execute("SELECT name FROM sqlite_master").fetchall() == [("t",)]
    raw.close()


@pytest.mark.parametrize(("kind", "mode"), [("nfs4", "delete"), ("virtiofs", "delete"), ("ext4", "wal"), (None, "wal")])
def test_L2_35_where_machines_share_a_folder_there_is_no_write_ahead_log(tmp_path, kind, mode):
    path = tmp_path / "state.db"
    for _ in range(2):
        opened = Database(path, Schema(STEPS), filesystem=lambda folder: kind)
        with opened.write() as connection:
            connection.execute("INSERT INTO t VALUES ('记')")
        assert opened.journal_mode == mode
        assert (tmp_path / "state.db-wal").exists() is (mode == "wal")
        opened.close()


def test_L2_35_a_file_that_was_moved_to_a_shared_folder_leaves_the_log(tmp_path):
    Database(tmp_path / "state.db", Schema(STEPS)).close()
    opened = Database(tmp_path / "state.db", Schema(STEPS), filesystem=lambda folder: "cifs")
    assert opened.journal_mode == "delete"
    opened.close()
