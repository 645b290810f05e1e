//! One verdict over all figures, with the reasons in words.

use serde::{Deserialize, Serialize};
use spine_protocol::AgentName;

use super::figures::Window;
use super::minute::Minute;

/// How things stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// All is well.
    Healthy,
    /// Somebody should look.
    Degraded,
    /// Somebody must look now.
    Critical,
}

impl Verdict {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Degraded => "degraded",
            Self::Critical => "critical",
        }
    }
}

/// When a figure is worth a look, and when it is worth a call.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Thresholds {
    /// Below this completeness somebody should look.
    pub completeness_investigate: f64,
    /// Below this completeness an alert opens.
    pub completeness_alert: f64,
    /// From this failure rate on somebody should look.
    pub failure_rate_investigate: f64,
    /// Above this failure rate things are critical.
    pub failure_rate_alert: f64,
    /// Above this 95th percentile, in seconds, somebody should look.
    pub latency_accepted_p95_s_investigate: Option<f64>,
    /// Above this one things are critical.
    pub latency_accepted_p95_s_alert: Option<f64>,
    /// A median below this is "always low".
    pub utilisation_low: f64,
    /// A median from this on is "always full".
    pub utilisation_full: f64,
    /// Handoffs in an hour before token utilisation says anything.
    pub utilisation_handoffs_min: u64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            completeness_investigate: 0.95,
            completeness_alert: 0.8,
            failure_rate_investigate: 0.005,
            failure_rate_alert: 0.02,
            latency_accepted_p95_s_investigate: None,
            latency_accepted_p95_s_alert: None,
            utilisation_low: 0.1,
            utilisation_full: 0.98,
            utilisation_handoffs_min: 20,
        }
    }
}

/// Why the verdict is what it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Reason {
    /// How bad it is.
    pub severity: Verdict,
    /// Which figure says so.
    pub figure: &'static str,
    /// Of which target; none for all.
    pub target: Option<AgentName>,
    /// Over which time.
    pub window: Option<Window>,
    /// What it is.
    pub value: Option<f64>,
    /// What it should be on the other side of.
    pub threshold: Option<f64>,
    /// In words.
    pub text: String,
}

/// A breaker that is not closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenBreaker {
    /// Whose.
    pub agent: AgentName,
    /// Whether a person holds it open.
    pub is_forced: bool,
}

/// A figure that a threshold is compared with.
struct Measure {
    figure: &'static str,
    window: Window,
    value: Option<f64>,
}

impl Measure {
    fn reason(&self, severity: Verdict, threshold: f64, text: String) -> Reason {
        let (window, value, threshold) = (Some(self.window), self.value, Some(threshold));
        Reason { severity, figure: self.figure, target: None, window, value, threshold, text }
    }
}

/// Every reason of the figures, and of the breakers that are not closed; the worst first.
pub fn reasons(
    five_minutes: &Minute,
    hour: &Minute,
    open_breakers: &[OpenBreaker],
    thresholds: &Thresholds,
) -> Vec<Reason> {
    let mut found: Vec<Reason> = open_breakers.iter().map(breaker).collect();
    found.extend(completeness(five_minutes, thresholds));
    found.extend(failure_rate(hour, thresholds));
    found.extend(latency(five_minutes, thresholds));
    found.extend(hop_depth(hour));
    found.extend(utilisation(hour, thresholds));
    found.sort_by_key(|reason| std::cmp::Reverse(reason.severity));
    found
}

/// The worst of the reasons.
pub fn verdict(reasons: &[Reason]) -> Verdict {
    reasons.iter().map(|reason| reason.severity).max().unwrap_or(Verdict::Healthy)
}

fn breaker(OpenBreaker { agent, is_forced }: &OpenBreaker) -> Reason {
    let why = match is_forced {
        true => "a person holds it open, and what is sent waits until it is closed",
        false => "nobody took or held what was sent",
    };
    let text = format!("The breaker of {agent} is not closed: {why}.");
    let (target, figure, severity) = (Some(agent.clone()), "breaker", Verdict::Critical);
    Reason { severity, figure, target, window: None, value: None, threshold: None, text }
}

