//! What happened in one minute, or in several taken together.

use std::collections::BTreeMap;

use super::noted::Noted;
use super::sketch::Sketch;
use super::stage::Stage;

/// Classes of token utilisation.
pub const UTILISATION_CLASSES: usize = 10;

/// How many of each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Handoffs sent.
    pub handoffs: u64,
    /// Accepted for the first time.
    pub accepted: u64,
    /// Done.
    pub done: u64,
    /// Attempts that were given back or not taken.
    pub retries: u64,
    /// Leases that ran out.
    pub redeliveries: u64,
    /// Parked, for whatever cause.
    pub parked: u64,
    /// Parked because attempts ran out or nobody took it.
    pub failed: u64,
    /// Rejected.
    pub rejected: u64,
    /// Cancelled.
    pub cancelled: u64,
    /// References that were asked for.
    pub requested: u64,
    /// References that travelled.
    pub included: u64,
    /// Handoffs that are not complete.
    pub partial: u64,
    /// Handoffs at their hop limit.
    pub at_limit: u64,
}

/// Everything that is counted.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Minute {
    /// How many of each.
    pub counts: Counts,
    /// Seconds from handoff to accepted.
    pub accepted_s: Sketch,
    /// Seconds from handoff to done.
    pub done_s: Sketch,
    /// Seconds of each stage, in the order of [`Stage::ALL`].
    pub stages_s: [Sketch; Stage::ALL.len()],
    /// Handoffs by hop.
    pub hops: BTreeMap<u64, u64>,
    /// Tokens over budget.
    pub utilisation: Sketch,
    /// The same in ten classes.
    pub utilisation_classes: [u64; UTILISATION_CLASSES],
    /// The sum of it, for the mean.
    pub utilisation_sum: f64,
}

impl Minute {
    /// Counts what an event tells.
    pub(super) fn note(&mut self, noted: &Noted) {
        self.counts = self.counts.with(&noted.counts);
        noted.accepted_s.into_iter().for_each(|seconds| self.accepted_s.add(seconds));
        noted.done_s.into_iter().for_each(|seconds| self.done_s.add(seconds));
        for (stage, sketch) in noted.stages_s.into_iter().zip(&mut self.stages_s) {
            stage.into_iter().for_each(|seconds| sketch.add(seconds));
        }
        noted.hop.into_iter().for_each(|hop| *self.hops.entry(hop).or_default() += 1);
        noted.utilisation.into_iter().for_each(|share| self.note_utilisation(share));
    }

    fn note_utilisation(&mut self, share: f64) {
        self.utilisation.add(share);
        self.utilisation_sum += share;
        let class = ((share * UTILISATION_CLASSES as f64).ceil() as usize).saturating_sub(1);
        if let Some(count) = self.utilisation_classes.get_mut(class) {
            *count += 1;
        }
    }

    /// Takes another minute in.
    pub fn merge(&mut self, other: &Self) {
        self.counts = self.counts.with(&other.counts);
        self.accepted_s.merge(&other.accepted_s);
        self.done_s.merge(&other.done_s);
        for (own, stage) in self.stages_s.iter_mut().zip(&other.stages_s) {
            own.merge(stage);
        }
        self.utilisation.merge(&other.utilisation);
        self.utilisation_sum += other.utilisation_sum;
        for (hop, count) in &other.hops {
            *self.hops.entry(*hop).or_default() += count;
        }
        for (own, count) in self.utilisation_classes.iter_mut().zip(other.utilisation_classes) {
            *own += count;
        }
    }

    /// Included over requested; nothing where nothing was asked for.
    pub fn completeness(&self) -> Option<f64> {
        share(self.counts.included, self.counts.requested)
    }

    /// Handoffs that ran out of attempts over those that ended.
    pub fn failure_rate(&self) -> Option<f64> {
        share(self.counts.failed, self.ended())
    }

    /// Handoffs that ended, whatever way but cancelled.
    pub fn ended(&self) -> u64 {
        self.counts.failed + self.counts.done + self.counts.rejected
    }

    /// The mean hop.
    pub fn hop_mean(&self) -> Option<f64> {
        let sum: u64 = self.hops.iter().map(|(hop, count)| hop * count).sum();
        share(sum, self.hops.values().sum())
    }

    /// The mean utilisation.
    pub fn utilisation_mean(&self) -> Option<f64> {
        let count = self.utilisation.count();
        (count > 0).then(|| self.utilisation_sum / count as f64)
    }
}

impl Counts {
    pub(super) fn with(self, other: &Self) -> Self {
        Self {
            handoffs: self.handoffs + other.handoffs,
            accepted: self.accepted + other.accepted,
            done: self.done + other.done,
            retries: self.retries + other.retries,
            redeliveries: self.redeliveries + other.redeliveries,
            parked: self.parked + other.parked,
            failed: self.failed + other.failed,
            rejected: self.rejected + other.rejected,
            cancelled: self.cancelled + other.cancelled,
            requested: self.requested + other.requested,
            included: self.included + other.included,
            partial: self.partial + other.partial,
            at_limit: self.at_limit + other.at_limit,
        }
    }
}

fn share(part: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| part as f64 / of as f64)
}
