//! The one writer. It commits in groups: whatever waits is one transaction with one fsync.

mod commit;
mod counters;
pub(crate) mod deliveries;
mod envelopes;
mod memories;
mod mover;
mod places;
mod records;
mod statements;
mod step;
mod teller;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;
use spine_store::limits::check_apply;
use spine_store::{Command, ErrorKind, Outcome, StoreError, StoreFuture, StoreStats};

use crate::error::{file_error, read_error};
use crate::measure::Measured;
use crate::options::Options;
use crate::queue::{Queue, Refused, Weight};
use crate::recent::Recent;
use crate::reply::{self, Answerer};
use commit::Committer;
pub(crate) use mover::Log;
use mover::Mover;
use teller::Teller;

/// The commands of one call, and whom to answer.
struct Job {
    commands: Vec<Command>,
    answerer: Answerer<Result<Vec<Outcome>, StoreError>>,
}

pub(crate) struct Writer {
    queue: Arc<Queue<Job>>,
    accepting: Arc<AtomicBool>,
    measured: Arc<Measured>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(crate) fn start(
        connection: Connection,
        log: Log,
        options: &Options,
        recent: Arc<Recent>,
    ) -> Result<Self, StoreError> {
        let max = Weight { commands: options.queue_commands_max, bytes: options.queue_bytes_max };
        let queue = Arc::new(Queue::new(max));
        let accepting = Arc::new(AtomicBool::new(true));
        let measured = Arc::new(Measured::new());
        let mover = Mover::start(log, Arc::clone(&accepting))?;
        let (accepts, measures) = (Arc::clone(&accepting), Arc::clone(&measured));
        let teller = Teller::start(recent)?;
        let committer = Committer::new(connection, mover, teller, options, accepts, measures);
        let committer = committer.map_err(read_error)?;
        let (served, commands_max) = (Arc::clone(&queue), options.commit_commands_max);
        let builder = thread::Builder::new().name("store-writer".to_owned());
        let spawned = builder.spawn(move || serve(&served, committer, commands_max));
        let thread = spawned.map_err(|error| file_error("start the writer", &error))?;
        Ok(Self { queue, accepting, measured, thread: Some(thread) })
    }

    pub(crate) fn accepts_writes(&self) -> bool {
        self.accepting.load(Ordering::SeqCst)
    }

    pub(crate) fn stats(&self) -> StoreStats {
        self.measured.stats(self.accepts_writes())
    }

    /// Queues the commands at once, before the future is first polled.
    pub(crate) fn apply(&self, commands: Vec<Command>) -> StoreFuture<'static, Vec<Outcome>> {
        let (answerer, answer) = reply::channel();
        let queued = check_apply(commands.len()).and_then(|()| self.queue(commands, answerer));
        Box::pin(async move {
            queued?;
            let lost = || StoreError::new(ErrorKind::OutcomeUnknown, "the writer thread has ended");
            answer.await.ok_or_else(lost)?
        })
    }

    fn queue(
        &self,
        commands: Vec<Command>,
        answerer: Answerer<Result<Vec<Outcome>, StoreError>>,
    ) -> Result<(), StoreError> {
        let bytes = commands.iter().map(Command::size_bytes).sum();
        let weight = Weight { commands: commands.len(), bytes };
        self.queue.push(Job { commands, answerer }, weight).map_err(|refused| match refused {
            Refused::Full => StoreError::new(ErrorKind::Overloaded, "the writer's queue is full"),
            Refused::Closed => StoreError::new(ErrorKind::Unavailable, "the writer has stopped"),
        })
    }
}

/// Lets nobody wait for a writer that panicked.
struct AbandonOnExit<'a>(&'a Queue<Job>);

impl Drop for AbandonOnExit<'_> {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

fn serve(queue: &Queue<Job>, mut committer: Committer, commands_max: usize) {
    let _abandon = AbandonOnExit(queue);
    loop {
        let jobs = queue.take(commands_max);
        if jobs.is_empty() {
            return committer.close();
        }
        committer.commit(jobs);
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue.close();
        if let Some(thread) = self.thread.take() {
            // A writer that panicked has answered nobody, and SQLite rolls back by itself.
            let _ = thread.join();
        }
    }
}
