//! What happened: page by page, and as it happens.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::response::sse::{Event as Message, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, Stream, StreamExt};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use spine_protocol::WorkspaceName;
use spine_store::Change;
use tokio::sync::OwnedSemaphorePermit;

use super::{page_rows, place_to_wait};
use crate::App;
use crate::access::named;
use crate::limits::{EVENTS_KEEP_ALIVE, EVENTS_ROWS};
use crate::problem::Problem;
use crate::route::{Call, Json, Output};
use crate::wake::Listener;
use crate::wire::cursor;
use crate::wire::event::{AuditDocument, EventDocument, EventsQuery, PageQuery};

const LIST: &str = "audit";

pub async fn audit(call: Call<(), PageQuery, ()>) -> Result<Json<AuditDocument>, Problem> {
    let after: Option<u64> = cursor::decode(LIST, call.query.cursor.as_deref())?;
    let (limit, workspace) = (page_rows(call.query.limit)?, &call.pass.caller.workspace);
    let page = call.app.store.events(workspace, Change(after.unwrap_or(0)), limit).await?;
    let next_cursor = page.next.map(|change| cursor::encode(LIST, change.0));
    let events = page.items.iter().map(|event| EventDocument::from(&**event)).collect();
    Ok(Json::of(AuditDocument { events, next_cursor }))
}

/// Events as they happen.
pub struct EventStream(Response);

impl Output for EventStream {
    const MEDIA_TYPES: &'static [&'static str] = &["text/event-stream"];

    fn schema(generator: &mut SchemaGenerator) -> Option<Schema> {
        // Each message's data; the description of the API has no word for the stream itself.
        EventDocument::json_schema(generator);
        Some(
            schemars::json_schema!({"type": "string", "description": "Server-sent events: `id` is the change, `event` the kind, `data` an event as JSON."}),
        )
    }

    fn respond(self) -> Result<Response, Problem> {
        Ok(self.0)
    }
}

pub async fn events(call: Call<(), EventsQuery, ()>) -> Result<EventStream, Problem> {
    let place = place_to_wait(&call.app, Duration::MAX)?;
    let workspace = call.pass.caller.workspace.clone();
    // Before the first look, so that nothing happens unheard between the two.
    let listener = call.app.wake.listen(workspace.clone());
    let resumed: Option<u64> = named(&call.headers, "last-event-id")?;
    let after = match resumed.or(call.query.after) {
        Some(after) => Change(after),
        None => call.app.store.newest_change(&workspace).await?,
    };
    let app = call.app.clone();
    let follower = Follower { app: call.app, workspace, after, listener, _place: place };
    let messages = follower.messages().take_until(async move { app.stopped().await });
    let stream = Sse::new(messages).keep_alive(KeepAlive::new().interval(EVENTS_KEEP_ALIVE));
    Ok(EventStream(stream.into_response()))
}

/// One who follows the log.
struct Follower {
    app: Arc<App>,
    workspace: WorkspaceName,
    after: Change,
    listener: Listener,
    _place: Option<OwnedSemaphorePermit>,
}

impl Follower {
    /// Ends when the log cannot be read: the reader comes again and goes on where it was.
    fn messages(self) -> impl Stream<Item = Result<Message, Infallible>> {
        let batches = stream::unfold(self, |mut follower| async move {
            let batch = follower.next_batch().await?;
            Some((batch, follower))
        });
        batches.flat_map(|batch| stream::iter(batch.into_iter().map(Ok)))
    }

    async fn next_batch(&mut self) -> Option<Vec<Message>> {
        loop {
            let read = self.app.store.events(&self.workspace, self.after, EVENTS_ROWS).await;
            let page = read
                .inspect_err(|error| {
                    tracing::warn!(detail = error.detail(), "an event stream ends")
                })
                .ok()?;
            if let Some(last) = page.items.last() {
                self.after = last.change;
                return Some(page.items.iter().filter_map(|event| message(event)).collect());
            }
            self.listener.wait().await;
        }
    }
}

fn message(event: &spine_store::Event) -> Option<Message> {
    let document = EventDocument::from(event);
    let message = Message::default().id(document.change.to_string()).event(document.kind.clone());
    Some(message.data(serde_json::to_string(&document).ok()?))
}
