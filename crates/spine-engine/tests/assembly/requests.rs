//! A request as JSON, and envelopes made for a command of somebody else's.

use serde_json::{Value, json};
use spine_engine::assembly::HandoffRequest;
use spine_protocol::*;
use spine_store::testing::block_on;
use spine_store::{Command, Put, Store as _};

use crate::house::*;

fn read(value: Value) -> Result<HandoffRequest, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}

#[test]
fn a_request_has_the_names_of_the_call_and_the_defaults_of_the_call() {
    let least = read(json!({"target_agent": "code-generator", "task_summary": "Go."}));
    assert_eq!(least, Ok(request("Go.")));
    assert_eq!(read(json!({"target": "code-generator", "summary": "Go."})), least);
}

#[test]
fn a_stored_request_reads_back_as_it_was() {
    let told = json!({
        "target_agent": "code-generator",
        "task_summary": "Read ms-1.",
        "intent": "Payments that do not fail",
        "include_recent": 3,
        "include_pins": false,
        "memory_refs": ["ms-7"],
        "constraints": [{"name": "language", "value": "rust"}, {"name": "n", "value": 1, "scope": "hop"}],
        "waive": [{"name": "deadline", "reason": "moved", "by": "lead"}],
        "execution_history": [{"agent": "a", "action": "looked", "memory_id": "ms-2"}],
        "state": {"progress": ["half"], "open_questions": [{"question": "When?"}]},
        "expected_output": {"format": "patch"},
        "strategy": "summary", "max_tokens": 900, "tokenizer": "cl100k_base", "format": "xml",
        "subject": "customer:1", "thread": "t", "max_hops": 4, "priority": "high",
        "expires_at": "2026-02-01T00:00:00Z",
    });
    let request = read(told).unwrap();
    assert_eq!(request.constraints[0].scope, Scope::Lineage);
    assert_eq!(request.history[0].memory_id, "ms-2".parse().ok());
    assert_eq!(read(serde_json::to_value(&request).unwrap()), Ok(request));
}

#[test]
fn a_misspelt_option_is_refused_by_name() {
    let check = |name: &str, value: Value| {
        let mut told = json!({"target_agent": "a", "task_summary": "Go."});
        told[name] = value;
        read(told).unwrap_err()
    };
    assert!(check("include_recents", json!(3)).contains("include_recents"));
    assert!(check("state", json!({"progres": []})).contains("progres"));
    assert!(check("waive", json!([{"name": "x", "reason": "y", "who": "z"}])).contains("who"));
    let mut unknown = request("Go.");
    unknown.strategy = "everything".into();
    let error = house().try_assemble(unknown).unwrap_err().to_string();
    assert!(error.contains("/strategy") && error.contains("everything"), "{error}");
}

#[test]
fn envelopes_are_made_first_and_stored_in_one_command() {
    let house = house();
    let memory = house.store(spine_engine::memories::NewMemory { pinned: true, ..note("A fact.") });
    let first = block_on(house.handoffs.prepare(&house.caller, request("First."))).unwrap();
    let mut next = request("Then.");
    next.parents = vec![first.envelope.id];
    assert!(house.try_assemble(next.clone()).is_err(), "nothing is stored yet");
    let made = [first.envelope.clone()];
    let second = block_on(house.handoffs.prepare_with(&house.caller, next, &made)).unwrap();
    assert_eq!((second.envelope.hop, second.envelope.root), (2, first.envelope.id));
    assert!(packed(&second.envelope, memory).is_some());

    let mut command = Command::new(house.caller.workspace.clone(), house.store.now());
    for made in [&first, &second] {
        made.add_to(&house.caller, &mut command).unwrap();
    }
    assert!(matches!(command.puts[0], Put::NewEnvelope(_)));
    block_on(house.store.apply(vec![command])).unwrap().remove(0).unwrap();
    for made in [first, second] {
        let kept = block_on(house.handoffs.explain(&house.caller, made.envelope.id)).unwrap();
        assert_eq!(kept, made.explanation);
    }
}
