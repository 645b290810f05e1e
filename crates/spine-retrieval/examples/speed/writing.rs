//! Storing and indexing by many writers at once, and searching meanwhile.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;
use spine_store::testing::block_on;
use spine_store::{Retriever, Store};

use crate::figures::{Times, per_second, print_times, time_each, with_cpu};
use crate::ours::{Ours, followed, search, space, write_one};
use crate::peer::{commit_fts, open_fts, search_fts, write_fts, write_fts_alone};
use crate::texts::Texts;
use crate::{BATCH, WRITERS, write_all};

/// As those ask who have something else to do: whoever asks all the time asks most while there is least to search.
const ASK_EVERY: Duration = Duration::from_millis(10);

/// Storing and indexing by many writers at once, each waiting for its answer, beside FTS5 that is written to in the same
/// way, and beside FTS5 that is spared the waiting: one thread, and transactions of as many memories as there are writers.
pub fn write_and_index(count: usize) {
    println!("{count} memories by {WRITERS} writers");
    let (texts, folder) = (Texts::new(), tempfile::tempdir().unwrap());
    let mut rng = Rng::with_seed(2);
    let drawn: Vec<String> = (0..count).map(|_| texts.draw(&mut rng)).collect();
    let in_folder = |name| folder.path().join(name);
    let (fts, fts_cpu) = with_cpu(|| write_fts(&in_folder("fts.db"), &drawn));
    let (alone, alone_cpu) = with_cpu(|| write_fts_alone(&in_folder("fts-alone.db"), &drawn));
    let ((answered, found, committed), cpu) = with_cpu(|| write_ours(folder.path(), &drawn));
    let each = |cpu: Duration| cpu.as_secs_f64() * 1e6 / count as f64;
    for (name, took, cpu) in [
        ("fts5", fts, fts_cpu),
        ("fts5 by one thread", alone, alone_cpu),
        ("answered", answered, cpu),
        ("indexed", found, cpu),
        ("committed", committed, cpu),
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

/// Until every write is answered, until all are found, and until a restart would not read them again.
fn write_ours(folder: &Path, texts: &[String]) -> (Duration, Duration, Duration) {
    let Ours { store, index } = Ours::open(folder);
    let start = Instant::now();
    let (answered, found) = followed(&index, || {
        write_all(texts, |text| write_one(&*store, text));
        let answered = start.elapsed();
        // Whoever searches does not wait for the next time that the index follows.
        search(&index, &texts[texts.len() - 1]);
        (answered, start.elapsed())
    });
    block_on(index.maintain(&space())).unwrap();
    let committed = start.elapsed();
    let status = block_on(index.status(&space())).unwrap();
    assert_eq!((status.memories, status.indexed), (texts.len() as u64, status.newest));
    (answered, found, committed)
}

/// How long one waits who searches while as many as before write.
pub fn search_meanwhile(count: usize) {
    println!("\nsearched while {count} memories are written by {WRITERS}");
    let (texts, folder) = (Texts::new(), tempfile::tempdir().unwrap());
    let mut rng = Rng::with_seed(2);
    let drawn: Vec<String> = (0..count).map(|_| texts.draw(&mut rng)).collect();
    let path = folder.path().join("fts.db");
    let mut reader = open_fts(&path);
    commit_fts(&mut reader, drawn.iter().take(BATCH));
    let write = || write_fts(&path, &drawn);
    let (fts, fts_took) = searched(write, &drawn, |query| search_fts(&reader, query, false));
    let Ours { store, index } = Ours::open(folder.path());
    drawn.iter().take(BATCH).for_each(|text| write_one(&*store, text));
    let write = || write_ours_only(&*store, &drawn);
    let (ours, took) = followed(&index, || searched(write, &drawn, |query| search(&index, query)));
    print_times(&ours, &fts);
    println!(
        "answered {:>9.0} memories/s   fts5 {:>9.0}/s   ratio {:.2}",
        per_second(count, took),
        per_second(count, fts_took),
        fts_took.as_secs_f64() / took.as_secs_f64()
    );
}

fn write_ours_only(store: &dyn Store, texts: &[String]) -> Duration {
    let start = Instant::now();
    write_all(texts, |text| write_one(store, text));
    start.elapsed()
}

/// How long each search took until all is written, and how long writing took.
fn searched(
    write: impl FnOnce() -> Duration + Send,
    queries: &[String],
    search: impl FnMut(&str),
) -> (Times, Duration) {
    thread::scope(|scope| {
        let writing = scope.spawn(write);
        let times =
            time_each(queries.iter().take_while(|_| !writing.is_finished()), ASK_EVERY, search);
        (times, writing.join().unwrap())
    })
}
