//! Reading memories: by id, by filter, by search.

use std::collections::HashMap;

use spine_protocol::MemoryId;
use spine_store::limits::SEARCH_HITS_MAX;
use spine_store::{
    Filter, Gone, GoneReason, Hit, ListQuery, Memory, MemoryRow, Page, PageRow, SearchAnswer,
    SearchQuery, UnixMs,
};

use super::Memories;
use super::error::{MemoryError, MissingReason};
use super::limits::{ANSWER_BYTES_MAX, GET_MEMORIES_MAX, QUERY_BYTES_MAX, READ_TOGETHER};
use super::request::{Found, ListRequest, Lookup, SearchRequest, SearchResult};
use super::validate::within;
use crate::Caller;

type Result<T> = std::result::Result<T, MemoryError>;

impl Memories {
    /// The newest version.
    pub async fn get(&self, caller: &Caller, id: MemoryId) -> Result<Memory> {
        let row = self.store.memory(&caller.workspace, id).await?;
        match lookup(id, row, self.store.now()) {
            Lookup::Found(memory) => Ok(*memory),
            Lookup::Missing(id, reason) => Err(MemoryError::missing(id, reason)),
        }
    }

    /// One version of a memory that is still there.
    pub async fn get_version(&self, caller: &Caller, id: MemoryId, version: u32) -> Result<Memory> {
        self.get(caller, id).await?;
        let found = self.store.memory_version(&caller.workspace, id, version).await?;
        found.ok_or(MemoryError::NoSuchVersion { id, version })
    }

    /// Every version of a memory that is still there, oldest first, behind `after`.
    pub async fn versions(
        &self,
        caller: &Caller,
        id: MemoryId,
        after: u32,
        limit: usize,
    ) -> Result<Page<Memory, u32>> {
        self.get(caller, id).await?;
        Ok(self.store.memory_versions(&caller.workspace, id, after, limit).await?)
    }

    /// What each id leads to, in the order asked: a memory, or a known gap. As much as one answer holds.
    pub async fn get_many(&self, caller: &Caller, ids: Vec<MemoryId>) -> Result<Vec<Lookup>> {
        within("ids", ids.len(), GET_MEMORIES_MAX, "ids")?;
        let rows = self.answerable(caller, &ids, "ids").await?;
        Ok(self.looked_up(&ids, rows))
    }

    /// The same for the engine itself, which passes on only what fits.
    pub(crate) async fn look_up(&self, caller: &Caller, ids: Vec<MemoryId>) -> Result<Vec<Lookup>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let rows = self.store.memories(&caller.workspace, ids.clone()).await?;
        Ok(self.looked_up(&ids, rows))
    }

    fn looked_up(&self, ids: &[MemoryId], rows: Vec<MemoryRow>) -> Vec<Lookup> {
        let now = self.store.now();
        let rows: HashMap<MemoryId, MemoryRow> =
            rows.into_iter().map(|row| (row.id(), row)).collect();
        ids.iter().map(|id| lookup(*id, rows.get(id).cloned(), now)).collect()
    }

    /// Reads some rows after the other, and no more of them than one answer holds.
    async fn answerable(
        &self,
        caller: &Caller,
        ids: &[MemoryId],
        field: &'static str,
    ) -> Result<Vec<MemoryRow>> {
        let (mut rows, mut bytes) = (Vec::with_capacity(ids.len()), 0);
        for some in ids.chunks(READ_TOGETHER) {
            let read = self.store.memories(&caller.workspace, some.to_vec()).await?;
            bytes += read.iter().map(PageRow::size_bytes).sum::<usize>();
            if bytes > ANSWER_BYTES_MAX {
                return Err(MemoryError::AnswerTooLarge { field, max: ANSWER_BYTES_MAX });
            }
            rows.extend(read);
        }
        Ok(rows)
    }

    /// Live memories that pass the filter, last stored first unless said otherwise.
    pub async fn list(
        &self,
        caller: &Caller,
        request: ListRequest,
    ) -> Result<Page<Memory, MemoryId>> {
        let ListRequest { filter, order, after, limit } = request;
        within("ids", filter.ids.as_ref().map_or(0, Vec::len), GET_MEMORIES_MAX, "ids")?;
        let query = ListQuery { filter, now: self.store.now(), order, after, limit };
        Ok(self.store.list_memories(&caller.workspace, query).await?)
    }

    /// The best matches. What was stored before the call is found by it (R12).
    pub async fn search(&self, caller: &Caller, request: SearchRequest) -> Result<SearchResult> {
        let (now, filter) = (self.store.now(), request.filter.clone());
        let answer = self.hits(caller, request, now).await?;
        let ids: Vec<MemoryId> = answer.hits.iter().map(|hit| hit.id).collect();
        let rows = self.answerable(caller, &ids, "limit").await?;
        let by_id = admitted(rows, &filter, now).map(|memory| (memory.id, memory)).collect();
        Ok(SearchResult { found: with_hits(answer.hits, by_id), degraded: answer.degraded })
    }

    /// The best matches, none of them read.
    pub(crate) async fn hits(
        &self,
        caller: &Caller,
        request: SearchRequest,
        now: UnixMs,
    ) -> Result<SearchAnswer> {
        within("query", request.text.len(), QUERY_BYTES_MAX, "bytes")?;
        within("limit", request.limit, SEARCH_HITS_MAX, "hits")?;
        let SearchRequest { text, filter, limit, explain } = request;
        let query = SearchQuery { text, filter, now, limit, explain };
        Ok(self.retriever.search(&caller.workspace, query).await?)
    }

    /// Reads what was found, for the engine itself.
    pub(crate) async fn admitted(
        &self,
        caller: &Caller,
        ids: Vec<MemoryId>,
        filter: &Filter,
        now: UnixMs,
    ) -> Result<Vec<Memory>> {
        let rows = self.store.memories(&caller.workspace, ids).await?;
        Ok(admitted(rows, filter, now).collect())
    }
}

/// A memory may have changed since it was scored: what no longer passes is not shown.
fn admitted(rows: Vec<MemoryRow>, filter: &Filter, now: UnixMs) -> impl Iterator<Item = Memory> {
    let memories = rows.into_iter().filter_map(into_live);
    memories.filter(move |memory| filter.admits(memory, now))
}

fn into_live(row: MemoryRow) -> Option<Memory> {
    match row {
        MemoryRow::Live(memory) => Some(*memory),
        MemoryRow::Gone(_) => None,
    }
}

fn with_hits(hits: Vec<Hit>, mut memories: HashMap<MemoryId, Memory>) -> Vec<Found> {
    let found = |hit: Hit| memories.remove(&hit.id).map(|memory| Found { memory, hit });
    hits.into_iter().filter_map(found).collect()
}

/// What a row means to a reader at this moment.
pub(super) fn lookup(id: MemoryId, row: Option<MemoryRow>, now: UnixMs) -> Lookup {
    match row {
        None => Lookup::Missing(id, MissingReason::NotFound),
        Some(MemoryRow::Gone(Gone { reason: GoneReason::Deleted, .. })) => {
            Lookup::Missing(id, MissingReason::Deleted)
        }
        Some(MemoryRow::Gone(Gone { reason: GoneReason::Purged, .. })) => {
            Lookup::Missing(id, MissingReason::Purged)
        }
        Some(MemoryRow::Live(memory)) if memory.body.is_expired(now) => {
            Lookup::Missing(id, MissingReason::Expired)
        }
        Some(MemoryRow::Live(memory)) => Lookup::Found(memory),
    }
}
