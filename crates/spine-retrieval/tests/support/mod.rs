//! A model store with an index over it.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use spine_protocol::{MemoryId, WorkspaceName};
use spine_retrieval::{
    BuiltInEmbedder, EmbedError, EmbedFuture, Embedder, IndexLimits, IndexOptions, SearchIndex,
};
use spine_store::testing::{ManualClock, ModelStore, block_on};
use spine_store::{
    Applied, Command, Filter, MemoryBody, MemoryDraft, Put, Retriever, SearchAnswer, SearchQuery,
    Store, UnixMs,
};
use tempfile::TempDir;

pub const NOW: UnixMs = UnixMs(1_750_000_000_000);

/// Limits so low that a handful of memories takes every way of searching.
pub const SMALL: IndexLimits = IndexLimits {
    tail_memories_max: 7,
    bulk_tail_memories_max: 11,
    direct_memories_max: 0,
    read_postings_max: u64::MAX,
    leading_memories_max: 0,
    exact_vectors_max: 0,
};

/// The same, with a bound of postings so low that most queries reach it.
pub const BOUNDED: IndexLimits =
    IndexLimits { read_postings_max: 10, leading_memories_max: 5, ..SMALL };

/// The same, with all that is written in one tail.
pub const TAIL: IndexLimits =
    IndexLimits { tail_memories_max: 1_000, bulk_tail_memories_max: 1_000, ..BOUNDED };

pub fn name(text: &str) -> WorkspaceName {
    text.parse().unwrap()
}

pub fn model_store() -> Arc<ModelStore> {
    Arc::new(ModelStore::new(Arc::new(ManualClock::at(NOW))))
}

pub fn apply(store: &ModelStore, workspace: &str, put: Put) -> Option<MemoryId> {
    let mut command = Command::new(name(workspace), store.now());
    command.puts.push(put);
    let outcome = block_on(store.apply(vec![command])).unwrap().remove(0);
    let Ok(Applied::Now(receipt)) = outcome else { return None };
    receipt.memory_id(0)
}

pub fn put(store: &ModelStore, workspace: &str, body: MemoryBody) -> MemoryId {
    apply(store, workspace, Put::NewMemory(draft(body))).unwrap()
}

pub fn draft(body: MemoryBody) -> Box<MemoryDraft> {
    Box::new(MemoryDraft { body, content: None })
}

pub fn text(text: &str) -> MemoryBody {
    MemoryBody { text: text.to_owned(), ..MemoryBody::default() }
}

pub fn query(text: &str) -> SearchQuery {
    let (text, filter) = (text.to_owned(), Filter::default());
    SearchQuery { text, filter, now: NOW, limit: 10, explain: true }
}

/// An index in a folder of its own.
pub struct Indexed {
    pub folder: TempDir,
    pub index: SearchIndex,
}

impl Indexed {
    pub fn new(store: &Arc<ModelStore>, limits: IndexLimits) -> Self {
        Self::with(store, IndexOptions { limits, ..IndexOptions::default() })
    }

    pub fn with(store: &Arc<ModelStore>, options: IndexOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let index = open_with(&folder, store, Arc::new(BuiltInEmbedder), options);
        Self { folder, index }
    }

    pub fn search(&self, workspace: &str, query: SearchQuery) -> SearchAnswer {
        block_on(self.index.search(&name(workspace), query)).unwrap()
    }

    pub fn ids(&self, workspace: &str, text: &str) -> Vec<u64> {
        let answer = self.search(workspace, query(text));
        answer.hits.iter().map(|hit| hit.id.number()).collect()
    }

    pub fn reopened(self, store: &Arc<ModelStore>, limits: IndexLimits) -> Self {
        self.reopened_with(store, IndexOptions { limits, ..IndexOptions::default() })
    }

    pub fn reopened_with(self, store: &Arc<ModelStore>, options: IndexOptions) -> Self {
        drop(self.index);
        let index = open_with(&self.folder, store, Arc::new(BuiltInEmbedder), options);
        Self { folder: self.folder, index }
    }
}

pub fn open(
    folder: &TempDir,
    store: &Arc<ModelStore>,
    embedder: Arc<dyn Embedder>,
    limits: IndexLimits,
) -> SearchIndex {
    open_with(folder, store, embedder, IndexOptions { limits, ..IndexOptions::default() })
}

fn open_with(
    folder: &TempDir,
    store: &Arc<ModelStore>,
    embedder: Arc<dyn Embedder>,
    options: IndexOptions,
) -> SearchIndex {
    SearchIndex::open(folder.path(), store.clone(), embedder, options).unwrap()
}

/// The built-in embedder under another name, which can be switched off.
pub struct Switched {
    pub on: AtomicBool,
    pub model: &'static str,
}

impl Switched {
    pub fn new(on: bool, model: &'static str) -> Arc<Self> {
        Arc::new(Self { on: AtomicBool::new(on), model })
    }
}

impl Embedder for Switched {
    fn model(&self) -> &str {
        self.model
    }

    fn dimensions(&self) -> usize {
        BuiltInEmbedder.dimensions()
    }

    fn embed(&self, texts: Vec<String>) -> EmbedFuture<'_> {
        if self.on.load(Ordering::SeqCst) {
            return BuiltInEmbedder.embed(texts);
        }
        Box::pin(std::future::ready(Err(EmbedError("the endpoint is down".to_owned()))))
    }
}

/// The built-in embedder, which counts the texts that it is given.
#[derive(Default)]
pub struct Counting {
    pub texts: AtomicUsize,
}

impl Embedder for Counting {
    fn model(&self) -> &str {
        BuiltInEmbedder.model()
    }

    fn dimensions(&self) -> usize {
        BuiltInEmbedder.dimensions()
    }

    fn embed(&self, texts: Vec<String>) -> EmbedFuture<'_> {
        self.texts.fetch_add(texts.len(), Ordering::SeqCst);
        BuiltInEmbedder.embed(texts)
    }
}
