//! A request's way from its connection to its answer: framed, unpacked, admitted, handled, packed. One function calls
//! the next, so that what most requests do not need costs them nothing. Each holds the request while the next one works:
//! boxed, so that it is held once.

use std::any::Any;
use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use http::{HeaderMap, HeaderValue, Method, header};
use tower::{ServiceExt, service_fn};
use tower_http::compression::Compression;
use tower_http::decompression::RequestDecompression;

use crate::App;
use crate::access::{Need, admit};
use crate::frame::frame;
use crate::problem::{Problem, ProblemKind};
use crate::route::{Admitted, Route, routes, test_routes};
use crate::router::{Found, Router, unknown_route, wrong_method};
use crate::trace::{self, traced};

/// Whoever sends a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sender {
    /// Somebody over the network: keys are asked for where there are any.
    Network,
    /// Somebody who has the data itself.
    Owner,
}

/// Everything that is served.
pub struct Site {
    app: Arc<App>,
    router: Router,
}

impl Site {
    /// The routes of the table, over the app.
    pub fn of(app: Arc<App>) -> Self {
        let for_tests = app.clock.iter().flat_map(|_| test_routes());
        let router = Router::over(routes().into_iter().chain(for_tests));
        Self { app, router }
    }

    /// Answers one request.
    pub async fn answer(&self, request: Box<Request>, sender: Sender) -> Response {
        let is_head = request.method() == Method::HEAD;
        let response = if takes_packed(request.headers()) {
            Box::pin(self.packed(request, sender)).await
        } else {
            let mut response = self.framed(request, sender).await;
            let varies = HeaderValue::from_static("accept-encoding");
            response.headers_mut().append(header::VARY, varies);
            response
        };
        if is_head { without_body(response) } else { response }
    }

    async fn packed(&self, request: Box<Request>, sender: Sender) -> Response {
        let inner = service_fn(|request| async {
            Ok::<_, Infallible>(self.framed(Box::new(request), sender).await)
        });
        match Compression::new(inner).oneshot(*request).await {
            Ok(response) => response.map(Body::new),
            Err(never) => match never {},
        }
    }

    async fn framed(&self, request: Box<Request>, sender: Sender) -> Response {
        let found = self.router.find(&request);
        let route = found.route().map(|route| route.path);
        frame(&self.app, route, request, |request| self.caught(found, request, sender)).await
    }

    /// A panic becomes an answer, and is counted.
    async fn caught(&self, found: Found, request: Box<Request>, sender: Sender) -> Response {
        let answer = AssertUnwindSafe(self.unpacked(found, request, sender)).catch_unwind().await;
        answer.unwrap_or_else(|panic| panicked(&self.app, &*panic))
    }

    /// A body is unpacked while it is read.
    async fn unpacked(&self, found: Found, request: Box<Request>, sender: Sender) -> Response {
        if !request.headers().contains_key(header::CONTENT_ENCODING) {
            return self.routed(found, request, sender).await;
        }
        let inner = service_fn(|request: http::Request<_>| {
            let found = found.clone();
            async move {
                Ok::<_, Infallible>(
                    self.routed(found, Box::new(request.map(Body::new)), sender).await,
                )
            }
        });
        let unpacking = RequestDecompression::new(inner).pass_through_unaccepted(true);
        match Box::pin(unpacking.oneshot(*request)).await {
            Ok(response) => response.map(Body::new),
            Err(never) => match never {},
        }
    }

    async fn routed(&self, found: Found, request: Box<Request>, sender: Sender) -> Response {
        let answer = match found {
            Found::Route(route, path) => self.handled(&route, path, request, sender).await,
            Found::NoText => Err(Problem::parameter("path", "expected UTF-8 behind each %")),
            Found::WrongMethod(allowed) => Ok(wrong_method(allowed)),
            Found::Nothing => Err(unknown_route()),
        };
        answer.unwrap_or_else(IntoResponse::into_response)
    }

    async fn handled(
        &self,
        route: &Route,
        path: Vec<(String, String)>,
        request: Box<Request>,
        sender: Sender,
    ) -> Result<Response, Problem> {
        let app = &self.app;
        let pass = admit(app, request.headers(), sender == Sender::Owner, route.need).await?;
        let workspace = (route.need == Need::Write).then(|| pass.caller.workspace.clone());
        let span = trace::step(app, route.id, &pass.caller, request.headers(), &path).await;
        let admitted = Admitted { app: app.clone(), pass, path, request };
        let response = traced(span, (route.run)(admitted)).await?;
        if let Some(workspace) = workspace {
            app.wake.up(&workspace);
        }
        Ok(response)
    }
}

/// Whether an answer may be compressed. Where neither that nor a plain one is wanted it is plain: to refuse is too late when
/// the request has had its effect.
fn takes_packed(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT_ENCODING).iter();
    let choices: Vec<&str> =
        values.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(',')).collect();
    let weight = |wanted: &str| {
        choices.iter().find_map(|choice| {
            let (coding, weight) = choice.split_once(';').unwrap_or((choice, ""));
            let weight = weight.trim().strip_prefix("q=").unwrap_or("1").parse::<f32>();
            coding.trim().eq_ignore_ascii_case(wanted).then(|| weight.unwrap_or_default())
        })
    };
    weight("gzip").or_else(|| weight("x-gzip")).or_else(|| weight("*")).is_some_and(|w| w > 0.0)
}

/// Answers one request without a connection, as somebody who owns the data: no key is asked for.
pub async fn answer_locally<B>(app: Arc<App>, request: http::Request<B>) -> Response
where
    B: HttpBody<Data = bytes::Bytes, Error: Into<axum::BoxError>> + Send + 'static,
{
    Site::of(app).answer(Box::new(request.map(Body::new)), Sender::Owner).await
}

/// The same answer, whose length is told and whose body is not sent.
fn without_body(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    if let Some(bytes) = body.size_hint().exact() {
        parts.headers.entry(header::CONTENT_LENGTH).or_insert(bytes.into());
    }
    Response::from_parts(parts, Body::empty())
}

fn panicked(app: &App, panic: &(dyn Any + Send)) -> Response {
    app.panics.fetch_add(1, Ordering::Relaxed);
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
    let said = "this is a defect of the server, which goes on: report it, with the request id";
    Problem::new(ProblemKind::Internal, said).logged(format!("panic: {text}")).into_response()
}
