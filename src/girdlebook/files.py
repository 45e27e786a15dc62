"""How files are locked and written: a separate lock file, then a temporary file that replaces the old one.

A reader sees the old bytes or the new ones, never half of them, and what a call acknowledged survives a power cut
(article section 3.1.2, with the folder's fsync that it lacks).
"""

import contextlib
import os
import secrets
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from girdlebook.errors import LockTimeout

PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700

_POLL_SECONDS = 0.01
# Elsewhere it stays by itself, and where there is no flock the marker file must go.
_KEEP_LOCK_FILE = os.name == "nt"
_STRAY_SECONDS = 3600
# A reader or virus scanner that has the file open: access denied, sharing violation, lock violation.
_WINDOWS_BUSY = (5, 32, 33)
_WINDOWS_PAUSES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)


@contextlib.contextmanager
def lock(path: Path, *, timeout: float = 30.0) -> Iterator[None]:
    """Hold `path` exclusively, against other threads and other processes.

    The lock lies on `<path>.lock`, the name that Hermes uses, so both can work on the same files.  The lock file is
    never deleted: whoever waits for it must wait for the same file.

    Parameters:
        path: the file to guard; it need not exist.  Its folder is made where it is missing.
        timeout: seconds to wait.

    Raises:
        LockTimeout: somebody else held it for that long.
        OSError: the lock file cannot be made or opened.
    """
    private_folder(path.parent)
    lock_file = path.with_name(path.name + ".lock")
    held = FileLock(
        lock_file, timeout=timeout, mode=PRIVATE_FILE, poll_interval=_POLL_SECONDS, preserve_lock_file=_KEEP_LOCK_FILE
    )
    try:
        held.acquire()
    except Timeout as error:
        raise LockTimeout(
            f"{lock_file} was held by another process for {timeout:g} seconds; try again when it is done"
        ) from error
    try:
        yield
    finally:
        held.release()


def private_folder(path: Path) -> Path:
    """Make a folder and its parents, mode 0700 whatever the umask; folders that exist are left as they are.

    Returns:
        `path`, for use in an expression.

    Raises:
        OSError: it cannot be made, or something else lies there.
    """
    for folder in (*reversed(path.parents), path):
        if not folder.exists():
            _make_private(folder)
    if not path.is_dir():
        raise NotADirectoryError(f"{path} is no folder; move it away or choose another place")
    return path


def create_private_file(path: Path) -> None:
    """Create an empty file, mode 0600 whatever the umask; one that exists is neither opened nor changed."""
    with contextlib.suppress(FileExistsError):
        _write_new(path, b"", PRIVATE_FILE)


def write_atomically(path: Path, data: bytes) -> None:
    """Put `data` in the place of what `path` holds, and return when it is on the disk.

    A symbolic link stays one: the file it leads to is replaced.  The mode is kept; a new file gets 0600.  Call it
    while holding `lock(path)`; temporary files that a crash left behind an hour ago or earlier are removed.

    Raises:
        OSError: it could not be written; `path` is as it was.
    """
    target = Path(os.path.realpath(path))
    _sweep(target.parent)
    temporary = target.with_name(f".mem_{secrets.token_hex(8)}.tmp")
    try:
        _write_new(temporary, data, _mode_of(target))
        _replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
    _sync_folder(target.parent)


def _make_private(folder: Path) -> None:
    with contextlib.suppress(FileExistsError):  # another process was quicker
        folder.mkdir(PRIVATE_FOLDER)
        folder.chmod(PRIVATE_FOLDER)


def _mode_of(path: Path) -> int:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return PRIVATE_FILE


def _write_new(path: Path, data: bytes, mode: int) -> None:
    """Create `path`, which must not exist, and fsync it."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    with open(os.open(path, flags, PRIVATE_FILE), "wb") as file:
        path.chmod(mode)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _replace(source: Path, target: Path) -> None:
    for pause in _WINDOWS_PAUSES:
        try:
            return os.replace(source, target)
        except PermissionError as error:
            if getattr(error, "winerror", None) not in _WINDOWS_BUSY:
                raise
            time.sleep(pause)
    return os.replace(source, target)


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # Windows opens no folder for fsync
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sweep(folder: Path) -> None:
    oldest = time.time() - _STRAY_SECONDS
    for stray in folder.glob(".mem_*.tmp"):
        with contextlib.suppress(FileNotFoundError):
            if stray.stat().st_mtime < oldest:
                stray.unlink()
