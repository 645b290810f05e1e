//! `cargo xtask bench assembly`: `agent_handoff` with 20 recent, 10 pins and 4,000 tokens out of 100,000 memories, on
//! SQLite: the engine, its store and its index, nothing around them.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a benchmark")]

use std::time::{Duration, Instant};

use fastrand::Rng;
use spine_engine::Caller;
use spine_engine::assembly::{HandoffRequest, Handoffs};
use spine_engine::memories::{Memories, NewMemory, SearchRequest};
use spine_protocol::{Format, TokenizerName, count, render};
use spine_store::testing::block_on;
use spine_tests::Engine;

const MEMORIES: usize = 100_000;
const PINS: usize = 10;
const HANDOFFS: usize = 200;
const BATCH: usize = 2_000;

fn main() {
    let rng = &mut Rng::with_seed(1);
    let words: Vec<String> =
        (0..20_000).map(|_| (0..rng.usize(3..9)).map(|_| rng.lowercase()).collect()).collect();
    let Engine { memories, handoffs, .. } = &Engine::on_sqlite();
    let caller = Caller { agent: "bench".parse().ok(), ..Caller::of("default".parse().unwrap()) };
    fill(memories, &caller, rng, &words);
    let mut times = [const { Vec::new() }; 3];
    for number in 0..HANDOFFS + 20 {
        let measured = measure(handoffs, memories, &caller, &text(rng, &words, 20));
        // The first ones load the index and the vocabulary.
        if number >= 20 {
            times.iter_mut().zip(measured).for_each(|(times, time)| times.push(time));
        }
    }
    println!("{MEMORIES} memories, {PINS} pins, {HANDOFFS} handoffs of one clause: p50, p99 in ms");
    for (name, times) in
        ["whole handoff", "  its search alone", "  render and count alone"].iter().zip(times)
    {
        let [p50, p99] = [0.5, 0.99].map(|q| quantile(&times, q));
        println!("{name:<26} {p50:>8.2} {p99:>8.2}");
    }
}

/// Common words are common, as in any language.
fn text(rng: &mut Rng, words: &[String], length: usize) -> String {
    let word = |rng: &mut Rng| words[(rng.f64().powi(3) * words.len() as f64) as usize].as_str();
    (0..length).map(|_| word(rng)).collect::<Vec<_>>().join(" ")
}

fn fill(memories: &Memories, caller: &Caller, rng: &mut Rng, words: &[String]) {
    for start in (0..MEMORIES).step_by(BATCH) {
        let one = |n: usize| NewMemory {
            text: text(rng, words, 40),
            pinned: n < PINS,
            ..NewMemory::default()
        };
        let batch = (start..start + BATCH).map(one).collect();
        block_on(memories.store_many(caller, batch)).unwrap();
    }
}

fn measure(
    handoffs: &Handoffs,
    memories: &Memories,
    caller: &Caller,
    summary: &str,
) -> [Duration; 3] {
    let mut request = HandoffRequest::new("reader".parse().unwrap(), summary);
    request.max_tokens = Some(4_000);
    let started = Instant::now();
    let envelope = block_on(handoffs.assemble(caller, request)).unwrap().envelope;
    let whole = started.elapsed();
    let started = Instant::now();
    let search = SearchRequest { text: summary.to_owned(), limit: 200, ..SearchRequest::default() };
    block_on(memories.search(caller, search)).unwrap();
    let searched = started.elapsed();
    let started = Instant::now();
    count(&TokenizerName::O200kBase, &render(&envelope, &Format::Markdown).unwrap()).unwrap();
    [whole, searched, started.elapsed()]
}

fn quantile(times: &[Duration], q: f64) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort();
    sorted[((sorted.len() - 1) as f64 * q) as usize].as_secs_f64() * 1_000.0
}
