//! Power cuts.
//!
//! kill -9 loses nothing that was handed to the system, synced or not: with `synchronous=OFF` it loses
//! nothing either. So the writes and syncs of the real process are recorded, a power cut leaves of what was
//! not synced whatever it likes, and the store is opened on what is left. With `synchronous=NORMAL` the same
//! test must lose acknowledged writes, which shows that it can.

use std::fs;

use fastrand::Rng;
use spine_tests::{Ack, Verdict, verify};

use crate::disk_model::{Disk, Mercy};
use crate::recording::{record, record_failed_fsync};
use crate::scale::{seeded, times};
use crate::strace_log::Operation;

const CUTS_IN_ONE_RECORDING: usize = 30;
const CUTS_FOR_ONE_FAILURE: usize = 6;
const MERCIES: [Mercy; 4] = [
    Mercy { keep: 0.0, tear: 0.0 },
    Mercy { keep: 0.0, tear: 1.0 },
    Mercy { keep: 0.5, tear: 0.25 },
    Mercy { keep: 0.9, tear: 0.1 },
];

#[test]
fn power_cut_loses_no_acknowledged_write() {
    let verdicts = cut_often(times(30, 1_200), &[]);
    let memories: usize = verdicts.iter().map(|verdict| verdict.memories).sum();
    println!("{} cuts, 0 lost, 0 corrupt, {memories} memories read back", verdicts.len());
    assert!(verdicts.iter().all(|verdict| verdict.lost.is_empty()), "acknowledged writes are lost");
}

#[test]
fn power_cut_loses_acknowledged_writes_without_an_fsync_for_each() {
    let verdicts = cut_often(times(30, 300), &["--synchronous", "normal"]);
    let losing = verdicts.iter().filter(|verdict| !verdict.lost.is_empty()).count();
    println!("{losing} of {} cuts lost acknowledged writes", verdicts.len());
    assert!(losing > 0, "this test cannot fail");
}

/// Nothing is at stake yet, but a store that cannot be opened is in the way of the next try.
#[test]
fn power_cut_during_creation_leaves_what_opens() {
    let mut rng = seeded();
    let operations = record(&[], &mut rng);
    let mut disk = Disk::new(rng.fork());
    for operation in operations.iter().take_while(|next| acknowledged(next).is_none()) {
        disk.apply(operation);
        (0..times(2, 20)).for_each(|_| drop(cut(&disk, &[], &mut rng)));
    }
}

/// The disk loses what the failed fsync was about, and all later ones succeed.
#[test]
fn power_cut_after_a_failed_fsync_loses_no_acknowledged_write() {
    let mut rng = seeded();
    for nth in 1..=times(16, 64) {
        let operations = record_failed_fsync(nth, &mut rng);
        for verdict in cut_at_random(&operations, CUTS_FOR_ONE_FAILURE, &mut rng) {
            assert!(verdict.lost.is_empty(), "fsync number {nth} failed: {verdict}");
        }
    }
}

fn cut_often(cuts: usize, settings: &[&str]) -> Vec<Verdict> {
    let mut rng = seeded();
    let recordings = 0..cuts.div_ceil(CUTS_IN_ONE_RECORDING);
    let cut = |_| cut_at_random(&record(settings, &mut rng), CUTS_IN_ONE_RECORDING, &mut rng);
    recordings.flat_map(cut).collect()
}

fn cut_at_random(operations: &[Operation], cuts: usize, rng: &mut Rng) -> Vec<Verdict> {
    let mut moments: Vec<usize> = (0..cuts).map(|_| moment(operations, rng)).collect();
    moments.sort_unstable();
    let (mut disk, mut acks, mut done) = (Disk::new(rng.fork()), Vec::new(), 0);
    let mut verdicts = Vec::new();
    for moment in moments {
        for operation in &operations[done..moment] {
            disk.apply(operation);
            acks.extend(acknowledged(operation));
        }
        done = moment;
        verdicts.push(cut(&disk, &acks, rng));
    }
    verdicts
}

/// Just behind an acknowledgement, where most is at stake, or anywhere.
fn moment(operations: &[Operation], rng: &mut Rng) -> usize {
    let anywhere = rng.usize(0..=operations.len());
    if rng.bool() {
        return anywhere;
    }
    let next = operations[anywhere..].iter().position(|next| acknowledged(next).is_some());
    next.map_or(anywhere, |next| anywhere + next + 1)
}

fn acknowledged(operation: &Operation) -> Option<Ack> {
    match operation {
        Operation::Acknowledged(ack) => Some(*ack),
        _ => None,
    }
}

/// However much is lost, what is left must open and be whole.
fn cut(disk: &Disk, acks: &[Ack], rng: &mut Rng) -> Verdict {
    let folder = tempfile::tempdir().unwrap();
    let (seed, mercy) = (rng.u64(..), *rng.choice(&MERCIES).unwrap());
    disk.cut_power(mercy, &mut Rng::with_seed(seed), folder.path());
    let verdict = verify(folder.path(), acks);
    if verdict.as_ref().is_ok_and(Verdict::is_consistent) {
        return verdict.unwrap();
    }
    // Once more, because opening it changed it: this is what there is to look at.
    let kept = folder.keep();
    fs::read_dir(&kept).unwrap().for_each(|file| fs::remove_file(file.unwrap().path()).unwrap());
    disk.cut_power(mercy, &mut Rng::with_seed(seed), &kept);
    panic!("after {} acknowledgements, {mercy:?}, {}: {verdict:?}", acks.len(), kept.display());
}
