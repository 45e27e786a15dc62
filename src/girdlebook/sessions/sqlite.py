"""Conversations in one SQLite file, with full-text search."""

import hashlib
import sqlite3
import time
from collections.abc import Collection, Sequence
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Any

from girdlebook.database import Database
from girdlebook.errors import AmbiguousSession, ScopeError, SessionMoved, SessionNotFound, StoreError, TitleError
from girdlebook.messages import Message, Usage
from girdlebook.sessions.filters import SessionFilter
from girdlebook.sessions.fulltext import NO_INDEX, VISIBLE, FullTextIndex, escape_like
from girdlebook.sessions.query import SearchQuery, parse
from girdlebook.sessions.ranking import Candidate
from girdlebook.sessions.rows import from_row, plain, to_row
from girdlebook.sessions.schema import sqlite_schema
from girdlebook.sessions.snippets import snippet
from girdlebook.sessions.store import (
    DayActivity,
    ModelUsage,
    SearchHit,
    SessionRecord,
    StoredMessage,
    Totals,
    new_session_id,
)
from girdlebook.sessions.titles import base_of, numbered, sanitize_title
from girdlebook.words import index_words

_LINEAGE_STEPS = 100
"""Parents that are followed from a session; more is a loop."""

COMPRESSION = "compression"
"""The end reason of a session that goes on in its child."""

_TITLED = 2_000
"""Titled sessions that a search by title looks at, the latest first."""


class Everybody:
    """The scope of a store that is bound to nobody."""


EVERYBODY = Everybody()


