//! Deliveries and queues.

use std::collections::BTreeMap;
use std::future::ready;

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter};
use spine_protocol::{AgentName, DeliveryId, EnvelopeId, WorkspaceName};
use spine_store::limits::{QUEUES_MAX, check_read_many, page_rows};
use spine_store::{
    Delivery, DeliveryQuery, DeliveryReads, DeliveryState, Page, QueueState, StoreFuture, UnixMs,
};

use super::{POINT_ROWS_MAX, each_found, one_beyond, page, rows};
use crate::SqliteStore;
use crate::row::{DELIVERY_COLUMNS, count, delivery, delivery_state, parsed, state_number};

/// The queue in order, without those behind an older open one of their order key.
pub(super) fn ready_sql() -> String {
    format!(
        "SELECT {DELIVERY_COLUMNS} FROM deliveries d \
         WHERE workspace = ?1 AND agent = ?2 AND state = 0 AND state < 3 AND visible_ms <= ?3 \
           AND (order_key IS NULL OR NOT EXISTS ( \
             SELECT 1 FROM deliveries o INDEXED BY deliveries_order WHERE o.workspace = ?1 AND o.agent = ?2 \
             AND o.order_key = d.order_key AND o.state < 3 AND o.sequence < d.sequence)) \
         ORDER BY rank, sequence LIMIT ?4"
    )
}

pub(super) fn due_sql() -> String {
    format!(
        "SELECT {DELIVERY_COLUMNS}, workspace FROM deliveries WHERE due_ms <= ? \
         ORDER BY due_ms LIMIT ?"
    )
}

pub(super) const NEXT_VISIBLE: &str = "SELECT min(visible_ms) FROM deliveries \
    WHERE workspace = ? AND agent = ? AND state = 0 AND state < 3";

const BY_ID: &str = "deliveries_id";
const BY_QUEUE: &str = "deliveries_open";

/// Open ones are counted in their index alone.
pub(super) const QUEUES: &str = "SELECT agent, state, count(*), min(visible_ms) FROM deliveries \
    WHERE workspace = ?1 AND state < 3 GROUP BY agent, state \
    UNION ALL SELECT agent, state, count(*), NULL FROM deliveries \
    WHERE workspace = ?1 AND state = 6 GROUP BY agent";

pub(super) const OLD_ROOTS: &str = "SELECT id FROM envelopes \
    WHERE workspace = ? AND id > ? AND id = root AND pruned = 0 ORDER BY id LIMIT ?";

impl DeliveryReads for SqliteStore {
    fn deliveries(
        &self,
        workspace: &WorkspaceName,
        ids: Vec<DeliveryId>,
    ) -> StoreFuture<'_, Vec<Delivery>> {
        if let Err(error) = check_read_many(ids.len()) {
            return Box::pin(ready(Err(error)));
        }
        if let Some(deliveries) = self.recent.deliveries(workspace, &ids) {
            return Box::pin(ready(Ok(deliveries)));
        }
        let (workspace, few) = (workspace.clone(), ids.len() <= POINT_ROWS_MAX);
        self.readers.run_here_if(few, move |connection| {
            each_found(connection, &ids, |id| by_id(connection, &workspace, *id))
        })
    }

    fn ready_deliveries(
        &self,
        workspace: &WorkspaceName,
        agent: AgentName,
        now: UnixMs,
        limit: usize,
    ) -> StoreFuture<'_, Vec<Delivery>> {
        let (workspace, limit) = (workspace.clone(), page_rows(limit));
        self.readers.run_here_if(limit <= POINT_ROWS_MAX, move |connection| {
            let limit = one_beyond(limit) - 1;
            let params = params![workspace.as_str(), agent.as_str(), now.0, limit];
            rows(connection, &ready_sql(), params, delivery)
        })
    }

    fn next_visible(
        &self,
        workspace: &WorkspaceName,
        agent: AgentName,
    ) -> StoreFuture<'_, Option<UnixMs>> {
        let workspace = workspace.clone();
        self.readers.run(move |connection| {
            let params = params![workspace.as_str(), agent.as_str()];
            let read = |row: &Row<'_>| row.get::<_, Option<i64>>(0);
            Ok(connection.prepare_cached(NEXT_VISIBLE)?.query_row(params, read)?.map(UnixMs))
        })
    }

    fn due_deliveries(
        &self,
        now: UnixMs,
        limit: usize,
    ) -> StoreFuture<'_, Vec<(WorkspaceName, Delivery)>> {
        let limit = one_beyond(page_rows(limit)) - 1;
        self.readers.run(move |connection| {
            let read = |row: &Row<'_>| Ok((parsed(row, 16)?, delivery(row)?));
            rows(connection, &due_sql(), params![now.0, limit], read)
        })
    }

    fn lineage_deliveries(
        &self,
        workspace: &WorkspaceName,
        root: EnvelopeId,
        after: Option<DeliveryId>,
        limit: usize,
    ) -> StoreFuture<'_, Page<Delivery, DeliveryId>> {
        let (workspace, limit) = (workspace.clone(), page_rows(limit));
        // Every id sorts behind the empty one.
        let after = after.map(|id| id.to_string()).unwrap_or_default();
        self.readers.run(move |connection| {
            let sql = format!(
                "SELECT {DELIVERY_COLUMNS} FROM deliveries \
                 WHERE workspace = ? AND root = ? AND id > ? ORDER BY id LIMIT ?"
            );
            let params = params![workspace.as_str(), root.to_string(), after, one_beyond(limit)];
            page(connection, (&sql, params), delivery, limit, |found| found.id)
        })
    }

    fn list_deliveries(
        &self,
        workspace: &WorkspaceName,
        query: DeliveryQuery,
    ) -> StoreFuture<'_, Page<Delivery, DeliveryId>> {
        let (workspace, limit) = (workspace.clone(), page_rows(query.limit));
        self.readers.run(move |connection| {
            let (sql, mut params) = list_sql(&workspace, &query);
            params.push(Value::Integer(one_beyond(limit)));
            let params = params_from_iter(params);
            page(connection, (&sql, params), delivery, limit, |delivery| delivery.id)
        })
    }

    fn queues(&self, workspace: &WorkspaceName) -> StoreFuture<'_, Vec<QueueState>> {
        let workspace = workspace.clone();
        self.readers.run(move |connection| queues(connection, &workspace))
    }

    fn old_roots(
        &self,
        workspace: &WorkspaceName,
        after: Option<EnvelopeId>,
        limit: usize,
    ) -> StoreFuture<'_, Page<EnvelopeId, EnvelopeId>> {
        let (workspace, limit) = (workspace.clone(), page_rows(limit));
        let after = after.map(|id| id.to_string()).unwrap_or_default();
        self.readers.run(move |connection| {
            let params = params![workspace.as_str(), after, one_beyond(limit)];
            page(connection, (OLD_ROOTS, params), |row| parsed(row, 0), limit, |id| *id)
        })
    }
}

