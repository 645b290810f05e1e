//! R4: whether a lineage is what it was, with the log as the witness.

use std::collections::BTreeMap;

use spine_protocol::{EnvelopeId, Record, Verification, Witness, verify};
use spine_store::limits::PAGE_ROWS_MAX;
use spine_store::{Change, Event, EventQuery, StoredEnvelope};

use super::{LineageError, Lineages, Result};
use crate::Caller;

impl Lineages {
    /// Checks every envelope of a lineage against its own digest, its children, the rules and the log.
    pub async fn verify(&self, caller: &Caller, id: EnvelopeId) -> Result<Verification> {
        let root = self.stored(caller, id).await?.root;
        let rows = self.rows(caller, root).await?;
        let witnesses = self.witnesses(caller, &rows).await?;
        let records: Result<BTreeMap<EnvelopeId, Record>> = rows.into_iter().map(record).collect();
        Ok(verify(&records?, &witnesses))
    }

    /// The digests that the log noted when the envelopes came in.
    async fn witnesses(&self, caller: &Caller, rows: &[StoredEnvelope]) -> Result<Vec<Witness>> {
        let mut witnesses = Vec::new();
        for part in rows.chunks(PAGE_ROWS_MAX) {
            let mut query = EventQuery {
                envelopes: part.iter().map(|row| row.id).collect(),
                kinds_prefix: Some("envelope.".to_owned()),
                after: Change::ZERO,
                newest_first: false,
                limit: PAGE_ROWS_MAX,
            };
            loop {
                let page = self.store.events_of(&caller.workspace, query.clone()).await?;
                witnesses.extend(page.items.iter().filter_map(witness));
                match page.next {
                    Some(next) => query.after = next,
                    None => break,
                }
            }
        }
        Ok(witnesses)
    }
}

fn record(row: StoredEnvelope) -> Result<(EnvelopeId, Record)> {
    if !row.pruned {
        return Ok((row.id, Record::Whole(row.bytes.to_vec())));
    }
    let skeleton = spine_protocol::json::read_value(&row.bytes)
        .and_then(|value| spine_protocol::from_value(&value))
        .map_err(LineageError::Damaged)?;
    Ok((row.id, Record::Skeleton(skeleton)))
}

fn witness(event: &Event) -> Option<Witness> {
    let digest = event.data.text("digest")?.parse().ok()?;
    let noted_in = format!("the log at change {}", event.change.0);
    Some(Witness { id: event.envelope?, digest, noted_in })
}
