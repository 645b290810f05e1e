//! One way to make a route: a line in the table, a function from a typed call to a typed answer. What the
//! description of the API says of it comes from those types.

mod input;
mod openapi;
mod output;
mod table;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use http::{HeaderMap, Method};
use spine_engine::Caller;

use crate::App;
use crate::access::{Need, Pass};
use crate::problem::Problem;
use crate::receive::receive_body;
pub use input::Input;
use input::{Shape, is_nothing, read_address, read_body};
pub use openapi::openapi;
pub use output::{Created, JSON, Json, Output, bytes_response};
pub use table::{routes, test_routes};

/// What a handler is given: who asks, and what was sent. A part that is `()` is not sent.
pub struct Call<P, Q, B> {
    /// Everything the server has.
    pub app: Arc<App>,
    /// Who asks, and what the key allows.
    pub pass: Pass,
    /// From the address.
    pub path: P,
    /// From behind the question mark.
    pub query: Q,
    /// The body.
    pub body: B,
    /// As they were sent.
    pub headers: HeaderMap,
}

impl<P, Q, B> Call<P, Q, B> {
    /// Who asks, as the engine knows it.
    pub fn caller(&self) -> &Caller {
        &self.pass.caller
    }
}

/// A request that has been let in, not yet read.
pub struct Admitted {
    /// Everything the server has.
    pub app: Arc<App>,
    /// Who asks.
    pub pass: Pass,
    /// The named parts of the path.
    pub path: Vec<(String, String)>,
    /// The rest.
    pub request: Box<Request<Body>>,
}

type Answering = Pin<Box<dyn Future<Output = Result<Response, Problem>> + Send>>;
type Run = Arc<dyn Fn(Admitted) -> Answering + Send + Sync>;

/// One route: where it is, who may use it, what it does, and how it is described.
#[derive(Clone)]
pub struct Route {
    /// Its method.
    pub method: Method,
    /// Its address, with names in braces.
    pub path: &'static str,
    /// What a key must allow. A route cannot be made without.
    pub need: Need,
    /// Its name in the description, and in logs.
    pub id: &'static str,
    /// What it does: a line, and where needed more after it.
    pub says: &'static str,
    /// Whether the description of the API has it: another protocol describes itself.
    pub is_described: bool,
    pub(crate) run: Run,
    pub(crate) describe: openapi::Describe,
}

impl Route {
    /// A route, with everything that can be known of it from its handler's types.
    pub fn new<P, Q, B, A, F, Fut>(
        (method, path): (Method, &'static str),
        need: Need,
        id: &'static str,
        says: &'static str,
        handler: F,
    ) -> Self
    where
        P: Input,
        Q: Input,
        B: Input,
        A: Output,
        F: Fn(Call<P, Q, B>) -> Fut + Clone + Send + Sync + 'static,
        Fut: Future<Output = Result<A, Problem>> + Send + 'static,
    {
        let shapes = Arc::new((Shape::of::<P>(), Shape::of::<Q>(), Shape::of::<B>()));
        let run = move |admitted: Admitted| -> Answering {
            let (handler, shapes) = (handler.clone(), shapes.clone());
            Box::pin(async move { handler(read_call(admitted, &shapes).await?).await?.respond() })
        };
        let describe = openapi::describe::<P, Q, B, A>;
        Self { method, path, need, id, says, is_described: true, run: Arc::new(run), describe }
    }
}

impl Route {
    /// The same route, left out of the description of the API.
    #[must_use]
    pub fn undescribed(self) -> Self {
        Self { is_described: false, ..self }
    }
}

async fn read_call<P: Input, Q: Input, B: Input>(
    admitted: Admitted,
    (path, query, body): &(Shape, Shape, Shape),
) -> Result<Call<P, Q, B>, Problem> {
    let Admitted { app, pass, path: named, request } = admitted;
    let path = read_address(path, named.into_iter())?;
    let asked = request.uri().query().unwrap_or_default();
    let query = read_address(query, form_urlencoded::parse(asked.as_bytes()).into_owned())?;
    let (parts, sent) = request.into_parts();
    let body = if is_nothing::<B>() {
        read_body(body, b"null")?
    } else {
        let bytes = receive_body(&app, &parts.headers, sent).await?;
        read_body(body, &bytes)?
    };
    Ok(Call { app, pass, path, query, body, headers: parts.headers })
}
