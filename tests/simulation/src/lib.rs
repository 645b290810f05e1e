//! A deterministic simulation of delivery.
//!
//! One seed drives everything: who is polled next, how time passes, which calls of the store are refused, slow or of unknown
//! outcome, which server or client dies or sleeps, and what everybody asks for. Every command that reaches the disk is looked at by
//! [`watch`], which compares what happened with what must never happen. A seed that fails is run again with a trace.

pub mod actors;
pub mod calls;
pub mod disk;
pub mod mutation;
pub mod run;
pub mod scheduler;
pub mod store;
pub mod watch;
pub mod world;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What is behind a mutex. One thread runs a whole simulation, so nobody else can have it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
