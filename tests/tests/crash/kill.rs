//! kill -9 at random moments under load.

use std::fs;

use spine_retrieval::folder_beside;
use spine_tests::{STORE_FILE, verify};

use crate::scale::{seeded, times};
use crate::writer::{Writer, assert_clean};

const THREADS: usize = 8;
const ACKS_BEFORE_KILL_MAX: usize = 400;
const KILLS_IN_ONE_FOLDER: usize = 20;

/// Each writer opens what the one before left, so that recoveries are killed too. Each time the index that
/// is left is compared with one that is built from nothing.
#[test]
fn killed_writer_loses_no_acknowledged_write() {
    let mut rng = seeded();
    let kills = times(20, 200);
    let (mut acknowledged, mut indexes_kept) = (0, 0);
    for _ in 0..kills.div_ceil(KILLS_IN_ONE_FOLDER) {
        let folder = tempfile::tempdir().unwrap();
        let mut acks = Vec::new();
        for _ in 0..KILLS_IN_ONE_FOLDER {
            let (seed, pages) = (rng.u64(..).to_string(), rng.u32(10..2_000).to_string());
            let settings = ["--seed", &seed, "--checkpoint-pages", &pages, "--index", "kept"];
            let mut writer = Writer::start(folder.path(), THREADS, &settings);
            acks.extend(writer.acks(rng.usize(0..ACKS_BEFORE_KILL_MAX)));
            acks.extend(writer.kill());
            let said = assert_clean(folder.path(), &acks);
            indexes_kept += usize::from(said.contains("index:") && !said.contains("index: 0 "));
        }
        acknowledged += acks.len();
    }
    // An index that is always begun anew would be equal, too.
    assert!(indexes_kept * 2 > kills, "only {indexes_kept} indexes were kept");
    println!(
        "{kills} kills, {acknowledged} acknowledged, 0 lost; {indexes_kept} indexes kept, equal"
    );
}

/// The comparison must be able to fail. Here the index is that of a copy of the store, which went on otherwise.
#[test]
fn index_of_other_writes_is_told_from_a_rebuilt_one() {
    let (copied, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    Writer::run(copied.path(), THREADS, &["--seed", "1", "--acks", "20"]);
    let [copied_file, file] = [&copied, &folder].map(|folder| folder.path().join(STORE_FILE));
    fs::copy(&copied_file, &file).unwrap();
    Writer::run(copied.path(), THREADS, &["--seed", "2", "--acks", "200", "--index", "kept"]);
    Writer::run(folder.path(), THREADS, &["--seed", "3", "--acks", "400"]);
    fs::rename(folder_beside(&copied_file), folder_beside(&file)).unwrap();
    let verdict = verify(folder.path(), &[]).unwrap();
    let index = verdict.index.as_ref().unwrap();
    assert!(index.kept > 0 && index.differing > 0, "{verdict}");
    assert!(!verdict.is_clean());
}
