"""Conversations in one SQLite file, with full-text search."""

import hashlib
import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import closing
from importlib import resources
from pathlib import Path
from types import TracebackType
from typing import Any

from girdlebook.database import Database
from girdlebook.errors import ScopeError, SessionNotFound, StoreCorrupt, StoreError
from girdlebook.messages import Message, Usage
from girdlebook.sessions.query import SearchQuery, parse
from girdlebook.sessions.ranking import Candidate, ranked
from girdlebook.sessions.rows import call_words, content_words, from_row, plain, to_row
from girdlebook.sessions.snippets import snippet
from girdlebook.sessions.store import SearchHit, SessionRecord, StoredMessage, new_session_id

_FUNCTIONS: dict[str, tuple[int, Callable[..., Any]]] = {
    "girdle_words": (1, content_words),
    "girdle_call_words": (2, call_words),
}
_POOL = 120
"""Hits that are taken from the index before neighbours have their say."""

_SPEAKING = 60
"""The best hits whose neighbours may be answers without holding a word of the question."""

_QUESTION = 3
"""From this many terms on a query is a question; fewer are words that a hit must hold."""

_CALL_WEIGHT = 0.3
"""What a word in a tool call counts beside one in a text."""

_VISIBLE = "(m.active = 1 OR m.compacted = 1)"


class Everybody:
    """The scope of a store that is bound to nobody."""


EVERYBODY = Everybody()


