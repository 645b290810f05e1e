//! Random operations through the engine, on the model store and on SQLite side by side: the same answers,
//! and nothing of one workspace in the other.
//!
//! 10,000 operations, or a hundred times as many with SPINE_SOAK set. SPINE_SEED repeats a run.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use std::env;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use spine_engine::Caller;
use spine_engine::memories::{
    Edit, ListRequest, Memories, MemoryPatch, NewMemory, SearchRequest, Stored,
};
use spine_protocol::{MemoryId, WorkspaceName};
use spine_sqlite::{CheckDepth, Durability, Options, SqliteStore};
use spine_store::testing::{ManualClock, ModelRetriever, ModelStore, block_on};
use spine_store::{Change, Filter, Memory, Order, Priority, Store, SubjectFilter, Tag, UnixMs};

const START: UnixMs = UnixMs(1_768_469_400_000);
const WORKSPACES: [&str; 2] = ["acme", "globex"];
const OPERATIONS: usize = 10_000;
const SOAK_RUNS: u64 = 100;

struct Pair {
    rng: Rng,
    clock: Arc<ManualClock>,
    model: Memories,
    sqlite: Memories,
    newest: [u64; 2],
}

/// One operation for both sides: where, and what.
struct Turn {
    workspace: usize,
    caller: Caller,
}

#[test]
fn model_and_sqlite_give_the_same_answers() {
    let seed =
        env::var("SPINE_SEED").map_or_else(|_| fastrand::u64(..), |seed| seed.parse().unwrap());
    let runs = if env::var_os("SPINE_SOAK").is_some() { SOAK_RUNS } else { 1 };
    for seed in (0..runs).map(|run| seed.wrapping_add(run)) {
        eprintln!("SPINE_SEED={seed}, {OPERATIONS} operations");
        run(seed);
    }
}

fn run(seed: u64) {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::at(START));
    // Whether a commit survives a power cut is tested elsewhere; here it would only cost time.
    let durability = Durability::Normal;
    let options = Options { durability, reader_threads: 1, ..Options::default() };
    let path = folder.path().join("spine.db");
    let sqlite = Arc::new(SqliteStore::open_with_clock(&path, options, clock.clone()).unwrap());
    let model = Arc::new(ModelStore::new(clock.clone()));
    let mut pair = Pair {
        rng: Rng::with_seed(seed),
        clock,
        model: memories(model.clone()),
        sqlite: memories(sqlite.clone()),
        newest: [0; 2],
    };
    for _ in 0..OPERATIONS {
        pair.operate();
    }
    for workspace in WORKSPACES {
        assert_same_history(&*model, &*sqlite, &workspace.parse().unwrap());
    }
    sqlite.check(CheckDepth::Full).unwrap();
}

fn memories(store: Arc<dyn Store>) -> Memories {
    Memories::new(store.clone(), Arc::new(ModelRetriever::new(store)))
}

impl Pair {
    fn operate(&mut self) {
        self.clock.advance_ms(self.rng.i64(0..50));
        let turn = self.turn();
        match self.rng.u32(0..100) {
            0..25 => self.store(&turn),
            25..32 => self.store_many(&turn),
            32..47 => self.update(&turn),
            47..54 => self.pin(&turn),
            54..60 => self.delete(&turn),
            60..64 => self.purge(&turn),
            64..80 => self.get(&turn),
            80..93 => self.list(&turn),
            _ => self.search(&turn),
        }
    }

    fn turn(&mut self) -> Turn {
        let workspace = self.rng.usize(0..2);
        let agent = self.rng.bool().then(|| ["ann", "bob"][self.rng.usize(0..2)].parse().unwrap());
        let keyed = self.rng.u32(0..10) == 0;
        let key = keyed.then(|| format!("key-{}", self.rng.u32(0..50)).parse().unwrap());
        let name = WORKSPACES[workspace].parse().unwrap();
        Turn { workspace, caller: Caller { agent, idempotency_key: key, ..Caller::of(name) } }
    }

    fn store(&mut self, turn: &Turn) {
        let new = self.new_memory(turn);
        let answers =
            [&self.model, &self.sqlite].map(|side| block_on(side.store(&turn.caller, new.clone())));
        let stored = same("store", answers).ok();
        self.note(turn, stored.as_slice());
    }

    fn store_many(&mut self, turn: &Turn) {
        let count = self.rng.usize(0..8);
        let new: Vec<NewMemory> = (0..count).map(|_| self.new_memory(turn)).collect();
        let answers = [&self.model, &self.sqlite]
            .map(|side| block_on(side.store_many(&turn.caller, new.clone())));
        let stored = same("store_many", answers).unwrap_or_default();
        self.note(turn, &stored);
    }

