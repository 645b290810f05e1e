//! What a browser asks before a page of another origin may read an answer. Only origins that are set get a word; none is ever
//! `*`, and no cookie is ever allowed: a page shows a key, or is one of a server without keys.

use axum::body::Body;
use axum::response::Response;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};

use crate::settings::Settings;

const METHODS: HeaderValue = HeaderValue::from_static("GET, POST, PUT, PATCH, DELETE");
/// Every header of a request that the server reads.
const REQUEST_HEADERS: HeaderValue = HeaderValue::from_static(
    "authorization, content-type, content-encoding, idempotency-key, if-match, if-none-match, last-event-id, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id, memory-spine-agent, memory-spine-delivery, memory-spine-workspace, traceparent, x-request-id",
);
/// Every header of an answer that a page has use for.
const ANSWER_HEADERS: HeaderValue = HeaderValue::from_static(
    "etag, location, mcp-session-id, retry-after, www-authenticate, x-request-id",
);
/// How long a browser need not ask again.
const REMEMBERED_S: HeaderValue = HeaderValue::from_static("600");

/// The page that asks, if it is of another origin that was set.
pub fn page_of(settings: &Settings, headers: &HeaderMap) -> Option<HeaderValue> {
    let origin = headers.get(header::ORIGIN)?;
    let text = origin.to_str().ok()?;
    let is_set = settings.origins.iter().any(|known| known.eq_ignore_ascii_case(text));
    is_set.then(|| origin.clone())
}

/// Whether a browser only asks what a page may do.
pub fn is_preflight(method: &Method, headers: &HeaderMap) -> bool {
    method == Method::OPTIONS && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

/// What a page may do: whether its key allows it is found out when it does.
pub fn preflight_answer() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, REQUEST_HEADERS);
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, REMEMBERED_S);
    response
}

/// Lets this page read the answer, and no other.
pub fn let_read(response: &mut Response, page: HeaderValue) {
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, page);
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, ANSWER_HEADERS);
    headers.append(header::VARY, HeaderValue::from_static("origin"));
}
