//! Moving pages from the log into the file, on a thread of its own while the writer goes on: it waits long for the disk.
//!
//! It never syncs the log. What it moves has been synced by the writer, for a page is seen only after that; and a sync of
//! the log that failed here would lose what the writer has under way, whose own sync would then succeed. The log may start
//! anew only when all of it is in the file and the file is synced. SQLite takes what was moved for synced, so a read
//! transaction holds the log where it is until that is true.

use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;
use spine_store::{ErrorKind, StoreError};
use tracing::error;

use crate::connection::open_reader;
use crate::error::{file_error, read_error, write_error};
use crate::options::{Durability, Options};

/// The second pass moves what came during the first, so that little is left to the writer.
const PASSES: usize = 2;

/// Moves pages from the log into the file; whether all of them could be moved.
pub(super) fn checkpoint(connection: &Connection, mode: &str) -> Result<bool, StoreError> {
    let sql = format!("PRAGMA wal_checkpoint({mode})");
    let blocked = connection.query_row(&sql, [], |row| row.get::<_, i64>(0));
    blocked.map(|blocked| blocked == 0).map_err(|error| write_error(&error))
}

/// After an I/O error nobody knows what is on the disk, and the page cache may lie: no more writes until the file is read
/// afresh.
pub(super) fn refuse_writes_after(
    error: &StoreError,
    accepting: &AtomicBool,
) -> Result<(), StoreError> {
    if matches!(error.kind(), ErrorKind::OutcomeUnknown | ErrorKind::Corrupt) {
        error!(%error, "writes are refused until the store is opened again");
        accepting.store(false, Ordering::SeqCst);
        return Err(error.clone());
    }
    Ok(())
}

/// What the thread works with.
pub(crate) struct Log {
    moving: Connection,
    holding: Connection,
    file: Arc<File>,
}

impl Log {
    pub(crate) fn open(
        path: &Path,
        options: &Options,
        file: Arc<File>,
    ) -> Result<Self, StoreError> {
        let (moving, holding) = (open_reader(path, options)?, open_reader(path, options)?);
        let synchronous = match options.durability {
            Durability::Full => "OFF",
            Durability::Normal => "NORMAL",
        };
        moving.pragma_update(None, "synchronous", synchronous).map_err(read_error)?;
        Ok(Self { moving, holding, file })
    }

    /// After a failure the log is still held, and with it whatever the file may lack.
    fn move_pages(&self) -> Result<(), StoreError> {
        self.hold().map_err(read_error)?;
        checkpoint(&self.moving, "PASSIVE")?;
        self.file.sync_data().map_err(|error| unsynced(&error))?;
        self.let_go()
    }

    fn let_go(&self) -> Result<(), StoreError> {
        if self.holding.is_autocommit() {
            return Ok(());
        }
        self.holding.execute_batch("COMMIT").map_err(read_error)
    }

    fn hold(&self) -> rusqlite::Result<()> {
        self.holding.execute_batch("BEGIN")?;
        self.holding.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
    }
}

/// A file that could not be synced may lack what was moved, though the next sync succeeds.
fn unsynced(error: &std::io::Error) -> StoreError {
    StoreError::new(ErrorKind::OutcomeUnknown, format!("sync the database: {error}"))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Idle,
    Asked,
    Moving,
    /// The rest is the writer's.
    Moved,
    /// Nobody moves any more.
    Closed,
}

struct Shared {
    stage: Mutex<Stage>,
    changed: Condvar,
}

/// The thread, as the writer sees it.
pub(super) struct Mover {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<Result<(), StoreError>>>,
}

impl Mover {
    /// Whether writes are accepted is shared: after a failure they are not.
    pub(super) fn start(log: Log, accepting: Arc<AtomicBool>) -> Result<Self, StoreError> {
        let shared = Arc::new(Shared { stage: Mutex::new(Stage::Idle), changed: Condvar::new() });
        let serving = Arc::clone(&shared);
        let builder = thread::Builder::new().name("store-mover".to_owned());
        let spawned = builder.spawn(move || serve(&serving, &log, &accepting));
        let thread = spawned.map_err(|error| file_error("start the mover", &error))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Asks for the log to be moved; whether that has been done, and the rest is left to the writer.
    pub(super) fn ask(&self) -> bool {
        let mut stage = self.shared.lock();
        let is_moved = *stage == Stage::Moved;
        match *stage {
            Stage::Idle => *stage = Stage::Asked,
            Stage::Moved => *stage = Stage::Idle,
            Stage::Asked | Stage::Moving | Stage::Closed => {}
        }
        self.shared.changed.notify_all();
        is_moved
    }

    /// Two cannot move at once: the second would be turned away, and a sync that failed for one would look well to the
    /// other.
    pub(super) fn wait_until_still(&self) {
        drop(self.shared.wait_while(|stage| matches!(stage, Stage::Asked | Stage::Moving)));
    }

    /// Whether the file has all that was ever moved.
    pub(super) fn close(mut self) -> bool {
        self.end()
    }

    fn end(&mut self) -> bool {
        self.shared.close();
        self.thread.take().is_none_or(|thread| matches!(thread.join(), Ok(Ok(()))))
    }
}

impl Drop for Mover {
    fn drop(&mut self) {
        self.end();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_while(&self, waits: impl Fn(Stage) -> bool) -> MutexGuard<'_, Stage> {
        let waited = self.changed.wait_while(self.lock(), |stage| waits(*stage));
        waited.unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self) {
        *self.lock() = Stage::Closed;
        self.changed.notify_all();
    }

    /// From one stage to another, unless the writer has gone.
    fn go(&self, mut stage: MutexGuard<'_, Stage>, to: Stage) -> bool {
        if *stage == Stage::Closed {
            return false;
        }
        *stage = to;
        self.changed.notify_all();
        true
    }
}

/// Lets the writer not wait for a mover that has ended.
struct CloseOnExit<'a>(&'a Shared);

impl Drop for CloseOnExit<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

fn serve(shared: &Shared, log: &Log, accepting: &AtomicBool) -> Result<(), StoreError> {
    let _close = CloseOnExit(shared);
    loop {
        let idle = |stage| matches!(stage, Stage::Idle | Stage::Moved);
        if !shared.go(shared.wait_while(idle), Stage::Moving) {
            return Ok(());
        }
        let moved = (0..PASSES).try_for_each(|_| log.move_pages());
        moved.or_else(|error| go_on_after(&error, log, accepting))?;
        if !shared.go(shared.lock(), Stage::Moved) {
            return Ok(());
        }
    }
}

/// Without room the pages stay in the log, as they were.
fn go_on_after(error: &StoreError, log: &Log, accepting: &AtomicBool) -> Result<(), StoreError> {
    refuse_writes_after(error, accepting)?;
    log.let_go()
}
