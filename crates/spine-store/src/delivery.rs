//! A delivery: one envelope in one agent's queue. The engine decides, the store keeps the row.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use spine_protocol::{AgentName, DeliveryId, EnvelopeId, ParseError, WorkspaceName};

use crate::{Change, OrderKey, Page, Priority, StoreFuture, UnixMs};

/// How far a delivery has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeliveryState {
    /// Waits to be taken.
    Pending,
    /// Taken, not yet accepted.
    Leased,
    /// The receiver works on it.
    Accepted,
    /// Done, with or without a result.
    Done,
    /// Refused by the receiver.
    Rejected,
    /// Called off.
    Cancelled,
    /// Given up until a person decides.
    Parked,
}

impl DeliveryState {
    /// Every state, in the order of their numbers.
    pub const ALL: [Self; 7] = [
        Self::Pending,
        Self::Leased,
        Self::Accepted,
        Self::Done,
        Self::Rejected,
        Self::Cancelled,
        Self::Parked,
    ];

    /// The state as it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Leased => "leased",
            Self::Accepted => "accepted",
            Self::Done => "done",
            Self::Rejected => "rejected",
            Self::Cancelled => "cancelled",
            Self::Parked => "parked",
        }
    }

    /// Whether somebody still has to do something, and nobody gave up.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::Leased | Self::Accepted)
    }
}

impl DeliveryState {
    /// Whether it waits for an agent or for a person: nothing about it is settled.
    pub fn waits(self) -> bool {
        self.is_open() || self == Self::Parked
    }
}

impl FromStr for DeliveryState {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let known = Self::ALL.into_iter().find(|state| state.as_str() == text);
        known.ok_or_else(|| ParseError::new("a delivery state such as `pending`", text))
    }
}

/// One delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Its id.
    pub id: DeliveryId,
    /// What is delivered.
    pub envelope: EnvelopeId,
    /// The root of that envelope's lineage.
    pub root: EnvelopeId,
    /// Whose queue it is in.
    pub agent: AgentName,
    /// How far it has come.
    pub state: DeliveryState,
    /// Which of the queue is taken first.
    pub priority: Priority,
    /// Open ones of one agent with the same key are taken one at a time, in order.
    pub order_key: Option<OrderKey>,
    /// Its place among the oldest: the change that first wrote it, or, with an order key, that last brought
    /// it among the open ones of its agent. So nothing ever comes before what is already being taken. The
    /// store sets it; what a row to be written says here is ignored.
    pub sequence: Change,
    /// Pending: it can be taken from then on.
    pub visible_at: UnixMs,
    /// When the engine must look at it next; none: never by itself.
    pub due_at: Option<UnixMs>,
    /// Raised with each lease: with the incarnation, the fence of the newest one.
    pub epoch: u32,
    /// The store's incarnation at the newest lease.
    pub incarnation: u64,
    /// The engine's own JSON; a store does not look inside.
    pub story: Vec<u8>,
    /// What the receiver gave back.
    pub result: Option<Vec<u8>>,
    /// When it was last written; set by the store from the command's moment.
    pub updated_at: UnixMs,
    /// The change that last wrote it, and what a write on top of it is guarded by. Zero in a new one.
    pub change: Change,
}

impl Delivery {
    /// Whether it comes, with this write, behind others of its order key: it was closed, or elsewhere.
    pub fn joins_lane(&self, before: &Self) -> bool {
        let came = self.agent != before.agent || !before.state.is_open();
        self.order_key.is_some() && self.state.is_open() && came
    }
}

/// One page of deliveries.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeliveryQuery {
    /// In any of these states; empty: in all.
    pub states: Vec<DeliveryState>,
    /// In this agent's queue.
    pub agent: Option<AgentName>,
    /// Last written at this moment or later.
    pub since: Option<UnixMs>,
    /// Last written at this moment or earlier.
    pub until: Option<UnixMs>,
    /// Go on behind this one.
    pub after: Option<DeliveryId>,
    /// At most so many.
    pub limit: usize,
    /// From the largest id down.
    pub newest_first: bool,
}

