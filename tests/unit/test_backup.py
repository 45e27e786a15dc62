"""A home as one file, and back."""

import contextlib
import hashlib
import json
import sqlite3
import threading
import zipfile
from pathlib import Path

import pytest

from girdlebook.backup import back_up, restore
from girdlebook.curated.store import MemoryStore
from girdlebook.errors import TransferError
from girdlebook.files import lock
from girdlebook.messages import Message
from girdlebook.profiles import Home
from girdlebook.sessions.sqlite import SQLiteSessionStore


@pytest.fixture
def full(tmp_path: Path) -> Home:
    """A home with something of everything."""
    home = Home(tmp_path / "家 home")
    store = MemoryStore.open(home.memories, user_folder=home.user_memories("ann"))
    store.add("memory", "服务器在厦门 🌊")
    store.add("user", "is called Ann")
    home.config_file.write_text("chat: {model: x}\n")
    home.env_file.write_text("KEY=1\n")
    home.env_file.chmod(0o600)
    (home.plugins / "memory" / "mine").mkdir(parents=True)
    (home.plugins / "memory" / "mine" / "plugin.yaml").write_text("name: mine\n")
    (home.path / "profiles" / "other").mkdir(parents=True)
    (home.path / "profiles" / "other" / "config.yaml").write_text("")
    (home.path / "logs").mkdir()
    (home.path / "logs" / "girdle.log").write_text("x")
    with SQLiteSessionStore.open(home.state_db) as sessions:
        sessions.create_session("s", source="cli", title="茶")
        sessions.append("s", Message("user", "我喜欢绿茶"))
    return home


def contents(home: Home) -> dict[str, bytes]:
    return {
        path.relative_to(home.path).as_posix(): path.read_bytes()
        for path in sorted(home.path.rglob("*"))
        if path.is_file() and not path.name.startswith("state.db") and path.suffix != ".lock"
    }


def test_everything_comes_back_and_what_was_there_is_kept(full: Home, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    names = back_up(full, tmp_path / "b.zip", progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1]
    assert (tmp_path / "b.zip").stat().st_mode & 0o777 == 0o600
    assert {".env", "config.yaml", "memories/MEMORY.md", "plugins/memory/mine/plugin.yaml", "state.db"} <= set(names)
    assert not any(name.startswith(("profiles", "logs")) or name.endswith(".lock") for name in names)
    before = {name: data for name, data in contents(full).items() if not name.startswith(("profiles", "logs"))}
    MemoryStore.open(full.memories).add("memory", "written after the backup")
    with SQLiteSessionStore.open(full.state_db) as sessions:
        sessions.append("s", Message("user", "said after the backup"))
    restored = restore(tmp_path / "b.zip", full)
    after = {
        name: data for name, data in contents(full).items() if not name.startswith(("profiles", "logs", ".before"))
    }
    assert after == before
    assert (full.path / "profiles" / "other" / "config.yaml").exists()
    assert full.env_file.stat().st_mode & 0o777 == 0o600
    with SQLiteSessionStore.open(full.state_db) as sessions:
        assert [stored.message.text for stored in sessions.messages("s")] == ["我喜欢绿茶"]
        assert sessions.search("绿茶")
    assert restored.kept is not None
    with SQLiteSessionStore.open(restored.kept / "state.db") as old:
        assert len(old.messages("s")) == 2


def test_a_home_is_made_where_there_was_none(full: Home, tmp_path: Path) -> None:
    back_up(full, tmp_path / "b.zip")
    new = Home(tmp_path / "new")
    assert restore(tmp_path / "b.zip", new).kept is None
    assert MemoryStore.open(new.memories).entries("memory") == ("服务器在厦门 🌊",)
    assert new.path.stat().st_mode & 0o777 == 0o700


def test_what_is_left_out_stays_out(full: Home, tmp_path: Path) -> None:
    names = back_up(full, tmp_path / "b.zip", left_out=(".env", "state.db"))
    assert ".env" not in names
    assert "state.db" not in names


def test_a_backup_never_replaces_a_file(full: Home, tmp_path: Path) -> None:
    (tmp_path / "b.zip").write_text("precious")
    with pytest.raises(TransferError, match="exists already"):
        back_up(full, tmp_path / "b.zip")
    assert (tmp_path / "b.zip").read_text() == "precious"
    with pytest.raises(TransferError, match="does not exist"):
        back_up(Home(tmp_path / "nowhere"), tmp_path / "c.zip")
    with pytest.raises(OSError, match="nofolder"):
        back_up(full, tmp_path / "nofolder" / "c.zip")


def rewritten(source: Path, target: Path, change) -> Path:
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            changed = change(name, old.read(name))
            if changed is not None:
                new.writestr(name, changed)
    return target


def with_manifest(change):
    def edit(name: str, data: bytes) -> bytes:
        if name != "manifest.json":
            return data
        manifest = json.loads(data)
        change(manifest)
        return json.dumps(manifest).encode()

    return edit


def outside(manifest) -> None:
    manifest["files"]["home/config.yaml"]["path"] = "../outside"


def not_ours(manifest) -> None:
    manifest["files"]["home/config.yaml"]["path"] = "active_profile"


def no_name(manifest) -> None:
    manifest["files"]["home/config.yaml"]["path"] = "a\0b"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda name, data: data + b"x" if name == "home/config.yaml" else data, "damaged at config.yaml"),
        (lambda name, data: None if name == "home/config.yaml" else data, "damaged"),
        (lambda name, data: None if name == "manifest.json" else data, "no backup"),
        (lambda name, data: b"{" if name == "manifest.json" else data, "manifest"),
        (with_manifest(lambda manifest: manifest.update(format=99)), "newer girdlebook"),
        (with_manifest(outside), "outside the home"),
        (with_manifest(not_ours), "outside the home"),
        (with_manifest(no_name), "no backup"),
        (with_manifest(lambda manifest: manifest.update(files=["abc"])), "no backup"),
    ],
)
def test_a_file_that_is_not_whole_changes_nothing(full: Home, tmp_path: Path, change, words: str) -> None:
    back_up(full, tmp_path / "b.zip")
    bad = rewritten(tmp_path / "b.zip", tmp_path / "bad.zip", change)
    before = contents(full)
    with pytest.raises(TransferError, match=words):
        restore(bad, full)
    assert contents(full) == before
    assert not (tmp_path / "outside").exists()


