//! An envelope as it is stored: its canonical bytes, never a database's own JSON.

use std::sync::Arc;

use spine_protocol::{Digest, EnvelopeId};

use crate::Change;

/// One envelope. It never changes once it has an id (R3); only retention and erasure take from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEnvelope {
    /// Its id.
    pub id: EnvelopeId,
    /// The root of its lineage; its own id for a root.
    pub root: EnvelopeId,
    /// What its bytes must add up to.
    pub digest: Digest,
    /// The canonical bytes, shared by all who hold it.
    pub bytes: Arc<[u8]>,
    /// What the engine noted beside it, such as why each memory is in it; no part of the envelope, no texts.
    pub notes: Vec<u8>,
    /// Whether only a skeleton is left of it.
    pub pruned: bool,
    /// The change that last wrote it; what a draft says here is ignored.
    pub change: Change,
}
