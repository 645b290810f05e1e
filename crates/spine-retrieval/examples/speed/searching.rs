//! Searching, what is found, and cold start.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fastrand::Rng;
use spine_protocol::MemoryId;
use spine_retrieval::{BuiltInEmbedder, IndexLimits, IndexOptions, Recipe, SearchIndex};
use spine_store::testing::{ModelStore, block_on};
use spine_store::{Retriever, SearchQuery};

use crate::HITS;
use crate::figures::{per_second, print_times, resident_mb, size_mb, time_each};
use crate::ours::{build, fill_store, open, query, search};
use crate::peer::{fill_fts, search_fts};
use crate::texts::Texts;

const SMALL_WORKSPACE: usize = 1_000;
const PLANTED: usize = 100;

/// All in one workspace, and in many small ones.
pub fn compare_all(size: usize) {
    compare(size, size);
    compare(size, SMALL_WORKSPACE);
}

/// One run: so many memories, in workspaces of so many.
fn compare(size: usize, per_workspace: usize) {
    println!("\n{size} memories, {per_workspace} in a workspace");
    let texts = Texts::new();
    let folder = tempfile::tempdir().unwrap();
    let queries: Vec<String> = {
        let mut rng = Rng::with_seed(7);
        (0..if size > 100_000 { 31 } else { 101 }).map(|_| texts.draw(&mut rng)).collect()
    };
    let fts = fill_fts(&folder.path().join("fts.db"), &texts, size, per_workspace);
    let fts_times = time_each(&queries, Duration::ZERO, |query| {
        search_fts(&fts.0, query, size > per_workspace)
    });
    let store = fill_store(&texts, size, per_workspace);
    let path = folder.path().join("index");
    let before = resident_mb();
    let (index, took) = build(&path, store.clone(), size, per_workspace);
    println!(
        "index    {:>9.0} memories/s   fts5 {:>9.0}/s   ratio {:.2}",
        per_second(size, took),
        per_second(size, fts.1),
        fts.1.as_secs_f64() / took.as_secs_f64()
    );
    print_times(&time_each(&queries, Duration::ZERO, |query| search(&index, query)), &fts_times);
    let (index_mb, fts_mb) = (size_mb(&path), size_mb(&folder.path().join("fts.db")));
    println!(
        "disk     index {index_mb} MB   fts5 {fts_mb} MB   resident after building +{} MB",
        resident_mb() - before
    );
    drop(index);
    cold_start(&path, store.clone(), &queries[0]);
    if size == per_workspace {
        overlaps(&path, store, &queries);
    }
}

/// How many of the best by words, and by meaning, are found as when nothing is left out.
fn overlaps(path: &Path, store: Arc<ModelStore>, queries: &[String]) {
    let whole = Recipe::default();
    let words = Recipe { words: 1.0, meaning: 0.0, ..whole };
    let meaning = Recipe { words: 0.0, meaning: 1.0, ..whole };
    let limits = IndexLimits::default();
    let exact =
        IndexLimits { read_postings_max: u64::MAX, exact_vectors_max: usize::MAX, ..limits };
    for (name, recipe, count) in
        [("words", words, 150), ("meaning", meaning, 150), ("hits", whole, HITS)]
    {
        let found = |limits| {
            hits_of_each(path, store.clone(), IndexOptions { recipe, limits }, queries, count)
        };
        let (wanted, found) = (found(exact), found(limits));
        let same = |(wanted, found): (&Vec<MemoryId>, &Vec<MemoryId>)| {
            wanted.iter().filter(|id| found.contains(id)).count()
        };
        let all: usize = wanted.iter().map(Vec::len).sum();
        let same: usize = wanted.iter().zip(&found).map(same).sum();
        println!("overlap  {name} {:.3} of the best {count}", same as f64 / all as f64);
    }
    for (name, limits) in [("bounded", limits), ("exact", exact)] {
        let options = IndexOptions { recipe: meaning, limits };
        println!("planted  {name} {:.3} found by meaning", planted(path, store.clone(), options));
    }
}

/// How often a memory is among the hits for every second word of it.
fn planted(path: &Path, store: Arc<ModelStore>, options: IndexOptions) -> f64 {
    let (texts, mut rng) = (Texts::new(), Rng::with_seed(2));
    let every_second = |text: String| text.split(' ').step_by(2).collect::<Vec<_>>().join(" ");
    let asked: Vec<String> = (0..PLANTED).map(|_| every_second(texts.draw(&mut rng))).collect();
    let found = hits_of_each(path, store, options, &asked, HITS);
    let is_found = |(number, hits): (usize, &Vec<MemoryId>)| {
        hits.iter().any(|id| id.number() == number as u64 + 1)
    };
    found.iter().enumerate().filter(|each| is_found(*each)).count() as f64 / PLANTED as f64
}

fn hits_of_each(
    path: &Path,
    store: Arc<ModelStore>,
    options: IndexOptions,
    queries: &[String],
    limit: usize,
) -> Vec<Vec<MemoryId>> {
    let index = SearchIndex::open(path, store, Arc::new(BuiltInEmbedder), options).unwrap();
    let space = "space-0".parse().unwrap();
    let hits = |text: &String| {
        let asked = SearchQuery { limit, ..query(text) };
        let answer = block_on(index.search(&space, asked)).unwrap();
        answer.hits.iter().map(|hit| hit.id).collect()
    };
    queries.iter().map(hits).collect()
}

fn cold_start(path: &Path, store: Arc<ModelStore>, query: &str) {
    let before = resident_mb();
    let start = Instant::now();
    let index = open(path, store);
    search(&index, query);
    println!(
        "cold     first answer after {:.2?}, +{} MB resident",
        start.elapsed(),
        resident_mb() - before
    );
}
