//! Writing envelopes, and what retention and erasure take from them.

use rusqlite::params;
use spine_protocol::EnvelopeId;
use spine_store::{Expected, RowKey, StoredEnvelope};

use super::step::{Result, Step};

pub(super) fn insert(step: &Step<'_, '_>, envelope: &StoredEnvelope) -> Result<()> {
    let sql = "INSERT INTO envelopes (workspace, id, root, digest, change, bytes, notes, pruned) \
               VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
    let StoredEnvelope { bytes, notes, pruned, .. } = envelope;
    let written = step.statements.execute(
        sql,
        params![
            step.workspace,
            &*envelope.id.spelled(),
            &*envelope.root.spelled(),
            envelope.digest.to_string(),
            step.counter.change,
            bytes,
            notes,
            pruned,
        ],
    );
    step.one_row(written, || RowKey::Envelope(envelope.id), Expected::Absent)
}

/// Leaves a skeleton.
pub(super) fn prune(step: &Step<'_, '_>, id: EnvelopeId, skeleton: &[u8]) -> Result<()> {
    let sql = "UPDATE envelopes SET change = ?, bytes = ?, notes = x'', pruned = 1 \
               WHERE workspace = ? AND id = ?";
    rewrite(step, sql, id, skeleton)
}

/// Leaves the envelope without some texts.
pub(super) fn erase_texts(step: &Step<'_, '_>, id: EnvelopeId, bytes: &[u8]) -> Result<()> {
    let sql =
        "UPDATE envelopes SET change = ?, bytes = ?, notes = x'' WHERE workspace = ? AND id = ?";
    rewrite(step, sql, id, bytes)
}

fn rewrite(step: &Step<'_, '_>, sql: &'static str, id: EnvelopeId, bytes: &[u8]) -> Result<()> {
    let params = params![step.counter.change, bytes, step.workspace, id.to_string()];
    let written = step.statements.execute(sql, params);
    step.one_row(written, || RowKey::Envelope(id), Expected::Present)
}
