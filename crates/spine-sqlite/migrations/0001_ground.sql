-- Facts about the whole file: store, history, incarnation.
CREATE TABLE meta (name TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID;

-- One counter row for each workspace: it gives change numbers and memory numbers in commit order.
CREATE TABLE workspaces (
    workspace TEXT PRIMARY KEY,
    newest_change INTEGER NOT NULL,
    newest_memory INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The append-only log.
CREATE TABLE events (
    workspace TEXT NOT NULL,
    change INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    kind TEXT NOT NULL,
    actor TEXT,
    memory INTEGER,
    envelope TEXT,
    data TEXT NOT NULL,
    PRIMARY KEY (workspace, change)
) STRICT, WITHOUT ROWID;

-- The answers to requests that may be repeated.
CREATE TABLE idempotency (
    workspace TEXT NOT NULL,
    key TEXT NOT NULL,
    request TEXT NOT NULL,
    answer BLOB NOT NULL,
    kept_until_ms INTEGER NOT NULL,
    first_change INTEGER NOT NULL,
    first_memory INTEGER,
    memories INTEGER NOT NULL,
    PRIMARY KEY (workspace, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_kept_until ON idempotency (workspace, kept_until_ms, key);
