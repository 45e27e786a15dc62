"""`girdle doctor`: is everything where it should be, and does it work?"""

import os
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from girdlebook import settings
from girdlebook.cli.output import Json, out, out_json
from girdlebook.curated.snapshot import FILE_NAMES, shown
from girdlebook.curated.store import MemoryStore
from girdlebook.database import has_wal_reset_fault
from girdlebook.errors import GirdleError
from girdlebook.filesystems import SHARED, type_of
from girdlebook.memory import open_curated
from girdlebook.messages import Message
from girdlebook.profiles import Home, resolve
from girdlebook.sessions.sqlite import SQLiteSessionStore

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_MARKS = {"ok": "ok     ", "note": "note   ", "wrong": "WRONG  ", "fixed": "fixed  "}


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found or one repair did, and what is to be done.  Only `wrong` fails the command."""

    check: str
    verdict: Literal["ok", "note", "wrong", "fixed"]
    found: str
    advice: str = ""


@app.command("doctor")
def doctor(
    context: typer.Context,
    fix: Annotated[bool, typer.Option("--fix", help="Mend what can be mended, and say what was done.")] = False,
    as_json: Json = False,
) -> None:
    """Check the home, its files and SQLite; explain what is wrong and what to do.

    Without --fix nothing that was there is changed.  The exit code is 1 where something is wrong.
    """
    home = resolve(context.obj)
    repairs = list(mend(home)) if fix else []
    findings = [*repairs, *examine(home)]
    healthy = all(finding.verdict != "wrong" for finding in findings)
    if as_json:
        out_json({"healthy": healthy, "home": str(home.path), "findings": [asdict(finding) for finding in findings]})
    else:
        _print(findings, healthy)
    raise typer.Exit(0 if healthy else 1)


def mend(home: Home) -> Iterator[Finding]:
    """Close what others can read, and make a broken search index anew from the messages."""
    if not home.path.exists():
        return
    for path in (home.path, *_private(home)):
        if path.exists() and os.name != "nt" and _others_may(path):
            path.chmod(0o700 if path.is_dir() else 0o600)
            yield Finding("privacy", "fixed", f"only you can read {path} now")
    if not home.state_db.exists():
        return
    try:
        with SQLiteSessionStore.open(home.state_db) as store:
            fault = store.index.fault()
            if fault is not None:
                store.index.rebuild()
                yield Finding("search index", "fixed", f"made anew from the messages: {fault}")
    except (GirdleError, OSError) as error:
        yield Finding(
            "search index", "wrong", str(error), f"restore {home.state_db} from a backup: girdle restore FILE"
        )


def examine(home: Home) -> Iterator[Finding]:
    """All checks of a home, in order."""
    yield _place(home)
    yield from _sqlite()
    yield from _settings(home)
    if not home.path.exists():
        yield _could_be_made(home)
        return
    yield from _modes(home)
    yield from _memory_files(home)
    if home.state_db.exists():
        yield from _conversations(home)
    yield _write_and_read(home)


def _print(findings: list[Finding], healthy: bool) -> None:
    for finding in findings:
        out(f"{_MARKS[finding.verdict]} {finding.check:<14} {finding.found}")
        if finding.advice:
            out(f"{'':8} {'':14} → {finding.advice}")
    out("everything works" if healthy else "something is wrong; see above")


def _place(home: Home) -> Finding:
    chosen = os.environ.get("GIRDLE_HOME", "")
    if chosen and not Path(chosen).expanduser().is_absolute():
        advice = "GIRDLE_HOME is relative, so each working directory has its own memory; make it absolute"
        return Finding("home", "note", str(home.path), advice)
    return Finding("home", "ok", f"{home.path}{'' if home.path.exists() else ' (not made yet)'}")


def _sqlite() -> Iterator[Finding]:
    version = sqlite3.sqlite_version
    if has_wal_reset_fault(sqlite3.sqlite_version_info):
        found = f"{version}; a commit that meets a checkpoint could be lost, so writers take turns by a lock file"
        yield Finding("sqlite", "ok", found)
    else:
        yield Finding("sqlite", "ok", version)
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE probe USING fts5(words)")
        yield Finding("full text", "ok", "FTS5 is there")
    except sqlite3.OperationalError as error:
        yield Finding("full text", "wrong", f"no FTS5 ({error})", "use a Python whose SQLite has FTS5 compiled in")
    finally:
        connection.close()


def _settings(home: Home) -> Iterator[Finding]:
    try:
        settings.load(home)
    except GirdleError as error:
        yield Finding("settings", "wrong", str(error), "until then no command works here")
    else:
        there = home.config_file.exists()
        yield Finding("settings", "ok", str(home.config_file) if there else "defaults (there is no config.yaml)")


def _could_be_made(home: Home) -> Finding:
    parent = next(folder for folder in home.path.parents if folder.exists())
    if os.access(parent, os.W_OK | os.X_OK):
        return Finding("writing", "ok", "the home can be made; the first chat does it")
    return Finding("writing", "wrong", f"{parent} is not writable", "choose another place with GIRDLE_HOME")


def _modes(home: Home) -> Iterator[Finding]:
    """Whether others can read what lies here; in a closed folder loose files do no harm."""
    if os.name == "nt":
        return
    is_open = _others_may(home.path)
    if is_open:
        yield Finding("privacy", "wrong", f"others can look into {home.path}", f"chmod 700 '{home.path}'")
    loose = [file for file in _private(home) if file.exists() and _others_may(file)]
    for file in loose:
        verdict: Literal["note", "wrong"] = "wrong" if is_open else "note"
        yield Finding("privacy", verdict, f"the mode of {file} lets others read it", f"chmod 600 '{file}'")
    if not is_open and not loose:
        yield Finding("privacy", "ok", "only you can read it")


def _private(home: Home) -> list[Path]:
    return [
        home.env_file,
        home.state_db,
        home.ledger_db,
        home.config_file,
        *(home.memories / name for name in FILE_NAMES.values()),
    ]


def _others_may(path: Path) -> bool:
    return bool(stat.S_IMODE(path.stat().st_mode) & 0o077)


def _memory_files(home: Home) -> Iterator[Finding]:
    try:
        store = open_curated(home, settings.load(home).config, None)
    except GirdleError:
        return  # the settings are reported already
    for target in store.targets:
        try:
            yield _memory_file(store, target)
        except GirdleError as error:
            yield Finding(FILE_NAMES[target], "wrong", str(error), "nothing is remembered there until it can be read")


def _memory_file(store: MemoryStore, target: Literal["memory", "user"]) -> Finding:
    usage, entries = store.usage(target), store.entries(target)
    held_back = sum(shown(target, entry) != entry for entry in entries)
    if held_back:
        advice = f"look at them with: girdle memory show {target}"
        return Finding(FILE_NAMES[target], "note", f"{held_back} entries are held back from models", advice)
    if usage.is_high:
        advice = f"shorten or remove entries: girdle memory edit {target}"
        return Finding(FILE_NAMES[target], "note", f"{usage}, nearly full", advice)
    return Finding(FILE_NAMES[target], "ok", f"{len(entries)} entries, {usage}")


def _conversations(home: Home) -> Iterator[Finding]:
    """Every page and every word of the index, checked on a copy, since the check itself wants to write."""
    try:
        with tempfile.TemporaryDirectory(prefix="girdle-doctor-") as folder:
            copy = Path(folder) / "state.db"
            with SQLiteSessionStore.open_read_only(home.state_db) as store:
                latest, mode = store.recent(limit=1), store.database.journal_mode
                store.database.copy_to(copy)
            with SQLiteSessionStore.open(copy) as store:
                faults = [row[0] for row in store.database.read("PRAGMA integrity_check")]
                fault = store.read_only or store.index.fault() if faults == ["ok"] else None
    except (GirdleError, OSError) as error:
        advice = f"restore {home.state_db} from a backup, or move it away: a new one is made by itself"
        yield Finding("conversations", "wrong", str(error), advice)
        return
    if faults != ["ok"]:
        yield Finding("conversations", "wrong", f"damaged: {faults[0]}", "restore a backup: girdle restore FILE")
        return
    yield Finding("conversations", "ok", f"readable, the latest is {latest[0].id}" if latest else "readable, none yet")
    if fault is not None:
        yield Finding("search index", "wrong", fault, "messages are safe; mend it with: girdle doctor --fix")
    else:
        yield Finding("search index", "ok", "agrees with the messages word by word")
    yield _journal(home, mode)


def _journal(home: Home, mode: str) -> Finding:
    kind = type_of(home.path)
    if kind in SHARED and mode == "wal":
        advice = "machines that share this folder may corrupt it; keep the home on a local disk"
        return Finding("journal", "wrong", f"write-ahead log on {kind}", advice)
    note = " (shared between machines; no write-ahead log there)" if kind in SHARED else ""
    return Finding("journal", "ok", f"{mode} on {kind or 'an unknown file system'}{note}")


def _write_and_read(home: Home) -> Finding:
    """Store and find an entry and a message in a folder that is gone afterwards."""
    try:
        with tempfile.TemporaryDirectory(prefix=".doctor-", dir=home.path) as folder:
            found = _round_trip(Path(folder))
    except (GirdleError, OSError) as error:
        advice = "make room or make it writable; nothing can be remembered until then"
        return Finding("writing", "wrong", f"a test entry could not be stored: {error}", advice)
    if not found:
        return Finding("writing", "wrong", "what was stored is not found again", "report this with your SQLite version")
    return Finding("writing", "ok", "a test entry and a test message were stored, found and removed")


def _round_trip(folder: Path) -> bool:
    text = "the doctor called / 医生来过"
    store = MemoryStore.open(folder)
    store.add("memory", text)
    with SQLiteSessionStore.open(folder / "state.db") as sessions:
        session = sessions.create_session(source="doctor")
        sessions.append(session.id, Message(role="user", content=text))
        return bool(sessions.search("医生")) and bool(sessions.search("doctor")) and store.entries("memory") == (text,)
