//! Random operations: the index is always equal to one built from nothing, whichever way it searches.
//!
//! Where the bound of postings is not reached, all ways of searching find the same; where it is, the
//! index is still equal to one built from nothing. How near it then comes is shown in `bounded.rs`.
//!
//! 600 operations, or a hundred times as many with SPINE_SOAK set. SPINE_SEED repeats a run.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

mod support;

use std::env;
use std::sync::Arc;

use fastrand::Rng;
use spine_protocol::MemoryId;
use spine_retrieval::{IndexLimits, IndexOptions, Recipe};
use spine_store::testing::{ModelStore, block_on};
use spine_store::{Filter, MemoryBody, Put, SearchQuery, UnixMs};
use support::{BOUNDED, Indexed, NOW, SMALL, TAIL, apply, draft, model_store, name, query, text};

const OPERATIONS: usize = 600;
const COMPARE_EVERY: usize = 60;
const SPACES: [&str; 2] = ["left", "right"];
const WORDS: [&str; 12] = [
    "harbour", "signal", "paper", "march", "engine", "window", "copper", "letter", "winter",
    "bridge", "ledger", "2025",
];

#[test]
fn the_index_equals_one_built_from_nothing() {
    let seed = env::var("SPINE_SEED").map_or_else(|_| fastrand::u64(..), |s| s.parse().unwrap());
    let runs = if env::var_os("SPINE_SOAK").is_some() { 100 } else { 1 };
    for seed in seed..seed + runs {
        eprintln!("SPINE_SEED={seed}, {OPERATIONS} operations");
        run(&mut Rng::with_seed(seed), IndexOptions { limits: SMALL, ..IndexOptions::default() });
        // With meaning, all would be found whatever words lead to.
        let recipe = Recipe { words: 1.0, meaning: 0.0, ..Recipe::default() };
        run(&mut Rng::with_seed(seed), IndexOptions { limits: BOUNDED, recipe });
        run(&mut Rng::with_seed(seed), IndexOptions { limits: TAIL, recipe });
    }
}

fn run(rng: &mut Rng, options: IndexOptions) {
    let store = model_store();
    let mut indexed = Indexed::with(&store, options);
    for step in 1..=OPERATIONS {
        let space = SPACES[rng.usize(..2)];
        match rng.u8(..20) {
            0 => {
                block_on(indexed.index.maintain(&name(space))).unwrap();
            }
            1 => indexed = indexed.reopened_with(&store, options),
            2..=4 => drop(indexed.search(space, random_query(rng))),
            _ => operate(&store, space, rng),
        }
        if step % COMPARE_EVERY == 0 {
            compare(&store, &indexed, rng, options);
        }
    }
}

fn operate(store: &ModelStore, space: &str, rng: &mut Rng) {
    let id = MemoryId::new(rng.u64(1..120)).unwrap();
    let put = match rng.u8(..10) {
        0 => Put::DeleteMemory(id),
        1 => Put::PurgeMemory(id),
        2 => Put::PinMemory(id, rng.bool()),
        3..=4 => Put::ReviseMemory(id, draft(random_body(rng))),
        _ => Put::NewMemory(draft(random_body(rng))),
    };
    apply(store, space, put);
}

fn random_words(rng: &mut Rng, count: usize) -> String {
    (0..count).map(|_| WORDS[rng.usize(..WORDS.len())]).collect::<Vec<_>>().join(" ")
}

fn random_body(rng: &mut Rng) -> MemoryBody {
    let count = rng.usize(1..8);
    let mark = ["", ".", "?"][rng.usize(..3)];
    let expires_at = (rng.u8(..8) == 0).then_some(UnixMs(NOW.0 + rng.i64(-1..2)));
    MemoryBody {
        thread: rng.bool().then(|| format!("t{}", rng.u8(..4)).parse().unwrap()),
        author: rng.bool().then(|| ["ann", "winter-bot"][rng.usize(..2)].parse().unwrap()),
        occurred_at: UnixMs(NOW.0 - rng.i64(0..200) * 86_400_000).to_timestamp(),
        expires_at,
        ..text(&format!("{}{mark}", random_words(rng, count)))
    }
}

fn random_query(rng: &mut Rng) -> SearchQuery {
    let count = rng.usize(1..6);
    let filter = match rng.u8(..3) {
        0 => Filter { thread: Some("t1".parse().unwrap()), ..Filter::default() },
        1 => Filter { pinned: Some(false), ..Filter::default() },
        _ => Filter::default(),
    };
    let asked = format!("{} ann", random_words(rng, count));
    SearchQuery { filter, limit: 40, ..query(&asked) }
}

fn compare(store: &Arc<ModelStore>, indexed: &Indexed, rng: &mut Rng, options: IndexOptions) {
    let fresh = Indexed::with(store, options);
    let direct = Indexed::new(store, IndexLimits::default());
    for space in SPACES {
        for _ in 0..8 {
            let asked = random_query(rng);
            let found = indexed.search(space, asked.clone());
            assert_eq!(found, fresh.search(space, asked.clone()), "built from nothing: {asked:?}");
            if options.limits == SMALL {
                assert_eq!(found, direct.search(space, asked.clone()), "one by one: {asked:?}");
            }
        }
    }
}
