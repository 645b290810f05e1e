//! The protocol, through its public surface. One binary, one module a subject.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

mod bad_envelopes;
mod fences;
mod golden;
mod mutations;
mod random;
mod roundtrip;
mod rules;
mod schemas;
mod story;
mod tokens;
mod versions;
