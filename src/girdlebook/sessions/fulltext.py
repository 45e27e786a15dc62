"""The full-text index of one SQLite file: words in, ranked messages out (docs/adr/0002).

A damaged index never keeps a message from being stored, and a search then falls back to literal matches and says so
(reports L2-14, L2-32).
"""

import logging
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from girdlebook.database import Database
from girdlebook.errors import StoreCorrupt, StoreError
from girdlebook.sessions.query import SearchQuery
from girdlebook.sessions.ranking import Candidate, ranked
from girdlebook.sessions.rows import call_words, content_words
from girdlebook.sessions.schema import index_statement

_LOG = logging.getLogger(__name__)

VISIBLE = "(m.active = 1 OR m.compacted = 1) AND m.finish_reason IS NOT 'compression'"
"""Messages that were said and not rewound away: what the model sees, and what compression archived, but no summary."""

NO_INDEX = "this file has no full-text index: it was made by an SQLite without FTS5"

_POOL = 120
"""Hits that are taken from the index before neighbours have their say."""

_SPEAKING = 60
"""The best hits whose neighbours may be answers without holding a word of the question."""

_QUESTION = 3
"""From this many terms on a query is a question; fewer are words that a hit must hold."""

_CALL_WEIGHT = 0.3
"""What a word in a tool call counts beside one in a text."""

_DAMAGED = "index_damaged"

_EMPTIED = (
    "DELETE FROM messages_fts_data",
    "DELETE FROM messages_fts_idx",
    "DELETE FROM messages_fts_docsize",
    # The two records of an empty index, as FTS5's file format has them: averages, and a structure without segments.
    "INSERT INTO messages_fts_data VALUES (1, x''), (10, x'00000000000000')",
)
"""What makes a broken index an empty one; FTS5 itself can neither read nor drop it any more."""


