//! A delivery, as much of it as a model needs.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use spine_protocol::{AgentName, DeliveryId, EnvelopeId};

use crate::wire::delivery::{DeliveryDocument, StateWord};

/// Where a delivery stands.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Card {
    pub delivery_id: DeliveryId,
    pub envelope_id: EnvelopeId,
    pub state: StateWord,
    /// In whose queue or hands.
    pub agent: AgentName,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sender: Option<AgentName>,
    /// Why it ended, was given back or parked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Back to the sender.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// The receiver's last note.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
}

/// Which delivery, and whose.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Slip {
    pub delivery_id: DeliveryId,
    pub envelope_id: EnvelopeId,
    pub agent: AgentName,
}

impl From<DeliveryDocument> for Slip {
    fn from(delivery: DeliveryDocument) -> Self {
        let DeliveryDocument { id, envelope_id, agent, .. } = delivery;
        Self { delivery_id: id, envelope_id, agent }
    }
}

impl From<DeliveryDocument> for Card {
    fn from(delivery: DeliveryDocument) -> Self {
        let reason = reason(&delivery);
        let result = delivery.result.and_then(|raw| serde_json::from_str(raw.get()).ok());
        Self {
            delivery_id: delivery.id,
            envelope_id: delivery.envelope_id,
            state: delivery.state,
            agent: delivery.agent,
            sender: delivery.sender,
            reason,
            question: delivery.ending.and_then(|ending| ending.question),
            progress: delivery.progress.into_iter().next_back().map(|note| note.note),
            result,
        }
    }
}

fn reason(delivery: &DeliveryDocument) -> Option<String> {
    let ended = delivery.ending.as_ref().and_then(|ending| ending.reason.clone());
    let tried = delivery.attempts.last().and_then(|attempt| attempt.reason.clone());
    let parked = delivery.parked.last().filter(|_| delivery.state == StateWord::Parked);
    let parked = parked.map(|parked| format!("{}: {}", parked.cause, parked.reason));
    match (ended, parked, tried) {
        (Some(ended), ..) => Some(ended),
        (None, Some(parked), Some(tried)) => Some(format!("{parked}; the last said: {tried}")),
        (None, parked, tried) => parked.or(tried),
    }
}
