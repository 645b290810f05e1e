//! A disk that reports an error once, at the first fsync, the second, and so on.
//!
//! After a failed fsync the system forgets that the pages were never written, and the next fsync succeeds.
//! A store that goes on acknowledges what is not on the disk.

use std::fs;
use std::path::Path;

use fastrand::Rng;
use spine_tests::Ack;

use crate::scale::{seeded, times};
use crate::strace::strace;
use crate::writer::{Said, Writer, assert_clean, write_command};

const THREADS: usize = 4;
/// More than it gets to.
const ACKS: &str = "100000";
/// So small that checkpoints fail too, not only commits.
const CHECKPOINT_PAGES: &str = "40";

/// The first calls belong to the creation of the store.
#[test]
fn failed_fsync_in_a_new_store_acknowledges_nothing_false() {
    let mut rng = seeded();
    for nth in 1..=times(14, 60) {
        let folder = tempfile::tempdir().unwrap();
        fail_fsync(folder.path(), nth, &mut rng, &[]);
    }
}

/// strace counts in each thread, so that later calls are those of the writer.
#[test]
fn failed_fsync_in_a_store_at_work_acknowledges_nothing_false() {
    let (mut rng, mut unknown) = (seeded(), 0);
    for nth in 1..=times(12, 60) {
        let folder = tempfile::tempdir().unwrap();
        let earlier = Writer::run(folder.path(), 1, &["--acks", "5"]).acks;
        let errors = fail_fsync(folder.path(), nth, &mut rng, &earlier);
        unknown += usize::from(errors.iter().any(|error| error == "OutcomeUnknown"));
    }
    assert!(unknown > 0, "no failed fsync hit a commit");
}

/// Gives the errors that the writer was told.
fn fail_fsync(folder: &Path, nth: usize, rng: &mut Rng, earlier: &[Ack]) -> Vec<String> {
    let log = tempfile::NamedTempFile::new().unwrap();
    let seed = rng.u64(..).to_string();
    let settings = ["--acks", ACKS, "--checkpoint-pages", CHECKPOINT_PAGES, "--seed", &seed];
    let inject = format!("inject=fsync,fdatasync:error=EIO:when={nth}");
    let options = ["-e", "trace=fsync,fdatasync", "-e", &inject];
    let output = strace(&options, log.path(), &write_command(folder, THREADS, &settings));
    let log = fs::read_to_string(log.path()).unwrap();
    assert!(log.contains("(INJECTED)"), "there was no fsync number {nth}");
    let Said { mut acks, errors } = Said::parse(&output.stdout);
    assert!(!errors.is_empty(), "the writer was not told of failed fsync number {nth}");
    assert_refused(&errors, nth);
    acks.extend(earlier);
    assert_clean(folder, &acks);
    errors
}

/// The writers in the failed commit are told that the outcome is unknown, all later ones that nothing was
/// written.
fn assert_refused(errors: &[String], nth: usize) {
    let known = ["OutcomeUnknown", "Unavailable"];
    assert!(errors.iter().all(|error| known.contains(&error.as_str())), "fsync {nth}: {errors:?}");
    assert_eq!(errors.last().unwrap(), "Unavailable", "fsync {nth}: {errors:?}");
}