fn completeness(minute: &Minute, thresholds: &Thresholds) -> Option<Reason> {
    let value = minute.completeness()?;
    let (severity, threshold) = if value < thresholds.completeness_alert {
        (Verdict::Critical, thresholds.completeness_alert)
    } else if value < thresholds.completeness_investigate {
        (Verdict::Degraded, thresholds.completeness_investigate)
    } else {
        return None;
    };
    let window = Window::FiveMinutes;
    let healthy = percent(thresholds.completeness_investigate);
    let text = format!(
        "Completeness was {} over the last {} (healthy: {healthy} or more).",
        percent(value),
        window.in_words()
    );
    let measure = Measure { figure: "completeness", window, value: Some(value) };
    Some(measure.reason(severity, threshold, text))
}

fn failure_rate(minute: &Minute, thresholds: &Thresholds) -> Option<Reason> {
    let value = minute.failure_rate()?;
    let (severity, threshold) = if value > thresholds.failure_rate_alert {
        (Verdict::Critical, thresholds.failure_rate_alert)
    } else if value >= thresholds.failure_rate_investigate {
        (Verdict::Degraded, thresholds.failure_rate_investigate)
    } else {
        return None;
    };
    let window = Window::Hour;
    let text = format!(
        "{} of {} handoffs that ended ran out of attempts over the last {}: {} (healthy: under {}).",
        minute.counts.failed,
        minute.ended(),
        window.in_words(),
        percent(value),
        percent(thresholds.failure_rate_investigate)
    );
    let measure = Measure { figure: "failure_rate", window, value: Some(value) };
    Some(measure.reason(severity, threshold, text))
}

fn latency(minute: &Minute, thresholds: &Thresholds) -> Option<Reason> {
    let value = minute.accepted_s.quantile(0.95)?;
    let above = |threshold: Option<f64>| threshold.filter(|threshold| value > *threshold);
    let alert = above(thresholds.latency_accepted_p95_s_alert).map(|t| (Verdict::Critical, t));
    let look = above(thresholds.latency_accepted_p95_s_investigate).map(|t| (Verdict::Degraded, t));
    let (severity, threshold) = alert.or(look)?;
    let window = Window::FiveMinutes;
    let text = format!(
        "19 of 20 handoffs were accepted within {value:.2} s over the last {} (healthy: {threshold} s or less).",
        window.in_words()
    );
    let measure = Measure { figure: "latency", window, value: Some(value) };
    Some(measure.reason(severity, threshold, text))
}

fn hop_depth(minute: &Minute) -> Option<Reason> {
    let count = minute.counts.at_limit;
    if count == 0 {
        return None;
    }
    let window = Window::Hour;
    let text =
        format!("{count} handoffs were at their hop limit over the last {}.", window.in_words());
    let measure = Measure { figure: "hop_depth", window, value: Some(count as f64) };
    Some(measure.reason(Verdict::Degraded, 0.0, text))
}

fn utilisation(minute: &Minute, thresholds: &Thresholds) -> Option<Reason> {
    let value = minute.utilisation.quantile(0.5)?;
    if minute.utilisation.count() < thresholds.utilisation_handoffs_min {
        return None;
    }
    let (threshold, problem) = if value < thresholds.utilisation_low {
        (thresholds.utilisation_low, "budgets are much larger than what travels")
    } else if value >= thresholds.utilisation_full {
        (thresholds.utilisation_full, "budgets are full: something may be left out")
    } else {
        return None;
    };
    let window = Window::Hour;
    let text = format!(
        "Half of the handoffs used {} or {} of their tokens over the last {}: {problem}.",
        percent(value),
        if value < thresholds.utilisation_low { "less" } else { "more" },
        window.in_words()
    );
    let measure = Measure { figure: "token_utilisation", window, value: Some(value) };
    Some(measure.reason(Verdict::Degraded, threshold, text))
}

fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let rounded = (percent * 10.0).round() / 10.0;
    format!("{rounded} %")
}
