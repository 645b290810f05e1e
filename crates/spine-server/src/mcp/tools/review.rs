//! What waits for a person, and what a person has decided about it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use spine_protocol::{AgentName, DeliveryId, ReadError};

use super::card::Card;
use super::task::NextIn;
use crate::limits::MCP_ROWS_MAX;
use crate::mcp::asker::Asker;
use crate::operations::parked;
use crate::problem::{Problem, ProblemKind};
use crate::wire::delivery::{DeliveryDocument, DeliveryPath, StateWord};
use crate::wire::parked::{DiscardBody, ParkedListQuery, RequeueBody, ResolveBody};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParkedIn {
    /// In this agent's queue.
    target: Option<AgentName>,
    /// A cause, or words of the reason.
    reason: Option<String>,
    /// The next_cursor of the page before.
    cursor: Option<String>,
}

/// What is parked, oldest first.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParkedOut {
    deliveries: Vec<Card>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<usize>,
}

pub async fn parked(asker: Asker, input: ParkedIn) -> Result<ParkedOut, Problem> {
    let ParkedIn { target, reason, cursor } = input;
    let limit = Some(MCP_ROWS_MAX);
    let query = ParkedListQuery { target, reason, since: None, until: None, limit, cursor };
    let list = parked::list(asker.call((), query, ())).await?.into_value();
    let deliveries = list.deliveries.into_iter().map(Into::into).collect();
    Ok(ParkedOut { deliveries, next_cursor: list.next_cursor, left_out: None })
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    Requeue,
    Resend,
    Resolve,
    Discard,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReviewIn {
    delivery_id: DeliveryId,
    action: Action,
    /// For requeue and discard.
    reason: Option<String>,
    /// Requeue to another agent.
    target: Option<AgentName>,
    /// For resolve.
    result: Option<Value>,
    /// For resend.
    next: Option<NextIn>,
}

fn missing<T>(given: Option<T>, field: &str, action: &str) -> Result<T, Problem> {
    let error = ReadError::at(format!("/{field}"), format!("{action} needs it"));
    given.ok_or_else(|| Problem::body(ProblemKind::InvalidBody, &error))
}

/// Where the delivery stands now; for resend, the new one.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReviewedOut {
    delivery_id: DeliveryId,
    state: StateWord,
}

pub async fn review(asker: Asker, input: ReviewIn) -> Result<ReviewedOut, Problem> {
    let ReviewIn { delivery_id: id, action, reason, target, result, next } = input;
    let path = DeliveryPath { id };
    let delivery: DeliveryDocument = match action {
        Action::Requeue => {
            let body = RequeueBody { target, reason: reason.unwrap_or_default() };
            parked::requeue(asker.call(path, (), body)).await?.into_value()
        }
        Action::Resend => {
            let body = missing(next, "next", "resend")?.into_body()?;
            parked::resend(asker.call(path, (), body)).await?.0.into_value().delivery
        }
        Action::Resolve => {
            let body = ResolveBody { result: missing(result, "result", "resolve")?, by: None };
            parked::resolve(asker.call(path, (), body)).await?.into_value()
        }
        Action::Discard => {
            let body = DiscardBody { reason: missing(reason, "reason", "discard")? };
            parked::discard(asker.call(path, (), body)).await?.into_value()
        }
    };
    Ok(ReviewedOut { delivery_id: delivery.id, state: delivery.state })
}
