//! Rows that were just written, as they stand on disk. Each commit makes readers read their pages anew, and most of what
//! is read about a handoff was written a moment ago. One process writes, so what it remembers is never older than what was
//! answered; the file may be ahead of it by groups that nobody was told of yet.

use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lru::LruCache;
use spine_protocol::{DeliveryId, EnvelopeId, WorkspaceName};
use spine_store::{
    Applied, Change, Command, Delivery, Event, Outcome, Page, Put, Receipt, Record, RecordKey,
    StoredEnvelope,
};

use crate::event_tails::EventTails;

/// What the remembered rows of each kind may weigh.
const ENVELOPE_BYTES_MAX: usize = 16 * 1024 * 1024;
const DELIVERY_BYTES_MAX: usize = 8 * 1024 * 1024;
const RECORD_BYTES_MAX: usize = 2 * 1024 * 1024;
const EVENT_BYTES_MAX: usize = 8 * 1024 * 1024;
/// What a row weighs beside its texts.
const ROW_BYTES: usize = 300;

pub(crate) struct Recent(Mutex<Kinds>);

struct Kinds {
    /// How many groups were noted: whoever reads a record notices whether one came between.
    groups: u64,
    /// How many envelopes lost a part: nothing else ever changes one.
    erasures: u64,
    envelopes: Rows<EnvelopeId, StoredEnvelope>,
    deliveries: Rows<DeliveryId, Delivery>,
    /// Also of those that are not there: most agents never have a breaker.
    records: Rows<RecordKey, Option<Record>>,
    events: EventTails,
}

/// How many of what a read must not miss had been noted when it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Began(u64);

