//! What the engine asks of a store and of a retriever, in the engine's words.
//!
//! No database is named here. A store applies guarded commands in batches and answers small typed
//! reads; a retriever is an index derived from it, which can be thrown away and rebuilt.

mod command;
mod delivery;
mod envelope;
mod error;
mod event;
mod facts;
mod filter;
mod idempotency;
pub mod limits;
mod memory;
mod page;
mod record;
mod retriever;
mod store;
mod tally;
mod time;
mod word;

#[cfg(feature = "testing")]
pub mod testing;

/// The target of spans that stand for a stage of a handoff. They are for traces alone: no log shows them.
pub const STAGE_TARGET: &str = "memory_spine::stage";

pub use command::{Applied, Change, Command, Expected, Guard, Outcome, Put, Receipt, RowKey};
pub use delivery::{Delivery, DeliveryQuery, DeliveryReads, DeliveryState, QueueState};
pub use envelope::StoredEnvelope;
pub use error::{ErrorKind, GuardFailure, StoreError};
pub use event::{Event, EventDraft, EventQuery, MemoryRef};
pub use facts::{Fact, Facts};
pub use filter::{Filter, ListQuery, Order, SubjectFilter};
pub use idempotency::{IdempotencyDraft, IdempotencyRecord};
pub use memory::{ContentKey, Gone, GoneReason, Memory, MemoryBody, MemoryDraft, MemoryRow};
pub use page::{Page, PageRow};
pub use record::{Collection, Record, RecordKey, RecordReads, all_records};
pub use retriever::{
    Hit, IndexState, IndexStatus, Retriever, ScorePart, SearchAnswer, SearchQuery,
};
pub use spine_protocol::Priority;
pub use store::{
    EnvelopeReads, Identity, LogReads, MemoryReads, Store, StoreFuture, StoreStats, WorkspaceState,
    all_workspaces,
};
pub use tally::{SHORT_TIMES_S, Tally};
pub use time::{Clock, SystemClock, UnixMs};
pub use word::{Author, IdempotencyKey, Kind, OrderKey, RecordName, Tag, ThreadName};