class SQLiteSessionStore:
    """The session store that needs nothing but a file.  Safe to use from many threads and processes.

    Get one with `open`; use it as a context manager, or call `close()`.
    """

    def __init__(self, database: Database, index: FullTextIndex, scope: str | Everybody | None) -> None:
        self._database = database
        self._index = index
        self._scope = scope

    @classmethod
    def open(cls, path: Path) -> "SQLiteSessionStore":
        """Open the file, and make it where it does not exist.  A file of a newer version can be read only.

        Raises:
            StoreCorrupt: the file is damaged or no database.
            StoreError: it cannot be opened.
        """
        database = Database(Path(path), sqlite_schema())
        return cls(database, FullTextIndex(database), EVERYBODY)

    @classmethod
    def open_read_only(cls, path: Path) -> "SQLiteSessionStore":
        """Open a file that exists so that no byte of it can change (report CLI-03).

        Raises:
            StoreCorrupt: the file is damaged or no database.
            StoreError: it cannot be opened.
        """
        database = Database.open_read_only(Path(path), sqlite_schema())
        return cls(database, FullTextIndex(database), EVERYBODY)

    def for_user(self, user_id: str | None) -> "SQLiteSessionStore":
        """The same store, bound to one user: the sessions of others do not exist for it (report L2-24).

        Parameters:
            user_id: None for the home's owner, whose sessions carry no user.

        Raises:
            ScopeError: this store is bound to somebody else already.
        """
        self._check_user(user_id)
        return SQLiteSessionStore(self._database, self._index, user_id)

    @property
    def degraded(self) -> bool:
        """Whether searches must do without the index: they then look for literal matches in the newest messages."""
        return self._index.damaged or self._index.missing

    @property
    def limits(self) -> str | None:
        """Why searches show only literal matches; None where the index serves (report L2-41)."""
        if self._index.missing:
            return f"literal matches only: {NO_INDEX}"
        return (
            "literal matches only: the index is damaged; mend it with: girdle doctor --fix" if self.degraded else None
        )

    def totals(self) -> Totals:
        """How much is stored in this store's scope."""
        scope, parameters = self._in_scope()
        rows = self._database.read(
            f"""SELECT count(*) AS sessions, coalesce(sum(s.message_count), 0) AS messages,
                       max(s.last_active) AS last_active FROM sessions s WHERE {scope}""",
            parameters,
        )
        return Totals(rows[0]["sessions"], rows[0]["messages"], rows[0]["last_active"])

    @property
    def read_only(self) -> str | None:
        """Why nothing can be written; None where it can."""
        return self._database.read_only

    @property
    def index(self) -> FullTextIndex:
        """The full-text index, for checks and repairs."""
        return self._index

    @property
    def database(self) -> Database:
        """The file, for copies."""
        return self._database

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
        tool_specs: str | None = None,
        project: str | None = None,
    ) -> SessionRecord:
        """Store a new session.  One that exists already under this id, for the same user, is left as it is.

        Parameters:
            id: None for a new one.
            source: where it takes place (`cli`, `library`, …).
            user_id: whose it is; None for the home's owner.
            started_at: seconds since 1970; None for now.
            system_prompt, tool_specs: stored once per text.
            project: the folder where it takes place.

        Raises:
            ScopeError: the store is bound to another user, or the id belongs to one.
            TitleError: the title is too long, or another session has it.
        """
        if user_id is None and not isinstance(self._scope, Everybody):
            user_id = self._scope
        self._check_user(user_id)
        session_id, now = id or new_session_id(), time.time() if started_at is None else started_at
        row: dict[str, Any] = {
            "id": session_id,
            "source": source,
            "user_id": user_id,
            "title": sanitize_title(title),
            "model": model,
            "project": None if project is None else plain(project),
            "parent_session_id": parent_session_id,
            "started_at": now,
            "last_active": now,
        }
        with self._database.write() as connection:
            _insert_session(connection, row, system_prompt, tool_specs)
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

    def resolve(self, name: str) -> SessionRecord:
        """The session that a person means: by id, by the beginning of one id only, or by title.

        A title finds the latest of `plan`, `plan #2`, `plan #3` …

        Raises:
            SessionNotFound: nothing fits.
            AmbiguousSession: several ids begin with it.
        """
        if not name:
            raise SessionNotFound(name)
        scope, parameters = self._in_scope()
        exact = self._database.read(f"{_SESSIONS} WHERE s.id = ? AND {scope}", [name, *parameters])
        if exact:
            return _record(exact[0])
        titled = self._database.read(
            f"{_SESSIONS} WHERE (s.title = ? OR s.title LIKE ? ESCAPE '\\') AND {scope} ORDER BY s.last_active DESC",
            [name, f"{escape_like(name)} #%", *parameters],
        )
        for row in titled:
            if row["title"] == name or base_of(row["title"]) == name:
                return _record(row)
        started = self._database.read(
            f"{_SESSIONS} WHERE s.id LIKE ? ESCAPE '\\' AND {scope} LIMIT 6", [f"{escape_like(name)}%", *parameters]
        )
        if len(started) > 1:
            some = ", ".join(row["id"] for row in started[:5])
            raise AmbiguousSession(f"several sessions begin with {name!r}: {some}; write more of the id")
        if not started:
            raise SessionNotFound(name)
        return _record(started[0])

    def recent(
        self,
        *,
        limit: int = 20,
        offset: int = 0,
        where: SessionFilter = SessionFilter(),  # noqa: B008
    ) -> list[SessionRecord]:
        """Sessions by last activity, the latest first; each appears exactly once however it is paged (report L2-18)."""
        scope, parameters = self._in_scope()
        conditions, values = where.sql("s.last_active")
        rows = self._database.read(
            f"{_SESSIONS} WHERE {scope} AND {conditions} ORDER BY s.last_active DESC, s.id DESC LIMIT ? OFFSET ?",
            [*parameters, *values, limit, offset],
        )
        return [_record(row) for row in rows]

    def prompt_of(self, session_id: str) -> tuple[str | None, str | None]:
        """The system prompt and the tools that the session began with, as they were stored.

        Raises:
            SessionNotFound
        """
        self.session(session_id)
        rows = self._database.read(
            """SELECT p.text AS prompt, t.text AS tools FROM sessions s
               LEFT JOIN system_prompts p ON p.id = s.system_prompt
               LEFT JOIN system_prompts t ON t.id = s.tool_specs WHERE s.id = ?""",
            [session_id],
        )
        return rows[0]["prompt"], rows[0]["tools"]

    def root_of(self, session_id: str) -> str:
        """The oldest session of the lineage; the session itself where it has no parent (report L2-15)."""
        rows = self._database.read(
            f"""WITH RECURSIVE line(id, parent, steps) AS (
                    SELECT id, parent_session_id, 0 FROM sessions WHERE id = ?
                    UNION ALL SELECT s.id, s.parent_session_id, steps + 1 FROM sessions s JOIN line ON s.id = parent
                    WHERE steps < {_LINEAGE_STEPS})
                SELECT id FROM line ORDER BY steps DESC LIMIT 1""",
            [session_id],
        )
        return str(rows[0]["id"]) if rows else session_id

    def tip_of(self, session_id: str) -> str:
        """The session in which this conversation goes on: some stores begin a new one when they compress.

        A branch or a subagent's session is no continuation.
        """
        rows = self._database.read(
            f"""WITH RECURSIVE line(id, reason, steps) AS (
                    SELECT id, end_reason, 0 FROM sessions WHERE id = ?
                    UNION ALL SELECT s.id, s.end_reason, steps + 1
                    FROM line JOIN sessions s ON s.id = (
                        SELECT c.id FROM sessions c WHERE c.parent_session_id = line.id
                        ORDER BY c.last_active DESC, c.id DESC LIMIT 1)
                    WHERE line.reason = '{COMPRESSION}' AND steps < {_LINEAGE_STEPS})
                SELECT id FROM line ORDER BY steps DESC LIMIT 1""",
            [session_id],
        )
        return str(rows[0]["id"]) if rows else session_id

    def titled(
        self,
        words: Collection[str],
        *,
        limit: int = 3,
        where: SessionFilter = SessionFilter(),  # noqa: B008
    ) -> list[SessionRecord]:
        """The latest sessions whose title holds all of these words, as `query.parse` gives them."""
        scope, parameters = self._in_scope()
        conditions, values = where.sql("s.last_active")
        rows = self._database.read(
            f"""{_SESSIONS} WHERE s.title IS NOT NULL AND {scope} AND {conditions}
                ORDER BY s.last_active DESC LIMIT ?""",
            [*parameters, *values, _TITLED],
        )
        wanted = set(words)
        found = (row for row in rows if wanted and wanted <= set(index_words(row["title"]).split()))
        return [_record(row) for row, _ in zip(found, range(limit), strict=False)]

    def has(self, session_id: str) -> bool:
        """Whether there is a session with this id, whoever's it is."""
        return bool(self._database.read("SELECT 1 FROM sessions WHERE id = ?", [session_id]))

    def import_session(
        self,
        record: SessionRecord,
        messages: Sequence[StoredMessage],
        *,
        usage: Sequence[ModelUsage] = (),
        system_prompt: str | None = None,
        tool_specs: str | None = None,
    ) -> None:
        """Store a session from elsewhere with its messages and their times, in one transaction.

        Parameters:
            messages: their numbers do not count; new ones are given.
            usage: what was used by model and task; the session's own sums are those of the record.

        Raises:
            StoreError: a session with this id is there already.
            TitleError: another session has the title.
        """
        self._check_user(record.user_id)
        row = {name: getattr(record, name) for name in _IMPORTED}
        row |= {name: getattr(record.usage, name) for name in _USAGE_NAMES}
        row |= {"title": sanitize_title(record.title), "estimated_cost_usd": record.usage.cost_usd}
        row["last_active"] = record.started_at
        with self._database.write() as connection:
            if not _insert_session(connection, row, system_prompt, tool_specs):
                raise StoreError(f"the session {record.id!r} is there already; delete it first to import it anew")
            for stored in messages:
                number = self._append_one(connection, record.id, stored.message, stored.timestamp, None, None, None)
                connection.execute(
                    "UPDATE messages SET active = ?, compacted = ?, token_count = ? WHERE id = ?",
                    [not stored.archived, stored.archived, stored.output_tokens, number],
                )
            for one in usage:
                _add_model_usage(connection, record.id, one, record.ended_at or record.started_at)

    def set_parent(self, session_id: str, parent_session_id: str) -> None:
        """Say from which session another came.

        Raises:
            SessionNotFound
        """
        for one in (session_id, parent_session_id):
            self.session(one)
        with self._database.write() as connection:
            connection.execute(
                "UPDATE sessions SET parent_session_id = ? WHERE id = ?", [parent_session_id, session_id]
            )

    def rename(self, session_id: str, title: str | None) -> SessionRecord:
        """Give a session a title; None or a blank one takes it away.

        Raises:
            SessionNotFound
            TitleError: it is too long, or another session has it.
        """
        record, clean = self.session(session_id), sanitize_title(title)
        with self._database.write() as connection:
            _check_title(connection, clean, session_id, record.user_id)
            connection.execute("UPDATE sessions SET title = ? WHERE id = ?", [clean, session_id])
        return self.session(session_id)

    def free_title(self, title: str, *, user_id: str | None = None) -> str:
        """The title, or with the first number that makes it free: `plan #2`."""
        like = f"{escape_like(base_of(title))}%"
        rows = self._database.read(
            "SELECT title FROM sessions WHERE title LIKE ? ESCAPE '\\' AND user_id IS ?", [like, user_id]
        )
        return numbered(title, {row["title"] for row in rows})

    def reopen(
        self, session_id: str, *, system_prompt: str | None = None, tool_specs: str | None = None
    ) -> SessionRecord:
        """Take the end mark of a session away, since it goes on.

        Parameters:
            system_prompt, tool_specs: what its requests begin with from now on; None for what they began with.

        Raises:
            SessionNotFound
        """
        self.session(session_id)
        with self._database.write() as connection:
            connection.execute("UPDATE sessions SET ended_at = NULL, end_reason = NULL WHERE id = ?", [session_id])
            for column, text in (("system_prompt", system_prompt), ("tool_specs", tool_specs)):
                if text is not None:
                    stored = _store_text(connection, text)
                    connection.execute(f"UPDATE sessions SET {column} = ? WHERE id = ?", [stored, session_id])
        return self.session(session_id)

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
        """Remove a session with its messages, from the index too.  Sessions that came from it stay, without a parent.

        What was deleted may remain in free pages of the file until `erase_deleted`.

        Raises:
            SessionNotFound
        """
        self.session(session_id)
        with self._database.write() as connection:
            self._delete(connection, session_id)

    def prunable(self, where: SessionFilter) -> list[SessionRecord]:
        """What `prune` would delete."""
        return self.recent(limit=-1, where=where)

    def prune(self, where: SessionFilter) -> list[SessionRecord]:
        """Delete all sessions that fit, in one transaction; gives what was deleted (report L2-39).

        Ask for `ended=True` to be sure that no running conversation is among them.
        """
        with self._database.write() as connection:
            doomed = self.prunable(where)  # nobody can write now, so none of them goes on meanwhile
            for record in doomed:
                self._delete(connection, record.id)
        return doomed

    def erase_deleted(self) -> None:
        """Leave no text of deleted sessions in the index or in free pages.  Takes a while: the file is written anew.

        Raises:
            StoreBusy: others are at work.
            StoreFull: it needs as much space again as the file takes.
        """
        with self._database.write() as connection:
            self._index.forget_deleted(connection)
            connection.execute(
                """DELETE FROM system_prompts WHERE id NOT IN (SELECT system_prompt FROM sessions
                       WHERE system_prompt IS NOT NULL UNION SELECT tool_specs FROM sessions
                       WHERE tool_specs IS NOT NULL)"""
            )
        self._database.vacuum()

    def note(self, name: str) -> str | None:
        """What the store was told to remember under a name, for its own care."""
        rows = self._database.read("SELECT value FROM store_meta WHERE key = ?", [name])
        return str(rows[0]["value"]) if rows else None

    def set_note(self, name: str, value: str) -> None:
        """Remember something under a name."""
        with self._database.write() as connection:
            connection.execute(
                "INSERT INTO store_meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                [name, value],
            )

    # ── usage ───────────────────────────────────────────────────────────────────────────────────────────────────

    def record_usage(self, session_id: str, usage: Usage, *, model: str | None, task: str) -> None:
        """Count a model call that stored no message (a summary, a flush), for the session and by model and task.

        Raises:
            SessionNotFound
        """
        self.session(session_id)
        with self._database.write() as connection:
            _add_usage(connection, session_id, usage, model, task, time.time())

    def usage(self, session_id: str | None = None) -> list[ModelUsage]:
        """What was used, by model and task: of one session, or of all in this store's scope."""
        scope, parameters = self._in_scope()
        one = "" if session_id is None else " AND s.id = ?"
        rows = self._database.read(
            f"""SELECT u.model, u.task, sum(u.calls) AS calls, {_USAGE_SUMS}, sum(u.cost_usd) AS cost_usd
                FROM session_model_usage u JOIN sessions s ON s.id = u.session_id WHERE {scope}{one}
                GROUP BY u.model, u.task ORDER BY u.model, u.task""",
            [*parameters, *([] if session_id is None else [session_id])],
        )
        return [ModelUsage(row["model"], row["task"], row["calls"], _usage(row, "cost_usd")) for row in rows]

    def activity(self, *, since: float) -> list[DayActivity]:
        """What happened on each local day since then, the earliest first; quiet days are left out.

        Parameters:
            since: seconds since 1970.
        """
        scope, parameters = self._in_scope()
        rows = self._database.read(
            f"""SELECT date(m.timestamp, 'unixepoch', 'localtime') AS day, count(DISTINCT m.session_id) AS sessions,
                       count(*) AS messages, coalesce(sum(m.token_count), 0) AS output_tokens
                FROM messages m JOIN sessions s ON s.id = m.session_id
                WHERE m.timestamp >= ? AND {VISIBLE} AND {scope} GROUP BY day ORDER BY day""",
            [since, *parameters],
        )
        return [DayActivity(row["day"], row["sessions"], row["messages"], row["output_tokens"]) for row in rows]

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
        after: int | None = None,
    ) -> int:
        """Store a message; when this returns, it survives a power cut.

        Parameters:
            timestamp: seconds since 1970; None for now.
            client_id: chosen by the caller; a second append with the same one changes nothing and gives the first id.
                A failed append may have been stored all the same, so a retry needs one.
            usage: what the model call behind it used; added to the session's sums.
            model: which model answered.
            after: the number of the session's last message as the caller knows it, 0 for none.

        Returns:
            the message's number.

        Raises:
            SessionNotFound, StoreBusy, StoreFull
            SessionMoved: another message came after `after`.
        """
        return self._append(session_id, [(message, timestamp, client_id)], usage, model, after)[0]

    def append_many(
        self, session_id: str, messages: Sequence[Message], *, timestamps: Sequence[float] | None = None
    ) -> list[int]:
        """Store several messages in one transaction: all of them or none.

        Raises:
            SessionNotFound, StoreBusy, StoreFull
            ValueError: there are not as many timestamps as messages.
        """
        times: Sequence[float | None] = [None] * len(messages) if timestamps is None else timestamps
        return self._append(session_id, [(m, t, None) for m, t in zip(messages, times, strict=True)], None, None, None)

    def messages(self, session_id: str, *, last: int | None = None) -> list[StoredMessage]:
        """The session's messages that the model sees, in order.

        Parameters:
            last: only that many of the latest, and before them what belongs to them: a result never comes without its
                call (report L2-23).

        Raises:
            SessionNotFound
        """
        self.session(session_id)
        rows = self._database.read(
            f"SELECT m.* FROM messages m WHERE m.session_id = ? AND m.active = 1 ORDER BY {_PLACE}", [session_id]
        )
        start = 0 if last is None else max(0, len(rows) - last)
        while 0 < start < len(rows) and rows[start]["role"] == "tool":
            start -= 1
        return [_stored(row) for row in rows[start:]]

    def history(self, session_id: str) -> list[StoredMessage]:
        """All messages that were not rewound away, archived ones and the summary included, in order.

        Raises:
            SessionNotFound
        """
        self.session(session_id)
        kept = "(m.active = 1 OR m.compacted = 1)"
        sql = f"SELECT m.* FROM messages m WHERE m.session_id = ? AND {kept} ORDER BY {_PLACE}"
        return [_stored(row) for row in self._database.read(sql, [session_id])]

    def around(self, message_id: int, *, window: int = 5) -> list[StoredMessage]:
        """A message and `window` visible ones on each side of it in its session.

        There are more where a call would be parted from its results (report L2-23).

        Raises:
            StoreError: there is no such message in this store's scope.
        """
        session_id = self._session_of(message_id)
        sql = f"SELECT m.id FROM messages m WHERE m.session_id = ? AND {VISIBLE}"
        before = self._database.read(f"{sql} AND m.id < ? ORDER BY m.id DESC LIMIT ?", [session_id, message_id, window])
        after = self._database.read(f"{sql} AND m.id > ? ORDER BY m.id LIMIT ?", [session_id, message_id, window])
        first, last = (rows[-1]["id"] if rows else message_id for rows in (before, after))
        return self._between(session_id, first, last)

    def ends(self, session_id: str, *, first: int, last: int) -> tuple[list[StoredMessage], list[StoredMessage]]:
        """The first and the last visible messages of a session; a short session is all in the first list.

        There are more where a call would be parted from its results.

        Raises:
            SessionNotFound
        """
        self.session(session_id)
        sql = f"SELECT m.id FROM messages m WHERE m.session_id = ? AND {VISIBLE}"
        head = self._database.read(f"{sql} ORDER BY m.id LIMIT ?", [session_id, first + last])
        tail = self._database.read(f"{sql} ORDER BY m.id DESC LIMIT ?", [session_id, last])
        if not head:
            return [], []
        if not tail or tail[0]["id"] <= head[-1]["id"]:
            return self._between(session_id, head[0]["id"], head[-1]["id"]), []
        beginning = self._between(session_id, head[0]["id"], head[first - 1]["id"])
        ending = self._between(session_id, tail[-1]["id"], tail[0]["id"])
        return beginning, [stored for stored in ending if stored.id > beginning[-1].id]

    def bookends(self, session_id: str, *, each: int = 3) -> tuple[list[StoredMessage], list[StoredMessage]]:
        """The first and the last messages with text that the person and the assistant wrote, whether few or many.

        Raises:
            SessionNotFound
        """
        self.session(session_id)
        sql = f"""SELECT m.* FROM messages m WHERE m.session_id = ? AND {VISIBLE}
                  AND m.role IN ('user', 'assistant') AND m.content != '' ORDER BY m.id"""
        first = self._database.read(f"{sql} LIMIT ?", [session_id, each])
        last = self._database.read(f"{sql} DESC LIMIT ?", [session_id, each])
        return [_stored(row) for row in first], [_stored(row) for row in reversed(last)]

    def position(self, message_id: int) -> tuple[int, int]:
        """How many visible messages of its session stand before and after a message (report L2-19).

        Raises:
            StoreError: there is no such message in this store's scope.
        """
        session_id = self._session_of(message_id)
        rows = self._database.read(
            f"""SELECT count(*) FILTER (WHERE m.id < ?) AS before, count(*) FILTER (WHERE m.id > ?) AS after
                FROM messages m WHERE m.session_id = ? AND {VISIBLE}""",
            [message_id, message_id, session_id],
        )
        return rows[0]["before"], rows[0]["after"]

    def _session_of(self, message_id: int) -> str:
        rows = self._database.read("SELECT session_id FROM messages WHERE id = ?", [message_id])
        if not rows:
            raise StoreError(f"no message {message_id}; take the number from a search hit")
        return self.session(rows[0]["session_id"]).id

    def _start_of_group(self, session_id: str, message_id: int) -> int:
        """The message itself; for a tool's result the message that called."""
        rows = self._database.read(
            f"""SELECT coalesce(max(m.id), ?) AS id FROM messages m
                WHERE m.session_id = ? AND m.id <= ? AND m.role != 'tool' AND {VISIBLE}""",
            [message_id, session_id, message_id],
        )
        return int(rows[0]["id"])

    def _between(self, session_id: str, first: int, last: int) -> list[StoredMessage]:
        """Visible messages from one to another, widened so that calls and their results stay together."""
        behind = "SELECT min(n.id) FROM messages n WHERE n.session_id = ? AND n.id > ? AND n.role != 'tool'"
        rows = self._database.read(
            f"""SELECT m.* FROM messages m WHERE m.session_id = ? AND {VISIBLE}
                AND m.id >= ? AND m.id < coalesce(({behind}), 9e18) ORDER BY m.id""",
            [session_id, self._start_of_group(session_id, first), session_id, last],
        )
        return [_stored(row) for row in rows]

    def compact(
        self,
        session_id: str,
        messages: Sequence[Message],
        *,
        numbers: Sequence[int | None],
        expected: Sequence[int],
        system_prompt: str,
        state: str,
    ) -> list[int]:
        """Put a compressed transcript in the place of the one that the model saw, in one transaction.

        What left it is archived: kept, found by searches, and out of the model's sight.  A summary that was replaced is
        hidden, since the new one goes on from it.

        Parameters:
            numbers: for each message its number, None for a new one.
            expected: the numbers of the transcript that was compressed.
            system_prompt: what requests begin with from now on.
            state: what compression wants to know the next time, as JSON.

        Returns:
            the number of each message.

        Raises:
            SessionNotFound
            SessionMoved: the transcript is not the expected one any more; nothing was changed (report L3-37).
        """
        self.session(session_id)
        with self._database.write() as connection:
            seen = f"SELECT m.id, {_PLACE} AS place FROM messages m WHERE m.session_id = ? AND m.active = 1"
            places = {row["id"]: row["place"] for row in connection.execute(seen, [session_id])}
            if set(places) != set(expected):
                raise SessionMoved(f"session {session_id} went on while it was compressed; nothing was changed")
            left = [(number,) for number in expected if number not in numbers]
            connection.executemany(_ARCHIVE, left)
            wanted = _places([None if number is None else places[number] for number in numbers])
            given: list[int] = []
            for message, number, place in zip(messages, numbers, wanted, strict=True):
                given.append(number or self._insert_at(connection, session_id, message, place))
            connection.execute(
                "UPDATE sessions SET system_prompt = ?, compression_state = ? WHERE id = ?",
                [_store_text(connection, system_prompt), state, session_id],
            )
        return given

    def replaced_summaries(self, session_id: str) -> list[StoredMessage]:
        """The summaries that a later one went on from, the earliest first; no history shows them.

        Raises:
            SessionNotFound
        """
        self.session(session_id)
        rows = self._database.read(
            """SELECT * FROM messages WHERE session_id = ? AND active = 0 AND compacted = 0
               AND role = 'user' AND finish_reason = 'compression' ORDER BY id""",
            [session_id],
        )
        return [_stored(row) for row in rows]

    def compression_state(self, session_id: str) -> str | None:
        """What compression wanted to know the next time, as JSON.

        Raises:
            SessionNotFound
        """
        self.session(session_id)
        rows = self._database.read("SELECT compression_state FROM sessions WHERE id = ?", [session_id])
        return rows[0]["compression_state"] if rows else None

    def set_compression_state(self, session_id: str, state: str) -> None:
        """Keep what compression wants to know the next time, as JSON.

        Raises:
            SessionNotFound
        """
        self.session(session_id)
        with self._database.write() as connection:
            connection.execute("UPDATE sessions SET compression_state = ? WHERE id = ?", [state, session_id])

    def _insert_at(self, connection: sqlite3.Connection, session_id: str, message: Message, place: float) -> int:
        row = to_row(message) | {"session_id": session_id, "timestamp": time.time(), "position": place}
        inserted = _insert(connection, "messages", row, "")
        assert inserted is not None
        self._index.add(connection, inserted, row)
        return inserted

    # ── search ──────────────────────────────────────────────────────────────────────────────────────────────────

    def search(
        self,
        query: str,
        *,
        limit: int = 20,
        session_id: str | None = None,
        user_id: str | None = None,
        roles: Collection[str] | None = None,
        where: SessionFilter = SessionFilter(),  # noqa: B008
        live_excluded: str | None = None,
    ) -> list[SearchHit]:
        """Messages that answer a question or hold its words, the best first.  No query raises.

        Archived messages are found too.  Words in tool names and arguments count only where `roles` names `tool`.

        Parameters:
            limit: the most hits.
            session_id, user_id, roles: only messages of these.
            where: only messages of sessions that fit.
            live_excluded: a session whose messages before the model's eyes are left out; archived ones are found.

        Raises:
            ScopeError: the store is bound to another user.
        """
        wanted = parse(query)
        if not wanted.terms or limit < 1:
            return []
        filters, parameters = self._filters(session_id, user_id, roles, where, live_excluded)
        calls = "tool" in (roles or ())
        return self._hits(wanted, self._index.search(wanted, limit, filters, parameters, calls=calls))

    def _hits(self, query: SearchQuery, candidates: Sequence[Candidate]) -> list[SearchHit]:
        marks = ",".join("?" * len(candidates))
        rows = {
            row["id"]: row
            for row in self._database.read(
                f"SELECT id, session_id, role, content, timestamp, active FROM messages WHERE id IN ({marks})",
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
                archived=not row["active"],
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
        after: int | None,
    ) -> list[int]:
        scope, parameters = self._in_scope()
        with self._database.write() as connection:
            found = connection.execute(
                f"SELECT 1 FROM sessions s WHERE s.id = ? AND {scope}", [session_id, *parameters]
            )
            if found.fetchone() is None:
                raise SessionNotFound(session_id)
            if after is not None:
                _check_last(connection, session_id, after)
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
        self._index.add(connection, inserted, row)
        _count(connection, session_id, row["timestamp"], len(message.tool_calls))
        if usage is not None:
            _add_usage(connection, session_id, usage, model, "chat", row["timestamp"])
        return inserted

    def _delete(self, connection: sqlite3.Connection, session_id: str) -> None:
        rows = connection.execute("SELECT * FROM messages WHERE session_id = ?", [session_id]).fetchall()
        self._index.remove(connection, rows)
        connection.execute("DELETE FROM sessions WHERE id = ?", [session_id])

    def _filters(
        self,
        session_id: str | None,
        user_id: str | None,
        roles: Collection[str] | None,
        where: SessionFilter,
        live_excluded: str | None,
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
        if live_excluded is not None:
            filters.append("NOT (m.session_id = ? AND m.active = 1)")
            values.append(live_excluded)
        conditions, more = where.sql("m.timestamp")
        return " AND ".join([*filters, conditions]), [*values, *more]

    def _in_scope(self) -> tuple[str, list[object]]:
        if isinstance(self._scope, Everybody):
            return "1", []
        return ("s.user_id IS NULL", []) if self._scope is None else ("s.user_id = ?", [self._scope])

    def _check_user(self, user_id: str | None) -> None:
        if not isinstance(self._scope, Everybody) and user_id != self._scope:
            raise ScopeError(f"this store is bound to user {self._scope!r} and was asked about {user_id!r}")


_PLACE = "coalesce(m.position, m.id)"
"""Where the model sees a message."""

_ARCHIVE = "UPDATE messages SET active = 0, compacted = (finish_reason IS NOT 'compression') WHERE id = ?"

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
        usage=_usage(row, "estimated_cost_usd"),
        project=row["project"],
        preview=preview if len(preview) <= _PREVIEW_LENGTH else preview[:_PREVIEW_LENGTH] + "…",
    )


def _stored(row: sqlite3.Row) -> StoredMessage:
    return StoredMessage(
        row["id"], row["session_id"], row["timestamp"], from_row(row), not row["active"], row["token_count"]
    )


def _insert(connection: sqlite3.Connection, table: str, row: dict[str, Any], conflict: str) -> int | None:
    """Insert a row; gives its number, None where it was there already."""
    names = ",".join(row)
    marks = ",".join(f":{name}" for name in row)
    with closing(connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks}) {conflict}", row)) as cursor:
        return cursor.lastrowid if cursor.rowcount else None


