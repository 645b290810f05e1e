//! HTTP over the engine: the only room that knows axum, keys, origins and limits.
//!
//! [`routes`] is the table of everything that can be asked. [`Server`] serves it.

pub mod access;
mod app;
mod dashboard;
mod drive;
mod frame;
pub mod limits;
pub mod mcp;
pub mod metrics;
#[allow(missing_docs, reason = "each is described by its line in the table of routes")]
mod operations;
mod patience;
mod presence;
mod problem;
mod push;
mod receive;
mod retention;
mod route;
mod router;
mod searches;
mod serve;
mod settings;
mod site;
mod test_clock;
mod tls;
mod trace;
mod wake;
mod watch;
mod wire;

pub use app::{App, Parts};
pub use problem::{Problem, ProblemKind};
pub use push::{BadWebhook, Push, Pushed, Pusher, Pushing};
pub use route::{Route, openapi, routes, test_routes};
pub use serve::{ServeError, Server};
pub use settings::{Settings, TlsFiles};
pub use site::answer_locally;
pub use test_clock::TestClock;
pub use tls::{TlsError, check_tls};
pub use trace::Traces;
pub use watch::{Message, Notifier, Telling, Told};