class SQLiteSessionStore:
    """The session store that needs nothing but a file.  Safe to use from many threads and processes.

    Get one with `open`; use it as a context manager, or call `close()`.
    """

    def __init__(self, database: Database, scope: str | Everybody | None) -> None:
        self._database = database
        self._scope = scope
        self._index_damaged = False

    @classmethod
    def open(cls, path: Path) -> "SQLiteSessionStore":
        """Open the file, and make it where it does not exist.

        Raises:
            StoreCorrupt: the file is damaged or no database.
            StoreError: it was made by a newer version, or cannot be opened.
        """
        folder = resources.files("girdlebook.sessions") / "sql" / "sqlite"
        names = sorted(file.name for file in folder.iterdir() if file.name.endswith(".sql"))
        steps = [(folder / name).read_text(encoding="utf-8") for name in names]
        return cls(Database(Path(path), steps=steps, functions=_FUNCTIONS), EVERYBODY)

    def for_user(self, user_id: str | None) -> "SQLiteSessionStore":
        """The same store, bound to one user: the sessions of others do not exist for it (report L2-24).

        Parameters:
            user_id: None for the home's owner, whose sessions carry no user.

        Raises:
            ScopeError: this store is bound to somebody else already.
        """
        self._check_user(user_id)
        return SQLiteSessionStore(self._database, user_id)

    @property
    def degraded(self) -> bool:
        """Whether the index was found damaged: searches then look for literal matches in the newest messages."""
        return self._index_damaged

    # ── sessions ────────────────────────────────────────────────────────────────────────────────────────────────

    def create_session(
        self,
        id: str | None = None,
        *,
        source: str,
        user_id: str | None = None,
        title: str | None = None,
        started_at: float | None = None,
        parent_session_id: str | None = None,
        model: str | None = None,
        system_prompt: str | None = None,
    ) -> SessionRecord:
        """Store a new session.  One that exists already under this id, for the same user, is left as it is.

        Parameters:
            id: None for a new one.
            source: where it takes place (`cli`, `library`, …).
            user_id: whose it is; None for the home's owner.
            started_at: seconds since 1970; None for now.
            system_prompt: stored once per text.

        Raises:
            ScopeError: the store is bound to another user, or the id belongs to one.
        """
        if user_id is None and not isinstance(self._scope, Everybody):
            user_id = self._scope
        self._check_user(user_id)
        session_id, now = id or new_session_id(), time.time() if started_at is None else started_at
        row = {
            "id": session_id,
            "source": source,
            "user_id": user_id,
            "title": None if title is None else plain(title),
            "model": model,
            "parent_session_id": parent_session_id,
            "started_at": now,
            "last_active": now,
        }
        with self._database.write() as connection:
            row["system_prompt"] = None if system_prompt is None else _store_prompt(connection, plain(system_prompt))
            _insert(connection, "sessions", row, "ON CONFLICT(id) DO NOTHING")
        try:
            return self.session(session_id)
        except SessionNotFound as error:
            raise ScopeError(f"session {session_id!r} belongs to another user; choose another id") from error

    def session(self, session_id: str) -> SessionRecord:
        """What is known of a session.

        Raises:
            SessionNotFound: there is none with this id in this store's scope.
        """
        scope, parameters = self._in_scope()
        rows = self._database.read(f"{_SESSIONS} WHERE s.id = ? AND {scope}", [session_id, *parameters])
        if not rows:
            raise SessionNotFound(session_id)
        return _record(rows[0])

    def recent(self, *, limit: int = 20, offset: int = 0) -> list[SessionRecord]:
        """Sessions by last activity, the latest first."""
        scope, parameters = self._in_scope()
        rows = self._database.read(
            f"{_SESSIONS} WHERE {scope} ORDER BY s.last_active DESC, s.id DESC LIMIT ? OFFSET ?",
            [*parameters, limit, offset],
        )
        return [_record(row) for row in rows]

    def end_session(self, session_id: str, reason: str) -> None:
        """Mark a session as ended; the first reason stays.

        Raises:
            SessionNotFound
        """
        self.session(session_id)
        with self._database.write() as connection:
            connection.execute(
                "UPDATE sessions SET ended_at = ?, end_reason = ? WHERE id = ? AND ended_at IS NULL",
                [time.time(), reason, session_id],
            )

    def delete_session(self, session_id: str) -> None:
        """Remove a session with its messages, from the index too.

        Raises:
            SessionNotFound
        """
        self.session(session_id)
        with self._database.write() as connection:
            rows = connection.execute("SELECT * FROM messages WHERE session_id = ?", [session_id]).fetchall()
            for row in rows:
                _index(connection, row["id"], row, delete=True)
            connection.execute("DELETE FROM sessions WHERE id = ?", [session_id])

    # ── messages ────────────────────────────────────────────────────────────────────────────────────────────────

    def append(
        self,
        session_id: str,
        message: Message,
        *,
        timestamp: float | None = None,
        client_id: str | None = None,
        usage: Usage | None = None,
        model: str | None = None,
    ) -> int:
        """Store a message; when this returns, it survives a power cut.

        Parameters:
            timestamp: seconds since 1970; None for now.
            client_id: chosen by the caller; a second append with the same one changes nothing and gives the first id.
                A failed append may have been stored all the same, so a retry needs one.
            usage: what the model call behind it used; added to the session's sums.
            model: which model answered.

        Returns:
            the message's number.

        Raises:
            SessionNotFound, StoreBusy, StoreFull
        """
        return self._append(session_id, [(message, timestamp, client_id)], usage, model)[0]

    def append_many(
        self, session_id: str, messages: Sequence[Message], *, timestamps: Sequence[float] | None = None
    ) -> list[int]:
        """Store several messages in one transaction: all of them or none.

        Raises:
            SessionNotFound, StoreBusy, StoreFull
            ValueError: there are not as many timestamps as messages.
        """
        times: Sequence[float | None] = [None] * len(messages) if timestamps is None else timestamps
        return self._append(session_id, [(m, t, None) for m, t in zip(messages, times, strict=True)], None, None)

    def messages(self, session_id: str) -> list[StoredMessage]:
        """The session's messages that the model sees, in order.

        Raises:
            SessionNotFound
        """
        self.session(session_id)
        rows = self._database.read(
            "SELECT * FROM messages WHERE session_id = ? AND active = 1 ORDER BY id", [session_id]
        )
        return [_stored(row) for row in rows]

    def around(self, message_id: int, *, window: int = 5) -> list[StoredMessage]:
        """A message and up to `window` visible ones on each side of it in its session.

        Raises:
            StoreError: there is no such message in this store's scope.
        """
        rows = self._database.read("SELECT session_id FROM messages WHERE id = ?", [message_id])
        if not rows:
            raise StoreError(f"no message {message_id}; take the number from a search hit")
        session_id = self.session(rows[0]["session_id"]).id
        sql = f"SELECT m.* FROM messages m WHERE m.session_id = ? AND {_VISIBLE}"
        before = self._database.read(f"{sql} AND m.id < ? ORDER BY m.id DESC LIMIT ?", [session_id, message_id, window])
        after = self._database.read(f"{sql} AND m.id >= ? ORDER BY m.id LIMIT ?", [session_id, message_id, window + 1])
        return [_stored(row) for row in (*reversed(before), *after)]

    # ── search ──────────────────────────────────────────────────────────────────────────────────────────────────

    def search(
        self,
        query: str,
        *,
        limit: int = 20,
        session_id: str | None = None,
        user_id: str | None = None,
        roles: Collection[str] | None = None,
    ) -> list[SearchHit]:
        """Messages that answer a question or hold its words, the best first.  No query raises.

        Archived messages are found too.  Words in tool names and arguments count only where `roles` names `tool`.

        Parameters:
            limit: the most hits.
            session_id, user_id, roles: only messages of these.

        Raises:
            ScopeError: the store is bound to another user.
        """
        wanted = parse(query)
        if not wanted.terms or limit < 1:
            return []
        filters, parameters = self._filters(session_id, user_id, roles)
        if not self._index_damaged:
            try:
                hits = self._search_index(wanted, max(_POOL, limit), filters, parameters, calls="tool" in (roles or ()))
                return self._hits(wanted, hits[:limit])
            except StoreCorrupt:
                self._index_damaged = True
        return self._hits(wanted, self._search_text(wanted, limit, filters, parameters))

    def _search_index(
        self, query: SearchQuery, pool: int, filters: str, parameters: list[object], *, calls: bool
    ) -> list[Candidate]:
        """Rows with every word first, then rows with some; evidence in the messages beside them counts."""
        columns = "{words calls}" if calls else "{words}"
        sql = f"""
            SELECT m.id, m.session_id, length(m.content) AS size,
                   -bm25(messages_fts, 1.0, {_CALL_WEIGHT}) AS score
            FROM messages_fts JOIN messages m ON m.id = messages_fts.rowid JOIN sessions s ON s.id = m.session_id
            WHERE messages_fts MATCH ? AND {_VISIBLE} AND {filters}
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
                WHERE m.id IN ({beside}) AND m.content != '' AND {_VISIBLE} AND {filters}""",
            [*ids, *ids, *parameters],
        )
        return [Candidate(row["id"], row["session_id"], 0.0, row["size"], False) for row in rows]

    def _search_text(self, query: SearchQuery, limit: int, filters: str, parameters: list[object]) -> list[Candidate]:
        """Without the index: the newest messages that hold one of the words as it stands (report L2-14)."""
        words = [word for term in query.terms for word in term][:16]
        likes = " OR ".join(["m.content LIKE ? ESCAPE '\\'"] * len(words))
        rows = self._database.read(
            f"""SELECT m.id, m.session_id, length(m.content) AS size
                FROM messages m JOIN sessions s ON s.id = m.session_id
                WHERE ({likes}) AND {_VISIBLE} AND {filters} ORDER BY m.id DESC LIMIT ?""",
            [*(f"%{_escape_like(word)}%" for word in words), *parameters, limit],
        )
        return [Candidate(row["id"], row["session_id"], 0.0, row["size"], False) for row in rows]

    def _hits(self, query: SearchQuery, candidates: Sequence[Candidate]) -> list[SearchHit]:
        marks = ",".join("?" * len(candidates))
        rows = {
            row["id"]: row
            for row in self._database.read(
                f"SELECT id, session_id, role, content, timestamp FROM messages WHERE id IN ({marks})",
                [candidate.id for candidate in candidates],
            )
        }
        words = {word for term in query.terms for word in term}
        return [
            SearchHit(
                session_id=row["session_id"],
                message_id=row["id"],
                score=candidate.score,
                snippet=snippet(row["content"] or "", words),
                role=row["role"],
                timestamp=row["timestamp"],
            )
            for candidate in candidates
            if (row := rows.get(candidate.id)) is not None
        ]

    # ── scope and the end ───────────────────────────────────────────────────────────────────────────────────────

    def close(self) -> None:
        """Close the file, for every store that shares it.  A second call does nothing."""
        self._database.close()

    def __enter__(self) -> "SQLiteSessionStore":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _append(
        self,
        session_id: str,
        items: Sequence[tuple[Message, float | None, str | None]],
        usage: Usage | None,
        model: str | None,
    ) -> list[int]:
        scope, parameters = self._in_scope()
        with self._database.write() as connection:
            found = connection.execute(
                f"SELECT 1 FROM sessions s WHERE s.id = ? AND {scope}", [session_id, *parameters]
            )
            if found.fetchone() is None:
                raise SessionNotFound(session_id)
            return [
                self._append_one(connection, session_id, message, timestamp, client_id, usage, model)
                for message, timestamp, client_id in items
            ]

    def _append_one(
        self,
        connection: sqlite3.Connection,
        session_id: str,
        message: Message,
        timestamp: float | None,
        client_id: str | None,
        usage: Usage | None,
        model: str | None,
    ) -> int:
        row = to_row(message) | {
            "session_id": session_id,
            "timestamp": time.time() if timestamp is None else timestamp,
            "client_id": client_id,
            "token_count": usage.output_tokens if usage else None,
        }
        inserted = _insert(connection, "messages", row, "ON CONFLICT DO NOTHING")
        if inserted is None:
            same = "SELECT id FROM messages WHERE session_id = ? AND client_id = ?"
            return int(connection.execute(same, [session_id, client_id]).fetchone()["id"])
        self._index_or_degrade(connection, inserted, row)
        _count(connection, session_id, row["timestamp"], len(message.tool_calls), usage, model)
        return inserted

    def _index_or_degrade(self, connection: sqlite3.Connection, message_id: int, row: dict[str, Any]) -> None:
        """A damaged index must not keep a message from being stored (report L2-32)."""
        connection.execute("SAVEPOINT indexing")
        try:
            _index(connection, message_id, row, delete=False)
            # A further savepoint makes FTS5 write what it holds back: a fault shows here and not at the commit.
            connection.execute("SAVEPOINT indexed")
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorname", "").startswith("SQLITE_FULL"):
                raise
            connection.execute("ROLLBACK TO indexing")
            self._index_damaged = True
        connection.execute("RELEASE indexing")

    def _filters(
        self, session_id: str | None, user_id: str | None, roles: Collection[str] | None
    ) -> tuple[str, list[object]]:
        """What a search is narrowed to, as SQL over `m` and `s`."""
        scope, parameters = self._in_scope()
        filters, values = [scope], list(parameters)
        if user_id is not None:
            self._check_user(user_id)
            filters.append("s.user_id = ?")
            values.append(user_id)
        if session_id is not None:
            filters.append("m.session_id = ?")
            values.append(session_id)
        if roles is not None:
            filters.append(f"m.role IN ({','.join('?' * len(roles))})")
            values.extend(roles)
        return " AND ".join(filters), values

    def _in_scope(self) -> tuple[str, list[object]]:
        if isinstance(self._scope, Everybody):
            return "1", []
        return ("s.user_id IS NULL", []) if self._scope is None else ("s.user_id = ?", [self._scope])

    def _check_user(self, user_id: str | None) -> None:
        if not isinstance(self._scope, Everybody) and user_id != self._scope:
            raise ScopeError(f"this store is bound to user {self._scope!r} and was asked about {user_id!r}")


