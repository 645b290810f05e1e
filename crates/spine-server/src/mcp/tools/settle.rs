//! What a receiver says of a delivery in its hands.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use spine_protocol::DeliveryId;

use super::card::Slip;
use super::task::NextIn;
use crate::mcp::asker::Asker;
use crate::mcp::held::lease_of;
use crate::operations::settle;
use crate::problem::Problem;
use crate::wire::delivery::{DeliveryDocument, DeliveryPath, StateWord};
use crate::wire::memory::Seconds;
use crate::wire::receive::{AckBody, LeaseToken, NackBody, ProgressBody, RejectBody};

/// Where the delivery stands now.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SettledOut {
    state: StateWord,
}

impl From<DeliveryDocument> for SettledOut {
    fn from(delivery: DeliveryDocument) -> Self {
        Self { state: delivery.state }
    }
}

type Settled = Result<SettledOut, Problem>;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProgressIn {
    delivery_id: DeliveryId,
    /// As handoff_receive gave it.
    lease: Option<LeaseToken>,
    #[serde(default)]
    note: String,
    percent: Option<f64>,
    checkpoint: Option<Value>,
}

pub async fn progress(asker: Asker, input: ProgressIn) -> Settled {
    let ProgressIn { delivery_id: id, lease, note, percent, checkpoint } = input;
    let lease = lease_of(&asker, id, lease).await?;
    let body = ProgressBody { lease, note, percent, checkpoint };
    Ok(settle::progress(asker.call(DeliveryPath { id }, (), body)).await?.into_value().into())
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CompleteIn {
    delivery_id: DeliveryId,
    /// As handoff_receive gave it.
    lease: Option<LeaseToken>,
    /// Any JSON; as the handoff's expected output asks.
    result: Option<Value>,
    /// What you did, for the history.
    action: Option<String>,
    /// Why so.
    why: Option<String>,
    next: Option<NextIn>,
}

/// It is done, and went on.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DoneOut {
    state: StateWord,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<Slip>,
}

pub async fn complete(asker: Asker, input: CompleteIn) -> Result<DoneOut, Problem> {
    let CompleteIn { delivery_id: id, lease, result, action, why, next } = input;
    let next = next.map(NextIn::into_body).transpose()?.map(Box::new);
    let lease = lease_of(&asker, id, lease).await?;
    let body = AckBody { lease, result, action, why, next };
    let done = settle::ack(asker.call(DeliveryPath { id }, (), body)).await?.into_value();
    Ok(DoneOut { state: done.delivery.state, next: done.next.map(Into::into) })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NackIn {
    delivery_id: DeliveryId,
    /// As handoff_receive gave it.
    lease: Option<LeaseToken>,
    reason: String,
    /// False: not by you again.
    #[serde(default = "yes")]
    retry: bool,
    /// Not before so many seconds.
    after_s: Option<Seconds>,
}

fn yes() -> bool {
    true
}

pub async fn nack(asker: Asker, input: NackIn) -> Settled {
    let NackIn { delivery_id: id, lease, reason, retry, after_s } = input;
    let lease = lease_of(&asker, id, lease).await?;
    let body = NackBody { lease, reason, retry, after_s };
    Ok(settle::nack(asker.call(DeliveryPath { id }, (), body)).await?.into_value().into())
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RejectIn {
    delivery_id: DeliveryId,
    /// As handoff_receive gave it.
    lease: Option<LeaseToken>,
    reason: String,
    /// Back to the sender.
    question: Option<String>,
}

pub async fn reject(asker: Asker, input: RejectIn) -> Settled {
    let RejectIn { delivery_id: id, lease, reason, question } = input;
    let lease = lease_of(&asker, id, lease).await?;
    let body = RejectBody { lease, reason, question };
    Ok(settle::reject(asker.call(DeliveryPath { id }, (), body)).await?.into_value().into())
}
