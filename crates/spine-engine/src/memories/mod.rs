//! Memories: stored once, versioned, found again, and erased when asked.

mod answer;
mod content;
mod error;
pub mod limits;
mod plan;
mod read;
mod request;
mod validate;
mod write;

use std::sync::Arc;

use spine_store::{Retriever, Store};

pub use error::{MemoryError, MissingReason};
pub use request::{
    Deleted, Edit, Found, ListRequest, Lookup, MemoryPatch, NewMemory, SearchRequest, SearchResult,
    Stored,
};

/// Everything that can be done with memories.
#[derive(Clone)]
pub struct Memories {
    store: Arc<dyn Store>,
    retriever: Arc<dyn Retriever>,
}

impl Memories {
    /// Over a store, and an index of the same store.
    pub fn new(store: Arc<dyn Store>, retriever: Arc<dyn Retriever>) -> Self {
        Self { store, retriever }
    }
}
