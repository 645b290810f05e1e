//! What makes a repeated request give the first one's answer, for every kind of request.

use std::time::Duration;

use serde::Serialize;
use spine_protocol::Digest;
use spine_store::{IdempotencyDraft, IdempotencyRecord, Store, StoreError, UnixMs};

use crate::Caller;

/// How long the answer to a request is remembered under its key, unless set.
pub const IDEMPOTENCY_KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// What stands for a request, so that another one under the same key is noticed. Without a key nobody will compare it.
pub(crate) fn request_digest(caller: &Caller, operation: &str, request: &impl Serialize) -> Digest {
    let spelled = caller.idempotency_key.as_ref().map(|_| serde_json::to_vec(request));
    // What cannot be written as JSON is not in any request type; an empty body still has its operation.
    let body = spelled.and_then(Result::ok).unwrap_or_default();
    Digest::of(&[operation.as_bytes(), b"\n", &body])
}

/// The record to write with the effect, if the caller gave a key. No texts: an erasure does not reach in here.
pub(crate) fn record(
    caller: &Caller,
    request: Digest,
    answer: &impl Serialize,
    now: UnixMs,
) -> Option<IdempotencyDraft> {
    let key = caller.idempotency_key.clone()?;
    let answer = serde_json::to_vec(answer).unwrap_or_default();
    let kept_until = now.after(caller.idempotency_kept);
    Some(IdempotencyDraft { key, request, answer, kept_until })
}

/// What was answered under the caller's key.
pub(crate) async fn known(
    store: &dyn Store,
    caller: &Caller,
) -> Result<Option<IdempotencyRecord>, StoreError> {
    let Some(key) = &caller.idempotency_key else { return Ok(None) };
    store.idempotency(&caller.workspace, key, store.now()).await
}
