//! SQLite FTS5, given the same words.

use std::iter;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;
use rusqlite::Connection;

use crate::texts::Texts;
use crate::{BATCH, HITS, WRITERS, workspace, write_all};

pub fn open_fts(path: &Path) -> Connection {
    let db = Connection::open(path).unwrap();
    db.busy_timeout(Duration::from_secs(60)).unwrap();
    db.execute_batch(
        "pragma journal_mode = wal; pragma synchronous = full;
         create virtual table if not exists memory using fts5(text, space unindexed, tokenize = 'porter');",
    )
    .unwrap();
    db
}

/// One writer commits whatever waits, as the store does.
pub fn write_fts(path: &Path, texts: &[String]) -> Duration {
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

pub fn write_fts_alone(path: &Path, texts: &[String]) -> Duration {
    let mut db = open_fts(path);
    let start = Instant::now();
    texts.chunks(WRITERS).for_each(|group| commit_fts(&mut db, group.iter()));
    start.elapsed()
}

pub fn commit_fts<'t>(db: &mut Connection, texts: impl Iterator<Item = &'t String>) {
    let transaction = db.transaction().unwrap();
    for text in texts {
        let sql = "insert into memory (text, space) values (?1, 'space-0')";
        transaction.prepare_cached(sql).unwrap().execute([text]).unwrap();
    }
    transaction.commit().unwrap();
}

pub fn fill_fts(path: &Path, texts: &Texts, size: usize, per: usize) -> (Connection, Duration) {
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

pub fn search_fts(db: &Connection, query: &str, narrowed: bool) {
    let words: Vec<&str> = query.split(' ').collect();
    let narrow = if narrowed { "and space = 'space-0'" } else { "" };
    let sql = format!(
        "select rowid from memory where memory match ?1 {narrow} order by rank limit {HITS}"
    );
    let mut select = db.prepare_cached(&sql).unwrap();
    let rows = select.query_map([words.join(" OR ")], |row| row.get::<_, i64>(0)).unwrap();
    assert!(rows.count() > 0);
}