_SESSIONS = """
    SELECT s.*, (SELECT substr(m.content, 1, 200) FROM messages m WHERE m.session_id = s.id AND m.role = 'user'
                 ORDER BY m.id LIMIT 1) AS preview
    FROM sessions s"""

_PREVIEW_LENGTH = 60


def _record(row: sqlite3.Row) -> SessionRecord:
    preview = " ".join((row["preview"] or "").split())
    return SessionRecord(
        id=row["id"],
        source=row["source"],
        user_id=row["user_id"],
        title=row["title"],
        model=row["model"],
        parent_session_id=row["parent_session_id"],
        started_at=row["started_at"],
        last_active=row["last_active"],
        ended_at=row["ended_at"],
        end_reason=row["end_reason"],
        message_count=row["message_count"],
        tool_call_count=row["tool_call_count"],
        usage=Usage(
            row["input_tokens"],
            row["output_tokens"],
            row["cache_read_tokens"],
            row["cache_write_tokens"],
            row["reasoning_tokens"],
            row["estimated_cost_usd"],
        ),
        preview=preview if len(preview) <= _PREVIEW_LENGTH else preview[:_PREVIEW_LENGTH] + "…",
    )


def _stored(row: sqlite3.Row) -> StoredMessage:
    return StoredMessage(row["id"], row["session_id"], row["timestamp"], from_row(row))