impl Recent {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Kinds {
            groups: 0,
            erasures: 0,
            envelopes: Rows::new(ENVELOPE_BYTES_MAX),
            deliveries: Rows::new(DELIVERY_BYTES_MAX),
            records: Rows::new(RECORD_BYTES_MAX),
            events: EventTails::new(EVENT_BYTES_MAX),
        }))
    }

    /// One that is remembered; else from when on a read of it counts.
    pub(crate) fn envelope(
        &self,
        workspace: &WorkspaceName,
        id: EnvelopeId,
    ) -> Result<StoredEnvelope, Began> {
        let mut kinds = self.lock();
        let began = Began(kinds.erasures);
        kinds.envelopes.get(workspace, id).ok_or(began)
    }

    /// Remembers what was found, for whoever sends an envelope is followed by whoever receives it; unless one lost a part
    /// since the read began.
    pub(crate) fn found_envelope(
        &self,
        began: Began,
        workspace: &WorkspaceName,
        envelope: &StoredEnvelope,
    ) {
        let mut kinds = self.lock();
        if Began(kinds.erasures) == began {
            kinds.put_envelope(workspace, envelope.clone());
        }
    }

    /// All of them, or nothing.
    pub(crate) fn deliveries(
        &self,
        workspace: &WorkspaceName,
        ids: &[DeliveryId],
    ) -> Option<Vec<Delivery>> {
        let mut kinds = self.lock();
        ids.iter().map(|id| kinds.deliveries.get(workspace, *id)).collect()
    }

    /// Those of them that exist, if that is known of all; else from when on a read of them counts.
    pub(crate) fn records(
        &self,
        workspace: &WorkspaceName,
        keys: &[RecordKey],
    ) -> Result<Vec<Record>, Began> {
        let mut kinds = self.lock();
        let known = |key: &RecordKey| kinds.records.get(workspace, key.clone());
        let known: Option<Vec<Option<Record>>> = keys.iter().map(known).collect();
        known.map(|found| found.into_iter().flatten().collect()).ok_or(Began(kinds.groups))
    }

    /// Remembers what was found under these keys, unless a group was noted since the read began.
    pub(crate) fn found_records(
        &self,
        began: Began,
        workspace: &WorkspaceName,
        keys: Vec<RecordKey>,
        found: &[Record],
    ) {
        let mut kinds = self.lock();
        if Began(kinds.groups) != began {
            return;
        }
        for key in keys {
            let record = found.iter().find(|record| record.key == key).cloned();
            kinds.put_record(workspace, key, record);
        }
    }

    /// What happened behind a change, unless some of that is only in the file.
    pub(crate) fn events(
        &self,
        workspace: &WorkspaceName,
        after: Change,
        limit: usize,
    ) -> Option<Page<Arc<Event>, Change>> {
        self.lock().events.page(workspace, after, limit)
    }

    /// A group as it is on disk now. Before its answers leave, so that whoever is answered finds it.
    pub(crate) fn note<'a>(&self, group: impl Iterator<Item = (Vec<Command>, &'a [Outcome])>) {
        let mut kinds = self.lock();
        kinds.groups += 1;
        for (commands, outcomes) in group {
            for (command, outcome) in commands.into_iter().zip(outcomes) {
                if let Ok(Applied::Now(receipt)) = outcome {
                    kinds.note(command, receipt);
                }
            }
        }
    }

    /// Nobody knows what is on disk.
    pub(crate) fn forget(&self) {
        let mut kinds = self.lock();
        kinds.groups += 1;
        kinds.erasures += 1;
        kinds.envelopes.clear();
        kinds.deliveries.clear();
        kinds.records.clear();
        kinds.events.clear();
    }

    fn lock(&self) -> MutexGuard<'_, Kinds> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kinds {
    fn note(&mut self, command: Command, receipt: &Receipt) {
        let Command { workspace, at, puts, events, .. } = command;
        let first_event = receipt.put_change(puts.len());
        for (place, put) in puts.into_iter().enumerate() {
            let change = receipt.put_change(place);
            match put {
                Put::NewEnvelope(envelope) => {
                    self.put_envelope(&workspace, StoredEnvelope { change, ..*envelope });
                }
                Put::PruneEnvelope(id, _) | Put::EraseEnvelopeTexts(id, _) => {
                    self.erasures += 1;
                    self.envelopes.forget(&workspace, id);
                }
                Put::Delivery(delivery) => {
                    let delivery = Delivery { updated_at: at, ..*delivery };
                    self.put_delivery(&workspace, delivery, change);
                }
                Put::DropDelivery(id, _) => self.deliveries.forget(&workspace, id),
                Put::Record(record) => {
                    let record = Record { change, ..*record };
                    self.put_record(&workspace, record.key.clone(), Some(record));
                }
                Put::DropRecord(key, _) => self.put_record(&workspace, key, None),
                Put::WakeRecord(key, _) => self.records.forget(&workspace, key),
                Put::NewMemory(_)
                | Put::ReviseMemory(..)
                | Put::PinMemory(..)
                | Put::ReleaseContent(_)
                | Put::DeleteMemory(_)
                | Put::PurgeMemory(_)
                | Put::ForgetIdempotency { .. } => {}
                Put::EraseEventReasons(_) | Put::ForgetEvents { .. } => {
                    self.events.forget(&workspace);
                }
            }
        }
        self.events.note(&workspace, at, events, first_event, receipt);
    }

    fn put_envelope(&mut self, workspace: &WorkspaceName, envelope: StoredEnvelope) {
        let bytes = envelope.bytes.len() + envelope.notes.len();
        self.envelopes.put(workspace, envelope.id, envelope, bytes);
    }

    /// Its place in the queue is the store's to give: a new one's is known, and a later one's from the row before. That
    /// of one with an order key may change, and is left to the file.
    fn put_delivery(&mut self, workspace: &WorkspaceName, mut delivery: Delivery, change: Change) {
        let is_new = delivery.change == Change::ZERO;
        let before = self.deliveries.seen(workspace, delivery.id).map(|before| before.sequence);
        let sequence = if is_new { Some(change) } else { before };
        let sequence = sequence.filter(|_| delivery.order_key.is_none());
        let Some(sequence) = sequence else {
            return self.deliveries.forget(workspace, delivery.id);
        };
        (delivery.change, delivery.sequence) = (change, sequence);
        let bytes = delivery.story.len() + delivery.result.as_ref().map_or(0, Vec::len);
        self.deliveries.put(workspace, delivery.id, delivery, bytes);
    }

    fn put_record(&mut self, workspace: &WorkspaceName, key: RecordKey, record: Option<Record>) {
        let bytes = record.as_ref().map_or(0, |record| record.value.len());
        self.records.put(workspace, key, record, bytes);
    }
}

/// Rows of one kind, those that were used last.
struct Rows<K: Hash + Eq, V> {
    rows: LruCache<(WorkspaceName, K), (V, usize)>,
    bytes: usize,
    bytes_max: usize,
}

impl<K: Hash + Eq, V: Clone> Rows<K, V> {
    fn new(bytes_max: usize) -> Self {
        Self { rows: LruCache::unbounded(), bytes: 0, bytes_max }
    }

