//! How long things are kept.

use std::time::Duration;

use spine_engine::delivery::Retention;

use super::{ConfigError, Layers};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;
const DAYS_MAX: f64 = 36_500.0;
/// A client must be able to try again for a while.
const IDEMPOTENCY_H_MAX: f64 = 24.0 * 90.0;

/// How long things are kept.
#[derive(Debug, Clone, Copy)]
pub struct RetentionSettings {
    /// Lineages.
    pub lineages: Retention,
    /// Events in the log; `None` is for ever.
    pub events: Option<Duration>,
    /// Answers to repeated requests.
    pub idempotency: Duration,
}

impl RetentionSettings {
    pub(super) fn from_layers(layers: &Layers) -> Result<Self, ConfigError> {
        let days = |key| Ok((layers.number(key, 0.0, DAYS_MAX)? * DAY_MS as f64) as u64);
        let hours = layers.number("retention.idempotency_h", 0.001, IDEMPOTENCY_H_MAX)?;
        let events_ms = days("retention.events_d")?;
        Ok(Self {
            lineages: Retention {
                ended_ms: days("retention.ended_d")?,
                unsent_ms: days("retention.unsent_d")?,
            },
            events: (events_ms > 0).then(|| Duration::from_millis(events_ms)),
            idempotency: Duration::from_secs_f64(hours * 3600.0),
        })
    }
}
