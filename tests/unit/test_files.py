import fcntl
import os
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from girdlebook.errors import LockTimeout
from girdlebook.files import create_private_file, lock, private_folder, write_atomically


@pytest.fixture(params=[0o000, 0o022, 0o277])
def umask(request):
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_new_files_and_folders_are_private_whatever_the_umask(tmp_path, umask):
    folder = private_folder(tmp_path / "家 目录" / "memories")
    write_atomically(folder / "MEMORY.md", b"x")
    create_private_file(folder / "state.db")
    with lock(folder / "MEMORY.md"):
        pass
    assert {mode_of(folder), mode_of(folder.parent)} == {0o700}
    assert {mode_of(path) for path in folder.iterdir()} == {0o600}
    assert {path.name for path in folder.iterdir()} == {"MEMORY.md", "MEMORY.md.lock", "state.db"}


def test_a_folder_that_exists_keeps_its_mode(tmp_path):
    tmp_path.chmod(0o755)
    assert private_folder(tmp_path) == tmp_path
    assert mode_of(tmp_path) == 0o755


def test_a_file_in_the_place_of_a_folder_is_an_error(tmp_path):
    (tmp_path / "memories").write_text("x")
    with pytest.raises(OSError, match="memories"):
        private_folder(tmp_path / "memories")
    with pytest.raises(OSError, match="memories"):
        private_folder(tmp_path / "memories" / "below")


def test_creating_a_file_that_exists_changes_nothing(tmp_path):
    path = tmp_path / "state.db"
    path.write_bytes(b"data")
    path.chmod(0o640)
    create_private_file(path)
    assert (path.read_bytes(), mode_of(path)) == (b"data", 0o640)


@pytest.mark.parametrize("mode", [0o644, 0o600, 0o664])
def test_L1_35_writing_keeps_the_mode(tmp_path, mode):
    path = tmp_path / "MEMORY.md"
    path.write_bytes(b"old")
    path.chmod(mode)
    write_atomically(path, b"new")
    assert (path.read_bytes(), mode_of(path)) == (b"new", mode)


def test_a_symbolic_link_stays_one_and_its_file_is_replaced(tmp_path):
    real = tmp_path / "notes" / "real.md"
    real.parent.mkdir()
    real.write_bytes(b"old")
    link = tmp_path / "MEMORY.md"
    link.symlink_to(Path("notes") / "real.md")
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"
    assert [path.name for path in real.parent.iterdir()] == ["real.md"]


def test_a_failed_write_leaves_the_old_file_and_no_temporary_one(tmp_path):
    path = tmp_path / "MEMORY.md"
    path.mkdir()
    (path / "inside").write_text("x")
    with pytest.raises(OSError, match="MEMORY"):
        write_atomically(path, b"new")
    assert [entry.name for entry in tmp_path.iterdir()] == ["MEMORY.md"]


def test_temporary_files_of_a_crash_are_swept_after_an_hour(tmp_path):
    old, young, foreign = tmp_path / ".mem_a.tmp", tmp_path / ".mem_b.tmp", tmp_path / "other.tmp"
    for stray in (old, young, foreign):
        stray.write_text("half")
    for stray in (old, foreign):
        os.utime(stray, (time.time() - 3700,) * 2)
    write_atomically(tmp_path / "MEMORY.md", b"x")
    assert {path.name for path in tmp_path.iterdir()} == {".mem_b.tmp", "other.tmp", "MEMORY.md"}


def test_the_lock_waits_for_a_foreign_holder_and_names_the_file(tmp_path):
    path = tmp_path / "MEMORY.md"
    with open(tmp_path / "MEMORY.md.lock", "a+") as foreign:
        fcntl.flock(foreign, fcntl.LOCK_EX)
        with pytest.raises(LockTimeout, match=r"MEMORY\.md\.lock"), lock(path, timeout=0.05):
            raise AssertionError("entered a held lock")
    with lock(path, timeout=0.05):
        pass


def test_a_foreign_flock_waits_for_our_lock(tmp_path):
    path = tmp_path / "MEMORY.md"
    with lock(path), open(tmp_path / "MEMORY.md.lock", "a+") as foreign, pytest.raises(BlockingIOError):
        fcntl.flock(foreign, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_the_lock_file_stays_the_same_file(tmp_path):
    path = tmp_path / "MEMORY.md"
    with lock(path):
        first = (tmp_path / "MEMORY.md.lock").stat().st_ino
    with lock(path):
        assert (tmp_path / "MEMORY.md.lock").stat().st_ino == first


def test_the_lock_excludes_threads(tmp_path):
    path = tmp_path / "counter"
    path.write_text("0")

    def count():
        for _ in range(20):
            with lock(path):
                value = int(path.read_text())
                time.sleep(0)
                path.write_text(str(value + 1))

    threads = [threading.Thread(target=count) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_text() == "100"


def test_L1_39_locking_works_without_fcntl(tmp_path):
    code = """
import sys, pathlib
sys.modules["fcntl"] = None
from girdlebook.errors import LockTimeout
from girdlebook.files import lock
path = pathlib.Path(sys.argv[1])
with lock(path):
    try:
        with lock(path, timeout=0.05):
            print("entered twice")
    except LockTimeout:
        print("locked")
"""
    run = [sys.executable, "-c", code, str(tmp_path / "MEMORY.md")]
    assert subprocess.run(run, check=True, capture_output=True, text=True).stdout == "locked\n"
