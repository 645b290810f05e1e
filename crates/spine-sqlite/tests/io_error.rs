//! After an I/O error nobody knows what is on the disk: the store says so, and takes no more writes.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::path::PathBuf;

use common::{child, lines_of, open, shell, text, wait_for, write, write_until_refused};
use spine_sqlite::CheckDepth;
use spine_store::ErrorKind;

const TEXT: &str = "0123456789";

#[test]
#[ignore = "run by another test, in a process whose files cannot grow"]
fn writes_until_the_file_cannot_grow() {
    let path = PathBuf::from(std::env::var_os("SPINE_TEST_STORE").unwrap());
    let store = open(&path);
    let (acknowledged, refusal) = write_until_refused(&store, TEXT);
    assert_eq!(refusal.kind(), ErrorKind::OutcomeUnknown, "{}", refusal.detail());
    assert!(refusal.to_string().contains("retry with the same Idempotency-Key"));
    assert!(!store.accepts_writes());
    let next = write(&store, vec![common::new(TEXT)]).unwrap_err();
    assert_eq!(next.kind(), ErrorKind::Unavailable, "{}", next.detail());
    // Reads go on.
    assert_eq!(text(&store, acknowledged).as_deref(), Some(TEXT));
    println!("\nacknowledged {acknowledged}");
}

#[test]
fn store_refuses_writes_after_an_io_error_until_it_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spine.db");
    // With the signal ignored, a write beyond the limit fails as a broken disk's would.
    let limited = shell("trap '' XFSZ; ulimit -f 1000;");
    let mut limited = child(limited, "writes_until_the_file_cannot_grow", &path);
    let mut lines = lines_of(&mut limited);
    let acknowledged: u64 = wait_for(&mut lines, "acknowledged ").parse().unwrap();
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert!(limited.wait().unwrap().success(), "{rest:?}");
    let store = open(&path);
    store.check(CheckDepth::Full).unwrap();
    for number in 1..=acknowledged {
        assert_eq!(text(&store, number).as_deref(), Some(TEXT));
    }
    assert!(write(&store, vec![common::new("goes on")]).unwrap() > acknowledged);
}
