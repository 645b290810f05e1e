//! How deliveries are tried, unless an agent or a handoff says otherwise.

use spine_engine::delivery::limits::{
    ATTEMPTS_MAX, BACKOFF_MS_MAX, LEASE_MS_MAX, LEASE_MS_MIN, PENDING_MS_MAX,
};
use spine_engine::delivery::policy::Policy;

use super::{ConfigError, Layers};

pub(super) fn policy(layers: &Layers) -> Result<Policy, ConfigError> {
    let attempts = layers.whole("delivery.attempts", 1, u64::from(ATTEMPTS_MAX))?;
    let policy = Policy {
        attempts_max: u32::try_from(attempts).unwrap_or(ATTEMPTS_MAX),
        lease_ms: layers.seconds_ms("delivery.lease_s", LEASE_MS_MIN, LEASE_MS_MAX)?,
        backoff_first_ms: layers.seconds_ms("delivery.backoff_first_s", 0, BACKOFF_MS_MAX)?,
        backoff_ms_max: layers.seconds_ms("delivery.backoff_max_s", 0, BACKOFF_MS_MAX)?,
        take_ms: layers.seconds_ms("delivery.take_s", 1, PENDING_MS_MAX)?,
        pending_ms_max: layers.seconds_ms("delivery.pending_s_max", 1, PENDING_MS_MAX)?,
    };
    if policy.backoff_ms_max < policy.backoff_first_ms {
        let problem = "is less than `delivery.backoff_first_s`";
        return Err(layers.error("delivery.backoff_max_s", problem));
    }
    Ok(policy)
}
