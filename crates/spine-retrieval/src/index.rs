//! The search index: reads the store up to its newest change, then ranks.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use spine_protocol::WorkspaceName;
use spine_store::limits::{PAGE_ROWS_MAX, SEARCH_HITS_MAX};
use spine_store::{
    Change, ErrorKind, IndexState, IndexStatus, MemoryRow, Retriever, SearchAnswer, SearchQuery,
    Store, StoreError, StoreFuture, all_workspaces,
};

use crate::committed::Payload;
use crate::disk::Disk;
use crate::embedder::Embedder;
use crate::feeding::{Fresh, prepare};
use crate::limits::{EMBED_TEXTS_MAX, IndexLimits, SEARCH_RESTARTS_MAX};
use crate::loading::{adopt, is_behind, load};
use crate::narrowed::Passing;
use crate::question::Named;
use crate::ranking::Search;
use crate::recipe::Recipe;
use crate::resident::{Resident, SharedSpace};
use crate::space::{Space, SpaceOptions};
use crate::term_key::term_key;
use crate::turns::Turns;
use crate::vector::Vector;

/// How an index is to work.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct IndexOptions {
    /// How scores are made.
    pub recipe: Recipe,
    /// When which way of searching is taken.
    pub limits: IndexLimits,
}

/// Finds memories by words and by meaning: words from postings on disk, the rest from memory.
///
/// Each workspace is loaded when it is first searched. What was written since the last commit (the
/// tail) is found from memory. Nothing runs in the background by itself: call [`SearchIndex::maintain`]
/// from time to time, so that searches need not commit.
pub struct SearchIndex {
    store: Arc<dyn Store>,
    embedder: Arc<dyn Embedder>,
    options: IndexOptions,
    disk: Disk,
    resident: Mutex<Resident>,
    turns: Turns,
}

impl SearchIndex {
    /// Opens the index in a folder that may be deleted at will; begins anew where it does not fit.
    pub fn open(
        folder: &Path,
        store: Arc<dyn Store>,
        embedder: Arc<dyn Embedder>,
        options: IndexOptions,
    ) -> Result<Self, StoreError> {
        let fresh = Payload::new(&store.identity(), embedder.model());
        let disk = Disk::open(folder, fresh).map_err(|error| broken(&error))?;
        let (resident, turns) = (Mutex::default(), Turns::default());
        Ok(Self { store, embedder, options, disk, resident, turns })
    }

    /// Reads what is new, so that the next search need not. Answers whether so much came that there is more already.
    pub async fn follow(&self, workspace: &WorkspaceName) -> Result<bool, StoreError> {
        let before = self.disk.pending();
        self.current(workspace).await?;
        Ok(self.disk.pending().saturating_sub(before) >= PAGE_ROWS_MAX)
    }

    /// Reads what is new, embeds a batch of what has no vector, and commits when the tail is full. Answers how many memories
    /// still have no vector: call again while there are some and the embedder answers.
    pub async fn embed(&self, workspace: &WorkspaceName) -> Result<usize, StoreError> {
        let Some(space) = self.current(workspace).await? else { return Ok(0) };
        self.embed_batch(workspace, &space).await?;
        self.commit_from(self.options.limits.tail_memories_max, workspace, &space)?;
        Ok(reading(&space).unembedded.len())
    }

    /// The same for when writes pause: commits however little it is, unless there is more to embed. While writes keep coming,
    /// the tail may fill to its limit, since a commit costs nearly as much for a few memories as for thousands.
    pub async fn maintain(&self, workspace: &WorkspaceName) -> Result<usize, StoreError> {
        let before = self.disk.pending();
        let left = self.embed(workspace).await?;
        if left == 0 || self.disk.pending() == before {
            self.commit_from(1, workspace, &self.space(workspace).await?)?;
        }
        Ok(left)
    }

    fn space_options(&self) -> SpaceOptions {
        let (model, dimensions) = (term_key(self.embedder.model()), self.embedder.dimensions());
        let (mix, limits) = (self.options.recipe.neighbour_meaning, self.options.limits);
        SpaceOptions { model, dimensions, mix, limits }
    }

    async fn space(&self, workspace: &WorkspaceName) -> Result<SharedSpace, StoreError> {
        if let Some(space) = self.resident().get(workspace) {
            return Ok(space);
        }
        // Loading takes a while, and other workspaces are searched meanwhile.
        let turn = self.turns.of(workspace);
        let _mine = turn.lock().await;
        if let Some(space) = self.resident().get(workspace) {
            return Ok(space);
        }
        let life = self.disk.life();
        let newest = self.disk.newest_with(workspace.as_str()).map_err(|e| broken(&e))?;
        let loaded = load(workspace, life, self.space_options(), newest).map_err(|e| broken(&e))?;
        let memories = loaded.live;
        Ok(self.resident().insert(workspace, Arc::new(RwLock::new(loaded)), memories))
    }