class FullTextIndex:
    """The index of a session store's messages."""

    def __init__(self, database: Database) -> None:
        self._database = database
        marked = database.read("SELECT 1 FROM store_meta WHERE key = ?", [_DAMAGED]) if _has_meta(database) else []
        self.damaged = bool(marked)
        self.missing = not database.read("SELECT 1 FROM sqlite_master WHERE name = 'messages_fts'")

    def add(self, connection: sqlite3.Connection, message_id: int, row: Mapping[str, Any]) -> None:
        """Put a message's words in; where that fails, mark the index as damaged and go on."""
        if self.missing:
            return
        with self._or_marked(connection):
            _change(connection, message_id, row, delete=False)

    def remove(self, connection: sqlite3.Connection, rows: Iterable[Mapping[str, Any]]) -> None:
        """Take exactly the words of these messages out; where that fails, mark the index as damaged and go on."""
        if self.missing:
            return
        with self._or_marked(connection):
            for row in rows:
                _change(connection, row["id"], row, delete=True)

    def search(
        self, query: SearchQuery, limit: int, filters: str, parameters: list[object], *, calls: bool
    ) -> list[Candidate]:
        """The best messages for a query.

        Parameters:
            limit: the most of them.
            filters, parameters: SQL over `m` and `s`.
            calls: whether words in tool names and arguments count.
        """
        if not self.damaged and not self.missing:
            try:
                return self._ranked(query, max(_POOL, limit), filters, parameters, calls)[:limit]
            except StoreCorrupt:
                self.damaged = True
        return self._literal(query, limit, filters, parameters)

    def fault(self) -> str | None:
        """What is wrong with the index, compared word by word with the messages; None where it is sound.

        Raises:
            StoreError: the check could not be made.
        """
        if self.missing:
            return NO_INDEX
        if self.damaged:
            return "a message could not be indexed, or a search found it broken"
        try:
            with self._database.write() as connection:
                connection.execute("INSERT INTO messages_fts(messages_fts, rank) VALUES ('integrity-check', 1)")
        except StoreCorrupt:
            return "it does not agree with the messages"
        return None

    def rebuild(self) -> None:
        """Make the index anew from the messages, which are left alone.

        Raises:
            StoreError: even a new index could not be made.
        """
        try:
            with self._database.write() as connection:
                if self.missing:
                    connection.execute(index_statement())
                connection.execute("INSERT INTO messages_fts(messages_fts) VALUES ('rebuild')")
                self._unmark(connection)
        except StoreCorrupt:
            with self._database.write() as connection:
                for statement in _EMPTIED:
                    connection.execute(statement)
                connection.execute("INSERT INTO messages_fts(messages_fts) VALUES ('rebuild')")
                self._unmark(connection)
        self.damaged = self.missing = False

    def forget_deleted(self, connection: sqlite3.Connection) -> None:
        """Merge the index so that words of removed messages are no longer in it, not even marked as gone."""
        if not self.missing:
            connection.execute("INSERT INTO messages_fts(messages_fts) VALUES ('optimize')")

    @contextmanager
    def _or_marked(self, connection: sqlite3.Connection) -> Iterator[None]:
        """Changes of the index that are all taken back where one fails; the index is then marked as damaged."""
        connection.execute("SAVEPOINT indexing")
        try:
            yield
            # A further savepoint makes FTS5 write what it holds back: a fault shows here and not at the commit.
            connection.execute("SAVEPOINT indexed")
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorname", "").startswith("SQLITE_FULL"):
                raise
            connection.execute("ROLLBACK TO indexing")
            self._mark(connection)
        connection.execute("RELEASE indexing")

    def _mark(self, connection: sqlite3.Connection) -> None:
        self.damaged = True
        _LOG.error("the full-text index is damaged; mend it with: girdle doctor --fix")
        connection.execute("INSERT INTO store_meta VALUES (?, '1') ON CONFLICT DO NOTHING", [_DAMAGED])

    def _unmark(self, connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM store_meta WHERE key = ?", [_DAMAGED])

    def _ranked(
        self, query: SearchQuery, pool: int, filters: str, parameters: list[object], calls: bool
    ) -> list[Candidate]:
        """Rows with every word first, then rows with some; evidence in the messages beside them counts."""
        columns = "{words calls}" if calls else "{words}"
        sql = f"""
            SELECT m.id, m.session_id, length(m.content) AS size,
                   -bm25(messages_fts, 1.0, {_CALL_WEIGHT}) AS score
            FROM messages_fts JOIN messages m ON m.id = messages_fts.rowid JOIN sessions s ON s.id = m.session_id
            WHERE messages_fts MATCH ? AND {VISIBLE} AND {filters}
            ORDER BY score DESC, m.id DESC LIMIT ?"""
        read = self._database.read
        every = {row["id"] for row in read(sql, [f"{columns} : ({query.every()})", *parameters, pool])}
        rows = read(sql, [f"{columns} : ({query.any()})", *parameters, pool])
        found = [Candidate(row["id"], row["session_id"], row["score"], row["size"], row["id"] in every) for row in rows]
        beside = self._neighbours(found[:_SPEAKING], filters, parameters) if len(query.terms) >= _QUESTION else []
        return ranked(found, beside)

    def _neighbours(self, found: Iterable[Candidate], filters: str, parameters: list[object]) -> list[Candidate]:
        """The messages directly beside the found ones, as candidates without a score of their own."""
        ids = [candidate.id for candidate in found]
        marks = ",".join("?" * len(ids))
        beside = f"""
            SELECT (SELECT max(b.id) FROM messages b WHERE b.session_id = a.session_id AND b.id < a.id)
            FROM messages a WHERE a.id IN ({marks})
            UNION SELECT (SELECT min(b.id) FROM messages b WHERE b.session_id = a.session_id AND b.id > a.id)
            FROM messages a WHERE a.id IN ({marks})"""
        rows = self._database.read(
            f"""SELECT m.id, m.session_id, length(m.content) AS size
                FROM messages m JOIN sessions s ON s.id = m.session_id
                WHERE m.id IN ({beside}) AND m.content != '' AND {VISIBLE} AND {filters}""",
            [*ids, *ids, *parameters],
        )
        return [Candidate(row["id"], row["session_id"], 0.0, row["size"], False) for row in rows]

    def _literal(self, query: SearchQuery, limit: int, filters: str, parameters: list[object]) -> list[Candidate]:
        """Without the index: the newest messages that hold one of the words as it stands."""
        words = [word for term in query.terms for word in term][:16]
        likes = " OR ".join(["m.content LIKE ? ESCAPE '\\'"] * len(words))
        rows = self._database.read(
            f"""SELECT m.id, m.session_id, length(m.content) AS size
                FROM messages m JOIN sessions s ON s.id = m.session_id
                WHERE ({likes}) AND {VISIBLE} AND {filters} ORDER BY m.id DESC LIMIT ?""",
            [*(f"%{escape_like(word)}%" for word in words), *parameters, limit],
        )
        return [Candidate(row["id"], row["session_id"], 0.0, row["size"], False) for row in rows]


def escape_like(word: str) -> str:
    """The word for a LIKE with `ESCAPE '\\'`, where % and _ mean themselves (report L2-13)."""
    return word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _has_meta(database: Database) -> bool:
    try:
        return bool(database.read("SELECT 1 FROM sqlite_master WHERE name = 'store_meta'"))
    except StoreError:
        return False


def _change(connection: sqlite3.Connection, message_id: int, row: Mapping[str, Any], *, delete: bool) -> None:
    words = "" if row["finish_reason"] == "compression" else content_words(row["content"])
    values = [message_id, words, call_words(row["tool_name"], row["tool_calls"])]
    if delete:
        connection.execute(
            "INSERT INTO messages_fts(messages_fts, rowid, words, calls) VALUES ('delete', ?, ?, ?)", values
        )
    else:
        connection.execute("INSERT INTO messages_fts(rowid, words, calls) VALUES (?, ?, ?)", values)
