//! From the table of routes to a service.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::Router;
use axum::body::Body;
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{RawPathParams, State};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter, on};
use http::Request;
use tower::ServiceExt;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::decompression::RequestDecompressionLayer;

use crate::App;
use crate::access::{Need, Owner, admit};
use crate::frame::frame;
use crate::problem::{Problem, ProblemKind};
use crate::route::{Admitted, Route, routes, test_routes};
use crate::trace::{self, traced};

/// Everything that is served.
pub fn router(app: Arc<App>) -> Router {
    let mut router: Router<Arc<App>> = Router::new();
    let for_tests = app.clock.iter().flat_map(|_| test_routes());
    for route in routes().into_iter().chain(for_tests) {
        router = router.route(route.path, served(route));
    }
    let caught = app.clone();
    router
        .fallback(|| async { unknown_route() })
        .method_not_allowed_fallback(|| async { wrong_method() })
        // Innermost first: a body is unpacked before it is read, a panic becomes an answer that is framed.
        .layer(RequestDecompressionLayer::new().pass_through_unaccepted(true))
        .layer(CatchPanicLayer::custom(move |panic: Box<dyn Any + Send>| {
            panicked(&caught, &*panic)
        }))
        .layer(from_fn_with_state(app.clone(), frame))
        .layer(CompressionLayer::new())
        .with_state(app)
}

/// Answers one request without a connection, as somebody who owns the data: no key is asked for.
pub async fn answer_locally<B>(app: Arc<App>, request: Request<B>) -> Response
where
    B: hyper::body::Body<Data = bytes::Bytes, Error: Into<axum::BoxError>> + Send + 'static,
{
    let mut request = request.map(Body::new);
    request.extensions_mut().insert(Owner);
    match router(app).oneshot(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

fn served(route: Route) -> MethodRouter<Arc<App>> {
    // The table has only methods that a filter knows.
    let filter = MethodFilter::try_from(route.method.clone()).unwrap_or(MethodFilter::GET);
    let route = Arc::new(route);
    on(
        filter,
        move |State(app): State<Arc<App>>,
              params: Result<RawPathParams, RawPathParamsRejection>,
              request: Request<Body>| {
            let route = route.clone();
            async move {
                let answer = match params {
                    Ok(params) => answer(&route, app, &params, request).await,
                    Err(error) => Err(Problem::parameter("path", &error.body_text())),
                };
                answer.unwrap_or_else(IntoResponse::into_response)
            }
        },
    )
}

async fn answer(
    route: &Route,
    app: Arc<App>,
    params: &RawPathParams,
    request: Request<Body>,
) -> Result<Response, Problem> {
    let is_owner = request.extensions().get::<Owner>().is_some();
    let pass = admit(&app, request.headers(), is_owner, route.need).await?;
    let named = params.iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
    let path: Vec<(String, String)> = named.collect();
    let workspace = (route.need == Need::Write).then(|| pass.caller.workspace.clone());
    let span = trace::step(&app, route.id, &pass.caller, request.headers(), &path).await;
    let admitted = Admitted { app: app.clone(), pass, path, request };
    let response = traced(span, (route.run)(admitted)).await?;
    if let Some(workspace) = workspace {
        app.wake.up(&workspace);
    }
    Ok(response)
}

/// Nobody is told what other servers have.
pub(crate) fn unknown_route() -> Problem {
    let said = "there is nothing here: /openapi.json lists every address";
    Problem::new(ProblemKind::RouteUnknown, said)
}

fn wrong_method() -> Problem {
    let said =
        "this address takes other methods: /openapi.json lists them, and so does the header Allow";
    Problem::new(ProblemKind::MethodNotAllowed, said)
}

fn panicked(app: &App, panic: &(dyn Any + Send)) -> Response {
    app.panics.fetch_add(1, Ordering::Relaxed);
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
    let said = "this is a defect of the server, which goes on: report it, with the request id";
    Problem::new(ProblemKind::Internal, said).logged(format!("panic: {text}")).into_response()
}
