"""A whole home as one file and back: settings, secrets, memory files, plug-ins and conversations.

The file is a zip with a manifest of sizes and SHA-256 sums.  Conversations are copied through SQLite's online backup,
so that others may go on writing (report CLI-07).  Nothing is replaced before everything in the file was verified.
"""

import contextlib
import hashlib
import json
import os
import secrets
import shutil
import sqlite3
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from girdlebook import files
from girdlebook.curated.ledger import ledger_schema
from girdlebook.database import Database, Schema
from girdlebook.errors import StoreError, TransferError
from girdlebook.profiles import Home
from girdlebook.sessions.fulltext import FullTextIndex
from girdlebook.sessions.schema import sqlite_schema

FORMAT = 1

_MANIFEST = "manifest.json"
# SQLite files, which are copied page by page while others write.
_DATABASES: Mapping[str, Callable[[], Schema]] = {"state.db": sqlite_schema, "ledger.db": ledger_schema}
_CHUNK = 1 << 20
_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    KeyError,
    TypeError,
    ValueError,
    AttributeError,
    EOFError,
    NotImplementedError,
)

# Other homes, and what each process makes anew.
_NOT_OF_THE_HOME = ("profiles", "active_profile", "projects.json", "logs")
_PASSING = (".mem_*.tmp", ".girdle-*", ".restore-*", ".before-restore-*", ".doctor-*")

Progress = Callable[[int, int], None]
"""Called with the bytes that are done and the bytes in all."""


@dataclass(frozen=True, slots=True)
class Restored:
    """What a restore put in place; `kept` is the folder with what was there before, None where nothing was."""

    names: tuple[str, ...]
    kept: Path | None


def back_up(home: Home, target: Path, *, left_out: Collection[str] = (), progress: Progress | None = None) -> list[str]:
    """Write a home into a file of mode 0600, while others may be at work in it.

    Parameters:
        target: must not exist yet.
        left_out: names in the home's folder that do not go in.
        progress: called with the bytes that are done and the bytes in all.

    Returns:
        the names of the files that went in.

    Raises:
        TransferError: the target exists, or there is no home.
        StoreError: the conversations cannot be read.
        OSError: the file cannot be written; nothing is left of it.
    """
    if not home.path.is_dir():
        raise TransferError(f"there is nothing to back up: {home.path} does not exist")
    if os.path.lexists(target):
        raise TransferError(f"{target} exists already; choose another name")
    report = progress or (lambda done, total: None)
    sources = dict(_files_of(home, left_out))
    files.create_private_file(target)
    with contextlib.ExitStack() as failed:
        failed.callback(target.unlink, missing_ok=True)
        with tempfile.TemporaryDirectory(prefix=".girdle-", dir=target.parent) as folder:
            for name, schema in _DATABASES.items():
                if (home.path / name).exists() and name not in left_out:
                    sources[name] = Path(folder) / name
                    with contextlib.closing(Database.open_read_only(home.path / name, schema())) as database:
                        database.copy_to(sources[name], lambda left, total: report(total - left, total))
            _write(target, sources, sorted(left_out), report)
        failed.pop_all()
    return sorted(sources)


def restore(source: Path, home: Home, *, progress: Progress | None = None) -> Restored:
    """Put a home back as it was, once everything in the file was verified.

    What was there before is moved into the folder `.before-restore-…` of the home and never deleted.

    Raises:
        TransferError: the file is no backup, is damaged or was made by a newer version, or another process has the
            conversations open; nothing was changed.
        OSError: something could not be put in place; what was there before is there again.
    """
    files.private_folder(home.path)
    staging = home.path / f".restore-{secrets.token_hex(4)}"
    files.private_folder(staging)
    try:
        names = _extract(source, staging, progress or (lambda done, total: None))
        for name, schema in _DATABASES.items():
            _check_database(staging / name, schema(), source)
        with contextlib.ExitStack() as held:
            databases = [home.path / name for name in _DATABASES]
            for path in (*databases, home.config_file, home.env_file, *home.memories.rglob("*.md")):
                held.enter_context(files.lock(path))
            for path in databases:
                _refuse_if_in_use(path)
            return Restored(names, _swap(staging, home))
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def left_out_of(source: Path) -> list[str]:
    """What the file was made without; nothing for a whole backup.

    Raises:
        TransferError: it is no backup.
    """
    try:
        with zipfile.ZipFile(source) as archive:
            return list(json.loads(archive.read(_MANIFEST))["left_out"])
    except (OSError, *_DAMAGED) as error:
        raise TransferError(f"{source} is no backup or is damaged ({error}); nothing was changed") from error


def copy(origin: Home, target: Home, *, left_out: Collection[str] = ()) -> None:
    """Put a home's files into another home.

    Raises:
        TransferError, StoreError, OSError: as `back_up` and `restore`.
    """
    with tempfile.TemporaryDirectory(prefix=".girdle-", dir=target.path) as folder:
        file = Path(folder) / "copy.zip"
        back_up(origin, file, left_out=left_out)
        restore(file, target)


def _files_of(home: Home, left_out: Collection[str]) -> Iterator[tuple[str, Path]]:
    """Every file by its place in the home; folders that links lead to are gone into, once each."""
    seen: set[str] = set()
    for path in _top_level(home):
        if path.name in left_out or path.name.startswith(tuple(_DATABASES)):
            continue
        if not path.is_dir():
            yield path.name, path
            continue
        for folder, folders, names in os.walk(path, followlinks=True):
            real = os.path.realpath(folder)
            if real in seen:
                folders.clear()
                continue
            seen.add(real)
            for file in (Path(folder) / name for name in sorted(names)):
                if file.is_file() and not _is_passing(file):
                    yield file.relative_to(home.path).as_posix(), file


