//! What a store can do.

use std::pin::Pin;
use std::sync::Arc;

use spine_protocol::{EnvelopeId, MemoryId, WorkspaceName};

use crate::limits::PAGE_ROWS_MAX;
use crate::{
    Change, Command, ContentKey, DeliveryReads, Event, EventQuery, IdempotencyKey,
    IdempotencyRecord, ListQuery, Memory, MemoryRow, Outcome, Page, RecordReads, StoreError,
    StoredEnvelope, Tally, UnixMs,
};

/// An answer that comes without naming a runtime: a simulation drives it with its own scheduler.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// Which data this is, so that what was derived from it can tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Set when the store was created.
    pub store: String,
    /// Set anew when a backup is restored: change numbers may then stand for something else.
    pub history: String,
    /// Raised durably at each open: a lease of an earlier one is void.
    pub incarnation: u64,
}

/// A workspace and how far it has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceState {
    /// Its name.
    pub name: WorkspaceName,
    /// Its newest change.
    pub newest: Change,
}

/// What a store has measured of its own work since it was opened.
#[derive(Debug, Clone, PartialEq)]
pub struct StoreStats {
    /// Seconds from the begin of a transaction to its being on disk.
    pub commit_s: Tally,
    /// Commands that were committed together.
    pub batch_commands: Tally,
    /// Transactions that failed.
    pub commits_failed: u64,
    /// Whether writes are taken.
    pub accepts_writes: bool,
}

/// Every workspace that was ever written to, by name.
pub async fn all_workspaces<S>(store: &S) -> Result<Vec<WorkspaceState>, StoreError>
where
    S: LogReads + Sync + ?Sized,
{
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = store.workspaces(after, PAGE_ROWS_MAX).await?;
        found.extend(page.items);
        after = page.next;
        if after.is_none() {
            return Ok(found);
        }
    }
}

/// Durable state that several engines may share.
///
/// Object-safe on purpose: the engine is compiled once for every store, and a test can wrap one in
/// another. The boxed future costs nothing beside the fsync it waits for.
///
/// A further kind of row brings its own migration, its own variants of `Put` and `RowKey`, and a small
/// trait of reads beside these. A claim reads what is ready and writes on top of it: where another was
/// first, its guard fails and it reads again.
pub trait Store:
    MemoryReads + EnvelopeReads + LogReads + RecordReads + DeliveryReads + Send + Sync
{
    /// Which data this is.
    fn identity(&self) -> Identity;

    /// The store's clock: the engine's only one.
    fn now(&self) -> UnixMs;

    /// Applies each command by itself and commits many together; one outcome for each, in order.
    /// An outcome is given when it is on disk. Dropping the future does not take the commands back.
    /// An error of the whole call says the same of every command in it.
    fn apply(&self, commands: Vec<Command>) -> StoreFuture<'_, Vec<Outcome>>;

    /// What it has measured; nothing where it does not measure.
    fn stats(&self) -> Option<StoreStats> {
        None
    }
}

/// Reading memories. Rows of another workspace are as rows that never existed (R11).
pub trait MemoryReads {
    /// What this id stands for now.
    fn memory(&self, workspace: &WorkspaceName, id: MemoryId)
    -> StoreFuture<'_, Option<MemoryRow>>;

    /// What these ids stand for now, in the order asked; unknown ones are left out.
    fn memories(
        &self,
        workspace: &WorkspaceName,
        ids: Vec<MemoryId>,
    ) -> StoreFuture<'_, Vec<MemoryRow>>;

    /// One version. Those of a deleted memory are still there; of a purged one, none.
    fn memory_version(
        &self,
        workspace: &WorkspaceName,
        id: MemoryId,
        version: u32,
    ) -> StoreFuture<'_, Option<Memory>>;

    /// All versions from the oldest, behind `after`.
    fn memory_versions(
        &self,
        workspace: &WorkspaceName,
        id: MemoryId,
        after: u32,
        limit: usize,
    ) -> StoreFuture<'_, Page<Memory, u32>>;

    /// The live memories that hold these keys, expired ones too.
    fn memories_by_content(
        &self,
        workspace: &WorkspaceName,
        keys: Vec<ContentKey>,
    ) -> StoreFuture<'_, Vec<(ContentKey, Memory)>>;

    /// Live memories that pass the filter.
    fn list_memories(
        &self,
        workspace: &WorkspaceName,
        query: ListQuery,
    ) -> StoreFuture<'_, Page<Memory, MemoryId>>;

    /// What was written behind `after`, in commit order, each memory once, at its newest change; marks
    /// of deleted and purged ones too.
    fn memory_changes(
        &self,
        workspace: &WorkspaceName,
        after: Change,
        limit: usize,
    ) -> StoreFuture<'_, Page<MemoryRow, Change>>;
}

/// Reading envelopes.
pub trait EnvelopeReads {
    /// One envelope.
    fn envelope(
        &self,
        workspace: &WorkspaceName,
        id: EnvelopeId,
    ) -> StoreFuture<'_, Option<StoredEnvelope>>;

    /// The envelopes of one lineage by id, behind `after`.
    fn lineage(
        &self,
        workspace: &WorkspaceName,
        root: EnvelopeId,
        after: Option<EnvelopeId>,
        limit: usize,
    ) -> StoreFuture<'_, Page<StoredEnvelope, EnvelopeId>>;
}

/// Reading what happened, and how far things are.
pub trait LogReads {
    /// The workspace's newest change: what an index must have read before it answers (R12).
    fn newest_change(&self, workspace: &WorkspaceName) -> StoreFuture<'_, Change>;

    /// Every workspace that was ever written to, by name, behind `after`.
    fn workspaces(
        &self,
        after: Option<WorkspaceName>,
        limit: usize,
    ) -> StoreFuture<'_, Page<WorkspaceState, WorkspaceName>>;

    /// What happened behind `after`, oldest first. Shared, since many follow the log and a store may remember its end.
    fn events(
        &self,
        workspace: &WorkspaceName,
        after: Change,
        limit: usize,
    ) -> StoreFuture<'_, Page<Arc<Event>, Change>>;

    /// Some of what happened, in the order asked.
    fn events_of(
        &self,
        workspace: &WorkspaceName,
        query: EventQuery,
    ) -> StoreFuture<'_, Page<Event, Change>>;

    /// The record under a key, unless its time is over.
    fn idempotency(
        &self,
        workspace: &WorkspaceName,
        key: &IdempotencyKey,
        now: UnixMs,
    ) -> StoreFuture<'_, Option<IdempotencyRecord>>;
}
