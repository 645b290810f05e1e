//! Reading the model.

use std::collections::BTreeMap;
use std::future::ready;
use std::ops::Bound::{self, Excluded, Unbounded};
use std::sync::Arc;

use spine_protocol::{EnvelopeId, MemoryId, WorkspaceName};

use super::ModelStore;
use super::workspace::{Entry, Workspace};
use crate::limits::{check_read_many, page_rows};
use crate::{
    Change, ContentKey, EnvelopeReads, Event, EventQuery, IdempotencyKey, IdempotencyRecord,
    ListQuery, LogReads, Memory, MemoryReads, MemoryRow, Order, Page, StoreFuture, StoredEnvelope,
    UnixMs, WorkspaceState,
};

pub(super) fn answer<'a, T: Send + 'a>(value: T) -> StoreFuture<'a, T> {
    Box::pin(ready(Ok(value)))
}

impl MemoryReads for ModelStore {
    fn memory(
        &self,
        workspace: &WorkspaceName,
        id: MemoryId,
    ) -> StoreFuture<'_, Option<MemoryRow>> {
        answer(self.read(workspace, |w| w.memories.get(&id).map(|entry| entry.row.clone())))
    }

    fn memories(
        &self,
        workspace: &WorkspaceName,
        ids: Vec<MemoryId>,
    ) -> StoreFuture<'_, Vec<MemoryRow>> {
        let rows = self.read(workspace, |w| {
            ids.iter().filter_map(|id| w.memories.get(id).map(|entry| entry.row.clone())).collect()
        });
        Box::pin(ready(check_read_many(ids.len()).map(|()| rows)))
    }

    fn memory_version(
        &self,
        workspace: &WorkspaceName,
        id: MemoryId,
        version: u32,
    ) -> StoreFuture<'_, Option<Memory>> {
        answer(self.read(workspace, |w| versions(w, id).find(|m| m.version == version).cloned()))
    }

    fn memory_versions(
        &self,
        workspace: &WorkspaceName,
        id: MemoryId,
        after: u32,
        limit: usize,
    ) -> StoreFuture<'_, Page<Memory, u32>> {
        answer(self.read(workspace, |w| {
            let later = versions(w, id).filter(|memory| memory.version > after);
            Page::of(later.cloned(), page_rows(limit), |memory| memory.version)
        }))
    }

    fn memories_by_content(
        &self,
        workspace: &WorkspaceName,
        keys: Vec<ContentKey>,
    ) -> StoreFuture<'_, Vec<(ContentKey, Memory)>> {
        let rows = self.read(workspace, |w| {
            let held = |key: &ContentKey| {
                let entry = w.memories.get(w.by_content.get(key)?)?;
                Some((*key, entry.row.live()?.clone()))
            };
            keys.iter().filter_map(held).collect()
        });
        Box::pin(ready(check_read_many(keys.len()).map(|()| rows)))
    }

    fn list_memories(
        &self,
        workspace: &WorkspaceName,
        query: ListQuery,
    ) -> StoreFuture<'_, Page<Memory, MemoryId>> {
        answer(self.read(workspace, |w| listed(w, &query)))
    }

    fn memory_changes(
        &self,
        workspace: &WorkspaceName,
        after: Change,
        limit: usize,
    ) -> StoreFuture<'_, Page<MemoryRow, Change>> {
        answer(self.read(workspace, |w| {
            let ids = w.by_change.range((Excluded(after), Unbounded)).map(|(_, id)| id);
            let rows = ids.filter_map(|id| w.memories.get(id).map(|entry| entry.row.clone()));
            Page::of(rows, page_rows(limit), MemoryRow::change)
        }))
    }
}

fn versions(workspace: &Workspace, id: MemoryId) -> impl Iterator<Item = &Memory> {
    let entry = workspace.memories.get(&id).map(|entry| -> &Entry { entry });
    entry.into_iter().flat_map(|entry| entry.older.iter().chain(entry.row.live()))
}

