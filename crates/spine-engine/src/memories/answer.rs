//! What is remembered under an idempotency key: ids and versions, never texts.

use serde::{Deserialize, Serialize};
use spine_protocol::{Digest, MemoryId};
use spine_store::{ErrorKind, IdempotencyRecord, Receipt, StoreError};

use super::error::MemoryError;

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
