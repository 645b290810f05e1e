//! What the bound of postings costs: how many of the best by words are still found.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

mod support;

use std::collections::HashSet;
use std::sync::Arc;

use fastrand::Rng;
use spine_retrieval::{BuiltInEmbedder, IndexLimits, IndexOptions, Recipe, SearchIndex};
use spine_store::testing::{ModelStore, block_on};
use spine_store::{Command, Put, Retriever, SearchQuery, Store};
use support::{draft, model_store, name, query, text};
use tempfile::TempDir;

const MEMORIES: usize = 20_000;
const WORDS: usize = 20;
const VOCABULARY: usize = 10_000;
const QUERIES: usize = 40;
/// As many as there are candidates by words.
const HITS: usize = 150;
/// The share of the best that must be found, on average.
const OVERLAP_MIN: f64 = 0.9;

#[test]
fn nearly_all_of_the_best_are_found_within_the_bound() {
    let words = zipf();
    let store = fill(&words);
    let exact = IndexLimits { read_postings_max: u64::MAX, ..IndexLimits::default() };
    // A tenth of a query's postings, as with a million memories.
    let bounded = IndexLimits { read_postings_max: 10_000, leading_memories_max: 500, ..exact };
    let (exact, bounded) = (open(&store, exact), open(&store, bounded));
    let mut rng = Rng::with_seed(3);
    let (mut same, mut best) = (0, 0);
    for _ in 0..QUERIES {
        let asked = draw(&words, &mut rng);
        let (wanted, found) = (found(&exact.1, &asked), found(&bounded.1, &asked));
        same += wanted.intersection(&found).count();
        best += wanted.len();
    }
    let overlap = same as f64 / best as f64;
    println!("overlap {overlap:.3}");
    assert!(best >= QUERIES * HITS, "{best}");
    assert!(overlap >= OVERLAP_MIN, "{overlap}");
}

/// Words and the running sum of their shares, by Zipf's law.
fn zipf() -> Vec<(String, f64)> {
    let mut sum = 0.0;
    let word = |rank: usize| {
        sum += 1.0 / (rank + 1) as f64;
        (format!("w{rank}x"), sum)
    };
    (0..VOCABULARY).map(word).collect()
}

fn draw(words: &[(String, f64)], rng: &mut Rng) -> String {
    let total = words[VOCABULARY - 1].1;
    let word = |rng: &mut Rng| {
        let at = rng.f64() * total;
        words[words.partition_point(|(_, sum)| *sum < at).min(VOCABULARY - 1)].0.as_str()
    };
    (0..WORDS).map(|_| word(rng)).collect::<Vec<_>>().join(" ")
}

fn fill(words: &[(String, f64)]) -> Arc<ModelStore> {
    let store = model_store();
    let mut rng = Rng::with_seed(2);
    for _ in 0..MEMORIES / 1_000 {
        let mut command = Command::new(name("space"), store.now());
        let put = |_| Put::NewMemory(draft(text(&draw(words, &mut rng))));
        command.puts.extend((0..1_000).map(put));
        block_on(store.apply(vec![command])).unwrap()[0].as_ref().unwrap();
    }
    store
}

/// Without meaning, neighbours and dates, what is found is what words lead to.
fn open(store: &Arc<ModelStore>, limits: IndexLimits) -> (TempDir, SearchIndex) {
    let folder = tempfile::tempdir().unwrap();
    let recipe = Recipe { words: 1.0, meaning: 0.0, ..Recipe::default() };
    let options = IndexOptions { recipe, limits };
    let path = folder.path().to_owned();
    (folder, SearchIndex::open(&path, store.clone(), Arc::new(BuiltInEmbedder), options).unwrap())
}

fn found(index: &SearchIndex, asked: &str) -> HashSet<u64> {
    let asked = SearchQuery { limit: HITS, ..query(asked) };
    let answer = block_on(index.search(&name("space"), asked)).unwrap();
    answer.hits.iter().map(|hit| hit.id.number()).collect()
}