def _check_last(connection: sqlite3.Connection, session_id: str, after: int) -> None:
    newest = "SELECT coalesce(max(id), 0) AS id FROM messages WHERE session_id = ?"
    if connection.execute(newest, [session_id]).fetchone()["id"] != after:
        raise SessionMoved(f"somebody else went on with session {session_id} meanwhile; resume it to go on from there")


def _places(known: Sequence[float | None]) -> list[float]:
    """A place for each message: its own, or between those of its neighbours."""
    places: list[float] = []
    for index, place in enumerate(known):
        if place is not None:
            places.append(place)
            continue
        following = next(((at, one) for at, one in enumerate(known[index:]) if one is not None), None)
        if following is None:
            places.append(places[-1] + 0.5 if places else 0.0)
        else:
            distance, after = following
            before = places[-1] if places else after - 1.0
            places.append(before + (after - before) / (distance + 1))
    return places


def _insert_session(
    connection: sqlite3.Connection, row: dict[str, Any], system_prompt: str | None, tool_specs: str | None
) -> bool:
    """Insert a session with its texts; gives whether its id was free.

    Raises:
        TitleError: another session has the title.
    """
    _check_title(connection, row["title"], row["id"], row["user_id"])
    texts = {
        "system_prompt": _store_text(connection, system_prompt),
        "tool_specs": _store_text(connection, tool_specs),
    }
    return _insert(connection, "sessions", row | texts, "ON CONFLICT(id) DO NOTHING") is not None


