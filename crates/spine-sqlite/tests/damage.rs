//! A damaged file is reported. It is never repaired, and never emptied.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{default, kind_of_open, open, write};
use rusqlite::Connection;
use spine_sqlite::{CheckDepth, SqliteStore};
use spine_store::testing::block_on;
use spine_store::{
    Change, Collection, Command, DeliveryQuery, DeliveryReads, ErrorKind, EventDraft, LogReads,
    MemoryReads, Put, Record, RecordKey, RecordReads, Store,
};

const PAGE_BYTES: usize = 4096;

fn filled(folder: &Path) -> PathBuf {
    let path = folder.join("spine.db");
    let store = open(&path);
    let texts = (0..500).map(|n| common::new(&format!("{n} {}", "x".repeat(300)))).collect();
    write(&store, texts).unwrap();
    store.check(CheckDepth::Full).unwrap();
    path
}

fn read_all(store: &SqliteStore) -> Option<ErrorKind> {
    let read = block_on(store.memory_changes(&default(), Change::ZERO, 1_000));
    read.err().map(|error| error.kind())
}

#[test]
fn file_that_is_no_database_is_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    fs::write(&path, "somebody's notes, longer than a header").unwrap();
    assert_eq!(kind_of_open(&path), Some(ErrorKind::Corrupt));
    assert_eq!(fs::read_to_string(&path).unwrap(), "somebody's notes, longer than a header");
}

#[test]
fn database_of_another_program_is_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.db");
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE theirs (x)").unwrap();
    let before = fs::read(&path).unwrap();
    assert_eq!(kind_of_open(&path), Some(ErrorKind::NotAStore));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn overwritten_pages_are_found_by_reading_and_by_checking() {
    let folder = tempfile::tempdir().unwrap();
    let path = filled(folder.path());
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2 / PAGE_BYTES * PAGE_BYTES;
    bytes[middle..middle + 8 * PAGE_BYTES].fill(0xAB);
    fs::write(&path, &bytes).unwrap();
    let store = open(&path);
    assert_eq!(store.check(CheckDepth::Quick).unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(read_all(&store), Some(ErrorKind::Corrupt));
    drop(store);
    assert_eq!(fs::read(&path).unwrap()[middle..middle + 8 * PAGE_BYTES], [0xAB; 8 * PAGE_BYTES]);
}

#[test]
fn cut_file_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = filled(folder.path());
    let bytes = fs::read(&path).unwrap();
    let half = bytes.len() / 2 / PAGE_BYTES * PAGE_BYTES;
    fs::write(&path, &bytes[..half]).unwrap();
    let found = match SqliteStore::open(&path, Default::default()) {
        Err(error) => Some(error.kind()),
        Ok(store) => store.check(CheckDepth::Quick).err().map(|error| error.kind()),
    };
    assert_eq!(found, Some(ErrorKind::Corrupt));
    assert!(fs::metadata(&path).unwrap().len() >= half as u64);
}

/// An emptied or missing file beside its log would be taken for a new one by SQLite, which then throws the
/// log away.
#[test]
fn log_without_its_file_is_not_thrown_away() {
    let folder = tempfile::tempdir().unwrap();
    let (path, log) = (folder.path().join("spine.db"), folder.path().join("spine.db-wal"));
    fs::write(&log, [1; 100]).unwrap();
    assert_eq!(kind_of_open(&path), Some(ErrorKind::Corrupt));
    fs::write(&path, "").unwrap();
    assert_eq!(kind_of_open(&path), Some(ErrorKind::Corrupt));
    assert_eq!(fs::read(&log).unwrap(), [1; 100]);
}

/// A delivery, a record and an event, each with one column that only another program can have written.
#[test]
fn damaged_deliveries_records_and_events_are_reported() {
    let edits = [
        "UPDATE deliveries SET state = 7",
        "UPDATE deliveries SET rank = -1",
        "UPDATE deliveries SET agent = ''",
        "UPDATE deliveries SET epoch = -1",
        "UPDATE deliveries SET sequence = -1",
        "UPDATE deliveries SET order_key = char(10)",
        "UPDATE deliveries SET envelope = 'env_?'",
        "UPDATE records SET change = -1",
        "UPDATE events SET delivery = 'dlv_?'",
    ];
    for sql in edits {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("spine.db");
        deliver(&open(&path));
        assert_eq!(read_delivery(&open(&path)), None, "before {sql}");
        Connection::open(&path).unwrap().execute(sql, []).unwrap();
        assert_eq!(read_delivery(&open(&path)), Some(ErrorKind::Corrupt), "{sql}");
    }
}

fn record_key() -> RecordKey {
    RecordKey { collection: Collection::Agent, name: "ann".parse().unwrap() }
}

fn deliver(store: &SqliteStore) {
    let (key, change) = (record_key(), Change::ZERO);
    let record = Record { key, value: b"{}".to_vec(), due_at: None, change };
    let puts = vec![Put::Delivery(Box::new(common::delivery(1))), Put::Record(Box::new(record))];
    let event = EventDraft { delivery: Some(common::delivery(1).id), ..EventDraft::new("test") };
    let command = Command { events: vec![event], ..common::command(puts) };
    block_on(store.apply(vec![command])).unwrap().remove(0).unwrap();
}

/// The first failure of reading all of it.
fn read_delivery(store: &SqliteStore) -> Option<ErrorKind> {
    let (workspace, query) = (default(), DeliveryQuery { limit: 9, ..Default::default() });
    let deliveries = block_on(store.list_deliveries(&workspace, query)).map(drop);
    let records = block_on(store.records(&workspace, vec![record_key()])).map(drop);
    let events = block_on(store.events(&workspace, Change::ZERO, 9)).map(drop);
    deliveries.and(records).and(events).err().map(|error| error.kind())
}

#[test]
fn row_that_this_program_never_wrote_is_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = filled(folder.path());
    let edit = Connection::open(&path).unwrap();
    edit.execute("UPDATE memories SET author = char(10) WHERE number = 7", []).unwrap();
    drop(edit);
    assert_eq!(read_all(&open(&path)), Some(ErrorKind::Corrupt));
}
