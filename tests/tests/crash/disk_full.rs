//! A disk that is full, and then no longer.

use std::env;
use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;

use fastrand::Rng;
use spine_engine::memories::MemoryError;
use spine_protocol::WorkspaceName;
use spine_retrieval::{SearchIndex, folder_beside};
use spine_sqlite::Options;
use spine_store::testing::block_on;
use spine_store::{ErrorKind, Filter, Retriever, SearchQuery, UnixMs};
use spine_tests::{Ack, House, STORE_FILE, open_crashed, verify};

use crate::scale::{seeded, times};

const SMALL_DISK: &str = "SPINE_SMALL_DISK";
const MOUNT_AND_RUN: &str = r#"mount -t tmpfs -o size=12m tmpfs "$1" && shift && exec "$@""#;
/// At least what the writes after it take.
const FILLER_BYTES: Range<usize> = 4_000_000..8_000_000;
/// Small ones fill the disk with the database, large ones with its log.
const CHECKPOINT_PAGES: Range<u32> = 10..3_000;
const THREADS: usize = 4;
/// Few enough that the freed room holds them.
const WRITES_AFTER_FREEING: usize = 20;
/// In a row: a single one may pass, because the store makes what room it can.
const REFUSALS: usize = 5;

#[test]
fn full_disk_refuses_writes_until_there_is_room() {
    run_on_small_disk(
        "disk_full::full_disk_refuses_writes_until_there_is_room",
        fill_and_free_in_many_shapes,
    );
}

#[test]
fn store_on_a_full_disk_says_so_when_it_is_opened() {
    run_on_small_disk(
        "disk_full::store_on_a_full_disk_says_so_when_it_is_opened",
        open_on_full_disk,
    );
}

/// After a full disk, memories were found no more, for good: the commit of the index that failed had lost them, and the next
/// one said that all was in.
#[test]
fn index_on_a_full_disk_is_whole_when_there_is_room_again() {
    run_on_small_disk(
        "disk_full::index_on_a_full_disk_is_whole_when_there_is_room_again",
        index_while_full,
    );
}

/// Runs the test again in a mount namespace of its own, so that the small disk goes when the process goes.
fn run_on_small_disk(test: &str, inside: fn(&Path)) {
    if let Some(disk) = env::var_os(SMALL_DISK) {
        return inside(Path::new(&disk));
    }
    let disk = tempfile::tempdir().unwrap();
    let exe = env::current_exe().unwrap();
    let mut command = on_small_disk(disk.path());
    let output = command.arg(exe).args(["--exact", test, "--nocapture"]).output().unwrap();
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

/// Mounts as root, or as root of a user namespace of its own.
fn on_small_disk(disk: &Path) -> Command {
    let ways = [["--mount"].as_slice(), &["--mount", "--map-root-user"]];
    let way = ways.into_iter().find(|way| {
        let tried = mount_and_run(way, disk).arg("true").output();
        tried.expect("this test needs unshare: apt-get install util-linux").status.success()
    });
    let way = way.expect("this test needs root or user namespaces, to mount a small disk");
    mount_and_run(way, disk)
}

fn mount_and_run(way: &[&str], disk: &Path) -> Command {
    let mut command = Command::new("unshare");
    command.args(way).args(["sh", "-c", MOUNT_AND_RUN, "sh"]).arg(disk).env(SMALL_DISK, disk);
    command
}

fn fill_and_free_in_many_shapes(disk: &Path) {
    let mut rng = seeded();
    for _ in 0..times(5, 100) {
        let folder = tempfile::tempdir_in(disk).unwrap();
        let checkpoint_pages = rng.u32(CHECKPOINT_PAGES);
        let options = Options { checkpoint_pages, ..Options::default() };
        let filler = disk.join("filler");
        fs::write(&filler, vec![1; rng.usize(FILLER_BYTES)]).unwrap();
        fill_and_free(folder.path(), options, &filler, &mut rng);
    }
}

fn fill_and_free(folder: &Path, options: Options, filler: &Path, rng: &mut Rng) {
    println!("{} pages to a checkpoint", options.checkpoint_pages);
    let house = House::open(folder, options).unwrap();
    let mut acks = fill(&house, rng);
    println!("{} acknowledged before the disk was full", acks.len());
    assert!(acks.iter().all(|ack| house.holds(ack).unwrap()), "reads go on");
    fs::remove_file(filler).unwrap();
    for _ in 0..WRITES_AFTER_FREEING {
        acks.extend(house.store_some(rng).expect("there is room again"));
    }
    drop(house);
    let verdict = verify(folder, &acks).unwrap();
    assert!(verdict.is_clean(), "{verdict}");
}

fn fill(house: &House, rng: &mut Rng) -> Vec<Ack> {
    let acks = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..THREADS {
            let (rng, acks) = (rng.fork(), &acks);
            scope.spawn(move || store_until_full(house, rng, acks));
        }
    });
    acks.into_inner().unwrap()
}

