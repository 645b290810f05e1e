//! Counts that only grow while the process lives, as Prometheus wants them.

use std::collections::BTreeMap;

use spine_protocol::AgentName;
use spine_store::Tally;

use super::figures::TARGETS_MAX;
use super::minute::Counts;
use super::noted::Noted;
use super::stage::Stage;

/// Upper ends of the buckets of latency, in seconds; what is beyond is in none of them.
pub const LATENCY_BUCKETS_S: [f64; 15] =
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0, 300.0, 1800.0, 7200.0];
/// Upper ends of the buckets of hops.
const HOP_BUCKETS: [f64; 12] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 20.0, 50.0];
/// Upper ends of the buckets of tokens over budget.
const UTILISATION_BUCKETS: [f64; 10] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];

/// Everything that was counted since the process began.
#[derive(Debug, Clone, PartialEq)]
pub struct Totals {
    /// How many of each.
    pub counts: Counts,
    /// Seconds from handoff to accepted.
    pub accepted: Tally,
    /// Seconds from handoff to done.
    pub done: Tally,
    /// Seconds of each stage.
    pub stages: [Tally; Stage::ALL.len()],
    /// Handoffs by hop.
    pub hops: Tally,
    /// Tokens over budget.
    pub utilisation: Tally,
    /// Each target, as many as have figures of their own; the others together under no name.
    pub targets: BTreeMap<Option<AgentName>, TargetTotals>,
}

/// What was counted of one target since the process began.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetTotals {
    /// How many of each.
    pub counts: Counts,
    /// Seconds from handoff to accepted.
    pub accepted: Tally,
    /// Seconds from handoff to done.
    pub done: Tally,
}

impl Default for TargetTotals {
    fn default() -> Self {
        let times = || Tally::new(&LATENCY_BUCKETS_S);
        Self { counts: Counts::default(), accepted: times(), done: times() }
    }
}

impl TargetTotals {
    fn note(&mut self, noted: &Noted) {
        self.counts = self.counts.with(&noted.counts);
        self.accepted.add_some(noted.accepted_s);
        self.done.add_some(noted.done_s);
    }

    /// Takes those of another target, or of another workspace, in.
    pub fn merge(&mut self, other: &Self) {
        self.counts = self.counts.with(&other.counts);
        self.accepted.merge(&other.accepted);
        self.done.merge(&other.done);
    }
}

impl Default for Totals {
    fn default() -> Self {
        let times = || Tally::new(&LATENCY_BUCKETS_S);
        Self {
            counts: Counts::default(),
            accepted: times(),
            done: times(),
            stages: std::array::from_fn(|_| times()),
            hops: Tally::new(&HOP_BUCKETS),
            utilisation: Tally::new(&UTILISATION_BUCKETS),
            targets: BTreeMap::new(),
        }
    }
}

impl Totals {
    /// Counts what an event tells.
    pub(super) fn note(&mut self, noted: &Noted) {
        self.counts = self.counts.with(&noted.counts);
        self.accepted.add_some(noted.accepted_s);
        self.done.add_some(noted.done_s);
        self.utilisation.add_some(noted.utilisation);
        self.hops.add_some(noted.hop.map(|hop| hop as f64));
        for (own, stage) in self.stages.iter_mut().zip(noted.stages_s) {
            own.add_some(stage);
        }
        if noted.is_delivery {
            self.note_target(noted);
        }
    }

    /// One that has no place of its own any more is counted with all such; it never gets one later, since counters only grow.
    fn note_target(&mut self, noted: &Noted) {
        if let Some(target) = self.targets.get_mut(&noted.receiver) {
            return target.note(noted);
        }
        let name = noted.receiver.clone().filter(|_| self.targets.len() < TARGETS_MAX);
        self.targets.entry(name).or_default().note(noted);
    }

    /// Takes those of another workspace in.
    pub fn merge(&mut self, other: &Self) {
        self.counts = self.counts.with(&other.counts);
        self.accepted.merge(&other.accepted);
        self.done.merge(&other.done);
        self.hops.merge(&other.hops);
        self.utilisation.merge(&other.utilisation);
        for (own, stage) in self.stages.iter_mut().zip(&other.stages) {
            own.merge(stage);
        }
        for (name, totals) in &other.targets {
            self.targets.entry(name.clone()).or_default().merge(totals);
        }
    }
}
