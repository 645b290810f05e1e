//! What real writers did to their folder.

use std::fs;
use std::path::Path;

use fastrand::Rng;
use spine_tests::STORE_FILE;

use crate::strace::strace;
use crate::strace_log::{Operation, TRACED, parse};
use crate::writer::write_command;

const THREADS: [usize; 3] = [1, 4, 16];
const ACKS: &str = "150";
/// So small that a recording has several checkpoints, and the log starts from its beginning again.
const CHECKPOINT_PAGES: &str = "120";

/// Two writers one after the other, so that a clean end and a second start are recorded too.
pub fn record(settings: &[&str], rng: &mut Rng) -> Vec<Operation> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    let operations: Vec<_> =
        (0..2).flat_map(|_| record_writer(&path, settings, &[], rng)).collect();
    assert!(has_checkpoint_under_load(&operations), "no checkpoint was recorded");
    operations
}

/// Whether the database itself was written to between two acknowledgements.
fn has_checkpoint_under_load(operations: &[Operation]) -> bool {
    let is_ack = |operation: &Operation| matches!(operation, Operation::Acknowledged(_));
    let loaded = operations.iter().skip_while(|operation| !is_ack(operation));
    let mut moved = loaded.skip_while(
        |operation| !matches!(operation, Operation::Written { file, .. } if file == STORE_FILE),
    );
    moved.any(is_ack)
}

/// A writer whose disk fails once, and one that goes on after it. In a new store most failures hit its
/// creation, so that a store from before is the other case.
pub fn record_failed_fsync(nth: usize, new_store: bool, rng: &mut Rng) -> Vec<Operation> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    let inject = format!("inject=fsync,fdatasync:error=EIO:when={nth}");
    let (few, until_failure) = (["--acks", "20"], ["--acks", "100000"]);
    let mut operations = Vec::new();
    if !new_store {
        operations.extend(record_writer(&path, &few, &[], rng));
    }
    operations.extend(record_writer(&path, &until_failure, &["-e", &inject], rng));
    let failed = |operation: &Operation| matches!(operation, Operation::SyncFailed { .. });
    assert!(operations.iter().any(failed), "there was no fsync number {nth}");
    operations.extend(record_writer(&path, &few, &[], rng));
    operations
}

fn record_writer(
    folder: &Path,
    settings: &[&str],
    tracing: &[&str],
    rng: &mut Rng,
) -> Vec<Operation> {
    let log = tempfile::NamedTempFile::new().unwrap();
    let (seed, threads) = (rng.u64(..).to_string(), rng.choice(THREADS).unwrap());
    let load = ["--acks", ACKS, "--checkpoint-pages", CHECKPOINT_PAGES, "--seed", &seed];
    let command = write_command(folder, threads, &[&load, settings].concat());
    let tracing = [&["--seccomp-bpf", "-e", TRACED], tracing].concat();
    let output = strace(&tracing, log.path(), &command);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() || output.stdout.ends_with(b"Unavailable\n"), "{said}");
    parse(&fs::read_to_string(log.path()).unwrap(), folder)
}
