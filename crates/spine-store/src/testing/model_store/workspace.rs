//! One workspace of the model: maps, and an undo list that makes a command atomic.

use std::collections::BTreeMap;
use std::sync::Arc;

use spine_protocol::{DeliveryId, EnvelopeId, MemoryId};

use crate::{
    Applied, Change, Command, ContentKey, Delivery, ErrorKind, Event, EventDraft, Expected, Gone,
    GoneReason, Guard, IdempotencyDraft, IdempotencyKey, IdempotencyRecord, Memory, MemoryDraft,
    MemoryRow, Outcome, Put, Receipt, Record, RecordKey, RowKey, StoreError, StoredEnvelope,
    UnixMs,
};

/// A memory with all that belongs to it.
#[derive(Clone)]
pub(super) struct Entry {
    pub(super) row: MemoryRow,
    pub(super) content: Option<ContentKey>,
    /// Versions that were replaced, oldest first.
    pub(super) older: Vec<Memory>,
}

#[derive(Default)]
pub(super) struct Workspace {
    pub(super) newest: Change,
    newest_memory: u64,
    pub(super) memories: BTreeMap<MemoryId, Arc<Entry>>,
    pub(super) by_content: BTreeMap<ContentKey, MemoryId>,
    pub(super) by_change: BTreeMap<Change, MemoryId>,
    pub(super) envelopes: BTreeMap<EnvelopeId, StoredEnvelope>,
    pub(super) events: BTreeMap<Change, Event>,
    pub(super) idempotency: BTreeMap<IdempotencyKey, IdempotencyRecord>,
    pub(super) records: BTreeMap<RecordKey, Record>,
    pub(super) deliveries: BTreeMap<DeliveryId, Delivery>,
}

/// What to put back when a command fails halfway.
pub(super) enum Undo {
    Memory(MemoryId, Option<Arc<Entry>>),
    Envelope(EnvelopeId, Option<Box<StoredEnvelope>>),
    Idempotency(IdempotencyKey, IdempotencyRecord),
    Record(RecordKey, Option<Box<Record>>),
    Delivery(DeliveryId, Option<Box<Delivery>>),
    Event(Box<Event>),
}

/// A command under way.
pub(super) struct Step {
    pub(super) at: UnixMs,
    receipt: Receipt,
    pub(super) undo: Vec<Undo>,
}

impl Workspace {
    pub(super) fn apply(&mut self, command: &Command) -> Outcome {
        if let Some(record) = self.known(command) {
            return Ok(Applied::Before(Box::new(record)));
        }
        for guard in &command.guards {
            guard.check(self.found(&guard.key))?;
        }
        let counters = (self.newest, self.newest_memory);
        let receipt = self.empty_receipt();
        let mut step = Step { at: command.at, receipt, undo: Vec::new() };
        let written = self.write(command, &mut step);
        if written.is_err() {
            (self.newest, self.newest_memory) = counters;
            self.undo(step.undo);
        }
        written.map(|()| Applied::Now(step.receipt))
    }

    fn known(&self, command: &Command) -> Option<IdempotencyRecord> {
        let draft = command.idempotency.as_ref()?;
        self.idempotency.get(&draft.key).filter(|known| command.at < known.kept_until).cloned()
    }

    fn empty_receipt(&self) -> Receipt {
        Receipt { first_change: Change(self.newest.0 + 1), first_memory: None, memories: 0 }
    }

    fn found(&self, key: &RowKey) -> Option<(Change, bool)> {
        let memory = |id: &MemoryId| {
            self.memories.get(id).map(|entry| (entry.row.change(), entry.row.live().is_some()))
        };
        match key {
            RowKey::Memory(id) => memory(id),
            RowKey::Content(key) => self.by_content.get(key).and_then(memory),
            RowKey::Envelope(id) => {
                self.envelopes.get(id).map(|found| (found.change, !found.pruned))
            }
            RowKey::Lineage(root) => self.newest_of_lineage(*root).map(|change| (change, true)),
            RowKey::Record(key) => self.records.get(key).map(|found| (found.change, true)),
            RowKey::Delivery(id) => self.deliveries.get(id).map(|found| (found.change, true)),
        }
    }

    fn newest_of_lineage(&self, root: EnvelopeId) -> Option<Change> {
        let envelopes = self.envelopes.values().filter(|envelope| envelope.root == root);
        let deliveries = self.deliveries.values().filter(|delivery| delivery.root == root);
        let changes = envelopes.map(|envelope| envelope.change);
        changes.chain(deliveries.map(|delivery| delivery.change)).max()
    }

    pub(super) fn expect(&self, key: &RowKey, expected: Expected) -> Result<(), StoreError> {
        Guard { key: key.clone(), expected }.check(self.found(key))
    }

    fn write(&mut self, command: &Command, step: &mut Step) -> Result<(), StoreError> {
        for put in &command.puts {
            self.newest.0 += 1;
            self.put(put, step)?;
        }
        for draft in &command.events {
            self.newest.0 += 1;
            let event = self.event(draft, step);
            self.events.insert(event.change, event);
        }
        if let Some(draft) = &command.idempotency {
            self.idempotency.insert(draft.key.clone(), record(draft, step.receipt));
        }
        Ok(())
    }

