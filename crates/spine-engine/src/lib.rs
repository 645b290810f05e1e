//! Every decision of the server. A pure core turns what is known and what is asked into commands for the
//! store; a thin driver around it reads, applies, and tries again when another writer was first.
//!
//! The engine never sees HTTP, names no database, and has no clock but the store's.

pub mod assembly;
mod caller;
pub mod delivery;
mod entropy;
mod erased;
pub mod health;
mod idempotency;
pub mod lineage;
pub mod memories;
mod patience;
pub mod text;

pub use caller::Caller;
pub use entropy::Entropy;
pub use patience::{Elapsed, Timer};
