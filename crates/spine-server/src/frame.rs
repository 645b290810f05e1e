//! What surrounds every request: its id, the host it was sent to, a place among the requests at work, a
//! line in the log.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderName, HeaderValue, header};

use crate::App;
use crate::access::cors;
use crate::access::host::check_host;
use crate::limits::{FULL_RETRY_AFTER_S, REQUEST_ID_BYTES_MAX};
use crate::problem::{Problem, ProblemKind};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The id of a request, as in the log and the answer.
struct RequestId(HeaderValue);

impl RequestId {
    fn as_str(&self) -> &str {
        self.0.to_str().unwrap_or_default()
    }
}

/// Lets a request through to its answer, if there is room and it was meant for this server.
pub async fn frame<F: Future<Output = Response>>(
    app: &App,
    route: Option<&'static str>,
    request: Box<Request>,
    answer: impl FnOnce(Box<Request>) -> F,
) -> Response {
    let (started, id) = (Instant::now(), request_id(request.headers()));
    let method = request.method().clone();
    let page = cors::page_of(&app.settings, request.headers());
    let is_preflight = page.is_some() && cors::is_preflight(&method, request.headers());
    let response = match check_host(&app.settings, request.uri(), request.headers()) {
        Ok(()) if is_preflight => cors::preflight_answer(),
        Ok(()) => with_room(app, request, answer).await,
        Err(problem) => problem.into_response(),
    };
    let mut response = finished(response, &id);
    if let Some(page) = page {
        cors::let_read(&mut response, page);
    }
    log(&method, route, &response, &id, started);
    response
}

/// Health is told to whoever asks, however full the server is.
async fn with_room<F: Future<Output = Response>>(
    app: &App,
    request: Box<Request>,
    answer: impl FnOnce(Box<Request>) -> F,
) -> Response {
    let is_health = request.uri().path() == "/healthz";
    let place = if is_health { None } else { Some(app.requests.try_acquire()) };
    match place.transpose() {
        Ok(_place) => answer(request).await,
        Err(_) => {
            let said = "the server works on as many requests as it takes: try again in a moment";
            Problem::new(ProblemKind::Overloaded, said)
                .retry_after(FULL_RETRY_AFTER_S)
                .into_response()
        }
    }
}

/// One that the caller brought, if it is sane, else a new one.
fn request_id(headers: &HeaderMap) -> RequestId {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    static PREFIX: LazyLock<String> = LazyLock::new(|| format!("req-{:x}-", std::process::id()));
    let is_sane = |value: &&HeaderValue| {
        let bytes = value.as_bytes();
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(byte);
        (1..=REQUEST_ID_BYTES_MAX).contains(&bytes.len()) && bytes.iter().all(is_plain)
    };
    let brought = headers.get(REQUEST_ID).filter(is_sane).cloned();
    RequestId(brought.unwrap_or_else(|| {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut made = PREFIX.clone();
        made.push_str(&number.to_string());
        HeaderValue::try_from(made).unwrap_or(HeaderValue::from_static("req"))
    }))
}

fn finished(mut response: Response, id: &RequestId) -> Response {
    // A problem names its request in the document, too; headers such as Allow stay.
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        let (named, allow) =
            (problem.of_request(id.as_str()), response.headers_mut().remove(header::ALLOW));
        response = named.into_response();
        allow.map(|allow| response.headers_mut().insert(header::ALLOW, allow));
    }
    let headers = response.headers_mut();
    headers.insert(REQUEST_ID, id.0.clone());
    // The dashboard's files say themselves how long they are good.
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Never a text, a query or a key: the route's pattern stands for the address.
fn log(
    method: &http::Method,
    route: Option<&str>,
    response: &Response,
    id: &RequestId,
    started: Instant,
) {
    let (status, id) = (response.status().as_u16(), id.as_str());
    let route = route.unwrap_or("-");
    let ms = started.elapsed().as_secs_f64() * 1e3;
    let problem = response.extensions().get::<Problem>();
    let kind = problem.map(|problem| problem.kind().slug());
    let detail = problem.and_then(Problem::for_log);
    // That nobody takes an agent's work is no failure of the server.
    let is_ours = status >= 500 && problem.map(Problem::kind) != Some(ProblemKind::CircuitOpen);
    match status {
        _ if is_ours => {
            tracing::error!(%method, route, status, ms, request_id = id, problem = kind, detail, "request failed")
        }
        400.. => {
            tracing::info!(%method, route, status, ms, request_id = id, problem = kind, detail, "request refused")
        }
        _ => tracing::debug!(%method, route, status, ms, request_id = id, "request"),
    }
}
