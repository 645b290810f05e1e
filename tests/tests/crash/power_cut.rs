//! Power cuts.
//!
//! kill -9 loses nothing that was handed to the system, synced or not: with `synchronous=OFF` it loses
//! nothing either. So the writes and syncs of the real process are recorded, a power cut leaves of what was
//! not synced whatever it likes, and the store is opened on what is left. With `synchronous=NORMAL` the same
//! test must lose acknowledged writes, which shows that it can.

use std::path::PathBuf;

use fastrand::Rng;
use spine_store::StoreError;
use spine_tests::{Ack, Verdict, verify};

use crate::disk_model::{Disk, Mercy};
use crate::recording::{record, record_failed_fsync};
use crate::scale::{seeded, times};
use crate::strace_log::Operation;

const CUTS_IN_ONE_RECORDING: usize = 30;
const CUTS_FOR_ONE_FAILURE: usize = 10;
const MERCIES: [Mercy; 4] = [
    Mercy { keep: 0.0, tear: 0.0 },
    Mercy { keep: 0.0, tear: 1.0 },
    Mercy { keep: 0.5, tear: 0.25 },
    Mercy { keep: 0.9, tear: 0.1 },
];

/// What must be true after a cut.
type Promise = fn(&Verdict) -> bool;

#[test]
fn power_cut_loses_no_acknowledged_write() {
    let verdicts = cut_often(times(30, 1_200), &[], Verdict::is_clean);
    let memories: usize = verdicts.iter().map(|verdict| verdict.memories).sum();
    println!("{} cuts, 0 lost, 0 corrupt, {memories} memories read back", verdicts.len());
}

#[test]
fn power_cut_loses_acknowledged_writes_without_an_fsync_for_each() {
    let settings = ["--synchronous", "normal"];
    let verdicts = cut_often(times(30, 300), &settings, Verdict::is_consistent);
    let losing = verdicts.iter().filter(|verdict| !verdict.lost.is_empty()).count();
    println!("{losing} of {} cuts lost acknowledged writes", verdicts.len());
    assert!(losing > 0, "this test cannot find a loss");
}

#[test]
fn power_cut_damages_the_store_on_a_disk_that_does_not_sync() {
    let mut rng = seeded();
    let mut disk = Disk::new(rng.fork());
    let operations = record(&[], &mut rng);
    operations.iter().filter(|operation| !operation.is_sync()).for_each(|next| disk.apply(next));
    let damaged = |_: &usize| !cut(&disk, &[], &mut rng).1.is_ok_and(|found| found.is_consistent());
    let cuts = times(30, 100);
    let damaged = (0..cuts).filter(damaged).count();
    println!("{damaged} of {cuts} cuts damaged the store");
    assert!(damaged > 0, "this test cannot find damage");
}

/// Nothing is at stake yet, but a store that cannot be opened is in the way of the next try.
#[test]
fn power_cut_during_creation_leaves_what_opens() {
    let mut rng = seeded();
    let operations = record(&[], &mut rng);
    let mut disk = Disk::new(rng.fork());
    for operation in operations.iter().take_while(|next| acknowledged(next).is_none()) {
        disk.apply(operation);
        for _ in 0..times(2, 20) {
            cut_and_expect(&disk, &[], Verdict::is_clean, &mut rng);
        }
    }
}

/// The disk loses what the failed fsync was about, and all later ones succeed.
#[test]
fn power_cut_after_a_failed_fsync_loses_no_acknowledged_write() {
    let mut rng = seeded();
    for (nth, new_store) in (1..=times(16, 64)).flat_map(|nth| [(nth, true), (nth, false)]) {
        println!("fsync number {nth} fails, new store: {new_store}");
        let operations = record_failed_fsync(nth, new_store, &mut rng);
        cut_at_random(&operations, CUTS_FOR_ONE_FAILURE, Verdict::is_clean, &mut rng);
    }
}

fn cut_often(cuts: usize, settings: &[&str], promise: Promise) -> Vec<Verdict> {
    let mut rng = seeded();
    let recordings = 0..cuts.div_ceil(CUTS_IN_ONE_RECORDING);
    let cut = |_| {
        let operations = record(settings, &mut rng);
        cut_at_random(&operations, CUTS_IN_ONE_RECORDING, promise, &mut rng)
    };
    recordings.flat_map(cut).collect()
}

fn cut_at_random(
    operations: &[Operation],
    cuts: usize,
    promise: Promise,
    rng: &mut Rng,
) -> Vec<Verdict> {
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
        verdicts.push(cut_and_expect(&disk, &acks, promise, rng));
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

fn cut_and_expect(disk: &Disk, acks: &[Ack], promise: Promise, rng: &mut Rng) -> Verdict {
    let again = rng.clone();
    let (mercy, verdict) = cut(disk, acks, rng);
    match verdict {
        Ok(verdict) if promise(&verdict) => verdict,
        broken => {
            let (kept, broken) = (keep_cut(disk, again), broken.map(|found| found.to_string()));
            panic!("after {} acknowledgements, {mercy:?}, {kept:?}: {broken:?}", acks.len())
        }
    }
}

/// Opens what a cut leaves.
fn cut(disk: &Disk, acks: &[Ack], rng: &mut Rng) -> (Mercy, Result<Verdict, StoreError>) {
    let folder = tempfile::tempdir().unwrap();
    let mercy = *rng.choice(&MERCIES).unwrap();
    disk.cut_power(mercy, rng, folder.path());
    (mercy, verify(folder.path(), acks))
}

/// The same cut once more, to look at: opening it has changed the first.
fn keep_cut(disk: &Disk, mut rng: Rng) -> PathBuf {
    let folder = tempfile::tempdir().unwrap().keep();
    let mercy = *rng.choice(&MERCIES).unwrap();
    disk.cut_power(mercy, &mut rng, &folder);
    folder
}
