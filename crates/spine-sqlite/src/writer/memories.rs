//! Writing memories. Each put checks for itself that its row is there and live.

use rusqlite::ffi::ErrorCode;
use rusqlite::params;
use spine_protocol::MemoryId;
use spine_store::{Expected, MemoryDraft, RowKey, Tag, UnixMs};

use super::step::{Halt, Result, Step, json, number};
use crate::row::{self, DELETED, LIVE, PURGED};

const INSERT: &str = "INSERT INTO memories (workspace, number, change, updated_ms, about_ms, expires_ms, \
        content, pinned, priority, kind, author, thread, subject, occurred_at, tags, title, summary, \
        metadata, text, created_ms, version, state) \
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?4, \
        1, 0)";

const REVISE: &str = "UPDATE memories SET change = ?3, updated_ms = ?4, about_ms = ?5, expires_ms = ?6, \
        content = ?7, pinned = ?8, priority = ?9, kind = ?10, author = ?11, thread = ?12, \
        subject = ?13, occurred_at = ?14, tags = ?15, title = ?16, summary = ?17, metadata = ?18, \
        text = ?19, version = version + 1 \
    WHERE workspace = ?1 AND number = ?2";

/// Leaves the mark: nothing that the memory said.
const CLEAR: &str = "UPDATE memories SET change = ?3, updated_ms = ?4, version = version + (state = 0), \
        state = ?5, about_ms = 0, expires_ms = NULL, content = NULL, pinned = 0, priority = 1, \
        kind = NULL, author = NULL, thread = NULL, subject = NULL, occurred_at = NULL, tags = NULL, \
        title = NULL, summary = NULL, metadata = NULL, text = NULL \
    WHERE workspace = ?1 AND number = ?2";

const ARCHIVE: &str = "INSERT INTO memory_versions (workspace, number, version, change, created_ms, \
        updated_ms, expires_ms, pinned, priority, kind, author, thread, subject, occurred_at, tags, \
        title, summary, metadata, text) \
    SELECT workspace, number, version, change, created_ms, updated_ms, expires_ms, pinned, priority, \
        kind, author, thread, subject, occurred_at, tags, title, summary, metadata, text \
    FROM memories WHERE workspace = ? AND number = ?";

/// What a put needs to know of the row it changes.
struct Head {
    live: bool,
    created_at: UnixMs,
    tags: Vec<Tag>,
}

pub(super) fn insert(step: &mut Step<'_, '_>, draft: &MemoryDraft) -> Result<()> {
    let id = step.next_memory()?;
    write_body(step, INSERT, id, step.at, draft)?;
    add_tags(step, id, &draft.body.tags)
}

pub(super) fn revise(step: &Step<'_, '_>, id: MemoryId, draft: &MemoryDraft) -> Result<()> {
    let head = live_head(step, id)?;
    run(step, ARCHIVE, id)?;
    write_body(step, REVISE, id, head.created_at, draft)?;
    if head.tags != draft.body.tags {
        remove_tags(step, id, &head.tags)?;
        add_tags(step, id, &draft.body.tags)?;
    }
    Ok(())
}

pub(super) fn pin(step: &Step<'_, '_>, id: MemoryId, pinned: bool) -> Result<()> {
    step.expect(RowKey::Memory(id), Expected::Live)?;
    let sql = "UPDATE memories SET change = ?3, updated_ms = ?4, pinned = ?5 \
               WHERE workspace = ?1 AND number = ?2";
    touch(step, sql, id, i64::from(pinned))
}

pub(super) fn release_content(step: &Step<'_, '_>, id: MemoryId) -> Result<()> {
    step.expect(RowKey::Memory(id), Expected::Live)?;
    let sql = "UPDATE memories SET change = ?3, updated_ms = ?4, content = NULL \
               WHERE workspace = ?1 AND number = ?2 AND state = ?5";
    touch(step, sql, id, LIVE)
}

pub(super) fn delete(step: &Step<'_, '_>, id: MemoryId) -> Result<()> {
    let head = live_head(step, id)?;
    run(step, ARCHIVE, id)?;
    remove_tags(step, id, &head.tags)?;
    touch(step, CLEAR, id, DELETED)
}