fn listed(workspace: &Workspace, query: &ListQuery) -> Page<Memory, MemoryId> {
    let after = query.after.map_or(Unbounded, Excluded);
    let entries = in_order(&workspace.memories, after, query.order == Order::NewestFirst);
    let live = entries.filter_map(|entry| entry.row.live());
    let admitted = live.filter(|memory| query.filter.admits(memory, query.now));
    Page::of(admitted.cloned(), page_rows(query.limit), |memory| memory.id)
}

/// The rows behind one, upwards or downwards.
pub(super) fn in_order<K: Ord, T>(
    rows: &BTreeMap<K, T>,
    after: Bound<K>,
    newest_first: bool,
) -> Box<dyn Iterator<Item = &T> + '_> {
    match newest_first {
        true => Box::new(rows.range((Unbounded, after)).rev().map(|(_, row)| row)),
        false => Box::new(rows.range((after, Unbounded)).map(|(_, row)| row)),
    }
}

impl EnvelopeReads for ModelStore {
    fn envelope(
        &self,
        workspace: &WorkspaceName,
        id: EnvelopeId,
    ) -> StoreFuture<'_, Option<StoredEnvelope>> {
        answer(self.read(workspace, |w| w.envelopes.get(&id).cloned()))
    }

    fn lineage(
        &self,
        workspace: &WorkspaceName,
        root: EnvelopeId,
        after: Option<EnvelopeId>,
        limit: usize,
    ) -> StoreFuture<'_, Page<StoredEnvelope, EnvelopeId>> {
        answer(self.read(workspace, |w| {
            let later = w.envelopes.range((after.map_or(Unbounded, Excluded), Unbounded));
            let of_root = later.map(|(_, envelope)| envelope).filter(|e| e.root == root);
            Page::of(of_root.cloned(), page_rows(limit), |envelope| envelope.id)
        }))
    }
}

impl LogReads for ModelStore {
    fn newest_change(&self, workspace: &WorkspaceName) -> StoreFuture<'_, Change> {
        answer(self.read(workspace, |w| w.newest))
    }

    fn workspaces(
        &self,
        after: Option<WorkspaceName>,
        limit: usize,
    ) -> StoreFuture<'_, Page<WorkspaceState, WorkspaceName>> {
        let workspaces = self.lock();
        let later = workspaces.range((after.map_or(Unbounded, Excluded), Unbounded));
        let written = later.filter(|(_, w)| w.newest > Change::ZERO);
        let states =
            written.map(|(name, w)| WorkspaceState { name: name.clone(), newest: w.newest });
        answer(Page::of(states, page_rows(limit), |state| state.name.clone()))
    }

    fn events(
        &self,
        workspace: &WorkspaceName,
        after: Change,
        limit: usize,
    ) -> StoreFuture<'_, Page<Arc<Event>, Change>> {
        answer(self.read(workspace, |w| {
            let later = w.events.range((Excluded(after), Unbounded));
            let later = later.map(|(_, event)| Arc::new(event.clone()));
            Page::of(later, page_rows(limit), |event| event.change)
        }))
    }

    fn events_of(
        &self,
        workspace: &WorkspaceName,
        query: EventQuery,
    ) -> StoreFuture<'_, Page<Event, Change>> {
        let page = self.read(workspace, |w| listed_events(w, &query));
        Box::pin(ready(check_read_many(query.envelopes.len()).map(|()| page)))
    }

    fn idempotency(
        &self,
        workspace: &WorkspaceName,
        key: &IdempotencyKey,
        now: UnixMs,
    ) -> StoreFuture<'_, Option<IdempotencyRecord>> {
        answer(self.read(workspace, |w| {
            w.idempotency.get(key).filter(|record| now < record.kept_until).cloned()
        }))
    }
}

fn listed_events(workspace: &Workspace, query: &EventQuery) -> Page<Event, Change> {
    let after = if query.after == Change::ZERO { Unbounded } else { Excluded(query.after) };
    let events = in_order(&workspace.events, after, query.newest_first);
    let admitted = events.filter(|event| query.admits(event));
    Page::of(admitted.cloned(), page_rows(query.limit), |event| event.change)
}
