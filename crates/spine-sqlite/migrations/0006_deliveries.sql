-- One envelope in one agent's queue. Every transition rewrites the row and the indexes that hold what changes,
-- so that there are few, and those of open ones let go of the others.
CREATE TABLE deliveries (
    workspace TEXT NOT NULL,
    id TEXT NOT NULL,
    envelope TEXT NOT NULL,
    root TEXT NOT NULL,
    agent TEXT NOT NULL,
    state INTEGER NOT NULL, -- 0 pending, 1 leased, 2 accepted, 3 done, 4 rejected, 5 cancelled, 6 parked
    rank INTEGER NOT NULL, -- 0 critical, 1 high, 2 normal, 3 low
    order_key TEXT,
    sequence INTEGER NOT NULL,
    visible_ms INTEGER NOT NULL,
    due_ms INTEGER,
    epoch INTEGER NOT NULL,
    incarnation INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    change INTEGER NOT NULL,
    story BLOB NOT NULL,
    result BLOB
) STRICT;
CREATE UNIQUE INDEX deliveries_id ON deliveries (workspace, id);
CREATE INDEX deliveries_root ON deliveries (workspace, root, id);
-- What can be taken, in the order in which it is; and how full the queues are.
CREATE INDEX deliveries_open ON deliveries (workspace, agent, state, rank, sequence, visible_ms, order_key)
    WHERE state < 3;
CREATE INDEX deliveries_order ON deliveries (workspace, agent, order_key, sequence)
    WHERE order_key IS NOT NULL AND state < 3;
CREATE INDEX deliveries_due ON deliveries (due_ms) WHERE due_ms IS NOT NULL;
CREATE INDEX deliveries_parked ON deliveries (workspace, id, agent) WHERE state = 6;

-- The story of a lineage is read from the log.
ALTER TABLE events ADD COLUMN delivery TEXT;
CREATE INDEX events_envelope ON events (workspace, envelope, change) WHERE envelope IS NOT NULL;

-- Retention leaves a skeleton of an envelope, and looks for roots it has not reached yet.
ALTER TABLE envelopes ADD COLUMN pruned INTEGER NOT NULL DEFAULT 0;
CREATE INDEX envelopes_kept_roots ON envelopes (workspace, id) WHERE id = root AND pruned = 0;
