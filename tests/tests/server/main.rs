//! The server as its users meet it: the real program, over HTTP.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

mod access;
mod bad_input;
mod clock;
mod delivery;
mod erasure;
mod events;
mod happy;
mod health;
mod hostile;
use spine_tests::http;
mod idempotency;
mod mcp;
mod otlp;
mod outbound;
mod process;
mod prometheus;
mod stop;
mod traces;
