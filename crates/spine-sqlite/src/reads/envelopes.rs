//! Envelopes.

use std::future::ready;
use std::sync::Arc;

use rusqlite::{OptionalExtension, Row, params};
use spine_protocol::{EnvelopeId, WorkspaceName};
use spine_store::limits::page_rows;
use spine_store::{EnvelopeReads, Page, StoreFuture, StoredEnvelope};

use super::{one_beyond, page};
use crate::SqliteStore;
use crate::row::{change, parsed};

impl EnvelopeReads for SqliteStore {
    fn envelope(
        &self,
        workspace: &WorkspaceName,
        id: EnvelopeId,
    ) -> StoreFuture<'_, Option<StoredEnvelope>> {
        let began = match self.recent.envelope(workspace, id) {
            Ok(envelope) => return Box::pin(ready(Ok(Some(envelope)))),
            Err(began) => began,
        };
        let (workspace, recent) = (workspace.clone(), Arc::clone(&self.recent));
        self.readers.run_here(move |connection| {
            let sql = "SELECT id, root, digest, bytes, change, notes, pruned FROM envelopes \
                       WHERE workspace = ? AND id = ?";
            let mut statement = connection.prepare_cached(sql)?;
            let params = params![workspace.as_str(), id.to_string()];
            let found = statement.query_row(params, envelope).optional()?;
            found.iter().for_each(|found| recent.found_envelope(began, &workspace, found));
            Ok(found)
        })
    }

    fn lineage(
        &self,
        workspace: &WorkspaceName,
        root: EnvelopeId,
        after: Option<EnvelopeId>,
        limit: usize,
    ) -> StoreFuture<'_, Page<StoredEnvelope, EnvelopeId>> {
        let (workspace, limit) = (workspace.clone(), page_rows(limit));
        // Every id sorts behind the empty one.
        let after = after.map(|id| id.to_string()).unwrap_or_default();
        self.readers.run(move |connection| {
            let sql = "SELECT id, root, digest, bytes, change, notes, pruned FROM envelopes \
                       WHERE workspace = ? AND root = ? AND id > ? ORDER BY id LIMIT ?";
            let params = params![workspace.as_str(), root.to_string(), after, one_beyond(limit)];
            page(connection, (sql, params), envelope, limit, |found| found.id)
        })
    }
}

fn envelope(row: &Row<'_>) -> rusqlite::Result<StoredEnvelope> {
    let (id, root, digest) = (parsed(row, 0)?, parsed(row, 1)?, parsed(row, 2)?);
    let (bytes, notes, pruned) = (row.get(3)?, row.get(5)?, row.get(6)?);
    Ok(StoredEnvelope { id, root, digest, bytes, notes, pruned, change: change(row, 4)? })
}
