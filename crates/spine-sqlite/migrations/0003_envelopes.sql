-- Envelopes, as their canonical bytes.
CREATE TABLE envelopes (
    workspace TEXT NOT NULL,
    id TEXT NOT NULL,
    root TEXT NOT NULL,
    digest TEXT NOT NULL,
    change INTEGER NOT NULL,
    bytes BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX envelopes_id ON envelopes (workspace, id);
CREATE INDEX envelopes_root ON envelopes (workspace, root, id);
