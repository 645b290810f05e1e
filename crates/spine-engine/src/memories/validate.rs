//! From a request to a body, within every limit.

use serde_json::Value;
use spine_protocol::AgentName;
use spine_store::{MemoryBody, UnixMs};

use super::error::MemoryError;
use super::limits::*;
use super::request::{Edit, MemoryPatch, NewMemory};

type Result<T> = std::result::Result<T, MemoryError>;

/// The body of a new memory.
pub(super) fn body(new: NewMemory, agent: Option<&AgentName>, now: UnixMs) -> Result<MemoryBody> {
    let body = MemoryBody {
        text: new.text,
        title: new.title,
        summary: new.summary,
        kind: new.kind,
        tags: new.tags,
        priority: new.priority,
        pinned: new.pinned,
        author: new.author.or_else(|| agent.cloned()),
        thread: new.thread,
        subject: new.subject,
        occurred_at: new.occurred_at,
        metadata: new.metadata,
        expires_at: new.ttl.map(|ttl| now.after(ttl)),
    };
    checked(body)
}

/// The body after a change.
pub(super) fn patched(mut body: MemoryBody, patch: MemoryPatch, now: UnixMs) -> Result<MemoryBody> {
    body.text = patch.text.unwrap_or(body.text);
    patch.title.apply(&mut body.title);
    patch.summary.apply(&mut body.summary);
    body.kind = patch.kind.unwrap_or(body.kind);
    body.tags = patch.tags.unwrap_or(body.tags);
    body.priority = patch.priority.unwrap_or(body.priority);
    patch.thread.apply(&mut body.thread);
    patch.subject.apply(&mut body.subject);
    patch.occurred_at.apply(&mut body.occurred_at);
    body.metadata = patch.metadata.unwrap_or(body.metadata);
    match patch.ttl {
        Edit::Keep => {}
        Edit::Clear => body.expires_at = None,
        Edit::Set(ttl) => body.expires_at = Some(now.after(ttl)),
    }
    checked(body)
}

fn checked(mut body: MemoryBody) -> Result<MemoryBody> {
    body.tags.sort();
    body.tags.dedup();
    if body.text.trim().is_empty() {
        return Err(MemoryError::Invalid { field: "text", problem: "must not be empty" });
    }
    if body.author.as_ref().is_some_and(AgentName::is_broadcast) {
        return Err(MemoryError::Invalid { field: "author", problem: "must not be `broadcast`" });
    }
    let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    within("text", body.text.len(), MEMORY_TEXT_BYTES_MAX, "bytes")?;
    within("title", length(&body.title), TITLE_BYTES_MAX, "bytes")?;
    within("summary", length(&body.summary), SUMMARY_BYTES_MAX, "bytes")?;
    within("tags", body.tags.len(), TAGS_MAX, "tags")?;
    // A map holds its values one level down.
    let depth = 1 + body.metadata.values().map(|value| depth(value, 1)).max().unwrap_or(0);
    within("metadata", depth, METADATA_DEPTH_MAX, "levels")?;
    let metadata = serde_json::to_vec(&body.metadata).map_or(usize::MAX, |json| json.len());
    within("metadata", metadata, METADATA_BYTES_MAX, "bytes")?;
    Ok(body)
}

/// How deep a value goes; it stops looking beyond the limit, so that no input can exhaust the stack.
fn depth(value: &Value, above: usize) -> usize {
    if above > METADATA_DEPTH_MAX {
        return 1;
    }
    let below = |value: &Value| depth(value, above + 1);
    match value {
        Value::Array(values) => 1 + values.iter().map(below).max().unwrap_or(0),
        Value::Object(values) => 1 + values.values().map(below).max().unwrap_or(0),
        _ => 0,
    }
}

/// Refuses what is beyond a limit.
pub(super) fn within(
    field: &'static str,
    found: usize,
    max: usize,
    unit: &'static str,
) -> Result<()> {
    if found <= max { Ok(()) } else { Err(MemoryError::TooLarge { field, found, max, unit }) }
}
