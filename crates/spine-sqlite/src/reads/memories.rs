//! Memories and their versions.

use rusqlite::{Connection, OptionalExtension, params};
use spine_protocol::{MemoryId, WorkspaceName};
use spine_store::limits::{check_read_many, page_rows};
use spine_store::{
    Change, ContentKey, ListQuery, Memory, MemoryReads, MemoryRow, Page, StoreFuture,
};

use super::{list, one_beyond, page};
use crate::SqliteStore;
use crate::row::{MEMORY_COLUMNS, memory, memory_row};

impl MemoryReads for SqliteStore {
    fn memory(
        &self,
        workspace: &WorkspaceName,
        id: MemoryId,
    ) -> StoreFuture<'_, Option<MemoryRow>> {
        let workspace = workspace.clone();
        self.readers.run(move |connection| by_id(connection, &workspace, id))
    }

    fn memories(
        &self,
        workspace: &WorkspaceName,
        ids: Vec<MemoryId>,
    ) -> StoreFuture<'_, Vec<MemoryRow>> {
        let workspace = workspace.clone();
        Box::pin(async move {
            check_read_many(ids.len())?;
            self.readers.run(move |connection| by_ids(connection, &workspace, &ids)).await
        })
    }

    fn memory_version(
        &self,
        workspace: &WorkspaceName,
        id: MemoryId,
        version: u32,
    ) -> StoreFuture<'_, Option<Memory>> {
        let workspace = workspace.clone();
        self.readers.run(move |connection| {
            let behind = version.saturating_sub(1);
            let found = versions(connection, &workspace, id, behind, 1)?.items.pop();
            Ok(found.filter(|memory| memory.version == version))
        })
    }

    fn memory_versions(
        &self,
        workspace: &WorkspaceName,
        id: MemoryId,
        after: u32,
        limit: usize,
    ) -> StoreFuture<'_, Page<Memory, u32>> {
        let (workspace, limit) = (workspace.clone(), page_rows(limit));
        self.readers.run(move |connection| versions(connection, &workspace, id, after, limit))
    }

    fn memories_by_content(
        &self,
        workspace: &WorkspaceName,
        keys: Vec<ContentKey>,
    ) -> StoreFuture<'_, Vec<(ContentKey, Memory)>> {
        let workspace = workspace.clone();
        Box::pin(async move {
            check_read_many(keys.len())?;
            self.readers.run(move |connection| by_contents(connection, &workspace, &keys)).await
        })
    }

    fn list_memories(
        &self,
        workspace: &WorkspaceName,
        query: ListQuery,
    ) -> StoreFuture<'_, Page<Memory, MemoryId>> {
        let workspace = workspace.clone();
        self.readers.run(move |connection| list::list(connection, &workspace, &query))
    }

    fn memory_changes(
        &self,
        workspace: &WorkspaceName,
        after: Change,
        limit: usize,
    ) -> StoreFuture<'_, Page<MemoryRow, Change>> {
        let (workspace, limit) = (workspace.clone(), page_rows(limit));
        self.readers.run(move |connection| {
            let sql = format!(
                "SELECT state, {MEMORY_COLUMNS} FROM memories \
                 WHERE workspace = ? AND change > ? ORDER BY change LIMIT ?"
            );
            let params = params![workspace.as_str(), after.0.cast_signed(), one_beyond(limit)];
            page(connection, (&sql, params), memory_row, limit, MemoryRow::change)
        })
    }
}

fn by_id(
    connection: &Connection,
    workspace: &WorkspaceName,
    id: MemoryId,
) -> rusqlite::Result<Option<MemoryRow>> {
    let sql =
        format!("SELECT state, {MEMORY_COLUMNS} FROM memories WHERE workspace = ? AND number = ?");
    let mut statement = connection.prepare_cached(&sql)?;
    let params = params![workspace.as_str(), id.number().cast_signed()];
    statement.query_row(params, memory_row).optional()
}

/// In one snapshot, so that the rows belong together.
fn by_ids(
    connection: &Connection,
    workspace: &WorkspaceName,
    ids: &[MemoryId],
) -> rusqlite::Result<Vec<MemoryRow>> {
    let snapshot = connection.unchecked_transaction()?;
    ids.iter().filter_map(|id| by_id(&snapshot, workspace, *id).transpose()).collect()
}

fn by_contents(
    connection: &Connection,
    workspace: &WorkspaceName,
    keys: &[ContentKey],
) -> rusqlite::Result<Vec<(ContentKey, Memory)>> {
    let sql =
        format!("SELECT state, {MEMORY_COLUMNS} FROM memories WHERE workspace = ? AND content = ?");
    let snapshot = connection.unchecked_transaction()?;
    let mut statement = snapshot.prepare_cached(&sql)?;
    let mut held = |key: &ContentKey| {
        let found = statement.query_row(params![workspace.as_str(), key.0], memory);
        found.optional().map(|found| found.map(|memory| (*key, memory))).transpose()
    };
    keys.iter().filter_map(&mut held).collect()
}

/// Replaced versions and the newest, if it is live.
fn versions(
    connection: &Connection,
    workspace: &WorkspaceName,
    id: MemoryId,
    after: u32,
    limit: usize,
) -> rusqlite::Result<Page<Memory, u32>> {
    let sql = format!(
        "SELECT 0, {MEMORY_COLUMNS} FROM memory_versions \
         WHERE workspace = ?1 AND number = ?2 AND version > ?3 \
         UNION ALL SELECT 0, {MEMORY_COLUMNS} FROM memories \
         WHERE workspace = ?1 AND number = ?2 AND version > ?3 AND state = 0 \
         ORDER BY version LIMIT ?4"
    );
    let number = id.number().cast_signed();
    let params = params![workspace.as_str(), number, after, one_beyond(limit)];
    page(connection, (&sql, params), memory, limit, |memory| memory.version)
}
