//! The handoff envelope of Memory Spine: its types, its rules, its digest and its renderings.
//!
//! Pure: no I/O, no clock, no randomness. Moments, ids and salts come from outside.

mod digest;
mod id;
pub mod limits;
mod name;
mod string_type;
mod timestamp;

pub use digest::{Digest, Salt};
pub use id::{DeliveryId, EnvelopeId, MemoryId};
pub use name::{AgentName, ConstraintName, Subject, Traceparent, WorkspaceName};
pub use string_type::ParseError;
pub use timestamp::Timestamp;