def _top_level(home: Home) -> list[Path]:
    """What a backup holds and a restore replaces."""
    kept = (path for path in home.path.iterdir() if path.name not in _NOT_OF_THE_HOME)
    return sorted(path for path in kept if not _is_passing(path))


def _is_passing(path: Path) -> bool:
    """Temporary files, and lock files, which are empty and stand beside what they guard."""
    if any(path.match(pattern) for pattern in _PASSING):
        return True
    return path.suffix == ".lock" and path.is_file() and path.stat().st_size == 0


def _write(target: Path, sources: dict[str, Path], left_out: list[str], progress: Progress) -> None:
    total, done = sum(path.stat().st_size for path in sources.values()), 0
    manifest: dict[str, Any] = {"format": FORMAT, "made": time.time(), "left_out": left_out, "files": {}}
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in sources.items():
            digest, size = hashlib.sha256(), 0
            # A zip's names are text; the manifest says exactly which file it is.
            stored = f"home/{name.encode('utf-8', 'backslashreplace').decode()}"
            with path.open("rb") as file, archive.open(stored, "w", force_zip64=True) as member:
                while chunk := file.read(_CHUNK):
                    digest.update(chunk)
                    size += len(chunk)
                    member.write(chunk)
                    progress(min(done := done + len(chunk), total), total)
            manifest["files"][stored] = {"path": name, "size": size, "sha256": digest.hexdigest()}
        archive.writestr(_MANIFEST, json.dumps(manifest, indent=1))


def _extract(source: Path, staging: Path, progress: Progress) -> tuple[str, ...]:
    try:
        with zipfile.ZipFile(source) as archive:
            manifest = _manifest(archive, source)
            total, done = sum(entry["size"] for entry in manifest.values()), 0
            for stored, entry in manifest.items():
                place = staging / entry["path"]
                files.private_folder(place.parent)
                files.create_private_file(place)
                digest, size = hashlib.sha256(), 0
                with archive.open(stored) as member, place.open("wb") as file:
                    while chunk := member.read(_CHUNK):
                        digest.update(chunk)
                        size += len(chunk)
                        file.write(chunk)
                        progress(done := done + len(chunk), total)
                if (size, digest.hexdigest()) != (entry["size"], entry["sha256"]):
                    raise TransferError(f"{source} is damaged at {entry['path']}; nothing was changed")
            return tuple(entry["path"] for entry in manifest.values())
    except _DAMAGED as error:
        raise TransferError(f"{source} is no backup or is damaged ({error}); nothing was changed") from error


def _manifest(archive: zipfile.ZipFile, source: Path) -> dict[str, dict[str, Any]]:
    try:
        manifest = json.loads(archive.read(_MANIFEST))
    except ValueError as error:
        raise TransferError(f"{source} is damaged: its manifest cannot be read; nothing was changed") from error
    if manifest["format"] > FORMAT:
        raise TransferError(f"{source} was made by a newer girdlebook; upgrade first, nothing was changed")
    for entry in manifest["files"].values():
        path = PurePath(entry["path"])
        if path.anchor or ".." in path.parts or not path.parts or path.parts[0] in _NOT_OF_THE_HOME:
            raise TransferError(f"{source} names a place outside the home: {path}; nothing was changed")
    return dict(manifest["files"])


def _check_database(path: Path, schema: Schema, source: Path) -> None:
    """Open a database once, which also brings an older file up to date, and check every page and index word."""
    if not path.exists():
        return
    try:
        with contextlib.closing(Database(path, schema)) as database:
            if database.read_only:
                raise TransferError(f"{source} cannot be restored: {database.read_only}; nothing was changed")
            faults = [row[0] for row in database.read("PRAGMA integrity_check")]
            if faults == ["ok"] and path.name == "state.db":
                _check_index(database)
    except StoreError as error:
        raise TransferError(f"{source}: its {path.name} is damaged ({error}); nothing was changed") from error
    if faults != ["ok"]:
        raise TransferError(f"{source}: its {path.name} is damaged ({faults[0]}); nothing was changed")
    for companion in path.parent.glob(f"{path.name}?*"):
        companion.unlink()


def _check_index(database: Database) -> None:
    index = FullTextIndex(database)
    if index.fault():
        index.rebuild()


def _refuse_if_in_use(path: Path) -> None:
    """SQLite leaves the write-ahead log only where nobody else has the file open."""
    if not path.exists():
        return
    with contextlib.closing(sqlite3.connect(path, timeout=1.0)) as connection:
        try:
            connection.execute("PRAGMA journal_mode=DELETE")
        except sqlite3.OperationalError as error:
            raise TransferError(f"another process works with {path}; close it first") from error
        except sqlite3.DatabaseError:
            return  # damaged: that is what restoring is for


def _swap(staging: Path, home: Home) -> Path | None:
    """Move away what is there and put in what was verified; an error moves everything back."""
    kept = home.path / f".before-restore-{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}"
    moved: list[tuple[Path, Path]] = []
    try:
        for path in [path for path in _top_level(home) if path != staging]:
            files.private_folder(kept)
            _move(path, kept / path.name, moved)
        for path in sorted(staging.iterdir()):
            _move(path, home.path / path.name, moved)
    except OSError:
        for now, before in reversed([(new, old) for old, new in moved]):
            os.replace(now, before)
        raise
    return kept if kept.exists() else None


def _move(old: Path, new: Path, moved: list[tuple[Path, Path]]) -> None:
    os.replace(old, new)
    moved.append((old, new))
