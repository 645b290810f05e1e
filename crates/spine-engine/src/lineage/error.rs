//! Why something about a lineage is not granted.

use spine_protocol::{EnvelopeId, ReadError, RuleError, WorkspaceName};
use spine_store::StoreError;

use super::limits::LINEAGE_ENVELOPES_MAX;

/// Each message says what to do.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LineageError {
    /// An envelope that is not there.
    #[error("envelope {id} does not exist: give the id of an envelope of this workspace")]
    EnvelopeUnknown {
        /// Its id.
        id: EnvelopeId,
    },
    /// Only a skeleton is left.
    #[error(
        "envelope {id} was pruned, as retention asks: only its id, digest, parents and hop are kept"
    )]
    Pruned {
        /// Its id.
        id: EnvelopeId,
    },
    /// Another envelope has the id.
    #[error("there is another envelope under {id}: an envelope never changes, so make a new one")]
    EnvelopeExists {
        /// Its id.
        id: EnvelopeId,
    },
    /// A foreign envelope that says it belongs elsewhere.
    #[error("the envelope is of workspace `{workspace}`: bring it in there")]
    WorkspaceDiffers {
        /// Where it says it belongs.
        workspace: WorkspaceName,
    },
    /// A lineage that is not read at once.
    #[error(
        "the lineage of {root} has more than {LINEAGE_ENVELOPES_MAX} envelopes: read them one by one"
    )]
    TooLong {
        /// Its root.
        root: EnvelopeId,
    },
    /// The key stands for another request.
    #[error("this Idempotency-Key was used for another request: take a new key")]
    IdempotencyConflict,
    /// A foreign envelope that breaks a rule.
    #[error("{0}")]
    Rule(Box<RuleError>),
    /// A stored envelope that does not read.
    #[error("a stored envelope is damaged: verify its lineage, and restore a backup")]
    Damaged(ReadError),
    /// The store could not be asked.
    #[error("{0}")]
    Store(#[from] StoreError),
}

impl From<RuleError> for LineageError {
    fn from(error: RuleError) -> Self {
        Self::Rule(Box::new(error))
    }
}
