//! Random puts and reads of records, deliveries, envelopes and events, on the model and on SQLite side by side: the
//! same answers, down to which guard failed and what it found.
//!
//! 4,000 commands, or a hundred times as many with SPINE_SOAK set. SPINE_SEED repeats a run.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use std::env;
use std::fmt::Debug;
use std::sync::Arc;

use fastrand::Rng;
use spine_protocol::{DeliveryId, Digest, EnvelopeId, WorkspaceName};
use spine_sqlite::{CheckDepth, Durability, Options, SqliteStore};
use spine_store::testing::{ManualClock, ModelStore, block_on};
use spine_store::{
    Change, Collection, Command, Delivery, DeliveryQuery, DeliveryReads, DeliveryState, EventDraft,
    EventQuery, Expected, Guard, Priority, Put, Record, RecordKey, RecordReads, RowKey, Store,
    StoreFuture, StoredEnvelope, UnixMs,
};

const COMMANDS: usize = 4_000;
const SOAK_RUNS: u64 = 100;
const WORKSPACES: [&str; 2] = ["acme", "globex"];
const AGENTS: [&str; 3] = ["ann", "bob", "cleo"];
const NAMES: [&str; 5] = ["a", "a/1", "a/2", "b", "ü"];
const IDS: u64 = 40;
const MOMENTS: i64 = 1_000;

struct Pair {
    rng: Rng,
    model: ModelStore,
    sqlite: SqliteStore,
}

#[test]
fn model_and_sqlite_keep_the_same_rows() {
    let seed =
        env::var("SPINE_SEED").map_or_else(|_| fastrand::u64(..), |seed| seed.parse().unwrap());
    let runs = if env::var_os("SPINE_SOAK").is_some() { SOAK_RUNS } else { 1 };
    for seed in (0..runs).map(|run| seed.wrapping_add(run)) {
        eprintln!("SPINE_SEED={seed}, {COMMANDS} commands");
        run(seed);
    }
}

fn run(seed: u64) {
    let folder = tempfile::tempdir().unwrap();
    // Whether a commit survives a power cut is tested elsewhere; here it would only cost time.
    let durability = Durability::Normal;
    let options = Options { durability, reader_threads: 1, ..Options::default() };
    let sqlite = SqliteStore::open(&folder.path().join("spine.db"), options).unwrap();
    let model = ModelStore::new(Arc::new(ManualClock::at(UnixMs(0))));
    let mut pair = Pair { rng: Rng::with_seed(seed), model, sqlite };
    let mut applied = 0;
    for _ in 0..COMMANDS {
        applied += usize::from(pair.write());
        pair.read();
    }
    assert!(applied > COMMANDS / 4, "only {applied} commands held");
    pair.sqlite.check(CheckDepth::Full).unwrap();
}

impl Pair {
    fn same<T: PartialEq + Debug>(
        &self,
        what: &str,
        read: impl Fn(&dyn Store) -> StoreFuture<'_, T>,
    ) -> T {
        let (model, sqlite) = (block_on(read(&self.model)), block_on(read(&self.sqlite)));
        assert_eq!(model, sqlite, "{what}: the model is on the left, SQLite on the right");
        model.unwrap()
    }

    fn workspace(&mut self) -> WorkspaceName {
        WORKSPACES[self.rng.usize(0..2)].parse().unwrap()
    }

    fn moment(&mut self) -> UnixMs {
        UnixMs(self.rng.i64(0..MOMENTS))
    }

    fn maybe_moment(&mut self) -> Option<UnixMs> {
        self.rng.bool().then(|| self.moment())
    }

    fn envelope(&mut self) -> EnvelopeId {
        EnvelopeId::from_parts(self.rng.u64(1..IDS), 0)
    }

    fn delivery_id(&mut self) -> DeliveryId {
        DeliveryId::from_parts(self.rng.u64(1..IDS), 0)
    }

    fn key(&mut self) -> RecordKey {
        let collection = Collection::ALL[self.rng.usize(0..2)];
        RecordKey { collection, name: NAMES[self.rng.usize(0..NAMES.len())].parse().unwrap() }
    }

    fn state(&mut self) -> DeliveryState {
        // Mostly open, so that queues are long.
        let number =
            if self.rng.u32(0..3) > 0 { self.rng.usize(0..3) } else { self.rng.usize(3..7) };
        DeliveryState::ALL[number]
    }

    /// Whether the command took effect.
    fn write(&mut self) -> bool {
        let (workspace, at) = (self.workspace(), self.moment());
        let puts = (0..self.rng.usize(1..4)).map(|_| self.put(&workspace)).collect();
        let events = (0..self.rng.usize(0..3)).map(|_| self.event()).collect();
        let guards = if self.rng.u32(0..8) == 0 { vec![self.guard()] } else { Vec::new() };
        let command = Command { puts, events, guards, ..Command::new(workspace, at) };
        let outcomes =
            self.same(&format!("{command:?}"), |store| store.apply(vec![command.clone()]));
        outcomes[0].is_ok()
    }

