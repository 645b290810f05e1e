//! No room: a clear error, reads go on, and writes recover by themselves.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command as Process;

use common::{id, new, open, text, write, write_until_refused};
use spine_sqlite::{CheckDepth, Options, SqliteStore};
use spine_store::{ErrorKind, Put};

/// A small file system of its own, gone at the end.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(at: &Path) -> Option<Self> {
        let mut mount = Process::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=4m", "tmpfs"]).arg(at);
        let mounted = mount.output().is_ok_and(|output| output.status.success());
        mounted.then(|| Self(at.to_owned()))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let unmounted = Process::new("umount").arg(&self.0).status();
        assert!(unmounted.is_ok_and(|status| status.success()), "the small disk is still mounted");
    }
}

fn assert_all_there(store: &SqliteStore, acknowledged: u64, expected: &str) {
    for number in 1..=acknowledged {
        assert_eq!(text(store, number).as_deref(), Some(expected));
    }
}

#[test]
fn full_disk_refuses_writes_until_there_is_room_again() {
    let folder = tempfile::tempdir().unwrap();
    let Some(_disk) = SmallDisk::mount(folder.path()) else {
        eprintln!("NOT RUN: mounting a tmpfs is not allowed here; only the quota variant ran");
        return;
    };
    eprintln!("ran on a tmpfs of 4 MB");
    let ballast = folder.path().join("ballast");
    fs::write(&ballast, vec![0; 1024 * 1024]).unwrap();
    let store = open(&folder.path().join("spine.db"));
    let content = "x".repeat(2_000);
    let (acknowledged, refusal) = write_until_refused(&store, &content);
    assert_eq!(refusal.kind(), ErrorKind::DiskFull, "{}", refusal.detail());
    assert!(refusal.to_string().contains("free some space"));
    assert_all_there(&store, acknowledged, &content);
    assert!(store.accepts_writes());
    fs::remove_file(&ballast).unwrap();
    let next = write(&store, vec![new("room again")]).unwrap();
    assert_eq!(next, acknowledged + 1);
    drop(store);
    let reopened = open(&folder.path().join("spine.db"));
    reopened.check(CheckDepth::Full).unwrap();
    assert_all_there(&reopened, acknowledged, &content);
    assert_eq!(text(&reopened, next).as_deref(), Some("room again"));
}

/// SQLite rolls back by itself when it finds no room in the middle of a statement. The store once went on
/// to end its savepoint, which was gone by then, and told the caller of that instead of the full disk.
#[test]
fn full_quota_refuses_writes_until_something_is_purged() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { file_pages_max: Some(300), ..Options::default() };
    let store = SqliteStore::open(&folder.path().join("spine.db"), options).unwrap();
    let content = "x".repeat(10_000);
    let (acknowledged, refusal) = write_until_refused(&store, &content);
    assert_eq!(refusal.kind(), ErrorKind::DiskFull, "{}", refusal.detail());
    assert_all_there(&store, acknowledged, &content);
    write(&store, (1..=5).map(|number| Put::PurgeMemory(id(number))).collect()).unwrap();
    assert_eq!(write(&store, vec![new("room again")]).unwrap(), acknowledged + 1);
    store.check(CheckDepth::Full).unwrap();
}