    fn get(&mut self, workspace: &WorkspaceName, key: K) -> Option<V> {
        self.seen(workspace, key).cloned()
    }

    fn seen(&mut self, workspace: &WorkspaceName, key: K) -> Option<&V> {
        self.rows.get(&(workspace.clone(), key)).map(|(row, _)| row)
    }

    fn put(&mut self, workspace: &WorkspaceName, key: K, row: V, bytes: usize) {
        let bytes = bytes + ROW_BYTES;
        let before = self.rows.put((workspace.clone(), key), (row, bytes));
        self.bytes = self.bytes + bytes - before.map_or(0, |(_, bytes)| bytes);
        while self.bytes > self.bytes_max {
            let Some((_, (_, bytes))) = self.rows.pop_lru() else { break };
            self.bytes -= bytes;
        }
    }

    fn forget(&mut self, workspace: &WorkspaceName, key: K) {
        let forgotten = self.rows.pop(&(workspace.clone(), key));
        self.bytes -= forgotten.map_or(0, |(_, bytes)| bytes);
    }

    fn clear(&mut self) {
        self.rows.clear();
        self.bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spine_store::{Collection, UnixMs};

    fn workspace() -> WorkspaceName {
        "default".parse().unwrap()
    }

    fn record(value: &str) -> Record {
        let key = RecordKey { collection: Collection::Agent, name: "coder".parse().unwrap() };
        Record { key, value: value.into(), due_at: None, change: Change(1) }
    }

    fn note(recent: &Recent, put: Put) {
        let command = Command { puts: vec![put], ..Command::new(workspace(), UnixMs(1)) };
        let receipt = Receipt { first_change: Change(2), first_memory: None, memories: 0 };
        recent.note([(vec![command], [Ok(Applied::Now(receipt))].as_slice())].into_iter());
    }

    #[test]
    fn what_was_read_before_a_group_is_not_taken_for_what_is_there_after_it() {
        let (recent, keys) = (Recent::new(), vec![record("").key]);
        let began = recent.records(&workspace(), &keys).unwrap_err();
        note(&recent, Put::Record(Box::new(record("new"))));
        recent.found_records(began, &workspace(), keys.clone(), &[record("old")]);
        let found = recent.records(&workspace(), &keys).unwrap();
        assert_eq!(found, [Record { change: Change(2), ..record("new") }]);
        let elsewhere = "other".parse().unwrap();
        assert!(recent.records(&elsewhere, &keys).is_err());
    }

    #[test]
    fn a_record_that_is_not_there_is_known_not_to_be() {
        let (recent, keys) = (Recent::new(), vec![record("").key]);
        let began = recent.records(&workspace(), &keys).unwrap_err();
        recent.found_records(began, &workspace(), keys.clone(), &[]);
        assert_eq!(recent.records(&workspace(), &keys), Ok(Vec::new()));
        recent.forget();
        assert!(recent.records(&workspace(), &keys).is_err());
    }

    #[test]
    fn an_envelope_that_was_read_before_it_lost_a_part_is_not_remembered() {
        let recent = Recent::new();
        let id: EnvelopeId = "env_01J8Z0000000000000000000EE".parse().unwrap();
        let (root, digest) = (id, spine_protocol::Digest::of(&[b"whole"]));
        let (bytes, notes, change) = (b"whole"[..].into(), Vec::new(), Change(1));
        let whole = StoredEnvelope { id, root, digest, bytes, notes, pruned: false, change };
        let began = recent.envelope(&workspace(), id).unwrap_err();
        recent.found_envelope(began, &workspace(), &whole);
        assert_eq!(recent.envelope(&workspace(), id), Ok(whole.clone()));
        note(&recent, Put::EraseEnvelopeTexts(id, b"erased"[..].into()));
        recent.found_envelope(began, &workspace(), &whole);
        assert!(recent.envelope(&workspace(), id).is_err());
    }

    #[test]
    fn rows_weigh_no_more_than_they_may() {
        let mut rows = Rows::new(10 * ROW_BYTES);
        for number in 0..1_000 {
            rows.put(&workspace(), number, number, 0);
        }
        assert_eq!((rows.rows.len(), rows.bytes), (10, 10 * ROW_BYTES));
        rows.put(&workspace(), 1, 1, 11 * ROW_BYTES);
        assert_eq!((rows.rows.len(), rows.bytes), (0, 0));
    }
}
