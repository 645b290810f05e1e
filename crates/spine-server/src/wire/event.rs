//! What happened, as it is told.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use spine_protocol::{AgentName, DeliveryId, EnvelopeId, MemoryId, Timestamp};
use spine_store::Event;

/// One thing that happened.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EventDocument {
    /// Its place in the workspace's order: what to go on behind.
    pub change: u64,
    /// When.
    pub at: Option<Timestamp>,
    /// What happened, such as `memory.stored`.
    pub kind: String,
    /// Who did it.
    pub actor: Option<AgentName>,
    /// The memory it is about.
    pub memory: Option<MemoryId>,
    /// The envelope it is about.
    pub envelope: Option<EnvelopeId>,
    /// The delivery it is about.
    pub delivery: Option<DeliveryId>,
    /// Further facts. Never a text.
    pub data: Map<String, Value>,
}

impl From<&Event> for EventDocument {
    fn from(event: &Event) -> Self {
        Self {
            change: event.change.0,
            at: event.at.to_timestamp(),
            kind: event.kind.to_string(),
            actor: event.actor.clone(),
            memory: event.memory,
            envelope: event.envelope,
            delivery: event.delivery,
            data: event.data.to_map(),
        }
    }
}

/// A page of what happened, oldest first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AuditDocument {
    /// The events.
    pub events: Vec<EventDocument>,
    /// What to give as `cursor` for the next page; null at the end.
    pub next_cursor: Option<String>,
}

/// A page of any list.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct PageQuery {
    /// At most so many.
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<usize>,
    /// The `next_cursor` of the page before.
    pub cursor: Option<String>,
}

/// Where an event stream begins.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct EventsQuery {
    /// Behind this change; from now on if not said. The header `Last-Event-ID` is the stronger one.
    pub after: Option<u64>,
}
