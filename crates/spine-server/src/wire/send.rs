//! Sending, as it is asked for.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spine_engine::delivery::limits::{
    ATTEMPTS_MAX, BACKOFF_MS_MAX, LEASE_MS_MAX, LEASE_MS_MIN, PENDING_MS_MAX,
};
use spine_engine::delivery::policy::PolicyPart;
use spine_engine::delivery::{SendOptions, SendRequest, Until};
use spine_protocol::{AgentName, EnvelopeId, Priority, ReadError};
use spine_store::{OrderKey, RecordName};

use super::memory::{Seconds, Word};
use super::one_or_many::Listed;
use crate::limits::SEND_WAIT_DEFAULT;
use crate::problem::{Problem, ProblemKind};

/// How something is sent; every field has a default.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SendBody {
    /// To whom, instead of the envelope's own target.
    pub to: Option<AgentName>,
    /// Who is asked next, in this order, when attempts run out.
    pub fallbacks: Option<Vec<AgentName>>,
    /// One at a time, in order, among those with the same key.
    #[schemars(with = "Option<Word>")]
    pub order_key: Option<OrderKey>,
    /// Its place in the queue, instead of the envelope's own.
    pub priority: Option<Priority>,
    /// How it is tried.
    pub policy: PolicyBody,
    /// The pipeline that says who is next.
    #[schemars(with = "Option<Word>")]
    pub pipeline: Option<RecordName>,
    /// Wait for it: then the handoff is direct, and the answer comes when it is that far.
    pub wait: Option<WaitBody>,
}

/// What a sender waits for.
#[derive(Debug, Default, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WaitBody {
    /// `accepted`, if not said, or `done`.
    pub until: UntilWord,
    /// How long, at most 300; 15 seconds, if not said. The end of the waiting is no error.
    pub timeout_s: Option<Seconds>,
}

impl WaitBody {
    /// How long.
    pub fn timeout(self) -> Duration {
        self.timeout_s.map_or(SEND_WAIT_DEFAULT, Duration::from)
    }
}

/// How far a delivery is to be.
#[derive(Debug, Default, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum UntilWord {
    /// A receiver works on it.
    #[default]
    Accepted,
    /// It is done.
    Done,
}

impl From<UntilWord> for Until {
    fn from(word: UntilWord) -> Self {
        match word {
            UntilWord::Accepted => Self::Accepted,
            UntilWord::Done => Self::Done,
        }
    }
}

impl SendBody {
    /// As the engine is asked; `at` is where this stands in the body.
    pub fn into_options(self, at: &str) -> Result<SendOptions, Problem> {
        Ok(SendOptions {
            to: self.to,
            fallbacks: self.fallbacks,
            direct: self.wait.is_some(),
            order_key: self.order_key,
            priority: self.priority,
            policy: self.policy.into_part(&format!("{at}/policy"))?,
            pipeline: self.pipeline.map(String::from),
        })
    }
}

/// How a delivery is tried. What is not said is as the agent, or the server, is set.
#[derive(Debug, Default, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PolicyBody {
    /// Attempts with one agent.
    #[schemars(range(min = 1, max = 100))]
    pub attempts: Option<u32>,
    /// How long a lease lives without a heartbeat.
    #[schemars(range(min = 1.0, max = 43200.0))]
    pub lease_s: Option<f64>,
    /// The longest backoff of the first retry; it doubles from there.
    #[schemars(range(min = 0.0, max = 86400.0))]
    pub backoff_first_s: Option<f64>,
    /// The longest backoff of any retry.
    #[schemars(range(min = 0.0, max = 86400.0))]
    pub backoff_max_s: Option<f64>,
    /// How long a direct handoff waits for somebody to take it.
    #[schemars(range(min = 0.001, max = 7776000.0))]
    pub take_s: Option<f64>,
    /// How long it may wait in a queue.
    #[schemars(range(min = 0.001, max = 7776000.0))]
    pub pending_s_max: Option<f64>,
}

