//! Delivery through its public calls, on the model store, with a clock that the test moves.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod breaker;
mod broadcast;
mod choreography;
mod damaged;
mod direct;
mod health;
mod house;
mod mixed_hour;
mod order;
mod retention;
mod review;
