//! The store and the index beside it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;
use spine_protocol::WorkspaceName;
use spine_retrieval::{BuiltInEmbedder, IndexOptions, SearchIndex};
use spine_sqlite::{Options, SqliteStore};
use spine_store::testing::{ManualClock, ModelStore, block_on};
use spine_store::{
    Command, Filter, MemoryBody, MemoryDraft, Put, Retriever, SearchQuery, Store, UnixMs,
};

use crate::texts::Texts;
use crate::{BATCH, HITS, workspace};

const THREAD_MEMORIES: usize = 40;
/// As the server does it.
const FOLLOW_EVERY: Duration = Duration::from_millis(20);
const KEEP_EVERY: Duration = Duration::from_secs(5);

/// The store and the index beside it.
pub struct Ours {
    pub store: Arc<dyn Store>,
    pub index: SearchIndex,
}

impl Ours {
    pub fn open(folder: &Path) -> Self {
        let store = SqliteStore::open(&folder.join("store.db"), Options::default()).unwrap();
        let (store, path): (Arc<dyn Store>, _) = (Arc::new(store), folder.join("index"));
        let (embedder, options) = (Arc::new(BuiltInEmbedder), IndexOptions::default());
        let index = SearchIndex::open(&path, store.clone(), embedder, options).unwrap();
        Self { store, index }
    }
}

pub fn space() -> WorkspaceName {
    "space-0".parse().unwrap()
}

/// The index stays close behind and is kept in order until the work is done.
pub fn followed<T>(index: &SearchIndex, work: impl FnOnce() -> T) -> T {
    let working = AtomicBool::new(true);
    let is_working = || working.load(Ordering::SeqCst);
    let follow = || {
        while is_working() {
            if !block_on(index.follow(&space())).unwrap() {
                thread::sleep(FOLLOW_EVERY);
            }
        }
    };
    let keep_house = || {
        let mut next = Instant::now() + KEEP_EVERY;
        while is_working() {
            thread::sleep(FOLLOW_EVERY);
            if Instant::now() >= next {
                block_on(index.embed(&space())).unwrap();
                next += KEEP_EVERY;
            }
        }
    };
    thread::scope(|scope| {
        scope.spawn(follow);
        scope.spawn(keep_house);
        let done = work();
        working.store(false, Ordering::SeqCst);
        done
    })
}

pub fn write_one(store: &dyn Store, text: &str) {
    let mut command = Command::new("space-0".parse().unwrap(), UnixMs(1_700_000_000_000));
    let body = MemoryBody { text: text.to_owned(), ..MemoryBody::default() };
    command.puts.push(Put::NewMemory(Box::new(MemoryDraft { body, content: None })));
    block_on(store.apply(vec![command])).unwrap().remove(0).unwrap();
}

pub fn fill_store(texts: &Texts, size: usize, per: usize) -> Arc<ModelStore> {
    let store = ModelStore::new(Arc::new(ManualClock::at(UnixMs(1_700_000_000_000))));
    let mut rng = Rng::with_seed(2);
    for batch in 0..size / BATCH {
        let first = batch * BATCH;
        let name: WorkspaceName = workspace(first, per).parse().unwrap();
        let mut command = Command::new(name, store.now());
        for number in first..first + BATCH {
            let thread = format!("thread-{}", number / THREAD_MEMORIES).parse().unwrap();
            let body = MemoryBody {
                text: texts.draw(&mut rng),
                thread: Some(thread),
                ..MemoryBody::default()
            };
            command.puts.push(Put::NewMemory(Box::new(MemoryDraft { body, content: None })));
        }
        block_on(store.apply(vec![command])).unwrap();
    }
    Arc::new(store)
}

pub fn open(path: &Path, store: Arc<ModelStore>) -> SearchIndex {
    SearchIndex::open(path, store, Arc::new(BuiltInEmbedder), IndexOptions::default()).unwrap()
}

pub fn build(
    path: &Path,
    store: Arc<ModelStore>,
    size: usize,
    per: usize,
) -> (SearchIndex, Duration) {
    let start = Instant::now();
    let index = open(path, store);
    for number in (0..size).step_by(per) {
        let name: WorkspaceName = workspace(number, per).parse().unwrap();
        let query = query("anything");
        block_on(index.search(&name, query)).unwrap();
    }
    block_on(index.maintain(&"space-0".parse().unwrap())).unwrap();
    (index, start.elapsed())
}

pub fn query(text: &str) -> SearchQuery {
    let now = UnixMs(1_700_000_000_000);
    let (text, filter) = (text.to_owned(), Filter::default());
    SearchQuery { text, filter, now, limit: HITS, explain: false }
}

pub fn search(index: &SearchIndex, text: &str) {
    let answer = block_on(index.search(&"space-0".parse().unwrap(), query(text))).unwrap();
    assert!(!answer.hits.is_empty());
}
