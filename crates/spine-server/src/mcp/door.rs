//! Where messages come in: from a route to the protocol's own service, and back.

use std::pin::Pin;
use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::StreamExt;
use http::{HeaderMap, HeaderValue, Method, Request, header};
use http_body_util::Full;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::Value;
use spine_protocol::{AgentName, ReadError};

use super::asker::Admission;
use super::handler::Spine;
use super::sessions::{SESSION_HEADER, Sessions};
use crate::limits::BODY_BYTES_MAX;
use crate::operations::place_to_wait;
use crate::problem::Problem;
use crate::route::{Call, Input, Output};

type Answering = Pin<Box<dyn Future<Output = Response> + Send>>;
type Answer = Box<dyn Fn(Request<Full<Bytes>>) -> Answering + Send + Sync>;

/// The protocol's service, with its sessions.
pub struct Door {
    answer: Answer,
    stop: Box<dyn Fn() + Send + Sync>,
    pub(super) sessions: Sessions,
}

impl Default for Door {
    fn default() -> Self {
        Self::to(Spine::default)
    }
}

impl Door {
    /// A way to whoever answers what is asked: the product's own, or a stand-in for a test of the protocol.
    pub fn to<H: ServerHandler + Send + 'static>(
        handler: impl Fn() -> H + Send + Sync + 'static,
    ) -> Self {
        let sessions = Sessions::default();
        // Hosts and origins were checked on the way here, as for every route.
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .with_max_request_body_bytes(BODY_BYTES_MAX);
        let stopping = config.cancellation_token.clone();
        let manager: Arc<LocalSessionManager> = sessions.manager();
        let service = StreamableHttpService::new(move || Ok(handler()), manager, config);
        let answer = move |request| -> Answering {
            let service = service.clone();
            Box::pin(async move { service.handle(request).await.map(Body::new) })
        };
        Self { answer: Box::new(answer), stop: Box::new(move || stopping.cancel()), sessions }
    }

    /// Ends every stream: the server stops.
    pub fn stop(&self) {
        (self.stop)();
    }
}

/// Who asks, said in the address: hosts can often set nothing else.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct DoorQuery {
    /// The agent that asks, where neither key nor header names it.
    pub agent: Option<AgentName>,
}

/// A message of the protocol.
pub struct Message(Value);

impl JsonSchema for Message {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "JsonRpcMessage".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "object"})
    }
}

impl Input for Message {
    fn read(value: &Value) -> Result<Self, ReadError> {
        Ok(Self(value.clone()))
    }
}

/// What the protocol answers.
pub struct Reply(Response);

impl Output for Reply {
    fn schema(_: &mut SchemaGenerator) -> Option<Schema> {
        None
    }

    fn respond(self) -> Result<Response, Problem> {
        Ok(self.0)
    }
}

/// A message, and its answer.
pub async fn message(call: Call<(), DoorQuery, Message>) -> Result<Reply, Problem> {
    let Message(message) = &call.body;
    if message.get("method").and_then(Value::as_str) == Some("initialize") {
        call.app.mcp.sessions.make_room().await;
    }
    let bytes = Bytes::from(message.to_string());
    let (app, pass) = (call.app.clone(), call.pass.clone());
    let response = pass_on(call, Method::POST, bytes).await?;
    if let Some(id) = response.headers().get(SESSION_HEADER) {
        app.mcp.sessions.opened(id, &pass).await;
    }
    Ok(Reply(response))
}

/// What a session is told of its own accord.
pub async fn stream(call: Call<(), DoorQuery, ()>) -> Result<Reply, Problem> {
    let place = place_to_wait(&call.app, std::time::Duration::MAX)?;
    let response = pass_on(call, Method::GET, Bytes::new()).await?;
    // The place is given back when the stream ends.
    let held = move |body: Body| {
        let stream = body.into_data_stream();
        Body::from_stream(stream.inspect(move |_| {
            let _place = &place;
        }))
    };
    Ok(Reply(response.map(held)))
}

/// Ends a session.
pub async fn end(call: Call<(), DoorQuery, ()>) -> Result<Reply, Problem> {
    Ok(Reply(pass_on(call, Method::DELETE, Bytes::new()).await?))
}

async fn pass_on<B>(
    call: Call<(), DoorQuery, B>,
    method: Method,
    body: Bytes,
) -> Result<Response, Problem> {
    let Call { app, mut pass, query, headers, .. } = call;
    if let Some(agent) = query.agent {
        pass.act_as(agent)?;
    }
    app.mcp.sessions.check(&headers, &pass)?;
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = method;
    *request.headers_mut() = inner_headers(headers);
    request.extensions_mut().insert(Admission { app: app.clone(), pass });
    Ok((app.mcp.answer)(request).await)
}

/// As they were sent, but for what was true of the outer request only.
fn inner_headers(mut headers: HeaderMap) -> HeaderMap {
    headers.remove(header::CONTENT_LENGTH);
    headers.remove(header::ORIGIN);
    headers.insert(header::HOST, HeaderValue::from_static("localhost"));
    headers
}
