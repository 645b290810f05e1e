//! Answers to what cannot be done: RFC 9457 problem documents.

mod from_engine;
mod kind;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, header};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use spine_protocol::ReadError;

pub use kind::ProblemKind;

/// The media type of a problem.
pub const PROBLEM_JSON: &str = "application/problem+json";

/// Why a request was not granted: what the caller reads, and what the log does.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    kind: ProblemKind,
    detail: String,
    fields: Map<String, Value>,
    for_log: Option<String>,
}

/// The document itself, for the description of the API.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "Problem")]
pub struct ProblemDocument {
    /// `/errors/` and a stable name; its page says what to do.
    pub r#type: String,
    /// What went wrong, in general.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// What went wrong here, and what to do.
    pub detail: String,
    /// The id of the request, as in the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// Where in the body, as a JSON pointer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// Which parameter or header.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameter: Option<String>,
    /// After how many seconds to try again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_s: Option<u64>,
    /// Further facts, by problem.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

impl Problem {
    /// A problem, with a detail that says what to do.
    pub fn new(kind: ProblemKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into(), fields: Map::new(), for_log: None }
    }

    /// What kind it is.
    pub fn kind(&self) -> ProblemKind {
        self.kind
    }

    /// A further fact.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.fields.insert(name.to_owned(), value.into());
        self
    }

    /// What only the log is told.
    #[must_use]
    pub fn logged(mut self, detail: impl Into<String>) -> Self {
        self.for_log = Some(detail.into());
        self
    }

    /// After how many seconds to try again.
    #[must_use]
    pub fn retry_after(self, seconds: u64) -> Self {
        self.with("retry_after_s", seconds)
    }

    /// A parameter or header that is not as it must be.
    pub fn parameter(name: &str, problem: &str) -> Self {
        let detail = format!("{name}: {problem}");
        Self::new(ProblemKind::InvalidParameter, detail).with("parameter", name)
    }

    /// Something of the body that is not as it must be.
    pub fn body(kind: ProblemKind, error: &ReadError) -> Self {
        Self::new(kind, error.to_string()).with("pointer", error.pointer.clone())
    }

    /// What only the log is told.
    pub fn for_log(&self) -> Option<&str> {
        self.for_log.as_deref()
    }

    /// The same problem with the id of its request.
    #[must_use]
    pub fn of_request(self, id: &str) -> Self {
        self.with("request_id", id)
    }

    fn document(&self) -> Value {
        let mut document = Map::new();
        document.insert("type".to_owned(), format!("/errors/{}", self.kind.slug()).into());
        document.insert("title".to_owned(), self.kind.title().into());
        document.insert("status".to_owned(), self.kind.status().as_u16().into());
        document.insert("detail".to_owned(), self.detail.clone().into());
        document.extend(self.fields.clone());
        Value::Object(document)
    }
}

/// One of many answers.
impl Serialize for Problem {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.document().serialize(to)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = self.document().to_string();
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = self.kind.status();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(PROBLEM_JSON));
        if let Some(seconds) = self.fields.get("retry_after_s").and_then(Value::as_u64) {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        if self.kind == ProblemKind::Unauthenticated {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response.extensions_mut().insert(self);
        response
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.detail)
    }
}
