//! A copy of the store while it is written to.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use common::{new, open, text, write};
use spine_sqlite::CheckDepth;
use spine_store::{ErrorKind, Identity, Store};

#[test]
fn backup_under_load_is_whole_and_of_one_moment() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("spine.db"));
    let (acknowledged, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let copy = folder.path().join("copy.db");
    let before = thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::SeqCst) {
                acknowledged
                    .store(write(&store, vec![new("x"), new("x")]).unwrap() + 1, Ordering::SeqCst);
            }
        });
        while acknowledged.load(Ordering::SeqCst) < 100 {
            thread::yield_now();
        }
        let before = acknowledged.load(Ordering::SeqCst);
        store.backup(&copy).unwrap();
        stop.store(true, Ordering::SeqCst);
        before
    });
    let copy = open(&copy);
    copy.check(CheckDepth::Full).unwrap();
    let next = write(&copy, vec![new("the copy goes on")]).unwrap();
    assert!(next > before, "the copy has less than was acknowledged before it began");
    // Commands are whole in it, and none is missing in between.
    assert_eq!(next % 2, 1);
    assert!((1..next).all(|number| text(&copy, number).is_some()));
}

fn identity_of(path: &Path) -> Identity {
    open(path).identity()
}

#[test]
fn each_restored_copy_has_a_history_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("spine.db"));
    let [first, second] = ["first.db", "second.db"].map(|name| folder.path().join(name));
    store.backup(&first).unwrap();
    std::fs::copy(&first, &second).unwrap();
    let original = store.identity();
    let [first_once, first_again, second] = [&first, &first, &second].map(|path| identity_of(path));
    assert_eq!(original.store, first_once.store);
    assert_ne!(original.history, first_once.history);
    assert_eq!(first_once.history, first_again.history);
    assert_ne!(first_once.history, second.history);
}

#[test]
fn backup_does_not_overwrite_and_leaves_nothing_unfinished() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("spine.db"));
    let taken = folder.path().join("taken.db");
    std::fs::write(&taken, "mine").unwrap();
    assert_eq!(store.backup(&taken).unwrap_err().kind(), ErrorKind::FileExists);
    assert_eq!(std::fs::read(&taken).unwrap(), b"mine");
    let unreachable = folder.path().join("no such folder").join("copy.db");
    assert!(store.backup(&unreachable).is_err());
    store.backup(&folder.path().join("good.db")).unwrap();
    let names = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let unfinished: Vec<_> = names.filter(|n| n.to_string_lossy().contains(".partial")).collect();
    assert_eq!(unfinished, Vec::<std::ffi::OsString>::new());
}
