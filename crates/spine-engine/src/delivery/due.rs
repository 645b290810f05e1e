//! What happens because time has passed. Whoever drives the engine calls this again and again.

use std::time::Duration;

use spine_store::{DeliveryState, UnixMs};

use super::act::Act;
use super::bell::Topic;
use super::limits::{DUE_ROWS_MAX, LOOK_AGAIN};
use super::machine::Event;
use super::{Deliveries, DeliveryError, Result};
use crate::Caller;
use crate::patience::within;

impl Deliveries {
    /// Does what is due now, and says when there is more.
    pub async fn run_due(&self) -> Result<Option<UnixMs>> {
        // What cannot be done now holds up nothing else.
        let released = self.release_orphans().await;
        self.inboxes.tidy();
        loop {
            let due = self.store.due_deliveries(self.store.now(), DUE_ROWS_MAX).await?;
            let full = due.len() == DUE_ROWS_MAX;
            let moved = self.run_due_deliveries(due).await;
            self.run_due_records().await?;
            if !(moved? && full) {
                released?;
                return Ok(self.store.next_due().await?);
            }
        }
    }

    /// Whether any of them has moved.
    async fn run_due_deliveries(&self, due: Due) -> Result<bool> {
        let (mut moved, mut outcome) = (false, Ok(()));
        for (workspace, rows) in by_workspace(due) {
            let caller = Caller::of(workspace.clone());
            let acts = rows.iter().map(|row| Act::new(&caller, row.id, Event::Due)).collect();
            for acted in self.act_many(&workspace, acts).await? {
                let checked = check(acted);
                moved |= matches!(checked, Ok(true));
                outcome = outcome.and(checked.map(drop));
            }
        }
        outcome.map(|()| moved)
    }

    /// Waits until something is due, or somebody says so, but not for long: another server may have made it due.
    pub async fn until_due(&self, next: Option<UnixMs>) {
        let now = self.store.now();
        let left = next.map_or(LOOK_AGAIN, |at| {
            Duration::from_millis(u64::try_from(at.0 - now.0).unwrap_or_default())
        });
        let mut bell = self.bells.listen(Topic::Due);
        within(&self.timer, left.min(LOOK_AGAIN), bell.heard()).await;
    }
}

/// Another engine may be faster: then there is nothing left to do here.
fn check(outcome: Result<super::Delivery>) -> Result<bool> {
    match outcome {
        Ok(delivery) => Ok(delivery.state() != DeliveryState::Done),
        Err(DeliveryError::Contended | DeliveryError::Unknown { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

type Due = Vec<(spine_protocol::WorkspaceName, spine_store::Delivery)>;

fn by_workspace(
    due: Due,
) -> std::collections::BTreeMap<spine_protocol::WorkspaceName, Vec<spine_store::Delivery>> {
    let mut grouped = std::collections::BTreeMap::<_, Vec<_>>::new();
    for (workspace, row) in due {
        grouped.entry(workspace).or_default().push(row);
    }
    grouped
}
