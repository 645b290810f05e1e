//! Agents.

use spine_engine::delivery::Webhook;
use spine_protocol::ReadError;

use super::check_agent;
use crate::App;
use crate::problem::{Problem, ProblemKind};
use crate::push::{BadWebhook, pushed_version};
use crate::route::{Call, Json};
use crate::watch::tell_later;
use crate::wire::agent::{
    AgentBody, AgentDocument, AgentListDocument, AgentPath, BreakerBody, BreakerDocument,
};

type Agent = Result<Json<AgentDocument>, Problem>;

pub async fn list(call: Call<(), (), ()>) -> Result<Json<AgentListDocument>, Problem> {
    let (app, caller) = (&call.app, call.caller());
    let (seen, notices) = app.health.seen(caller).await?;
    tell_later(app, notices);
    let agents = app.deliveries.agents_with(caller, seen).await?;
    Ok(Json::of(AgentListDocument { agents: agents.into_iter().map(Into::into).collect() }))
}

pub async fn get(call: Call<AgentPath, (), ()>) -> Agent {
    Ok(Json::of(call.app.deliveries.agent(call.caller(), &call.path.name).await?.into()))
}

pub async fn register(call: Call<AgentPath, (), AgentBody>) -> Agent {
    check_agent(&call.pass, &call.path.name)?;
    let options = call.body.into_options()?;
    check_webhook(&call.app, options.webhook.as_ref())?;
    let (deliveries, caller) = (&call.app.deliveries, &call.pass.caller);
    let agent = deliveries.register(caller, &call.path.name, options).await?;
    call.app.webhooks_changed.notify_one();
    Ok(Json::of(agent.into()))
}

/// One that can never work is better refused to whoever registers it than found out with the first delivery.
fn check_webhook(app: &App, webhook: Option<&Webhook>) -> Result<(), Problem> {
    webhook.map(pushed_version).transpose()?;
    let (Some(pusher), Some(webhook)) = (&app.pusher, webhook) else { return Ok(()) };
    pusher.check(webhook).map_err(|BadWebhook { field, problem }| {
        let error = ReadError::at(format!("/webhook/{field}"), problem);
        Problem::body(ProblemKind::InvalidBody, &error)
    })
}

pub async fn pause(call: Call<AgentPath, (), ()>) -> Agent {
    set_paused(&call, true).await
}

pub async fn resume(call: Call<AgentPath, (), ()>) -> Agent {
    set_paused(&call, false).await
}

async fn set_paused(call: &Call<AgentPath, (), ()>, paused: bool) -> Agent {
    check_agent(&call.pass, &call.path.name)?;
    let (deliveries, caller) = (&call.app.deliveries, call.caller());
    Ok(Json::of(deliveries.pause(caller, &call.path.name, paused).await?.into()))
}

pub async fn breaker(call: Call<AgentPath, (), ()>) -> Result<Json<BreakerDocument>, Problem> {
    let agent = call.app.deliveries.agent(call.caller(), &call.path.name).await?;
    Ok(Json::of(agent.breaker.into()))
}

pub async fn set_breaker(call: Call<AgentPath, (), BreakerBody>) -> Agent {
    check_agent(&call.pass, &call.path.name)?;
    let (deliveries, caller) = (&call.app.deliveries, &call.pass.caller);
    let order = call.body.state.into();
    Ok(Json::of(deliveries.order_breaker(caller, &call.path.name, order).await?.into()))
}
