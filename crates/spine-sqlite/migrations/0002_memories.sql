-- The newest version of each memory, or the mark it left. With a rowid, because texts are long: without
-- one they would stand in the inner pages of the tree and make it deep.
CREATE TABLE memories (
    workspace TEXT NOT NULL,
    number INTEGER NOT NULL,
    version INTEGER NOT NULL,
    change INTEGER NOT NULL,
    state INTEGER NOT NULL, -- 0 live, 1 deleted, 2 purged
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    about_ms INTEGER NOT NULL, -- occurred_at, else created_ms
    expires_ms INTEGER,
    content BLOB, -- what the same content is recognised by
    pinned INTEGER NOT NULL,
    priority INTEGER NOT NULL, -- 0 low, 1 normal, 2 high, 3 critical
    kind TEXT,
    author TEXT,
    thread TEXT,
    subject TEXT,
    occurred_at TEXT,
    tags TEXT, -- a JSON array
    title TEXT,
    summary TEXT,
    metadata TEXT, -- a JSON object
    text TEXT
) STRICT;
CREATE UNIQUE INDEX memories_number ON memories (workspace, number);
CREATE UNIQUE INDEX memories_change ON memories (workspace, change);
CREATE UNIQUE INDEX memories_content ON memories (workspace, content) WHERE content IS NOT NULL;
CREATE INDEX memories_thread ON memories (workspace, thread, number) WHERE thread IS NOT NULL;
CREATE INDEX memories_subject ON memories (workspace, subject, number);
CREATE INDEX memories_author ON memories (workspace, author, number) WHERE author IS NOT NULL;
CREATE INDEX memories_kind ON memories (workspace, kind, number) WHERE kind IS NOT NULL;
CREATE INDEX memories_pinned ON memories (workspace, number) WHERE pinned = 1;

CREATE TABLE memory_tags (
    workspace TEXT NOT NULL,
    tag TEXT NOT NULL,
    memory INTEGER NOT NULL,
    PRIMARY KEY (workspace, tag, memory)
) STRICT, WITHOUT ROWID;

-- Versions that were replaced, kept until a purge.
CREATE TABLE memory_versions (
    workspace TEXT NOT NULL,
    number INTEGER NOT NULL,
    version INTEGER NOT NULL,
    change INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    expires_ms INTEGER,
    pinned INTEGER NOT NULL,
    priority INTEGER NOT NULL,
    kind TEXT,
    author TEXT,
    thread TEXT,
    subject TEXT,
    occurred_at TEXT,
    tags TEXT,
    title TEXT,
    summary TEXT,
    metadata TEXT,
    text TEXT
) STRICT;
CREATE UNIQUE INDEX memory_versions_version ON memory_versions (workspace, number, version);
