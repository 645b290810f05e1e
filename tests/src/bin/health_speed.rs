//! `cargo xtask bench health [ROUNDS] [OUTSTANDING]`: what looking after health costs, as a ratio of whole cycles on SQLite. Rounds with and
//! without it take turns, so that whatever else the machine does is in both. With it, the log is folded into figures and
//! alerts every second, as the server does.
#![allow(clippy::unwrap_used, reason = "a benchmark")]

use std::sync::Arc;
use std::time::Duration;

use spine_engine::Entropy;
use spine_engine::health::{Health, Thresholds};
use spine_tests::Engine;
use spine_tests::cycles::{self, Envelopes, Speed};
// The allocator of the real program.
use memory_spine as _;

const ROUNDS_DEFAULT: usize = 12;
const OUTSTANDING_DEFAULT: usize = 100;
const ENVELOPES: usize = 40_000;
const SECONDS_MAX: u64 = 6;
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
    let speed = |looked_after: bool| speed(outstanding, envelopes.clone(), looked_after);
    let (mut rates, mut processor) = (Vec::with_capacity(rounds), Vec::with_capacity(rounds));
    println!("round   without   with   with / without   processor without / with");
    for round in 0..rounds {
        // Who is first changes, too.
        let (with, without) = if round % 2 == 0 {
            let without = speed(false).await;
            (speed(true).await, without)
        } else {
            (speed(true).await, speed(false).await)
        };
        let (rate, cpu) = (with.rate / without.rate, without.cpu_us_a_cycle / with.cpu_us_a_cycle);
        rates.push(rate);
        processor.push(cpu);
        println!("{round:>5} {:>9.0} {:>6.0} {rate:>16.3} {cpu:>26.3}", without.rate, with.rate);
    }
    say("cycles a second", rates);
    say("processor a cycle", processor);
}

fn say(what: &str, mut ratios: Vec<f64>) {
    ratios.sort_by(f64::total_cmp);
    let at = |place: usize| ratios.get(place).copied().unwrap_or(f64::NAN);
    let (low, median, high) =
        (at(ratios.len() / 4), at(ratios.len() / 2), at(ratios.len() * 3 / 4));
    let cost = (1.0 - median) * 100.0;
    println!("{what}: median {median:.3} (quarters {low:.3} to {high:.3}), a cost of {cost:.1} %");
}

async fn speed(outstanding: usize, envelopes: Envelopes, looked_after: bool) -> Speed {
    let engine = Engine::on_sqlite();
    let looking = looked_after.then(|| tokio::spawn(look(health(&engine))));
    let time_max = Duration::from_secs(SECONDS_MAX);
    let speed = cycles::measured(&engine, outstanding, envelopes, time_max).await;
    if let Some(looking) = looking {
        looking.abort();
    }
    speed
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