    fn resident(&self) -> MutexGuard<'_, Resident> {
        self.resident.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The workspace, read up to the store's newest change; `None` when rebuilds keep coming between.
    async fn current(&self, workspace: &WorkspaceName) -> Result<Option<SharedSpace>, StoreError> {
        for _ in 0..SEARCH_RESTARTS_MAX {
            let space = self.space(workspace).await?;
            if self.read_up(workspace, &space).await? {
                return Ok(Some(space));
            }
            self.resident().forget(workspace, &space);
        }
        Ok(None)
    }

    /// Reads what is new as this call begins: what is written later is for those who come later. `false` when the space is of
    /// an earlier life of the index.
    async fn read_up(
        &self,
        workspace: &WorkspaceName,
        space: &SharedSpace,
    ) -> Result<bool, StoreError> {
        let (life, read) = {
            let space = reading(space);
            (space.life, space.read_to)
        };
        if life != self.disk.life() {
            return Ok(false);
        }
        let newest = self.store.newest_change(workspace).await?.0;
        if read > newest {
            // The store is older than the index: a backup was restored.
            self.begin_anew()?;
            return Ok(false);
        }
        let turn = self.turns.of(workspace);
        while reading(space).read_to < newest {
            let mine = turn.lock().await;
            if !self.read_page(workspace, space, newest).await? {
                return Ok(false);
            }
            // A commit takes as long as many pages, which others read meanwhile.
            drop(mine);
            self.commit_from(self.options.limits.bulk_tail_memories_max, workspace, space)?;
        }
        self.adopt_newest(workspace, space)?;
        Ok(true)
    }

    /// Reads a page, unless the one who had the turn before has read as far. `false` when another life has begun.
    async fn read_page(
        &self,
        workspace: &WorkspaceName,
        space: &SharedSpace,
        newest: u64,
    ) -> Result<bool, StoreError> {
        let after = reading(space).read_to;
        if after >= newest {
            return Ok(true);
        }
        let page = self.store.memory_changes(workspace, Change(after), PAGE_ROWS_MAX).await?;
        let last = page.items.last().map_or(after, |row| row.change().0);
        let to = if page.next.is_none() { last.max(newest) } else { last };
        let fresh = self.prepare(workspace, &page.items).await?;
        Ok(self.take(workspace, space, fresh, to) && self.disk.relieve().is_ok())
    }

    async fn prepare(
        &self,
        workspace: &WorkspaceName,
        rows: &[MemoryRow],
    ) -> Result<Vec<Fresh>, StoreError> {
        prepare(rows, &*self.embedder, workspace.as_str()).await
    }

    /// Takes rows into memory and on their way to disk.
    fn take(
        &self,
        workspace: &WorkspaceName,
        space: &SharedSpace,
        fresh: Vec<Fresh>,
        to: u64,
    ) -> bool {
        let mut space = writing(space);
        let after = space.read_to;
        let news = fresh.into_iter().filter(|row| row.change > after);
        let (writes, rows): (Vec<_>, Vec<_>) = news.map(|row| row.split(&space)).unzip();
        let to = to.max(after);
        if !self.disk.feed(space.life, workspace.as_str(), (after, to), writes) {
            return false;
        }
        rows.iter().for_each(|row| row.enter(&mut space));
        space.read_to = to;
        true
    }

    /// Commits when as many writes are pending.
    fn commit_from(
        &self,
        pending_min: usize,
        workspace: &WorkspaceName,
        space: &SharedSpace,
    ) -> Result<(), StoreError> {
        if self.disk.pending() < pending_min {
            return Ok(());
        }
        self.disk.commit().map_err(|error| broken(&error))?;
        self.adopt_newest(workspace, space)
    }

    fn adopt_newest(
        &self,
        workspace: &WorkspaceName,
        space: &SharedSpace,
    ) -> Result<(), StoreError> {
        if !is_behind(&reading(space), &self.disk.newest()) {
            return Ok(());
        }
        let mut space = writing(space);
        // Read again under the lock: an older commit must not replace a newer one.
        let newest = self.disk.newest();
        if space.life != self.disk.life() {
            return Ok(());
        }
        adopt(workspace, &mut space, newest).map_err(|error| broken(&error))
    }

    /// Lets go of every older commit: files that are open are not removed.
    fn adopt_everywhere(&self) -> Result<(), StoreError> {
        let all = self.resident().all();
        all.iter().try_for_each(|(workspace, space)| self.adopt_newest(workspace, space))
    }

    fn begin_anew(&self) -> Result<(), StoreError> {
        self.resident().clear();
        self.disk.clear().and_then(|()| self.disk.remove_unused()).map_err(|error| broken(&error))
    }

    /// Takes off disk what is gone from the workspace.
    async fn erase_gone(&self, workspace: &WorkspaceName) -> Result<(), StoreError> {
        for _ in 0..SEARCH_RESTARTS_MAX {
            let life = self.disk.life();
            self.current(workspace).await?;
            self.disk.erase().map_err(|error| broken(&error))?;
            // Otherwise what was to be taken off may have been forgotten before the commit.
            if self.disk.life() == life {
                return Ok(());
            }
        }
        Err(rebuilt_again_and_again())
    }

