//! Taking work.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use spine_protocol::{AgentName, DeliveryId, EnvelopeId};

use super::wait;
use crate::mcp::asker::Asker;
use crate::mcp::held::{held, holder, lease_s};
use crate::operations::receive;
use crate::problem::Problem;
use crate::wire::agent::AgentPath;
use crate::wire::envelope::FormatWord;
use crate::wire::receive::{ReceiveBody, ReceivedDocument};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReceiveIn {
    /// Wait so long for work; 0 if not said.
    #[schemars(range(min = 0, max = 45))]
    wait_s: Option<f64>,
}

/// Work, if there is any.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReceiveOut {
    /// False: nothing came.
    received: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    delivery_id: Option<DeliveryId>,
    /// Proves that it is yours.
    #[serde(skip_serializing_if = "Option::is_none")]
    lease: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    envelope_id: Option<EnvelopeId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sender: Option<AgentName>,
    /// Above 1, somebody tried before.
    #[serde(skip_serializing_if = "Option::is_none")]
    attempt: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    overdue: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    checkpoint: Option<Value>,
    /// The handoff.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// Other deliveries that you hold: settle them, too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    also_held: Vec<DeliveryId>,
}

pub async fn receive(asker: Asker, input: ReceiveIn) -> Result<ReceiveOut, Problem> {
    let name = asker.agent()?;
    let also_held = held(&asker).await?.into_iter().map(|delivery| delivery.row.id).collect();
    let body = ReceiveBody {
        max: Some(1),
        wait_s: Some(wait::seconds(input.wait_s.unwrap_or_default())?),
        lease_s: lease_s(),
        accept: true,
        holder: Some(holder(&asker)),
        format: Some(FormatWord::Markdown),
        ..ReceiveBody::default()
    };
    let received = receive::receive(asker.call(AgentPath { name }, (), body)).await?.into_value();
    Ok(match received.deliveries.into_iter().next() {
        Some(one) => shown(one, also_held),
        None => ReceiveOut { also_held, ..ReceiveOut::default() },
    })
}

fn shown(received: ReceivedDocument, also_held: Vec<DeliveryId>) -> ReceiveOut {
    let ReceivedDocument { delivery, lease, rendered, .. } = received;
    ReceiveOut {
        received: true,
        delivery_id: Some(delivery.id),
        lease: Some(lease),
        envelope_id: Some(delivery.envelope_id),
        sender: delivery.sender,
        attempt: Some(delivery.attempt),
        overdue: delivery.overdue.then_some(true),
        checkpoint: delivery.checkpoint,
        text: rendered,
        also_held,
    }
}