pub(super) fn purge(step: &Step<'_, '_>, id: MemoryId) -> Result<()> {
    step.expect(RowKey::Memory(id), Expected::Present)?;
    if let Some(head) = head(step, id)?.filter(|head| head.live) {
        remove_tags(step, id, &head.tags)?;
    }
    run(step, "DELETE FROM memory_versions WHERE workspace = ? AND number = ?", id)?;
    touch(step, CLEAR, id, PURGED)
}

fn live_head(step: &Step<'_, '_>, id: MemoryId) -> Result<Head> {
    match head(step, id)?.filter(|head| head.live) {
        Some(head) => Ok(head),
        // It says what is there instead.
        None => step.expect(RowKey::Memory(id), Expected::Live).and(Err(missing())),
    }
}

/// Unreachable: the row was just found not to be live.
fn missing() -> Halt {
    Halt::Broken(rusqlite::Error::QueryReturnedNoRows)
}

fn head(step: &Step<'_, '_>, id: MemoryId) -> Result<Option<Head>> {
    let sql = "SELECT state, created_ms, tags FROM memories WHERE workspace = ? AND number = ?";
    let found = step.statements.find(sql, params![step.workspace, number(id)], |row| {
        let live = row.get::<_, i64>(0)? == LIVE;
        let tags = if live { row::tags(row, 2)? } else { Vec::new() };
        Ok(Head { live, created_at: UnixMs(row.get(1)?), tags })
    });
    Ok(found?)
}

/// Writes all that one version consists of.
fn write_body(
    step: &Step<'_, '_>,
    sql: &'static str,
    id: MemoryId,
    created_at: UnixMs,
    draft: &MemoryDraft,
) -> Result<()> {
    let body = &draft.body;
    let written = step.statements.execute(
        sql,
        params![
            step.workspace,
            number(id),
            step.counter.change,
            step.at.0,
            body.occurred_at.as_ref().map_or(created_at, UnixMs::from).0,
            body.expires_at.map(|at| at.0),
            draft.content.map(|key| key.0),
            body.pinned,
            body.priority as u8,
            body.kind.as_str(),
            body.author.as_ref().map(|author| author.as_str()),
            body.thread.as_ref().map(|thread| thread.as_str()),
            body.subject.as_ref().map(|subject| subject.as_str()),
            body.occurred_at.as_ref().map(|at| at.as_str()),
            json(&body.tags),
            body.title,
            body.summary,
            json(&body.metadata),
            body.text,
        ],
    );
    written.map(drop).or_else(|error| content_is_held(step, draft, error))
}

/// The unique index finds a held content key; asking beforehand would cost every write a look-up.
fn content_is_held(step: &Step<'_, '_>, draft: &MemoryDraft, error: rusqlite::Error) -> Result<()> {
    let violated = error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation);
    if let Some(key) = draft.content.filter(|_| violated) {
        step.expect(RowKey::Content(key), Expected::Absent)?;
    }
    Err(Halt::Broken(error))
}

fn add_tags(step: &Step<'_, '_>, id: MemoryId, tags: &[Tag]) -> Result<()> {
    let sql = "INSERT OR IGNORE INTO memory_tags (workspace, tag, memory) VALUES (?, ?, ?)";
    each_tag(step, sql, id, tags)
}

fn remove_tags(step: &Step<'_, '_>, id: MemoryId, tags: &[Tag]) -> Result<()> {
    let sql = "DELETE FROM memory_tags WHERE workspace = ? AND tag = ? AND memory = ?";
    each_tag(step, sql, id, tags)
}

fn each_tag(step: &Step<'_, '_>, sql: &'static str, id: MemoryId, tags: &[Tag]) -> Result<()> {
    for tag in tags {
        step.statements.execute(sql, params![step.workspace, tag.as_str(), number(id)])?;
    }
    Ok(())
}

fn run(step: &Step<'_, '_>, sql: &'static str, id: MemoryId) -> Result<()> {
    step.statements.execute(sql, params![step.workspace, number(id)])?;
    Ok(())
}

/// A small change to one row, stamped with the change and the moment.
fn touch(step: &Step<'_, '_>, sql: &'static str, id: MemoryId, value: i64) -> Result<()> {
    let params = params![step.workspace, number(id), step.counter.change, step.at.0, value];
    step.statements.execute(sql, params)?;
    Ok(())
}
