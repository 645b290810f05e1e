//! The writer's queue, its waits, its end, and what a purge leaves on the disk.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::fs;

use common::{command, default, id, kind_of_open, new, open, text, write};
use rusqlite::Connection;
use spine_sqlite::{CheckDepth, Options, SqliteStore};
use spine_store::testing::block_on;
use spine_store::{Change, ErrorKind, LogReads, MemoryBody, MemoryDraft, Put, Store};

/// Somebody with `sqlite3` in the middle of a transaction.
fn person_in_the_way(folder: &tempfile::TempDir) -> Connection {
    let person = Connection::open(folder.path().join("spine.db")).unwrap();
    person.execute_batch("BEGIN IMMEDIATE").unwrap();
    person
}

#[test]
fn full_queue_is_said_at_once_and_loses_nothing_it_took() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { queue_commands_max: 3, busy_ms_max: 60_000, ..Options::default() };
    let store = SqliteStore::open(&folder.path().join("spine.db"), options).unwrap();
    let person = person_in_the_way(&folder);
    let waiting: Vec<_> = (0..10).map(|_| store.apply(vec![command(vec![new("x")])])).collect();
    person.execute_batch("ROLLBACK").unwrap();
    let answers: Vec<_> = waiting.into_iter().map(block_on).collect();
    let (taken, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(Result::is_ok);
    assert!(taken.len() >= 3, "{} were taken", taken.len());
    assert!(!refused.is_empty());
    assert!(refused.iter().all(|r| r.as_ref().unwrap_err().kind() == ErrorKind::Overloaded));
    assert_eq!(block_on(store.newest_change(&default())), Ok(Change(taken.len() as u64)));
}

#[test]
fn waiting_for_a_person_has_an_end_and_is_no_lasting_failure() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { busy_ms_max: 10, ..Options::default() };
    let store = SqliteStore::open(&folder.path().join("spine.db"), options).unwrap();
    let person = person_in_the_way(&folder);
    let refused = write(&store, vec![new("x")]).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unavailable, "{}", refused.detail());
    person.execute_batch("ROLLBACK").unwrap();
    assert_eq!(write(&store, vec![new("x")]), Ok(1));
}

#[test]
fn caller_that_stops_waiting_takes_nothing_back() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("spine.db"));
    drop(store.apply(vec![command(vec![new("kept")])]));
    drop(store);
    assert_eq!(text(&open(&folder.path().join("spine.db")), 1).as_deref(), Some("kept"));
}

/// SQLite would write what its cache has no room for before the commit. The store's writes to the log wait for their commit's
/// sync; of a command that is taken back they would wait on, and be written over whatever somebody else has put there.
#[test]
fn command_larger_than_the_cache_is_not_in_the_log_before_its_commit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spine.db");
    let options = Options { writer_cache_kib: 64, ..Options::default() };
    let store = SqliteStore::open(&path, options).unwrap();
    let log_bytes = || fs::metadata(folder.path().join("spine.db-wal")).unwrap().len();
    let (before, long) = (log_bytes(), "x".repeat(10_000));
    let mut puts: Vec<_> = (0..50).map(|_| new(&long)).collect();
    let last = puts.len() as u64;
    puts.push(Put::DeleteMemory(id(1_000)));
    let refused = write(&store, puts.clone()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::GuardFailed, "{}", refused.detail());
    assert!(log_bytes() - before < 100_000, "the log grew by {}", log_bytes() - before);
    puts.pop();
    assert_eq!(write(&store, puts), Ok(1));
    assert_eq!(text(&store, last), Some(long));
    store.check(CheckDepth::Full).unwrap();
}

#[test]
fn purged_text_is_in_no_file_when_the_purge_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("spine.db"));
    let needle = "a secret that must not stay";
    // Short and long: in a page of its own, and in pages behind it.
    let long = format!("{needle}{}", "x".repeat(20_000));
    let body = MemoryBody { title: Some(needle.to_owned()), text: long, ..MemoryBody::default() };
    let revised = Put::ReviseMemory(id(1), Box::new(MemoryDraft { body, content: None }));
    write(&store, vec![new(needle), new("another")]).unwrap();
    write(&store, vec![revised]).unwrap();
    assert!(files_hold(&folder, needle));
    write(&store, vec![Put::PurgeMemory(id(1))]).unwrap();
    assert!(!files_hold(&folder, needle));
    assert_eq!(text(&store, 2).as_deref(), Some("another"));
}

fn files_hold(folder: &tempfile::TempDir, needle: &str) -> bool {
    let files = fs::read_dir(folder.path()).unwrap().map(|entry| fs::read(entry.unwrap().path()));
    let holds = |bytes: Vec<u8>| bytes.windows(needle.len()).any(|part| part == needle.as_bytes());
    files.map(Result::unwrap).any(holds)
}

/// Beside tests that start processes this one failed now and then: between fork and exec a child holds every
/// lock of its parent. This binary starts none.
#[test]
fn second_open_in_one_process_is_refused_until_the_first_is_closed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spine.db");
    let store = open(&path);
    assert_eq!(kind_of_open(&path), Some(ErrorKind::InUse));
    drop(store);
    assert_eq!(kind_of_open(&path), None);
}
