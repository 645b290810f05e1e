//! An index whose searches are timed.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use spine_protocol::WorkspaceName;
use spine_store::{
    IndexStatus, Retriever, SHORT_TIMES_S, STAGE_TARGET, SearchAnswer, SearchQuery, StoreFuture,
    Tally,
};
use tracing::{Instrument, info_span};

/// The index, and how long its searches took.
pub struct Searches {
    index: Arc<dyn Retriever>,
    taken_s: Mutex<Tally>,
}

impl Searches {
    /// Of an index.
    pub fn of(index: Arc<dyn Retriever>) -> Self {
        Self { index, taken_s: Mutex::new(Tally::new(&SHORT_TIMES_S)) }
    }

    /// How long searches took, in seconds.
    pub fn taken_s(&self) -> Tally {
        // What a panic left behind is still numbers.
        self.taken_s.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, began: Instant) {
        let seconds = began.elapsed().as_secs_f64();
        self.taken_s.lock().unwrap_or_else(PoisonError::into_inner).add(seconds);
    }
}

impl Retriever for Searches {
    fn search(
        &self,
        workspace: &WorkspaceName,
        query: SearchQuery,
    ) -> StoreFuture<'_, SearchAnswer> {
        let workspace = workspace.clone();
        Box::pin(async move {
            let began = Instant::now();
            let span = info_span!(
                target: STAGE_TARGET,
                "search",
                gen_ai.operation.name = "search_memory",
                gen_ai.memory.store.id = workspace.as_str(),
            );
            let answer = self.index.search(&workspace, query).instrument(span).await;
            self.note(began);
            answer
        })
    }

    fn status(&self, workspace: &WorkspaceName) -> StoreFuture<'_, IndexStatus> {
        self.index.status(workspace)
    }

    fn erase_remnants(&self, workspace: &WorkspaceName) -> StoreFuture<'_, ()> {
        self.index.erase_remnants(workspace)
    }

    fn rebuild(&self) -> StoreFuture<'_, ()> {
        self.index.rebuild()
    }
}