def _store_text(connection: sqlite3.Connection, text: str | None) -> str | None:
    if text is None:
        return None
    kept = plain(text)
    digest = hashlib.sha256(kept.encode()).hexdigest()
    connection.execute("INSERT INTO system_prompts VALUES (?, ?) ON CONFLICT DO NOTHING", [digest, kept])
    return digest


def _check_title(connection: sqlite3.Connection, title: str | None, session_id: str, user_id: str | None) -> None:
    """A title names one session of its user.

    Raises:
        TitleError: another session has it.
    """
    if title is None:
        return
    other = connection.execute(
        "SELECT id FROM sessions WHERE title = ? AND user_id IS ? AND id != ?", [title, user_id, session_id]
    ).fetchone()
    if other is not None:
        raise TitleError(f"the session {other['id']} has the title {title!r} already; choose another")


_USAGE_NAMES = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")
_IMPORTED = ("id", "source", "user_id", "model", "parent_session_id", "started_at", "ended_at", "end_reason", "project")
_USAGE_SUMS = ", ".join(f"sum(u.{name}) AS {name}" for name in _USAGE_NAMES)


def _usage(row: sqlite3.Row, cost: str) -> Usage:
    return Usage(**{name: row[name] or 0 for name in _USAGE_NAMES}, cost_usd=row[cost])