impl PolicyBody {
    /// As the engine is asked; `at` is where this stands in the body.
    pub fn into_part(self, at: &str) -> Result<PolicyPart, Problem> {
        if self.attempts.is_some_and(|attempts| !(1..=ATTEMPTS_MAX).contains(&attempts)) {
            return Err(out_of_range(at, "attempts", 1.0, f64::from(ATTEMPTS_MAX)));
        }
        let ms = |name, seconds, min, max| to_ms(at, name, seconds, min, max);
        Ok(PolicyPart {
            attempts_max: self.attempts,
            lease_ms: ms("lease_s", self.lease_s, LEASE_MS_MIN, LEASE_MS_MAX)?,
            backoff_first_ms: ms("backoff_first_s", self.backoff_first_s, 0, BACKOFF_MS_MAX)?,
            backoff_ms_max: ms("backoff_max_s", self.backoff_max_s, 0, BACKOFF_MS_MAX)?,
            take_ms: ms("take_s", self.take_s, 1, PENDING_MS_MAX)?,
            pending_ms_max: ms("pending_s_max", self.pending_s_max, 1, PENDING_MS_MAX)?,
        })
    }
}

impl From<PolicyPart> for PolicyBody {
    fn from(part: PolicyPart) -> Self {
        let seconds = |ms: Option<u64>| ms.map(|ms| ms as f64 / 1e3);
        Self {
            attempts: part.attempts_max,
            lease_s: seconds(part.lease_ms),
            backoff_first_s: seconds(part.backoff_first_ms),
            backoff_max_s: seconds(part.backoff_ms_max),
            take_s: seconds(part.take_ms),
            pending_s_max: seconds(part.pending_ms_max),
        }
    }
}

fn to_ms(
    at: &str,
    name: &str,
    seconds: Option<f64>,
    ms_min: u64,
    ms_max: u64,
) -> Result<Option<u64>, Problem> {
    let Some(seconds) = seconds else { return Ok(None) };
    let (min, max) = (ms_min as f64 / 1e3, ms_max as f64 / 1e3);
    if (min..=max).contains(&seconds) {
        return Ok(Some((seconds * 1e3) as u64));
    }
    Err(out_of_range(at, name, min, max))
}

fn out_of_range(at: &str, name: &str, min: f64, max: f64) -> Problem {
    let problem = format!("expected a number from {min} to {max}");
    let error = ReadError::at(format!("{at}/{name}"), problem);
    Problem::body(ProblemKind::InvalidBody, &error)
}

/// A length of time as the engine counts it.
pub fn ms_of(seconds: Seconds) -> u64 {
    u64::try_from(Duration::from(seconds).as_millis()).unwrap_or(u64::MAX)
}

/// An envelope to send.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = serde_json::json!({"envelope_id": "env_01JHX5C3Q8V6YQJ2ZD0M4T7N9R", "wait": {"until": "accepted", "timeout_s": 15}}))]
pub struct DeliveryBody {
    /// Which one.
    pub envelope_id: EnvelopeId,
    /// To whom, instead of the envelope's own target.
    pub to: Option<AgentName>,
    /// Who is asked next, in this order, when attempts run out.
    pub fallbacks: Option<Vec<AgentName>>,
    /// One at a time, in order, among those with the same key.
    #[schemars(with = "Option<Word>")]
    pub order_key: Option<OrderKey>,
    /// Its place in the queue, instead of the envelope's own.
    pub priority: Option<Priority>,
    /// How it is tried.
    #[serde(default)]
    pub policy: PolicyBody,
    /// The pipeline that says who is next.
    #[schemars(with = "Option<Word>")]
    pub pipeline: Option<RecordName>,
    /// Wait for it: then the handoff is direct, and the answer comes when it is that far. Not for many at once.
    pub wait: Option<WaitBody>,
}

impl Listed for DeliveryBody {
    const LIST: &'static str = "deliveries";
}

impl DeliveryBody {
    /// As the engine is asked; `at` is where this stands in the body.
    pub fn into_request(self, at: &str) -> Result<SendRequest, Problem> {
        let Self { envelope_id, to, fallbacks, order_key, priority, policy, pipeline, wait } = self;
        let send = SendBody { to, fallbacks, order_key, priority, policy, pipeline, wait };
        Ok(SendRequest { envelope: envelope_id, options: send.into_options(at)? })
    }
}

/// How long to wait for a delivery.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct DeliveryWaitQuery {
    /// Answer when it is that far.
    pub wait_until: Option<UntilWord>,
    /// How long to wait for that, at most 300; 15 seconds, if not said.
    pub wait_s: Option<Seconds>,
}

/// Calling off.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = serde_json::json!({"reason": "the user changed their mind"}))]
pub struct CancelBody {
    /// Why.
    #[schemars(length(min = 1))]
    pub reason: String,
    /// Whether nothing of the whole task is wanted any more.
    #[serde(default)]
    pub lineage: bool,
}
