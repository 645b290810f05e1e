//! One score of relevance, recency and priority: what a handoff gathers by.
//!
//! `usefulness = priority × (0.7 × relevance + 0.3 × recency)`, where recency is 1 for a memory of this
//! moment and halves every 30 days, and priority is 0.5, 1, 1.5 or 2 from low to critical. So an old
//! memory that fits beats a fresh one that does not, and priority moves a memory past others that fit
//! about as well, without making it fit.

use std::time::Duration;

use spine_store::Priority;

/// After so many days, recency is half.
pub const RECENCY_HALF_LIFE_DAYS: f64 = 30.0;
/// The share of relevance; the rest is recency.
pub const RELEVANCE_SHARE: f64 = 0.7;

/// How useful a memory is: `relevance` is its score over the best score of the answer, 0 to 1.
pub fn usefulness(relevance: f64, age: Duration, priority: Priority) -> f64 {
    let days = age.as_secs_f64() / 86_400.0;
    let recency = (-days / RECENCY_HALF_LIFE_DAYS).exp2();
    let fits = RELEVANCE_SHARE * relevance.clamp(0.0, 1.0) + (1.0 - RELEVANCE_SHARE) * recency;
    priority_weight(priority) * fits
}

/// What a priority multiplies by.
pub fn priority_weight(priority: Priority) -> f64 {
    match priority {
        Priority::Low => 0.5,
        Priority::Normal => 1.0,
        Priority::High => 1.5,
        Priority::Critical => 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days(days: u64) -> Duration {
        Duration::from_secs(days * 86_400)
    }

    #[test]
    fn what_fits_beats_what_is_fresh() {
        let old_and_fitting = usefulness(1.0, days(365), Priority::Normal);
        assert!(old_and_fitting > usefulness(0.2, days(0), Priority::Normal));
        assert!(
            usefulness(0.5, days(30), Priority::Normal)
                < usefulness(0.5, days(29), Priority::Normal)
        );
        assert!(usefulness(0.5, days(9), Priority::Low) < usefulness(0.5, days(9), Priority::High));
        assert!((usefulness(2.0, days(0), Priority::Normal) - 1.0).abs() < 1e-12);
    }
}
