//! Moving pages from the log into the file. Most of that is done by a thread of its own while the writer goes on writing:
//! it takes long, for it waits for the disk. The writer itself moves only what came meanwhile, since the log starts anew
//! only where nothing in it is left to move.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;
use spine_store::{ErrorKind, StoreError};

use crate::error::{file_error, write_error};

/// The second pass moves what came during the first, so that little is left to the writer.
const PASSES: usize = 2;

/// Moves pages from the log into the file; whether it could move all of them. After a failure of the disk nothing more
/// is written.
pub(super) fn checkpoint(connection: &Connection, mode: &str, accepting: &AtomicBool) -> bool {
    let sql = format!("PRAGMA wal_checkpoint({mode})");
    let blocked = connection.query_row(&sql, [], |row| row.get::<_, i64>(0));
    let failed = blocked.as_ref().err().map(|error| write_error(error).kind());
    if matches!(failed, Some(ErrorKind::OutcomeUnknown | ErrorKind::Corrupt)) {
        accepting.store(false, Ordering::SeqCst);
    }
    blocked.is_ok_and(|blocked| blocked == 0)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Idle,
    Asked,
    Moving,
    /// The rest is the writer's.
    Moved,
    Closed,
}

struct Shared {
    stage: Mutex<Stage>,
    changed: Condvar,
}

/// The thread, as the writer sees it.
pub(super) struct Mover {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Mover {
    pub(super) fn start(
        connection: Connection,
        accepting: Arc<AtomicBool>,
    ) -> Result<Self, StoreError> {
        let shared = Arc::new(Shared { stage: Mutex::new(Stage::Idle), changed: Condvar::new() });
        let serving = Arc::clone(&shared);
        let builder = thread::Builder::new().name("store-mover".to_owned());
        let spawned = builder.spawn(move || serve(&serving, &connection, &accepting));
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

    /// Two cannot move at once: the second would be turned away.
    pub(super) fn wait_until_still(&self) {
        drop(self.shared.wait_while(|stage| stage == Stage::Moving));
    }
}

impl Drop for Mover {
    fn drop(&mut self) {
        *self.shared.lock() = Stage::Closed;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // One that panicked has nothing left to close.
            let _ = thread.join();
        }
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

fn serve(shared: &Shared, connection: &Connection, accepting: &AtomicBool) {
    loop {
        let idle = |stage| matches!(stage, Stage::Idle | Stage::Moved);
        if !shared.go(shared.wait_while(idle), Stage::Moving) {
            return;
        }
        for _ in 0..PASSES {
            checkpoint(connection, "PASSIVE", accepting);
        }
        if !shared.go(shared.lock(), Stage::Moved) {
            return;
        }
    }
}
