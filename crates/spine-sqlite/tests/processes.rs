//! One process on one file, whatever becomes of it.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::io::Read;
use std::path::PathBuf;

use common::{child, kind_of_open, lines_of, open, shell, wait_for, write};
use rusqlite::{Connection, OpenFlags};
use spine_store::{ErrorKind, Store};

#[test]
#[ignore = "run by another test, in a process of its own"]
fn holds_the_store_until_killed() {
    let path = PathBuf::from(std::env::var_os("SPINE_TEST_STORE").unwrap());
    let _store = open(&path);
    println!("\nopen");
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

#[test]
fn second_process_is_told_that_the_store_is_in_use() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spine.db");
    let mut other = child(shell(""), "holds_the_store_until_killed", &path);
    let mut lines = lines_of(&mut other);
    wait_for(&mut lines, "open");
    assert_eq!(kind_of_open(&path), Some(ErrorKind::InUse));
    // SIGKILL: nothing in the process can tidy up.
    other.kill().unwrap();
    other.wait().unwrap();
    assert_eq!(kind_of_open(&path), None);
}

#[test]
fn second_open_in_one_process_is_refused_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spine.db");
    let store = open(&path);
    assert_eq!(kind_of_open(&path), Some(ErrorKind::InUse));
    drop(store);
    assert_eq!(kind_of_open(&path), None);
}

#[cfg(unix)]
#[test]
fn link_to_the_file_is_no_way_around_the_lock() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spine.db");
    let _store = open(&path);
    let link = folder.path().join("link.db");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    assert_eq!(kind_of_open(&link), Some(ErrorKind::InUse));
}

#[test]
fn missing_folder_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none").join("spine.db");
    assert_eq!(kind_of_open(&path), Some(ErrorKind::CannotOpen));
}

#[test]
fn a_person_can_look_in_while_it_runs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spine.db");
    let store = open(&path);
    write(&store, vec![common::new("seen")]).unwrap();
    let person = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let text: String = person.query_row("SELECT text FROM memories", [], |row| row.get(0)).unwrap();
    assert_eq!(text, "seen");
    write(&store, vec![common::new("goes on")]).unwrap();
}

#[test]
fn every_open_raises_the_incarnation() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spine.db");
    let first = open(&path).identity();
    let second = open(&path).identity();
    assert_eq!((&first.store, &first.history), (&second.store, &second.history));
    assert_eq!((first.incarnation, second.incarnation), (1, 2));
    let other = open(&folder.path().join("other.db")).identity();
    assert_ne!((first.store, first.history), (other.store, other.history));
}
