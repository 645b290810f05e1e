//! The handoff envelope of Memory Spine: its types, its rules, its digest and its renderings.
//!
//! Pure: no I/O, no clock, no randomness. Moments, ids and salts come from outside.
//!
//! - [`derive`] makes the next envelope from its parents; [`Unsealed::seal`] packs and closes it.
//! - [`Envelope::read`] and [`Envelope::import`] take one that somebody else made.
//! - [`render`] and [`count`] give what a model reads, and what it costs.
//! - [`verify`] tells whether a lineage is what it was.

mod constraint;
mod digest;
mod envelope;
mod erase;
mod id;
pub mod json;
pub mod limits;
mod name;
mod read;
mod render;
mod schema;
mod seal;
mod strict;
mod string_type;
mod succession;
mod timestamp;
mod tokens;
mod v1;
mod verify;
mod version;
mod wellformed;
mod word_counts;

pub use constraint::{DEADLINE, MAX_HOPS, MAX_TOKENS};
pub use digest::{Digest, Salt};
pub use envelope::*;
pub use id::{AlertId, DeliveryId, EnvelopeId, MemoryId, PublicationId, SpelledId};
pub use name::{AgentName, ConstraintName, Subject, Traceparent, WorkspaceName};
pub use read::{ReadError, digest_of, from_value};
pub use render::{Part, Piece, inert, inline, is_hidden, memory_piece, pieces, render};
pub use schema::schema;
pub use seal::{Packing, SealError, Unsealed};
pub use string_type::ParseError;
pub use succession::{
    NewConstraint, NewHistory, NewWaiver, Request, RuleError, Stamp, StateUpdate, derive,
};
pub use timestamp::Timestamp;
pub use tokens::{TokenizerError, count};
pub use v1::{Emitted, FlatEnvelope, FlatRequest, FlatStep, emit};
pub use verify::{Finding, Record, Skeleton, Verification, Witness, verify};
pub use version::{CURRENT, Major, Protocol, VersionError, negotiate};
