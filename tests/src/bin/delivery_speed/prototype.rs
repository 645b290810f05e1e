//! The bare work of a cycle on SQLite, to compare with: an envelope, a delivery and its state, in one file with one writer
//! that commits in groups. There are no events, no leases, no order, no retries, no lineage, and nothing is checked.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use rusqlite::{Connection, Transaction, params};
use spine_engine::assembly::Assembled;
use spine_tests::cycles::{RECEIVED_MAX, RECEIVERS, Worker};
use tokio::sync::{Notify, oneshot};

const JOBS_A_COMMIT_MAX: usize = 2_000;
/// As the store has it: the log is moved into the file when it holds so many.
const LOG_PAGES: u32 = 16_000;

const SCHEMA: &str = "
    CREATE TABLE envelopes (id TEXT NOT NULL UNIQUE, bytes BLOB NOT NULL) STRICT;
    CREATE TABLE deliveries (
        id INTEGER PRIMARY KEY,
        envelope TEXT NOT NULL,
        receiver INTEGER NOT NULL,
        state INTEGER NOT NULL -- 0 pending, 1 accepted, 2 done
    ) STRICT;
    CREATE INDEX deliveries_pending ON deliveries (receiver, id) WHERE state = 0;
";

enum Work {
    Send { envelope: String, bytes: Arc<[u8]>, receiver: usize },
    Receive { receiver: usize },
    Complete { deliveries: Vec<i64> },
}

struct Job {
    work: Work,
    answer: oneshot::Sender<Vec<Handed>>,
}

/// A delivery and its envelope.
pub struct Handed {
    delivery: i64,
    _envelope: Vec<u8>,
}

/// The file, its writer, and who waits.
pub struct Prototype {
    jobs: Sender<Job>,
    arrived: Vec<Notify>,
    over: AtomicBool,
    counted: Arc<Counted>,
    _folder: tempfile::TempDir,
}

#[derive(Default)]
struct Counted {
    jobs: AtomicUsize,
    commits: AtomicUsize,
}

impl Prototype {
    /// An empty one.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let connection = Connection::open(folder.path().join("bare.db")).unwrap();
        connection.pragma_update(None, "journal_mode", "WAL").unwrap();
        connection.pragma_update(None, "synchronous", "FULL").unwrap();
        connection.pragma_update(None, "wal_autocheckpoint", LOG_PAGES).unwrap();
        connection.execute_batch(SCHEMA).unwrap();
        let (jobs, asked) = mpsc::channel();
        let counted = Arc::new(Counted::default());
        let counting = Arc::clone(&counted);
        thread::spawn(move || write(connection, &asked, &counting));
        let arrived = (0..RECEIVERS).map(|_| Notify::new()).collect();
        Self { jobs, arrived, over: AtomicBool::new(false), counted, _folder: folder }
    }

    async fn ask(&self, work: Work) -> Vec<Handed> {
        let (answer, answered) = oneshot::channel();
        self.jobs.send(Job { work, answer }).unwrap();
        answered.await.unwrap()
    }
}

impl Worker for Prototype {
    type Received = Handed;

    async fn send(&self, made: &Assembled, receiver: usize) {
        let (envelope, bytes) = (made.envelope.id.to_string(), made.envelope.shared_bytes());
        self.ask(Work::Send { envelope, bytes, receiver }).await;
        self.arrived.get(receiver).unwrap().notify_one();
    }

    async fn receive(&self, receiver: usize) -> Vec<Handed> {
        loop {
            let received = self.ask(Work::Receive { receiver }).await;
            if !received.is_empty() || self.over.load(Ordering::Relaxed) {
                return received;
            }
            self.arrived.get(receiver).unwrap().notified().await;
        }
    }

    async fn complete(&self, received: Vec<Handed>) {
        let deliveries = received.into_iter().map(|one| one.delivery).collect();
        self.ask(Work::Complete { deliveries }).await;
    }

    fn stop_waiting(&self) {
        self.over.store(true, Ordering::Relaxed);
        self.arrived.iter().for_each(Notify::notify_one);
    }

    fn commands_a_commit(&self) -> f64 {
        let count = |counter: &AtomicUsize| counter.load(Ordering::Relaxed) as f64;
        count(&self.counted.jobs) / count(&self.counted.commits)
    }
}

/// All that wait are committed together, then answered.
fn write(mut connection: Connection, asked: &Receiver<Job>, counted: &Counted) {
    while let Ok(first) = asked.recv() {
        let more = asked.try_iter().take(JOBS_A_COMMIT_MAX - 1);
        let jobs: Vec<Job> = std::iter::once(first).chain(more).collect();
        let transaction = connection.transaction().unwrap();
        let done: Vec<_> = jobs.iter().map(|job| apply(&transaction, &job.work)).collect();
        transaction.commit().unwrap();
        counted.jobs.fetch_add(jobs.len(), Ordering::Relaxed);
        counted.commits.fetch_add(1, Ordering::Relaxed);
        for (job, done) in jobs.into_iter().zip(done) {
            let _ = job.answer.send(done.unwrap());
        }
    }
}

fn apply(transaction: &Transaction<'_>, work: &Work) -> rusqlite::Result<Vec<Handed>> {
    match work {
        Work::Send { envelope, bytes, receiver } => {
            let sql = "INSERT INTO envelopes (id, bytes) VALUES (?, ?)";
            transaction.prepare_cached(sql)?.execute(params![envelope, &bytes[..]])?;
            let sql = "INSERT INTO deliveries (envelope, receiver, state) VALUES (?, ?, 0)";
            transaction.prepare_cached(sql)?.execute(params![envelope, *receiver as i64])?;
            Ok(Vec::new())
        }
        Work::Receive { receiver } => take(transaction, *receiver),
        Work::Complete { deliveries } => {
            set_state(transaction, deliveries.iter().copied(), 2)?;
            Ok(Vec::new())
        }
    }
}

fn take(transaction: &Transaction<'_>, receiver: usize) -> rusqlite::Result<Vec<Handed>> {
    let sql = "SELECT deliveries.id, bytes FROM deliveries \
               JOIN envelopes ON envelopes.id = deliveries.envelope \
               WHERE receiver = ? AND state = 0 ORDER BY deliveries.id LIMIT ?";
    let mut pending = transaction.prepare_cached(sql)?;
    let handed = pending.query_map(params![receiver as i64, RECEIVED_MAX as i64], |row| {
        Ok(Handed { delivery: row.get(0)?, _envelope: row.get(1)? })
    })?;
    let handed = handed.collect::<rusqlite::Result<Vec<_>>>()?;
    set_state(transaction, handed.iter().map(|one| one.delivery), 1)?;
    Ok(handed)
}

fn set_state(
    transaction: &Transaction<'_>,
    deliveries: impl Iterator<Item = i64>,
    state: i64,
) -> rusqlite::Result<()> {
    let mut update = transaction.prepare_cached("UPDATE deliveries SET state = ? WHERE id = ?")?;
    for delivery in deliveries {
        update.execute(params![state, delivery])?;
    }
    Ok(())
}
