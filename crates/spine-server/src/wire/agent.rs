//! Agents, as they are set up and shown.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spine_engine::delivery::breaker::{Breaker, BreakerState};
use spine_engine::delivery::{AgentOptions, AgentView, BreakerOrder, Webhook};
use spine_protocol::{AgentName, Timestamp};
use spine_store::{QueueState, UnixMs};

use super::send::PolicyBody;
use crate::problem::Problem;

/// The address of an agent.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct AgentPath {
    /// Its name.
    pub name: AgentName,
}

/// What an agent is registered with: all of it, each time.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(example = serde_json::json!({"description": "writes the code", "max_tokens": 8000, "policy": {"attempts": 3, "lease_s": 120}}))]
pub struct AgentBody {
    /// What it is for, for people.
    #[schemars(length(max = 1024))]
    pub description: Option<String>,
    /// The budget of what is handed to it.
    #[schemars(range(min = 1))]
    pub max_tokens: Option<u32>,
    /// How deliveries to it are tried.
    pub policy: PolicyBody,
    /// Who is asked when it does not answer, unless a handoff names others.
    #[schemars(length(max = 16))]
    pub fallbacks: Vec<AgentName>,
    /// Where deliveries are pushed to, instead of waiting to be received.
    pub webhook: Option<WebhookBody>,
}

/// Where deliveries are pushed to.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WebhookBody {
    /// The address: `http` or `https`, and one that the server may reach.
    pub url: String,
    /// What signs them as Standard Webhooks has it: `whsec_` and 24 to 64 random bytes in base64. It is not shown again.
    pub secret: String,
    /// The protocol versions that it reads; the newest of them is pushed. `2`, if not said.
    #[schemars(length(max = 16), inner(length(max = 16)))]
    pub accept_versions: Option<Vec<String>>,
}

impl AgentBody {
    /// As the engine is asked.
    pub fn into_options(self) -> Result<AgentOptions, Problem> {
        let webhook =
            |WebhookBody { url, secret, accept_versions }| Webhook { url, secret, accept_versions };
        Ok(AgentOptions {
            description: self.description,
            max_tokens: self.max_tokens,
            policy: self.policy.into_part("/policy")?,
            fallbacks: self.fallbacks,
            webhook: self.webhook.map(webhook),
            paused: false,
        })
    }
}

/// An agent, its queue and its breaker.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AgentDocument {
    /// Its name.
    pub name: AgentName,
    /// What it is for, for people.
    pub description: Option<String>,
    /// The budget of what is handed to it.
    pub max_tokens: Option<u32>,
    /// How deliveries to it are tried; what is null is as the server is set.
    pub policy: PolicyBody,
    /// Who is asked when it does not answer.
    pub fallbacks: Vec<AgentName>,
    /// Where deliveries are pushed to.
    pub webhook: Option<WebhookDocument>,
    /// Whether it is given no work for now.
    pub paused: bool,
    /// Its circuit breaker.
    pub breaker: BreakerDocument,
    /// What waits for it.
    pub queue: QueueDocument,
}

/// Where deliveries are pushed to, without what signs them.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WebhookDocument {
    /// The address.
    pub url: String,
    /// The protocol versions that it reads, if that was said.
    pub accept_versions: Option<Vec<String>>,
}

/// A circuit breaker.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BreakerDocument {
    /// Where it stands.
    pub state: BreakerStateWord,
    /// Deliveries in a row that nobody took or held.
    pub failures: u32,
    /// Since when it is open.
    pub opened_at: Option<Timestamp>,
    /// When one handoff may try.
    pub retry_at: Option<Timestamp>,
    /// Whether a person holds it open.
    pub forced: bool,
}

/// Where a breaker stands.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum BreakerStateWord {
    /// Work flows.
    Closed,
    /// Work waits.
    Open,
    /// One probe is out.
    HalfOpen,
}

impl From<Breaker> for BreakerDocument {
    fn from(breaker: Breaker) -> Self {
        let state = match breaker.state {
            BreakerState::Closed => BreakerStateWord::Closed,
            BreakerState::Open => BreakerStateWord::Open,
            BreakerState::HalfOpen => BreakerStateWord::HalfOpen,
        };
        Self {
            state,
            failures: breaker.failures,
            opened_at: breaker.opened_at.and_then(UnixMs::to_timestamp),
            retry_at: breaker.retry_at.and_then(UnixMs::to_timestamp),
            forced: breaker.forced,
        }
    }
}

/// What waits for an agent.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct QueueDocument {
    /// Deliveries that wait.
    pub pending: u64,
    /// Deliveries taken, not yet accepted.
    pub leased: u64,
    /// Deliveries worked on.
    pub accepted: u64,
    /// Deliveries that wait for a person.
    pub parked: u64,
    /// The earliest moment at which a pending one can be, or could have been, taken.
    pub oldest_pending_at: Option<Timestamp>,
}

impl From<QueueState> for QueueDocument {
    fn from(queue: QueueState) -> Self {
        Self {
            pending: queue.pending,
            leased: queue.leased,
            accepted: queue.accepted,
            parked: queue.parked,
            oldest_pending_at: queue.oldest_pending.and_then(UnixMs::to_timestamp),
        }
    }
}

impl From<AgentView> for AgentDocument {
    fn from(view: AgentView) -> Self {
        let options = view.options;
        let webhook =
            |Webhook { url, accept_versions, .. }| WebhookDocument { url, accept_versions };
        Self {
            name: view.name,
            description: options.description,
            max_tokens: options.max_tokens,
            policy: options.policy.into(),
            fallbacks: options.fallbacks,
            webhook: options.webhook.map(webhook),
            paused: options.paused,
            breaker: view.breaker.into(),
            queue: view.queue.map(Into::into).unwrap_or_default(),
        }
    }
}

/// Every agent.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AgentListDocument {
    /// By name: those that are registered, that work waits for, or that were sent something in the last 24 hours (200 of them).
    pub agents: Vec<AgentDocument>,
}

/// What a person does to a breaker.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = serde_json::json!({"state": "closed"}))]
pub struct BreakerBody {
    /// Closed and counted anew, or open until it is closed.
    pub state: BreakerOrderWord,
}

/// Open or closed.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum BreakerOrderWord {
    /// Closed, and counted anew.
    Closed,
    /// Open until it is closed.
    Open,
}

impl From<BreakerOrderWord> for BreakerOrder {
    fn from(word: BreakerOrderWord) -> Self {
        match word {
            BreakerOrderWord::Closed => Self::Reset,
            BreakerOrderWord::Open => Self::ForceOpen,
        }
    }
}
