-- What was done to MEMORY.md and USER.md, by whom and why.  The files stay plain Markdown; this stands beside them.

CREATE TABLE texts (
    hash TEXT PRIMARY KEY,              -- SHA-256 of the entry
    text TEXT NOT NULL
);

CREATE TABLE events (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    time       REAL NOT NULL,           -- seconds since 1970
    scope      TEXT NOT NULL,           -- which file: memory, user, user:HASH
    action     TEXT NOT NULL,           -- add, replace, remove
    before     TEXT REFERENCES texts(hash),
    after      TEXT REFERENCES texts(hash),
    origin     TEXT NOT NULL,           -- user_said, agent, local_tool, untrusted, provider, import, owner, external_edit
    session_id TEXT,
    reason     TEXT NOT NULL DEFAULT '',
    verdict    TEXT,                    -- of the scan: allow, mark, quarantine
    scanner    TEXT,                    -- the scan's version
    undoes     INTEGER REFERENCES events(id)
);

CREATE INDEX events_by_scope ON events(scope, id);
CREATE INDEX events_by_after ON events(after);

-- The entries as they were left, to notice what an editor did meanwhile.
CREATE TABLE known (
    scope    TEXT NOT NULL,
    position INTEGER NOT NULL,
    hash     TEXT NOT NULL REFERENCES texts(hash),
    PRIMARY KEY (scope, position)
);
CREATE TABLE seen_scopes (scope TEXT PRIMARY KEY);
