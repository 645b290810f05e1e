//! Handing on.

use serde_json::json;
use spine_engine::delivery::pipeline::Pipeline;
use spine_engine::delivery::{AgentOptions, DeliveryError, Next, SendOptions};
use spine_store::limits::PAGE_ROWS_MAX;
use spine_store::testing::block_on;

use crate::house::{House, handoff, house, name, next, result};

#[test]
fn completing_and_handing_on_is_one_step_and_the_child_keeps_the_intent() {
    let house = house();
    let first = house.send("researcher");
    let received = house.take("researcher");
    let mut ack = next("analyst", "Analyse it.");
    ack.result = Some(json!({"found": 3}));
    ack.action = Some("searched".into());
    house.complete(&received, ack.clone()).unwrap();
    house.complete(&received, ack).unwrap();
    let done = house.get(first);
    let second = house.take_all("analyst", 10);
    assert_eq!(second.len(), 1);
    let child = house.read(&second[0]);
    assert_eq!((child.hop, child.task.intent.as_str()), (2, "Do the work."));
    assert_eq!(child.from, name("researcher"));
    let step = child.history.last().unwrap();
    assert_eq!(step.action, "searched");
    assert_eq!(step.result_digest, done.story.ending.unwrap().result_digest);
}

#[test]
fn a_pipeline_names_the_next_and_a_condition_sends_it_back() {
    let house = house();
    let pipeline: Pipeline = serde_json::from_value(json!({"steps": [
        {"agent": "coder"},
        {"agent": "reviewer", "summary": "Review the change.", "next": [
            {"to": "coder", "when": {"at": "/approved", "equals": false}},
            {"to": "releaser"},
        ]},
        {"agent": "releaser"},
    ]}))
    .unwrap();
    block_on(house.deliveries.set_pipeline(&house.caller, "ship", pipeline)).unwrap();
    let options = SendOptions { pipeline: Some("ship".into()), ..SendOptions::default() };
    house.try_send("coder", options).unwrap();
    let run = |agent: &str, value| {
        let received = house.take(agent);
        house.complete(&received, result(value)).unwrap();
        house.read(&received).task.summary.clone()
    };
    run("coder", json!("diff 1"));
    assert_eq!(run("reviewer", json!({"approved": false})), "Review the change.");
    run("coder", json!("diff 2"));
    run("reviewer", json!({"approved": true}));
    run("releaser", json!("done"));
    assert!(house.try_take("coder").is_none());
}

/// Of more than a page of agents or pipelines, only the first page was listed.
#[test]
fn all_agents_and_pipelines_are_listed() {
    let (house, count) = (house(), PAGE_ROWS_MAX + 1);
    let pipeline: Pipeline = serde_json::from_value(json!({"steps": [{"agent": "a"}]})).unwrap();
    for n in 0..count {
        let (agent, options) = (name(&format!("agent-{n}")), AgentOptions::default());
        block_on(house.deliveries.register(&house.caller, &agent, options)).unwrap();
        let set = house.deliveries.set_pipeline(&house.caller, agent.as_str(), pipeline.clone());
        block_on(set).unwrap();
    }
    let agents = block_on(house.deliveries.agents(&house.caller)).unwrap();
    let pipelines = block_on(house.deliveries.pipelines(&house.caller)).unwrap();
    assert_eq!((agents.len(), pipelines.len()), (count, count));
}

fn ping_pong(house: &House) -> DeliveryError {
    let mut request = handoff("a", "Play.");
    request.max_hops = Some(3);
    let options = SendOptions::default();
    block_on(house.deliveries.hand_off(&house.caller, request, options)).unwrap();
    for turn in 0.. {
        let (from, to) = if turn % 2 == 0 { ("a", "b") } else { ("b", "a") };
        let received = house.take(from);
        let handoff = handoff(to, "Your turn.");
        let mut ack = next(to, "Your turn.");
        ack.next = Some(Box::new(Next { handoff, options: SendOptions::default() }));
        if let Err(error) = house.complete(&received, ack) {
            return error;
        }
    }
    unreachable!()
}

#[test]
fn the_hop_limit_ends_the_chain_names_the_cycle_and_parks_the_parent_with_what_was_refused() {
    let house = house();
    let error = ping_pong(&house);
    let DeliveryError::HopLimit { message, cycle, .. } = &error else { panic!("{error}") };
    assert!(message.contains("b → a → b"), "{message}");
    assert_eq!(cycle, &[name("b"), name("a")]);
    let filter = Default::default();
    let parked = block_on(house.deliveries.parked(&house.caller, &filter, None, 10)).unwrap().items;
    assert_eq!(parked.len(), 1);
    let refused = parked[0].story.refused.as_ref().unwrap();
    assert_eq!(refused["handoff"]["task_summary"], "Your turn.");
}

#[test]
fn one_call_gives_the_story_of_a_lineage() {
    let house = house();
    let first = house.send("a");
    let received = house.take("a");
    house.complete(&received, next("b", "Go on.")).unwrap();
    let envelope = house.get(first).row.envelope;
    let trace = block_on(house.deliveries.trace(&house.caller, envelope)).unwrap();
    assert_eq!((trace.envelopes.len(), trace.deliveries.len()), (2, 2));
    let kinds: Vec<_> = trace.events.iter().map(|event| &*event.kind).collect();
    let expected = [
        "envelope.made",
        "delivery.sent",
        "delivery.accepted",
        "delivery.done",
        "envelope.made",
        "delivery.sent",
    ];
    assert_eq!(kinds, expected);
}
