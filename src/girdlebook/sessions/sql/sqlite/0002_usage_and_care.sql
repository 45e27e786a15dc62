-- What was used, by model and task, and what the store remembers of itself.

CREATE TABLE session_model_usage (
    session_id         TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    model              TEXT NOT NULL,
    task               TEXT NOT NULL,   -- chat, summary, flush_memories, …
    calls              INTEGER NOT NULL DEFAULT 0,
    input_tokens       INTEGER NOT NULL DEFAULT 0,
    output_tokens      INTEGER NOT NULL DEFAULT 0,
    cache_read_tokens  INTEGER NOT NULL DEFAULT 0,
    cache_write_tokens INTEGER NOT NULL DEFAULT 0,
    reasoning_tokens   INTEGER NOT NULL DEFAULT 0,
    cost_usd           REAL,            -- the vendor's figure or the settings' price, else NULL
    first_seen         REAL NOT NULL,
    last_seen          REAL NOT NULL,
    PRIMARY KEY (session_id, model, task)
);

-- How often the model was called was not counted before; the sums were.
INSERT INTO session_model_usage
    SELECT id, coalesce(model, ''), 'chat', 0, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens,
           reasoning_tokens, estimated_cost_usd, started_at, last_active
    FROM sessions WHERE input_tokens + output_tokens > 0;

CREATE TABLE store_meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
);

-- A title names one session of its user: of several with the same one, the latest keeps it.
UPDATE sessions SET title = NULL
    WHERE title IS NOT NULL AND EXISTS (
        SELECT 1 FROM sessions other WHERE other.title = sessions.title AND other.user_id IS sessions.user_id
            AND (other.started_at, other.id) > (sessions.started_at, sessions.id));

CREATE UNIQUE INDEX sessions_by_title ON sessions(coalesce(user_id, ''), title) WHERE title IS NOT NULL;
CREATE INDEX sessions_by_parent ON sessions(parent_session_id) WHERE parent_session_id IS NOT NULL;
