//! What all workspaces come to together: series do not grow with the number of tenants.

use std::collections::BTreeMap;

use spine_engine::delivery::DeliveryError;
use spine_engine::delivery::breaker::{Breaker, BreakerState};
use spine_engine::health::{AlertKind, Totals};
use spine_protocol::{AgentName, WorkspaceName};
use spine_store::{Collection, QueueState, UnixMs, all_records, all_workspaces};

use crate::App;

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
    /// What is in the queues and breakers of each target, over all workspaces.
    pub targets: BTreeMap<AgentName, TargetStanding>,
}

/// What is in the queue and the breakers of one target.
#[derive(Default, Clone)]
pub struct TargetStanding {
    pub pending: u64,
    pub leased: u64,
    pub accepted: u64,
    pub parked: u64,
    pub breakers_open: u64,
}

impl TargetStanding {
    /// Takes another target in.
    pub fn merge(&mut self, other: &Self) {
        self.pending += other.pending;
        self.leased += other.leased;
        self.accepted += other.accepted;
        self.parked += other.parked;
        self.breakers_open += other.breakers_open;
    }
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
        let breakers = all_records(&*app.store, name, Collection::Breaker).await?;
        for record in breakers.iter().filter(|record| is_open(&record.value)) {
            self.breakers_open += 1;
            if let Ok(agent) = record.key.name.as_str().parse() {
                self.targets.entry(agent).or_default().breakers_open += 1;
            }
        }
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
        let target = self.targets.entry(queue.agent.clone()).or_default();
        target.pending += queue.pending;
        target.leased += queue.leased;
        target.accepted += queue.accepted;
        target.parked += queue.parked;
    }
}

fn is_open(breaker: &[u8]) -> bool {
    let read = serde_json::from_slice::<Breaker>(breaker);
    read.is_ok_and(|breaker| breaker.state != BreakerState::Closed)
}
