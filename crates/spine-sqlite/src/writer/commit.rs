//! One group of jobs: one transaction, one fsync, then the answers, then the housekeeping.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use rusqlite::hooks::Wal;
use spine_store::{ErrorKind, Outcome, Put, StoreError};
use tracing::error;

use super::Job;
use super::counters::Counters;
use super::mover::{self, Mover, refuse_writes_after};
use super::places::Places;
use super::statements::Statements;
use super::step::{self, BrokenOff, Undo};
use super::teller::{Teller, Told};
use crate::connection::keep_log_at_close;
use crate::error::write_error;
use crate::measure::Measured;
use crate::options::Options;

/// How long a purge waits for readers, so that it can empty the log.
const EMPTY_LOG_WAIT: Duration = Duration::from_millis(100);
/// How long before it tries again where readers never made way: each try holds up the writer.
const EMPTY_LOG_PAUSE: Duration = Duration::from_secs(2);

/// How many times the pages at which the log is moved it may hold, before the writer waits for the mover.
const LOG_GROWTH_MAX: i32 = 4;

pub(super) struct Committer {
    // Before the connection: the last to be closed is the one that may empty the log.
    mover: Mover,
    connection: Connection,
    busy_wait: Duration,
    accepting: Arc<AtomicBool>,
    measured: Arc<Measured>,
    /// Pages in the log after the last commit.
    log_pages: Arc<AtomicI32>,
    checkpoint_pages: i32,
    checkpointed_at_pages: i32,
    teller: Teller,
    places: Places,
    /// A purge was committed, but its text may still stand in the log: when to empty it.
    empty_log_at: Option<Instant>,
}

impl Committer {
    pub(super) fn new(
        mut connection: Connection,
        mover: Mover,
        teller: Teller,
        options: &Options,
        accepting: Arc<AtomicBool>,
        measured: Arc<Measured>,
    ) -> rusqlite::Result<Self> {
        let log_pages = Arc::new(AtomicI32::new(0));
        let seen = Arc::clone(&log_pages);
        connection.wal_hook(Some(move |_: &mut Wal, pages| {
            seen.store(pages, Ordering::Relaxed);
            Ok(())
        }))?;
        Ok(Self {
            mover,
            connection,
            busy_wait: Duration::from_millis(options.busy_ms_max.into()),
            accepting,
            measured,
            log_pages,
            checkpoint_pages: i32::try_from(options.checkpoint_pages).unwrap_or(i32::MAX),
            checkpointed_at_pages: 0,
            teller,
            places: Places::default(),
            empty_log_at: None,
        })
    }

    pub(super) fn commit(&mut self, jobs: Vec<Job>) {
        let began = Instant::now();
        let result = self.refuse_after_failure().and_then(|()| self.write(&jobs));
        let commands = jobs.iter().map(|job| job.commands.len()).sum();
        self.measured.note(began, commands, result.is_ok());
        if result.is_ok() {
            self.empty_log_after_purge(&jobs);
        }
        if !self.teller.tell(Told { jobs, result }) {
            error!(
                "nobody is answered any more: writes are refused until the store is opened again"
            );
            self.accepting.store(false, Ordering::SeqCst);
        }
        self.checkpoint_when_due();
    }

    fn refuse_after_failure(&self) -> Result<(), StoreError> {
        if self.accepting.load(Ordering::SeqCst) {
            return Ok(());
        }
        let detail = "writes are refused after an earlier failure, until the store is opened again";
        Err(StoreError::new(ErrorKind::Unavailable, detail))
    }

    fn write(&mut self, jobs: &[Job]) -> Result<Vec<Vec<Outcome>>, StoreError> {
        let written = match self.transact(jobs, Undo::Together) {
            Err(BrokenOff::Torn) => self.transact_again(jobs),
            written => written,
        };
        written.map_err(|broken_off| {
            let error = match broken_off {
                BrokenOff::Failed(error) => write_error(&error),
                BrokenOff::Torn => StoreError::new(ErrorKind::Unavailable, "a command was torn"),
            };
            self.forget_places(jobs);
            self.roll_back(&error);
            error
        })
    }

