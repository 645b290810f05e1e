//! kill -9 at random moments under load.

use crate::scale::{seeded, times};
use crate::writer::{Writer, assert_clean};

const THREADS: usize = 8;
const ACKS_BEFORE_KILL_MAX: usize = 400;
const KILLS_IN_ONE_FOLDER: usize = 20;

/// Each writer opens what the one before left, so that recoveries are killed too.
#[test]
fn killed_writer_loses_no_acknowledged_write() {
    let mut rng = seeded();
    let kills = times(20, 200);
    let mut acknowledged = 0;
    for _ in 0..kills.div_ceil(KILLS_IN_ONE_FOLDER) {
        let folder = tempfile::tempdir().unwrap();
        let mut acks = Vec::new();
        for _ in 0..KILLS_IN_ONE_FOLDER {
            let (seed, pages) = (rng.u64(..).to_string(), rng.u32(10..2_000).to_string());
            let settings = ["--seed", &seed, "--checkpoint-pages", &pages];
            let mut writer = Writer::start(folder.path(), THREADS, &settings);
            acks.extend(writer.acks(rng.usize(0..ACKS_BEFORE_KILL_MAX)));
            acks.extend(writer.kill());
            assert_clean(folder.path(), &acks);
        }
        acknowledged += acks.len();
    }
    println!("{kills} kills, {acknowledged} acknowledged, 0 lost");
}
