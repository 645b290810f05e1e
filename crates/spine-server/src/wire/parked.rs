//! What waits for a person.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use spine_engine::delivery::{Many, ParkedFilter};
use spine_protocol::{AgentName, DeliveryId, EnvelopeId, Timestamp};
use spine_store::UnixMs;

use super::delivery::DeliveryDocument;
use super::envelope::HandoffDocument;

/// Which parked deliveries to list.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ParkedListQuery {
    /// In this agent's queue.
    pub target: Option<AgentName>,
    /// For this cause, or with these words in a reason.
    pub reason: Option<String>,
    /// Parked at this moment or later.
    pub since: Option<Timestamp>,
    /// Parked at this moment or earlier.
    pub until: Option<Timestamp>,
    /// At most so many.
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<usize>,
    /// The `next_cursor` of the page before.
    pub cursor: Option<String>,
}

impl ParkedListQuery {
    /// As the engine is asked.
    pub fn filter(&self) -> ParkedFilter {
        ParkedFilter {
            target: self.target.clone(),
            reason: self.reason.clone(),
            since: self.since.as_ref().map(UnixMs::from),
            until: self.until.as_ref().map(UnixMs::from),
        }
    }
}

/// Setting an envelope aside.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParkBody {
    /// Which one: what is open of it, or, if it was never sent, the envelope itself.
    pub envelope_id: EnvelopeId,
    /// Why.
    #[schemars(length(min = 1))]
    pub reason: String,
}

/// Trying again.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RequeueBody {
    /// With another agent.
    pub target: Option<AgentName>,
    /// Why.
    pub reason: String,
}

/// Having done it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResolveBody {
    /// What came of it.
    pub result: Value,
    /// Who did it; the caller, if not said.
    pub by: Option<AgentName>,
}

/// Giving it up.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiscardBody {
    /// Why.
    #[schemars(length(min = 1))]
    pub reason: String,
}

/// An edited handoff in place of a parked one.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ResentDocument {
    /// The one that was parked.
    pub replaced: DeliveryDocument,
    /// The new one.
    pub delivery: DeliveryDocument,
    /// What it delivers.
    pub handoff: HandoffDocument,
}

/// Many at once.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = serde_json::json!({"filter": {"target": "coder"}, "reason": "it is back", "dry_run": true}))]
pub struct ManyBody {
    /// Which ones.
    #[serde(default)]
    pub filter: ParkedFilterBody,
    /// How many at most.
    #[schemars(range(min = 1, max = 1000))]
    pub max: Option<usize>,
    /// Only say which ones it would be.
    #[serde(default)]
    pub dry_run: bool,
    /// Why.
    pub reason: String,
    /// To another agent; only for trying again.
    pub target: Option<AgentName>,
    /// How many a second can be taken; only for trying again.
    pub rate_per_s: Option<f64>,
}

/// Which parked deliveries are meant.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ParkedFilterBody {
    /// In this agent's queue.
    pub target: Option<AgentName>,
    /// For this cause, or with these words in a reason.
    pub reason: Option<String>,
    /// Parked at this moment or later.
    pub since: Option<Timestamp>,
    /// Parked at this moment or earlier.
    pub until: Option<Timestamp>,
}

impl From<ManyBody> for Many {
    fn from(body: ManyBody) -> Self {
        let ParkedFilterBody { target, reason, since, until } = body.filter;
        let (since, until) = (since.as_ref().map(UnixMs::from), until.as_ref().map(UnixMs::from));
        Self {
            filter: ParkedFilter { target, reason, since, until },
            max: body.max,
            dry_run: body.dry_run,
            reason: body.reason,
            target: body.target,
            rate_per_s: body.rate_per_s,
        }
    }
}

/// What became of many.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReviewedDocument {
    /// Those that were, or would be, reviewed.
    pub ids: Vec<DeliveryId>,
    /// Those that somebody else reviewed first.
    pub missed: Vec<DeliveryId>,
    /// Whether this only says which ones it would be.
    pub dry_run: bool,
}