def test_damaged_conversations_are_found_before_anything_is_replaced(full: Home, tmp_path: Path) -> None:
    def broken(name: str, data: bytes) -> bytes:
        return data[:4096] + b"\0" * 4096 + data[8192:] if name == "home/state.db" else data

    back_up(full, tmp_path / "b.zip")
    bad = rewritten(tmp_path / "b.zip", tmp_path / "bad.zip", broken)
    with zipfile.ZipFile(bad) as archive:
        data = archive.read("home/state.db")
    sums = {"path": "state.db", "size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    bad = rewritten(
        bad, tmp_path / "worse.zip", with_manifest(lambda manifest: manifest["files"].update({"home/state.db": sums}))
    )
    before = contents(full)
    with pytest.raises(TransferError, match=r"state\.db is damaged"):
        restore(bad, full)
    assert contents(full) == before


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04 cut", b"hello"])
def test_what_is_no_backup_is_refused(full: Home, tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x.zip").write_bytes(data)
    with pytest.raises(TransferError, match="nothing was changed"):
        restore(tmp_path / "x.zip", full)


def test_conversations_that_another_process_has_open_are_not_replaced(full: Home, tmp_path: Path) -> None:
    back_up(full, tmp_path / "b.zip")
    with SQLiteSessionStore.open(full.state_db) as running:
        with pytest.raises(TransferError, match="another process"):
            restore(tmp_path / "b.zip", full)
        running.append("s", Message("user", "still here"))
    with sqlite3.connect(full.state_db) as connection:
        assert connection.execute("SELECT count(*) FROM messages").fetchone() == (2,)
    connection.close()


def test_flipped_bytes_are_found(full: Home, tmp_path: Path) -> None:
    back_up(full, tmp_path / "b.zip")
    data = bytearray((tmp_path / "b.zip").read_bytes())
    before = contents(full)
    for at in range(40, len(data) - 60, len(data) // 40):
        bad = tmp_path / "flipped.zip"
        bad.write_bytes(bytes(data[:at]) + bytes([data[at] ^ 0xFF]) + bytes(data[at + 1 :]))
        with contextlib.suppress(TransferError):
            restore(bad, full)
        now = {name: text for name, text in contents(full).items() if not name.startswith(".before")}
        assert now == before


def test_a_backup_inside_the_home_does_not_hold_itself(full: Home) -> None:
    names = back_up(full, full.path / "b.zip")
    assert "b.zip" not in names
    assert not list(full.path.glob(".girdle-*"))


def test_odd_names_linked_folders_and_lock_files_of_others_come_back(full: Home, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "plugin.py").write_text("linked")
    (full.plugins / "linked").symlink_to(elsewhere)
    (full.plugins / "round").symlink_to(full.plugins)
    odd = ["a:b.py", "back\\slash.py", "uv.lock", "state.db", "b\udcff.py"]
    for name in odd:
        (full.plugins / name).write_text("x")
    (full.path / "manifest.json").write_text("mine")
    back_up(full, tmp_path / "b.zip")
    new = Home(tmp_path / "new")
    restore(tmp_path / "b.zip", new)
    assert (new.plugins / "linked" / "plugin.py").read_text() == "linked"
    assert [name for name in odd if not (new.plugins / name).exists()] == []
    assert (new.path / "manifest.json").read_text() == "mine"


def test_a_memory_write_waits_for_a_restore_and_the_other_way_round(full: Home, tmp_path: Path) -> None:
    back_up(full, tmp_path / "b.zip")
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with lock(full.memories / "MEMORY.md"):
            held.set()
            done.wait(10)

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait(10)
    restoring = threading.Thread(target=restore, args=(tmp_path / "b.zip", full))
    restoring.start()
    restoring.join(0.3)
    assert restoring.is_alive()
    done.set()
    holder.join()
    restoring.join(10)
    assert not restoring.is_alive()
