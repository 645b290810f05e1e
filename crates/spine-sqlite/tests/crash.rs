//! kill -9 under load: what was acknowledged is there, and the file is whole.
//!
//! 20 kills, or 200 with SPINE_SOAK set. SPINE_SEED repeats a run. This alone cannot show that writes
//! reach the disk, because the operating system outlives the process: for that there is the power-cut test.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::env;
use std::path::{Path, PathBuf};
use std::thread;

use common::{child, lines_of, new, open, shell, text, wait_for, write};
use spine_sqlite::CheckDepth;

const WRITERS: usize = 8;
const ACKNOWLEDGED_BEFORE_KILL_MAX: usize = 400;

#[test]
#[ignore = "run by another test, in a process that is killed"]
fn writes_until_killed() {
    let path = PathBuf::from(env::var_os("SPINE_TEST_STORE").unwrap());
    let store = open(&path);
    thread::scope(|scope| {
        for _ in 0..WRITERS {
            scope.spawn(|| {
                loop {
                    let first = write(&store, vec![new("first"), new("second")]).unwrap();
                    println!("\nacknowledged {first}");
                }
            });
        }
    });
}

#[test]
fn nothing_acknowledged_is_lost_by_a_kill() {
    let seed =
        env::var("SPINE_SEED").map_or_else(|_| fastrand::u64(..), |seed| seed.parse().unwrap());
    let kills = if env::var_os("SPINE_SOAK").is_some() { 200 } else { 20 };
    eprintln!("SPINE_SEED={seed}, {kills} kills");
    let mut rng = fastrand::Rng::with_seed(seed);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spine.db");
    for _ in 0..kills {
        let acknowledged = write_and_kill(&path, rng.usize(1..ACKNOWLEDGED_BEFORE_KILL_MAX));
        let store = open(&path);
        store.check(CheckDepth::Full).unwrap();
        for first in acknowledged {
            // Both memories of the command, or it was no command.
            assert_eq!(text(&store, first).as_deref(), Some("first"), "ms-{first}");
            assert_eq!(text(&store, first + 1).as_deref(), Some("second"), "ms-{first}");
        }
    }
}

/// Kills the writer after so many acknowledgements; what it had said until it was dead.
fn write_and_kill(path: &Path, kill_after: usize) -> Vec<u64> {
    let mut writer = child(shell(""), "writes_until_killed", path);
    let mut lines = lines_of(&mut writer);
    let mut acknowledged: Vec<u64> =
        (0..kill_after).map(|_| wait_for(&mut lines, "acknowledged ").parse().unwrap()).collect();
    writer.kill().unwrap();
    writer.wait().unwrap();
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    let rest = rest.iter().filter_map(|line| line.strip_prefix("acknowledged "));
    acknowledged.extend(rest.map(|number| number.parse::<u64>().unwrap()));
    acknowledged
}
