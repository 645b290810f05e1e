//! Delivery under everything that can go wrong, for many seeds.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use spine_simulation::mutation::Mutation;
use spine_simulation::run::{Report, simulate};

const SEEDS: u64 = 1_000;
const SEEDS_SOAK: u64 = 100_000;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// How it came to that, and how to see it again.
fn told(seed: u64, report: &Report) -> String {
    let violation = report.violation.as_ref().expect("a seed that failed");
    let story = simulate(seed, Mutation::None, true).story.join("\n");
    format!(
        "seed {seed} broke a rule: {violation}\n{story}\nreplay: SPINE_SEED={seed} cargo test -p spine-simulation --test seeds"
    )
}

#[derive(Default)]
struct Sum {
    polls: u64,
    commands: u64,
    deliveries: u64,
    failed: Vec<(u64, Report)>,
}

fn run(seeds: std::ops::Range<u64>) -> Sum {
    let (next, sum) = (AtomicU64::new(seeds.start), Mutex::new(Sum::default()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end || sum.lock().unwrap().failed.len() > 20 {
                        return;
                    }
                    let report = simulate(seed, Mutation::None, false);
                    let mut sum = sum.lock().unwrap();
                    sum.polls += report.polls;
                    sum.commands += report.commands;
                    sum.deliveries += report.deliveries as u64;
                    if report.violation.is_some() {
                        sum.failed.push((seed, report));
                    }
                }
            });
        }
    });
    sum.into_inner().unwrap()
}

#[test]
fn every_rule_holds_for_every_seed() {
    let soak = std::env::var("SPINE_SOAK").is_ok();
    let count = number("SPINE_SEEDS").unwrap_or(if soak { SEEDS_SOAK } else { SEEDS });
    let seeds = number("SPINE_SEED").map_or(1..1 + count, |seed| seed..seed + 1);
    let (began, count) = (Instant::now(), seeds.end - seeds.start);
    let mut sum = run(seeds);
    let seconds = began.elapsed().as_secs_f64();
    println!(
        "{count} seeds in {seconds:.1} s: {} polls, {} commands, {} deliveries",
        sum.polls, sum.commands, sum.deliveries
    );
    sum.failed.sort_by_key(|(seed, _)| *seed);
    for (seed, report) in &sum.failed {
        println!("seed {seed}: {}", report.violation.as_ref().unwrap());
    }
    if let Some((seed, report)) = sum.failed.first() {
        panic!("{}", told(*seed, report));
    }
}

#[test]
fn a_seed_is_the_same_every_time() {
    for seed in [3, 8] {
        assert_eq!(simulate(seed, Mutation::None, true), simulate(seed, Mutation::None, true));
    }
}
