//! What a handoff carries, and what it costs. One binary, one module a subject.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

mod budget;
mod guardrails;
mod house;
mod references;
mod requests;
mod strategies;