fn store_until_full(house: &House, mut rng: Rng, acks: &Mutex<Vec<Ack>>) {
    let mut refusals = 0;
    while refusals < REFUSALS {
        match house.store_some(&mut rng) {
            Ok(stored) => {
                acks.lock().unwrap().extend(stored);
                refusals = 0;
            }
            Err(MemoryError::Store(error)) if error.kind() == ErrorKind::DiskFull => refusals += 1,
            Err(MemoryError::Store(error)) => panic!("{:?}: {}", error.kind(), error.detail()),
            Err(error) => panic!("{error}"),
        }
    }
}

/// Only the index is on the small disk: what is stored meanwhile is found, and is in it in the end.
fn index_while_full(disk: &Path) {
    let (folder, mut rng) = (tempfile::tempdir().unwrap(), seeded());
    let house = House::open(folder.path(), Options::default()).unwrap();
    let index = open_crashed(&disk.join("index"), house.store.clone()).unwrap();
    let workspace = "default".parse().unwrap();
    let (mut acks, mut own) = (Vec::new(), Vec::new());
    for round in 0..times(4, 40) {
        let commit = || match round % 2 {
            0 => block_on(index.maintain(&workspace)).map(drop),
            _ => block_on(index.erase_remnants(&workspace)),
        };
        let filler = fill_up(disk);
        for _ in 0..REFUSALS {
            acks.extend(house.write_some(&mut own, &mut rng).unwrap());
            let refused = commit().unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::Unavailable, "{}", refused.detail());
            assert_searches_all(&index, &workspace);
        }
        fs::remove_file(filler).unwrap();
        commit().unwrap();
        assert_searches_all(&index, &workspace);
    }
    let newest = block_on(index.status(&workspace)).unwrap().newest.0;
    drop((index, house));
    copy_files(&disk.join("index"), &folder_beside(&folder.path().join(STORE_FILE)));
    let verdict = verify(folder.path(), &acks).unwrap();
    assert!(verdict.is_clean(), "{verdict}");
    assert_eq!(verdict.index.unwrap().kept, newest);
}

fn fill_up(disk: &Path) -> PathBuf {
    let filler = disk.join("filler");
    let filled = io::copy(&mut io::repeat(1), &mut File::create(&filler).unwrap());
    assert_eq!(filled.unwrap_err().kind(), io::ErrorKind::StorageFull);
    filler
}

fn assert_searches_all(index: &SearchIndex, workspace: &WorkspaceName) {
    let (text, filter) = ("the customer's refund".to_owned(), Filter::default());
    let query = SearchQuery { text, filter, now: UnixMs(0), limit: 1, explain: false };
    block_on(index.search(workspace, query)).unwrap();
    let status = block_on(index.status(workspace)).unwrap();
    assert_eq!(status.indexed, status.newest);
}

fn copy_files(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

fn open_on_full_disk(disk: &Path) {
    let acks = House::open(disk, Options::default()).unwrap().store_some(&mut seeded()).unwrap();
    let filler = fill_up(disk);
    let refused = House::open(disk, Options::default()).err().unwrap();
    assert_eq!(refused.kind(), ErrorKind::DiskFull, "{}", refused.detail());
    fs::remove_file(&filler).unwrap();
    let verdict = verify(disk, &acks).unwrap();
    assert!(verdict.is_clean(), "{verdict}");
}
