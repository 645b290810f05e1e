//! Power cuts.
//!
//! kill -9 loses nothing that was handed to the system, synced or not: with `synchronous=OFF` it loses
//! nothing either. So the writes and syncs of the real process are recorded, a power cut leaves of what was
//! not synced whatever it likes, and the store is opened on what is left. With `synchronous=NORMAL` the same
//! test must lose acknowledged writes, which shows that it can.

use std::fs;
use std::path::Path;

use fastrand::Rng;
use spine_tests::{Ack, Verdict, verify};

use crate::disk_model::{Disk, Mercy};
use crate::scale::{seeded, times};
use crate::strace::strace;
use crate::strace_log::{Operation, TRACED, parse};
use crate::writer::write_command;

const THREADS: &[usize] = &[1, 4, 16];
const ACKS: &str = "150";
/// So small that a recording has several checkpoints, and the log starts from its beginning again.
const CHECKPOINT_PAGES: &str = "120";
const CUTS_IN_ONE_RECORDING: usize = 30;
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
    let mut disk = Disk::default();
    for operation in operations.iter().take_while(|next| acknowledged(next).is_none()) {
        disk.apply(operation);
        (0..times(2, 20)).for_each(|_| drop(cut(&disk, &[], &mut rng)));
    }
}

fn cut_often(cuts: usize, settings: &[&str]) -> Vec<Verdict> {
    let mut rng = seeded();
    let recordings = 0..cuts.div_ceil(CUTS_IN_ONE_RECORDING);
    recordings.flat_map(|_| cut_one_recording(settings, &mut rng)).collect()
}

fn cut_one_recording(settings: &[&str], rng: &mut Rng) -> Vec<Verdict> {
    let operations = record(settings, rng);
    let mut moments: Vec<usize> =
        (0..CUTS_IN_ONE_RECORDING).map(|_| moment(&operations, rng)).collect();
    moments.sort_unstable();
    let (mut disk, mut acks, mut done) = (Disk::default(), Vec::new(), 0);
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

/// Two writers one after the other, so that a clean end and a second start are cut too.
fn record(settings: &[&str], rng: &mut Rng) -> Vec<Operation> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    (0..2).flat_map(|_| record_writer(&path, settings, rng)).collect()
}

fn record_writer(folder: &Path, settings: &[&str], rng: &mut Rng) -> Vec<Operation> {
    let log = tempfile::NamedTempFile::new().unwrap();
    let (seed, threads) = (rng.u64(..).to_string(), rng.choice(THREADS).unwrap());
    let load = ["--acks", ACKS, "--checkpoint-pages", CHECKPOINT_PAGES, "--seed", &seed];
    let command = write_command(folder, *threads, &[&load, settings].concat());
    let output = strace(&["--seccomp-bpf", "-e", TRACED], log.path(), &command);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    parse(&fs::read_to_string(log.path()).unwrap(), folder)
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