    fn put(&mut self, put: &Put, step: &mut Step) -> Result<(), StoreError> {
        match put {
            Put::NewMemory(draft) => self.new_memory(draft, step),
            Put::ReviseMemory(id, draft) => self.revise(*id, draft, step),
            Put::PinMemory(id, pinned) => self.touch(*id, step, |entry, mut memory| {
                memory.body.pinned = *pinned;
                entry.row = MemoryRow::Live(Box::new(memory));
            }),
            Put::ReleaseContent(id) => self.touch(*id, step, |entry, memory| {
                entry.content = None;
                entry.row = MemoryRow::Live(Box::new(memory));
            }),
            Put::DeleteMemory(id) => self.touch(*id, step, |entry, memory| {
                let gone = gone(memory.id, memory.version + 1, GoneReason::Deleted, &memory);
                let replaced = std::mem::replace(&mut entry.row, MemoryRow::Gone(gone));
                entry.older.extend(replaced.live().cloned());
                entry.content = None;
            }),
            Put::PurgeMemory(id) => self.purge(*id, step),
            Put::NewEnvelope(envelope) => self.new_envelope(envelope, step),
            Put::ForgetIdempotency { until, rows_max } => {
                self.forget_idempotency(*until, *rows_max, step);
                Ok(())
            }
            Put::ForgetEvents { until, rows_max } => {
                self.forget_events(*until, *rows_max, step);
                Ok(())
            }
            Put::EraseEventReasons(id) => {
                self.erase_event_reasons(*id, step);
                Ok(())
            }
            Put::PruneEnvelope(id, skeleton) => self.rewrite_envelope(*id, skeleton, true, step),
            Put::EraseEnvelopeTexts(id, bytes) => self.rewrite_envelope(*id, bytes, false, step),
            _ => self.put_state(put, step),
        }
    }

    fn put_state(&mut self, put: &Put, step: &mut Step) -> Result<(), StoreError> {
        match put {
            Put::Record(record) => self.put_record(record, step),
            Put::DropRecord(key, change) => self.drop_record(key, *change, step),
            Put::WakeRecord(key, at) => {
                self.wake_record(key, *at, step);
                Ok(())
            }
            Put::Delivery(delivery) => self.put_delivery(delivery, step),
            Put::DropDelivery(id, change) => self.drop_delivery(*id, *change, step),
            _ => Ok(()),
        }
    }

    fn new_memory(&mut self, draft: &MemoryDraft, step: &mut Step) -> Result<(), StoreError> {
        self.expect_content_free(draft.content, None)?;
        self.newest_memory += 1;
        let beyond = || StoreError::new(ErrorKind::TooLarge, "no memory numbers left");
        let id = MemoryId::new(self.newest_memory).ok_or_else(beyond)?;
        step.receipt.first_memory.get_or_insert(id);
        step.receipt.memories += 1;
        let (created_at, updated_at, change) = (step.at, step.at, self.newest);
        let body = draft.body.clone();
        let memory = Memory { id, version: 1, change, created_at, updated_at, body };
        let row = MemoryRow::Live(Box::new(memory));
        self.set(id, Entry { row, content: draft.content, older: Vec::new() }, step);
        Ok(())
    }

    fn revise(
        &mut self,
        id: MemoryId,
        draft: &MemoryDraft,
        step: &mut Step,
    ) -> Result<(), StoreError> {
        self.expect_content_free(draft.content, Some(id))?;
        self.touch(id, step, |entry, mut memory| {
            memory.version += 1;
            memory.body = draft.body.clone();
            let replaced = std::mem::replace(&mut entry.row, MemoryRow::Live(Box::new(memory)));
            entry.older.extend(replaced.live().cloned());
            entry.content = draft.content;
        })
    }

    fn purge(&mut self, id: MemoryId, step: &mut Step) -> Result<(), StoreError> {
        self.expect(&RowKey::Memory(id), Expected::Present)?;
        let Some(entry) = self.memories.get(&id) else { return Ok(()) };
        let live = u32::from(entry.row.live().is_some());
        let (version, change, at) = (entry.row.version() + live, self.newest, step.at);
        let row = MemoryRow::Gone(Gone { id, version, change, at, reason: GoneReason::Purged });
        self.set(id, Entry { row, content: None, older: Vec::new() }, step);
        Ok(())
    }

    /// Changes a live memory; what is handed in carries the new change and moment already.
    fn touch(
        &mut self,
        id: MemoryId,
        step: &mut Step,
        edit: impl FnOnce(&mut Entry, Memory),
    ) -> Result<(), StoreError> {
        self.expect(&RowKey::Memory(id), Expected::Live)?;
        let Some(entry) = self.memories.get(&id) else { return Ok(()) };
        let mut entry = Entry::clone(entry);
        let Some(memory) = entry.row.live().cloned() else { return Ok(()) };
        edit(&mut entry, Memory { change: self.newest, updated_at: step.at, ..memory });
        self.set(id, entry, step);
        Ok(())
    }

