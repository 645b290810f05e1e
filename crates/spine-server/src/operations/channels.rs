//! Channels, and what is published to them.

use std::time::Duration;

use http::HeaderMap;
use spine_engine::delivery::{JoinRequest, PublishRequest};

use super::handoffs::{no_send, no_wait, request_of};
use super::{check_agent, place_to_wait};
use crate::App;
use crate::access::Pass;
use crate::problem::Problem;
use crate::route::{Call, Created, Json};
use crate::wire::channel::{
    ChannelDocument, ChannelListDocument, JoinBody, NamePath, PublicationDocument, PublicationPath,
    PublicationWaitQuery, PublishBody, SubscriberPath,
};
use crate::wire::send::{SendBody, ms_of};

pub async fn list(call: Call<(), (), ()>) -> Result<Json<ChannelListDocument>, Problem> {
    let channels = call.app.deliveries.channels(call.caller()).await?;
    let shown = channels.into_iter().map(|(name, channel)| ChannelDocument::of(name, channel));
    Ok(Json::of(ChannelListDocument { channels: shown.collect() }))
}

pub async fn get(call: Call<NamePath, (), ()>) -> Result<Json<ChannelDocument>, Problem> {
    let name = call.path.name.as_str();
    let channel = call.app.deliveries.channel(call.caller(), name).await?;
    Ok(Json::of(ChannelDocument::of(name, channel)))
}

pub async fn subscribe(
    call: Call<SubscriberPath, (), ()>,
) -> Result<Json<ChannelDocument>, Problem> {
    set_subscribed(&call, true).await
}

pub async fn unsubscribe(
    call: Call<SubscriberPath, (), ()>,
) -> Result<Json<ChannelDocument>, Problem> {
    set_subscribed(&call, false).await
}

async fn set_subscribed(
    call: &Call<SubscriberPath, (), ()>,
    subscribed: bool,
) -> Result<Json<ChannelDocument>, Problem> {
    check_agent(&call.pass, &call.path.agent)?;
    let (name, agent) = (call.path.name.as_str(), &call.path.agent);
    let deliveries = &call.app.deliveries;
    let channel = deliveries.subscribe(call.caller(), name, agent, subscribed).await?;
    Ok(Json::of(ChannelDocument::of(name, channel)))
}

pub async fn publish(
    call: Call<NamePath, (), PublishBody>,
) -> Result<Created<PublicationDocument>, Problem> {
    let (app, caller, name) = (&call.app, &call.pass.caller, call.path.name.as_str());
    let PublishBody { envelope_id, receivers, join, send } = call.body;
    let join = match join {
        Some(join) => Some(join_of(app, &call.pass, &call.headers, join).await?),
        None => None,
    };
    let options = options_of(send, "/send")?;
    app.quotas.admit_handoff(&caller.workspace).await?;
    let request = PublishRequest { envelope: envelope_id, receivers, join, options };
    let published = app.deliveries.publish(caller, name, request).await?;
    Ok(Created(Json::of(PublicationDocument::of(published, app.store.now()))))
}

async fn join_of(
    app: &App,
    pass: &Pass,
    headers: &HeaderMap,
    body: JoinBody,
) -> Result<JoinRequest, Problem> {
    no_send(body.handoff.send.is_some(), "/join/handoff/send")?;
    Ok(JoinRequest {
        handoff: request_of(app, &pass.caller, headers, body.handoff).await?,
        need: body.need,
        timeout_ms: body.timeout_s.map(ms_of),
        options: options_of(body.send, "/join/send")?,
    })
}

fn options_of(
    send: Option<SendBody>,
    at: &str,
) -> Result<spine_engine::delivery::SendOptions, Problem> {
    let send = send.unwrap_or_default();
    no_wait(send.wait, &format!("{at}/wait"))?;
    send.into_options(at)
}

pub async fn publication(
    call: Call<PublicationPath, PublicationWaitQuery, ()>,
) -> Result<Json<PublicationDocument>, Problem> {
    let (app, caller, id) = (&call.app, &call.pass.caller, call.path.id);
    let wait = call.query.wait_s.map(Duration::from).unwrap_or_default();
    let _place = place_to_wait(app, wait)?;
    let view = app.deliveries.wait_publication(caller, id, wait).await?;
    Ok(Json::of(PublicationDocument::of(view, app.store.now())))
}
