//! Alerts, as they are shown.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spine_engine::health::{Acknowledged, Alert, Sent, Silenced};
use spine_protocol::{AlertId, Timestamp};
use spine_store::UnixMs;

use crate::problem::{Problem, ProblemKind};

/// The address of an alert.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct AlertPath {
    /// Its id.
    pub id: AlertId,
}

/// Which alerts.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct AlertsQuery {
    /// Open ones, resolved ones, or all.
    #[serde(default)]
    pub state: AlertStateWord,
    /// At most so many.
    pub limit: Option<usize>,
    /// The `next_cursor` of the page before.
    pub cursor: Option<String>,
}

/// Which alerts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum AlertStateWord {
    /// What is not over.
    Open,
    /// What is over.
    Resolved,
    /// Both.
    #[default]
    All,
}

impl AlertStateWord {
    /// Whether an alert is meant.
    pub fn admits(self, alert: &Alert) -> bool {
        match self {
            Self::Open => alert.resolved_at.is_none(),
            Self::Resolved => alert.resolved_at.is_some(),
            Self::All => true,
        }
    }
}

/// Who looks after it.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AcknowledgeBody {
    /// Who.
    pub by: Option<String>,
    /// What they say.
    pub note: Option<String>,
}

/// How long nobody is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = serde_json::json!({"for_s": 3600, "reason": "planned work"}))]
pub struct SilenceBody {
    /// How long, in seconds; 0 lifts it.
    #[schemars(range(min = 0))]
    pub for_s: f64,
    /// Who wants it.
    pub by: Option<String>,
    /// Why.
    pub reason: Option<String>,
}

impl SilenceBody {
    /// How long.
    pub fn time(&self) -> Result<Duration, Problem> {
        Duration::try_from_secs_f64(self.for_s).map_err(|_| {
            let said = "for_s: expected seconds, 0 or more";
            Problem::new(ProblemKind::InvalidBody, said).with("pointer", "/for_s")
        })
    }
}

/// Nothing is asked.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TestBody {}

/// One page of alerts.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AlertListDocument {
    /// Open ones first, then the newest.
    pub alerts: Vec<AlertDocument>,
    /// Where the list goes on.
    pub next_cursor: Option<String>,
    /// How many webhooks are told.
    pub webhooks: usize,
}

/// An alert.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AlertDocument {
    /// Its id.
    pub id: AlertId,
    /// What it is about.
    pub kind: &'static str,
    /// `info`, `warning` or `critical`.
    pub severity: &'static str,
    /// `open` or `resolved`.
    pub state: &'static str,
    /// Of which target.
    pub target: Option<String>,
    /// In a line.
    pub title: String,
    /// In more words.
    pub detail: String,
    /// How often it happened.
    pub count: u64,
    /// Since when.
    pub opened_at: Option<Timestamp>,
    /// When it happened last.
    pub last_at: Option<Timestamp>,
    /// Since when it is over.
    pub resolved_at: Option<Timestamp>,
    /// Who looks after it.
    pub acknowledged: Option<AcknowledgedDocument>,
    /// Until when nobody is told.
    pub silenced: Option<SilencedDocument>,
    /// The deliveries it is about, the newest first.
    pub deliveries: Vec<String>,
    /// Whom it was sent to, the newest first.
    pub sent: Vec<SentDocument>,
}

/// Who looks after an alert.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AcknowledgedDocument {
    /// Since when.
    pub at: Option<Timestamp>,
    /// Who.
    pub by: Option<String>,
    /// What they said.
    pub note: Option<String>,
}

impl From<Acknowledged> for AcknowledgedDocument {
    fn from(acknowledged: Acknowledged) -> Self {
        let Acknowledged { at, by, note } = acknowledged;
        Self { at: at.to_timestamp(), by, note }
    }
}

/// A time in which nobody is told.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SilencedDocument {
    /// Until when.
    pub until: Option<Timestamp>,
    /// Who wanted it.
    pub by: Option<String>,
    /// Why.
    pub reason: Option<String>,
}

impl From<Silenced> for SilencedDocument {
    fn from(silenced: Silenced) -> Self {
        let Silenced { until, by, reason } = silenced;
        Self { until: until.to_timestamp(), by, reason }
    }
}

/// One time that somebody was told.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SentDocument {
    /// The webhook's name.
    pub webhook: String,
    /// When.
    pub at: Option<Timestamp>,
    /// Whether it was taken.
    pub ok: bool,
    /// The answer's status.
    pub status: Option<u16>,
    /// What went wrong.
    pub error: Option<String>,
}

impl From<Sent> for SentDocument {
    fn from(sent: Sent) -> Self {
        let Sent { webhook, at, ok, status, error } = sent;
        Self { webhook, at: at.to_timestamp(), ok, status, error }
    }
}

impl AlertDocument {
    /// An alert as it is at a moment.
    pub fn of(alert: Alert, now: UnixMs) -> Self {
        let silenced = alert.silenced_at(now).cloned().map(Into::into);
        Self {
            id: alert.id,
            kind: alert.kind.as_str(),
            severity: alert.kind.severity(),
            state: if alert.resolved_at.is_some() { "resolved" } else { "open" },
            target: alert.target,
            title: alert.title,
            detail: alert.detail,
            count: alert.count,
            opened_at: alert.opened_at.to_timestamp(),
            last_at: alert.last_at.to_timestamp(),
            resolved_at: alert.resolved_at.and_then(UnixMs::to_timestamp),
            acknowledged: alert.acknowledged.map(Into::into),
            silenced,
            deliveries: alert.deliveries,
            sent: alert.sent.into_iter().map(Into::into).collect(),
        }
    }
}

/// What came of a test.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TestDocument {
    /// One for each webhook.
    pub sent: Vec<TestSentDocument>,
}

/// What came of a test at one webhook.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TestSentDocument {
    /// The webhook's name.
    pub webhook: String,
    /// Whether it was taken.
    pub ok: bool,
    /// The answer's status.
    pub status: Option<u16>,
    /// What went wrong.
    pub error: Option<String>,
    /// How long it took, in seconds.
    pub took_s: f64,
}
