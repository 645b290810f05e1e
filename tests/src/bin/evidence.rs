//! `cargo xtask bench evidence PATH`: conversations in LoCoMo's form, each question handed off as a summary. How many of
//! the turns that hold the evidence are in the envelope, against the last turns that fit into the same budget.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a benchmark on a file of known form"
)]

use std::collections::HashMap;

use serde_json::Value;
use spine_engine::Caller;
use spine_engine::assembly::HandoffRequest;
use spine_engine::memories::NewMemory;
use spine_protocol::{MemoryId, TokenizerName, count};
use spine_store::testing::block_on;
use spine_tests::Engine;

const BUDGETS_TOKENS: [u32; 3] = [1_000, 2_000, 4_000];
const INCLUDE_RECENT: [usize; 2] = [20, 200];

/// A question, and the turns that hold its evidence.
type Asked = (String, Vec<String>);

struct Conversation {
    engine: Engine,
    caller: Caller,
    ids: HashMap<String, MemoryId>,
    /// What each turn costs, last one first.
    turns: Vec<(String, u32)>,
    questions: Vec<Asked>,
}

fn main() {
    let path = std::env::args().nth(1).unwrap_or_else(|| panic!("usage: evidence PATH"));
    let file: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let conversations = file.as_array().or_else(|| file["conversations"].as_array()).unwrap();
    let loaded: Vec<Conversation> = conversations.iter().map(load).collect();
    let questions: usize = loaded.iter().map(|conversation| conversation.questions.len()).sum();
    println!(
        "{} conversations, {questions} questions of categories 1 to 4; share of evidence turns",
        loaded.len()
    );
    println!(
        "budget   last turns   include_recent {}   include_recent {}",
        INCLUDE_RECENT[0], INCLUDE_RECENT[1]
    );
    for budget in BUDGETS_TOKENS {
        let mean = |of: &dyn Fn(&Conversation, &Asked) -> f64| {
            let all = loaded.iter().flat_map(|c| c.questions.iter().map(move |q| of(c, q)));
            all.sum::<f64>() / questions as f64
        };
        let last = mean(&|conversation, question| last_turns(conversation, question, budget));
        let [few, many] =
            INCLUDE_RECENT.map(|recent| mean(&|c, q| handed_off(c, q, budget, recent)));
        println!("{budget:>6}   {last:>10.3}   {few:>17.3}   {many:>18.3}");
    }
}

fn load(conversation: &Value) -> Conversation {
    let engine = Engine::new();
    let caller = Caller { agent: "asker".parse().ok(), ..Caller::of("default".parse().unwrap()) };
    let turns = conversation["turns"].as_array().unwrap();
    let store_turn = |turn: &Value| {
        let stored = block_on(engine.memories.store(&caller, memory(turn))).unwrap();
        (word(turn, "id"), stored.memory.id)
    };
    let ids = turns.iter().map(store_turn).collect();
    let cost = |turn: &Value| {
        let line = format!("{}: {}\n", word(turn, "author"), word(turn, "text"));
        (word(turn, "id"), count(&TokenizerName::O200kBase, &line).unwrap())
    };
    let costs = turns.iter().rev().map(cost).collect();
    let questions =
        conversation["questions"].as_array().unwrap().iter().filter_map(question).collect();
    Conversation { engine, caller, ids, turns: costs, questions }
}

fn word(value: &Value, name: &str) -> String {
    let value = &value[name];
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn memory(turn: &Value) -> NewMemory {
    NewMemory {
        text: word(turn, "text"),
        kind: "conversation".parse().unwrap(),
        author: word(turn, "author").parse().ok(),
        thread: word(turn, "thread").parse().ok(),
        occurred_at: word(turn, "at").parse().ok(),
        ..NewMemory::default()
    }
}

fn question(question: &Value) -> Option<Asked> {
    let gold: Vec<String> = question["gold"]
        .as_array()?
        .iter()
        .filter_map(|id| Some(id.as_str()?.to_owned()))
        .collect();
    let counted = (1..=4).contains(&question["category"].as_u64()?) && !gold.is_empty();
    counted.then(|| (word(question, "question"), gold))
}

fn share(gold: &[String], is_there: impl Fn(&String) -> bool) -> f64 {
    gold.iter().filter(|id| is_there(id)).count() as f64 / gold.len() as f64
}

fn last_turns(conversation: &Conversation, (_, gold): &Asked, budget: u32) -> f64 {
    let mut left = budget;
    let fits = |(_, tokens): &&(String, u32)| {
        let fits = *tokens <= left;
        left = left.saturating_sub(*tokens);
        fits
    };
    let kept: Vec<&String> = conversation.turns.iter().take_while(fits).map(|(id, _)| id).collect();
    share(gold, |id| kept.contains(&id))
}

fn handed_off(
    conversation: &Conversation,
    (text, gold): &Asked,
    budget: u32,
    recent: usize,
) -> f64 {
    let mut request = HandoffRequest::new("reader".parse().unwrap(), text.clone());
    (request.max_tokens, request.include_recent) = (Some(budget), recent);
    let envelope = block_on(conversation.engine.handoffs.assemble(&conversation.caller, request))
        .unwrap()
        .envelope;
    let with_text =
        |id: &MemoryId| envelope.memories.iter().any(|m| m.id == *id && m.text.is_some());
    share(gold, |turn| conversation.ids.get(turn).is_some_and(with_text))
}