    fn put(&mut self, workspace: &WorkspaceName) -> Put {
        match self.rng.u32(0..100) {
            0..20 => self.put_record(workspace),
            20..24 => {
                let key = self.key();
                let change = self.record_change(workspace, &key);
                Put::DropRecord(key, change)
            }
            24..32 => Put::WakeRecord(self.key(), self.moment()),
            32..80 => self.put_delivery(workspace),
            80..84 => {
                let id = self.delivery_id();
                let change = self.delivery_change(workspace, id);
                Put::DropDelivery(id, change)
            }
            84..92 => self.new_envelope(),
            92..97 => Put::PruneEnvelope(self.envelope(), b"bones".to_vec()),
            // Rarely: each empties the log.
            97 => Put::EraseEnvelopeTexts(self.envelope(), b"less".to_vec()),
            _ => Put::ForgetEvents { until: self.moment(), rows_max: self.rng.u32(0..9) },
        }
    }

    /// Mostly the right one; now and then a stale one.
    fn record_change(&mut self, workspace: &WorkspaceName, key: &RecordKey) -> Change {
        let rows = block_on(self.model.records(workspace, vec![key.clone()])).unwrap();
        self.or_stale(rows.first().map(|record| record.change))
    }

    fn delivery_change(&mut self, workspace: &WorkspaceName, id: DeliveryId) -> Change {
        let rows = block_on(self.model.deliveries(workspace, vec![id])).unwrap();
        self.or_stale(rows.first().map(|delivery| delivery.change))
    }

    fn or_stale(&mut self, change: Option<Change>) -> Change {
        let stale = self.rng.u32(0..10) == 0;
        if stale { Change(self.rng.u64(0..50)) } else { change.unwrap_or(Change::ZERO) }
    }

    fn put_record(&mut self, workspace: &WorkspaceName) -> Put {
        let key = self.key();
        let (change, due_at) = (self.record_change(workspace, &key), self.maybe_moment());
        let value = vec![self.rng.u8(..); self.rng.usize(0..20)];
        Put::Record(Box::new(Record { key, value, due_at, change }))
    }

    fn put_delivery(&mut self, workspace: &WorkspaceName) -> Put {
        let id = self.delivery_id();
        let change = self.delivery_change(workspace, id);
        // An envelope of its own mostly, so that both ways to update are taken.
        let own = EnvelopeId::from_parts(id.unix_ms(), 0);
        let envelope = if self.rng.u32(0..4) > 0 { own } else { self.envelope() };
        let ordered = id.unix_ms().is_multiple_of(2) || self.rng.u32(0..8) == 0;
        Put::Delivery(Box::new(Delivery {
            id,
            envelope,
            root: EnvelopeId::from_parts(envelope.unix_ms() % 5 + 1, 0),
            agent: AGENTS[self.rng.usize(0..3)].parse().unwrap(),
            state: self.state(),
            priority: Priority::ALL[self.rng.usize(0..4)],
            order_key: ordered.then(|| ["k", "l"][id.unix_ms() as usize / 2 % 2].parse().unwrap()),
            visible_at: self.moment(),
            due_at: self.maybe_moment(),
            epoch: self.rng.u32(..),
            incarnation: self.rng.u64(..),
            story: vec![self.rng.u8(..); self.rng.usize(0..20)],
            result: self.rng.bool().then(|| vec![self.rng.u8(..); 3]),
            sequence: Change(self.rng.u64(0..9)),
            updated_at: UnixMs(0),
            change,
        }))
    }

    fn new_envelope(&mut self) -> Put {
        let (id, pruned, change) = (self.envelope(), false, Change::ZERO);
        let root = if self.rng.bool() { id } else { self.envelope() };
        let (bytes, notes) = (Arc::from(b"{}".as_slice()), b"notes".to_vec());
        let digest = Digest::of(&[&bytes]);
        Put::NewEnvelope(Box::new(StoredEnvelope {
            id,
            root,
            digest,
            bytes,
            notes,
            pruned,
            change,
        }))
    }

    fn event(&mut self) -> EventDraft {
        let kind = ["delivery.sent", "delivery.done", "envelope.made"][self.rng.usize(0..3)];
        let envelope = self.rng.bool().then(|| self.envelope());
        let delivery = self.rng.bool().then(|| self.delivery_id());
        EventDraft { envelope, delivery, ..EventDraft::new(kind) }
    }

    fn guard(&mut self) -> Guard {
        let key = match self.rng.u32(0..3) {
            0 => RowKey::Record(self.key()),
            1 => RowKey::Delivery(self.delivery_id()),
            _ => RowKey::Envelope(self.envelope()),
        };
        let expected = [Expected::Absent, Expected::Present, Expected::Live][self.rng.usize(0..3)];
        Guard { key, expected }
    }

