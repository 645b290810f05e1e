//! Writing records: each on top of the version it was read at.

use rusqlite::params;
use spine_store::{Change, Expected, Record, RecordKey, RowKey, UnixMs};

use super::step::{Result, Step};

pub(super) fn put(step: &Step<'_, '_>, record: &Record) -> Result<()> {
    let written =
        if record.change == Change::ZERO { insert(step, record) } else { update(step, record) };
    let key = || RowKey::Record(record.key.clone());
    step.one_row(written, key, Expected::on_top_of(record.change))
}

fn insert(step: &Step<'_, '_>, record: &Record) -> rusqlite::Result<usize> {
    let sql = "INSERT INTO records (workspace, collection, name, change, due_ms, value) \
               VALUES (?, ?, ?, ?, ?, ?)";
    step.statements.execute(
        sql,
        params![
            step.workspace,
            record.key.collection.as_str(),
            record.key.name.as_str(),
            step.counter.change,
            record.due_at.map(|due| due.0),
            record.value,
        ],
    )
}

fn update(step: &Step<'_, '_>, record: &Record) -> rusqlite::Result<usize> {
    let sql = "UPDATE records SET change = ?, due_ms = ?, value = ? \
               WHERE workspace = ? AND collection = ? AND name = ? AND change = ?";
    step.statements.execute(
        sql,
        params![
            step.counter.change,
            record.due_at.map(|due| due.0),
            record.value,
            step.workspace,
            record.key.collection.as_str(),
            record.key.name.as_str(),
            record.change.0.cast_signed(),
        ],
    )
}

pub(super) fn remove(step: &Step<'_, '_>, key: &RecordKey, change: Change) -> Result<()> {
    let sql = "DELETE FROM records \
               WHERE workspace = ? AND collection = ? AND name = ? AND change = ?";
    let RecordKey { collection, name } = key;
    let params =
        params![step.workspace, collection.as_str(), name.as_str(), change.0.cast_signed()];
    let removed = step.statements.execute(sql, params);
    step.one_row(removed, || RowKey::Record(key.clone()), Expected::At(change))
}

pub(super) fn wake(step: &Step<'_, '_>, key: &RecordKey, at: UnixMs) -> Result<()> {
    let sql = "UPDATE records SET due_ms = ?4 WHERE workspace = ?1 AND collection = ?2 AND name = ?3 \
               AND (due_ms IS NULL OR due_ms > ?4)";
    let RecordKey { collection, name } = key;
    let params = params![step.workspace, collection.as_str(), name.as_str(), at.0];
    step.statements.execute(sql, params)?;
    Ok(())
}
