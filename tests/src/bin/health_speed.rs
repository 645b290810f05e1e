//! `cargo xtask bench health [ROUNDS] [OUTSTANDING]`: what looking after health costs, as a ratio of whole cycles on SQLite. Rounds with and
//! without it take turns, so that whatever else the machine does is in both. With it, the log is folded into figures and
//! alerts ten times a second, as the server does.
#![allow(clippy::unwrap_used, reason = "a benchmark")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use spine_engine::Entropy;
use spine_engine::health::{Health, Thresholds};
use spine_tests::Engine;
use spine_tests::cycles::{self, EngineWorker, Envelopes, Speed};
// The allocator of the real program.
use memory_spine as _;

const ROUNDS_DEFAULT: usize = 12;
const OUTSTANDING_DEFAULT: usize = 100;
const ENVELOPES: usize = 40_000;
const SECONDS_MAX: u64 = 6;
/// As often as the server looks.
const LOOK_EVERY: Duration = Duration::from_millis(100);

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
    let speed = |looked_after: bool| speed(outstanding, envelopes.clone(), looked_after);
    let [mut rates, mut processor, mut shares] = [(); 3].map(|()| Vec::with_capacity(rounds));
    println!(
        "round   without   with   with / without   processor without / with   time in looks / processor"
    );
    for round in 0..rounds {
        // Who is first changes, too.
        let ((with, share), (without, _)) = if round % 2 == 0 {
            let without = speed(false).await;
            (speed(true).await, without)
        } else {
            (speed(true).await, speed(false).await)
        };
        let (rate, cpu) = (with.rate / without.rate, without.cpu_us_a_cycle / with.cpu_us_a_cycle);
        rates.push(rate);
        processor.push(cpu);
        shares.push(1.0 - share);
        println!(
            "{round:>5} {:>9.0} {:>6.0} {rate:>16.3} {cpu:>26.3} {share:>27.4}",
            without.rate, with.rate
        );
    }
    say("cycles a second", rates);
    say("processor a cycle", processor);
    say("all but the time in looks, waits included", shares);
}

fn say(what: &str, mut ratios: Vec<f64>) {
    ratios.sort_by(f64::total_cmp);
    let at = |place: usize| ratios.get(place).copied().unwrap_or(f64::NAN);
    let (low, median, high) =
        (at(ratios.len() / 4), at(ratios.len() / 2), at(ratios.len() * 3 / 4));
    let cost = (1.0 - median) * 100.0;
    println!("{what}: median {median:.3} (quarters {low:.3} to {high:.3}), a cost of {cost:.1} %");
}

/// Also the time spent in looks, as a share of the processor time of all.
async fn speed(outstanding: usize, envelopes: Envelopes, looked_after: bool) -> (Speed, f64) {
    let engine = Engine::on_sqlite();
    let in_looks_us = Arc::new(AtomicU64::new(0));
    let looking = looked_after.then(|| tokio::spawn(look(health(&engine), in_looks_us.clone())));
    let time_max = Duration::from_secs(SECONDS_MAX);
    let count = envelopes.len() as f64;
    let speed =
        cycles::measured(EngineWorker::new(&engine), outstanding, envelopes, time_max).await;
    if let Some(looking) = looking {
        looking.abort();
    }
    let done = count.min(speed.rate * SECONDS_MAX as f64);
    let share = in_looks_us.load(Ordering::Relaxed) as f64 / (speed.cpu_us_a_cycle * done);
    (speed, share)
}

fn health(engine: &Engine) -> Health {
    let entropy = Arc::new(Entropy::from_seed([4; 32]));
    Health::new(engine.store.clone(), engine.deliveries.clone(), entropy, Thresholds::default())
}

async fn look(health: Health, in_looks_us: Arc<AtomicU64>) {
    let workspace = cycles::caller().workspace;
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let began = Instant::now();
        health.look(&workspace).await.unwrap();
        in_looks_us.fetch_add(began.elapsed().as_micros() as u64, Ordering::Relaxed);
    }
}
