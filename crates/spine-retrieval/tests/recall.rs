//! A small corpus of our own guards what is found: a change of a weight for the worse fails.
//!
//! Memory n of `corpus.json` gets the id `ms-n`; a question names the ids that answer it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

mod support;

use std::sync::Arc;

use serde_json::Value;
use spine_retrieval::{BuiltInEmbedder, IndexOptions, Recipe, SearchIndex};
use spine_store::testing::{ModelStore, block_on};
use spine_store::{MemoryBody, Retriever, SearchQuery};
use support::{model_store, name, put, query, text};

const SPACE: &str = "corpus";

struct Corpus {
    store: Arc<ModelStore>,
    questions: Vec<(String, Vec<u64>)>,
}

impl Corpus {
    fn load() -> Self {
        let file: Value = serde_json::from_str(include_str!("corpus.json")).unwrap();
        let store = model_store();
        for memory in file["memories"].as_array().unwrap() {
            put(&store, SPACE, body(memory));
        }
        let questions = file["questions"].as_array().unwrap().iter().map(question).collect();
        Self { store, questions }
    }

    /// Mean recall among the first hits.
    fn recall(&self, recipe: Recipe, hits: usize) -> f64 {
        let folder = tempfile::tempdir().unwrap();
        let options = IndexOptions { recipe, ..IndexOptions::default() };
        let embedder = Arc::new(BuiltInEmbedder);
        let index =
            SearchIndex::open(folder.path(), self.store.clone(), embedder, options).unwrap();
        let recall = |(text, gold): &(String, Vec<u64>)| {
            let asked = SearchQuery { limit: hits, ..query(text) };
            let answer = block_on(index.search(&name(SPACE), asked)).unwrap();
            let found = answer.hits.iter().filter(|hit| gold.contains(&hit.id.number())).count();
            found as f64 / gold.len() as f64
        };
        self.questions.iter().map(recall).sum::<f64>() / self.questions.len() as f64
    }
}

fn body(memory: &Value) -> MemoryBody {
    let field = |name: &str| memory[name].as_str().unwrap();
    MemoryBody {
        author: Some(field("author").parse().unwrap()),
        thread: Some(field("thread").parse().unwrap()),
        occurred_at: Some(field("at").parse().unwrap()),
        ..text(field("text"))
    }
}

fn question(question: &Value) -> (String, Vec<u64>) {
    let gold = question["gold"].as_array().unwrap().iter().map(|id| id.as_u64().unwrap());
    (question["question"].as_str().unwrap().to_owned(), gold.collect())
}

#[test]
fn the_recipe_finds_what_it_should() {
    let (corpus, full) = (Corpus::load(), Recipe::default());
    let (at_3, at_10) = (corpus.recall(full, 3), corpus.recall(full, 10));
    assert!(at_3 > 0.555 && at_10 > 0.86, "recall@3 {at_3:.4}, recall@10 {at_10:.4}");
}

#[test]
fn every_part_helps() {
    let (corpus, full) = (Corpus::load(), Recipe::default());
    let without_neighbours = Recipe { neighbour_words: 0.0, neighbour_meaning: 0.0, ..full };
    for (part, recipe, hits, margin) in [
        ("words", Recipe { words: 0.0, ..full }, 10, 0.05),
        ("meaning", Recipe { meaning: 0.0, ..full }, 10, 0.1),
        ("neighbours", without_neighbours, 10, 0.03),
        ("author", Recipe { author: 0.0, ..full }, 10, 0.04),
        ("dates", Recipe { dates: 0.0, ..full }, 10, 0.06),
        ("thread", Recipe { thread: 0.0, ..full }, 10, 0.01),
        ("asks", Recipe { asks: 0.0, ..full }, 10, 0.04),
        ("answer", Recipe { answer: 0.0, ..full }, 3, 0.1),
    ] {
        let (with, without) = (corpus.recall(full, hits), corpus.recall(recipe, hits));
        println!("recall@{hits} {with:.4}, without {part} {without:.4}");
        assert!(with - without > margin, "{part}: {with:.4} with, {without:.4} without");
    }
}
