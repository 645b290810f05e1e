//! The whole engine on the model store, with the real index, for tests and benchmarks.

use std::sync::Arc;

use spine_engine::assembly::Handoffs;
use spine_engine::memories::Memories;
use spine_engine::{Elapsed, Entropy, Timer};
use spine_retrieval::{BuiltInEmbedder, IndexOptions, SearchIndex};
use spine_store::UnixMs;
use spine_store::testing::{ManualClock, ModelStore};

/// Memories and handoffs over one store.
pub struct Engine {
    /// Storing and searching.
    pub memories: Memories,
    /// Assembling.
    pub handoffs: Handoffs,
    /// Time, which the test moves.
    pub clock: Arc<ManualClock>,
    /// The index lives here, and goes with the engine.
    _folder: tempfile::TempDir,
}

impl Engine {
    /// An empty one, in January 2026.
    #[allow(clippy::expect_used, reason = "a test without a folder for its index cannot begin")]
    pub fn new() -> Self {
        let clock = Arc::new(ManualClock::at(UnixMs(1_768_469_400_000)));
        let store = Arc::new(ModelStore::new(clock.clone()));
        let folder = tempfile::tempdir().expect("a folder for the index");
        let (embedder, options) = (Arc::new(BuiltInEmbedder), IndexOptions::default());
        let index = SearchIndex::open(folder.path(), store.clone(), embedder, options);
        let memories =
            Memories::new(store.clone(), Arc::new(index.expect("an index in a new folder")));
        let entropy = Arc::new(Entropy::from_seed([3; 32]));
        let handoffs = Handoffs::new(store, memories.clone(), entropy, Arc::new(Patience));
        Self { memories, handoffs, clock, _folder: folder }
    }
}

impl Default for Engine {
    fn default() -> Self {
        Self::new()
    }
}

/// Here the search always has the time it needs.
struct Patience;

impl Timer for Patience {
    fn after(&self, _: std::time::Duration) -> Elapsed {
        Box::pin(std::future::pending())
    }
}
