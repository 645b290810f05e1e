//! MCP over stdio as hosts meet it: the real program, a folder, and nobody who starts a server.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

mod folder;
mod host;
mod inbox;
mod lines;
mod sharing;
mod starting;
