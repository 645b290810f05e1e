//! `cargo xtask bench assembly`: `agent_handoff` with 20 recent, 10 pins and 4,000 tokens out of 100,000 memories, on
//! SQLite: the engine, its store and its index, nothing around them.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a benchmark")]

use std::time::Instant;

use fastrand::Rng;
// For its allocator: the engine is measured with the one it is served with.
use memory_spine as _;
use spine_engine::Caller;
use spine_engine::assembly::{HandoffRequest, Handoffs};
use spine_engine::memories::{ListRequest, Memories, NewMemory, SearchRequest};
use spine_protocol::{Format, TokenizerName, count, render};
use spine_store::testing::block_on;
use spine_store::{Filter, SubjectFilter};
use spine_tests::{Engine, cpu_ms};

const MEMORIES: usize = 100_000;
const PINS: usize = 10;
const HANDOFFS: usize = 200;
const BATCH: usize = 2_000;
/// The first handoffs load the index and the vocabulary.
const WARM_UP: usize = 20;

fn main() {
    let rng = &mut Rng::with_seed(1);
    let words: Vec<String> =
        (0..20_000).map(|_| (0..rng.usize(3..9)).map(|_| rng.lowercase()).collect()).collect();
    let Engine { memories, handoffs, .. } = &Engine::on_sqlite();
    let caller = Caller { agent: "bench".parse().ok(), ..Caller::of("default".parse().unwrap()) };
    fill(memories, &caller, rng, &words);
    let bench = Bench { handoffs, memories, caller: &caller };
    let mut rounds: Vec<Round> = Vec::new();
    for number in 0..HANDOFFS + WARM_UP {
        let round = bench.round(&text(rng, &words, 20));
        if number >= WARM_UP {
            rounds.push(round);
        }
    }
    println!("{MEMORIES} memories, {PINS} pins, {HANDOFFS} handoffs of one clause; in ms");
    println!("{:<34} {:>8} {:>8} {:>10}", "", "p50", "p99", "mean cpu");
    for (name, took) in ROWS {
        let took: Vec<Took> = rounds.iter().map(took).collect();
        let [p50, p99] = [0.5, 0.99].map(|q| quantile(&took, q));
        let cpu_mean = took.iter().map(|took| took.cpu_ms).sum::<f64>() / took.len() as f64;
        println!("{name:<34} {p50:>8.2} {p99:>8.2} {cpu_mean:>10.2}");
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

/// On a busy machine the wall says little: the processor's time of all threads stands beside it.
#[derive(Clone, Copy)]
struct Took {
    wall_ms: f64,
    cpu_ms: f64,
}

/// What one handoff took, and what each of its steps takes by itself.
struct Round {
    assemble: Took,
    prepare: Took,
    search: Took,
    pins: Took,
    render_and_count: Took,
}

type Row = (&'static str, fn(&Round) -> Took);

/// Steps are measured one by one beside the handoff: the engine has no clock of its own. They do not add up: a handoff
/// reads few of its hits, and what was just assembled is prepared again with warm caches.
const ROWS: &[Row] = &[
    ("whole handoff", |round| round.assemble),
    ("  prepared again, not stored", |round| round.prepare),
    ("  a search, all 200 hits read", |round| round.search),
    ("  the pins", |round| round.pins),
    ("  one render and count", |round| round.render_and_count),
];

struct Bench<'a> {
    handoffs: &'a Handoffs,
    memories: &'a Memories,
    caller: &'a Caller,
}

impl Bench<'_> {
    fn round(&self, summary: &str) -> Round {
        let mut request = HandoffRequest::new("reader".parse().unwrap(), summary);
        request.max_tokens = Some(4_000);
        let (assemble, made) =
            timed(|| block_on(self.handoffs.assemble(self.caller, request.clone())).unwrap());
        let (prepare, _) = timed(|| block_on(self.handoffs.prepare(self.caller, request)).unwrap());
        let render_and_count = || {
            let text = render(&made.envelope, &Format::Markdown).unwrap();
            count(&TokenizerName::O200kBase, &text).unwrap()
        };
        let search =
            SearchRequest { text: summary.to_owned(), limit: 200, ..SearchRequest::default() };
        Round {
            assemble,
            prepare,
            search: timed(|| block_on(self.memories.search(self.caller, search)).unwrap()).0,
            pins: self.pins(),
            render_and_count: timed(render_and_count).0,
        }
    }

    fn pins(&self) -> Took {
        let subject = Some(SubjectFilter::General);
        let filter = Filter { subject, pinned: Some(true), ..Filter::default() };
        let list = ListRequest { filter, limit: 500, ..ListRequest::default() };
        timed(|| block_on(self.memories.list(self.caller, list)).unwrap()).0
    }
}

fn timed<T>(work: impl FnOnce() -> T) -> (Took, T) {
    let (started, cpu_before_ms) = (Instant::now(), cpu_ms());
    let made = work();
    let wall_ms = started.elapsed().as_secs_f64() * 1_000.0;
    (Took { wall_ms, cpu_ms: cpu_ms() - cpu_before_ms }, made)
}

fn quantile(took: &[Took], q: f64) -> f64 {
    let mut sorted: Vec<f64> = took.iter().map(|took| took.wall_ms).collect();
    sorted.sort_by(f64::total_cmp);
    sorted[((sorted.len() - 1) as f64 * q) as usize]
}
