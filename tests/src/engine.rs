//! The whole engine with the real index, for tests and benchmarks.

use std::sync::Arc;

use spine_engine::assembly::Handoffs;
use spine_engine::delivery::Deliveries;
use spine_engine::delivery::policy::Policy;
use spine_engine::memories::Memories;
use spine_engine::{Elapsed, Entropy, Timer};
use spine_retrieval::{BuiltInEmbedder, IndexOptions, SearchIndex};
use spine_sqlite::{Options, SqliteStore};
use spine_store::testing::{ManualClock, ModelStore};
use spine_store::{Store, UnixMs};

/// Memories and handoffs over one store.
pub struct Engine {
    /// Storing and searching.
    pub memories: Memories,
    /// Assembling.
    pub handoffs: Handoffs,
    /// Delivering.
    pub deliveries: Deliveries,
    /// Where everything is kept.
    pub store: Arc<dyn Store>,
    /// Time on the model store, which the test moves.
    pub clock: Arc<ManualClock>,
    /// Its files live here, and go with it.
    _folder: tempfile::TempDir,
}

#[allow(clippy::expect_used, reason = "a test without a folder for its files cannot begin")]
impl Engine {
    /// An empty one on the model store, in January 2026.
    pub fn new() -> Self {
        let clock = january();
        Self::over(Arc::new(ModelStore::new(clock.clone())), clock, folder())
    }

    /// An empty one on SQLite, for measuring, so with the machine's clock: ids of one moment are in no order, and would
    /// be written all over their indexes.
    pub fn on_sqlite() -> Self {
        let folder = folder();
        let store = SqliteStore::open(&folder.path().join("spine.db"), Options::default());
        Self::over(Arc::new(store.expect("a store in a new folder")), january(), folder)
    }

    fn over(store: Arc<dyn Store>, clock: Arc<ManualClock>, folder: tempfile::TempDir) -> Self {
        let (embedder, options) = (Arc::new(BuiltInEmbedder), IndexOptions::default());
        let index =
            SearchIndex::open(&folder.path().join("index"), store.clone(), embedder, options);
        let memories =
            Memories::new(store.clone(), Arc::new(index.expect("an index in a new folder")));
        let entropy = Arc::new(Entropy::from_seed([3; 32]));
        let timer: Arc<dyn Timer> = Arc::new(Patience);
        let handoffs =
            Handoffs::new(store.clone(), memories.clone(), entropy.clone(), timer.clone());
        let deliveries =
            Deliveries::new(store.clone(), handoffs.clone(), entropy, timer, Policy::default());
        Self { memories, handoffs, deliveries, store, clock, _folder: folder }
    }
}

fn january() -> Arc<ManualClock> {
    Arc::new(ManualClock::at(UnixMs(1_768_469_400_000)))
}

#[allow(clippy::expect_used, reason = "a test without a folder for its files cannot begin")]
fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder for store and index")
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
