-- Small state that the engine keeps between calls. With a rowid: a value can be long.
CREATE TABLE records (
    workspace TEXT NOT NULL,
    collection TEXT NOT NULL,
    name TEXT NOT NULL,
    change INTEGER NOT NULL,
    due_ms INTEGER,
    value BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX records_name ON records (workspace, collection, name);
CREATE INDEX records_due ON records (due_ms) WHERE due_ms IS NOT NULL;
