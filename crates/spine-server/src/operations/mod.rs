//! What each route does: from a typed call to a typed answer, by the engine.

pub mod admin;
pub mod agents;
pub mod alerts;
pub mod channels;
pub mod clock;
pub mod deliveries;
pub mod envelopes;
pub mod erasures;
pub mod events;
pub mod handoffs;
pub mod health;
pub mod memories;
pub mod parked;
pub mod pipelines;
pub mod receive;
pub mod server;
pub mod settle;
pub mod stream;

use std::time::Duration;

use spine_engine::Caller;
use spine_engine::delivery::Delivery;
use spine_protocol::{AgentName, DeliveryId};
use tokio::sync::OwnedSemaphorePermit;

use crate::App;
use crate::access::Pass;
use crate::limits::{FULL_RETRY_AFTER_S, PAGE_ROWS_DEFAULT, PAGE_ROWS_MAX};
use crate::problem::{Problem, ProblemKind};
use crate::wire::send::WaitBody;

/// How many rows a page is to have.
fn page_rows(limit: Option<usize>) -> Result<usize, Problem> {
    match limit {
        None => Ok(PAGE_ROWS_DEFAULT),
        Some(limit) if (1..=PAGE_ROWS_MAX).contains(&limit) => Ok(limit),
        Some(_) => Err(Problem::parameter(
            "limit",
            &format!("expected a number from 1 to {PAGE_ROWS_MAX}"),
        )),
    }
}

/// A place among the streams and long polls that are open; none is needed where nobody waits.
pub fn place_to_wait(app: &App, wait: Duration) -> Result<Option<OwnedSemaphorePermit>, Problem> {
    if wait.is_zero() {
        return Ok(None);
    }
    app.streams.clone().try_acquire_owned().map(Some).map_err(|_| {
        let said = "as many streams are open as the server takes: close some, or try again later";
        Problem::new(ProblemKind::Overloaded, said).retry_after(FULL_RETRY_AFTER_S)
    })
}

/// The delivery when it is as far as its sender waits for.
async fn waited(
    app: &App,
    caller: &Caller,
    delivery: Delivery,
    wait: Option<WaitBody>,
) -> Result<Delivery, Problem> {
    let Some(wait) = wait else { return Ok(delivery) };
    // Others see it from now on, not only when this answers.
    app.wake.up(&caller.workspace);
    let until = wait.until.into();
    Ok(app.deliveries.wait(caller, delivery.row.id, until, wait.timeout()).await?)
}

/// A key that names its agents acts for no other.
pub fn check_agent(pass: &Pass, name: &AgentName) -> Result<(), Problem> {
    if name.is_broadcast() {
        return Err(Problem::parameter("name", "`broadcast` is reserved: nobody acts as it"));
    }
    if !pass.is_agent_certain() || pass.caller.agent.as_ref() == Some(name) {
        return Ok(());
    }
    let said = format!("the key is not for the agent {name}: use that agent's key");
    Err(Problem::new(ProblemKind::Forbidden, said).with("agent", name.as_str()))
}

/// A key that names its agents settles only what one of them has.
async fn check_holder(app: &App, pass: &Pass, id: DeliveryId) -> Result<(), Problem> {
    if !pass.is_agent_certain() {
        return Ok(());
    }
    check_agent(pass, &app.deliveries.get(&pass.caller, id).await?.row.agent)
}
