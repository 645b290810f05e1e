//! `cargo xtask bench health [ROUNDS] [OUTSTANDING]`: what looking after health costs, as a ratio of whole cycles on SQLite. Rounds with and
//! without it take turns, so that whatever else the machine does is in both. With it, the log is folded into figures and
//! alerts every second, as the server does.
#![allow(clippy::unwrap_used, reason = "a benchmark")]

use std::sync::Arc;
use std::time::Duration;

use spine_engine::Entropy;
use spine_engine::health::{Health, Thresholds};
use spine_tests::Engine;
use spine_tests::cycles::{self, Envelopes};
// The allocator of the real program.
use memory_spine as _;

const ROUNDS_DEFAULT: usize = 8;
const OUTSTANDING_DEFAULT: usize = 100;
const ENVELOPES: usize = 40_000;
const SECONDS: u64 = 4;
/// As often as the server looks.
const LOOK_EVERY: Duration = Duration::from_secs(1);

fn main() {
    let mut arguments = std::env::args().skip(1).filter_map(|argument| argument.parse().ok());
    let rounds = arguments.next().unwrap_or(ROUNDS_DEFAULT);
    let outstanding = arguments.next().unwrap_or(OUTSTANDING_DEFAULT);
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.unwrap().block_on(compare(rounds, outstanding));
}

async fn compare(rounds: usize, outstanding: usize) {
    let envelopes = cycles::envelopes(ENVELOPES).await;
    let rate = |looked_after: bool| rate(outstanding, envelopes.clone(), looked_after);
    let mut ratios = Vec::with_capacity(rounds);
    println!("round   without   with   with / without");
    for round in 0..rounds {
        // Who is first changes, too.
        let (with, without) = if round % 2 == 0 {
            let without = rate(false).await;
            (rate(true).await, without)
        } else {
            (rate(true).await, rate(false).await)
        };
        println!("{round:>5} {without:>9.0} {with:>6.0} {:>16.3}", with / without);
        ratios.push(with / without);
    }
    ratios.sort_by(f64::total_cmp);
    let median = ratios.get(ratios.len() / 2).copied().unwrap_or(f64::NAN);
    println!(
        "median ratio {median:.3}: looking after health costs {:.1} %",
        (1.0 - median) * 100.0
    );
}

async fn rate(outstanding: usize, envelopes: Envelopes, looked_after: bool) -> f64 {
    let engine = Engine::on_sqlite();
    let looking = looked_after.then(|| tokio::spawn(look(health(&engine))));
    let time = Duration::from_secs(SECONDS);
    let speed = cycles::measured(&engine, outstanding, envelopes, time).await;
    if let Some(looking) = looking {
        looking.abort();
    }
    speed.rate
}

fn health(engine: &Engine) -> Health {
    let entropy = Arc::new(Entropy::from_seed([4; 32]));
    Health::new(engine.store.clone(), engine.deliveries.clone(), entropy, Thresholds::default())
}

async fn look(health: Health) {
    let workspace = cycles::caller().workspace;
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        health.look(&workspace).await.unwrap();
    }
}
