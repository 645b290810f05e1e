//! The embedded store: one SQLite file, one writer that commits in groups, a pool of readers.
//!
//! A write is answered after the fsync that covers it. No SQL leaves this crate.

mod backup;
mod check;
mod connection;
mod error;
mod event_tails;
mod file_lock;
mod gathered_log;
mod identity;
mod measure;
mod migrations;
mod options;
mod queue;
mod readers;
mod reads;
mod recent;
mod reply;
mod row;
mod store;
mod writer;

pub use check::CheckDepth;
pub use options::{Durability, Options};
pub use store::SqliteStore;
