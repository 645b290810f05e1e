//! Receiving as a stream: deliveries come as they are there, as many as the receiver can have in hands.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::response::sse::{Event as Message, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, Stream, StreamExt};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use spine_engine::Caller;
use spine_engine::delivery::{Fence, ReceiveRequest, Received};
use spine_protocol::DeliveryId;
use spine_store::DeliveryState;
use tokio::sync::OwnedSemaphorePermit;

use super::receive::{InHands, Shape, accepted_version};
use super::{check_agent, place_to_wait};
use crate::App;
use crate::limits::{EVENTS_KEEP_ALIVE, OUTSTANDING_DEFAULT, OUTSTANDING_MAX, STREAM_WAIT};
use crate::problem::{Problem, ProblemKind};
use crate::route::{Call, Output};
use crate::wake::Listener;
use crate::wire::agent::AgentPath;
use crate::wire::receive::{ReceivedDocument, StreamQuery};
use crate::wire::send::ms_of;

/// Deliveries as they come.
pub struct DeliveryStream(Response);

impl Output for DeliveryStream {
    const MEDIA_TYPES: &'static [&'static str] = &["text/event-stream"];

    fn schema(generator: &mut SchemaGenerator) -> Option<Schema> {
        ReceivedDocument::json_schema(generator);
        Some(
            json_schema!({"type": "string", "description": "Server-sent events: `id` is the delivery's id, `event` is `delivery`, `data` is one entry as `POST /v1/agents/{name}/receive` answers it."}),
        )
    }

    fn respond(self) -> Result<Response, Problem> {
        Ok(self.0)
    }
}

pub async fn stream(call: Call<AgentPath, StreamQuery, ()>) -> Result<DeliveryStream, Problem> {
    check_agent(&call.pass, &call.path.name)?;
    let place = place_to_wait(&call.app, Duration::MAX)?;
    let (app, caller, query) = (call.app, call.pass.caller, call.query);
    let outstanding_max = query.max_outstanding.unwrap_or(OUTSTANDING_DEFAULT);
    if !(1..=OUTSTANDING_MAX).contains(&outstanding_max) {
        let problem = format!("expected a number from 1 to {OUTSTANDING_MAX}");
        return Err(Problem::parameter("max_outstanding", &problem));
    }
    let request = ReceiveRequest {
        wait: STREAM_WAIT,
        lease_ms: query.lease_s.map(ms_of),
        accept: query.accept,
        holder: query.holder,
        ..ReceiveRequest::new(call.path.name)
    };
    let feed = Feed {
        shape: Shape { major: accepted_version(&query.versions)?, format: None },
        listener: app.wake.listen(caller.workspace.clone()),
        app: app.clone(),
        caller,
        request,
        outstanding_max,
        outstanding: Vec::new(),
        ready: VecDeque::new(),
        given: None,
        _place: place,
    };
    let messages = feed.messages().take_until(async move { app.stopped().await });
    let stream = Sse::new(messages).keep_alive(KeepAlive::new().interval(EVENTS_KEEP_ALIVE));
    Ok(DeliveryStream(stream.into_response()))
}

/// One receiver's stream. What it has taken and not yet written is given back when the receiver goes.
struct Feed {
    app: Arc<App>,
    caller: Caller,
    request: ReceiveRequest,
    shape: Shape,
    outstanding_max: usize,
    /// Given, and not settled yet as far as this stream knows.
    outstanding: Vec<(DeliveryId, Fence)>,
    ready: VecDeque<(Message, InHands)>,
    /// The last one: it is on its way as soon as more is asked for.
    given: Option<InHands>,
    listener: Listener,
    _place: Option<OwnedSemaphorePermit>,
}

impl Feed {
    /// Ends when nothing can be received: the receiver comes again.
    fn messages(self) -> impl Stream<Item = Result<Message, Infallible>> {
        stream::unfold(self, |mut feed| async move {
            let message = feed.next().await?;
            Some((Ok(message), feed))
        })
    }

    async fn next(&mut self) -> Option<Message> {
        if let Some(mut given) = self.given.take() {
            self.outstanding.extend(given.disarm());
        }
        loop {
            if let Some((message, in_hands)) = self.ready.pop_front() {
                self.given = Some(in_hands);
                return Some(message);
            }
            let more = self.more().await;
            more.inspect_err(|problem| tracing::warn!(%problem, "a stream of deliveries ends"))
                .ok()?;
        }
    }

    async fn more(&mut self) -> Result<(), Problem> {
        self.forget_settled().await?;
        let room = self.outstanding_max.saturating_sub(self.outstanding.len());
        if room == 0 {
            self.listener.wait().await;
            return Ok(());
        }
        let request = ReceiveRequest { max: room, ..self.request.clone() };
        let received = self.app.deliveries.receive(&self.caller, request).await?;
        if !received.is_empty() {
            self.app.wake.up(&self.caller.workspace);
        }
        for one in received {
            let in_hands =
                InHands::new(self.app.clone(), self.caller.clone(), std::slice::from_ref(&one));
            self.ready.push_back((self.message(one)?, in_hands));
        }
        Ok(())
    }

    async fn forget_settled(&mut self) -> Result<(), Problem> {
        if self.outstanding.is_empty() {
            return Ok(());
        }
        let ids = self.outstanding.iter().map(|(id, _)| *id).collect();
        let rows = self.app.store.deliveries(&self.caller.workspace, ids).await?;
        self.outstanding.retain(|(id, fence)| {
            rows.iter().any(|row| {
                let is_held = matches!(row.state, DeliveryState::Leased | DeliveryState::Accepted);
                row.id == *id && is_held && row.epoch == fence.epoch
            })
        });
        Ok(())
    }

    fn message(&self, received: Received) -> Result<Message, Problem> {
        let id = received.delivery.row.id.to_string();
        let document = self.shape.document(&self.app, received)?;
        let data = serde_json::to_string(&document).map_err(|error| {
            let said = "the delivery cannot be written: report this";
            Problem::new(ProblemKind::Internal, said).logged(error.to_string())
        })?;
        Ok(Message::default().id(id).event("delivery").data(data))
    }
}
