//! What all workspaces come to together: series do not grow with the number of tenants.

use spine_engine::delivery::DeliveryError;
use spine_engine::delivery::breaker::{Breaker, BreakerState};
use spine_engine::health::{AlertKind, Totals};
use spine_protocol::WorkspaceName;
use spine_store::{Collection, QueueState, UnixMs, all_workspaces};

use crate::App;
use crate::limits::PAGE_ROWS_MAX;

/// What was counted, and what is in the queues and breakers of all workspaces.
#[derive(Default)]
pub struct Standing {
    pub totals: Totals,
    pub pending: u64,
    pub leased: u64,
    pub accepted: u64,
    pub parked: u64,
    pub oldest_pending: Option<UnixMs>,
    pub breakers_open: u64,
    pub alerts_open: [u64; AlertKind::ALL.len()],
}

impl Standing {
    /// As things are now.
    pub async fn of(app: &App) -> Result<Self, DeliveryError> {
        let mut standing = Self::default();
        for state in all_workspaces(app.store.as_ref()).await? {
            standing.add_workspace(app, &state.name).await?;
        }
        Ok(standing)
    }

    async fn add_workspace(
        &mut self,
        app: &App,
        name: &WorkspaceName,
    ) -> Result<(), DeliveryError> {
        self.totals.merge(&app.health.totals(name).await);
        app.store.queues(name).await?.iter().for_each(|queue| self.add_queue(queue));
        let (collection, rows) = (Collection::Breaker, PAGE_ROWS_MAX);
        let breakers = app.store.list_records(name, collection, String::new(), None, rows).await?;
        let open = breakers.items.iter().filter(|record| is_open(&record.value)).count();
        self.breakers_open += open as u64;
        let alerts = app.health.open_alerts(name).await;
        for (kind, count) in AlertKind::ALL.iter().zip(&mut self.alerts_open) {
            *count += alerts.get(kind).copied().unwrap_or_default();
        }
        Ok(())
    }

    fn add_queue(&mut self, queue: &QueueState) {
        self.pending += queue.pending;
        self.leased += queue.leased;
        self.accepted += queue.accepted;
        self.parked += queue.parked;
        self.oldest_pending = self.oldest_pending.into_iter().chain(queue.oldest_pending).min();
    }
}

fn is_open(breaker: &[u8]) -> bool {
    let read = serde_json::from_slice::<Breaker>(breaker);
    read.is_ok_and(|breaker| breaker.state != BreakerState::Closed)
}
