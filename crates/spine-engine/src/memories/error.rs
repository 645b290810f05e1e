//! Why a request about memories is not granted. Each message says what to do.

use spine_protocol::MemoryId;
use spine_store::StoreError;

/// Why an id does not give a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MissingReason {
    /// There never was one with this id, or not in this workspace: the two cannot be told apart.
    NotFound,
    /// It was deleted.
    Deleted,
    /// Every version was erased.
    Purged,
    /// Its time is over.
    Expired,
}

impl MissingReason {
    /// The word for it in a gap.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::Deleted => "deleted",
            Self::Purged => "purged",
            Self::Expired => "expired",
        }
    }
}

/// A request that was not granted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum MemoryError {
    /// A field is not as it must be.
    #[error("{field} {problem}")]
    Invalid {
        /// Which field.
        field: &'static str,
        /// What is wrong, after the field's name.
        problem: &'static str,
    },
    /// A field is beyond its limit.
    #[error("{field} has {found} {unit}, at most {max} are taken: shorten or split it")]
    TooLarge {
        /// Which field.
        field: &'static str,
        /// What it has.
        found: usize,
        /// What it may have.
        max: usize,
        /// Of what.
        unit: &'static str,
    },
    /// More was asked for than one answer holds.
    #[error("{field} asks for memories of more than {max} bytes together: ask for fewer at a time")]
    AnswerTooLarge {
        /// Which field asks for so many.
        field: &'static str,
        /// What an answer may have.
        max: usize,
    },
    /// The memory is not there.
    #[error("{id} is not there ({}): check the id", reason.as_str())]
    Missing {
        /// Which one.
        id: MemoryId,
        /// Why.
        reason: MissingReason,
    },
    /// There is no such version.
    #[error("{id} has no version {version}: list its versions")]
    NoSuchVersion {
        /// Which memory.
        id: MemoryId,
        /// Which version.
        version: u32,
    },
    /// It changed since the caller read it.
    #[error("{id} is at version {current}, not {expected}: read it again and decide anew")]
    VersionConflict {
        /// Which memory.
        id: MemoryId,
        /// What the caller expected.
        expected: u32,
        /// What it is at.
        current: u32,
    },
    /// The key stands for another request.
    #[error("this Idempotency-Key was used for another request: take a new key")]
    IdempotencyConflict,
    /// Others were first each time.
    #[error("others kept changing the same memories: try again")]
    Contended,
    /// The store could not.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl MemoryError {
    pub(super) fn missing(id: MemoryId, reason: MissingReason) -> Self {
        Self::Missing { id, reason }
    }
}
