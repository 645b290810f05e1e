//! Counts that only grow while the process lives, as Prometheus wants them.

use spine_store::Event;

use super::minute::{Counts, Minute, seconds_of};

/// Upper ends of the buckets of latency, in seconds; what is beyond is in none of them.
pub const LATENCY_BUCKETS_S: [f64; 15] =
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0, 300.0, 1800.0, 7200.0];

/// How many took how long.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Histogram {
    /// How many are in each bucket and not in the one before.
    pub buckets: [u64; LATENCY_BUCKETS_S.len()],
    /// How many in all.
    pub count: u64,
    /// The sum of all.
    pub sum_s: f64,
}

impl Histogram {
    fn add(&mut self, seconds: f64) {
        let place = LATENCY_BUCKETS_S.iter().position(|upto| seconds <= *upto);
        if let Some(bucket) = place.and_then(|place| self.buckets.get_mut(place)) {
            *bucket += 1;
        }
        self.count += 1;
        self.sum_s += seconds;
    }

    fn merge(&mut self, other: &Self) {
        for (own, count) in self.buckets.iter_mut().zip(other.buckets) {
            *own += count;
        }
        self.count += other.count;
        self.sum_s += other.sum_s;
    }
}

/// Everything that was counted since the process began to look.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Totals {
    /// How many of each.
    pub counts: Counts,
    /// Seconds from handoff to accepted.
    pub accepted: Histogram,
    /// Seconds from handoff to done.
    pub done: Histogram,
}

impl Totals {
    pub(super) fn note(&mut self, event: &Event) {
        let mut one = Minute::default();
        one.note(event);
        self.counts = self.counts.with(&one.counts);
        let Some(seconds) = seconds_of(event) else { return };
        match event.kind.as_str() {
            "delivery.accepted" => self.accepted.add(seconds),
            "delivery.done" => self.done.add(seconds),
            _ => {}
        }
    }

    /// Takes those of another workspace in.
    pub fn merge(&mut self, other: &Self) {
        self.counts = self.counts.with(&other.counts);
        self.accepted.merge(&other.accepted);
        self.done.merge(&other.done);
    }
}
