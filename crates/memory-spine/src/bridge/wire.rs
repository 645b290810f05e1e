//! One request to `/mcp` and its answer, in messages.

use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use serde_json::Value;
use spine_client::{Connector, innermost};

use super::events::Events;
use super::fault::Fault;
use crate::limits::{CONNECTION_IDLE_MAX, MESSAGE_BYTES_MAX};

/// The session, of the revisions that have one.
pub const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// Which revision is spoken.
pub const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// The method, in the header as in the body.
pub const METHOD: HeaderName = HeaderName::from_static("mcp-method");
/// What the method is about.
pub const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// What makes a repeated call recognisable.
pub const KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// Where a stream goes on.
pub const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

const EVENTS: &str = "text/event-stream";

/// Why there is no answer.
#[derive(Debug)]
pub enum Lost {
    /// Nobody was there, or nobody to be trusted: nothing was done.
    NotSent(String),
    /// It broke off: what was asked may have been done.
    Cut,
    /// The server does not know the session: nothing was done.
    NoSession,
    /// The server says no.
    Refused(Fault),
}

impl Lost {
    /// What the host is told when trying again does not help either.
    pub fn after_all_tries(&self) -> String {
        match self {
            Self::NotSent(why) => why.clone(),
            _ => "the server went away again and again".to_owned(),
        }
    }
}

/// Connections to the server.
#[derive(Clone)]
pub struct Wire {
    http: Client<Connector, Full<Bytes>>,
    /// Who asks: the same for every request.
    asker: HeaderMap,
}

impl Wire {
    /// Connections for one asker; none is opened yet.
    pub fn new(asker: HeaderMap, connector: Connector) -> Self {
        let http = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(CONNECTION_IDLE_MAX)
            .build(connector);
        Self { http, asker }
    }

    /// Sends a request; the answer's body is still to come.
    pub async fn send(
        &self,
        method: Method,
        url: &str,
        headers: HeaderMap,
        body: Bytes,
        patience: Duration,
    ) -> Result<Response<Incoming>, Lost> {
        let mut request = Request::new(Full::new(body));
        *request.uri_mut() = format!("{url}/mcp").parse().map_err(|_| unusable(url))?;
        *request.headers_mut() = self.asker.clone();
        request.headers_mut().extend(headers);
        if method == Method::POST {
            request
                .headers_mut()
                .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let accepted =
            if method == Method::GET { EVENTS } else { "application/json, text/event-stream" };
        request.headers_mut().insert(ACCEPT, HeaderValue::from_static(accepted));
        *request.method_mut() = method;
        match tokio::time::timeout(patience, self.http.request(request)).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) if error.is_connect() => {
                Err(Lost::NotSent(format!("{url}: {}", innermost(&error))))
            }
            Ok(Err(_)) | Err(_) => Err(Lost::Cut),
        }
    }
}

fn unusable(url: &str) -> Lost {
    Lost::Refused(Fault::unreachable(&format!("{url} is no address of a server")))
}

/// An answer, message by message.
pub struct Answer {
    body: Incoming,
    events: Option<Events>,
    ready: std::collections::VecDeque<Vec<u8>>,
    /// Where the stream goes on.
    pub last_event: Option<String>,
}

impl Answer {
    /// Of a response that is good; of any other, why not.
    pub async fn of(response: Response<Incoming>, had_session: bool) -> Result<Self, Lost> {
        let (parts, body) = response.into_parts();
        let kind = parts.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let is_stream = kind.is_some_and(|kind| kind.starts_with(EVENTS));
        if parts.status.is_success() {
            let events = is_stream.then(Events::default);
            return Ok(Self { body, events, ready: Default::default(), last_event: None });
        }
        let text = collect(body).await?;
        let mut value: Value = serde_json::from_slice(&text).unwrap_or_default();
        let is_answer = value.get("jsonrpc").is_some();
        if let Some(error) = value.get_mut("error").filter(|_| is_answer) {
            return Err(Lost::Refused(Fault::of_server(error.take())));
        }
        if parts.status == StatusCode::NOT_FOUND && had_session {
            return Err(Lost::NoSession);
        }
        let said = value.get("detail").and_then(Value::as_str);
        let said = said.unwrap_or("the server refused without a word");
        Err(Lost::Refused(Fault::refused(parts.status.as_u16(), said)))
    }

    /// The next message; none at the end.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>, Lost> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Ok(Some(message));
            }
            let Some(events) = &mut self.events else { return self.whole().await };
            let Some(frame) = self.body.frame().await else { return Ok(None) };
            let Ok(piece) = frame.map_err(|_| Lost::Cut)?.into_data() else { continue };
            for event in events.take(&piece).map_err(|_| Lost::Cut)? {
                self.last_event = event.id.or(self.last_event.take());
                if !event.data.is_empty() {
                    self.ready.push_back(event.data);
                }
            }
        }
    }

    /// An answer that is one message, or none.
    async fn whole(&mut self) -> Result<Option<Vec<u8>>, Lost> {
        let text = collect(&mut self.body).await?;
        Ok((!text.trim_ascii().is_empty()).then_some(text))
    }
}

async fn collect<B>(body: B) -> Result<Vec<u8>, Lost>
where
    B: hyper::body::Body<Data = Bytes, Error = hyper::Error>,
{
    let read = Limited::new(body, MESSAGE_BYTES_MAX).collect().await;
    Ok(read.map_err(|_| Lost::Cut)?.to_bytes().to_vec())
}