impl DeliveryQuery {
    /// Whether a delivery is in the list, whatever the page.
    pub fn admits(&self, delivery: &Delivery) -> bool {
        let at = delivery.updated_at;
        (self.states.is_empty() || self.states.contains(&delivery.state))
            && self.agent.as_ref().is_none_or(|agent| *agent == delivery.agent)
            && self.since.is_none_or(|since| since <= at)
            && self.until.is_none_or(|until| at <= until)
    }
}

/// What is in an agent's queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueState {
    /// Whose queue.
    pub agent: AgentName,
    /// Deliveries that wait.
    pub pending: u64,
    /// Deliveries taken, not yet accepted.
    pub leased: u64,
    /// Deliveries worked on.
    pub accepted: u64,
    /// Deliveries given up.
    pub parked: u64,
    /// The earliest moment at which a pending one can be, or could have been, taken.
    pub oldest_pending: Option<UnixMs>,
}

impl QueueState {
    /// An empty queue.
    pub fn new(agent: AgentName) -> Self {
        Self { agent, pending: 0, leased: 0, accepted: 0, parked: 0, oldest_pending: None }
    }

    /// Counts deliveries of one state; those that are neither open nor parked do not count.
    pub fn add(&mut self, state: DeliveryState, count: u64, visible_at: Option<UnixMs>) {
        match state {
            DeliveryState::Pending => {
                self.pending += count;
                self.oldest_pending = self.oldest_pending.into_iter().chain(visible_at).min();
            }
            DeliveryState::Leased => self.leased += count,
            DeliveryState::Accepted => self.accepted += count,
            DeliveryState::Parked => self.parked += count,
            DeliveryState::Done | DeliveryState::Rejected | DeliveryState::Cancelled => {}
        }
    }
}

/// Reading deliveries.
pub trait DeliveryReads {
    /// Those found, in the order asked.
    fn deliveries(
        &self,
        workspace: &WorkspaceName,
        ids: Vec<DeliveryId>,
    ) -> StoreFuture<'_, Vec<Delivery>>;

    /// What an agent can take now: pending, visible, and with no older open one under the same order key
    /// in the same queue. The highest priority first, then the oldest.
    fn ready_deliveries(
        &self,
        workspace: &WorkspaceName,
        agent: AgentName,
        now: UnixMs,
        limit: usize,
    ) -> StoreFuture<'_, Vec<Delivery>>;

    /// From when on an agent's first pending delivery is visible.
    fn next_visible(
        &self,
        workspace: &WorkspaceName,
        agent: AgentName,
    ) -> StoreFuture<'_, Option<UnixMs>>;

    /// Deliveries of all workspaces that are due, earliest first; of one moment in any order.
    fn due_deliveries(
        &self,
        now: UnixMs,
        limit: usize,
    ) -> StoreFuture<'_, Vec<(WorkspaceName, Delivery)>>;

    /// The deliveries of one lineage by id, behind `after`.
    fn lineage_deliveries(
        &self,
        workspace: &WorkspaceName,
        root: EnvelopeId,
        after: Option<DeliveryId>,
        limit: usize,
    ) -> StoreFuture<'_, Page<Delivery, DeliveryId>>;

    /// Deliveries by id.
    fn list_deliveries(
        &self,
        workspace: &WorkspaceName,
        query: DeliveryQuery,
    ) -> StoreFuture<'_, Page<Delivery, DeliveryId>>;

    /// The queues that hold anything open or parked, by agent, at most `QUEUES_MAX` of them.
    fn queues(&self, workspace: &WorkspaceName) -> StoreFuture<'_, Vec<QueueState>>;

    /// The roots of lineages that were not pruned, by id, which is oldest first, behind `after`.
    fn old_roots(
        &self,
        workspace: &WorkspaceName,
        after: Option<EnvelopeId>,
        limit: usize,
    ) -> StoreFuture<'_, Page<EnvelopeId, EnvelopeId>>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_has_one_spelling() {
        for state in DeliveryState::ALL {
            assert_eq!(state.as_str().parse(), Ok(state));
            let json = serde_json::to_string(&state).unwrap();
            assert_eq!(json, format!("\"{}\"", state.as_str()));
        }
        let open: Vec<_> = DeliveryState::ALL.into_iter().filter(|s| s.is_open()).collect();
        assert_eq!(open, DeliveryState::ALL[..3]);
    }
}
