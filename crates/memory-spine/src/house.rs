//! The parts that are picked: the store, the index, the source of randomness.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use spine_engine::Entropy;
use spine_outbound::OutboundError;
use spine_protocol::WorkspaceName;
use spine_retrieval::{BuiltInEmbedder, Embedder, IndexOptions, SearchIndex};
use spine_server::{Parts, TestClock};
use spine_sqlite::{Options, SqliteStore};
use spine_store::{
    Clock, ErrorKind, IndexStatus, Retriever, SearchAnswer, SearchQuery, Store, StoreError,
    StoreFuture, SystemClock,
};
use tokio::runtime::Handle;

use crate::config::Config;
use crate::outbound::EndpointEmbedder;

/// The store's name in its folder.
const STORE_FILE: &str = "spine.db";
/// The index's folder, which can be deleted at will.
const INDEX_FOLDER: &str = "index";

/// Where the store of a folder is.
pub fn store_file(data: &Path) -> PathBuf {
    data.join(STORE_FILE)
}

/// The store and its index, open.
pub struct House {
    /// The store.
    pub store: Arc<SqliteStore>,
    /// Its index.
    pub index: Arc<SearchIndex>,
    clock: Option<Arc<TestClock>>,
}

impl House {
    /// Opens the data of a folder, or begins it.
    pub fn open(config: &Config) -> Result<Self, StoreError> {
        Self::open_at(config, Arc::new(SystemClock), None)
    }

    /// The same, with a clock that tests move.
    pub fn open_with_clock(config: &Config, clock: Arc<TestClock>) -> Result<Self, StoreError> {
        Self::open_at(config, clock.clone(), Some(clock))
    }

    fn open_at(
        config: &Config,
        now: Arc<dyn Clock>,
        clock: Option<Arc<TestClock>>,
    ) -> Result<Self, StoreError> {
        let data = config.data.as_path();
        std::fs::create_dir_all(data).map_err(|error| {
            StoreError::new(ErrorKind::CannotOpen, format!("{}: {error}", data.display()))
        })?;
        let file = store_file(data);
        let store = Arc::new(SqliteStore::open_with_clock(&file, Options::default(), now)?);
        let (folder, embedder) = (data.join(INDEX_FOLDER), embedder(config)?);
        let index = SearchIndex::open(&folder, store.clone(), embedder, IndexOptions::default())?;
        Ok(Self { store, index: Arc::new(index), clock })
    }

    /// What the server is made of, without what calls out.
    pub fn parts(&self) -> Result<Parts, getrandom::Error> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed)?;
        let store: Arc<dyn Store> = self.store.clone();
        let retriever = Arc::new(OffTheWorkers(self.index.clone()));
        Ok(Parts {
            store,
            retriever,
            entropy: Arc::new(Entropy::from_seed(seed)),
            notifier: None,
            pusher: None,
            traces: None,
            clock: self.clock.clone(),
        })
    }
}

/// Whoever opens the index opens it with the same embedder: with another one it would be built anew.
fn embedder(config: &Config) -> Result<Arc<dyn Embedder>, StoreError> {
    let Some(settings) = config.embeddings.clone() else { return Ok(Arc::new(BuiltInEmbedder)) };
    let made = EndpointEmbedder::new(&config.outbound, settings);
    let unusable = |error: OutboundError| {
        StoreError::new(ErrorKind::CannotOpen, format!("embeddings: {}", error.detail()))
    };
    Ok(Arc::new(made.map_err(unusable)?))
}

/// The index computes for milliseconds, or seconds while it loads: not on a thread that answers others. So a
/// handoff that waits for a search no longer than is good can in fact go on without.
pub async fn off_the_workers<T: Send + 'static>(
    index: Arc<SearchIndex>,
    work: impl FnOnce(&SearchIndex, &Handle) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    let handle = Handle::current();
    let done = tokio::task::spawn_blocking(move || work(&index, &handle)).await;
    done.map_err(|error| StoreError::new(ErrorKind::Unavailable, error.to_string()))?
}

/// The index, for the server.
struct OffTheWorkers(Arc<SearchIndex>);

impl OffTheWorkers {
    fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&SearchIndex, &Handle) -> Result<T, StoreError> + Send + 'static,
    ) -> StoreFuture<'static, T> {
        Box::pin(off_the_workers(self.0.clone(), work))
    }
}

impl Retriever for OffTheWorkers {
    fn search(
        &self,
        workspace: &WorkspaceName,
        query: SearchQuery,
    ) -> StoreFuture<'_, SearchAnswer> {
        let workspace = workspace.clone();
        self.run(move |index, handle| handle.block_on(index.search(&workspace, query)))
    }

    fn status(&self, workspace: &WorkspaceName) -> StoreFuture<'_, IndexStatus> {
        let workspace = workspace.clone();
        self.run(move |index, handle| handle.block_on(index.status(&workspace)))
    }

    fn erase_remnants(&self, workspace: &WorkspaceName) -> StoreFuture<'_, ()> {
        let workspace = workspace.clone();
        self.run(move |index, handle| handle.block_on(index.erase_remnants(&workspace)))
    }

    fn rebuild(&self) -> StoreFuture<'_, ()> {
        self.run(move |index, handle| handle.block_on(index.rebuild()))
    }
}

/// The house of a folder, with the defaults.
#[cfg(test)]
pub fn house_in(folder: &Path) -> House {
    use crate::config::Layers;
    let flags = [("data", folder.display().to_string())];
    let layers = Layers::defaults().unwrap().with_flags(flags.into_iter()).unwrap();
    House::open(&Config::from_layers(&layers).unwrap()).unwrap()
}
