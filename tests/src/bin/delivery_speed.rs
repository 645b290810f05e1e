//! `cargo xtask bench delivery`: whole cycles on SQLite (send a 4 KB envelope, receive with accept, done), each step on disk before
//! its answer, with every rule and event on.
#![allow(clippy::unwrap_used, reason = "a benchmark")]

use std::time::Duration;

use spine_tests::{Engine, cycles};

const ENVELOPES: usize = 40_000;
const SECONDS: u64 = 5;

fn main() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.unwrap().block_on(async {
        println!("outstanding   cycles a second");
        for outstanding in [1, 100, 1_000] {
            let (engine, time) = (Engine::on_sqlite(), Duration::from_secs(SECONDS));
            let rate = cycles::rate(&engine, outstanding, ENVELOPES, time).await;
            println!("{outstanding:>11} {rate:>17.0}");
        }
    });
}
