//! Chains of agents, through the real engine, index and all.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod survival;
