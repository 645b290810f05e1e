//! What a memory is worth to a handoff.
//!
//! `usefulness = 0.65 relevance + 0.20 recency + 0.15 priority`, each from 0 to 1: relevance is the search's score over
//! the best one's; recency halves every `RECENCY_HALF_LIFE_DAYS`; priority is 0, 1/3, 2/3 or 1. It picks the
//! `include_recent` memories nobody asked for.
//!
//! `value(detail) = (claim + usefulness⁶) × fidelity(detail)`: the claim is what the source has on a place (a pin more than
//! a mention, a mention more than an inherited one), and fidelity is how much of the memory the detail keeps.

use spine_protocol::{Detail, Priority, Source};

/// After so many days a memory counts half as recent.
pub const RECENCY_HALF_LIFE_DAYS: f64 = 14.0;

const RELEVANCE_WEIGHT: f64 = 0.65;
const RECENCY_WEIGHT: f64 = 0.20;
const PRIORITY_WEIGHT: f64 = 0.15;
const WORTH_POWER: i32 = 6;
const DAY_MS: f64 = 86_400_000.0;

/// The parts of a usefulness, each from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Usefulness {
    /// Closeness to the task.
    pub relevance: f64,
    /// How new it is.
    pub recency: f64,
    /// How much its author says it matters.
    pub priority: f64,
}

impl Usefulness {
    /// Of a memory of this age.
    pub fn of(relevance: f64, age_ms: i64, priority: Priority) -> Self {
        let days = age_ms.max(0) as f64 / DAY_MS;
        let recency = 0.5_f64.powf(days / RECENCY_HALF_LIFE_DAYS);
        Self { relevance: relevance.clamp(0.0, 1.0), recency, priority: priority_share(priority) }
    }

    /// What it is worth beside others that cost room as well. Steep, since the best answers are many times likelier to
    /// be needed than middling ones: by the score itself, three short memories that hardly matter would outweigh one
    /// that does.
    pub(super) fn worth(&self) -> f64 {
        self.score().powi(WORTH_POWER)
    }

    /// One score, 0 to 1.
    pub fn score(&self) -> f64 {
        RELEVANCE_WEIGHT * self.relevance
            + RECENCY_WEIGHT * self.recency
            + PRIORITY_WEIGHT * self.priority
    }
}

fn priority_share(priority: Priority) -> f64 {
    match priority {
        Priority::Low => 0.0,
        Priority::Normal => 1.0 / 3.0,
        Priority::High => 2.0 / 3.0,
        Priority::Critical => 1.0,
    }
}

/// What a source has on a place. What was asked for by its id in full outweighs summaries of a dozen memories that
/// were not.
pub(super) fn claim(source: &Source) -> f64 {
    match source {
        Source::Pinned => 12.0,
        Source::Mentioned | Source::History | Source::Requested => 10.0,
        Source::Inherited => 1.0,
        Source::Recent | Source::Relevant | Source::Other(_) => 0.0,
    }
}

/// How much of a memory a detail keeps.
pub(super) fn fidelity(detail: Detail) -> f64 {
    match detail {
        Detail::Full => 1.0,
        Detail::Summary => 0.7,
        Detail::Ref => 0.2,
    }
}

/// The stronger source comes first.
pub(super) fn strength(source: &Source) -> u8 {
    match source {
        Source::Pinned => 0,
        Source::Mentioned => 1,
        Source::History => 2,
        Source::Requested => 3,
        Source::Inherited => 4,
        Source::Recent => 5,
        Source::Relevant => 6,
        Source::Other(_) => 7,
    }
}

/// Whether somebody asked for this memory by its id.
pub(super) fn is_explicit(source: &Source) -> bool {
    matches!(source, Source::Mentioned | Source::History | Source::Requested)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relevance_outweighs_age_and_priority_breaks_ties() {
        let day = DAY_MS as i64;
        let score =
            |relevance, days, priority| Usefulness::of(relevance, days * day, priority).score();
        assert!(score(0.9, 60, Priority::Normal) > score(0.3, 0, Priority::Normal));
        assert!(score(0.5, 1, Priority::Normal) > score(0.5, 30, Priority::Normal));
        assert!(score(0.5, 1, Priority::High) > score(0.5, 1, Priority::Normal));
        assert!((0.0..=1.0).contains(&score(2.0, -5, Priority::Critical)));
    }
}
