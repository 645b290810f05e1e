//! Recall@10 on conversations in the LoCoMo form, by category, and with each part switched off in turn.
//!
//! `cargo run --release -p spine-retrieval --example recall -- PATH`
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde_json::Value;
use spine_protocol::{MemoryId, WorkspaceName};
use spine_retrieval::{BuiltInEmbedder, IndexOptions, Recipe, SearchIndex};
use spine_store::testing::{ManualClock, ModelStore, block_on};
use spine_store::{
    Applied, Author, Command, Filter, Kind, MemoryBody, MemoryDraft, Put, Retriever, SearchQuery,
    Store, UnixMs,
};

const HITS: usize = 10;
const CATEGORIES: [u64; 4] = [1, 2, 3, 4];

struct Question {
    workspace: WorkspaceName,
    text: String,
    category: u64,
    gold: Vec<MemoryId>,
}

fn main() {
    let path = std::env::args().nth(1).expect("PATH of a file in the LoCoMo form");
    let file = std::fs::read_to_string(path).expect("a readable file");
    let conversations: Vec<Value> = serde_json::from_str(&file).expect("JSON");
    let store = Arc::new(ModelStore::new(Arc::new(ManualClock::at(UnixMs(0)))));
    let questions: Vec<Question> =
        conversations.iter().enumerate().flat_map(|(n, each)| fill(&*store, n, each)).collect();
    println!("{:<22} recall@10   1     2     3     4", "");
    for (name, recipe) in recipes() {
        print_row(name, &measure(store.clone(), recipe, &questions));
    }
}

fn recipes() -> Vec<(&'static str, Recipe)> {
    let full = Recipe::default();
    vec![
        ("the whole recipe", full),
        ("without words", Recipe { words: 0.0, ..full }),
        ("without meaning", Recipe { meaning: 0.0, ..full }),
        ("without neighbours", Recipe { neighbour_words: 0.0, neighbour_meaning: 0.0, ..full }),
        ("without dates", Recipe { dates: 0.0, ..full }),
        ("without author", Recipe { author: 0.0, ..full }),
        ("without thread", Recipe { thread: 0.0, ..full }),
        ("without asks", Recipe { asks: 0.0, ..full }),
        ("without answer", Recipe { answer: 0.0, ..full }),
    ]
}

fn fill(store: &dyn Store, number: usize, conversation: &Value) -> Vec<Question> {
    let workspace: WorkspaceName = format!("conversation-{number}").parse().unwrap();
    let mut ids = HashMap::new();
    for turn in conversation["turns"].as_array().unwrap() {
        ids.insert(turn["id"].as_str().unwrap().to_owned(), store_turn(store, &workspace, turn));
    }
    let questions = conversation["questions"].as_array().unwrap().iter();
    let asked = questions.filter(|q| CATEGORIES.contains(&q["category"].as_u64().unwrap_or(0)));
    asked
        .map(|question| Question {
            workspace: workspace.clone(),
            text: question["question"].as_str().unwrap().to_owned(),
            category: question["category"].as_u64().unwrap(),
            gold: question["gold"]
                .as_array()
                .unwrap()
                .iter()
                .map(|g| ids[g.as_str().unwrap()])
                .collect(),
        })
        .collect()
}

fn store_turn(store: &dyn Store, workspace: &WorkspaceName, turn: &Value) -> MemoryId {
    let text = |name: &str| turn[name].as_str().unwrap().to_owned();
    // Agents are named without spaces.
    let author: Author = text("author").replace(' ', "-").parse().unwrap();
    let body = MemoryBody {
        text: text("text"),
        kind: Kind::CONVERSATION.parse().unwrap(),
        author: Some(author),
        thread: Some(text("thread").parse().unwrap()),
        occurred_at: Some(text("at").parse().unwrap()),
        ..MemoryBody::default()
    };
    let mut command = Command::new(workspace.clone(), store.now());
    command.puts.push(Put::NewMemory(Box::new(MemoryDraft { body, content: None })));
    let outcomes = block_on(store.apply(vec![command])).unwrap();
    let Applied::Now(receipt) = outcomes[0].as_ref().unwrap() else { unreachable!() };
    receipt.memory_id(0).unwrap()
}

fn measure(store: Arc<ModelStore>, recipe: Recipe, questions: &[Question]) -> Vec<(u64, f64)> {
    let folder = tempfile::tempdir().unwrap();
    let now = store.now();
    let options = IndexOptions { recipe, ..IndexOptions::default() };
    let index =
        SearchIndex::open(folder.path(), store, Arc::new(BuiltInEmbedder), options).unwrap();
    let recall = |question: &Question| {
        let (text, filter) = (question.text.clone(), Filter::default());
        let query = SearchQuery { text, filter, now, limit: HITS, explain: false };
        let answer = block_on(index.search(&question.workspace, query)).unwrap();
        let found = question.gold.iter().filter(|id| answer.hits.iter().any(|hit| hit.id == **id));
        (question.category, found.count() as f64 / question.gold.len() as f64)
    };
    questions.iter().map(recall).collect()
}

fn print_row(name: &str, recalls: &[(u64, f64)]) {
    let mut by_category: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for (category, recall) in recalls {
        by_category.entry(*category).or_default().push(*recall);
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let all: Vec<f64> = recalls.iter().map(|(_, recall)| *recall).collect();
    let each: Vec<String> =
        by_category.values().map(|values| format!("{:.3}", mean(values))).collect();
    println!("{name:<22} {:.4}      {}", mean(&all), each.join(" "));
}