def _count(connection: sqlite3.Connection, session_id: str, timestamp: float, calls: int) -> None:
    """Keep the session's counters true, in the transaction that stores the message."""
    connection.execute(
        """UPDATE sessions SET message_count = message_count + 1, tool_call_count = tool_call_count + ?,
               last_active = max(coalesce(last_active, 0), ?) WHERE id = ?""",
        [calls, timestamp, session_id],
    )


def _add_usage(
    connection: sqlite3.Connection, session_id: str, usage: Usage, model: str | None, task: str, now: float
) -> None:
    """Add a model call to the session's sums and to those of its model and task.  An unknown cost stays NULL."""
    figures = [getattr(usage, name) for name in _USAGE_NAMES]
    added = ", ".join(f"{name} = {name} + ?" for name in _USAGE_NAMES)
    connection.execute(
        f"""UPDATE sessions SET {added}, model = coalesce(model, ?),
                estimated_cost_usd = CASE WHEN ? IS NULL THEN estimated_cost_usd
                                          ELSE coalesce(estimated_cost_usd, 0) + ? END WHERE id = ?""",
        [*figures, model, usage.cost_usd, usage.cost_usd, session_id],
    )
    _add_model_usage(connection, session_id, ModelUsage(model or "", task, 1, usage), now)


def _add_model_usage(connection: sqlite3.Connection, session_id: str, added: ModelUsage, now: float) -> None:
    figures = [getattr(added.usage, name) for name in _USAGE_NAMES]
    names = ", ".join(_USAGE_NAMES)
    summed = ", ".join(f"{name} = {name} + excluded.{name}" for name in _USAGE_NAMES)
    connection.execute(
        f"""INSERT INTO session_model_usage (session_id, model, task, calls, {names}, cost_usd, first_seen, last_seen)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (session_id, model, task) DO UPDATE SET calls = calls + excluded.calls, {summed},
                cost_usd = CASE WHEN excluded.cost_usd IS NULL THEN cost_usd
                                ELSE coalesce(cost_usd, 0) + excluded.cost_usd END,
                last_seen = max(last_seen, excluded.last_seen)""",
        [session_id, added.model, added.task, added.calls, *figures, added.usage.cost_usd, now, now],
    )