    async fn embed_batch(
        &self,
        workspace: &WorkspaceName,
        space: &SharedSpace,
    ) -> Result<(), StoreError> {
        let missing: Vec<_> = {
            let space = reading(space);
            let ids = space.unembedded.iter().take(EMBED_TEXTS_MAX);
            ids.filter_map(|number| spine_protocol::MemoryId::new(u64::from(*number))).collect()
        };
        let rows = self.store.memories(workspace, missing).await?;
        let fresh = self.prepare(workspace, &rows).await?;
        let mut space = writing(space);
        // What changed since was read, or will be, as any change is.
        let same = |row: &Fresh| space.slot(row.number).is_some_and(|s| s.change == row.change);
        let fresh = fresh.into_iter().filter(|row| row.has_vector && same(row));
        let (writes, rows): (Vec<_>, Vec<_>) = fresh.map(|row| row.split(&space)).unzip();
        let at = (space.read_to, space.read_to);
        if self.disk.feed(space.life, workspace.as_str(), at, writes) {
            rows.iter().for_each(|row| row.enter(&mut space));
        }
        Ok(())
    }

    async fn find(
        &self,
        workspace: &WorkspaceName,
        query: SearchQuery,
    ) -> Result<SearchAnswer, StoreError> {
        let Some(space) = self.current(workspace).await? else {
            return Err(rebuilt_again_and_again());
        };
        let named = Named::new(&reading(&space), &query.text);
        let mut degraded = Vec::new();
        let vector = self.query_vector(&named.rest, &mut degraded).await;
        let space = reading(&space);
        if !space.unembedded.is_empty() {
            let count = space.unembedded.len();
            degraded.push(format!("meaning: {count} memories have no vector yet"));
        }
        let passing = Passing::new(&space, &query.filter, query.now);
        let search = Search {
            space: &space,
            workspace: workspace.as_str(),
            recipe: &self.options.recipe,
            text: &query.text,
            named: &named,
            vector: vector.as_ref(),
            passing: &passing,
        };
        let hits = search.run(query.limit.min(SEARCH_HITS_MAX), query.explain);
        Ok(SearchAnswer { hits: hits.map_err(|error| broken(&error))?, degraded })
    }

    async fn query_vector(&self, text: &str, degraded: &mut Vec<String>) -> Option<Vector> {
        if self.options.recipe.meaning == 0.0 {
            return None;
        }
        let answer = self.embedder.embed(vec![text.to_owned()]).await;
        let vector = answer.map(|vectors| vectors.into_iter().next().unwrap_or_default());
        match vector {
            Ok(vector) if vector.len() == self.embedder.dimensions() => {
                Some(Vector::quantize(&vector))
            }
            Ok(_) => {
                degraded.push("meaning: the embedder gave a vector of another size".to_owned());
                None
            }
            Err(error) => {
                degraded.push(format!("meaning: {error}"));
                None
            }
        }
    }
}

impl Retriever for SearchIndex {
    fn search(
        &self,
        workspace: &WorkspaceName,
        query: SearchQuery,
    ) -> StoreFuture<'_, SearchAnswer> {
        let workspace = workspace.clone();
        Box::pin(async move { self.find(&workspace, query).await })
    }

    fn status(&self, workspace: &WorkspaceName) -> StoreFuture<'_, IndexStatus> {
        let workspace = workspace.clone();
        Box::pin(async move {
            let newest = self.store.newest_change(&workspace).await?;
            let space = self.space(&workspace).await?;
            let space = reading(&space);
            let whole = space.read_to >= newest.0 && space.unembedded.is_empty();
            let state = if whole { IndexState::Ready } else { IndexState::Building };
            let (indexed, memories) = (Change(space.read_to), space.live as u64);
            Ok(IndexStatus { state, indexed, newest, memories })
        })
    }

    fn erase_remnants(&self, workspace: &WorkspaceName) -> StoreFuture<'_, ()> {
        let workspace = workspace.clone();
        Box::pin(async move {
            self.erase_gone(&workspace).await?;
            self.adopt_everywhere()?;
            self.disk.remove_unused().map_err(|error| broken(&error))
        })
    }

    fn rebuild(&self) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            self.begin_anew()?;
            for workspace in all_workspaces(self.store.as_ref()).await? {
                self.current(&workspace.name).await?;
            }
            self.disk.commit().map_err(|error| broken(&error))
        })
    }
}

fn reading(space: &SharedSpace) -> RwLockReadGuard<'_, Space> {
    space.read().unwrap_or_else(PoisonError::into_inner)
}

fn writing(space: &SharedSpace) -> RwLockWriteGuard<'_, Space> {
    space.write().unwrap_or_else(PoisonError::into_inner)
}

fn rebuilt_again_and_again() -> StoreError {
    StoreError::new(ErrorKind::Unavailable, "the index is being rebuilt")
}

fn broken(error: &tantivy::TantivyError) -> StoreError {
    StoreError::new(ErrorKind::Unavailable, format!("the search index: {error}"))
}
