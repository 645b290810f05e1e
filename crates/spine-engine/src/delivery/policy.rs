//! How a delivery is tried: set for the server, for an agent, for a handoff; the closest wins.

use serde::{Deserialize, Serialize};
use spine_store::UnixMs;

use super::error::DeliveryError;
use super::limits::{
    ATTEMPTS_DEFAULT, ATTEMPTS_MAX, BACKOFF_FIRST_MS_DEFAULT, BACKOFF_MS_DEFAULT_MAX,
    BACKOFF_MS_MAX, LEASE_MS_DEFAULT, LEASE_MS_MAX, LEASE_MS_MIN, PENDING_MS_DEFAULT,
    PENDING_MS_MAX, TAKE_MS_DEFAULT,
};

/// How a delivery is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Policy {
    /// Attempts with one agent.
    pub attempts_max: u32,
    /// How long a lease lives without a heartbeat.
    pub lease_ms: u64,
    /// The longest backoff of the first retry; it doubles from there.
    pub backoff_first_ms: u64,
    /// The longest backoff of any retry.
    pub backoff_ms_max: u64,
    /// How long a direct handoff waits for somebody to take it.
    pub take_ms: u64,
    /// How long it may wait in a queue.
    pub pending_ms_max: u64,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            attempts_max: ATTEMPTS_DEFAULT,
            lease_ms: LEASE_MS_DEFAULT,
            backoff_first_ms: BACKOFF_FIRST_MS_DEFAULT,
            backoff_ms_max: BACKOFF_MS_DEFAULT_MAX,
            take_ms: TAKE_MS_DEFAULT,
            pending_ms_max: PENDING_MS_DEFAULT,
        }
    }
}

/// What an agent or a handoff sets of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PolicyPart {
    /// Attempts with one agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts_max: Option<u32>,
    /// How long a lease lives without a heartbeat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease_ms: Option<u64>,
    /// The longest backoff of the first retry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backoff_first_ms: Option<u64>,
    /// The longest backoff of any retry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backoff_ms_max: Option<u64>,
    /// How long a direct handoff waits for somebody to take it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub take_ms: Option<u64>,
    /// How long it may wait in a queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending_ms_max: Option<u64>,
}

impl PolicyPart {
    /// Whether every figure is one that can be kept to.
    pub fn check(&self) -> Result<(), DeliveryError> {
        let figures = [
            ("attempts_max", self.attempts_max.map(u64::from), 1, u64::from(ATTEMPTS_MAX)),
            ("lease_ms", self.lease_ms, LEASE_MS_MIN, LEASE_MS_MAX),
            ("backoff_first_ms", self.backoff_first_ms, 0, BACKOFF_MS_MAX),
            ("backoff_ms_max", self.backoff_ms_max, 0, BACKOFF_MS_MAX),
            ("take_ms", self.take_ms, 1, PENDING_MS_MAX),
            ("pending_ms_max", self.pending_ms_max, 1, PENDING_MS_MAX),
        ];
        for (field, value, min, max) in figures {
            if value.is_some_and(|value| !(min..=max).contains(&value)) {
                let problem = format!("must be from {min} to {max}");
                return Err(DeliveryError::Invalid { field, problem });
            }
        }
        Ok(())
    }
}

impl Policy {
    /// With what is set closer to the delivery.
    pub fn with(self, part: &PolicyPart) -> Self {
        Self {
            attempts_max: part.attempts_max.unwrap_or(self.attempts_max),
            lease_ms: part.lease_ms.unwrap_or(self.lease_ms),
            backoff_first_ms: part.backoff_first_ms.unwrap_or(self.backoff_first_ms),
            backoff_ms_max: part.backoff_ms_max.unwrap_or(self.backoff_ms_max),
            take_ms: part.take_ms.unwrap_or(self.take_ms),
            pending_ms_max: part.pending_ms_max.unwrap_or(self.pending_ms_max),
        }
    }

    /// When to try again after this many attempts: exponential, with full jitter, so that many that failed
    /// together do not come back together.
    pub fn retry_at(&self, spent: u32, now: UnixMs, random: u64) -> UnixMs {
        let doubled = 1u64.checked_shl(spent.saturating_sub(1)).unwrap_or(u64::MAX);
        let longest = self.backoff_first_ms.saturating_mul(doubled).min(self.backoff_ms_max);
        later(now, random % longest.saturating_add(1))
    }
}

/// A moment that many milliseconds later.
pub(super) fn later(moment: UnixMs, ms: u64) -> UnixMs {
    moment.after(std::time::Duration::from_millis(ms))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backoff_doubles_to_its_limit_and_is_spread_over_all_of_it() {
        let policy = Policy::default();
        let longest = |spent| {
            let backoffs = (0..100_000).map(|random| policy.retry_at(spent, UnixMs(0), random).0);
            backoffs.max().unwrap()
        };
        assert_eq!(
            [1, 2, 3, 4, 5, 6, 60].map(longest),
            [1000, 2000, 4000, 8000, 16000, 30000, 30000]
        );
        assert_eq!(policy.retry_at(3, UnixMs(5), 0), UnixMs(5));
    }

    #[test]
    fn the_closest_setting_wins_and_what_cannot_be_kept_to_is_named() {
        let agent =
            PolicyPart { attempts_max: Some(5), lease_ms: Some(2000), ..Default::default() };
        let handoff = PolicyPart { attempts_max: Some(1), ..Default::default() };
        let policy = Policy::default().with(&agent).with(&handoff);
        assert_eq!((policy.attempts_max, policy.lease_ms, policy.take_ms), (1, 2000, 15_000));
        let none = PolicyPart { attempts_max: Some(0), ..Default::default() };
        assert_eq!(none.check().unwrap_err().to_string(), "attempts_max must be from 1 to 100");
    }
}
