//! Whether the index that a crash left behind, read up, is the one that would be built from nothing.

use std::path::Path;
use std::sync::Arc;

use spine_protocol::WorkspaceName;
use spine_retrieval::{BuiltInEmbedder, IndexLimits, IndexOptions, SearchIndex};
use spine_store::testing::block_on;
use spine_store::{
    ErrorKind, Filter, MemoryRow, Retriever, SearchQuery, Store, StoreError, UnixMs,
};

/// Limits so low that commits come often, and a few memories are searched as many would be.
pub const CRASHED_LIMITS: IndexLimits = IndexLimits {
    tail_memories_max: 40,
    bulk_tail_memories_max: 160,
    direct_memories_max: 0,
    read_postings_max: u64::MAX,
    leading_memories_max: 0,
    exact_vectors_max: 0,
};
/// Memories whose own beginnings are searched for, besides the words that many share.
const ASKED_MEMORIES: usize = 20;
const ASKED_CHARS: usize = 60;
const HITS: usize = 50;

/// What is left of an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexVerdict {
    /// Changes that were in it before the store was read again.
    pub kept: u64,
    /// Searches that were answered otherwise than by an index built from nothing.
    pub differing: usize,
}

/// Opens an index with limits under which it is crashed.
pub fn open_crashed(folder: &Path, store: Arc<dyn Store>) -> Result<SearchIndex, StoreError> {
    let options = IndexOptions { limits: CRASHED_LIMITS, ..IndexOptions::default() };
    SearchIndex::open(folder, store, Arc::new(BuiltInEmbedder), options)
}

/// Compares the index in a folder with one that is built from nothing.
pub fn compare_with_rebuilt(
    folder: &Path,
    store: &Arc<dyn Store>,
    workspace: &WorkspaceName,
    rows: &[MemoryRow],
) -> Result<IndexVerdict, StoreError> {
    let no_room = |error| StoreError::new(ErrorKind::Unavailable, format!("no folder: {error}"));
    let empty = tempfile::tempdir().map_err(no_room)?;
    let rebuilt = open_crashed(empty.path(), store.clone())?;
    let left = open_crashed(folder, store.clone())?;
    let kept = block_on(left.status(workspace))?.indexed.0;
    let mut differing = 0;
    for text in asked(rows) {
        let ask = |index: &SearchIndex| block_on(index.search(workspace, query(&text)));
        differing += usize::from(ask(&left)? != ask(&rebuilt)?);
    }
    let counts = [&left, &rebuilt].map(|index| block_on(index.status(workspace)));
    let [left, rebuilt] = counts;
    differing += usize::from(left? != rebuilt?);
    Ok(IndexVerdict { kept, differing })
}

fn asked(rows: &[MemoryRow]) -> Vec<String> {
    let texts = rows.iter().filter_map(MemoryRow::live).map(|memory| &memory.body.text);
    let step = rows.len().div_ceil(ASKED_MEMORIES).max(1);
    let own = texts.step_by(step).map(|text| text.chars().take(ASKED_CHARS).collect());
    own.chain(["the customer's refund".to_owned(), "order waits".to_owned()]).collect()
}

fn query(text: &str) -> SearchQuery {
    let (text, filter) = (text.to_owned(), Filter::default());
    SearchQuery { text, filter, now: UnixMs(0), limit: HITS, explain: true }
}
