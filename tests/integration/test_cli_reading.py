"""Report CLI-03: commands that only look disturb nobody."""

import threading
from pathlib import Path

from girdlebook.messages import Message
from girdlebook.profiles import Home
from girdlebook.sessions.sqlite import SQLiteSessionStore

LOOKS = (["search"], ["search", "记忆"], ["memory", "show"], ["profile", "list"], ["doctor"], ["sessions", "list"])


def contents(folder: Path) -> dict[str, bytes]:
    """All files but SQLite's sidecars, which even a reader needs and which hold nothing of their own here."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {
        str(path.relative_to(folder)): path.read_bytes() for path in files if not path.name.endswith(("-shm", "-wal"))
    }


def test_CLI_03_no_byte_of_a_home_changes(girdle, home: Path) -> None:
    girdle("memory", "add", "user", "小林")
    with SQLiteSessionStore.open(Home(home).state_db) as store:
        store.append(store.create_session(source="cli").id, Message("user", "记忆"))
    before = contents(home)
    for look in LOOKS:
        assert girdle(*look).returncode == 0
    assert contents(home) == before


def test_CLI_03_a_running_writer_is_not_disturbed(girdle, home: Path) -> None:
    done = threading.Event()
    written: list[int] = []

    def write(store: SQLiteSessionStore, session_id: str) -> None:
        while not done.is_set():
            written.append(store.append(session_id, Message("user", f"记忆 {len(written)}")))

    with SQLiteSessionStore.open(Home(home).state_db) as store:
        session_id = store.create_session(source="cli").id
        writer = threading.Thread(target=write, args=(store, session_id))
        writer.start()
        try:
            looked = [girdle(*look).returncode for look in LOOKS]
        finally:
            done.set()
            writer.join()
        assert looked == [0] * len(LOOKS)
        assert [stored.id for stored in store.messages(session_id)] == written