    fn update(&mut self, turn: &Turn) {
        let (id, patch) = (self.id(turn), self.patch(turn));
        let if_version = (self.rng.u32(0..3) == 0).then(|| self.rng.u32(1..4));
        let answers = [&self.model, &self.sqlite]
            .map(|side| block_on(side.update(&turn.caller, id, patch.clone(), if_version)));
        let updated = same("update", answers).ok();
        assert_own(turn, updated.as_slice());
    }

    fn pin(&mut self, turn: &Turn) {
        let (id, pinned) = (self.id(turn), self.rng.bool());
        let pin = |side: &Memories| block_on(side.pin(&turn.caller, id, pinned));
        let _ = same("pin", [pin(&self.model), pin(&self.sqlite)]);
    }

    fn delete(&mut self, turn: &Turn) {
        let id = self.id(turn);
        let delete = |side: &Memories| block_on(side.delete(&turn.caller, id, None));
        let _ = same("delete", [delete(&self.model), delete(&self.sqlite)]);
    }

    fn purge(&mut self, turn: &Turn) {
        let id = self.id(turn);
        let purge = |side: &Memories| block_on(side.purge(&turn.caller, id));
        let _ = same("purge", [purge(&self.model), purge(&self.sqlite)]);
    }

    fn get(&mut self, turn: &Turn) {
        let (id, version) = (self.id(turn), self.rng.u32(0..4));
        let get = |side: &Memories| block_on(side.get(&turn.caller, id));
        let found = same("get", [get(&self.model), get(&self.sqlite)]).ok();
        assert_own(turn, found.as_slice());
        let get = |side: &Memories| block_on(side.get_version(&turn.caller, id, version));
        let found = same("get_version", [get(&self.model), get(&self.sqlite)]).ok();
        assert_own(turn, found.as_slice());
        let ids: Vec<MemoryId> = (0..self.rng.usize(0..6)).map(|_| self.id(turn)).collect();
        let get = |side: &Memories| block_on(side.get_many(&turn.caller, ids.clone()));
        let _ = same("get_many", [get(&self.model), get(&self.sqlite)]);
    }

    fn list(&mut self, turn: &Turn) {
        let order = if self.rng.bool() { Order::NewestFirst } else { Order::OldestFirst };
        let after = self.rng.bool().then(|| self.id(turn));
        let (filter, limit) = (self.filter(turn), self.rng.usize(1..20));
        let request = ListRequest { filter, order, after, limit };
        let list = |side: &Memories| block_on(side.list(&turn.caller, request.clone()));
        let page = same(&format!("{request:?}"), [list(&self.model), list(&self.sqlite)]).unwrap();
        assert_own(turn, &page.items);
    }

    fn search(&mut self, turn: &Turn) {
        let text = format!("{} {}", self.word(), self.word());
        let request = SearchRequest { text, filter: self.filter(turn), limit: 10, explain: true };
        let search = |side: &Memories| block_on(side.search(&turn.caller, request.clone()));
        let found = same("search", [search(&self.model), search(&self.sqlite)]).unwrap().found;
        found.iter().for_each(|found| assert_own(turn, std::slice::from_ref(&found.memory)));
    }

    fn note(&mut self, turn: &Turn, stored: &[Stored]) {
        let newest = stored.iter().map(|stored| stored.memory.id.number()).max().unwrap_or(0);
        self.newest[turn.workspace] = self.newest[turn.workspace].max(newest);
        stored.iter().for_each(|stored| assert_own(turn, std::slice::from_ref(&stored.memory)));
    }

    fn new_memory(&mut self, turn: &Turn) -> NewMemory {
        NewMemory {
            text: self.text(turn),
            title: self.rng.bool().then(|| self.word().to_owned()),
            kind: ["note", "note", "conversation", "reasoning"][self.rng.usize(0..4)]
                .parse()
                .unwrap(),
            tags: self.tags(),
            priority: Priority::ALL[self.rng.usize(0..4)],
            pinned: self.rng.u32(0..8) == 0,
            thread: self.thread(),
            subject: (self.rng.u32(0..3) == 0).then(|| self.subject()),
            occurred_at: (self.rng.u32(0..4) == 0)
                .then(|| "2024-05-01T12:00:00+02:00".parse().unwrap()),
            ttl: (self.rng.u32(0..6) == 0).then(|| Duration::from_millis(self.rng.u64(0..20_000))),
            ..NewMemory::default()
        }
    }

