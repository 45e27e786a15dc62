"""What was done to the memory files: each change with its origin, its conversation, its reason and its way back.

The files stay plain Markdown, and whoever edits them by hand is welcome: what the ledger does not know is entered as an
edit from outside at the next change or snapshot.  Entries are known by the SHA-256 of their text.
"""

import hashlib
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Literal

from girdlebook.curated.edits import Action, Edit
from girdlebook.database import Database, Schema
from girdlebook.errors import LedgerError
from girdlebook.safety import SCANNER_VERSION, scan

Origin = Literal["user_said", "agent", "local_tool", "untrusted", "provider", "import", "owner", "external_edit"]


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a change comes from: who caused it, in which session, and why, in a few words."""

    origin: Origin
    session_id: str | None = None
    reason: str = ""


OWNER = Provenance("owner")
"""The person whose memory it is, at the command line or in a program."""

EXTERNAL = Provenance("external_edit", reason="the file was edited outside")


@dataclass(frozen=True, slots=True)
class Event:
    """One entry that changed: its text before (None if it is new) and after (None if it is gone).

    `scope` is the file, `time` seconds since 1970, `verdict` what the scan of version `scanner` said of the new text,
    `undoes` the number of the event that this one took back.
    """

    id: int
    time: float
    scope: str
    action: Action
    before: str | None
    after: str | None
    provenance: Provenance
    verdict: str | None
    scanner: str | None
    undoes: int | None = None


class Ledger:
    """The record of all changes of one home's memory files.  Safe to use from many threads and processes.

    Get one with `open`; use it as a context manager, or call `close()`.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    def open(cls, path: Path) -> "Ledger":
        """Open the file, and make it where it does not exist.

        Raises:
            StoreError: it cannot be opened.
        """
        return cls(Database(path, ledger_schema()))

    @classmethod
    def open_read_only(cls, path: Path) -> "Ledger":
        """Open a file that exists so that no byte of it can change.

        Raises:
            StoreError: it cannot be opened.
        """
        return cls(Database.open_read_only(path, ledger_schema()))

    # ── writing ─────────────────────────────────────────────────────────────────────────────────────────────────

    def notice(self, scope: str, entries: Sequence[str]) -> list[Edit]:
        """Enter what was done to a file without us.  Call it while holding the file's lock.

        Parameters:
            entries: what the file holds.

        Returns:
            what was noticed; nothing for a file that is met for the first time: what stands there is its beginning.
        """
        known = self.known(scope)
        if known is not None and list(known) == list(entries):
            return []
        edits = [] if known is None else _differences(known, entries)
        if known is None and not entries:
            return []
        with self._database.write() as connection:
            if known is None:
                edits_of_beginning = [Edit("add", None, entry) for entry in entries]
                self._enter(connection, scope, edits_of_beginning, EXTERNAL, None)
            self._enter(connection, scope, edits, EXTERNAL, None)
            self._remember(connection, scope, entries)
        return edits

    def record(
        self,
        scope: str,
        edits: Sequence[Edit],
        entries: Sequence[str],
        provenance: Provenance,
        *,
        undoes: int | None = None,
    ) -> None:
        """Enter what was done to a file, after it was written.  Call it while holding the file's lock.

        Parameters:
            entries: what the file holds now.
            undoes: the event that this takes back.
        """
        with self._database.write() as connection:
            self._enter(connection, scope, edits, provenance, undoes)
            self._remember(connection, scope, entries)

    def _enter(
        self,
        connection: sqlite3.Connection,
        scope: str,
        edits: Sequence[Edit],
        provenance: Provenance,
        undoes: int | None,
    ) -> None:
        for edit in edits:
            verdict = None if edit.after is None else scan(edit.after).action
            connection.execute(
                """INSERT INTO events
                   (time, scope, action, before, after, origin, session_id, reason, verdict, scanner, undoes)
                   VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
                [
                    time.time(),
                    scope,
                    edit.action,
                    _store(connection, edit.before),
                    _store(connection, edit.after),
                    provenance.origin,
                    provenance.session_id,
                    provenance.reason,
                    verdict,
                    None if verdict is None else SCANNER_VERSION,
                    undoes,
                ],
            )

    def _remember(self, connection: sqlite3.Connection, scope: str, entries: Sequence[str]) -> None:
        connection.execute("DELETE FROM known WHERE scope = ?", [scope])
        connection.executemany(
            "INSERT INTO known VALUES (?, ?, ?)",
            [(scope, position, _store(connection, entry)) for position, entry in enumerate(entries)],
        )
        connection.execute("INSERT INTO seen_scopes VALUES (?) ON CONFLICT DO NOTHING", [scope])

    # ── reading ─────────────────────────────────────────────────────────────────────────────────────────────────

    def known(self, scope: str) -> tuple[str, ...] | None:
        """The entries as they were left; None for a file that was never met."""
        if not self._database.read("SELECT 1 FROM seen_scopes WHERE scope = ?", [scope]):
            return None
        rows = self._database.read(
            "SELECT t.text FROM known k JOIN texts t ON t.hash = k.hash WHERE k.scope = ? ORDER BY k.position", [scope]
        )
        return tuple(row["text"] for row in rows)

    def events(self, scopes: Sequence[str], *, limit: int = 20, words: str = "") -> list[Event]:
        """The latest changes of some files, the latest first.

        Parameters:
            words: only those whose text, before or after, holds this.
        """
        marks = ",".join("?" * len(scopes))
        like = f"%{words.replace(chr(92), chr(92) * 2).replace('%', chr(92) + '%').replace('_', chr(92) + '_')}%"
        rows = self._database.read(
            f"""{_EVENTS} WHERE e.scope IN ({marks})
                AND (coalesce(b.text, '') LIKE ? ESCAPE '\\' OR coalesce(a.text, '') LIKE ? ESCAPE '\\')
                ORDER BY e.id DESC LIMIT ?""",
            [*scopes, like, like, limit],
        )
        return [_event(row) for row in rows]

    def event(self, number: int) -> Event:
        """One change.

        Raises:
            LedgerError: there is none of this number.
        """
        rows = self._database.read(f"{_EVENTS} WHERE e.id = ?", [number])
        if not rows:
            raise LedgerError(f"there is no change {number}; `girdle memory log` lists them")
        return _event(rows[0])

    def history_of(self, entry: str) -> list[Event]:
        """How an entry came to be, the latest first: its own change, and those of what it replaced."""
        found: list[Event] = []
        wanted: str | None = entry
        before = 2**62
        while wanted is not None:
            rows = self._database.read(
                f"{_EVENTS} WHERE e.after = ? AND e.id < ? ORDER BY e.id DESC LIMIT 1", [_hash(wanted), before]
            )
            if not rows:
                break
            event = _event(rows[0])
            found.append(event)
            wanted, before = event.before, event.id
        return found

    def close(self) -> None:
        """Close the file.  A second call does nothing."""
        self._database.close()

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def ledger_schema() -> Schema:
    """What ledger.db holds."""
    folder = resources.files("girdlebook.curated") / "sql"
    names = sorted(file.name for file in folder.iterdir() if file.name.endswith(".sql"))
    return Schema(steps=[(folder / name).read_text(encoding="utf-8") for name in names])


_EVENTS = """
    SELECT e.*, b.text AS before_text, a.text AS after_text FROM events e
    LEFT JOIN texts b ON b.hash = e.before LEFT JOIN texts a ON a.hash = e.after"""


def _event(row: sqlite3.Row) -> Event:
    return Event(
        row["id"],
        row["time"],
        row["scope"],
        row["action"],
        row["before_text"],
        row["after_text"],
        Provenance(row["origin"], row["session_id"], row["reason"]),
        row["verdict"],
        row["scanner"],
        row["undoes"],
    )


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _store(connection: sqlite3.Connection, text: str | None) -> str | None:
    if text is None:
        return None
    connection.execute("INSERT INTO texts VALUES (?, ?) ON CONFLICT DO NOTHING", [_hash(text), text])
    return _hash(text)


def _differences(before: Sequence[str], after: Sequence[str]) -> list[Edit]:
    """What led from one list to the other: one entry in another's place is a replacement."""
    gone = [entry for entry in before if entry not in after]
    new = [entry for entry in after if entry not in before]
    edits: list[Edit] = []
    for entry in list(gone):
        place = before.index(entry)
        twin = after[place] if place < len(after) and after[place] in new and len(before) == len(after) else None
        if twin is not None:
            edits.append(Edit("replace", entry, twin))
            gone.remove(entry)
            new.remove(twin)
    edits += [Edit("remove", entry, None) for entry in gone]
    return [*edits, *(Edit("add", None, entry) for entry in new)]
