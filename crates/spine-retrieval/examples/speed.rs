//! Search and index speed beside SQLite FTS5 in the same run, as ratios.
//!
//! `cargo run --release -p spine-retrieval --example speed [-- SIZE ...]`, 10000 and 100000 unless told;
//! size 0 is only the writing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::iter;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;
use rusqlite::Connection;
use spine_protocol::{MemoryId, WorkspaceName};
use spine_retrieval::{BuiltInEmbedder, IndexLimits, IndexOptions, Recipe, SearchIndex};
use spine_sqlite::{Options, SqliteStore};
use spine_store::testing::{ManualClock, ModelStore, block_on};
use spine_store::{
    Command, Filter, MemoryBody, MemoryDraft, Put, Retriever, SearchQuery, Store, UnixMs,
};

const WORDS: usize = 20;
const VOCABULARY: usize = 50_000;
const BATCH: usize = 1_000;
const THREAD_MEMORIES: usize = 40;
const SMALL_WORKSPACE: usize = 1_000;
const HITS: usize = 10;
const PLANTED: usize = 100;
const WRITERS: usize = 100;
/// The first are written in a second or two, so that what is still to be indexed at the end counts.
const WRITTEN: [usize; 3] = [40_000, 100_000, 1_000_000];
/// As the server does it.
const FOLLOW_EVERY: Duration = Duration::from_millis(20);

/// The allocator of the real program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    WRITTEN.into_iter().for_each(write_and_index);
    let told: Vec<usize> = std::env::args().skip(1).map(|size| size.parse().unwrap()).collect();
    let sizes = if told.is_empty() { vec![10_000, 100_000] } else { told };
    for size in sizes.into_iter().filter(|size| *size > 0) {
        compare(size, size);
        compare(size, SMALL_WORKSPACE);
    }
}

/// Storing and indexing by many writers at once, each waiting for its answer, beside FTS5 that is written to in the same
/// way, and beside FTS5 that is spared the waiting: one thread, and transactions of as many memories as there are writers.
fn write_and_index(count: usize) {
    println!("{count} memories by {WRITERS} writers");
    let (texts, folder) = (Texts::new(), tempfile::tempdir().unwrap());
    let mut rng = Rng::with_seed(2);
    let drawn: Vec<String> = (0..count).map(|_| texts.draw(&mut rng)).collect();
    let in_folder = |name| folder.path().join(name);
    let (fts, fts_cpu) = with_cpu(|| write_fts(&in_folder("fts.db"), &drawn));
    let (alone, alone_cpu) = with_cpu(|| write_fts_alone(&in_folder("fts-alone.db"), &drawn));
    let ((answered, found), cpu) = with_cpu(|| write_ours(folder.path(), &drawn));
    let each = |cpu: Duration| cpu.as_secs_f64() * 1e6 / count as f64;
    for (name, took, cpu) in [
        ("fts5", fts, fts_cpu),
        ("fts5 by one thread", alone, alone_cpu),
        ("answered", answered, cpu),
        ("indexed", found, cpu),
    ] {
        println!(
            "{name:<18} {:>9.0} memories/s   ratio to fts5 {:.2}, by one thread {:.2}   cpu {:>5.1} µs",
            per_second(count, took),
            fts.as_secs_f64() / took.as_secs_f64(),
            alone.as_secs_f64() / took.as_secs_f64(),
            each(cpu),
        );
    }
}

/// What all threads computed meanwhile: it says more than the clock where others use the machine, too.
fn with_cpu<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let before = process_cpu();
    let result = work();
    (result, process_cpu() - before)
}

fn process_cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let behind_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks =
        behind_name.split_whitespace().skip(11).take(2).filter_map(|n| n.parse::<u64>().ok());
    Duration::from_millis(ticks.sum::<u64>() * 10)
}

/// One writer commits whatever waits, as the store does.
fn write_fts(path: &Path, texts: &[String]) -> Duration {
    let mut db = open_fts(path);
    let (waiting, queue) = mpsc::channel::<(String, mpsc::Sender<()>)>();
    let start = Instant::now();
    thread::scope(|scope| {
        scope.spawn(move || {
            while let Ok(first) = queue.recv() {
                let group: Vec<_> = iter::once(first).chain(queue.try_iter()).collect();
                commit_fts(&mut db, group.iter().map(|(text, _)| text));
                group.iter().for_each(|(_, answer)| answer.send(()).unwrap());
            }
        });
        let waiting = waiting;
        write_all(texts, |text| {
            let (answer, answered) = mpsc::channel();
            waiting.send((text.to_owned(), answer)).unwrap();
            answered.recv().unwrap();
        });
    });
    start.elapsed()
}