    fn expect_content_free(
        &self,
        key: Option<ContentKey>,
        holder: Option<MemoryId>,
    ) -> Result<(), StoreError> {
        let Some(key) = key else { return Ok(()) };
        if holder.is_some() && self.by_content.get(&key).copied() == holder {
            return Ok(());
        }
        self.expect(&RowKey::Content(key), Expected::Absent)
    }

    fn new_envelope(
        &mut self,
        envelope: &StoredEnvelope,
        step: &mut Step,
    ) -> Result<(), StoreError> {
        self.expect(&RowKey::Envelope(envelope.id), Expected::Absent)?;
        self.set_envelope(StoredEnvelope { change: self.newest, ..envelope.clone() }, step);
        Ok(())
    }

    fn rewrite_envelope(
        &mut self,
        id: EnvelopeId,
        bytes: &[u8],
        prunes: bool,
        step: &mut Step,
    ) -> Result<(), StoreError> {
        self.expect(&RowKey::Envelope(id), Expected::Present)?;
        let Some(envelope) = self.envelopes.get(&id).cloned() else { return Ok(()) };
        let (change, pruned) = (self.newest, envelope.pruned || prunes);
        let (bytes, notes) = (bytes.into(), Vec::new());
        self.set_envelope(StoredEnvelope { bytes, notes, pruned, change, ..envelope }, step);
        Ok(())
    }

    fn set_envelope(&mut self, envelope: StoredEnvelope, step: &mut Step) {
        let id = envelope.id;
        let before = self.envelopes.insert(id, envelope);
        step.undo.push(Undo::Envelope(id, before.map(Box::new)));
    }

    fn forget_events(&mut self, until: UnixMs, rows_max: u32, step: &mut Step) {
        let oldest = self.events.values().take(rows_max as usize);
        let due: Vec<_> = oldest.filter(|event| event.at <= until).map(|e| e.change).collect();
        let forgotten = due.iter().filter_map(|change| self.events.remove(change));
        step.undo.extend(forgotten.map(|event| Undo::Event(Box::new(event))));
    }

    fn erase_event_reasons(&mut self, id: EnvelopeId, step: &mut Step) {
        for event in self.events.values_mut().filter(|event| event.envelope == Some(id)) {
            step.undo.push(Undo::Event(Box::new(event.clone())));
            event.data.remove("reason");
        }
    }

    fn forget_idempotency(&mut self, until: UnixMs, rows_max: u32, step: &mut Step) {
        let mut due: Vec<_> =
            self.idempotency.iter().filter(|(_, r)| r.kept_until <= until).collect();
        due.sort_by_key(|(key, record)| (record.kept_until, (*key).clone()));
        let due: Vec<_> = due.into_iter().take(rows_max as usize).map(|(k, _)| k.clone()).collect();
        for key in due {
            let record = self.idempotency.remove(&key);
            step.undo.extend(record.map(|record| Undo::Idempotency(key, record)));
        }
    }

    fn event(&self, draft: &EventDraft, step: &Step) -> Event {
        draft.clone().into_event(self.newest, step.at, &step.receipt)
    }

    fn set(&mut self, id: MemoryId, entry: Entry, step: &mut Step) {
        let before = self.replace(id, Some(Arc::new(entry)));
        step.undo.push(Undo::Memory(id, before));
    }

    /// Replaces an entry and keeps both side maps true.
    fn replace(&mut self, id: MemoryId, entry: Option<Arc<Entry>>) -> Option<Arc<Entry>> {
        let before = self.memories.remove(&id);
        if let Some(before) = &before {
            self.by_change.remove(&before.row.change());
            before.content.map(|key| self.by_content.remove(&key));
        }
        if let Some(entry) = entry {
            self.by_change.insert(entry.row.change(), id);
            entry.content.map(|key| self.by_content.insert(key, id));
            self.memories.insert(id, entry);
        }
        before
    }

    fn undo(&mut self, undo: Vec<Undo>) {
        for step in undo.into_iter().rev() {
            match step {
                Undo::Memory(id, entry) => drop(self.replace(id, entry)),
                Undo::Envelope(id, before) => restore(&mut self.envelopes, id, before),
                Undo::Idempotency(key, record) => drop(self.idempotency.insert(key, record)),
                Undo::Record(key, before) => restore(&mut self.records, key, before),
                Undo::Delivery(id, before) => restore(&mut self.deliveries, id, before),
                Undo::Event(event) => drop(self.events.insert(event.change, *event)),
            }
        }
    }
}

fn restore<K: Ord, V>(rows: &mut BTreeMap<K, V>, key: K, before: Option<Box<V>>) {
    match before {
        Some(before) => drop(rows.insert(key, *before)),
        None => drop(rows.remove(&key)),
    }
}

fn gone(id: MemoryId, version: u32, reason: GoneReason, touched: &Memory) -> Gone {
    Gone { id, version, change: touched.change, at: touched.updated_at, reason }
}

fn record(draft: &IdempotencyDraft, receipt: Receipt) -> IdempotencyRecord {
    let (request, answer) = (draft.request, draft.answer.clone());
    IdempotencyRecord { request, answer, kept_until: draft.kept_until, receipt }
}
