//! What is remembered under an idempotency key: ids and versions, never texts.

use serde::{Deserialize, Serialize};
use spine_protocol::{Digest, MemoryId};
use spine_store::{ErrorKind, IdempotencyDraft, IdempotencyRecord, Receipt, StoreError, UnixMs};

use super::error::MemoryError;
use super::limits::IDEMPOTENCY_KEPT;
use crate::Caller;

/// One answer of a request. The last part says whether it was a duplicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Slot {
    /// This version of this memory.
    Existing(MemoryId, u32, bool),
    /// The n-th memory that the command made, at its first version.
    New(u32, bool),
}

impl Slot {
    pub(super) fn existing(id: MemoryId, version: u32, duplicate: bool) -> Self {
        Self::Existing(id, version, duplicate)
    }

    pub(super) fn as_duplicate(self) -> Self {
        match self {
            Self::Existing(id, version, _) => Self::Existing(id, version, true),
            Self::New(nth, _) => Self::New(nth, true),
        }
    }

    /// Which version of which memory it stands for, and whether it was a duplicate.
    pub(super) fn resolve(self, receipt: &Receipt) -> Option<(MemoryId, u32, bool)> {
        match self {
            Self::Existing(id, version, duplicate) => Some((id, version, duplicate)),
            Self::New(nth, duplicate) => Some((receipt.memory_id(nth)?, 1, duplicate)),
        }
    }
}

/// What stands for a request, so that another one under the same key is noticed.
pub(super) fn request_digest(operation: &str, request: &impl Serialize) -> Digest {
    // What cannot be written as JSON is not in any request type; an empty body still has its operation.
    let body = serde_json::to_vec(request).unwrap_or_default();
    Digest::of(&[operation.as_bytes(), b"\n", &body])
}

/// The record to write with the effect, if the caller gave a key.
pub(super) fn record(
    caller: &Caller,
    request: Digest,
    slots: &[Slot],
    now: UnixMs,
) -> Option<IdempotencyDraft> {
    let key = caller.idempotency_key.clone()?;
    let answer = serde_json::to_vec(slots).unwrap_or_default();
    Some(IdempotencyDraft { key, request, answer, kept_until: now.after(IDEMPOTENCY_KEPT) })
}

/// The answers of the first request, if this is the same one.
pub(super) fn replay(
    record: &IdempotencyRecord,
    request: &Digest,
) -> Result<Vec<(MemoryId, u32, bool)>, MemoryError> {
    if record.request != *request {
        return Err(MemoryError::IdempotencyConflict);
    }
    let slots: Option<Vec<Slot>> = serde_json::from_slice(&record.answer).ok();
    let resolve =
        |slots: Vec<Slot>| slots.iter().map(|slot| slot.resolve(&record.receipt)).collect();
    let damaged = || StoreError::new(ErrorKind::Corrupt, "an idempotency record does not parse");
    Ok(slots.and_then(resolve).ok_or_else(damaged)?)
}
