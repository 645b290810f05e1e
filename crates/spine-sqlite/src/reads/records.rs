//! Records, and when something is due.

use std::future::ready;
use std::sync::Arc;

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params};
use spine_protocol::WorkspaceName;
use spine_store::limits::{check_read_many, page_rows};
use spine_store::{
    Collection, Page, Record, RecordKey, RecordName, RecordReads, StoreFuture, UnixMs,
};

use super::{POINT_ROWS_MAX, behind_prefix, each_found, one_beyond, page, rows};
use crate::SqliteStore;
use crate::row::{change, parsed};

pub(super) const DUE: &str = "SELECT collection, name, value, due_ms, change, workspace \
    FROM records WHERE due_ms <= ? ORDER BY due_ms LIMIT ?";

pub(super) const NEXT_DUE: &str = "SELECT min(due_ms) FROM records WHERE due_ms IS NOT NULL \
     UNION ALL SELECT min(due_ms) FROM deliveries WHERE due_ms IS NOT NULL";

impl RecordReads for SqliteStore {
    fn records(
        &self,
        workspace: &WorkspaceName,
        keys: Vec<RecordKey>,
    ) -> StoreFuture<'_, Vec<Record>> {
        if let Err(error) = check_read_many(keys.len()) {
            return Box::pin(ready(Err(error)));
        }
        let began = match self.recent.records(workspace, &keys) {
            Ok(records) => return Box::pin(ready(Ok(records))),
            Err(began) => began,
        };
        let (workspace, few) = (workspace.clone(), keys.len() <= POINT_ROWS_MAX);
        let recent = Arc::clone(&self.recent);
        self.readers.run_here_if(few, move |connection| {
            let found = each_found(connection, &keys, |key| by_key(connection, &workspace, key))?;
            recent.found_records(began, &workspace, keys, &found);
            Ok(found)
        })
    }

    fn list_records(
        &self,
        workspace: &WorkspaceName,
        collection: Collection,
        prefix: String,
        after: Option<RecordName>,
        limit: usize,
    ) -> StoreFuture<'_, Page<Record, RecordName>> {
        let (workspace, limit) = (workspace.clone(), page_rows(limit));
        self.readers
            .run(move |connection| list(connection, &workspace, collection, &prefix, after, limit))
    }

    fn due_records(
        &self,
        now: UnixMs,
        limit: usize,
    ) -> StoreFuture<'_, Vec<(WorkspaceName, Record)>> {
        let limit = one_beyond(page_rows(limit)) - 1;
        self.readers.run(move |connection| {
            let read = |row: &Row<'_>| Ok((parsed(row, 5)?, record(row)?));
            rows(connection, DUE, params![now.0, limit], read)
        })
    }

    fn next_due(&self) -> StoreFuture<'_, Option<UnixMs>> {
        self.readers.run_here(|connection| {
            let read = |row: &Row<'_>| row.get::<_, Option<i64>>(0);
            let earliest = rows(connection, NEXT_DUE, [], read)?;
            Ok(earliest.into_iter().flatten().min().map(UnixMs))
        })
    }
}

fn by_key(
    connection: &Connection,
    workspace: &WorkspaceName,
    key: &RecordKey,
) -> rusqlite::Result<Option<Record>> {
    let sql = "SELECT collection, name, value, due_ms, change FROM records \
               WHERE workspace = ? AND collection = ? AND name = ?";
    let params = params![workspace.as_str(), key.collection.as_str(), key.name.as_str()];
    connection.prepare_cached(sql)?.query_row(params, record).optional()
}

fn list(
    connection: &Connection,
    workspace: &WorkspaceName,
    collection: Collection,
    prefix: &str,
    after: Option<RecordName>,
    limit: usize,
) -> rusqlite::Result<Page<Record, RecordName>> {
    // One lower bound, for SQLite to start from.
    let after = after.as_ref().map(RecordName::as_str).filter(|after| *after >= prefix);
    let (from, start) = after.map_or((">=", prefix), |after| (">", after));
    let sql = format!(
        "SELECT collection, name, value, due_ms, change FROM records \
         WHERE workspace = ? AND collection = ? AND name {from} ? AND name < ? \
         ORDER BY name LIMIT ?"
    );
    let end: Value = behind_prefix(prefix);
    let params = params![workspace.as_str(), collection.as_str(), start, end, one_beyond(limit)];
    page(connection, (&sql, params), record, limit, |record| record.key.name.clone())
}

fn record(row: &Row<'_>) -> rusqlite::Result<Record> {
    let key = RecordKey { collection: parsed(row, 0)?, name: parsed(row, 1)? };
    let due_at = row.get::<_, Option<i64>>(3)?.map(UnixMs);
    Ok(Record { key, value: row.get(2)?, due_at, change: change(row, 4)? })
}
