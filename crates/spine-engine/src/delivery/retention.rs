//! Retention: whole lineages are pruned to skeletons after their time, in the background, a few at a time.

use serde::{Deserialize, Serialize};
use spine_protocol::{Envelope, EnvelopeId, Skeleton, WorkspaceName};
use spine_store::limits::COMMAND_PUTS_MAX;
use spine_store::{
    Change, Command, ErrorKind, EventDraft, Expected, Guard, Put, Record, RowKey, StoreError,
    StoredEnvelope, UnixMs,
};

use super::channel::is_to_be_joined;
use super::story::Delivery;
use super::{Deliveries, DeliveryError, Result};
use crate::Caller;

/// How long things are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Retention {
    /// A lineage, after the last of it ended.
    pub ended_ms: u64,
    /// A lineage of which nothing was ever sent.
    pub unsent_ms: u64,
}

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

impl Default for Retention {
    fn default() -> Self {
        Self { ended_ms: 30 * DAY_MS, unsent_ms: 7 * DAY_MS }
    }
}

/// What one round of pruning did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Lineages that are skeletons now.
    pub lineages: u32,
    /// Where the next round goes on; nothing when all of it was seen.
    pub next: Option<EnvelopeId>,
}

/// Lineages that one round looks at: so that writes never wait long for it.
const ROUND_LINEAGES_MAX: usize = 50;

/// A lineage as it is pruned.
pub(super) struct Lineage {
    pub(super) root: EnvelopeId,
    pub(super) envelopes: Vec<StoredEnvelope>,
    pub(super) deliveries: Vec<Delivery>,
    publications: Vec<Record>,
}

impl Lineage {
    /// Whether anything of it waits for an agent or for a person, or to be joined.
    pub(super) fn is_open(&self) -> bool {
        let waits = |delivery: &Delivery| delivery.state().waits();
        self.deliveries.iter().any(waits) || self.publications.iter().any(is_to_be_joined)
    }

    /// Whether one command has room for pruning it.
    pub(super) fn fits_one_command(&self) -> bool {
        let rows = 2 * self.envelopes.len() + self.deliveries.len() + self.publications.len();
        rows < COMMAND_PUTS_MAX
    }

    /// When the last of it was written.
    fn newest(&self) -> Change {
        let envelopes = self.envelopes.iter().map(|stored| stored.change);
        let deliveries = self.deliveries.iter().map(|delivery| delivery.row.change);
        envelopes.chain(deliveries).max().unwrap_or_default()
    }

    fn last_touched(&self) -> UnixMs {
        let made = |stored: &StoredEnvelope| {
            UnixMs(i64::try_from(stored.id.unix_ms()).unwrap_or(i64::MAX))
        };
        let made = self.envelopes.iter().map(made).max();
        let moved = self.deliveries.iter().map(|delivery| delivery.row.updated_at).max();
        made.max(moved).unwrap_or_default()
    }

    fn is_over(&self, retention: &Retention, now: UnixMs) -> bool {
        let kept_ms =
            if self.deliveries.is_empty() { retention.unsent_ms } else { retention.ended_ms };
        !self.is_open() && older(self.last_touched(), kept_ms, now)
    }
}

fn older(moment: UnixMs, kept_ms: u64, now: UnixMs) -> bool {
    u64::try_from(now.0 - moment.0).is_ok_and(|age_ms| age_ms > kept_ms)
}

impl Deliveries {
    /// Looks at some lineages of a workspace, oldest first, and prunes those whose time is over.
    pub async fn prune_some(
        &self,
        workspace: &WorkspaceName,
        after: Option<EnvelopeId>,
        retention: &Retention,
    ) -> Result<Pruned> {
        let caller = Caller::of(workspace.clone());
        let page = self.store.old_roots(workspace, after, ROUND_LINEAGES_MAX).await?;
        let now = self.store.now();
        let mut pruned = Pruned { lineages: 0, next: page.next };
        for root in page.items {
            let made = UnixMs(i64::try_from(root.unix_ms()).unwrap_or(i64::MAX));
            if !older(made, retention.unsent_ms.min(retention.ended_ms), now) {
                // All that follow are younger.
                return Ok(Pruned { next: None, ..pruned });
            }
            match self.prune_if_over(&caller, root, retention, now).await {
                Ok(is_pruned) => pruned.lineages += u32::from(is_pruned),
                Err(error) if is_its_own(&error) => {
                    tracing::error!(%root, "a lineage cannot be pruned, and stays: {error}");
                }
                Err(error) => return Err(error),
            }
        }
        Ok(pruned)
    }

    async fn prune_if_over(
        &self,
        caller: &Caller,
        root: EnvelopeId,
        retention: &Retention,
        now: UnixMs,
    ) -> Result<bool> {
        let lineage = self.read_lineage(caller, root).await?;
        Ok(lineage.is_over(retention, now) && self.prune(caller, &lineage, "retention").await?)
    }

    pub(super) async fn read_lineage(&self, caller: &Caller, root: EnvelopeId) -> Result<Lineage> {
        let envelopes = self.lineage_envelopes(caller, root).await?;
        let deliveries = self.lineage_deliveries(caller, root).await?;
        let publications = self.publications_of(caller, &deliveries).await?;
        Ok(Lineage { root, envelopes, deliveries, publications })
    }

    /// Leaves skeletons, in one step. False when something of it moved meanwhile: then it is not over.
    pub(super) async fn prune(
        &self,
        caller: &Caller,
        lineage: &Lineage,
        cause: &'static str,
    ) -> Result<bool> {
        let mut command = Command::new(caller.workspace.clone(), self.store.now());
        let (key, expected) = (RowKey::Lineage(lineage.root), Expected::At(lineage.newest()));
        command.guards.push(Guard { key, expected });
        for stored in lineage.envelopes.iter().filter(|stored| !stored.pruned) {
            command.puts.push(Put::PruneEnvelope(stored.id, skeleton(stored)?));
            command.puts.push(Put::EraseEventReasons(stored.id));
        }
        for delivery in &lineage.deliveries {
            command.puts.push(Put::DropDelivery(delivery.row.id, delivery.row.change));
        }
        for record in &lineage.publications {
            command.puts.push(Put::DropRecord(record.key.clone(), record.change));
        }
        let mut event = EventDraft::new("lineage.pruned");
        event.envelope = Some(lineage.root);
        event.data.note("envelopes", lineage.envelopes.len());
        event.data.note("cause", cause);
        command.events.push(event);
        Ok(self.apply_one(command).await?.is_some())
    }
}

/// Whether it is the lineage itself that cannot be pruned, whatever becomes of those behind it.
fn is_its_own(error: &DeliveryError) -> bool {
    match error {
        DeliveryError::TooLarge { .. } => true,
        DeliveryError::Store(error) => {
            matches!(error.kind(), ErrorKind::TooLarge | ErrorKind::Corrupt)
        }
        _ => false,
    }
}

fn skeleton(stored: &StoredEnvelope) -> Result<Vec<u8>> {
    let damaged = |what: String| StoreError::new(ErrorKind::Corrupt, what);
    let envelope = Envelope::read(&stored.bytes).map_err(|error| damaged(error.to_string()))?;
    let skeleton = serde_json::to_vec(&Skeleton::of(&envelope));
    Ok(skeleton.map_err(|error| damaged(error.to_string()))?)
}