    fn read(&mut self) {
        match self.rng.u32(0..8) {
            0 => self.read_records(),
            1 => self.read_due(),
            2 | 3 => self.read_queue(),
            4 => self.read_deliveries(),
            5 => self.list_deliveries(),
            6 => self.read_envelopes(),
            _ => self.read_events(),
        }
    }

    fn read_records(&mut self) {
        let (ws, limit) = (self.workspace(), self.rng.usize(1..5));
        let keys: Vec<RecordKey> = (0..self.rng.usize(0..5)).map(|_| self.key()).collect();
        self.same("records", |store| store.records(&ws, keys.clone()));
        let prefix = ["", "a", "a/", "ü", "x"][self.rng.usize(0..5)];
        let after = self.rng.bool().then(|| self.key().name);
        self.same("list_records", |store| {
            store.list_records(&ws, Collection::ALL[0], prefix.to_owned(), after.clone(), limit)
        });
    }

    /// Of one moment in any order, so in an order of its own here, and never cut within a moment.
    fn read_due(&mut self) {
        let now = self.moment();
        self.same("next_due", |store| store.next_due());
        let both: [&dyn Store; 2] = [&self.model, &self.sqlite];
        let [model, sqlite] = both.map(|store| {
            let due = block_on(store.due_records(now, 1_000)).unwrap();
            assert!(due.is_sorted_by_key(|(_, record)| record.due_at));
            let mut due: Vec<_> =
                due.into_iter().map(|(w, r)| (r.due_at, w, r.key, r.value)).collect();
            due.sort();
            due
        });
        assert_eq!(model, sqlite, "due_records");
        let [model, sqlite] = both.map(|store| {
            let due = block_on(store.due_deliveries(now, 1_000)).unwrap();
            assert!(due.is_sorted_by_key(|(_, delivery)| delivery.due_at));
            let mut due: Vec<_> =
                due.into_iter().map(|(w, d)| (d.due_at, w, d.id, d.change)).collect();
            due.sort();
            due
        });
        assert_eq!(model, sqlite, "due_deliveries");
    }

    fn read_queue(&mut self) {
        let (ws, now, limit) = (self.workspace(), self.moment(), self.rng.usize(1..200));
        for name in AGENTS {
            let agent = || name.parse().unwrap();
            self.same("ready_deliveries", |store| store.ready_deliveries(&ws, agent(), now, limit));
            self.same("next_visible", |store| store.next_visible(&ws, agent()));
        }
        self.same("queues", |store| store.queues(&ws));
    }

    fn read_deliveries(&mut self) {
        let (ws, limit) = (self.workspace(), self.rng.usize(1..5));
        let ids: Vec<DeliveryId> = (0..self.rng.usize(0..6)).map(|_| self.delivery_id()).collect();
        self.same("deliveries", |store| store.deliveries(&ws, ids.clone()));
        let root = EnvelopeId::from_parts(self.rng.u64(1..6), 0);
        let after = self.rng.bool().then(|| self.delivery_id());
        self.same("lineage", |store| store.lineage_deliveries(&ws, root, after, limit));
    }

    fn list_deliveries(&mut self) {
        let ws = self.workspace();
        let query = DeliveryQuery {
            states: (0..self.rng.usize(0..3)).map(|_| self.state()).collect(),
            agent: self.rng.bool().then(|| AGENTS[self.rng.usize(0..3)].parse().unwrap()),
            since: (self.rng.u32(0..3) == 0).then(|| self.moment()),
            until: (self.rng.u32(0..3) == 0).then(|| self.moment()),
            after: self.rng.bool().then(|| self.delivery_id()),
            limit: self.rng.usize(1..9),
            newest_first: self.rng.bool(),
        };
        self.same(&format!("{query:?}"), |store| store.list_deliveries(&ws, query.clone()));
    }

    fn read_envelopes(&mut self) {
        let (ws, id, limit) = (self.workspace(), self.envelope(), self.rng.usize(1..5));
        self.same("envelope", |store| store.envelope(&ws, id));
        let after = self.rng.bool().then(|| self.envelope());
        self.same("old_roots", |store| store.old_roots(&ws, after, limit));
    }

    fn read_events(&mut self) {
        let ws = self.workspace();
        let prefix = ["delivery.", "delivery.d", "e", ""][self.rng.usize(0..4)];
        let query = EventQuery {
            envelopes: (0..self.rng.usize(0..3)).map(|_| self.envelope()).collect(),
            kinds_prefix: self.rng.bool().then(|| prefix.to_owned()),
            after: Change(self.rng.u64(0..3) * self.rng.u64(0..2_000)),
            newest_first: self.rng.bool(),
            limit: self.rng.usize(1..9),
        };
        self.same(&format!("{query:?}"), |store| store.events_of(&ws, query.clone()));
    }
}
