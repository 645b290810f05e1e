//! A retriever that is plain enough to be believed: it reads every memory at every search.

use std::collections::BTreeSet;
use std::sync::Arc;

use spine_protocol::{MemoryId, WorkspaceName};

use crate::limits::{PAGE_ROWS_MAX, SEARCH_HITS_MAX};
use crate::{
    Change, Filter, Hit, IndexState, IndexStatus, ListQuery, Memory, Order, Retriever, ScorePart,
    SearchAnswer, SearchQuery, Store, StoreError, StoreFuture, UnixMs,
};

/// Scores by the share of the query's words that stand in title, tags and text. It keeps nothing, so it
/// has always read up to the newest change, and nothing of a purged memory remains in it.
pub struct ModelRetriever {
    store: Arc<dyn Store>,
}

impl ModelRetriever {
    /// A retriever over this store.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store }
    }

    async fn all(
        &self,
        workspace: &WorkspaceName,
        filter: Filter,
        now: UnixMs,
    ) -> Result<Vec<Memory>, StoreError> {
        let mut all = Vec::new();
        let (order, limit) = (Order::NewestFirst, PAGE_ROWS_MAX);
        let mut after: Option<MemoryId> = None;
        loop {
            let query = ListQuery { filter: filter.clone(), now, order, after, limit };
            let page = self.store.list_memories(workspace, query).await?;
            all.extend(page.items);
            after = page.next;
            if after.is_none() {
                return Ok(all);
            }
        }
    }
}

impl Retriever for ModelRetriever {
    fn search(
        &self,
        workspace: &WorkspaceName,
        query: SearchQuery,
    ) -> StoreFuture<'_, SearchAnswer> {
        let workspace = workspace.clone();
        Box::pin(async move {
            let memories = self.all(&workspace, query.filter.clone(), query.now).await?;
            let wanted = words(&query.text);
            let mut hits: Vec<Hit> =
                memories.iter().filter_map(|m| score(m, &wanted, query.explain)).collect();
            hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.id.cmp(&a.id)));
            hits.truncate(query.limit.min(SEARCH_HITS_MAX));
            Ok(SearchAnswer { hits, degraded: Vec::new() })
        })
    }

    fn status(&self, workspace: &WorkspaceName) -> StoreFuture<'_, IndexStatus> {
        let workspace = workspace.clone();
        Box::pin(async move {
            let newest: Change = self.store.newest_change(&workspace).await?;
            let all = self.all(&workspace, Filter::default(), self.store.now()).await?;
            let (state, memories) = (IndexState::Ready, all.len() as u64);
            Ok(IndexStatus { state, indexed: newest, newest, memories })
        })
    }

    fn erase_remnants(&self, _: &WorkspaceName) -> StoreFuture<'_, ()> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn rebuild(&self) -> StoreFuture<'_, ()> {
        Box::pin(std::future::ready(Ok(())))
    }
}

fn words(text: &str) -> BTreeSet<String> {
    let split = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    split.map(str::to_lowercase).collect()
}

fn score(memory: &Memory, wanted: &BTreeSet<String>, explain: bool) -> Option<Hit> {
    let mut own = words(&memory.body.text);
    own.extend(words(memory.body.title.as_deref().unwrap_or_default()));
    own.extend(memory.body.tags.iter().flat_map(|tag| words(tag.as_str())));
    let shared = wanted.intersection(&own).count();
    let score = shared as f64 / wanted.len().max(1) as f64;
    let part = ScorePart { name: "words", value: shared as f64, adds: score };
    let parts = if explain { vec![part] } else { Vec::new() };
    let (id, version, about) = (memory.id, memory.version, memory.about_at());
    let priority = memory.body.priority;
    (shared > 0).then_some(Hit { id, version, about, priority, score, parts })
}
