//! What a crash leaves behind: nothing that was acknowledged is lost, whatever happens to the process, the
//! power or the disk.
//!
//! `SPINE_SEED=n` takes the choices of an earlier run again; how threads take turns is not part of it.
//! `SPINE_SOAK=1` runs the same tests with larger numbers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod disk_full;
mod disk_model;
mod fsync_error;
mod kill;
mod online_backup;
mod power_cut;
mod recording;
mod scale;
mod strace;
mod strace_log;
mod two_processes;
mod writer;
