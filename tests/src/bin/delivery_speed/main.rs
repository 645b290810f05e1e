//! `cargo xtask bench delivery [OUTSTANDING …]`: whole cycles on SQLite (send a 4 KB envelope, receive with accept, done), each
//! step on disk before its answer, with every rule and event on; and beside it the bare work, as a ratio.
#![allow(clippy::unwrap_used, reason = "a benchmark")]

mod prototype;

use std::time::Duration;

// The allocator of the real program.
use memory_spine as _;
use prototype::Prototype;
use spine_tests::Engine;
use spine_tests::cycles::{self, EngineWorker, Envelopes, Speed, Worker};

const ENVELOPES: usize = 40_000;
const SECONDS_MAX: u64 = 5;

fn main() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.unwrap().block_on(async {
        let envelopes = cycles::envelopes(ENVELOPES).await;
        let bytes: usize = envelopes.iter().map(|made| made.envelope.canonical_bytes().len()).sum();
        println!("{ENVELOPES} envelopes of {} bytes", bytes / ENVELOPES);
        println!("            outstanding   cycles a second   µs of processor a cycle   commands a commit");
        for outstanding in outstanding() {
            let bare = speed("bare", Prototype::new(), outstanding, &envelopes).await;
            let engine = Engine::on_sqlite();
            let whole = speed("engine", EngineWorker::new(&engine), outstanding, &envelopes).await;
            println!("ratio       {outstanding:>11} {:>17.2}", whole.rate / bare.rate);
        }
    });
}

async fn speed(who: &str, worker: impl Worker, outstanding: usize, envelopes: &Envelopes) -> Speed {
    let time_max = Duration::from_secs(SECONDS_MAX);
    let speed = cycles::measured(worker, outstanding, envelopes.clone(), time_max).await;
    let Speed { rate, cpu_us_a_cycle, commands_a_commit } = speed;
    println!(
        "{who:<11} {outstanding:>11} {rate:>17.0} {cpu_us_a_cycle:>25.0} {commands_a_commit:>19.1}"
    );
    speed
}

/// Those that were asked for, or the usual ones.
fn outstanding() -> Vec<usize> {
    let asked: Vec<usize> =
        std::env::args().skip(1).map(|number| number.parse().unwrap()).collect();
    if asked.is_empty() { vec![1, 100, 1_000] } else { asked }
}
