//! Records in the model.

use std::future::ready;
use std::ops::Bound::{Excluded, Unbounded};

use spine_protocol::WorkspaceName;

use super::ModelStore;
use super::reads::answer;
use super::workspace::{Step, Undo, Workspace};
use crate::limits::{check_read_many, page_rows};
use crate::{
    Change, Collection, Expected, Page, Record, RecordKey, RecordName, RecordReads, RowKey,
    StoreError, StoreFuture, UnixMs,
};

impl Workspace {
    pub(super) fn put_record(
        &mut self,
        record: &Record,
        step: &mut Step,
    ) -> Result<(), StoreError> {
        let key = record.key.clone();
        self.expect(&RowKey::Record(key.clone()), Expected::on_top_of(record.change))?;
        self.set_record(key, Some(Record { change: self.newest, ..record.clone() }), step);
        Ok(())
    }

    pub(super) fn drop_record(
        &mut self,
        key: &RecordKey,
        change: Change,
        step: &mut Step,
    ) -> Result<(), StoreError> {
        self.expect(&RowKey::Record(key.clone()), Expected::At(change))?;
        self.set_record(key.clone(), None, step);
        Ok(())
    }

    pub(super) fn wake_record(&mut self, key: &RecordKey, at: UnixMs, step: &mut Step) {
        let Some(record) = self.records.get(key) else { return };
        let due_at = Some(record.due_at.map_or(at, |due| due.min(at)));
        let woken = Record { due_at, ..record.clone() };
        self.set_record(key.clone(), Some(woken), step);
    }

    fn set_record(&mut self, key: RecordKey, record: Option<Record>, step: &mut Step) {
        let before = match record {
            Some(record) => self.records.insert(key.clone(), record),
            None => self.records.remove(&key),
        };
        step.undo.push(Undo::Record(key, before.map(Box::new)));
    }
}

impl RecordReads for ModelStore {
    fn records(
        &self,
        workspace: &WorkspaceName,
        keys: Vec<RecordKey>,
    ) -> StoreFuture<'_, Vec<Record>> {
        let rows = self.read(workspace, |w| {
            keys.iter().filter_map(|key| w.records.get(key).cloned()).collect()
        });
        Box::pin(ready(check_read_many(keys.len()).map(|()| rows)))
    }

    fn list_records(
        &self,
        workspace: &WorkspaceName,
        collection: Collection,
        prefix: String,
        after: Option<RecordName>,
        limit: usize,
    ) -> StoreFuture<'_, Page<Record, RecordName>> {
        answer(self.read(workspace, |w| {
            let after = after.map(|name| RecordKey { collection, name });
            let later = w.records.range((after.map_or(Unbounded, Excluded), Unbounded));
            let records = later.map(|(_, record)| record).filter(|record| {
                let RecordKey { collection: of, name } = &record.key;
                *of == collection && name.as_str().starts_with(&prefix)
            });
            Page::of(records.cloned(), page_rows(limit), |record| record.key.name.clone())
        }))
    }

    fn due_records(
        &self,
        now: UnixMs,
        limit: usize,
    ) -> StoreFuture<'_, Vec<(WorkspaceName, Record)>> {
        let workspaces = self.lock();
        let all = workspaces.iter().flat_map(|(n, w)| w.records.values().map(move |r| (n, r)));
        let mut due: Vec<_> = all.filter(|(_, r)| r.due_at.is_some_and(|due| due <= now)).collect();
        due.sort_by_key(|(_, record)| record.due_at);
        let due = due.into_iter().take(page_rows(limit));
        answer(due.map(|(name, record)| (name.clone(), record.clone())).collect())
    }

    fn next_due(&self) -> StoreFuture<'_, Option<UnixMs>> {
        let workspaces = self.lock();
        let records = workspaces.values().flat_map(|w| w.records.values().map(|r| r.due_at));
        let deliveries = workspaces.values().flat_map(|w| w.deliveries.values().map(|d| d.due_at));
        answer(records.chain(deliveries).flatten().min())
    }
}
