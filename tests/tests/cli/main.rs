//! The command line as people and scripts meet it: the real program against a real server.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

mod demo;
mod errors;
mod handoff;
mod help;
mod memories;
mod memory;
mod operate;
mod program;
mod tls;
mod transfer;
