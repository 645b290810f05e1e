//! What a caller is answered: each kind of answer knows its status, its media type and its schema.

use axum::body::Body;
use axum::response::Response;
use http::{HeaderValue, StatusCode, header};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;

use crate::problem::{Problem, ProblemKind};

/// An answer, and how it is described.
pub trait Output: Send + 'static {
    /// Its status.
    const STATUS: StatusCode = StatusCode::OK;
    /// Its media types.
    const MEDIA_TYPES: &'static [&'static str] = &[JSON];

    /// What its body looks like; `None` for no body.
    fn schema(generator: &mut SchemaGenerator) -> Option<Schema>;

    /// The answer itself.
    fn respond(self) -> Result<Response, Problem>;
}

/// With room for most answers, so that they are not moved while they are written.
const ANSWER_BYTES_USUAL: usize = 2_048;

/// The media type of most answers.
pub const JSON: &str = "application/json";

/// A JSON answer, with the version of what it shows.
pub struct Json<T> {
    value: T,
    etag: Option<String>,
}

impl<T> Json<T> {
    /// An answer.
    pub fn of(value: T) -> Self {
        Self { value, etag: None }
    }

    /// An answer about a record at this version.
    pub fn at_version(value: T, version: impl std::fmt::Display) -> Self {
        Self { value, etag: Some(format!("\"{version}\"")) }
    }

    /// What is answered.
    pub fn into_value(self) -> T {
        self.value
    }

    fn respond_with(self, status: StatusCode) -> Result<Response, Problem>
    where
        T: Serialize,
    {
        let mut bytes = Vec::with_capacity(ANSWER_BYTES_USUAL);
        serde_json::to_writer(&mut bytes, &self.value).map_err(|error| {
            let said = "the answer cannot be written: report this, with the request id";
            Problem::new(ProblemKind::Internal, said).logged(error.to_string())
        })?;
        let mut response = bytes_response(status, JSON, bytes);
        if let Some(etag) = self.etag.and_then(|etag| HeaderValue::try_from(etag).ok()) {
            response.headers_mut().insert(header::ETAG, etag);
        }
        Ok(response)
    }
}

/// A response of some bytes.
pub fn bytes_response(status: StatusCode, media_type: &'static str, bytes: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

impl<T: Serialize + JsonSchema + Send + 'static> Output for Json<T> {
    fn schema(generator: &mut SchemaGenerator) -> Option<Schema> {
        Some(generator.subschema_for::<T>())
    }

    fn respond(self) -> Result<Response, Problem> {
        self.respond_with(StatusCode::OK)
    }
}

/// A JSON answer about something new.
pub struct Created<T>(pub Json<T>);

impl<T: Serialize + JsonSchema + Send + 'static> Output for Created<T> {
    const STATUS: StatusCode = StatusCode::CREATED;

    fn schema(generator: &mut SchemaGenerator) -> Option<Schema> {
        Some(generator.subschema_for::<T>())
    }

    fn respond(self) -> Result<Response, Problem> {
        self.0.respond_with(StatusCode::CREATED)
    }
}
