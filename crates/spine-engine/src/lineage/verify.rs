//! R4: whether a lineage is what it was, with the log as the witness.

use std::collections::BTreeSet;

use spine_protocol::{EnvelopeId, Record, Verification, Witness, verify};
use spine_store::limits::PAGE_ROWS_MAX;
use spine_store::{Change, Event, StoredEnvelope};

use super::limits::{OWN_EVENTS, WITNESS_EVENTS_MAX};
use super::{LineageError, Lineages, Result};
use crate::Caller;

impl Lineages {
    /// Checks every envelope of a lineage against its own digest, its children, the rules and the log.
    pub async fn verify(&self, caller: &Caller, id: EnvelopeId) -> Result<Verification> {
        let root = self.stored(caller, id).await?.root;
        let rows = self.rows(caller, root).await?;
        let witnesses = self.witnesses(caller, root, &rows).await?;
        let records =
            rows.into_iter().map(|row| (row.id, Record::Whole(row.bytes))).collect();
        Ok(verify(&records, &witnesses))
    }

    /// What the log says of the lineage, of envelopes that are no longer there too.
    async fn witnesses(
        &self,
        caller: &Caller,
        root: EnvelopeId,
        rows: &[StoredEnvelope],
    ) -> Result<Vec<Witness>> {
        let first = rows.iter().map(|row| row.change.0).min().unwrap_or_default();
        let ids: BTreeSet<EnvelopeId> = rows.iter().map(|row| row.id).collect();
        let belongs = |event: &Event| {
            event.envelope.is_some_and(|id| ids.contains(&id)) || names_root(event, root)
        };
        let (mut witnesses, mut after, mut seen) = (Vec::new(), Change(first), 0);
        while seen < WITNESS_EVENTS_MAX {
            let page = self.store.events(&caller.workspace, after, PAGE_ROWS_MAX).await?;
            seen += page.items.len();
            witnesses.extend(page.items.iter().filter(|e| belongs(e)).filter_map(witness));
            match page.next {
                Some(next) => after = next,
                None => return Ok(witnesses),
            }
        }
        self.own_witnesses(caller, rows, &mut witnesses).await?;
        Ok(witnesses)
    }

    /// The log is long: the event of each envelope that was not met stands right behind its own change.
    async fn own_witnesses(
        &self,
        caller: &Caller,
        rows: &[StoredEnvelope],
        witnesses: &mut Vec<Witness>,
    ) -> Result<()> {
        let met: BTreeSet<EnvelopeId> = witnesses.iter().map(|witness| witness.id).collect();
        for row in rows.iter().filter(|row| !met.contains(&row.id)) {
            let page = self.store.events(&caller.workspace, row.change, OWN_EVENTS).await?;
            let own = page.items.iter().filter(|event| event.envelope == Some(row.id));
            witnesses.extend(own.filter_map(witness));
        }
        Ok::<(), LineageError>(())
    }
}

fn names_root(event: &Event, root: EnvelopeId) -> bool {
    let named = event.data.get("root").and_then(|root| root.as_str());
    named.is_some_and(|named| named.parse() == Ok(root))
}

fn witness(event: &Event) -> Option<Witness> {
    let digest = event.data.get("digest")?.as_str()?.parse().ok()?;
    let noted_in = format!("the log at change {}", event.change.0);
    Some(Witness { id: event.envelope?, digest, noted_in })
}
