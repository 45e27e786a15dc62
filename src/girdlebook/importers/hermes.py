"""A home of Hermes Agent: its memory files and its conversations, read and never written.

Columns are looked up and not deduced from a version number, so that its older and newer files are read alike.
"""

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from girdlebook.curated.ledger import Provenance
from girdlebook.curated.store import MemoryStore
from girdlebook.errors import GirdleError, TransferError, UnreadableFile
from girdlebook.sessions.sqlite import SQLiteSessionStore
from girdlebook.sessions.transfer import Imported, import_rows

# How Hermes keeps content that is more than text.
_JSON_CONTENT = "\0json:"


@dataclass(frozen=True, slots=True)
class ImportedEntry:
    """What became of an entry of MEMORY.md or USER.md: `imported`, `skipped` (it was there) or `refused`."""

    target: str
    content: str
    outcome: str
    reason: str = ""


class HermesHome:
    """A home of Hermes.

    Parameters:
        path: None for `$HERMES_HOME`, else `~/.hermes`.

    Raises:
        TransferError: there is none.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = (path or Path(os.environ.get("HERMES_HOME") or "~/.hermes")).expanduser().absolute()
        if not self.state_db.exists() and not self.memories.is_dir():
            raise TransferError(f"{self.path} is no home of Hermes: neither state.db nor memories/ is there")

    @property
    def state_db(self) -> Path:
        """Its conversations."""
        return self.path / "state.db"

    @property
    def memories(self) -> Path:
        """The folder of its MEMORY.md and USER.md."""
        return self.path / "memories"

    def count(self) -> int:
        """How many conversations it has.

        Raises:
            TransferError: state.db cannot be read.
        """
        with self._reading() as connection:
            return int(connection.execute("SELECT count(*) FROM sessions").fetchone()[0]) if connection else 0

    def rows(self) -> Iterator[dict[str, Any]]:
        """Its conversations, the oldest first, each as a line of its export would be.

        Raises:
            TransferError: state.db cannot be read.
        """
        with self._reading() as connection:
            if connection is None:
                return
            for session in connection.execute("SELECT * FROM sessions ORDER BY started_at, id").fetchall():
                row = dict(session)
                row["messages"] = [_message(one) for one in _messages(connection, row["id"])]
                row["system_prompt"] = _prompt(connection, row.get("system_prompt"))
                usage = _usage(connection, row["id"])
                yield row | ({"model_usage": usage} if usage else {})

    def import_sessions(self, store: SQLiteSessionStore) -> Iterator[Imported]:
        """Put its conversations into a store; those that are there already are skipped.

        Raises:
            TransferError: state.db cannot be read.
        """
        return import_rows(store, enumerate(self.rows(), 1))

    def import_entries(self, store: MemoryStore) -> Iterator[ImportedEntry]:
        """Add the entries of its memory files, through the same scan and limits as any other write."""
        theirs = MemoryStore.open(self.memories)
        for target in store.targets:
            try:
                entries = theirs.entries(target)
            except UnreadableFile as error:
                yield ImportedEntry(target, "", "refused", str(error))
                continue
            for entry in entries:
                yield _import_entry(store, target, entry)

    @contextlib.contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection | None]:
        if not self.state_db.exists():
            yield None
            return
        try:
            # Where nobody has it open, not even SQLite's two companion files are made.
            at_rest = not Path(f"{self.state_db}-wal").exists()
            uri = f"{self.state_db.as_uri()}?mode=ro{'&immutable=1' if at_rest else ''}"
            with contextlib.closing(sqlite3.connect(uri, uri=True)) as connection:
                connection.row_factory = sqlite3.Row
                connection.text_factory = _text
                yield connection
        except sqlite3.Error as error:
            raise TransferError(f"{self.state_db} cannot be read: {error}") from error


def _messages(connection: sqlite3.Connection, session_id: str) -> Iterator[dict[str, Any]]:
    """The messages that were not rewound away."""
    cursor = connection.execute("SELECT * FROM messages WHERE session_id = ? ORDER BY id", [session_id])
    for row in map(dict, cursor):
        if row.get("active", 1) or row.get("compacted"):
            yield row


def _message(row: dict[str, Any]) -> dict[str, Any]:
    content = row.get("content")
    if isinstance(content, bytes):
        content = row["content"] = _text(content)
    if isinstance(content, str) and content.startswith(_JSON_CONTENT):
        with contextlib.suppress(ValueError, RecursionError):  # what is no JSON stays as it stands
            parts = json.loads(content.removeprefix(_JSON_CONTENT))
            row["content"] = parts if isinstance(parts, list | str) else content.removeprefix(_JSON_CONTENT)
    return row


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _prompt(connection: sqlite3.Connection, stored: str | None) -> str | None:
    """The system prompt, which later versions keep once in a table of its own."""
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    for table in {"system_prompts", "session_prompts"} & tables:
        columns = [row["name"] for row in connection.execute(f"PRAGMA table_info({table})")]
        found = connection.execute(f"SELECT * FROM {table} WHERE {columns[0]} = ?", [stored]).fetchone()
        if found is not None:
            return str(found[1])
    return stored


def _usage(connection: sqlite3.Connection, session_id: str) -> list[dict[str, Any]]:
    """Usage by model and task, where this version kept it."""
    if not connection.execute("PRAGMA table_info(session_model_usage)").fetchall():
        return []
    rows = connection.execute("SELECT * FROM session_model_usage WHERE session_id = ?", [session_id])
    return [_usage_row(dict(row)) for row in rows]


def _usage_row(row: dict[str, Any]) -> dict[str, Any]:
    """Its own estimates of costs are none of ours; what a vendor charged is."""
    calls, cost = row.get("api_call_count") or 0, row.get("actual_cost_usd") or None
    return row | {"task": row.get("task") or "chat", "calls": calls, "cost_usd": cost}


def _import_entry(store: MemoryStore, target: str, entry: str) -> ImportedEntry:
    if entry in store.entries(target):
        return ImportedEntry(target, entry, "skipped", "it is there already")
    try:
        store.add(target, entry, provenance=Provenance("import", reason="from Hermes Agent"))
    except GirdleError as error:
        return ImportedEntry(target, entry, "refused", " ".join(str(error).split()))
    return ImportedEntry(target, entry, "imported")