    fn transact_again(&self, jobs: &[Job]) -> Result<Vec<Vec<Outcome>>, BrokenOff> {
        execute(&self.connection, "ROLLBACK")?;
        self.forget_places(jobs);
        self.transact(jobs, Undo::Alone)
    }

    fn transact(&self, jobs: &[Job], undo: Undo) -> Result<Vec<Vec<Outcome>>, BrokenOff> {
        execute(&self.connection, "BEGIN IMMEDIATE")?;
        let statements = Statements::new(&self.connection);
        let mut counters = Counters::default();
        let mut outcomes = Vec::with_capacity(jobs.len());
        for job in jobs {
            let apply =
                |command| step::apply((&statements, &self.places), &mut counters, command, undo);
            outcomes.push(job.commands.iter().map(apply).collect::<Result<_, _>>()?);
        }
        counters.save(&statements)?;
        execute(&self.connection, "COMMIT")?;
        Ok(outcomes)
    }

    fn forget_places(&self, jobs: &[Job]) {
        let commands = jobs.iter().flat_map(|job| &job.commands);
        commands.for_each(|command| self.places.forget_all_of(command));
    }

    /// A full disk passes: the next group may have room.
    fn roll_back(&mut self, error: &StoreError) {
        let open = !self.connection.is_autocommit();
        let failed = open && execute(&self.connection, "ROLLBACK").is_err();
        if refuse_writes_after(error, &self.accepting).is_err() {
            return;
        }
        if failed {
            self.accepting.store(false, Ordering::SeqCst);
        }
        if error.kind() == ErrorKind::DiskFull {
            // Moving the log into the file may make room in the log.
            self.checkpoint("PASSIVE");
        }
    }

    /// What was purged or erased must not be readable in the log either. Where readers are in the way, a later
    /// group tries again.
    fn empty_log_after_purge(&mut self, jobs: &[Job]) {
        let purges = |put: &Put| matches!(put, Put::PurgeMemory(_) | Put::EraseEnvelopeTexts(..));
        let mut puts = jobs.iter().flat_map(|job| &job.commands).flat_map(|command| &command.puts);
        let now = Instant::now();
        if self.empty_log_at.is_none() && puts.any(purges) {
            self.empty_log_at = Some(now);
        }
        if self.empty_log_at.is_some_and(|due| due <= now) {
            self.empty_log_at = (!self.empty_log()).then(|| now + EMPTY_LOG_PAUSE);
        }
    }

    fn empty_log(&self) -> bool {
        let emptied =
            self.connection.busy_timeout(EMPTY_LOG_WAIT).is_ok() && self.checkpoint("TRUNCATE");
        let restored = self.connection.busy_timeout(self.busy_wait);
        emptied && restored.is_ok()
    }

    fn checkpoint_when_due(&mut self) {
        let pages = self.log_pages.load(Ordering::Relaxed);
        if pages < self.checkpointed_at_pages {
            self.checkpointed_at_pages = 0;
        }
        let pages_new = pages - self.checkpointed_at_pages;
        let must = pages_new >= self.checkpoint_pages.saturating_mul(LOG_GROWTH_MAX);
        if pages_new >= self.checkpoint_pages && (self.mover.ask() || must) {
            self.checkpoint("PASSIVE");
            self.checkpointed_at_pages = pages;
        }
    }

    /// Moves pages from the log into the file; whether it could move all of them.
    fn checkpoint(&self, mode: &str) -> bool {
        self.mover.wait_until_still();
        let moved =
            self.refuse_after_failure().and_then(|()| mover::checkpoint(&self.connection, mode));
        moved.unwrap_or_else(|error| {
            let _ = refuse_writes_after(&error, &self.accepting);
            false
        })
    }

    /// Where the file may lack what was moved, the log still has it and is left as it is.
    pub(super) fn close(self) {
        if !self.mover.close() && keep_log_at_close(&self.connection).is_err() {
            error!("the log may be lost although the file lacks what it holds");
        }
    }
}

/// Runs a statement that is used again and again.
pub(super) fn execute(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute([]).map(drop)
}