fn write_fts_alone(path: &Path, texts: &[String]) -> Duration {
    let mut db = open_fts(path);
    let start = Instant::now();
    texts.chunks(WRITERS).for_each(|group| commit_fts(&mut db, group.iter()));
    start.elapsed()
}

fn commit_fts<'t>(db: &mut Connection, texts: impl Iterator<Item = &'t String>) {
    let transaction = db.transaction().unwrap();
    for text in texts {
        let sql = "insert into memory (text, space) values (?1, 'space-0')";
        transaction.prepare_cached(sql).unwrap().execute([text]).unwrap();
    }
    transaction.commit().unwrap();
}

/// Until every write is answered, and until all are found.
fn write_ours(folder: &Path, texts: &[String]) -> (Duration, Duration) {
    let store = SqliteStore::open(&folder.join("store.db"), Options::default()).unwrap();
    let store: Arc<dyn Store> = Arc::new(store);
    let (path, embedder) = (folder.join("index"), Arc::new(BuiltInEmbedder));
    let index = SearchIndex::open(&path, store.clone(), embedder, IndexOptions::default()).unwrap();
    let space: WorkspaceName = "space-0".parse().unwrap();
    let writing = AtomicBool::new(true);
    let start = Instant::now();
    let (answered, found) = thread::scope(|scope| {
        scope.spawn(|| {
            while writing.load(Ordering::SeqCst) {
                block_on(index.follow(&space)).unwrap();
                thread::sleep(FOLLOW_EVERY);
            }
        });
        write_all(texts, |text| write_one(&*store, text));
        let answered = start.elapsed();
        // Whoever searches does not wait for the next time that the index follows.
        search(&index, &texts[texts.len() - 1]);
        let found = start.elapsed();
        writing.store(false, Ordering::SeqCst);
        (answered, found)
    });
    let status = block_on(index.status(&space)).unwrap();
    assert_eq!((status.memories, status.indexed), (texts.len() as u64, status.newest));
    (answered, found)
}

fn write_all(texts: &[String], write: impl Fn(&str) + Sync) {
    let write = &write;
    thread::scope(|scope| {
        for share in texts.chunks(texts.len() / WRITERS) {
            scope.spawn(move || share.iter().for_each(|text| write(text)));
        }
    });
}

fn write_one(store: &dyn Store, text: &str) {
    let mut command = Command::new("space-0".parse().unwrap(), UnixMs(1_700_000_000_000));
    let body = MemoryBody { text: text.to_owned(), ..MemoryBody::default() };
    command.puts.push(Put::NewMemory(Box::new(MemoryDraft { body, content: None })));
    block_on(store.apply(vec![command])).unwrap().remove(0).unwrap();
}

/// One run: so many memories, in workspaces of so many.
fn compare(size: usize, per_workspace: usize) {
    println!("\n{size} memories, {per_workspace} in a workspace");
    let texts = Texts::new();
    let folder = tempfile::tempdir().unwrap();
    let queries: Vec<String> = {
        let mut rng = Rng::with_seed(7);
        (0..if size > 100_000 { 31 } else { 101 }).map(|_| texts.draw(&mut rng)).collect()
    };
    let fts = fill_fts(&folder.path().join("fts.db"), &texts, size, per_workspace);
    let fts_times = time_each(&queries, |query| search_fts(&fts.0, query, size > per_workspace));
    let store = fill_store(&texts, size, per_workspace);
    let path = folder.path().join("index");
    let before = resident_mb();
    let (index, took) = build(&path, store.clone(), size, per_workspace);
    println!(
        "index    {:>9.0} memories/s   fts5 {:>9.0}/s   ratio {:.2}",
        per_second(size, took),
        per_second(size, fts.1),
        fts.1.as_secs_f64() / took.as_secs_f64()
    );
    print_times(&time_each(&queries, |query| search(&index, query)), &fts_times);
    let (index_mb, fts_mb) = (size_mb(&path), size_mb(&folder.path().join("fts.db")));
    println!(
        "disk     index {index_mb} MB   fts5 {fts_mb} MB   resident after building +{} MB",
        resident_mb() - before
    );
    drop(index);
    cold_start(&path, store.clone(), &queries[0]);
    if size == per_workspace {
        overlaps(&path, store, &queries);
    }
}

