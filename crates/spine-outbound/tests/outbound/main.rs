//! The room through its public surface, against real sockets on this machine.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

mod addresses;
mod embeddings;
mod requests;
mod retries;
mod signatures;
mod slack;
mod stand_in;
mod summaries;
mod tls;
