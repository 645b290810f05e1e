//! What happened, and how far things are.

use std::future::ready;
use std::sync::Arc;

use rusqlite::types::Value;
use rusqlite::{OptionalExtension, Row, params, params_from_iter};
use spine_protocol::WorkspaceName;
use spine_store::limits::{check_read_many, page_rows};
use spine_store::{
    Change, Event, EventQuery, IdempotencyKey, IdempotencyRecord, LogReads, Page, StoreFuture,
    UnixMs, WorkspaceState,
};

use super::{behind_prefix, one_beyond, page};
use crate::SqliteStore;
use crate::row::{change, facts, idempotency, parsed, parsed_option, valid_id};

const EVENT_COLUMNS: &str = "change, at_ms, kind, actor, memory, envelope, data, delivery";

impl LogReads for SqliteStore {
    fn newest_change(&self, workspace: &WorkspaceName) -> StoreFuture<'_, Change> {
        let workspace = workspace.clone();
        self.readers.run_here(move |connection| {
            let sql = "SELECT newest_change FROM workspaces WHERE workspace = ?";
            let mut statement = connection.prepare_cached(sql)?;
            let found = statement.query_row([workspace.as_str()], |row| change(row, 0));
            Ok(found.optional()?.unwrap_or_default())
        })
    }

    fn workspaces(
        &self,
        after: Option<WorkspaceName>,
        limit: usize,
    ) -> StoreFuture<'_, Page<WorkspaceState, WorkspaceName>> {
        let limit = page_rows(limit);
        // Every name sorts behind the empty one.
        let after = after.map(|name| name.as_str().to_owned()).unwrap_or_default();
        self.readers.run(move |connection| {
            let sql = "SELECT workspace, newest_change FROM workspaces WHERE workspace > ? \
                       ORDER BY workspace LIMIT ?";
            let params = params![after, one_beyond(limit)];
            page(connection, (sql, params), workspace_state, limit, |state| state.name.clone())
        })
    }

    fn events(
        &self,
        workspace: &WorkspaceName,
        after: Change,
        limit: usize,
    ) -> StoreFuture<'_, Page<Arc<Event>, Change>> {
        let (workspace, limit) = (workspace.clone(), page_rows(limit));
        if let Some(page) = self.recent.events(&workspace, after, limit) {
            return Box::pin(ready(Ok(page)));
        }
        self.readers.run(move |connection| {
            let sql = format!(
                "SELECT {EVENT_COLUMNS} FROM events \
                 WHERE workspace = ? AND change > ? ORDER BY change LIMIT ?"
            );
            let params = params![workspace.as_str(), after.0.cast_signed(), one_beyond(limit)];
            let read = |row: &Row<'_>| event(row).map(Arc::new);
            page(connection, (&sql, params), read, limit, |event| event.change)
        })
    }

    fn events_of(
        &self,
        workspace: &WorkspaceName,
        query: EventQuery,
    ) -> StoreFuture<'_, Page<Event, Change>> {
        let (workspace, limit) = (workspace.clone(), page_rows(query.limit));
        Box::pin(async move {
            check_read_many(query.envelopes.len())?;
            let read = self.readers.run(move |connection| {
                let (sql, mut params) = events_sql(&workspace, &query);
                params.push(Value::Integer(one_beyond(limit)));
                let params = params_from_iter(params);
                page(connection, (&sql, params), event, limit, |event| event.change)
            });
            read.await
        })
    }

    fn idempotency(
        &self,
        workspace: &WorkspaceName,
        key: &IdempotencyKey,
        now: UnixMs,
    ) -> StoreFuture<'_, Option<IdempotencyRecord>> {
        let (workspace, key) = (workspace.clone(), key.clone());
        self.readers.run_here(move |connection| {
            let sql = "SELECT request, answer, kept_until_ms, first_change, first_memory, memories \
                       FROM idempotency WHERE workspace = ? AND key = ? AND kept_until_ms > ?";
            let params = params![workspace.as_str(), key.as_str(), now.0];
            connection.prepare_cached(sql)?.query_row(params, idempotency).optional()
        })
    }
}

fn workspace_state(row: &Row<'_>) -> rusqlite::Result<WorkspaceState> {
    Ok(WorkspaceState { name: parsed(row, 0)?, newest: change(row, 1)? })
}

fn event(row: &Row<'_>) -> rusqlite::Result<Event> {
    let memory = row.get::<_, Option<i64>>(4)?.map(|number| valid_id(number, 4)).transpose()?;
    Ok(Event {
        change: change(row, 0)?,
        at: UnixMs(row.get(1)?),
        kind: row.get::<_, String>(2)?.into(),
        actor: parsed_option(row, 3)?,
        memory,
        envelope: parsed_option(row, 5)?,
        delivery: parsed_option(row, 7)?,
        data: facts(row, 6)?,
    })
}

/// The events of some envelopes are found by their index and sorted; all others in the order of the log.
pub(super) fn events_sql(workspace: &WorkspaceName, query: &EventQuery) -> (String, Vec<Value>) {
    let mut from = "events";
    let mut conditions = "workspace = ?".to_owned();
    let mut params = vec![Value::Text(workspace.as_str().to_owned())];
    let mut add = |condition: &str, param: Value| {
        conditions.push_str(condition);
        params.push(param);
    };
    if !query.envelopes.is_empty() {
        let ids = serde_json::to_string(&query.envelopes).unwrap_or_default();
        from = "events INDEXED BY events_envelope";
        add(" AND envelope IN (SELECT value FROM json_each(?))", Value::Text(ids));
    }
    if let Some(prefix) = &query.kinds_prefix {
        add(" AND kind >= ?", Value::Text(prefix.clone()));
        add(" AND kind < ?", behind_prefix(prefix));
    }
    let (behind, direction) = if query.newest_first { ("<", "DESC") } else { (">", "ASC") };
    let plus = if query.envelopes.is_empty() { "" } else { "+" };
    if query.after != Change::ZERO {
        let after = Value::Integer(query.after.0.cast_signed());
        add(&format!(" AND {plus}change {behind} ?"), after);
    }
    let sql = format!(
        "SELECT {EVENT_COLUMNS} FROM {from} WHERE {conditions} \
         ORDER BY {plus}change {direction} LIMIT ?"
    );
    (sql, params)
}
