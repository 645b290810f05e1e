//! What makes a repeated request give the first one's answer.

use spine_protocol::Digest;

use crate::{IdempotencyKey, Receipt, UnixMs};

/// A record to write in the effect's own transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyDraft {
    /// The caller's key.
    pub key: IdempotencyKey,
    /// Stands for the request: the same key with another request is a conflict.
    pub request: Digest,
    /// What the engine needs, beside the receipt, to give the same answer again. No texts: a purge
    /// does not reach in here.
    pub answer: Vec<u8>,
    /// From when on the key is as good as new.
    pub kept_until: UnixMs,
}

/// A record that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyRecord {
    /// Stands for the first request.
    pub request: Digest,
    /// What the engine left for the answer.
    pub answer: Vec<u8>,
    /// From when on the key is as good as new.
    pub kept_until: UnixMs,
    /// The numbers the first request got.
    pub receipt: Receipt,
}