def _insert(connection: sqlite3.Connection, table: str, row: dict[str, Any], conflict: str) -> int | None:
    """Insert a row; gives its number, None where it was there already."""
    names = ",".join(row)
    marks = ",".join(f":{name}" for name in row)
    with closing(connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks}) {conflict}", row)) as cursor:
        return cursor.lastrowid if cursor.rowcount else None


def _store_prompt(connection: sqlite3.Connection, text: str) -> str:
    digest = hashlib.sha256(text.encode()).hexdigest()
    connection.execute("INSERT INTO system_prompts VALUES (?, ?) ON CONFLICT DO NOTHING", [digest, text])
    return digest


def _index(connection: sqlite3.Connection, message_id: int, row: Any, *, delete: bool) -> None:
    """Put a message's words into the index, or take exactly the same ones out of it."""
    values = [message_id, content_words(row["content"]), call_words(row["tool_name"], row["tool_calls"])]
    if delete:
        connection.execute(
            "INSERT INTO messages_fts(messages_fts, rowid, words, calls) VALUES ('delete', ?, ?, ?)", values
        )
    else:
        connection.execute("INSERT INTO messages_fts(rowid, words, calls) VALUES (?, ?, ?)", values)


def _count(
    connection: sqlite3.Connection,
    session_id: str,
    timestamp: float,
    calls: int,
    usage: Usage | None,
    model: str | None,
) -> None:
    """Keep the session's counters true, in the transaction that stores the message."""
    used = usage or Usage()
    connection.execute(
        """UPDATE sessions SET message_count = message_count + 1, tool_call_count = tool_call_count + ?,
               input_tokens = input_tokens + ?, output_tokens = output_tokens + ?,
               cache_read_tokens = cache_read_tokens + ?, cache_write_tokens = cache_write_tokens + ?,
               reasoning_tokens = reasoning_tokens + ?, last_active = max(last_active, ?), model = coalesce(model, ?),
               estimated_cost_usd = CASE WHEN ? IS NULL THEN estimated_cost_usd
                                         ELSE coalesce(estimated_cost_usd, 0) + ? END
           WHERE id = ?""",
        [
            calls,
            used.input_tokens,
            used.output_tokens,
            used.cache_read_tokens,
            used.cache_write_tokens,
            used.reasoning_tokens,
            timestamp,
            model,
            used.cost_usd,
            used.cost_usd,
            session_id,
        ],
    )


def _escape_like(word: str) -> str:
    return word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
