//! What a search index can do. It is derived: it can be deleted and built again from the store.

use spine_protocol::{MemoryId, WorkspaceName};

use crate::{Change, Filter, Priority, StoreFuture, UnixMs};

/// What is looked for.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchQuery {
    /// In the searcher's own words.
    pub text: String,
    /// Narrows before ranking, not after.
    pub filter: Filter,
    /// What counts as expired.
    pub now: UnixMs,
    /// At most so many.
    pub limit: usize,
    /// Whether hits name the parts of their scores.
    pub explain: bool,
}

/// One part of a score.
#[derive(Debug, Clone, PartialEq)]
pub struct ScorePart {
    /// Its name, such as `words` or `meaning`.
    pub name: &'static str,
    /// The figure itself, before weighting.
    pub value: f64,
    /// What it adds to the score.
    pub adds: f64,
}

/// A memory that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Which one.
    pub id: MemoryId,
    /// The version that was scored.
    pub version: u32,
    /// The time that version is about: with it and the priority a hit can be weighed before it is read.
    pub about: UnixMs,
    /// How much that version matters to its author.
    pub priority: Priority,
    /// Higher is better; comparable within one answer only.
    pub score: f64,
    /// What the score is the sum of; empty unless asked for.
    pub parts: Vec<ScorePart>,
}

/// The hits, best first, equal scores by the newer memory.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SearchAnswer {
    /// What was found.
    pub hits: Vec<Hit>,
    /// What the search had to do without, such as an embedding endpoint that is down; empty when whole.
    pub degraded: Vec<String>,
}

/// What the index is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexState {
    /// It answers in full.
    Ready,
    /// It is being built; searches wait for it or answer in part and say so.
    Building,
    /// It cannot be used; `rebuild` may help.
    Broken,
}

/// How the index stands for one workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexStatus {
    /// What it is doing.
    pub state: IndexState,
    /// The change up to which it has read.
    pub indexed: Change,
    /// The store's newest change.
    pub newest: Change,
    /// Live memories in it.
    pub memories: u64,
}

/// Finds memories by words and by meaning.
///
/// It holds a `Store` and reads `memory_changes` up to `newest_change` before every search, so that an
/// answered write is found by the next search (R12). Nobody pushes into it. Scores in one workspace do
/// not depend on any other (R11).
pub trait Retriever: Send + Sync {
    /// The best matches among the live, unexpired memories that pass the filter.
    fn search(
        &self,
        workspace: &WorkspaceName,
        query: SearchQuery,
    ) -> StoreFuture<'_, SearchAnswer>;

    /// How far the index has read.
    fn status(&self, workspace: &WorkspaceName) -> StoreFuture<'_, IndexStatus>;

    /// Reads up to the newest change and makes what was deleted or purged unreadable on disk too,
    /// before it answers. Called after a purge.
    fn erase_remnants(&self, workspace: &WorkspaceName) -> StoreFuture<'_, ()>;

    /// Throws the index away and builds it from the store.
    fn rebuild(&self) -> StoreFuture<'_, ()>;
}
