-- Article section 6.3, and what its promises need beside it: exact round trips, idempotent appends, archived rows.

CREATE TABLE system_prompts (
    id   TEXT PRIMARY KEY,              -- SHA-256 of the text
    text TEXT NOT NULL
);

CREATE TABLE sessions (
    id                 TEXT PRIMARY KEY,
    source             TEXT NOT NULL,   -- cli, library, telegram, …
    user_id            TEXT,            -- NULL: the home's owner
    model              TEXT,
    model_config       TEXT,
    system_prompt      TEXT REFERENCES system_prompts(id),
    parent_session_id  TEXT REFERENCES sessions(id) ON DELETE SET NULL,
    started_at         REAL NOT NULL,   -- seconds since 1970, as all times here
    ended_at           REAL,
    end_reason         TEXT,
    message_count      INTEGER NOT NULL DEFAULT 0,
    tool_call_count    INTEGER NOT NULL DEFAULT 0,
    input_tokens       INTEGER NOT NULL DEFAULT 0,
    output_tokens      INTEGER NOT NULL DEFAULT 0,
    cache_read_tokens  INTEGER NOT NULL DEFAULT 0,
    cache_write_tokens INTEGER NOT NULL DEFAULT 0,
    reasoning_tokens   INTEGER NOT NULL DEFAULT 0,
    billing_provider   TEXT,
    billing_mode       TEXT,
    estimated_cost_usd REAL,            -- the vendor's own figure, else NULL
    title              TEXT,
    last_active        REAL NOT NULL
);

CREATE TABLE messages (
    id                    INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id            TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    role                  TEXT NOT NULL,
    content               TEXT,
    tool_call_id          TEXT,
    tool_calls            TEXT,         -- JSON: [{"id", "name", "arguments"}]
    tool_name             TEXT,
    timestamp             REAL NOT NULL,
    token_count           INTEGER,
    finish_reason         TEXT,
    reasoning             TEXT,
    reasoning_details     TEXT,
    codex_reasoning_items TEXT,
    extra                 TEXT,         -- JSON: what the columns cannot hold exactly
    client_id             TEXT,         -- makes an append that is tried again idempotent
    active                INTEGER NOT NULL DEFAULT 1,
    compacted             INTEGER NOT NULL DEFAULT 0   -- 1 with active 0: archived by compression, still found
);

CREATE INDEX messages_by_session ON messages(session_id, id);
CREATE UNIQUE INDEX messages_by_client_id ON messages(session_id, client_id) WHERE client_id IS NOT NULL;
CREATE INDEX sessions_by_activity ON sessions(last_active);

-- The index holds words and no text: it reads them through this view, so that rebuilding and checking work.
CREATE VIEW message_words AS
    SELECT id, girdle_words(content) AS words, girdle_call_words(tool_name, tool_calls) AS calls FROM messages;

CREATE VIRTUAL TABLE messages_fts USING fts5(
    words, calls, content='message_words', content_rowid='id', tokenize='unicode61 remove_diacritics 0'
);
