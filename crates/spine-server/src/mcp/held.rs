//! What an agent has in its hands: the parent of what it hands on, and the lease that its words need.
//!
//! A session is written on the lease as its holder, so nothing is kept here: what was received before a restart
//! is still in the agent's hands, and two sessions of one agent do not settle each other's work.

use spine_engine::delivery::{Delivery, Fence};
use spine_protocol::DeliveryId;
use spine_store::{DeliveryQuery, DeliveryState};

use super::asker::Asker;
use crate::limits::{MCP_HELD_MAX, MCP_LEASE};
use crate::operations::settle;
use crate::problem::{Problem, ProblemKind};
use crate::wire::delivery::DeliveryPath;
use crate::wire::memory::Seconds;
use crate::wire::receive::{ExtendBody, LeaseToken};

/// Who a lease belongs to that was given over the protocol.
const HOLDER: &str = "mcp";
const HOLDER_SESSION: &str = "mcp:";

/// What an asker is called on its leases.
pub fn holder(asker: &Asker) -> String {
    match &asker.session {
        Some(session) => format!("{HOLDER_SESSION}{session}"),
        None => HOLDER.to_owned(),
    }
}

/// An hour.
pub fn lease_s() -> Option<Seconds> {
    Seconds::try_from(MCP_LEASE.as_secs_f64()).ok()
}

/// What the asker has in its hands, the newest first; nothing, if nobody knows who it is.
pub async fn held(asker: &Asker) -> Result<Vec<Delivery>, Problem> {
    let Some(agent) = asker.pass.caller.agent.clone() else { return Ok(Vec::new()) };
    let mut query = DeliveryQuery {
        states: vec![DeliveryState::Leased, DeliveryState::Accepted],
        agent: Some(agent),
        limit: MCP_HELD_MAX,
        newest_first: true,
        ..DeliveryQuery::default()
    };
    let mut own = Vec::new();
    loop {
        let page = asker.app.deliveries.list(&asker.pass.caller, query.clone()).await?;
        query.limit -= page.items.len();
        for delivery in page.items {
            if is_own(asker, &delivery).await {
                own.push(delivery);
            }
        }
        query.after = page.next;
        if query.after.is_none() || query.limit == 0 {
            return Ok(own);
        }
    }
}

/// Held by this session, or by one of the same agent that is no more.
async fn is_own(asker: &Asker, delivery: &Delivery) -> bool {
    if asker.pass.caller.agent.as_ref() != Some(&delivery.row.agent) {
        return false;
    }
    let lease = delivery.story.lease.as_ref();
    let Some(holder) = lease.and_then(|lease| lease.holder.as_deref()) else { return false };
    match (holder.strip_prefix(HOLDER_SESSION), &asker.session) {
        (Some(theirs), Some(own)) if theirs == own => true,
        (Some(theirs), _) => !asker.app.mcp.sessions.is_open(theirs).await,
        (None, None) => holder == HOLDER,
        (None, Some(_)) => false,
    }
}

/// The delivery that what is handed on comes out of, unless it is said: the one that is held.
pub async fn default_parent(asker: &Asker, new_task: bool) -> Result<Option<DeliveryId>, Problem> {
    let held = held(asker).await?;
    match held.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(one.row.id)),
        _ if new_task => Ok(None),
        several => {
            let ids: Vec<String> = several.iter().map(|one| one.row.id.to_string()).collect();
            let said = format!(
                "you hold several deliveries ({}): say in `parent` which one this follows, or new_task: true",
                ids.join(", ")
            );
            Err(Problem::new(ProblemKind::InvalidBody, said).with("pointer", "/parent"))
        }
    }
}

/// The lease to show: the one that was given, else that of what the asker has in its hands.
pub async fn lease_of(
    asker: &Asker,
    id: DeliveryId,
    given: Option<LeaseToken>,
) -> Result<LeaseToken, Problem> {
    if let Some(given) = given {
        return Ok(given);
    }
    asker.agent()?;
    let delivery = asker.app.deliveries.get(&asker.pass.caller, id).await?;
    if is_own(asker, &delivery).await {
        return Ok(LeaseToken(Fence::of_row(&delivery.row, &asker.app.store.identity())));
    }
    let (kind, said) = match delivery.row.state {
        DeliveryState::Cancelled => {
            (ProblemKind::Cancelled, "the delivery was cancelled: the work is not wanted any more")
        }
        DeliveryState::Done | DeliveryState::Rejected => {
            (ProblemKind::AlreadyOver, "the delivery is over already")
        }
        _ => (ProblemKind::LeaseLost, "the delivery is not in your hands, or no longer"),
    };
    Err(Problem::new(kind, said))
}

/// A sign of life from whoever names a delivery that it holds. It may not be its own: then nothing happens.
pub async fn renew(asker: &Asker, id: DeliveryId) {
    let Ok(lease) = lease_of(asker, id, None).await else { return };
    let body = ExtendBody { lease, lease_s: None };
    let renewed = settle::extend(asker.call(DeliveryPath { id }, (), body)).await;
    if let Err(problem) = renewed {
        tracing::debug!(%problem, "a lease was not renewed");
    }
}