fn by_id(
    connection: &Connection,
    workspace: &WorkspaceName,
    id: DeliveryId,
) -> rusqlite::Result<Option<Delivery>> {
    let sql = format!("SELECT {DELIVERY_COLUMNS} FROM deliveries WHERE workspace = ? AND id = ?");
    let params = params![workspace.as_str(), id.to_string()];
    connection.prepare_cached(&sql)?.query_row(params, delivery).optional()
}

/// A list is in the order of ids, which every index but that of open ones has. Open ones are few beside
/// those that are done: they are found by it and sorted.
pub(super) fn list_sql(workspace: &WorkspaceName, query: &DeliveryQuery) -> (String, Vec<Value>) {
    let (index, states) = states_by_index(&query.states);
    let mut conditions = format!("workspace = ?{states}");
    let mut params = vec![Value::Text(workspace.as_str().to_owned())];
    let mut add = |condition: &str, param: Value| {
        conditions.push_str(condition);
        params.push(param);
    };
    if let Some(agent) = &query.agent {
        add(" AND agent = ?", Value::Text(agent.as_str().to_owned()));
    }
    if let Some(since) = query.since {
        add(" AND updated_ms >= ?", Value::Integer(since.0));
    }
    if let Some(until) = query.until {
        add(" AND updated_ms <= ?", Value::Integer(until.0));
    }
    let (behind, direction) = if query.newest_first { ("<", "DESC") } else { (">", "ASC") };
    if let Some(after) = query.after {
        add(&format!(" AND id {behind} ?"), Value::Text(after.to_string()));
    }
    let sql = format!(
        "SELECT {DELIVERY_COLUMNS} FROM deliveries INDEXED BY {index} WHERE {conditions} \
         ORDER BY id {direction} LIMIT ?"
    );
    (sql, params)
}

/// The index to list these states by, since SQLite has no statistics to choose by, and the condition in its words.
fn states_by_index(states: &[DeliveryState]) -> (&'static str, String) {
    let numbers: Vec<String> = states.iter().map(|s| state_number(*s).to_string()).collect();
    let one_of = format!(" AND state IN ({})", numbers.join(", "));
    match states {
        [] => (BY_ID, String::new()),
        [DeliveryState::Parked] => ("deliveries_parked", " AND state = 6".to_owned()),
        open if open.iter().all(|state| state.is_open()) => (BY_QUEUE, one_of + " AND state < 3"),
        _ => (BY_ID, one_of),
    }
}

fn queues(connection: &Connection, workspace: &WorkspaceName) -> rusqlite::Result<Vec<QueueState>> {
    let counted = rows(connection, QUEUES, [workspace.as_str()], |row| {
        let visible_at = row.get::<_, Option<i64>>(3)?.map(UnixMs);
        Ok((parsed::<AgentName>(row, 0)?, delivery_state(row, 1)?, count(row, 2)?, visible_at))
    })?;
    let mut queues = BTreeMap::new();
    for (agent, state, count, visible_at) in counted {
        let queue = queues.entry(agent.clone()).or_insert_with(|| QueueState::new(agent));
        queue.add(state, count, visible_at);
    }
    Ok(queues.into_values().take(QUEUES_MAX).collect())
}
