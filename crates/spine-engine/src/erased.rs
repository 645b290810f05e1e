//! The mark that an erasure leaves. What was read before it may hold what was erased, and is not written behind it.

use spine_protocol::WorkspaceName;
use spine_store::{
    Change, Collection, Expected, Guard, Record, RecordKey, RowKey, Store, StoreError,
};

const MARK: &str = "mark";

fn key() -> Option<RecordKey> {
    Some(RecordKey { collection: Collection::Erased, name: MARK.parse().ok()? })
}

/// The newest erasure, to be looked at before anything else is.
pub(crate) async fn newest(
    store: &dyn Store,
    workspace: &WorkspaceName,
) -> Result<Change, StoreError> {
    let mark = store.records(workspace, key().into_iter().collect()).await?.pop();
    Ok(mark.map_or(Change::ZERO, |mark| mark.change))
}

/// That nothing was erased since then.
pub(crate) fn nothing_since(newest: Change) -> Option<Guard> {
    Some(Guard { key: RowKey::Record(key()?), expected: Expected::on_top_of(newest) })
}

/// The mark of one more erasure.
pub(crate) async fn next_mark(
    store: &dyn Store,
    workspace: &WorkspaceName,
) -> Result<Option<Record>, StoreError> {
    let change = newest(store, workspace).await?;
    Ok(key().map(|key| Record { key, change, due_at: None, value: Vec::new() }))
}
