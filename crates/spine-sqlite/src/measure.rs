//! What the writer measures of its own work.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use spine_store::{SHORT_TIMES_S, StoreStats, Tally};

/// Upper ends of buckets of commands in one commit.
const BATCH_COMMANDS: [f64; 12] =
    [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1_000.0, 2_000.0, 5_000.0];

/// Shared by the writer's thread, which counts, and whoever asks. One lock for each commit is nothing beside its sync.
pub(crate) struct Measured(Mutex<Counted>);

struct Counted {
    commit_s: Tally,
    batch_commands: Tally,
    commits_failed: u64,
}

impl Measured {
    pub(crate) fn new() -> Self {
        let (commit_s, batch_commands) = (Tally::new(&SHORT_TIMES_S), Tally::new(&BATCH_COMMANDS));
        Self(Mutex::new(Counted { commit_s, batch_commands, commits_failed: 0 }))
    }

    /// Counts a commit that has ended.
    pub(crate) fn note(&self, began: Instant, commands: usize, is_written: bool) {
        // What a panic left behind is still numbers.
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if is_written {
            counted.commit_s.add(began.elapsed().as_secs_f64());
            counted.batch_commands.add(commands as f64);
        } else {
            counted.commits_failed += 1;
        }
    }

    pub(crate) fn stats(&self, accepts_writes: bool) -> StoreStats {
        let counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        StoreStats {
            commit_s: counted.commit_s.clone(),
            batch_commands: counted.batch_commands.clone(),
            commits_failed: counted.commits_failed,
            accepts_writes,
        }
    }
}
