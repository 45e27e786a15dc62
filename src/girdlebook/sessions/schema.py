"""What state.db holds: the numbered steps of `sql/sqlite/`, and the additive columns that any file gets at open."""

from importlib import resources

from girdlebook.database import Schema
from girdlebook.sessions.rows import call_words, content_words

_FOLDER = resources.files("girdlebook.sessions") / "sql" / "sqlite"

_COUNTERS = ("message_count", "tool_call_count", "input_tokens", "output_tokens")
_MORE_COUNTERS = ("cache_read_tokens", "cache_write_tokens", "reasoning_tokens")

_SESSION_COLUMNS = {
    **dict.fromkeys((*_COUNTERS, *_MORE_COUNTERS), "INTEGER NOT NULL DEFAULT 0"),
    **dict.fromkeys(("user_id", "model", "model_config", "title", "end_reason", "parent_session_id"), "TEXT"),
    **dict.fromkeys(("billing_provider", "billing_mode", "system_prompt"), "TEXT"),
    "ended_at": "REAL",
    "estimated_cost_usd": "REAL",
    "last_active": "REAL NOT NULL DEFAULT 0",
    # The folder of the repository or the working folder where the session takes place.
    "project": "TEXT",
    # The tools on offer, as text in system_prompts: a resumed session must repeat them byte for byte.
    "tool_specs": "TEXT",
    # What keeps compression from running in circles, as JSON.
    "compression_state": "TEXT",
}

_MESSAGE_COLUMNS = {
    **dict.fromkeys(("tool_call_id", "tool_calls", "tool_name", "finish_reason", "reasoning"), "TEXT"),
    **dict.fromkeys(("reasoning_details", "codex_reasoning_items", "extra", "client_id"), "TEXT"),
    "token_count": "INTEGER",
    "active": "INTEGER NOT NULL DEFAULT 1",
    "compacted": "INTEGER NOT NULL DEFAULT 0",
    # Where the model sees the message, if not by its number: a summary stands before messages that are older rows.
    "position": "REAL",
}

_BACKFILLS = {
    ("sessions", "last_active"): """UPDATE sessions SET last_active =
        coalesce((SELECT max(timestamp) FROM messages WHERE session_id = sessions.id), started_at)""",
    ("sessions", "message_count"): """UPDATE sessions SET message_count =
        (SELECT count(*) FROM messages WHERE session_id = sessions.id)""",
}


def index_statement() -> str:
    """What makes the full-text index, as the first step has it."""
    first = (_FOLDER / "0001_sessions.sql").read_text(encoding="utf-8")
    return first[first.index("CREATE VIRTUAL TABLE messages_fts") :]


def sqlite_schema() -> Schema:
    """The schema of state.db (reports L2-43, L2-47: old files lose nothing and lack nothing)."""
    names = sorted(file.name for file in _FOLDER.iterdir() if file.name.endswith(".sql"))
    return Schema(
        steps=[(_FOLDER / name).read_text(encoding="utf-8") for name in names],
        columns={"sessions": _SESSION_COLUMNS, "messages": _MESSAGE_COLUMNS},
        backfills=_BACKFILLS,
        functions={"girdle_words": (1, content_words), "girdle_call_words": (2, call_words)},
    )