/// How many of the best by words, and by meaning, are found as when nothing is left out.
fn overlaps(path: &Path, store: Arc<ModelStore>, queries: &[String]) {
    let whole = Recipe::default();
    let words = Recipe { words: 1.0, meaning: 0.0, ..whole };
    let meaning = Recipe { words: 0.0, meaning: 1.0, ..whole };
    let limits = IndexLimits::default();
    let exact =
        IndexLimits { read_postings_max: u64::MAX, exact_vectors_max: usize::MAX, ..limits };
    for (name, recipe, count) in
        [("words", words, 150), ("meaning", meaning, 150), ("hits", whole, HITS)]
    {
        let found = |limits| {
            hits_of_each(path, store.clone(), IndexOptions { recipe, limits }, queries, count)
        };
        let (wanted, found) = (found(exact), found(limits));
        let same = |(wanted, found): (&Vec<MemoryId>, &Vec<MemoryId>)| {
            wanted.iter().filter(|id| found.contains(id)).count()
        };
        let all: usize = wanted.iter().map(Vec::len).sum();
        let same: usize = wanted.iter().zip(&found).map(same).sum();
        println!("overlap  {name} {:.3} of the best {count}", same as f64 / all as f64);
    }
    for (name, limits) in [("bounded", limits), ("exact", exact)] {
        let options = IndexOptions { recipe: meaning, limits };
        println!("planted  {name} {:.3} found by meaning", planted(path, store.clone(), options));
    }
}

/// How often a memory is among the hits for every second word of it.
fn planted(path: &Path, store: Arc<ModelStore>, options: IndexOptions) -> f64 {
    let (texts, mut rng) = (Texts::new(), Rng::with_seed(2));
    let every_second = |text: String| text.split(' ').step_by(2).collect::<Vec<_>>().join(" ");
    let asked: Vec<String> = (0..PLANTED).map(|_| every_second(texts.draw(&mut rng))).collect();
    let found = hits_of_each(path, store, options, &asked, HITS);
    let is_found = |(number, hits): (usize, &Vec<MemoryId>)| {
        hits.iter().any(|id| id.number() == number as u64 + 1)
    };
    found.iter().enumerate().filter(|each| is_found(*each)).count() as f64 / PLANTED as f64
}

fn hits_of_each(
    path: &Path,
    store: Arc<ModelStore>,
    options: IndexOptions,
    queries: &[String],
    limit: usize,
) -> Vec<Vec<MemoryId>> {
    let index = SearchIndex::open(path, store, Arc::new(BuiltInEmbedder), options).unwrap();
    let space = "space-0".parse().unwrap();
    let hits = |text: &String| {
        let asked = SearchQuery { limit, ..query(text) };
        let answer = block_on(index.search(&space, asked)).unwrap();
        answer.hits.iter().map(|hit| hit.id).collect()
    };
    queries.iter().map(hits).collect()
}

/// How long each search took, sorted, and what one computed on average.
struct Times {
    wall: Vec<Duration>,
    cpu_mean: Duration,
}

fn print_times(ours: &Times, fts: &Times) {
    for (name, share) in [("p50", 0.5), ("p99", 0.99)] {
        print_ratio(name, percentile(&ours.wall, share), percentile(&fts.wall, share));
    }
    print_ratio("cpu", ours.cpu_mean, fts.cpu_mean);
}

fn print_ratio(name: &str, ours: Duration, fts: Duration) {
    let ratio = fts.as_secs_f64() / ours.as_secs_f64();
    println!("search   {name} {ours:>10.2?}   fts5 {fts:>10.2?}   ratio {ratio:.1}");
}

fn cold_start(path: &Path, store: Arc<ModelStore>, query: &str) {
    let before = resident_mb();
    let start = Instant::now();
    let index = open(path, store);
    search(&index, query);
    println!(
        "cold     first answer after {:.2?}, +{} MB resident",
        start.elapsed(),
        resident_mb() - before
    );
}

/// Words by Zipf's law.
struct Texts {
    words: Vec<String>,
    sums: Vec<f64>,
}

impl Texts {
    fn new() -> Self {
        let mut rng = Rng::with_seed(1);
        let syllable = |rng: &mut Rng| {
            let consonant = char::from(b"bdfgklmnprstvz"[rng.usize(..14)]);
            format!("{consonant}{}", char::from(b"aeiou"[rng.usize(..5)]))
        };
        let word = |rng: &mut Rng| (0..4).map(|_| syllable(rng)).collect::<String>();
        let words = (0..VOCABULARY).map(|_| word(&mut rng)).collect();
        let mut sum = 0.0;
        let sums = (1..=VOCABULARY).map(|rank| {
            sum += 1.0 / rank as f64;
            sum
        });
        Self { words, sums: sums.collect() }
    }

