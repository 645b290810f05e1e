//! One call for the story of a lineage: its envelopes, their deliveries, and everything that was logged of them.

use spine_protocol::{Envelope, EnvelopeId};
use spine_store::limits::PAGE_ROWS_MAX;
use spine_store::{Event, EventQuery, StoredEnvelope};

use super::limits::LINEAGE_ROWS_MAX;
use super::story::Delivery;
use super::{Deliveries, DeliveryError, Result};
use crate::Caller;

/// Everything that is known of a lineage.
#[derive(Debug, Clone)]
pub struct Trace {
    /// Its root.
    pub root: EnvelopeId,
    /// Its envelopes, oldest first.
    pub envelopes: Vec<StoredEnvelope>,
    /// Their deliveries, oldest first.
    pub deliveries: Vec<Delivery>,
    /// What was logged, oldest first.
    pub events: Vec<Event>,
}

fn within_lineage(found: usize, unit: &'static str) -> Result<()> {
    let (field, max) = ("lineage", LINEAGE_ROWS_MAX);
    if found <= max { Ok(()) } else { Err(DeliveryError::TooLarge { field, found, max, unit }) }
}

impl Deliveries {
    /// The story of the lineage that an envelope belongs to.
    pub async fn trace(&self, caller: &Caller, id: EnvelopeId) -> Result<Trace> {
        let stored = self.store.envelope(&caller.workspace, id).await?;
        let unknown = || DeliveryError::NotFound { kind: "envelope", name: id.to_string() };
        let root = stored.ok_or_else(unknown)?.root;
        let envelopes = self.lineage_envelopes(caller, root).await?;
        let deliveries = self.lineage_deliveries(caller, root).await?;
        let events = self.lineage_events(caller, &envelopes).await?;
        Ok(Trace { root, envelopes, deliveries, events })
    }

    pub(super) async fn lineage_envelopes(
        &self,
        caller: &Caller,
        root: EnvelopeId,
    ) -> Result<Vec<StoredEnvelope>> {
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let page = self.store.lineage(&caller.workspace, root, after, PAGE_ROWS_MAX).await?;
            found.extend(page.items);
            within_lineage(found.len(), "envelopes")?;
            after = page.next;
            if after.is_none() {
                return Ok(found);
            }
        }
    }

    /// The deliveries of a lineage, oldest first.
    pub async fn lineage_deliveries(
        &self,
        caller: &Caller,
        root: EnvelopeId,
    ) -> Result<Vec<Delivery>> {
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let page = self
                .store
                .lineage_deliveries(&caller.workspace, root, after, PAGE_ROWS_MAX)
                .await?;
            for row in page.items {
                found.push(Delivery::of_row(row)?);
            }
            within_lineage(found.len(), "deliveries")?;
            after = page.next;
            if after.is_none() {
                return Ok(found);
            }
        }
    }

    async fn lineage_events(
        &self,
        caller: &Caller,
        envelopes: &[StoredEnvelope],
    ) -> Result<Vec<Event>> {
        let envelopes: Vec<EnvelopeId> = envelopes.iter().map(|stored| stored.id).collect();
        let mut query = EventQuery { envelopes, limit: PAGE_ROWS_MAX, ..EventQuery::default() };
        let mut found = Vec::new();
        loop {
            let page = self.store.events_of(&caller.workspace, query.clone()).await?;
            found.extend(page.items);
            within_lineage(found.len(), "events")?;
            match page.next {
                Some(after) => query.after = after,
                None => return Ok(found),
            }
        }
    }
}

impl Trace {
    /// The envelopes that still are more than a skeleton, read.
    pub fn read_envelopes(&self) -> Result<Vec<Envelope>> {
        let whole = self.envelopes.iter().filter(|stored| !stored.pruned);
        let read = |stored: &StoredEnvelope| {
            Envelope::read(&stored.bytes).map_err(|error| {
                let kind = spine_store::ErrorKind::Corrupt;
                spine_store::StoreError::new(kind, error.to_string()).into()
            })
        };
        whole.map(read).collect()
    }
}