    fn patch(&mut self, turn: &Turn) -> MemoryPatch {
        let thread = if self.rng.bool() { Edit::Keep } else { Edit::Clear };
        MemoryPatch {
            text: self.rng.bool().then(|| self.text(turn)),
            tags: self.rng.bool().then(|| self.tags()),
            title: if self.rng.bool() { Edit::Keep } else { Edit::Set(self.word().to_owned()) },
            thread,
            ttl: if self.rng.u32(0..5) == 0 { Edit::Clear } else { Edit::Keep },
            ..MemoryPatch::default()
        }
    }

    fn filter(&mut self, turn: &Turn) -> Filter {
        let mut rarely = || self.rng.u32(0..5) == 0;
        let (by_ids, by_thread, by_subject, by_kind) = (rarely(), rarely(), rarely(), rarely());
        let (by_tags, by_author, by_time, by_pin) = (rarely(), rarely(), rarely(), rarely());
        let subject = match self.rng.u32(0..3) {
            0 => SubjectFilter::Only(self.subject()),
            1 => SubjectFilter::OrGeneral(self.subject()),
            _ => SubjectFilter::General,
        };
        Filter {
            ids: by_ids.then(|| (0..20).map(|_| self.id(turn)).collect()),
            thread: by_thread.then(|| "t1".parse().unwrap()),
            subject: by_subject.then_some(subject),
            kinds: if by_kind { self.kinds() } else { Vec::new() },
            tags: if by_tags { self.tags() } else { Vec::new() },
            author: by_author.then(|| "ann".parse().unwrap()),
            about_from: by_time.then_some(START),
            about_before: by_time.then(|| UnixMs(START.0 + self.rng.i64(0..100_000))),
            pinned: by_pin.then(|| self.rng.bool()),
        }
    }

    fn kinds(&mut self) -> Vec<spine_store::Kind> {
        let kinds = ["note", "conversation", "reasoning"].map(|kind| kind.parse().unwrap());
        kinds.into_iter().take(self.rng.usize(1..4)).collect()
    }

    fn id(&mut self, turn: &Turn) -> MemoryId {
        MemoryId::new(self.rng.u64(1..=self.newest[turn.workspace] + 2)).unwrap()
    }

    /// Every text names its workspace, so that one in the wrong place is noticed. Few texts for many
    /// memories, so that many say the same.
    fn text(&mut self, turn: &Turn) -> String {
        let number = self.rng.u32(0..8);
        format!("{} {} {} {number}", WORKSPACES[turn.workspace], self.word(), self.word())
    }

    fn word(&mut self) -> &'static str {
        ["api", "limit", "deploy", "error", "berlin", "Über"][self.rng.usize(0..6)]
    }

    fn tags(&mut self) -> Vec<Tag> {
        (0..self.rng.usize(0..3)).map(|_| self.word().parse().unwrap()).collect()
    }

    fn thread(&mut self) -> Option<spine_store::ThreadName> {
        self.rng.bool().then(|| ["t1", "t2"][self.rng.usize(0..2)].parse().unwrap())
    }

    fn subject(&mut self) -> spine_protocol::Subject {
        ["user:1", "user:2"][self.rng.usize(0..2)].parse().unwrap()
    }
}

fn same<T: PartialEq + Debug>(what: &str, [model, sqlite]: [T; 2]) -> T {
    assert_eq!(model, sqlite, "{what}: the model is on the left, SQLite on the right");
    model
}

fn assert_own(turn: &Turn, memories: &[Memory]) {
    let own = WORKSPACES[turn.workspace];
    for memory in memories {
        assert!(memory.body.text.starts_with(own), "{own} sees {memory:?}");
    }
}

/// Every row and every event, not only what the operations happened to read.
fn assert_same_history(model: &dyn Store, sqlite: &dyn Store, workspace: &WorkspaceName) {
    let changes =
        |store: &dyn Store, after| block_on(store.memory_changes(workspace, after, 500)).unwrap();
    let events = |store: &dyn Store, after| block_on(store.events(workspace, after, 500)).unwrap();
    let mut after = Some(Change::ZERO);
    while let Some(from) = after {
        after = same("changes", [changes(model, from), changes(sqlite, from)]).next;
    }
    let mut after = Some(Change::ZERO);
    while let Some(from) = after {
        after = same("events", [events(model, from), events(sqlite, from)]).next;
    }
    let newest = [model, sqlite].map(|store| block_on(store.newest_change(workspace)).unwrap());
    same("newest change", newest);
}
