//! Envelopes that are there: read, followed through their lineage, verified, and brought in from elsewhere.

mod error;
mod import;
pub mod limits;
mod verify;

use std::sync::Arc;

use spine_protocol::{Envelope, EnvelopeId};
use spine_store::limits::PAGE_ROWS_MAX;
use spine_store::{Expected, Guard, RowKey, Store, StoredEnvelope};

pub use error::LineageError;
use limits::LINEAGE_ENVELOPES_MAX;

use crate::Caller;

type Result<T> = std::result::Result<T, LineageError>;

/// Everything that can be asked of stored envelopes.
#[derive(Clone)]
pub struct Lineages {
    store: Arc<dyn Store>,
}

impl Lineages {
    /// Over a store.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store }
    }

    /// One envelope.
    pub async fn envelope(&self, caller: &Caller, id: EnvelopeId) -> Result<Envelope> {
        read(&self.stored(caller, id).await?)
    }

    /// Every envelope of the lineage that this one belongs to, oldest first.
    pub async fn lineage(&self, caller: &Caller, id: EnvelopeId) -> Result<Vec<Envelope>> {
        let stored = self.stored(caller, id).await?;
        let rows = self.rows(caller, stored.root).await?;
        rows.iter().map(read).collect()
    }

    async fn stored(&self, caller: &Caller, id: EnvelopeId) -> Result<StoredEnvelope> {
        let stored = self.store.envelope(&caller.workspace, id).await?;
        stored.ok_or(LineageError::EnvelopeUnknown { id })
    }

    async fn rows(&self, caller: &Caller, root: EnvelopeId) -> Result<Vec<StoredEnvelope>> {
        let (mut rows, mut after) = (Vec::new(), None);
        loop {
            let page = self.store.lineage(&caller.workspace, root, after, PAGE_ROWS_MAX).await?;
            rows.extend(page.items);
            if rows.len() > LINEAGE_ENVELOPES_MAX {
                return Err(LineageError::TooLong { root });
            }
            after = page.next;
            if after.is_none() {
                return Ok(rows);
            }
        }
    }
}

/// An envelope that must be there, and not pruned, when a command takes effect, not only when it was looked at.
pub(crate) fn still_whole(id: EnvelopeId) -> Guard {
    Guard { key: RowKey::Envelope(id), expected: Expected::Live }
}

fn read(row: &StoredEnvelope) -> Result<Envelope> {
    if row.pruned {
        return Err(LineageError::Pruned { id: row.id });
    }
    Envelope::read(&row.bytes).map_err(LineageError::Damaged)
}
