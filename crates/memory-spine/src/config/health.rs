//! What health is compared with.

use std::time::Duration;

use spine_engine::health::Thresholds;

use super::{ConfigError, Layers};

/// How often, and how seldom, one may look.
const LOOK_MS_MIN: u64 = 10;
const LOOK_MS_MAX: u64 = 60_000;
/// The longest latency that can be set.
const LATENCY_S_MAX: f64 = 86_400.0;

pub(super) fn thresholds(layers: &Layers) -> Result<Thresholds, ConfigError> {
    let share = |key| layers.number(key, 0.0, 1.0);
    let latency = |key| {
        let seconds = layers.number(key, 0.0, LATENCY_S_MAX)?;
        Ok((seconds > 0.0).then_some(seconds))
    };
    let thresholds = Thresholds {
        completeness_investigate: share("health.completeness_investigate")?,
        completeness_alert: share("health.completeness_alert")?,
        failure_rate_investigate: share("health.failure_rate_investigate")?,
        failure_rate_alert: share("health.failure_rate_alert")?,
        latency_accepted_p95_s_investigate: latency("health.latency_accepted_p95_s_investigate")?,
        latency_accepted_p95_s_alert: latency("health.latency_accepted_p95_s_alert")?,
        utilisation_low: share("health.utilisation_low")?,
        utilisation_full: share("health.utilisation_full")?,
        utilisation_handoffs_min: layers.whole("health.utilisation_handoffs_min", 1, 1_000_000)?,
    };
    check_order(layers, &thresholds)?;
    Ok(thresholds)
}

/// How often the log is read for figures and alerts.
pub(super) fn look_every(layers: &Layers) -> Result<Duration, ConfigError> {
    layers.seconds_ms("health.look_s", LOOK_MS_MIN, LOOK_MS_MAX).map(Duration::from_millis)
}

/// What is worth a call is worth a look before that.
fn check_order(layers: &Layers, found: &Thresholds) -> Result<(), ConfigError> {
    let latency = (found.latency_accepted_p95_s_investigate, found.latency_accepted_p95_s_alert);
    let pairs = [
        ("completeness_alert", found.completeness_alert > found.completeness_investigate),
        ("failure_rate_alert", found.failure_rate_alert < found.failure_rate_investigate),
        (
            "latency_accepted_p95_s_alert",
            matches!(latency, (Some(look), Some(call)) if call < look),
        ),
        ("utilisation_full", found.utilisation_full <= found.utilisation_low),
    ];
    match pairs.iter().find(|(_, is_wrong)| *is_wrong) {
        None => Ok(()),
        Some((name, _)) => {
            let problem = "is on the wrong side of its other threshold";
            Err(layers.error(&format!("health.{name}"), problem))
        }
    }
}
