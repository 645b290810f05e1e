//! Every decision of the server. A pure core turns what is known and what is asked into commands for the
//! store; a thin driver around it reads, applies, and tries again when another writer was first.
//!
//! The engine never sees HTTP, names no database, and has no clock but the store's.

mod caller;
pub mod memories;

pub use caller::Caller;
