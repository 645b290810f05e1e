//! `cargo xtask bench delivery [OUTSTANDING …]`: whole cycles on SQLite (send a 4 KB envelope, receive with accept, done), each
//! step on disk before its answer, with every rule and event on.
#![allow(clippy::unwrap_used, reason = "a benchmark")]

use std::time::Duration;

// The allocator of the real program.
use memory_spine as _;
use spine_tests::{Engine, cycles};

const ENVELOPES: usize = 40_000;
const SECONDS_MAX: u64 = 5;

fn main() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.unwrap().block_on(async {
        let envelopes = cycles::envelopes(ENVELOPES).await;
        let bytes: usize = envelopes.iter().map(|made| made.envelope.canonical_bytes().len()).sum();
        println!("{ENVELOPES} envelopes of {} bytes", bytes / ENVELOPES);
        println!("outstanding   cycles a second   µs of processor a cycle   commands a commit");
        for outstanding in outstanding() {
            let (engine, time_max) = (Engine::on_sqlite(), Duration::from_secs(SECONDS_MAX));
            let speed = cycles::measured(&engine, outstanding, envelopes.clone(), time_max).await;
            let cycles::Speed { rate, cpu_us_a_cycle, commands_a_commit } = speed;
            println!(
                "{outstanding:>11} {rate:>17.0} {cpu_us_a_cycle:>25.0} {commands_a_commit:>19.1}"
            );
        }
    });
}

/// Those that were asked for, or the usual ones.
fn outstanding() -> Vec<usize> {
    let asked: Vec<usize> =
        std::env::args().skip(1).map(|number| number.parse().unwrap()).collect();
    if asked.is_empty() { vec![1, 100, 1_000] } else { asked }
}