    fn draw(&self, rng: &mut Rng) -> String {
        let total = self.sums[VOCABULARY - 1];
        let word = |rng: &mut Rng| {
            let rank = self.sums.partition_point(|sum| *sum < rng.f64() * total);
            self.words[rank.min(VOCABULARY - 1)].as_str()
        };
        (0..WORDS).map(|_| word(rng)).collect::<Vec<_>>().join(" ")
    }
}

fn workspace(number: usize, per_workspace: usize) -> String {
    format!("space-{}", number / per_workspace)
}

fn open_fts(path: &Path) -> Connection {
    let db = Connection::open(path).unwrap();
    db.execute_batch(
        "pragma journal_mode = wal; pragma synchronous = full;
         create virtual table memory using fts5(text, space unindexed, tokenize = 'porter');",
    )
    .unwrap();
    db
}

fn fill_fts(path: &Path, texts: &Texts, size: usize, per: usize) -> (Connection, Duration) {
    let mut db = open_fts(path);
    let mut rng = Rng::with_seed(2);
    let start = Instant::now();
    for batch in 0..size / BATCH {
        let transaction = db.transaction().unwrap();
        {
            let sql = "insert into memory (text, space) values (?1, ?2)";
            let mut insert = transaction.prepare_cached(sql).unwrap();
            for number in 0..BATCH {
                let space = workspace(batch * BATCH + number, per);
                insert.execute((texts.draw(&mut rng), space)).unwrap();
            }
        }
        transaction.commit().unwrap();
    }
    (db, start.elapsed())
}

fn search_fts(db: &Connection, query: &str, narrowed: bool) {
    let words: Vec<&str> = query.split(' ').collect();
    let narrow = if narrowed { "and space = 'space-0'" } else { "" };
    let sql = format!(
        "select rowid from memory where memory match ?1 {narrow} order by rank limit {HITS}"
    );
    let mut select = db.prepare_cached(&sql).unwrap();
    let rows = select.query_map([words.join(" OR ")], |row| row.get::<_, i64>(0)).unwrap();
    assert!(rows.count() > 0);
}

fn fill_store(texts: &Texts, size: usize, per: usize) -> Arc<ModelStore> {
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

fn open(path: &Path, store: Arc<ModelStore>) -> SearchIndex {
    SearchIndex::open(path, store, Arc::new(BuiltInEmbedder), IndexOptions::default()).unwrap()
}

fn build(path: &Path, store: Arc<ModelStore>, size: usize, per: usize) -> (SearchIndex, Duration) {
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

fn query(text: &str) -> SearchQuery {
    let now = UnixMs(1_700_000_000_000);
    let (text, filter) = (text.to_owned(), Filter::default());
    SearchQuery { text, filter, now, limit: HITS, explain: false }
}

fn search(index: &SearchIndex, text: &str) {
    let answer = block_on(index.search(&"space-0".parse().unwrap(), query(text))).unwrap();
    assert!(!answer.hits.is_empty());
}

fn time_each(queries: &[String], mut search: impl FnMut(&str)) -> Times {
    search(&queries[0]);
    let time = |query: &String| {
        let start = Instant::now();
        search(query);
        start.elapsed()
    };
    let cpu = cpu_time();
    let mut wall: Vec<Duration> = queries.iter().map(time).collect();
    let cpu_mean = (cpu_time() - cpu) / queries.len() as u32;
    wall.sort();
    Times { wall, cpu_mean }
}

/// What this thread has computed, whatever else the machine does.
fn cpu_time() -> Duration {
    let schedule = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let ns = schedule.split(' ').next().and_then(|ns| ns.parse().ok()).unwrap_or_default();
    Duration::from_nanos(ns)
}

fn percentile(sorted: &[Duration], share: f64) -> Duration {
    sorted[((sorted.len() - 1) as f64 * share).round() as usize]
}

fn per_second(count: usize, took: Duration) -> f64 {
    count as f64 / took.as_secs_f64()
}

fn resident_mb() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kb = line.and_then(|line| line.split_whitespace().nth(1)).and_then(|kb| kb.parse().ok());
    kb.unwrap_or(0i64) / 1024
}

fn size_mb(path: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(path) else {
        return std::fs::metadata(path).map_or(0, |meta| meta.len()) / 1_000_000;
    };
    let sizes = entries.filter_map(|entry| entry.ok()?.metadata().ok());
    sizes.map(|meta| meta.len()).sum::<u64>() / 1_000_000
}
